"""Being asked to stop: Ctrl-C, SIGTERM and SIGHUP end a run in good order, the second one at once."""

import signal
from types import FrameType

WATCHED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class StopSignals:
    """Counts the signals that ask this process to stop, while it is entered (main thread only)."""

    def __init__(self) -> None:
        self.count = 0
        self.first: int | None = None  #: number of the first one
        self._before: dict[int, object] = {}

    def __enter__(self) -> "StopSignals":
        for number in WATCHED:
            # nohup and its like: who started us does not want a hangup to end the run.
            if number == signal.SIGHUP and signal.getsignal(number) == signal.SIG_IGN:
                continue
            self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]

    def _note(self, number: int, _: FrameType | None) -> None:
        self.count += 1
        if self.first is None:
            self.first = number

    def exit_code(self, otherwise: int) -> int:
        """Returns 128 + the first signal's number, or the given code when there was none."""
        return otherwise if self.first is None else 128 + self.first
