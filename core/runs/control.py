"""The control socket of a running engine: views and events go out, commands come in.

One thread serves all clients and only ever reads the engine's immutable views, so the run never waits for a client. A
client gets the newest views when it has taken the last ones: a slow one sees fewer pictures, one that takes nothing for
STALL_S is dropped. Commands run in a second thread, because ending a lane takes its time.
"""

import contextlib
import os
import queue
import selectors
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from core.errors import NetheriteError
from core.ladder.events import Event, LaneView
from core.runs import frames

INTERVAL_S = 0.125  #: between two pictures
BEAT_S = 1.0  #: a client hears at least this often from a living engine
STALL_S = 10.0  #: a client that takes nothing for so long is dropped
CLIENT_LIMIT = 16
EVENTS_A_FRAME = 500
SOCKET_PATH_LIMIT = 100  #: bytes; the kernel's limit is 104 to 108
_LONE_NAME = "control.sock"  # of a socket in a temporary folder of its own

COMMANDS = ("kill", "kill_stuck", "pause", "resume", "retry", "pause_all", "resume_all", "stop")
_WITH_LANES = ("kill", "pause", "resume", "retry")


class EngineControl(Protocol):
    """What a client can see of a run and do to it; the engine, or the session around it."""

    def views(self) -> tuple[LaneView, ...]: ...
    def events_since(self, n: int) -> Sequence[Event]: ...
    def kill(self, indices: Iterable[int]) -> None: ...
    def kill_stuck(self) -> object: ...
    def pause(self, indices: Iterable[int]) -> None: ...
    def resume(self, indices: Iterable[int]) -> None: ...
    def retry(self, indices: Iterable[int]) -> None: ...
    def pause_all(self) -> None: ...
    def resume_all(self) -> None: ...
    def stop(self) -> None: ...


def new_socket_path(run_id: str) -> Path:
    """Returns where this run's socket goes: the user's runtime folder, else a fresh private temporary folder."""
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    path = Path(runtime) / f"netherite-{run_id}.sock"
    if runtime and os.access(runtime, os.W_OK | os.X_OK) and len(os.fsencode(path)) <= SOCKET_PATH_LIMIT:
        return path
    roots = (tempfile.gettempdir(), "/tmp")
    root = next(root for root in roots if len(os.fsencode(root)) <= SOCKET_PATH_LIMIT - 40 or root == "/tmp")
    return Path(tempfile.mkdtemp(prefix="netherite-", dir=root)) / _LONE_NAME


