"""How far a run is, on stderr: one line that is rewritten on a terminal, a line every few seconds elsewhere."""

import shutil
import sys
import time
from collections import Counter
from collections.abc import Sequence
from typing import TextIO

from core.ladder.events import LaneState, LaneView

TERMINAL_PERIOD_S, PLAIN_PERIOD_S = 0.25, 5.0
BAR_CELLS = 20


class Progress:
    """Writes the state of a run whenever it is time to."""

    def __init__(self, action_repeat: int, stream: TextIO | None = None) -> None:
        """Prepares to write to a stream (stderr when None); `action_repeat` turns decisions into ticks."""
        self._stream = stream or sys.stderr
        self._rewrites = self._stream.isatty()
        self._repeat = action_repeat
        self._start = time.monotonic()
        self._next = self._start + (0.0 if self._rewrites else PLAIN_PERIOD_S)
        self._seen: tuple[float, int] | None = None
        self._rate = 0.0
        self._done_at_start: int | None = None

    def show(self, views: Sequence[LaneView]) -> None:
        """Writes a line if it is time for one."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + (TERMINAL_PERIOD_S if self._rewrites else PLAIN_PERIOD_S)
        text = self._text(views, now)
        if self._rewrites:
            columns = shutil.get_terminal_size().columns
            self._write(f"\r\x1b[K{text[: columns - 1]}")
        else:
            self._write(text + "\n")

    def clear(self) -> None:
        """Takes the rewritten line away."""
        if self._rewrites:
            self._write("\r\x1b[K")

    def say(self, text: str) -> None:
        """Writes one line of its own."""
        self.clear()
        self._write(text + "\n")

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):  # nobody reads any more: the run goes on without saying how far it is
            self._rewrites, self._next = False, float("inf")

    def _text(self, views: Sequence[LaneView], now: float) -> str:
        ended = [view for view in views if view.state == LaneState.ENDED]
        words = Counter(view.outcome.value for view in ended if view.outcome is not None)
        words.update(view.state.value for view in views if view.state not in (LaneState.ENDED, LaneState.WAITING))
        lanes = f"{len(ended)}/{len(views)} lanes"
        counts = "  ".join(f"{word} {count}" for word, count in words.items())
        share = self._share(views)
        elapsed = now - self._start
        parts = [_bar(share) if self._rewrites else "", f"{share:4.0%}", lanes, counts, self._ticks_text(views, now)]
        parts += [_clock(elapsed), f"ETA {_clock(self._eta_s(share, elapsed))}"]
        return "  ".join(part for part in parts if part)

    @staticmethod
    def _share(views: Sequence[LaneView]) -> float:
        total = sum(view.limit for view in views) or 1
        return sum(view.limit if view.state == LaneState.ENDED else view.decision for view in views) / total

    def _eta_s(self, share: float, elapsed: float) -> float | None:
        if self._done_at_start is None:
            self._done_at_start = round(share * 1_000_000)
        gained = share - self._done_at_start / 1_000_000
        return elapsed * (1.0 - share) / gained if gained > 0 and elapsed > 1.0 else None

    def _ticks_text(self, views: Sequence[LaneView], now: float) -> str:
        decisions = sum(view.decision for view in views)
        if self._seen is not None and now > self._seen[0]:
            fresh = max(0, decisions - self._seen[1]) * self._repeat / (now - self._seen[0])
            self._rate = fresh if self._rate == 0.0 else 0.8 * self._rate + 0.2 * fresh
        self._seen = (now, decisions)
        return f"{self._rate:,.0f} ticks/s" if self._rate else "- ticks/s"


def _bar(share: float) -> str:
    full = int(share * BAR_CELLS)
    return "[" + "#" * full + "-" * (BAR_CELLS - full) + "]"


def _clock(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    minutes, second = divmod(int(seconds), 60)
    return f"{minutes // 60:02d}:{minutes % 60:02d}:{second:02d}"
