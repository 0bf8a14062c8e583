"""The guard: a tiny process that outlives the engine just long enough to end the engine's children.

This file is both ends. Run by path (`python -S -I guard.py TOKEN`) it is the guard itself, so it may use the standard
library only. Imported, it gives `Guard`, the engine's handle on that process. The guard holds the reading end of a
pipe; whatever ends the engine, SIGKILL included, closes the writing end, and the guard then ends what is left.
"""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

#: In the environment of every child: one value for each engine object, so a guard never touches a later engine's lanes.
ENGINE_TOKEN_VARIABLE = "NETHERITE_ENGINE"
TERM_PATIENCE_S = 1.0
KILL_PATIENCE_S = 1.0
POLL_S = 0.02


def start_mark(pid: int) -> str:
    """Returns a word that differs between two processes that had the same pid at different times; "" when gone."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        if Path("/proc/self/stat").exists():
            return ""
        shown = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
        return shown.stdout.strip().replace(" ", "_")
    return stat.rpartition(b")")[2].split()[19].decode()  # field 22, counted after the name, which may hold spaces


def group_is_alive(pgid: int, mark: str) -> bool:
    """Returns whether the process group still has a member and is still the one that was meant.

    A group whose leader is gone keeps its number reserved, so only a leader with another start mark is a stranger.
    """
    try:
        os.killpg(pgid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return False  # macOS answers this for a group of zombies; a stranger's group is none of ours either
    return start_mark(pgid) in ("", mark) and not _only_zombies(pgid)


def signal_group(pgid: int, number: int) -> None:
    """Sends a signal to a process group that may be gone."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pgid, number)


def _stat_fields() -> Iterator[tuple[int, list[bytes]]]:
    """Yields (pid, stat fields from the state on) of every process, where the system has a /proc."""
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            yield int(folder.name), (folder / "stat").read_bytes().rpartition(b")")[2].split()


def _only_zombies(pgid: int) -> bool:
    """Returns whether /proc shows the group and every member has ended but was not waited for."""
    states = [fields[0] for _pid, fields in _stat_fields() if int(fields[2]) == pgid]
    return bool(states) and all(state in b"ZX" for state in states)


def _strays(token: str) -> dict[int, str]:
    """Returns pid -> start mark of live processes that carry the engine's token (Linux; elsewhere none)."""
    wanted = f"{ENGINE_TOKEN_VARIABLE}={token}".encode()
    found = {}
    for pid, fields in _stat_fields():
        with contextlib.suppress(OSError):
            if wanted in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0") and fields[0] not in b"ZX":
                found[pid] = fields[19].decode()
    return found


def end_everything(groups: dict[int, str], token: str) -> None:
    """Ends the groups and every process carrying the token: SIGTERM, a bounded wait, SIGKILL, a bounded wait."""
    for number, patience_s in ((signal.SIGTERM, TERM_PATIENCE_S), (signal.SIGKILL, KILL_PATIENCE_S)):
        if not _signal_alive(groups, token, number):
            return
        give_up = time.monotonic() + patience_s
        while _signal_alive(groups, token, 0) and time.monotonic() < give_up:
            time.sleep(POLL_S)


def _signal_alive(groups: dict[int, str], token: str, number: int) -> bool:
    """Signals what is left (0 = only look); returns whether anything was."""
    alive = [pgid for pgid, mark in groups.items() if group_is_alive(pgid, mark)]
    for pgid in alive:
        signal_group(pgid, number)
    strays = _strays(token)
    for pid, mark in strays.items():
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if start_mark(pid) == mark:
                os.kill(pid, number)
    return bool(alive or strays)


def watch(token: str, stdin_fd: int = 0) -> None:
    """Keeps the list of groups until the pipe closes, then ends what is left of it.

    Lines: `+ PGID MARK` a group was started, `- PGID` it has ended and was waited for.
    """
    groups: dict[int, str] = {}
    with os.fdopen(stdin_fd, encoding="ascii", errors="replace") as lines:
        for line in lines:
            word, _, rest = line.strip().partition(" ")
            pgid, _, mark = rest.partition(" ")
            if not pgid.isdecimal():
                continue
            if word == "+":
                groups[int(pgid)] = mark
            elif word == "-":
                groups.pop(int(pgid), None)
    end_everything(groups, token)


class Guard:
    """The engine's end of the guard. Not thread-safe: the spawner thread and the closing thread take turns by lock."""

    def __init__(self, token: str) -> None:
        """Starts the guard process.

        Raises:
            OSError: the interpreter cannot be started.
        """
        self._token = token
        self._groups: dict[int, str] = {}
        self._start()

    def _start(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-S", "-I", __file__, self._token],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,
            bufsize=0,
        )
        assert self._process.stdin is not None
        self._fd = self._process.stdin.fileno()
        os.set_blocking(self._fd, False)  # a stopped guard must never stop the engine

    @property
    def pid(self) -> int:
        """The guard's process id."""
        return self._process.pid

    def add(self, pgid: int) -> None:
        """Tells the guard about a new process group, whose leader has not been waited for yet."""
        self._groups[pgid] = start_mark(pgid)
        self._tell(f"+ {pgid} {self._groups[pgid]}\n")

    def remove(self, pgid: int) -> None:
        """Tells the guard that a group has ended."""
        self._groups.pop(pgid, None)
        self._tell(f"- {pgid}\n")

    def _tell(self, line: str) -> None:
        try:
            os.write(self._fd, line.encode())
        except BrokenPipeError:  # somebody ended the guard: a new one learns the whole list
            self._dismiss()
            self._start()
            with contextlib.suppress(OSError):
                os.write(self._fd, "".join(f"+ {pgid} {mark}\n" for pgid, mark in self._groups.items()).encode())
        except BlockingIOError:
            pass  # it still ends everything by the token

    def _dismiss(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(TERM_PATIENCE_S + KILL_PATIENCE_S + 1.0)

    def close(self) -> None:
        """Closes the pipe, upon which the guard ends what is left, and waits for it within a bound."""
        self._dismiss()


if __name__ == "__main__":
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    watch(sys.argv[1])
