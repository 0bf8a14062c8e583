"""Which lanes a run has: seeds, tries, stages, snapshots and noise indices (SPEC 9 and 10)."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from core.errors import BadInput
from core.ladder.config import GENERATED, LadderConfig

HELD_OUT = (11, 33)


@dataclass(frozen=True, slots=True)
class LanePlan:
    """One (stage, seed, try) episode before it runs."""

    index: int  #: position in the run, counted over all stages, also the name of its folder
    stage: int
    seed: int
    attempt: int  #: the try, 0-based
    held_out: bool
    ni: int  #: noise index; -1 for SKIP
    rng_seed: int
    snapshot: Path | None  #: None = terrain generated from the seed, or SKIP
    skip: bool = False
    skip_path: str = ""  #: the missing snapshot, as the report prints it

    @property
    def name(self) -> str:
        """`SEED:TRY`, how people and commands call the lane within its stage."""
        return f"{self.seed}:{self.attempt}"


@dataclass(frozen=True, slots=True)
class Plan:
    """All lanes of a run, stage by stage, seed by seed, try by try."""

    lanes: tuple[LanePlan, ...]

    def of_stage(self, stage: int) -> tuple[LanePlan, ...]:
        """Returns the lanes of one stage, in order."""
        return tuple(lane for lane in self.lanes if lane.stage == stage)


def make_plan(config: LadderConfig) -> Plan:
    """Returns the lanes of a run.

    A noise index counts only seeds whose snapshot exists: `loaded_seed_index * tries + attempt`.

    Raises:
        BadInput: the backend cannot run here, or a stage 0 snapshot is missing (the native's own line).
    """
    _check_backend(config)
    lanes: list[LanePlan] = []
    for stage in config.stages:
        lanes.extend(_stage_lanes(config, stage, len(lanes)))
    return Plan(tuple(lanes))


def _check_backend(config: LadderConfig) -> None:
    if config.backend == "metal":
        raise BadInput("backend: metal cannot run here; expected cpu, cuda, magma or voxel")
    if config.is_replay and not config.has_magma:
        raise BadInput(f"transfer: replay needs backend magma or voxel, found {config.backend}")
    if config.snaps_dir == GENERATED and config.backend != "voxel":
        raise BadInput(f"snaps_dir: `generated` terrain needs backend voxel, found {config.backend}")
    if config.snaps_dir == GENERATED and config.is_replay and config.reference == "blaze":
        raise BadInput("reference: blaze needs snaps_dir to be a folder of snapshots, found `generated` terrain")
    if config.policy == "net" and not config.checkpoint:
        raise BadInput("checkpoint: policy net expects a file or fixture:N, found nothing")
    if config.faults and config.backend != "voxel":
        raise BadInput(f"faults: only backend voxel can be made to misbehave, found {config.backend}")


def _stage_lanes(config: LadderConfig, stage: int, first_index: int) -> Iterator[LanePlan]:
    loaded = 0
    for position, seed in enumerate(config.seeds):
        snapshot, missing = _snapshot(config, stage, seed)
        for attempt in range(config.tries):
            yield LanePlan(
                index=first_index + position * config.tries + attempt,
                stage=stage,
                seed=seed,
                attempt=attempt,
                held_out=seed in HELD_OUT,
                ni=-1 if missing else loaded * config.tries + attempt,
                rng_seed=config.seed + stage,
                snapshot=snapshot,
                skip=bool(missing),
                skip_path=missing,
            )
        loaded += not missing


def _snapshot(config: LadderConfig, stage: int, seed: int) -> tuple[Path | None, str]:
    """Returns the lane's snapshot and, when a stage cannot run for want of one, the path that is missing."""
    if stage == 0 and config.snaps_dir == GENERATED:
        return None, ""
    name = f"s{seed}_t0.bsnp" if stage == 0 else f"s{seed}_stg{stage}.bsnp"
    path = f"{config.snaps_dir}/{name}"
    if Path(path).is_file():
        return Path(path), ""
    if stage == 0:
        raise BadInput(f"eval: missing t0 snapshot: {path}")
    return None, path
