"""Files that every lane needs, looked at once before the first lane starts: one line instead of N lost lanes."""

from pathlib import Path

from core.errors import BadInput
from core.ladder.blaze_probe import PROBE_TIMEOUT_S, probe_blaze
from core.ladder.config import LadderConfig
from core.ladder.plan import Plan
from core.wire.bsnp import read_snapshot
from core.worlds.blaze import DEFAULT_SUCCESS_ITEM, load_library


def check_inputs(config: LadderConfig, plan: Plan) -> None:
    """Loads the blaze library, if the run has one, and reads the snapshots the embedded world will load.

    What the game and the library make of a snapshot is theirs to say: it is not judged here.

    Raises:
        BadInput: the library cannot be used for this run, or a snapshot is damaged or another seed's.
    """
    compared = config.has_magma and config.is_replay
    if not config.has_magma or (compared and config.reference == "blaze"):
        _check_library(config)
    if config.backend == "voxel" or (compared and config.reference == "voxel"):
        _check_snapshots(plan)


def _check_library(config: LadderConfig) -> None:
    path = Path(config.blaze_lib)
    works, text = probe_blaze(path, None, config.action_repeat, PROBE_TIMEOUT_S)  # a damaged file may crash its loader
    if not works:
        raise BadInput(text)
    if config.success_item != DEFAULT_SUCCESS_ITEM and not load_library(path).is_newer_abi:
        raise BadInput(
            f"success_item: blaze library {path} is of the older ABI, which knows only {DEFAULT_SUCCESS_ITEM}; "
            f"found {config.success_item}"
        )


def _check_snapshots(plan: Plan) -> None:
    for path, seed in dict.fromkeys((lane.snapshot, lane.seed) for lane in plan.lanes if lane.snapshot is not None):
        found = read_snapshot(path).seed
        if found != seed:
            raise BadInput(f"{path}: seed is {found}, expected {seed}")
