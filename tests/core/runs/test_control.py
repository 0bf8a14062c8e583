"""The control socket with real sockets: what clients see, what they may do, and what a bad one cannot do."""

import os
import select
import socket
import stat
import struct
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import msgpack
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.errors import NetheriteError, Refused
from core.ladder.events import Event, LaneState, LaneView, Outcome
from core.runs import control, frames
from core.runs.remote import ControlClient, EngineGone

SOON_S = 20.0


class ScriptedEngine:
    """An engine whose lanes change when a test says so, and which keeps what it was told to do."""

    def __init__(self, lanes: int = 3) -> None:
        self._views = tuple(
            LaneView(i, stage=0, seed=10 + i, attempt=0, held_out=False, ni=i, limit=100) for i in range(lanes)
        )
        self._events: list[Event] = []
        self.done: list[tuple[str, list[int]]] = []
        self.busy = threading.Event()
        self.busy.set()

    def change(self, index: int, **values: object) -> None:
        views = list(self._views)
        views[index] = replace(views[index], version=views[index].version + 1, **values)
        self._views = tuple(views)

    def happen(self, kind: str, lane: int | None = None) -> None:
        self._events.append(Event(len(self._events), time.time(), kind, lane, f"{kind} {lane}", {"lane": lane}))

    def views(self) -> tuple[LaneView, ...]:
        return self._views

    def events_since(self, n: int) -> list[Event]:
        return self._events[n:]

    def _do(self, name: str, indices: Iterable[int] = ()) -> None:
        self.busy.wait(SOON_S)
        self.done.append((name, list(indices)))

    def kill(self, indices: Iterable[int]) -> None:
        self._do("kill", indices)

    def kill_stuck(self) -> None:
        self._do("kill_stuck")

    def pause(self, indices: Iterable[int]) -> None:
        self._do("pause", indices)

    def resume(self, indices: Iterable[int]) -> None:
        self._do("resume", indices)

    def retry(self, indices: Iterable[int]) -> None:
        raise NetheriteError(f"lane {next(iter(indices))} is not lost")

    def pause_all(self) -> None:
        self._do("pause_all")

    def resume_all(self) -> None:
        self._do("resume_all")

    def stop(self) -> None:
        self._do("stop")


@contextmanager
def serving(engine: ScriptedEngine, folder: Path) -> Iterator[Path]:
    path = folder / "c.sock"
    server = control.ControlServer(engine, path, {"run": "r1"})
    server.start()
    try:
        yield path
    finally:
        server.close()
        assert not path.exists()


@contextmanager
def connected(path: Path) -> Iterator[ControlClient]:
    client = ControlClient(path)
    client.connect(SOON_S)
    try:
        yield client
    finally:
        client.close()


