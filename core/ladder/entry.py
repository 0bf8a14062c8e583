"""What the engine knows of one lane: its view, and the attempt that runs it now."""

import dataclasses
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from core.host.patience import awake_s
from core.ladder.eventlog import EventLog
from core.ladder.events import LaneResult, LaneState, LaneView, Outcome, ended_fields
from core.ladder.lane import Awaited, Lane
from core.ladder.plan import LanePlan
from core.policy.heads import describe_row
from core.worlds.base import WorldInterrupted

VIEW_INTERVAL_S = 0.05
RECORD_INTERVAL_S = 0.1
PAUSE_SLICE_S = 0.25


class LaneEntry:
    """One lane of the plan. `view` is replaced, never changed; transitions are the engine's, under its lock."""

    def __init__(self, plan: LanePlan, limit: int) -> None:
        self.plan = plan
        self.retries_used = 0
        self.go = threading.Event()  #: cleared while the lane is paused
        self.go.set()
        self._lock = threading.RLock()
        self._attempt: Attempt | None = None
        self.view = LaneView(
            index=plan.index,
            stage=plan.stage,
            seed=plan.seed,
            attempt=plan.attempt,
            held_out=plan.held_out,
            ni=plan.ni,
            limit=limit,
        )

    @property
    def waiting_state(self) -> LaneState:
        """How a lane without an attempt waits."""
        return LaneState.WAITING if self.go.is_set() else LaneState.PAUSED

    @property
    def unpaused_state(self) -> LaneState:
        """The state of a lane that is no longer held."""
        attempt = self.attempt
        if attempt is None:
            return LaneState.WAITING
        return LaneState.RUNNING if attempt.is_open else LaneState.STARTING

    @property
    def index(self) -> int:
        """The lane's position in the run."""
        return self.plan.index

    @property
    def name(self) -> str:
        """How events call the lane."""
        return self.plan.name

    @property
    def attempt(self) -> "Attempt | None":
        """The attempt running now."""
        return self._attempt

    @attempt.setter
    def attempt(self, attempt: "Attempt | None") -> None:
        with self._lock:
            self._attempt = attempt

    def update(self, **changes: Any) -> None:
        """Replaces the view by one with these changes and the next version."""
        with self._lock:
            self._replace(changes)

    def update_from(self, attempt: "Attempt", **changes: Any) -> None:
        """As `update`, unless the attempt is no longer the lane's: what was given up is not heard of again."""
        with self._lock:
            if self._attempt is attempt:
                self._replace(changes)

    def _replace(self, changes: dict[str, Any]) -> None:
        self.view = dataclasses.replace(self.view, version=self.view.version + 1, **changes)

    def reset_view(self, state: LaneState, note: str) -> None:
        """Shows a lane that has to run from its beginning."""
        self.update(
            state=state,
            outcome=None,
            decision=0,
            base=-1,
            milestone=-1,
            mismatch_step=-1,
            mismatch="",
            ticks_per_s=None,
            pid=None,
            rss_mib=None,
            cpu_percent=None,
            started_s=None,
            note=note,
            action="",
        )

    def show_result(self, result: LaneResult) -> None:
        """Shows a lane that has ended."""
        self.update(**ended_fields(result), ticks_per_s=None, pid=None, rss_mib=None, cpu_percent=None)


@dataclass(frozen=True, slots=True)
class Ending:
    """Why an attempt is being ended from outside."""

    outcome: Outcome | None  #: None: the lane waits again
    note: str
    event: str = ""  #: kind of the event that tells of it once it has ended; empty = only the outcome is told