class ControlServer:
    """Serves one run on a unix socket. `start` it, `close` it; everything between happens in its threads."""

    def __init__(self, engine: EngineControl, path: Path, facts: Mapping[str, Any]) -> None:
        """Prepares to serve `engine` at `path`; `facts` (msgpack values) go into the hello every client gets."""
        self._engine = engine
        self._path = path
        self._hello = frames.pack("hello", protocol=frames.PROTOCOL, pid=os.getpid(), facts=dict(facts))
        self._selector = selectors.DefaultSelector()
        self._clients: dict[socket.socket, _Client] = {}
        self._jobs: queue.SimpleQueue[tuple[_Client, int, Callable[[], object]] | None] = queue.SimpleQueue()
        self._replies: queue.SimpleQueue[tuple[_Client, bytes]] = queue.SimpleQueue()
        self._closing = threading.Event()
        self._threads = [
            threading.Thread(target=self._serve, name="control", daemon=True),
            threading.Thread(target=self._run_jobs, name="control-commands", daemon=True),
        ]

    @property
    def path(self) -> Path:
        """The socket."""
        return self._path

    def start(self) -> None:
        """Binds the socket (mode 600) and begins to serve.

        Raises:
            NetheriteError: the socket cannot be made.
        """
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._path.unlink(missing_ok=True)
            listener.bind(os.fspath(self._path))
            self._path.chmod(0o600)
        except OSError as error:
            listener.close()
            self._remove_socket()
            raise NetheriteError(f"control socket {self._path} cannot be made: {error.strerror or error}") from error
        listener.listen()
        listener.setblocking(False)
        self._listener = listener
        self._wake_out, self._wake_in = socket.socketpair()
        for end in (self._wake_out, self._wake_in):
            end.setblocking(False)
        self._selector.register(listener, selectors.EVENT_READ)
        self._selector.register(self._wake_in, selectors.EVENT_READ)
        for thread in self._threads:
            thread.start()

    def close(self, timeout_s: float = 2.0) -> None:
        """Sends what is left with a goodbye, ends the connections and removes the socket. Safe to call twice."""
        if self._closing.is_set() or not self._threads[0].is_alive():
            return
        self._jobs.put(None)
        self._threads[1].join(timeout_s)  # so that the command that ended the run is answered
        self._closing.set()
        self._wake()
        self._threads[0].join(timeout_s)
        self._remove_socket()

    def _remove_socket(self) -> None:
        with contextlib.suppress(OSError):
            self._path.unlink(missing_ok=True)
            if self._path.name == _LONE_NAME:
                self._path.parent.rmdir()

    def _wake(self) -> None:
        with contextlib.suppress(OSError):
            self._wake_out.send(b".")

    # ---- the serving thread ----

    def _serve(self) -> None:
        try:
            next_picture = time.monotonic()
            while not self._closing.is_set():
                wait = max(0.0, next_picture - time.monotonic()) if self._clients else None
                for key, ready in self._selector.select(wait):
                    self._handle(key.fileobj, ready)
                self._post_replies()
                now = time.monotonic()
                if now >= next_picture:
                    next_picture = now + INTERVAL_S
                    self._picture(now)
            self._say_goodbye()
        finally:
            for client in list(self._clients.values()):
                self._drop(client)
            self._selector.close()
            for end in (self._listener, self._wake_in, self._wake_out):
                end.close()

    def _handle(self, ready_socket: Any, ready: int) -> None:
        if ready_socket is self._listener:
            self._accept()
        elif ready_socket is self._wake_in:
            with contextlib.suppress(OSError):
                self._wake_in.recv(4096)
        elif client := self._clients.get(ready_socket):
            if ready & selectors.EVENT_READ:
                self._receive(client)
            if ready & selectors.EVENT_WRITE and client.socket in self._clients:
                self._flush(client)

    def _accept(self) -> None:
        try:
            connection, _ = self._listener.accept()
        except OSError:  # the client is gone already, or this process is out of descriptors: do not spin on it
            time.sleep(INTERVAL_S)
            return
        if len(self._clients) >= CLIENT_LIMIT:
            connection.close()
            return
        connection.setblocking(False)
        client = _Client(connection)
        self._clients[connection] = client
        self._selector.register(connection, selectors.EVENT_READ)
        self._send(client, self._hello)

    def _receive(self, client: "_Client") -> None:
        try:
            data = client.socket.recv(1 << 16)
            if not data:
                self._drop(client)
                return
            for request in client.unpacker.feed(data):
                self._answer(client, request)
        except BlockingIOError:
            return
        except frames.BadFrame as error:
            self._part(client, str(error))
        except OSError:
            self._drop(client)

    def _answer(self, client: "_Client", request: dict[str, Any]) -> None:
        kind = request["t"]
        if kind == "hello":
            if request.get("protocol") != frames.PROTOCOL:
                raise frames.BadFrame(f"control protocol {request.get('protocol')}, expected {frames.PROTOCOL}")
            client.greeted = True
        elif not client.greeted:
            raise frames.BadFrame(f"control frame {kind!r} before the hello")
        elif kind == "watch":
            client.watch(frames.lanes_of(request, len(self._engine.views())))
        elif kind == "do":
            self._queue_command(client, request)
        else:
            raise frames.BadFrame(f"control frame of unknown type {kind!r}")

    def _queue_command(self, client: "_Client", request: dict[str, Any]) -> None:
        number, name = request.get("id"), request.get("name")
        if type(number) is not int or name not in COMMANDS:
            raise frames.BadFrame(f"control command {name!r}, expected one of {', '.join(COMMANDS)}")
        action = getattr(self._engine, name)
        if name in _WITH_LANES:
            lanes = frames.lanes_of(request, len(self._engine.views()))
            self._jobs.put((client, number, lambda: action(lanes)))
        else:
            self._jobs.put((client, number, action))

    def _picture(self, now: float) -> None:
        for client in list(self._clients.values()):
            if client.outbox:
                if now - client.progress > STALL_S:
                    self._drop(client)
            elif client.greeted and (news := client.news(self._engine, now)):
                self._send(client, news)

    def _post_replies(self) -> None:
        with contextlib.suppress(queue.Empty):
            while True:
                client, reply = self._replies.get_nowait()
                if client.socket in self._clients:
                    self._send(client, reply)

    def _send(self, client: "_Client", data: bytes) -> None:
        if not client.outbox:
            client.progress = time.monotonic()
        client.outbox += data
        if len(client.outbox) > frames.ANSWER_LIMIT:
            self._drop(client)
        else:
            self._flush(client)

    def _flush(self, client: "_Client") -> None:
        try:
            while client.outbox:
                sent = client.socket.send(memoryview(client.outbox)[: 1 << 18])
                del client.outbox[:sent]
                client.progress = time.monotonic()
        except BlockingIOError:
            pass
        except OSError:
            self._drop(client)
            return
        interest = selectors.EVENT_READ | (selectors.EVENT_WRITE if client.outbox else 0)
        self._selector.modify(client.socket, interest)

    def _part(self, client: "_Client", why: str) -> None:
        """Ends one connection, telling the client why if it listens."""
        with contextlib.suppress(OSError):
            if not client.outbox:
                client.socket.send(frames.pack("bye", text=why))
        self._drop(client)

    def _drop(self, client: "_Client") -> None:
        if self._clients.pop(client.socket, None):
            self._selector.unregister(client.socket)
            client.socket.close()

    def _say_goodbye(self) -> None:
        """Gives every client the last views and events and a bye, as far as each takes them within a second."""
        self._post_replies()
        deadline = time.monotonic() + 1.0
        for client in list(self._clients.values()):
            if client.greeted:
                self._send(client, client.last_news(self._engine) + frames.pack("bye", text="the run has ended"))
        while any(client.outbox for client in self._clients.values()) and time.monotonic() < deadline:
            for key, ready in self._selector.select(0.1):
                if key.fileobj in self._clients and ready & selectors.EVENT_WRITE:
                    self._flush(self._clients[key.fileobj])  # type: ignore[index]

    # ---- the command thread ----

    def _run_jobs(self) -> None:
        while (job := self._jobs.get()) is not None:
            client, number, action = job
            try:
                action()
                error = None
            except NetheriteError as refused:
                error = str(refused)
            except Exception as bug:  # reported to the client: a bad command must not end the run
                error = f"{type(bug).__name__}: {bug}"
            self._replies.put((client, frames.pack("reply", id=number, error=error)))
            self._wake()


