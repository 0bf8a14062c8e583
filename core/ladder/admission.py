"""How many lanes may run: job slots, open files, lanes starting at once, and memory."""

import os
import resource
from collections.abc import Sequence

from core.host.memory import MIB, reserve_bytes
from core.ladder.config import AUTO_JOBS

#: What a lane process is taken to need until the first one has been measured (SPEC 1: 160 to 225 MiB).
PROCESS_BYTES = 230 * MIB
#: What a lane needs within the engine's own process (SPEC 12: a handle takes 14 MiB).
IN_PROCESS_BYTES = 16 * MIB

#: Open files of one lane: three pipes of its process and a mapped snapshot.
LANE_FILES = 4
#: Open files of everything else: journal, lock, terminal, guard, control socket with its clients, a lane being started.
OTHER_FILES = 40


def cores() -> int:
    """Returns how many cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS
        return os.cpu_count() or 1


def slots_for(jobs: int) -> int:
    """Returns how many lanes `config.jobs` and this process's limit of open files let run at a time, memory aside."""
    wanted = cores() + 1 if jobs == AUTO_JOBS else jobs
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if limit == resource.RLIM_INFINITY:
        return wanted
    return max(1, min(wanted, (limit - OTHER_FILES) // LANE_FILES))


class Admission:
    """The rule by which waiting lanes get a slot. Pure arithmetic; the engine asks it with fresh numbers."""

    def __init__(self, jobs: int, available_bytes: int, has_processes: bool = True) -> None:
        """Fixes the slots (`config.jobs`) and the memory to keep free, given what is available at the start.

        Args:
            jobs: lanes at a time, or `AUTO_JOBS`. available_bytes: memory.
            has_processes: whether each lane has a process of its own.
        """
        self.slots = slots_for(jobs)
        self.starting_limit = cores() + 1
        self.reserve_bytes = reserve_bytes(available_bytes)
        self.peak_bytes = 0  #: largest measured lane process, 0 before any was
        self._expected_bytes = PROCESS_BYTES if has_processes else IN_PROCESS_BYTES

    def measured(self, rss_bytes: int) -> None:
        """Takes in one measurement of a lane process."""
        self.peak_bytes = max(self.peak_bytes, rss_bytes)

    @property
    def lane_bytes(self) -> int:
        """What one more lane is expected to need at its largest."""
        return self.peak_bytes or self._expected_bytes

    def has_room(self, available_bytes: int, running_rss_bytes: Sequence[int]) -> bool:
        """Returns whether one more lane fits, counting what the running ones have yet to grow.

        A lane always fits when none runs: a run that cannot even start one would never end.
        """
        if not running_rss_bytes:
            return True
        growth = sum(max(0, self.lane_bytes - rss) for rss in running_rss_bytes)
        return available_bytes - growth - self.lane_bytes >= self.reserve_bytes

    def must_shed(self, available_bytes: int, running: int) -> bool:
        """Returns whether memory is so short that the youngest of several running lanes has to give way.

        The last one stays: it would only begin again under the same conditions.
        """
        return running > 1 and available_bytes < self.reserve_bytes // 2