class Attempt:
    """One attempt to run a lane: the `LaneWatch` its thread reports to, and what other threads may ask of it."""

    def __init__(self, entry: LaneEntry, events: EventLog, opened: Callable[["Attempt"], None]) -> None:
        self.entry = entry
        self.lane: Lane | None = None
        self.thread: threading.Thread | None = None
        self.ending: Ending | None = None
        self.ending_since_s = 0.0
        self.is_stuck = False
        self.started_s = time.monotonic()
        self.rss_bytes = 0
        self.peak_rss_bytes = 0
        self.clock = AnswerClock()
        self._events = events
        self._tell_opened = opened
        self._view_due_s = 0.0
        self._record_due_s = 0.0

    # ---- from the lane's thread ----

    def opened(self, lane: Lane) -> None:
        """See `LaneWatch.opened`."""
        self._tell_opened(self)
        self.decided(lane)

    def decided(self, lane: Lane) -> None:
        """See `LaneWatch.decided`. A decision that changes no view costs two comparisons and a clock."""
        if self.is_stuck:
            self._answer_late()
        now = time.monotonic()
        if now >= self._view_due_s:
            self._view_due_s = now + VIEW_INTERVAL_S
            self._show(lane, now)
        while not self.entry.go.is_set() and self.ending is None:
            self.entry.go.wait(PAUSE_SLICE_S)
        if self.ending is not None:
            raise WorldInterrupted(self.ending.note)

    def _answer_late(self) -> None:
        """Brings back a STUCK lane that nobody has killed yet. Its slot may be taken; then one more lane runs."""
        self.is_stuck = False
        self.entry.update_from(self, state=LaneState.RUNNING, note="answered after its deadline")
        self.news("resumed", "answered after its deadline: running again")

    def news(self, kind: str, text: str, **data: Any) -> None:
        """See `LaneWatch.news`."""
        if self.entry.attempt is self:
            self._events.add(kind, self.entry.index, f"{self.entry.name}  {text}", **data)
            self._view_due_s = 0.0

    def _show(self, lane: Lane, now: float) -> None:
        changes: dict[str, Any] = {
            "decision": lane.decisions,
            "base": lane.base,
            "milestone": lane.reached,
            "mismatch_step": lane.mismatch_step,
            "mismatch": lane.mismatch,
            "last_record_s": now,
        }
        if lane.decisions:
            changes["action"] = describe_row(lane.rows[lane.decisions - 1])
        if now >= self._record_due_s:
            self._record_due_s = now + RECORD_INTERVAL_S
            magma, world = lane.sides
            shown = world if magma is None else magma
            changes["record"] = shown.record.tobytes()
            changes["reference"] = world.record.tobytes() if world is not shown else None
        self.entry.update_from(self, **changes)

    # ---- from other threads ----

    @property
    def pid(self) -> int | None:
        """The lane process, while there is one."""
        lane = self.lane
        return lane.sides.magma.pid if lane is not None and lane.sides.magma is not None else None

    def end(self, ending: Ending) -> bool:
        """Makes the attempt end soon, if it can; returns False when it was being ended already."""
        if self.ending is not None:
            return False
        self.ending_since_s = time.monotonic()
        self.ending = ending
        if self.lane is not None:
            self.lane.interrupt()
        return True

    @property
    def is_open(self) -> bool:
        """Whether the lane has shown its first record."""
        return self.lane is not None and self.lane.answers > 0

    @property
    def can_be_interrupted(self) -> bool:
        """Whether the lane waits for something that ends in bounded time, not for a call in our own process."""
        lane = self.lane
        return lane is None or lane.awaited in (Awaited.MAGMA, Awaited.END)


class AnswerClock:
    """How long a lane has waited for its present answer, and how long it has run, in seconds the engine was awake."""

    def __init__(self) -> None:
        self.waited_s = 0.0
        self.total_s = 0.0
        self._answers = -1
        self._mark = time.monotonic()

    def look(self, answers: int, is_paused: bool) -> None:
        """Counts the time since the last look, which is never long ago."""
        now = time.monotonic()
        elapsed = 0.0 if is_paused else awake_s(now - self._mark)
        self._mark = now
        self.total_s += elapsed
        self.waited_s = 0.0 if answers != self._answers else self.waited_s + elapsed
        self._answers = answers
