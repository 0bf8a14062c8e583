"""Samples what lane processes use: memory, processor, and how fast the lanes move."""

import contextlib
import time
from collections import deque

import psutil

from core.host.memory import MIB
from core.ladder.entry import Attempt

SAMPLE_S = 0.7
SPEED_WINDOW = 4  #: samples


class Monitor:
    """Takes one sample of each attempt it is shown. Used by one thread."""

    def __init__(self) -> None:
        self._known: dict[Attempt, _Gauge] = {}

    def sample(self, attempts: list[Attempt]) -> None:
        """Measures the attempts running now, and puts what it finds into them and their views."""
        self._known = {attempt: self._known.get(attempt) or _Gauge() for attempt in attempts}
        for attempt, gauge in self._known.items():
            gauge.measure(attempt)


class _Gauge:
    """The measuring of one attempt."""

    def __init__(self) -> None:
        self._process: psutil.Process | None = None
        self._ticks: deque[tuple[float, int]] = deque(maxlen=SPEED_WINDOW)

    def measure(self, attempt: Attempt) -> None:
        lane = attempt.lane
        if lane is None:
            return
        # The lane itself shows a decision now and then; one that hangs would leave an old number behind.
        changes: dict[str, float | int | None] = {"decision": lane.decisions, "ticks_per_s": self._speed(lane.ticks)}
        pid = attempt.pid
        if pid is not None:
            changes["pid"] = pid
            with contextlib.suppress(psutil.Error):
                if self._process is None:
                    self._process = psutil.Process(pid)
                    self._process.cpu_percent()
                attempt.rss_bytes = int(self._process.memory_info().rss)
                attempt.peak_rss_bytes = max(attempt.peak_rss_bytes, attempt.rss_bytes)
                changes["rss_mib"] = attempt.rss_bytes / MIB
                changes["cpu_percent"] = float(self._process.cpu_percent())
        attempt.entry.update_from(attempt, **changes)

    def _speed(self, ticks: int) -> float | None:
        self._ticks.append((time.monotonic(), ticks))
        (began, first), (now, last) = self._ticks[0], self._ticks[-1]
        return (last - first) / (now - began) if now > began else None
