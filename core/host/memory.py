"""How much memory there is, control-group limits included, and whether the kernel has killed for lack of it."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

MIB = 1024 * 1024
GIB = 1024 * MIB
CGROUP_ROOT = Path("/sys/fs/cgroup")


@dataclass(frozen=True, slots=True)
class _Files:
    """Where one version of control groups keeps its numbers."""

    limit: str
    usage: str
    cache: str  #: line of memory.stat that the kernel gives back under pressure
    oom: str  #: file with an `oom_kill` line


_V1 = _Files("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file", "memory.oom_control")
_V2 = _Files("memory.max", "memory.current", "inactive_file", "memory.events")


def _groups(membership: Path, root: Path) -> Iterator[tuple[Path, _Files]]:
    """Yields the folders of the memory control groups this process is in, innermost first.

    In a container the path in `membership` may be the host's; then only the mounted root is there to look at.
    """
    try:
        lines = membership.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _number, controllers, path = line.split(":", 2)
        if "memory" in controllers.split(","):
            mount, files = root / "memory", _V1
        elif not controllers:
            mount, files = root, _V2
        else:
            continue
        folder = mount / path.lstrip("/")
        for group in (folder, *folder.parents):
            if (group / files.usage).exists() or (group / files.oom).exists():
                yield group, files
            if group == mount:
                break


def _number(path: Path) -> int | None:
    with contextlib.suppress(OSError, ValueError):
        return int(path.read_text())
    return None  # absent, or the word "max"


def _line(path: Path, key: str) -> int | None:
    with contextlib.suppress(OSError, ValueError):
        for line in path.read_text().splitlines():
            name, _, value = line.partition(" ")
            if name == key:
                return int(value)
    return None


def available_bytes(membership: Path = Path("/proc/self/cgroup"), root: Path = CGROUP_ROOT) -> int:
    """Returns how much more memory may be used: the machine's, or less when a control group says so."""
    room = int(psutil.virtual_memory().available)
    for group, files in _groups(membership, root):
        limit, usage = _number(group / files.limit), _number(group / files.usage)
        if limit is not None and usage is not None:
            room = min(room, max(0, limit - usage + (_line(group / "memory.stat", files.cache) or 0)))
    return room


def oom_kills(membership: Path = Path("/proc/self/cgroup"), root: Path = CGROUP_ROOT) -> int | None:
    """Returns how often the kernel has killed a process of our control group for memory; None when it does not say.

    Without a control group that counts, the machine's own counter is used.
    """
    for group, files in _groups(membership, root):
        count = _line(group / files.oom, "oom_kill")
        if count is not None:
            return count
    return _line(Path("/proc/vmstat"), "oom_kill")


def reserve_bytes(available: int) -> int:
    """Returns how much of the memory available at the start is left alone: 1 GiB or a tenth, whichever is more."""
    return max(GIB, available // 10)