class _Client:
    """One connection: what it asked for, what it has been told, and the bytes it has not taken yet."""

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection
        self.unpacker = frames.Unpacker(frames.REQUEST_LIMIT)
        self.outbox = bytearray()
        self.progress = time.monotonic()  # when it last took bytes, or was last owed none
        self.greeted = False
        self._watched: frozenset[int] = frozenset()
        self._told: dict[int, LaneView] = {}  # the view of each lane it knows
        self._next_event = 0
        self._last_news = 0.0

    def watch(self, lanes: Iterable[int]) -> None:
        fresh = frozenset(lanes)
        for lane in fresh - self._watched:
            self._told.pop(lane, None)  # to be told again, with its records
        self._watched = fresh

    def news(self, engine: EngineControl, now: float) -> bytes:
        """Returns frames of all that changed since the last call, a beat when it is time for one, else nothing."""
        out = b""
        changed = [view for view in engine.views() if self._told.get(view.index) is not view]
        if changed:
            self._told.update((view.index, view) for view in changed)
            out += frames.pack("views", views=[frames.view_row(view, view.index in self._watched) for view in changed])
        events = engine.events_since(self._next_event)[:EVENTS_A_FRAME]
        if events:
            self._next_event = events[-1].n + 1
            out += frames.pack("events", events=[frames.event_row(event) for event in events])
        if not out and now - self._last_news >= BEAT_S:
            out = frames.pack("beat")
        if out:
            self._last_news = now
        return out

    def last_news(self, engine: EngineControl) -> bytes:
        """Returns the frames of everything it has not been told, of an engine that has stopped."""
        out = self.news(engine, 0.0)
        while self._next_event <= max((event.n for event in engine.events_since(self._next_event)), default=-1):
            out += self.news(engine, 0.0)
        return out
