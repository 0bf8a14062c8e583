"""Snapshots made with the lane program itself: t0 of a fresh spawn, or the moment a stage's milestone is reached."""

import os
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from core.errors import BadInput, NetheriteError, Refused
from core.host.processes import Processes
from core.ladder.milestones import NAMES, milestone_of
from core.policy.controls import ControllerFactory
from core.runs.lane_program import LaneProgram
from core.wire.act13 import NOOP_ROW
from core.wire.bsnp import Snapshot, check_coal, read_snapshot
from core.worlds.base import Done
from core.worlds.magma import MagmaWorld, last_line

HALF_WIDTH = 64  #: blocks; SPEC 11's regions are 128 wide
STDERR_PATIENCE_S = 1.0
_LIQUIDS = (8, 9, 10, 11)


@dataclass(frozen=True, slots=True)
class Baked:
    """A snapshot that was written and checked."""

    path: Path
    seed: int
    size: tuple[int, int, int]  #: cells
    liquids: bool  #: whether water or lava is in the region
    coal: int  #: coal ore cells
    items: int  #: things lying around
    decision: int = -1  #: decisions until the milestone; -1 for t0
    attempt: int = -1  #: the try that reached it

    @property
    def text(self) -> str:
        """One line for people."""
        when = f", after {self.decision} decisions of try {self.attempt}" if self.decision >= 0 else ""
        inexact = "; not exact: items were dropped before it, their random numbers are not stored" if self.items else ""
        return (
            f"{self.path}: seed {self.seed}, {'x'.join(map(str, self.size))} cells, "
            f"liquids {'yes' if self.liquids else 'no'}, {self.coal} coal{when}{inexact}"
        )


def bake_t0(program: LaneProgram, seeds: Sequence[int], folder: Path, *, force: bool = False) -> Iterator[Baked]:
    """Yields the t0 snapshot of each seed's fresh spawn once it is written and checked.

    Args:
        program: the lane program.
        seeds: world seeds.
        folder: where `s{seed}_t0.bsnp` goes.
        force: whether files that exist are replaced.

    Raises:
        Refused: a file exists already (told before anything is started).
        NetheriteError: the program cannot do it, or what it wrote is wrong; the text says how.
    """
    targets = _targets(folder, seeds, "t0", force)
    processes = Processes(f"bake-{os.getpid()}")
    try:
        for seed, target in zip(seeds, targets, strict=True):
            world = program.world(processes, None, seed)
            try:
                world.open()
                yield _save(program, world, target, seed)
            finally:
                world.close()
    finally:
        processes.close()


@dataclass(frozen=True, slots=True)
class Climb:
    """How a stage's milestone is looked for (SPEC 5 and 9)."""

    stage: int  #: the milestone's index, 1..4
    controllers: ControllerFactory
    tries: int
    decisions: int  #: limit of each try
    repeat: int
    rng_seed: int = 0


def bake_stage(
    program: LaneProgram,
    seeds: Sequence[int],
    folder: Path,
    climb: Climb,
    *,
    force: bool = False,
    progress: Callable[[str], None] = lambda text: None,
) -> Iterator[Baked | str]:
    """Yields, for each seed, the snapshot of the first moment a try holds the milestone, or why there is none.

    Tries start from `s{seed}_t0.bsnp` in `folder` where it exists, else from a fresh spawn.

    Args:
        program: the lane program.
        seeds: world seeds.
        folder: where `s{seed}_stg{K}.bsnp` goes.
        climb: policy, limits, milestone.
        force: whether files that exist are replaced.
        progress: told which try begins.

    Raises:
        Refused, NetheriteError: as `bake_t0`.
    """
    targets = _targets(folder, seeds, f"stg{climb.stage}", force)
    processes = Processes(f"bake-{os.getpid()}")
    try:
        for position, (seed, target) in enumerate(zip(seeds, targets, strict=True)):
            t0 = folder / f"s{seed}_t0.bsnp"
            for attempt in range(climb.tries):
                progress(f"seed {seed} try {attempt}")
                world = program.world(processes, t0 if t0.is_file() else None, seed)
                try:
                    world.open()
                    decision = _climb(world, climb, position * climb.tries + attempt)
                    if decision is not None:
                        yield _save(program, world, target, seed, decision, attempt)
                        break
                finally:
                    world.close()
            else:
                yield f"seed {seed}: {NAMES[climb.stage]} not reached in {climb.tries} x {climb.decisions} decisions"
    finally:
        processes.close()