def eventually(client: ControlClient, condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SOON_S
    while not condition():
        assert time.monotonic() < deadline, "the awaited change did not come"
        client.wait_change(0.2)


def test_a_client_sees_views_events_and_facts(tmp_path: Path) -> None:
    engine = ScriptedEngine()
    engine.happen("run-start")
    with serving(engine, tmp_path) as path, connected(path) as client:
        eventually(client, lambda: client.views() == engine.views() and len(client.events_since(0)) == 1)
        engine.change(1, state=LaneState.ENDED, outcome=Outcome.DIVERGE, mismatch_step=7, rss_mib=178.5)
        engine.happen("outcome", 1)
        eventually(client, lambda: client.views() == engine.views() and len(client.events_since(0)) == 2)
        assert client.events_since(1) == engine.events_since(1)
        assert client.facts == {"run": "r1", "pid": os.getpid()}
        assert client.alive
        assert client.age_s < SOON_S


def test_records_come_only_for_the_lanes_asked_for(tmp_path: Path) -> None:
    engine = ScriptedEngine()
    for lane in range(3):
        engine.change(lane, record=b"m" * 14_628, reference=b"b" * 14_628)
    with serving(engine, tmp_path) as path, connected(path) as client:
        eventually(client, lambda: len(client.views()) == 3)
        assert all(view.record is None for view in client.views())
        client.watch_records([2])
        eventually(client, lambda: client.views()[2] == engine.views()[2])
        assert client.views()[0].record is None
        client.watch_records([0])
        eventually(client, lambda: client.views()[0] == engine.views()[0])


def test_commands_reach_the_engine_and_answer(tmp_path: Path) -> None:
    engine = ScriptedEngine()
    with serving(engine, tmp_path) as path, connected(path) as client:
        client.command("kill", [2, 0, 2], SOON_S)
        for name in ("kill_stuck", "pause_all", "resume_all", "stop"):
            client.command(name, timeout_s=SOON_S)
        client.post("pause", [1])
        client.command("resume", [1], SOON_S)
        expected = [("kill", [0, 2]), ("kill_stuck", []), ("pause_all", []), ("resume_all", []), ("stop", [])]
        assert engine.done == [*expected, ("pause", [1]), ("resume", [1])]
        with pytest.raises(Refused, match="lane 1 is not lost"):
            client.command("retry", [1], SOON_S)


def test_a_command_that_takes_long_does_not_stop_the_pictures(tmp_path: Path) -> None:
    engine = ScriptedEngine()
    with serving(engine, tmp_path) as path, connected(path) as client:
        engine.busy.clear()
        client.post("kill", [0])
        engine.change(0, note="still moving")
        eventually(client, lambda: bool(client.views()) and client.views()[0].note == "still moving")
        assert engine.done == []
        engine.busy.set()
        client.command("kill", [1], SOON_S)
        assert engine.done == [("kill", [0]), ("kill", [1])]


@pytest.mark.parametrize("lanes", [[3], [-1], [True], ["0"], None, {"0": 1}])
def test_lanes_that_do_not_exist_end_that_client_only(tmp_path: Path, lanes: object) -> None:
    engine = ScriptedEngine()
    with serving(engine, tmp_path) as path, connected(path) as good, connected(path) as bad:
        bad._send(frames.pack("do", id=1, name="kill", lanes=lanes))
        assert bad.wait_end(SOON_S)
        assert "expected numbers from 0 to 2" in bad.ended
        good.command("kill", [0], SOON_S)
        assert engine.done == [("kill", [0])]


def test_an_unknown_command_is_named(tmp_path: Path) -> None:
    with serving(ScriptedEngine(), tmp_path) as path, connected(path) as client:
        with pytest.raises(EngineGone, match="control command 'explode', expected one of kill, kill_stuck"):
            client.command("explode", timeout_s=SOON_S)
        with pytest.raises(EngineGone):
            client.command("kill", [0], SOON_S)


def test_another_protocol_is_told(tmp_path: Path) -> None:
    with serving(ScriptedEngine(), tmp_path) as path, socket.socket(socket.AF_UNIX) as raw:
        raw.settimeout(SOON_S)
        raw.connect(os.fspath(path))
        raw.sendall(frames.pack("hello", protocol=99))
        assert [content["t"] for content in received(raw)] == ["hello", "bye"]


def received(raw: socket.socket) -> list[dict]:
    unpacker, contents = frames.Unpacker(frames.ANSWER_LIMIT), []
    while data := raw.recv(1 << 16):
        contents += unpacker.feed(data)
    return contents


def test_nothing_but_hello_comes_before_the_hello(tmp_path: Path) -> None:
    engine = ScriptedEngine()
    with serving(engine, tmp_path) as path, socket.socket(socket.AF_UNIX) as raw:
        raw.settimeout(SOON_S)
        raw.connect(os.fspath(path))
        raw.sendall(frames.pack("do", id=0, name="stop", lanes=[]))
        assert received(raw)[-1]["text"] == "control frame 'do' before the hello"
        assert engine.done == []


DAMAGE = st.one_of(
    st.binary(min_size=1, max_size=300),
    st.integers(frames.REQUEST_LIMIT + 1, 2**32 - 1).map(lambda size: struct.pack("<I", size) + b"x"),
    st.recursive(
        st.none() | st.integers(-(2**60), 2**60) | st.text(max_size=5) | st.binary(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
        max_leaves=8,
    ).map(lambda value: (lambda body: struct.pack("<I", len(body)) + body)(msgpack.packb(value))),
    st.fixed_dictionaries(
        {"t": st.sampled_from(["hello", "watch", "do", "views"])},
        optional={"id": st.none() | st.integers(0, 9), "name": st.text(max_size=6), "lanes": st.just([[]])},
    ).map(lambda content: (lambda body: struct.pack("<I", len(body)) + body)(msgpack.packb(content))),
)


def test_no_bytes_of_one_client_disturb_another(tmp_path: Path) -> None:
    engine = ScriptedEngine()
    with serving(engine, tmp_path) as path, connected(path) as good:

        @settings(max_examples=150, suppress_health_check=list(HealthCheck))
        @given(damage=DAMAGE, greet=st.booleans())
        def throw(damage: bytes, greet: bool) -> None:
            with socket.socket(socket.AF_UNIX) as raw:
                raw.connect(os.fspath(path))
                try:
                    if greet:
                        raw.sendall(frames.pack("hello", protocol=frames.PROTOCOL))
                    raw.sendall(damage)
                except BrokenPipeError:
                    pass

        throw()
        engine.change(0, note="alive")
        eventually(good, lambda: bool(good.views()) and good.views()[0].note == "alive")
        assert good.alive
        assert engine.done == []


def test_a_client_that_never_reads_is_dropped_and_slows_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control, "STALL_S", 0.5)
    engine = ScriptedEngine(64)
    with serving(engine, tmp_path) as path, connected(path) as good, socket.socket(socket.AF_UNIX) as deaf:
        deaf.connect(os.fspath(path))
        deaf.sendall(frames.pack("hello", protocol=1) + frames.pack("watch", lanes=list(range(64))))
        worst, turns = 0.0, 0
        deadline = time.monotonic() + SOON_S
        while time.monotonic() < deadline and not hung_up(deaf):
            for lane in range(64):
                engine.change(lane, record=os.urandom(14_628))
            turns += 1
            started = time.monotonic()
            engine.change(0, note=str(turns))
            eventually(good, lambda note=str(turns): bool(good.views()) and good.views()[0].note == note)
            worst = max(worst, time.monotonic() - started)
        assert hung_up(deaf)
        assert worst < 5.0
        assert good.alive


def hung_up(raw: socket.socket) -> bool:
    """Whether the other end has closed, found without reading what it sent."""
    poll = select.poll()
    poll.register(raw, 0)
    return bool(poll.poll(0))


def test_the_end_of_a_run_is_told_with_its_last_events(tmp_path: Path) -> None:
    engine = ScriptedEngine()
    path = tmp_path / "c.sock"
    server = control.ControlServer(engine, path, {})
    server.start()
    with connected(path) as client:
        eventually(client, lambda: len(client.views()) == 3)
        for _ in range(1200):
            engine.happen("note")
        engine.happen("run-end")
        server.close()
        assert client.wait_end(SOON_S)
        assert client.ended == "the run has ended"
        assert [event.kind for event in client.events_since(0)][-1] == "run-end"
        assert len(client.events_since(0)) == 1201
        assert not client.alive
    server.close()


def test_the_socket_is_private(tmp_path: Path) -> None:
    with serving(ScriptedEngine(), tmp_path) as path:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_nobody_at_the_socket_is_told(tmp_path: Path) -> None:
    with pytest.raises(EngineGone, match=r"no engine answers at .*: No such file"):
        ControlClient(tmp_path / "none.sock").connect()
    silent = socket.socket(socket.AF_UNIX)
    silent.bind(os.fspath(tmp_path / "s.sock"))
    silent.listen()
    try:
        with pytest.raises(EngineGone, match="no hello from the engine"):
            ControlClient(tmp_path / "s.sock").connect(0.2)
    finally:
        silent.close()


@pytest.mark.parametrize(
    "nonsense",
    [
        b"\xff\xff\xff\xff",
        b"\x01\x00\x00\x00\xc1",
        frames.pack("views", views=5),
        frames.pack("views", views=[[1, 2]]),
        frames.pack("events", events=[[0]]),
        frames.pack("reply"),
        frames.pack("bye"),
    ],
)
def test_an_engine_that_talks_nonsense_is_left(tmp_path: Path, nonsense: bytes) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.fspath(tmp_path / "n.sock"))
        listener.listen()
        client = ControlClient(tmp_path / "n.sock")

        def talk() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.sendall(frames.pack("hello", protocol=frames.PROTOCOL, pid=1, facts={}) + nonsense)
                connection.recv(1 << 16)  # until the client leaves
                connection.recv(1 << 16)

        talker = threading.Thread(target=talk, daemon=True)
        talker.start()
        client.connect(SOON_S)
        assert client.wait_end(SOON_S)
        assert client.ended.startswith(f"the engine at {tmp_path / 'n.sock'} is gone: ")
        assert client.views() == ()
        client.close()
        talker.join(SOON_S)


