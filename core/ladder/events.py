"""The vocabulary every front end reads: states, outcomes, lane views and events. Nothing here runs anything."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class LaneState(StrEnum):
    """Where a lane is. `ENDED` goes with an `Outcome`."""

    WAITING = "waiting"
    STARTING = "starting"
    RUNNING = "running"
    PAUSED = "paused"
    STUCK = "STUCK"
    ENDED = "ended"


class Outcome(StrEnum):
    """How a lane ended. MATCH, DIVERGE, DONE and SKIP are results; the others are lost lanes."""

    MATCH = "MATCH"
    DIVERGE = "DIVERGE"
    DONE = "done"
    SKIP = "SKIP"
    KILLED = "KILLED"
    TIMEOUT = "TIMEOUT"
    CRASHED = "CRASHED"
    OOM = "OOM"
    FAILED = "FAILED"

    @property
    def is_result(self) -> bool:
        """Whether the lane answered the question it was run for."""
        return self in (Outcome.MATCH, Outcome.DIVERGE, Outcome.DONE, Outcome.SKIP)


@dataclass(frozen=True, slots=True)
class LaneView:
    """One immutable picture of a lane; the engine replaces it by assignment and raises `version` each time."""

    index: int  #: position in the run (all stages), also the name of its folder
    stage: int
    seed: int
    attempt: int  #: the try, 0-based
    held_out: bool
    ni: int  #: noise index (SPEC 9); -1 for SKIP
    limit: int  #: decisions
    version: int = 0
    state: LaneState = LaneState.WAITING
    outcome: Outcome | None = None
    decision: int = 0  #: decisions completed
    base: int = -1  #: milestone index after burn-in (SPEC 5); -1 unknown
    milestone: int = -1  #: best milestone index so far, 0 t0 .. 5 TORCHES; -1 unknown
    mismatch_step: int = -1  #: SPEC 4 step number of the first gated difference; -1 none
    mismatch: str = ""  #: the gate's text
    ticks_per_s: float | None = None  #: over the last seconds; None unknown
    pid: int | None = None  #: the lane process
    rss_mib: float | None = None
    cpu_percent: float | None = None
    last_record_s: float | None = None  #: time.monotonic() of the newest record in the engine's process
    started_s: float | None = None  #: time.monotonic() when this attempt to run began
    runs: int = 0  #: times it was started (1 + retries used)
    note: str = ""  #: the last thing worth saying about it, one line
    action: str = ""  #: the last decision in words, e.g. "yaw+15 fwd jump"
    record: bytes | None = field(default=None, repr=False)  #: newest BOLR record of the magma side (or the only side)
    reference: bytes | None = field(default=None, repr=False)  #: newest record of the reference side in replay


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened, in order. `n` counts from 0 without gaps."""

    n: int
    time: float  #: unix seconds
    #: run-start, started, milestone, mismatch, stuck, killed, retry, requeue, paused, resumed, outcome, warning,
    #: run-end
    kind: str
    lane: int | None  #: LaneView.index; None for the run itself
    text: str  #: one line for people
    data: dict[str, Any] = field(default_factory=dict)  #: msgpack-able facts, by kind


@dataclass(frozen=True, slots=True)
class LaneResult:
    """What a lane leaves behind when it ends. A lane is pure: equal inputs give equal `comparable()` values."""

    index: int
    outcome: Outcome
    base: int = -1  #: milestone after burn-in; -1 when it never got there
    reached: int = -1  #: best milestone index, 5 = TORCHES; -1 when unknown
    decisions: int = 0  #: decisions completed
    mismatch_step: int = -1
    mismatch: str = ""
    milestone_decisions: tuple[int, ...] = (-1,) * 6  #: decision at which each milestone was first reached; -1 never
    later_mismatches: tuple[tuple[str, int], ...] = ()  #: --after-diverge continue: (field, differing decisions)
    note: str = ""  #: one line: exit code, signal, what was waited for
    wall_s: float = 0.0
    ticks: int = 0
    peak_rss_mib: float | None = None
    runs: int = 1
    heads: bytes = field(default=b"", repr=False)  #: i8 [decisions, 9], empty for a tape
    rows: bytes = field(default=b"", repr=False)  #: f64 little-endian [decisions, 13]
    stderr_tail: bytes = field(default=b"", repr=False)
    magma_record: bytes | None = field(default=None, repr=False)  #: both records of a divergence
    reference_record: bytes | None = field(default=None, repr=False)

    def comparable(self) -> tuple[Any, ...]:
        """Returns the parts that may not depend on what else ran or when."""
        return (
            self.index,
            self.outcome,
            self.base,
            self.reached,
            self.decisions,
            self.mismatch_step,
            self.mismatch,
            self.milestone_decisions,
            self.later_mismatches,
            self.heads,
            self.rows,
        )


def ended_fields(result: LaneResult) -> dict[str, Any]:
    """Returns the fields of a `LaneView` that a lane's result settles."""
    return {
        "state": LaneState.ENDED,
        "outcome": result.outcome,
        "decision": result.decisions,
        "base": result.base,
        "milestone": result.reached,
        "mismatch_step": result.mismatch_step,
        "mismatch": result.mismatch,
        "runs": result.runs,
        "note": result.note,
    }
