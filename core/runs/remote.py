"""The other end of a run's control socket: another terminal's picture of a run, and its hands."""

import contextlib
import itertools
import os
import socket
import threading
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from core.errors import NetheriteError, Refused
from core.ladder.events import Event, LaneView
from core.runs import frames
from core.runs.store import RunState, StoredRun, read_manifest

START_PATIENCE_S = 5.0  #: for an engine that has its folder but not yet its socket
CONNECT_TIMEOUT_S = 5.0
REPLY_TIMEOUT_S = 30.0


class EngineGone(NetheriteError):
    """Nobody answers at a run's control socket, or the connection ended."""


def client_of(run: StoredRun) -> "ControlClient":
    """Returns an unconnected client of a run that is alive on this host.

    Raises:
        Refused: the run is not alive, is another host's, or its engine has no control socket; the text says which.
    """
    if run.state is RunState.ELSEWHERE:
        raise Refused(f"run {run.id} belongs to host {run.host}: ssh -t {run.host} netherite-tui watch {run.id}")
    if run.state is not RunState.RUNNING:
        raise Refused(f"run {run.id} is {run.state.value}: no engine drives it (run --resume {run.id} goes on with it)")
    return ControlClient(socket_of(run.folder))


def socket_of(folder: Path) -> str:
    """Returns the control socket of a live run, waiting a moment for an engine that is just starting.

    Raises:
        Refused: its engine has none, or none yet. BadInput: the manifest cannot be read.
    """
    give_up = time.monotonic() + START_PATIENCE_S
    while (path := read_manifest(folder).get("engine", {}).get("socket")) is None:
        if time.monotonic() > give_up:
            raise Refused(f"run {folder.name} has no control socket yet: its engine is still starting")
        time.sleep(0.05)
    if not path:
        raise Refused(f"run {folder.name} has no control socket: its engine could not make one")
    return str(path)


