"""A run that exists only as views: every screen can be tested before and without an engine."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from core.errors import BadInput, NetheriteError
from core.ladder.events import Event, LaneResult, LaneState, LaneView, Outcome
from core.wire.bolr import RECORD
from netherite_tui.client import RunFacts, RunStatus
from tests.paths import DATA

SEEDS = (2, 3, 10, 11, 14, 16, 20, 27, 29, 32, 33, 44, 46)
HELD_OUT = (11, 33)
START = 1_760_000_000.0


def golden_records(name: str) -> list[bytes]:
    """Returns the records of a golden tape."""
    with np.load(DATA / "magma" / f"{name}.npz") as tape:
        return [row.tobytes() for row in tape["records"]]


def with_pixels(record: bytes, pixels: int) -> bytes:
    """Returns the record with some camera pixels changed, as a diverging reference has."""
    fields = np.frombuffer(record, RECORD).copy()
    for i in range(pixels):
        fields["cam"][0, 18, 30 + i] ^= 3
        fields["depth"][0, 18, 30 + i] //= 2
    return fields.tobytes()


class FakeClient:
    """Serves views that the test made; steering is noted in `calls` and has its plain effect."""

    def __init__(self, views: Sequence[LaneView], facts: RunFacts, events: Sequence[Event] = ()) -> None:
        self.facts = facts
        self.owned = True
        self.read_only = ""
        self.error: NetheriteError | None = None
        self.watched: frozenset[int] = frozenset()
        self.calls: list[tuple[str, tuple[int, ...]]] = []
        self.started = 0
        self.closed = 0
        self.state = RunStatus(
            "running", started=START, rss_mib=541, budget_mib=13_900, cpu_percent=196, ended=START + 2472
        )
        self.events = list(events)
        self.results: dict[int, LaneResult] = {}
        self.tables = "net retrain_0821_best.bin, sampled, 5 tries x 6000 ticks\nseed   2 try 0: MATCH\n"
        self.fail_with: Exception | None = None
        self._views = list(views)

    def start(self) -> None:
        self.started += 1

    def status(self) -> RunStatus:
        return self.state

    def views(self) -> tuple[LaneView, ...]:
        return tuple(self._views)

    def events_since(self, n: int) -> list[Event]:
        return self.events[n:]

    def result(self, index: int) -> LaneResult | None:
        return self.results.get(index)

    def report(self) -> str:
        return self.tables

    def export(self, format: str) -> str:
        if format not in ("md", "csv", "json", "html"):
            raise BadInput(f"format: expected md, csv, json or html, found {format!r}")
        return f"{format} of {len(self._views)} lanes\n"

    def kill(self, indices: Iterable[int]) -> None:
        self._call("kill", indices, state=LaneState.ENDED, outcome=Outcome.KILLED)

    def kill_stuck(self) -> None:
        stuck = [v.index for v in self._views if v.state is LaneState.STUCK]
        self._call("kill_stuck", stuck, state=LaneState.ENDED, outcome=Outcome.KILLED)

    def pause(self, indices: Iterable[int]) -> None:
        self._call("pause", indices, state=LaneState.PAUSED)

    def resume(self, indices: Iterable[int]) -> None:
        self._call("resume", indices, state=LaneState.RUNNING)

    def retry(self, indices: Iterable[int]) -> None:
        self._call("retry", indices, state=LaneState.WAITING, outcome=None)

    def pause_all(self) -> None:
        self._call("pause_all", ())

    def resume_all(self) -> None:
        self._call("resume_all", ())

    def stop(self) -> None:
        self._call("stop", ())
        self.state = replace(self.state, phase="ended")

    def watch(self, indices: Iterable[int]) -> None:
        self.watched = frozenset(indices)

    def abort(self) -> None:
        self._call("abort", ())

    def close(self) -> None:
        self.closed += 1

    def put(self, index: int, **changes: object) -> None:
        """Replaces a lane's view, as the engine would."""
        view = self._views[index]
        self._views[index] = replace(view, version=view.version + 1, **changes)

    def say(self, kind: str, text: str, lane: int | None = None) -> None:
        """Adds an event."""
        n = len(self.events)
        self.events.append(Event(n, START + n, kind, lane, text))

    def _call(self, name: str, indices: Iterable[int], **changes: object) -> None:
        if self.fail_with is not None:
            raise self.fail_with
        chosen = tuple(indices)
        self.calls.append((name, chosen))
        for index in chosen:
            self.put(index, **changes)


