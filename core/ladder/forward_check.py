"""The quickest proof that two worlds agree: 32 ticks straight on, every record through the gate."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from core.errors import ExitCode
from core.ladder.config import LadderConfig
from core.ladder.engine import Engine
from core.ladder.events import LaneResult, Outcome
from core.ladder.gate import step_reason
from core.ladder.inputs import check_inputs
from core.ladder.plan import LanePlan, make_plan
from core.ladder.warmup import ensure_warm, rooms_of
from core.policy.controls import ControllerFactory, Tape
from core.wire.act13 import KEYS, NOOP_ROW

FORWARD_TICKS = 32


@dataclass(frozen=True)
class ForwardTrouble:
    """Why two worlds were not shown to agree."""

    text: str
    exit_code: ExitCode  #: DIVERGE for a difference, LANES_LOST when a world could not go on


def check_forward(config: LadderConfig, on_progress: Callable[[str], None] = lambda _: None) -> ForwardTrouble | None:
    """Returns None when magma and its reference agree at t0, burn-in and 32 ticks of walking, for every seed.

    Args:
        config: backend magma or voxel, seeds, snapshots, programs and deadlines; the rest is set here.
        on_progress: told in one line what takes long (compiling kernels).

    Raises:
        BadInput: a setting or file that cannot be used.
    """
    walk = replace(
        config, transfer="replay", policy="noop", tries=1, ep_ticks=FORWARD_TICKS, action_repeat=1, retries=0, stage=0
    )
    plan = make_plan(walk)
    check_inputs(walk, plan)
    ensure_warm(rooms_of(walk), on_progress)
    rows = np.tile(NOOP_ROW, (FORWARD_TICKS, 1))
    rows[:, KEYS.index("forward")] = 1.0
    engine = Engine(walk, plan, ControllerFactory(lambda **_: Tape(rows)), run_id=f"check-{secrets.token_hex(4)}")
    engine.start()
    try:
        engine.wait()
    finally:
        engine.stop()
    results = engine.results()
    return next((trouble for lane in plan.lanes if (trouble := _trouble(lane, results.get(lane.index)))), None)


def _trouble(lane: LanePlan, result: LaneResult | None) -> ForwardTrouble | None:
    if result is None:
        return ForwardTrouble(f"seed {lane.seed} did not run", ExitCode.LANES_LOST)
    match result.outcome:
        case Outcome.MATCH:
            return None
        case Outcome.DIVERGE:
            reason = step_reason(result.mismatch_step, result.mismatch)
            note = f" ({result.note})" if result.note else ""
            return ForwardTrouble(f"seed {lane.seed} step {result.mismatch_step}: {reason}{note}", ExitCode.DIVERGE)
        case outcome:
            return ForwardTrouble(f"seed {lane.seed} {outcome}: {result.note}", ExitCode.LANES_LOST)
