"""Child processes: started by one thread, watched by a guard, drained by another thread, and always ended.

`Processes` belongs to one engine. Every child is the leader of a session of its own, carries the run's id in its
environment and is known to the guard, so that no child outlives the engine however it ends.
"""

import concurrent.futures
import contextlib
import os
import queue
import selectors
import signal
import subprocess
import threading
import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import psutil

from core.errors import NetheriteError
from core.host import guard
from core.host.guard import Guard, group_is_alive, signal_group, start_mark

#: In the environment of every child: the run it belongs to.
RUN_ID_VARIABLE = "NETHERITE_RUN_ID"
STDERR_TAIL_BYTES = 64 * 1024
SPAWN_PATIENCE_S = 60.0
_POLL_S = 0.01


class SpawnError(NetheriteError):
    """A program that could not be started at all."""


@dataclass(frozen=True, slots=True)
class ClosePatience:
    """Seconds each rung of the close ladder waits: after closing stdin, after SIGTERM, after SIGKILL."""

    eof_s: float = 2.0
    term_s: float = 2.0
    kill_s: float = 2.0


GENTLE = ClosePatience()
#: For a lane that is being killed: it has no work left to finish.
BRISK = ClosePatience(eof_s=0.1, term_s=1.0, kill_s=2.0)
AT_ONCE = ClosePatience(eof_s=0.0, term_s=0.0, kill_s=2.0)


@dataclass(slots=True)
class _Tail:
    """The last bytes a child wrote to stderr, and whether more can come."""

    fd: int
    data: bytearray = field(default_factory=bytearray)
    over: threading.Event = field(default_factory=threading.Event)

    def take(self) -> bool:
        """Reads once from the pipe, which is ready; returns False at its end."""
        try:
            fresh = os.read(self.fd, STDERR_TAIL_BYTES)
        except BlockingIOError:
            return True
        except OSError:
            return False
        self.data += fresh
        del self.data[:-STDERR_TAIL_BYTES]
        return bool(fresh)


class _StderrDrain:
    """One thread that empties the stderr pipes of all children, so that none ever blocks on a full one."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._wake_read, self._wake_write = os.pipe()
        os.set_blocking(self._wake_write, False)
        self._selector.register(self._wake_read, selectors.EVENT_READ)
        self._requests: queue.SimpleQueue[tuple[str, _Tail | None]] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="stderr-drain", daemon=True)
        self._thread.start()

    def add(self, fd: int) -> _Tail:
        """Takes over a pipe's reading end: this thread alone reads and closes it."""
        os.set_blocking(fd, False)
        tail = _Tail(fd)
        self._ask("add", tail)
        return tail

    def release(self, tail: _Tail, patience_s: float) -> None:
        """Waits for the end of a child's stderr within a bound, then stops reading it."""
        if not tail.over.wait(patience_s):
            self._ask("drop", tail)
            tail.over.wait(1.0)

    def close(self) -> None:
        """Ends the thread and closes every pipe."""
        self._ask("stop", None)
        self._thread.join(2.0)

    def _ask(self, what: str, tail: _Tail | None) -> None:
        self._requests.put((what, tail))
        with contextlib.suppress(OSError):  # full: the thread is about to wake anyway; closed: it has stopped
            os.write(self._wake_write, b"\0")

    def _run(self) -> None:
        running = True
        while running:
            for key, _events in self._selector.select():
                if key.data is None:
                    os.read(self._wake_read, 4096)
                elif not key.data.take():
                    self._drop(key.data)
            running = self._answer_requests()
        for key in list(self._selector.get_map().values()):
            if key.data is not None:
                self._drop(key.data)
        self._selector.close()
        os.close(self._wake_read)
        os.close(self._wake_write)

    def _answer_requests(self) -> bool:
        """Returns False once asked to stop."""
        with contextlib.suppress(queue.Empty):
            while True:
                what, tail = self._requests.get_nowait()
                if tail is None:
                    return False
                if what == "add":
                    self._selector.register(tail.fd, selectors.EVENT_READ, tail)
                elif not tail.over.is_set():
                    self._drop(tail)
        return True

    def _drop(self, tail: _Tail) -> None:
        self._selector.unregister(tail.fd)
        os.close(tail.fd)
        tail.over.set()


