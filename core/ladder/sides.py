"""Which worlds a lane runs on: the lane process, the world the policy perceives, or both in one."""

import os
import sys
from pathlib import Path
from typing import NamedTuple

import core
from core.host.processes import Processes
from core.ladder.config import LadderConfig
from core.ladder.faults import lane_faults
from core.ladder.plan import LanePlan
from core.worlds.base import World
from core.worlds.magma import MagmaWorld, lane_command

EMBEDDED_PROGRAM = (sys.executable, "-P", "-m", "core.worlds.voxel")


class Sides(NamedTuple):
    """The worlds of one lane."""

    magma: MagmaWorld | None  #: the lane process; None when a library or the embedded world runs alone
    policy: World  #: what the policy perceives and milestones come from: `magma` itself unless in replay


def make_sides(config: LadderConfig, lane: LanePlan, processes: Processes) -> Sides:
    """Returns the unopened worlds of one lane. Nobody but the engine watches their clock, so they have none.

    Raises:
        BadInput: a library that cannot be used.
    """
    if not config.has_magma:
        return Sides(None, _blaze(config, lane))
    magma = MagmaWorld(
        processes,
        _command(config, lane),
        environment=lane_environment(config),
        start_timeout_s=None,
        step_timeout_s=None,
    )
    return Sides(magma, _reference(config, lane) if config.is_replay else magma)


def _command(config: LadderConfig, lane: LanePlan) -> list[str]:
    embedded = config.backend == "voxel"
    faults = [word for fault in lane_faults(config, lane) for word in ("--fault", fault)] if embedded else []
    return lane_command(lane_program(config), lane.snapshot, lane.seed, [*config.lane_args, *faults])


def lane_program(config: LadderConfig) -> tuple[str, ...]:
    """Returns the words a lane process's command begins with."""
    return EMBEDDED_PROGRAM if config.backend == "voxel" else (config.magma_bin,)


def lane_environment(config: LadderConfig) -> dict[str, str]:
    """Returns what a lane process needs in its environment on top of ours."""
    return {"PYTHONPATH": package_environment()["PYTHONPATH"]} if config.backend == "voxel" else {}


def package_environment() -> dict[str, str]:
    """Returns our environment, such that a child python finds this very package wherever it was imported from."""
    here = str(Path(core.__file__).parents[1])
    others = os.environ.get("PYTHONPATH")
    return os.environ | {"PYTHONPATH": f"{here}{os.pathsep}{others}" if others else here}


def _reference(config: LadderConfig, lane: LanePlan) -> World:
    if config.reference == "blaze":
        return _blaze(config, lane)
    from core.worlds.voxel.world import VoxelWorld  # compiled kernels, which runs without it need not load

    return VoxelWorld(lane.snapshot, lane.seed, success_item=config.success_item)


def _blaze(config: LadderConfig, lane: LanePlan) -> World:
    from core.worlds.blaze import BlazeWorld

    assert lane.snapshot is not None  # the plan refuses generated terrain with blaze
    return BlazeWorld(
        Path(config.blaze_lib),
        lane.snapshot,
        device=_device_index(config),
        success_item=config.success_item,
    )


def _device_index(config: LadderConfig) -> int:
    """Returns the number in `device` (`1`, `cuda:1`), which only the cuda library looks at."""
    number = config.device.rpartition(":")[2]
    return int(number) if config.backend == "cuda" and number.isdecimal() else 0
