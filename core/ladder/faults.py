"""Faults asked for by the user: which lane misbehaves, and what its process is told (SPEC 4 step numbers)."""

import re

from core.errors import BadInput
from core.ladder.config import LadderConfig
from core.ladder.plan import LanePlan, Plan
from core.worlds.voxel.faults import Fault

_FORM = re.compile(r"(?:(?P<seed>-?\d+):(?P<attempt>\d+):)?(?P<what>[a-z][a-z-]*(?::[a-z_]+=[^:\s]+)*)")
_STEP = re.compile(r":step=([^:]*)")


def lane_faults(config: LadderConfig, lane: LanePlan) -> tuple[str, ...]:
    """Returns the `--fault` values for a lane's process: those for its `SEED:TRY` and those for every lane.

    `step=` is a step number (0 = t0, 1 = burn-in, d + 2 = decision d); the process knows ticks, and the record of step
    s is the record of tick s * action_repeat.

    Raises:
        BadInput: a fault that is not `[SEED:TRY:]KIND[:key=value...]`.
    """
    texts = []
    for fault in config.faults:
        parts = _parts(fault)
        mine = parts["seed"] is None or (int(parts["seed"]), int(parts["attempt"])) == (lane.seed, lane.attempt)
        if mine:
            texts.append(_in_ticks(parts["what"], config))
    return tuple(texts)


def _in_ticks(what: str, config: LadderConfig) -> str:
    def tick(step: re.Match[str]) -> str:
        if not re.fullmatch("[0-9]+", step[1]):
            raise BadInput(f"fault {what!r}: step is {step[1]!r}, expected a whole number of at least 0")
        return f":tick={int(step[1]) * config.action_repeat}"

    return _STEP.sub(tick, what)


def check_faults(config: LadderConfig, plan: Plan) -> None:
    """Raises `BadInput` for a fault no process understands, or one whose `SEED:TRY` is no lane of the plan."""
    lanes = {(lane.seed, lane.attempt) for lane in plan.lanes}
    for fault in config.faults:
        parts = _parts(fault)
        if parts["seed"] is not None and (int(parts["seed"]), int(parts["attempt"])) not in lanes:
            raise BadInput(f"faults: expected a SEED:TRY of this run, found {fault!r}")
        Fault.parse(_in_ticks(parts["what"], config))


def _parts(fault: str) -> dict[str, str]:
    found = _FORM.fullmatch(fault)
    if found is None:
        raise BadInput(f"faults: expected [SEED:TRY:]KIND:key=value, found {fault!r}")
    return found.groupdict()