class Child:
    """One child process with pipes for stdin and stdout. One thread uses it; `kill` alone may come from any thread."""

    def __init__(self, process: "subprocess.Popen[bytes]", owner: "Processes", tail: _Tail) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._process = process
        self._owner = owner
        self._tail = tail
        self._closing = threading.Lock()
        self._closed = False
        self.pid = process.pid  #: also its process group and session
        self.mark = start_mark(process.pid)
        self.stdin_fd = process.stdin.fileno()
        self.stdout_fd = process.stdout.fileno()
        os.set_blocking(self.stdin_fd, False)

    def wait(self, timeout_s: float) -> int | None:
        """Returns the exit code, or minus the signal number, or None when it still runs after `timeout_s`."""
        try:
            return self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return None

    @property
    def returncode(self) -> int | None:
        """What `wait` found, None before."""
        return self._process.returncode

    def stderr_tail(self) -> bytes:
        """Returns the last 64 KiB the child wrote to stderr (complete after `close`)."""
        return bytes(self._tail.data)

    def kill(self) -> None:
        """Sends SIGKILL to the whole group; safe at any time from any thread."""
        if group_is_alive(self.pid, self.mark):
            signal_group(self.pid, signal.SIGKILL)

    def close(self, patience: ClosePatience = GENTLE) -> int | None:
        """Ends the group by the close ladder and releases everything; may be called twice.

        Returns:
            Exit code or minus the signal number of the child, None when even SIGKILL did not end it in time.
        """
        with self._closing:
            if not self._closed:
                self._closed = True
                self._descend(patience)
                self._owner._forget(self)
                assert self._process.stdout is not None
                self._process.stdout.close()
                self._owner._drain.release(self._tail, 0.3)
        return self._process.returncode

    def _descend(self, patience: ClosePatience) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        self.wait(patience.eof_s)
        for number, patience_s in ((signal.SIGTERM, patience.term_s), (signal.SIGKILL, patience.kill_s)):
            if self._is_over():
                return
            signal_group(self.pid, number)
            give_up = time.monotonic() + patience_s
            while not self._is_over() and time.monotonic() < give_up:
                time.sleep(_POLL_S)

    def _is_over(self) -> bool:
        """Returns whether the child was waited for and nobody else is left in its group."""
        return self._process.poll() is not None and not group_is_alive(self.pid, self.mark)


