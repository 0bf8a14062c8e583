"""A deadline that counts only the time this process was awake: Ctrl-Z or a sleeping laptop ends nobody's lane."""

import math
import time

#: Longest single wait. A waiter wakes at least this often to see an interruption.
SLICE_S = 0.25
#: A wait of one slice that took longer than this was stopped, not slow: no more than this much of it counts.
LATE_SLICE_S = 0.5


class Patience:
    """How much longer a waiter waits. Use: wait `slice_s()`, and give up when `is_spent()` after nothing came."""

    def __init__(self, limit_s: float | None) -> None:
        """Starts the clock; `limit_s` None never runs out."""
        self._left_s = math.inf if limit_s is None else limit_s
        self._mark = time.monotonic()

    def slice_s(self) -> float:
        """Returns how long the next single wait should be, in seconds."""
        return max(0.0, min(SLICE_S, self._left_s))

    def is_spent(self) -> bool:
        """Counts the time since the last call and returns whether the limit is reached."""
        now = time.monotonic()
        self._left_s -= awake_s(now - self._mark)
        self._mark = now
        return self._left_s <= 0.0


def awake_s(elapsed_s: float) -> float:
    """Returns how much of one short wait counts, given how long it took by the clock."""
    return min(elapsed_s, LATE_SLICE_S)