def test_more_clients_than_allowed_are_turned_away(tmp_path: Path) -> None:
    with serving(ScriptedEngine(), tmp_path) as path:
        clients = [ControlClient(path) for _ in range(control.CLIENT_LIMIT)]
        try:
            for client in clients:
                client.connect(SOON_S)
            with pytest.raises(EngineGone):
                ControlClient(path).connect(SOON_S)
            assert all(client.alive for client in clients)
        finally:
            for client in clients:
                client.close()


def test_where_the_socket_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setattr(control, "SOCKET_PATH_LIMIT", len(str(tmp_path)) + 40)
    assert control.new_socket_path("20261201-a1") == tmp_path / "netherite-20261201-a1.sock"
    elsewhere = control.new_socket_path("x" * 60)
    assert elsewhere.parent != tmp_path
    assert stat.S_IMODE(elsewhere.parent.stat().st_mode) == 0o700
    server = control.ControlServer(ScriptedEngine(), elsewhere, {})
    server.start()
    server.close()
    assert not elsewhere.parent.exists()


def test_a_socket_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    with pytest.raises(NetheriteError, match=r"control socket .* cannot be made: No such file"):
        control.ControlServer(ScriptedEngine(), tmp_path / "none/c.sock", {}).start()


@given(st.lists(st.binary(max_size=40), max_size=5), st.data())
def test_frames_come_back_whole_from_any_pieces(bodies: list[bytes], data: st.DataObject) -> None:
    whole = b"".join(frames.pack("x", body=body) for body in bodies)
    unpacker, seen = frames.Unpacker(1000), []
    while whole:
        size = data.draw(st.integers(1, len(whole)))
        seen += [content["body"] for content in unpacker.feed(whole[:size])]
        whole = whole[size:]
    assert seen == bodies