class Processes:
    """All children of one engine: the guard, the spawner thread and the stderr thread."""

    def __init__(self, run_id: str) -> None:
        """Starts the guard first, then the threads.

        Raises:
            SpawnError: the guard cannot be started, and without one no child may run.
        """
        token = uuid.uuid4().hex
        self._environment = {RUN_ID_VARIABLE: run_id, guard.ENGINE_TOKEN_VARIABLE: token}
        self._lock = threading.Lock()
        self._children: set[Child] = set()
        self._closed = False
        try:
            self._guard = Guard(token)
        except OSError as error:
            raise SpawnError(f"the guard process cannot be started: {error.strerror}") from None
        self._drain = _StderrDrain()
        self._requests: queue.SimpleQueue[tuple[list[str], dict[str, str], concurrent.futures.Future[Child]] | None]
        self._requests = queue.SimpleQueue()
        self._spawner = threading.Thread(target=self._spawn_all, name="spawner", daemon=True)
        self._spawner.start()

    @property
    def guard_pid(self) -> int:
        """The guard's process id."""
        return self._guard.pid

    def spawn(self, argv: Sequence[str], environment: Mapping[str, str] | None = None) -> Child:
        """Starts a program in the caller's directory, in a session of its own, all three streams being pipes.

        Args:
            argv: program and arguments. A program without a slash is searched for in PATH.
            environment: variables on top of this process's own.

        Raises:
            SpawnError: it cannot be started; the text names the program and the reason.
        """
        wanted = {**os.environ, **(environment or {}), **self._environment}
        future: concurrent.futures.Future[Child] = concurrent.futures.Future()
        with self._lock:  # after the closing None nobody would answer
            if self._closed:
                raise SpawnError(f"cannot start {argv[0]}: the run is ending")
            self._requests.put((list(argv), wanted, future))
        try:
            return future.result(SPAWN_PATIENCE_S)
        except TimeoutError:
            if not future.cancel():
                future.add_done_callback(_end_unwanted)
            raise SpawnError(f"cannot start {argv[0]}: not started within {SPAWN_PATIENCE_S:g} s") from None
        except OSError as error:
            raise SpawnError(f"cannot start {argv[0]}: {error.strerror or error}") from None

    def kill_all(self) -> None:
        """Sends SIGKILL to every group, without waiting."""
        for child in self._living():
            child.kill()

    def close(self, patience: ClosePatience = BRISK) -> None:
        """Ends every child, the threads and the guard, all within bounds. May be called twice."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            self._requests.put(None)
        self._spawner.join(2.0)
        closers = [threading.Thread(target=child.close, args=(patience,), daemon=True) for child in self._living()]
        for closer in closers:
            closer.start()
        give_up = time.monotonic() + patience.eof_s + patience.term_s + patience.kill_s + 2.0
        for closer in closers:
            closer.join(max(0.0, give_up - time.monotonic()))
        self._drain.close()
        self._guard.close()

    def _living(self) -> list[Child]:
        with self._lock:
            return list(self._children)

    def _forget(self, child: Child) -> None:
        with self._lock:
            self._children.discard(child)
            self._guard.remove(child.pid)

    def _spawn_all(self) -> None:
        """The spawner thread: Popen called from many threads at once can hang, so only this one calls it."""
        while (request := self._requests.get()) is not None:
            argv, environment, future = request
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(self._start(argv, environment))
            except (OSError, ValueError) as error:
                future.set_exception(error if isinstance(error, OSError) else OSError(0, str(error)))

    def _start(self, argv: list[str], environment: dict[str, str]) -> Child:
        if self._closed:
            raise OSError(0, "the run is ending")
        process = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            env=environment,
            start_new_session=True,
        )
        assert process.stderr is not None
        child = Child(process, self, self._drain.add(os.dup(process.stderr.fileno())))
        process.stderr.close()
        with self._lock:
            self._children.add(child)
            self._guard.add(child.pid)
        return child


def _end_unwanted(future: "concurrent.futures.Future[Child]") -> None:
    """Ends a child that was started after its caller had given up."""
    if not future.cancelled() and future.exception() is None:
        future.result().close(AT_ONCE)


@dataclass(frozen=True, slots=True)
class Leftover:
    """A live process that carries a run's id in its environment."""

    process: psutil.Process
    run_id: str

    @property
    def pid(self) -> int:
        """Its process id."""
        return self.process.pid


def leftovers(run_id: str | None = None) -> list[Leftover]:
    """Returns the live children of a run (None: of any run), found by their environment, never by name."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            theirs = process.environ().get(RUN_ID_VARIABLE)
            if theirs and run_id in (None, theirs) and process.pid != os.getpid():
                found.append(Leftover(process, theirs))
    return found


def end_leftovers(found: Iterable[Leftover], patience_s: float = 2.0) -> list[int]:
    """Ends processes with SIGTERM, then SIGKILL, both waited for within bounds.

    Returns:
        The pids that are gone, ascending.
    """
    alive = [one.process for one in found]
    gone: list[int] = []
    for end in (psutil.Process.terminate, psutil.Process.kill):
        for process in alive:
            with contextlib.suppress(psutil.Error):
                end(process)
        give_up = time.monotonic() + patience_s
        while (left := [process for process in alive if not _is_over(process)]) and time.monotonic() < give_up:
            time.sleep(_POLL_S)
        gone += [process.pid for process in alive if process not in left]
        alive = left
    return sorted(gone)


def _is_over(process: psutil.Process) -> bool:
    """Whether nothing is left of the process, except perhaps an exit code its parent has not asked for."""
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def reap(run_id: str) -> list[int]:
    """Ends whatever is left of a run and returns the pids that are gone (the caller makes sure it is not running)."""
    return end_leftovers(leftovers(run_id))
