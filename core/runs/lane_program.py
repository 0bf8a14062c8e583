"""The lane program on its own, outside a ladder: what tune, bake and doctor start."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from core.host.processes import Processes
from core.worlds.magma import MagmaWorld, lane_command


@dataclass(frozen=True)
class LaneProgram:
    """How lane processes are started."""

    words: tuple[str, ...]  #: program and what goes before SPEC 1's options
    environment: Mapping[str, str] = field(default_factory=dict)  #: on top of this process's own
    start_timeout_s: float = 120.0
    step_timeout_s: float = 30.0

    def world(self, processes: Processes, snapshot: Path | None, seed: int, extra: Sequence[str] = ()) -> MagmaWorld:
        """Returns an unopened world; without a snapshot it will spawn afresh."""
        return MagmaWorld(
            processes,
            lane_command(self.words, snapshot, seed, extra),
            environment=self.environment,
            start_timeout_s=self.start_timeout_s,
            step_timeout_s=self.step_timeout_s,
        )