def _climb(world: MagmaWorld, climb: Climb, ni: int) -> int | None:
    """Plays one try and returns the number of decisions after which the milestone was first held, None if never."""
    controller = climb.controllers.make(ni=ni, rng_seed=climb.rng_seed, limit=climb.decisions)
    world.step(NOOP_ROW, climb.repeat)
    best9 = world.senses.status[:9].copy()
    for decision in range(climb.decisions):
        world.step(controller.decide(world.senses, world.record, decision), climb.repeat)
        np.maximum(best9, world.senses.status[:9], out=best9)
        if world.done is Done.DEATH:
            return None
        if milestone_of(best9) >= climb.stage:
            return decision + 1
    return None


def _targets(folder: Path, seeds: Sequence[int], stage: str, force: bool) -> list[Path]:
    if not folder.is_dir():
        raise BadInput(f"snapshot folder {folder}: expected a folder, found none")
    targets = [folder / f"s{seed}_{stage}.bsnp" for seed in seeds]
    existing = [str(target) for target in targets if target.exists()]
    if existing and not force:
        raise Refused(f"{existing[0]} exists already ({len(existing)} of {len(targets)} do); --force replaces")
    return targets


def _save(
    program: LaneProgram, world: MagmaWorld, target: Path, seed: int, decision: int = -1, attempt: int = -1
) -> Baked:
    """Has the world write its state beside `target`, checks the file and only then gives it its name."""
    unchecked = target.resolve().with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        world.save_snapshot(unchecked, HALF_WIDTH)
        if not unchecked.exists():
            words = _last_words(world)
            raise NetheriteError(
                f"seed {seed}: the lane program wrote no snapshot{f' ({words})' if words else ''}; "
                "does it know the `snapshot` key?"
            )
        snapshot = _checked(unchecked, target, seed, program.is_endless)
        baked = _described(target, snapshot, decision, attempt)
        os.replace(unchecked, target)
        return baked
    except OSError as error:
        raise BadInput(f"{target}: cannot be written: {error.strerror}") from error
    finally:
        unchecked.unlink(missing_ok=True)


def _last_words(world: MagmaWorld) -> str:
    """Returns the last line of the program's stderr, which another thread reads, so it may be a moment late.

    The program is not ended first: its summary at exit would be the last line then.
    """
    give_up = time.monotonic() + STDERR_PATIENCE_S
    while not (words := last_line(world.stderr_tail())) and time.monotonic() < give_up:
        time.sleep(0.02)
    return words


def _checked(path: Path, target: Path, seed: int, is_endless: bool) -> Snapshot:
    """Reads what was written to `path`; complaints call it by the name it would have got."""
    width = 2 * HALF_WIDTH  # land that ends near the player gives less
    try:
        snapshot = read_snapshot(path)
        if snapshot.seed != seed:
            raise NetheriteError(f"{path}: seed is {snapshot.seed}, expected {seed}")
        if is_endless and snapshot.cells.shape[::2] != (width, width):
            raise NetheriteError(f"{path}: region is {snapshot.cells.shape} cells, expected {width} in x and z")
        check_coal(path, snapshot)
    except NetheriteError as error:
        raise NetheriteError(f"not kept: {str(error).replace(str(path), str(target))}") from error
    return snapshot


def _described(path: Path, snapshot: Snapshot, decision: int, attempt: int) -> Baked:
    x, y, z = snapshot.cells.shape
    liquids = bool(np.isin(np.asarray(snapshot.cells) >> 4, _LIQUIDS).any())
    return Baked(path, snapshot.seed, (x, y, z), liquids, len(snapshot.coal), len(snapshot.items), decision, attempt)
