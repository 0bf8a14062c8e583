"""Being asked to stop: Ctrl-C, SIGTERM and SIGHUP end a run in good order, the second one at once."""

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType
from typing import NoReturn

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


class Stopped(BaseException):
    """A signal asked this process to stop before there was a run to stop in good order."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.exit_code = 128 + number


@contextlib.contextmanager
def stop_raises() -> Iterator[None]:
    """Lets SIGTERM and SIGHUP unwind what is entered, as Ctrl-C does, so that helpers started meanwhile are ended.

    Raises:
        Stopped: one of them came.
    """

    def raise_it(number: int, _: FrameType | None) -> NoReturn:
        raise Stopped(number)

    chosen = [number for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) == signal.SIG_DFL]
    for number in chosen:
        signal.signal(number, raise_it)
    try:
        yield
    finally:
        for number in chosen:
            signal.signal(number, signal.SIG_DFL)
