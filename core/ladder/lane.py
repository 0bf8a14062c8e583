"""One lane from its first record to its result: SPEC 5 in a straight line.

A lane is a pure function of what it is made with. It knows nothing of other lanes, slots or deadlines: those who do
give it a `LaneWatch`, read the attributes it sets, and interrupt its worlds.
"""

import contextlib
import time
import traceback
from enum import StrEnum
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from core.errors import NetheriteError
from core.ladder import gate, milestones
from core.ladder.config import LadderConfig
from core.ladder.events import LaneResult, Outcome
from core.ladder.plan import LanePlan
from core.ladder.sides import Sides
from core.policy.controls import Controller
from core.wire.act13 import KEYS, NOOP_ROW
from core.worlds.base import Done, WorldDied, WorldError, WorldInterrupted, WorldStartError, WorldTimeout

TORCH = 8  #: place of the torch count in `status`
COUNTS = 9  #: inventory totals at the front of `status`
HEADS = 9
BURN_IN_STEP = 1


class Awaited(StrEnum):
    """Whose answer a lane is waiting for."""

    START = "start"
    MAGMA = "magma"
    REFERENCE = "reference"
    POLICY = "policy"
    END = "end"  #: its own closing


class LaneWatch(Protocol):
    """Who follows a lane. Called in the lane's thread; must be quick."""

    def opened(self, lane: "Lane") -> None:
        """Both sides have shown their t0 record."""

    def decided(self, lane: "Lane") -> None:
        """A decision (or the burn-in) is complete. May block while the lane is paused.

        Raises:
            WorldInterrupted: the lane has to end here.
        """

    def news(self, kind: str, text: str, **data: Any) -> None:
        """Something worth an event happened: `milestone`, `mismatch` or `warning`."""


