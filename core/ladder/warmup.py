"""Compiling kernels before lanes or a UI start: one process does it, under a lock, once for every change.

`ensure_warm` is what front ends call. When kernels have to be compiled it starts `python -P -m core.ladder.warmup`,
which prints its progress on stderr and leaves one marker file a room, so that the next start costs a few stats.
"""

import contextlib
import fcntl
import hashlib
import importlib
import os
import shutil
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import core
from core import kernels
from core.errors import ExitCode, NetheriteError
from core.ladder.config import LadderConfig

#: The kernels a run may need, by room: module and name of the function that uses each once.
ROOMS = {"policy": "core.policy.warm:warm", "bot": "core.policy.warm:warm_bot", "voxel": "core.worlds.voxel.warm:warm"}

DEADLINE_S = 1800.0  #: for compiling everything on a slow, busy machine, waiting for another process included
UNUSED_DAYS = 14.0  #: folders of other versions are kept this long after their last use

CORE = Path(core.__file__).parent


class WarmUpError(NetheriteError):
    """Kernels could not be compiled."""


def ensure_warm(rooms: Sequence[str], on_progress: Callable[[str], None]) -> None:
    """Returns when the kernels of `rooms` are compiled; immediately when they were.

    Args:
        rooms: names out of `ROOMS`: `policy` for any run, `bot` for policy bot, `voxel` when the embedded
            world takes part.
        on_progress: called in this thread with one line at a time, only when there is something to say.

    Raises:
        WarmUpError: the warm-up process failed or took longer than `DEADLINE_S`.
    """
    if kernels.CACHE_NOTE:
        on_progress(kernels.CACHE_NOTE)
    if kernels.CACHE_DIR is None:
        return  # what a warm-up process compiled would die with it
    if cold := cold_rooms(rooms):
        _warm_in_a_process(cold, on_progress)
    with contextlib.suppress(OSError):
        os.utime(kernels.CACHE_DIR)  # in use: not to be pruned


def cold_rooms(rooms: Sequence[str]) -> list[str]:
    """Returns those of `rooms` whose kernels are not compiled yet; none where compiled kernels cannot be kept."""
    cache = kernels.CACHE_DIR
    return [] if cache is None else [room for room in rooms if not marker(cache, room).exists()]


def rooms_of(config: LadderConfig) -> list[str]:
    """Returns which kernels a run with these settings needs."""
    embedded = config.backend == "voxel" or (config.is_replay and config.reference == "voxel")
    return ["policy"] + ["bot"] * (config.policy == "bot") + ["voxel"] * embedded


def marker(cache: Path, room: str) -> Path:
    """Returns the file that exists in `cache` when the kernels of `room` were compiled.

    Its name covers what numba itself compares: sources by time and size, its own version and the processor.
    """
    digest = hashlib.sha256(kernels.compiler().encode())
    sources = (source for folder in kernels.KERNEL_ROOMS for source in sorted((CORE / folder).glob("*.py")))
    for source in sources:
        status = source.stat()
        digest.update(f"{source}\0{status.st_mtime_ns}\0{status.st_size}\0".encode())
    return cache / f"warm-{room}-{digest.hexdigest()[:16]}"


def _warm_in_a_process(rooms: Sequence[str], on_progress: Callable[[str], None]) -> None:
    path = os.pathsep.join(filter(None, (str(CORE.parent), os.environ.get("PYTHONPATH"))))
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "core.ladder.warmup", *rooms],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        env=os.environ | {"PYTHONPATH": path},
    )
    deadline = threading.Timer(DEADLINE_S, process.kill)
    deadline.daemon = True
    deadline.start()
    last_lines: deque[str] = deque(maxlen=1)
    try:
        assert process.stderr is not None
        for line in process.stderr:
            last_lines.append(line.rstrip("\n"))
            on_progress(last_lines[0])
        code = process.wait()
    finally:
        deadline.cancel()
        if process.poll() is None:
            process.kill()
            process.wait()
        if process.stderr is not None:
            process.stderr.close()
    if code:
        said = f": {last_lines[0]}" if last_lines else ""
        raise WarmUpError(f"kernels could not be compiled (warm-up process ended with {code}){said}")


# ---- in the warm-up process -----------------------------------------------------------------------------------------


def main(rooms: Sequence[str]) -> int:
    """Compiles the kernels of `rooms` into the cache folder; returns the exit code."""
    unknown = [room for room in rooms if room not in ROOMS]
    if unknown or not rooms:
        print(
            f"warm-up: expected rooms out of {', '.join(ROOMS)}, found {' '.join(unknown) or 'none'}", file=sys.stderr
        )
        return ExitCode.USAGE
    if kernels.CACHE_DIR is None:
        _say(kernels.CACHE_NOTE)
        return ExitCode.USAGE
    try:
        with _locked(kernels.CACHE_DIR / "warm.lock"):
            for room in rooms:
                _warm(room, marker(kernels.CACHE_DIR, room))
            prune(kernels.CACHE_DIR)
    except OSError as error:
        _say(f"kernel cache {kernels.CACHE_DIR}: {error.strerror or error}")
        return ExitCode.USAGE
    return ExitCode.OK


def _warm(room: str, done: Path) -> None:
    if done.exists():
        return
    _say(f"compiling {room} kernels (once for this version)")
    start = time.monotonic()
    module, _, function = ROOMS[room].partition(":")
    getattr(importlib.import_module(module), function)()
    done.touch()
    _say(f"{room} kernels compiled in {time.monotonic() - start:.0f} s")


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _say("another process is compiling kernels: waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def prune(cache: Path) -> None:
    """Removes the folders of other versions beside `cache` that nothing has used for `UNUSED_DAYS`."""
    if cache != kernels.cache_dir():
        return  # a folder somebody chose: what lies beside it is not ours
    oldest = time.time() - UNUSED_DAYS * 86400
    for folder in cache.parent.iterdir():
        if folder != cache and folder.is_dir() and folder.stat().st_mtime < oldest:
            shutil.rmtree(folder, ignore_errors=True)


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
