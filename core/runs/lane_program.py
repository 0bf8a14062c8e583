"""The lane program on its own, outside a ladder: what tune, bake and doctor start."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from core.errors import BadInput
from core.host.processes import Processes
from core.ladder.config import LadderConfig
from core.ladder.sides import lane_environment, lane_program
from core.worlds.magma import MagmaWorld, lane_command


@dataclass(frozen=True)
class LaneProgram:
    """How lane processes are started."""

    words: tuple[str, ...]  #: program and what goes before SPEC 1's options
    environment: Mapping[str, str] = field(default_factory=dict)  #: on top of this process's own
    start_timeout_s: float = 120.0
    step_timeout_s: float = 30.0
    is_endless: bool = True  #: whether its land goes on for ever; the embedded world's ends with its region

    def world(self, processes: Processes, snapshot: Path | None, seed: int, extra: Sequence[str] = ()) -> MagmaWorld:
        """Returns an unopened world; without a snapshot it will spawn afresh."""
        return MagmaWorld(
            processes,
            lane_command(self.words, snapshot, seed, extra),
            environment=self.environment,
            start_timeout_s=self.start_timeout_s,
            step_timeout_s=self.step_timeout_s,
        )


def program_of(config: LadderConfig) -> LaneProgram:
    """Returns the lane program a run with this config would start.

    Raises:
        BadInput: its backend has none.
    """
    if not config.has_magma:
        raise BadInput(f"backend: expected magma or voxel, the ones with a lane program, found {config.backend}")
    return LaneProgram(
        lane_program(config),
        lane_environment(config),
        config.start_timeout_s,
        config.step_timeout_s,
        is_endless=config.backend == "magma",
    )