class Lane:
    """A lane and how far it is. The public attributes may be read from other threads at any time."""

    def __init__(
        self, config: LadderConfig, plan: LanePlan, sides: Sides, controller: Controller, watch: LaneWatch
    ) -> None:
        self.plan = plan
        self.sides = sides
        self.repeat = config.action_repeat
        self.limit = config.decisions
        self.awaited = Awaited.START
        self.answers = 0  #: raised with each answer; what does not move for too long is stuck
        self.decisions = 0
        self.ticks = 0
        self.base = -1
        self.reached = -1
        self.mismatch_step = -1
        self.mismatch = ""
        self.rows = np.zeros((self.limit, len(KEYS)))

        self._stop_after_diverge = config.after_diverge == "stop"
        self._controller = controller
        self._watch = watch
        self._magma_is_stepped = sides.magma is not None
        self._best9 = np.zeros(COUNTS, np.int32)
        self._milestone_decisions = [-1] * len(milestones.NAMES)
        self._later_mismatches: dict[str, int] = {}
        self._mismatch_records: tuple[bytes | None, bytes | None] = (None, None)
        self._heads = np.zeros((self.limit, HEADS), np.int8)
        self._note = ""
        self._trace = b""
        self._began_s = time.monotonic()

    def run(self) -> LaneResult:
        """Runs the lane to its end, whatever that is, closes both sides and returns what it leaves behind."""
        outcome, note = Outcome.FAILED, ""
        try:
            self._play()
            outcome, note = self._verdict(), self._note
        except NetheriteError as error:
            outcome, note = self._outcome_of(error), explain(error)
        except Exception as error:  # a bug ends its lane, not the run
            note = explain(error)
            self._trace = traceback.format_exc().encode()
        finally:
            self.awaited = Awaited.END
            self.close()
        return self.result(outcome, note)

    def close(self) -> None:
        """Ends both sides within bounds; may be called twice and from another thread."""
        for world in self.sides:
            if world is not None:
                with contextlib.suppress(WorldError):
                    world.close()

    def interrupt(self) -> None:
        """Makes the lane end soon, if it can."""
        for world in self.sides:
            if world is not None:
                world.interrupt()

    def result(self, outcome: Outcome, note: str = "") -> LaneResult:
        """Returns what is known of the lane now, under the given outcome."""
        magma = self.sides.magma
        magma_record, reference_record = self._mismatch_records
        has_heads = self._controller.heads is not None
        return LaneResult(
            index=self.plan.index,
            outcome=outcome,
            base=self.base,
            reached=self.reached,
            decisions=self.decisions,
            mismatch_step=self.mismatch_step,
            mismatch=self.mismatch,
            milestone_decisions=tuple(self._milestone_decisions),
            later_mismatches=tuple(sorted(self._later_mismatches.items())),
            note=note,
            wall_s=time.monotonic() - self._began_s,
            ticks=self.ticks,
            heads=self._heads[: self.decisions].tobytes() if has_heads else b"",
            rows=self.rows[: self.decisions].tobytes(),
            stderr_tail=(magma.stderr_tail() if magma is not None else b"") + self._trace,
            magma_record=magma_record,
            reference_record=reference_record,
        )

    # ---- the straight line ----

    def _play(self) -> None:
        self._open()
        self._burn_in()
        world, controller = self.sides.policy, self._controller
        for decision in range(self.limit):
            self.awaited = Awaited.POLICY
            row = controller.decide(world.senses, world.record, decision)
            self._keep(decision, row)
            self._step(self.rows[decision])
            self._compare(decision + BURN_IN_STEP + 1)
            is_over = self._take_stock(decision)
            self.decisions = decision + 1
            self._watch.decided(self)
            if is_over:
                return

    def _open(self) -> None:
        magma, world = self.sides
        if magma is not None:
            magma.open()
        if world is not magma:
            world.open()
        self.answers += 1
        self._compare(0)
        self._watch.opened(self)

    def _burn_in(self) -> None:
        self._step(NOOP_ROW)
        self._compare(BURN_IN_STEP)
        self._best9[:] = self.sides.policy.senses.status[:COUNTS]
        self.base = self.reached = milestones.milestone_of(self._best9.tolist())
        self._watch.decided(self)

    def _keep(self, decision: int, row: npt.NDArray[np.float64]) -> None:
        """Notes what was decided: the controller's next decision overwrites its arrays."""
        self.rows[decision] = row
        heads = self._controller.heads
        if heads is not None:
            self._heads[decision] = heads

    def _step(self, row: npt.NDArray[np.float64]) -> None:
        """Steps the sides; in replay the lane process works while the reference does."""
        magma, world = self.sides
        if magma is None:
            self.awaited = Awaited.REFERENCE
            world.step(row, self.repeat)
        elif world is magma:
            self.awaited = Awaited.MAGMA
            world.step(row, self.repeat)
        else:
            self._step_both(row)
        self.answers += 1
        self.ticks += self.repeat

    def _step_both(self, row: npt.NDArray[np.float64]) -> None:
        magma, world = self.sides
        assert magma is not None
        try:
            if self._magma_is_stepped:
                self.awaited = Awaited.MAGMA
                magma.send(row, self.repeat)
            self.awaited = Awaited.REFERENCE
            world.step(row, self.repeat)
            if self._magma_is_stepped:
                self.answers += 1
                self.awaited = Awaited.MAGMA
                magma.receive(self.repeat)
        except WorldDied as error:
            if self.mismatch_step < 0:
                raise
            self._magma_is_stepped = False  # the question was answered before: a DIVERGE stays one
            self._note = f"after the divergence: {error}"

    def _compare(self, step: int) -> None:
        """The gate of one step. It comes before the lane looks whether the reference is done: what a side records
        of the decision that ended it still counts, and nothing is stepped after it."""
        magma, world = self.sides
        if magma is None or world is magma or not self._magma_is_stepped:
            return
        if self.mismatch_step >= 0:
            for field in gate.differing_fields(magma.record, world.record):
                self._later_mismatches[field] = self._later_mismatches.get(field, 0) + 1
            return
        text = gate.first_mismatch(magma.record, world.record)
        if text is None:
            return
        self.mismatch_step, self.mismatch = step, text
        self._mismatch_records = (magma.record.tobytes(), world.record.tobytes())
        self._watch.news("mismatch", f"step {step} {gate.step_reason(step, text)}", step=step, reason=text)
        if self._stop_after_diverge:
            self._magma_is_stepped = False
            magma.close()

    def _take_stock(self, decision: int) -> bool:
        """Counts what is held now; returns whether the episode is over."""
        world = self.sides.policy
        status = world.senses.status
        np.maximum(self._best9, status[:COUNTS], out=self._best9)
        done = world.done
        success = status[TORCH] >= 1 or done == Done.SUCCESS
        reached = milestones.TORCHES if success else milestones.milestone_of(self._best9.tolist())
        if reached > self.reached:
            for milestone in range(self.reached + 1, reached + 1):
                self._milestone_decisions[milestone] = decision
            self.reached = reached
            name = milestones.NAMES[reached]
            self._watch.news("milestone", f"{name} at decision {decision}", milestone=reached, decision=decision)
        return bool(success) or done != Done.RUNNING

    # ---- endings ----

    def _verdict(self) -> Outcome:
        if self.sides.magma is None or self.sides.magma is self.sides.policy:
            return Outcome.DONE
        return Outcome.MATCH if self.mismatch_step < 0 else Outcome.DIVERGE

    def _outcome_of(self, error: NetheriteError) -> Outcome:
        match error:
            case WorldInterrupted():
                return Outcome.KILLED
            case WorldTimeout():
                return Outcome.TIMEOUT
            case WorldDied():
                return Outcome.OOM if error.oom else Outcome.CRASHED
            case WorldStartError():
                return Outcome.FAILED
            case _:
                return Outcome.FAILED if self.answers == 0 else Outcome.CRASHED


def explain(error: Exception) -> str:
    """Returns an error as one line: our own as they are, any other as the bug it is."""
    text = str(error) if isinstance(error, NetheriteError) else f"internal error: {type(error).__name__}: {error}"
    return text.splitlines()[0] if text else type(error).__name__