FACTS = RunFacts(
    run_id="20261201-124000-k3f9",
    checkpoint="retrain_0821_best.bin",
    backend="magma",
    transfer="replay",
    jobs=3,
    tries=5,
    host="polaris",
)


def ladder(tries: int = 5, seeds: Sequence[int] = SEEDS, limit: int = 1500) -> FakeClient:
    """Returns a replay of 65 lanes part of the way through: results, three running, one STUCK, two lost."""
    now = time.monotonic()
    walk, move = golden_records("s10_walk32"), golden_records("s14_move400")
    views = []
    for index, (seed, attempt) in enumerate((s, t) for s in seeds for t in range(tries)):
        view = LaneView(index, 0, seed, attempt, seed in HELD_OUT, index, limit)
        views.append(replace(view, **_progress(index, now, walk, move, limit)))
    client = FakeClient(views, FACTS)
    for kind, text, lane in _EVENTS:
        client.say(kind, text, lane)
    return client


def _progress(index: int, now: float, walk: list[bytes], move: list[bytes], limit: int) -> dict[str, object]:
    record = move[(index * 17) % len(move)]
    ended = {"state": LaneState.ENDED, "decision": limit, "milestone": index % 4, "base": 0, "record": record}
    ended["reference"] = record
    if index in (7, 16):
        text = "cam 3 px"
        diverged = {"mismatch_step": 160 - index, "mismatch": text, "reference": with_pixels(record, 3)}
        return ended | {"outcome": Outcome.DIVERGE, **diverged}
    if index == 11:
        lost = {"outcome": Outcome.CRASHED, "decision": 311, "note": "lane process ended by signal 9 (SIGKILL)"}
        return ended | lost
    if index == 12:
        return ended | {"outcome": Outcome.TIMEOUT, "decision": 0, "note": "no record for 30 s", "milestone": -1}
    if index < 19:
        return ended | {"outcome": Outcome.MATCH}
    live = {"milestone": 0, "base": 0, "pid": 40_100 + index, "rss_mib": 178.0, "cpu_percent": 64.0, "started_s": now}
    live |= {"record": walk[5], "reference": walk[5], "action": "yaw+15 fwd jump attack", "last_record_s": now}
    if index < 22:
        return live | {"state": LaneState.RUNNING, "decision": 700 + 11 * index, "ticks_per_s": 614.0}
    if index == 22:
        stuck = {"note": "no record for 34 s", "ticks_per_s": 0.0, "last_record_s": now - 34.1, "cpu_percent": 0.0}
        return live | stuck | {"state": LaneState.STUCK, "decision": 211, "rss_mib": 181.0}
    if index == 23:
        return {"state": LaneState.STARTING, "pid": 40_123, "started_s": now}
    return {}


_EVENTS = (
    ("run-start", "65 lanes, 3 at a time", None),
    ("started", "2:0  started in 0.71 s", 0),
    ("outcome", "2:0  MATCH", 0),
    ("mismatch", "3:2  DIVERGE step=153 cam 3 px", 7),
    ("outcome", "10:1  CRASHED: lane process ended by signal 9 (SIGKILL)", 11),
    ("milestone", "14:0  logs3 at decision 402", 20),
    ("stuck", "14:2  no record for 30 s (pid 40122): STUCK", 22),
)