class ControlClient:
    """Follows a run over its socket. A thread of its own keeps `views` and `events_since` fresh; they never block."""

    def __init__(self, socket_path: Path | str) -> None:
        """Prepares to connect to `socket_path`, which is in the run's manifest."""
        self._path = Path(socket_path)
        self._socket: socket.socket | None = None
        self._changed = threading.Condition()
        self._views: dict[int, LaneView] = {}
        self._shown: tuple[LaneView, ...] | None = ()
        self._events: list[Event] = []
        self._replies: dict[int, str | None] = {}
        self._awaited: set[int] = set()
        self._numbers = itertools.count()
        self._sending = threading.Lock()
        self._heard = time.monotonic()
        self._hello: dict[str, Any] = {}
        self._ended = ""
        self._thread = threading.Thread(target=self._receive, name="control-client", daemon=True)

    def connect(self, timeout_s: float = CONNECT_TIMEOUT_S) -> None:
        """Connects and exchanges hellos.

        Raises:
            EngineGone: nobody answers within `timeout_s`, or the engine speaks another protocol.
        """
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.settimeout(timeout_s)
            connection.connect(os.fspath(self._path))
            connection.sendall(frames.pack("hello", protocol=frames.PROTOCOL))
            connection.settimeout(None)
        except OSError as error:
            connection.close()
            raise EngineGone(f"no engine answers at {self._path}: {error.strerror or error}") from error
        self._socket = connection
        self._thread.start()
        with self._changed:
            greeted = self._changed.wait_for(lambda: self._hello or self._ended, timeout_s)
        if not self._hello:
            self.close()
            raise EngineGone(self._ended if greeted else f"no hello from the engine at {self._path} in {timeout_s:g} s")

    def close(self) -> None:
        """Lets go of the run, which goes on. Safe to call twice."""
        connection = self._socket
        if connection is not None:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            if self._thread is not threading.current_thread():
                self._thread.join(CONNECT_TIMEOUT_S)
            connection.close()

    @property
    def alive(self) -> bool:
        """Whether the connection stands."""
        return bool(self._hello) and not self._ended

    @property
    def ended(self) -> str:
        """Why the connection ended, one line; empty while it stands."""
        return self._ended

    @property
    def age_s(self) -> float:
        """Seconds since the engine was last heard of; it says something at least every second."""
        return time.monotonic() - self._heard

    @property
    def facts(self) -> Mapping[str, Any]:
        """What the engine said of itself in its hello: the session's facts and its `pid`."""
        return {**self._hello.get("facts", {}), "pid": self._hello.get("pid")}

    def views(self) -> tuple[LaneView, ...]:
        """Returns the newest view of each lane, in lane order."""
        with self._changed:
            if self._shown is None:
                self._shown = tuple(self._views[index] for index in sorted(self._views))
            return self._shown

    def events_since(self, n: int) -> list[Event]:
        """Returns the events from number `n` on, as far as they have come."""
        with self._changed:
            return self._events[n:]

    def watch_records(self, indices: Iterable[int]) -> None:
        """Asks for the records of exactly these lanes to come with their views.

        Raises:
            EngineGone: the connection ended.
        """
        self._send(frames.pack("watch", lanes=sorted(set(indices))))

    def post(self, name: str, indices: Iterable[int] = ()) -> None:
        """Sends a command (one of `control.COMMANDS`) without waiting for what comes of it.

        Raises:
            EngineGone: the connection ended.
        """
        self._send(frames.pack("do", id=next(self._numbers), name=name, lanes=sorted(set(indices))))

    def command(self, name: str, indices: Iterable[int] = (), timeout_s: float = REPLY_TIMEOUT_S) -> None:
        """Sends a command and waits until the engine has carried it out.

        Raises:
            Refused: the engine refused; the text is its own.
            EngineGone: the connection ended, or no answer came within `timeout_s`.
        """
        number = next(self._numbers)
        with self._changed:
            self._awaited.add(number)
        self._send(frames.pack("do", id=number, name=name, lanes=sorted(set(indices))))
        with self._changed:
            self._changed.wait_for(lambda: number in self._replies or self._ended, timeout_s)
            self._awaited.discard(number)
            if number not in self._replies:
                raise EngineGone(self._ended or f"the engine did not answer {name} in {timeout_s:g} s")
            error = self._replies.pop(number)
        if error is not None:
            raise Refused(error)

    def wait_change(self, timeout_s: float) -> bool:
        """Waits until anything new has come or the connection has ended; returns whether it has."""
        with self._changed:
            return self._changed.wait(timeout_s)

    def wait_end(self, timeout_s: float | None = None) -> bool:
        """Waits until the connection has ended, as it does when the run has; returns whether it has."""
        with self._changed:
            return self._changed.wait_for(lambda: bool(self._ended), timeout_s)

    def _send(self, data: bytes) -> None:
        if self._socket is None or self._ended:
            raise EngineGone(self._ended or "not connected to an engine")
        try:
            with self._sending:
                self._socket.sendall(data)
        except OSError as error:
            raise EngineGone(f"the engine at {self._path} is gone: {error.strerror or error}") from error

    # ---- the receiving thread ----

    def _receive(self) -> None:
        assert self._socket is not None
        unpacker = frames.Unpacker(frames.ANSWER_LIMIT)
        why = f"the engine at {self._path} is gone"
        try:
            while data := self._socket.recv(1 << 18):
                for content in unpacker.feed(data):
                    self._take(content)
        except (OSError, NetheriteError, KeyError, TypeError) as error:
            why = f"{why}: {error}"
        with self._changed:
            self._ended = self._ended or why
            self._changed.notify_all()

    def _take(self, content: dict[str, Any]) -> None:
        with self._changed:
            self._heard = time.monotonic()
            match content["t"]:
                case "hello":
                    if content.get("protocol") != frames.PROTOCOL:
                        raise EngineGone(f"it speaks protocol {content.get('protocol')}, expected {frames.PROTOCOL}")
                    self._hello = content
                case "views":
                    self._views.update((view.index, view) for view in map(frames.view_of, content["views"]))
                    self._shown = None
                case "events":
                    self._events += map(frames.event_of, content["events"])
                case "reply" if content["id"] in self._awaited:
                    self._replies[content["id"]] = content["error"]
                case "bye":
                    self._ended = str(content["text"])
            self._changed.notify_all()
