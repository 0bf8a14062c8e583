"""VoxelWorld: the embedded world as a `World`, in the calling process."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from core.errors import BadInput
from core.wire.act13 import KEYS
from core.wire.bolr import RECORD
from core.wire.bsnp import Snapshot, read_snapshot, write_snapshot
from core.wire.senses import Senses, senses_of_record
from core.worlds.base import Done, WorldError, WorldInterrupted, WorldStartError
from core.worlds.voxel.lists import MAIN_SLOTS, emit
from core.worlds.voxel.load import VIEW_DISTANCE, WORLD_HEIGHT, raise_roof, sim_of_snapshot, snapshot_of_sim
from core.worlds.voxel.state import Sim
from core.worlds.voxel.step import ATTACK, DIRTY_TICKS, USE, run_decision
from core.worlds.voxel.step import step as run_tick
from core.worlds.voxel.terrain import spawn_snapshot

TORCH = 50
BOUNDARY_BLOCKS = 2  #: nearer than this to the region's edge a lane is over (SPEC 12)
HEADROOM = 32  #: farther than a player climbs and reaches in one decision, blocks
SNAPSHOT_RADIUS = range(8, 129)  #: what `snapshot_r` is clamped to, blocks (SPEC 1)


class Moment(NamedTuple):
    """A whole world at one moment, exact: what `remember` gives and `recall` takes."""

    sim: Sim
    record: npt.NDArray[np.void]


class VoxelWorld:
    """The rules of RULES.md on a snapshot's cells, or on land generated from a seed.

    Nothing is known outside the region: it is air there, and `done` says so two blocks before its sides.
    """

    def __init__(
        self,
        snapshot: Path | None,
        seed: int | None,
        *,
        success_item: int = TORCH,
        view_distance: int = VIEW_DISTANCE,
    ) -> None:
        """Names the world; `open` loads it.

        Args:
            snapshot: a BSNP file; None for land generated from `seed`.
            seed: must be the snapshot's; None takes the snapshot's.
            success_item: item whose first possession ends the lane with success.
            view_distance: radius of random block ticks, in chunks.
        """
        self._snapshot = snapshot
        self._seed = seed
        self._success_item = success_item
        self._view_distance = view_distance
        self._row = np.zeros(len(KEYS))  # rows come in all layouts, read-only too: kernels are compiled for this one
        self._record = np.zeros(1, RECORD)
        self._senses = Senses.over(self._record)
        self._senses_are_fresh = False
        self._sim: Sim | None = None
        self._interrupted = False

    def open(self) -> None:
        """Loads the snapshot or makes the land, and emits the t0 record.

        Raises:
            WorldStartError: the snapshot cannot be used, or is another seed's.
        """
        try:
            self._sim = sim_of_snapshot(self._loaded(), self._view_distance)
        except BadInput as error:
            raise WorldStartError(str(error)) from error
        self._show(self._sim, cam=True)

    def _loaded(self) -> Snapshot:
        if self._snapshot is None:
            if self._seed is None:
                raise BadInput("generated land needs a seed, found none")
            return spawn_snapshot(self._seed)
        snapshot = read_snapshot(self._snapshot)
        if self._seed is not None and snapshot.seed != self._seed:
            raise BadInput(f"{self._snapshot}: snapshot of seed {snapshot.seed}, expected seed {self._seed}")
        return snapshot

    @property
    def record(self) -> npt.NDArray[np.void]:
        """The newest record, shape [1]; the next step overwrites it."""
        return self._record

    @property
    def senses(self) -> Senses:
        """What the policy sees of the newest record."""
        if not self._senses_are_fresh:
            senses_of_record(self._record, self._senses)
            self._senses_are_fresh = True
        return self._senses

    @property
    def done(self) -> Done:
        """Whether the lane is over: death before success before the region's edge."""
        sim = self._sim
        if sim is None:
            return Done.RUNNING
        if sim.player[0]["dead"]:
            return Done.DEATH
        held = sim.inventory[:MAIN_SLOTS]
        if ((held[:, 0] == self._success_item) & (held[:, 1] > 0)).any():
            return Done.SUCCESS
        return Done.BOUNDARY if self._at_edge(sim) else Done.RUNNING

    @staticmethod
    def _at_edge(sim: Sim) -> bool:
        """Whether the feet are within `BOUNDARY_BLOCKS` of a side of the region."""
        p, (x, _, z) = sim.player[0], sim.body[0]["pos"]
        for at, low, size in (
            (x + p["ox"], sim.lo[0], sim.cells.shape[0]),
            (z + p["oz"], sim.lo[2], sim.cells.shape[2]),
        ):
            if not low + BOUNDARY_BLOCKS <= at < low + size - BOUNDARY_BLOCKS:
                return True
        return False

    def step(self, row: npt.NDArray[np.float64], repeat: int) -> None:
        """Runs one decision of act13 `row` [13] and emits the record of its last tick.

        Raises:
            WorldInterrupted: `interrupt` was called. WorldError: not open.
        """
        sim = self._roofed()
        self._row[:] = row
        run_decision(sim, self._row, repeat)
        self._show(sim, cam=True)

    def tick(self, row: npt.NDArray[np.float64], cam: bool = True) -> None:
        """Runs a single tick as the lane process does; without `cam` the camera keeps its last picture.

        Raises:
            WorldInterrupted: `interrupt` was called. WorldError: not open.
        """
        sim = self._roofed()
        self._row[:] = row
        run_tick(sim, self._row)
        self._show(sim, cam)

    def save(self, path: Path, radius: int, before: npt.NDArray[np.float64] | None = None) -> None:
        """Writes the present state as BSNP: the region `radius` blocks around the player, as far as it is known.

        BSNP has no room for item slots' order, random cursors, furnaces, falling blocks or the server's shadow
        (RULES 13), and readers refuse trailing bytes: a world loaded from the file goes on as the game would, not as
        this one. `remember` and `recall` are exact.

        Args:
            path: the file to write.
            radius: blocks, clamped to `SNAPSHOT_RADIUS`.
            before: act13 row [13] of the tick that asks for the snapshot. Its attack or use marks the scan cache before
                the state is written, the rest of it acts after (RULES 1).

        Raises:
            BadInput: the file cannot be written. WorldError: not open.
        """
        half = min(max(radius, SNAPSHOT_RADIUS[0]), SNAPSHOT_RADIUS[-1])
        snapshot = snapshot_of_sim(self._usable(), half)
        if before is not None and (int(before[ATTACK]) or int(before[USE])):
            snapshot.head["world_dirty"] = DIRTY_TICKS
        write_snapshot(path, snapshot)

    def remember(self) -> Moment:
        """Returns a copy of everything that decides how this world goes on."""
        return Moment(self._usable().copy(), self._record.copy())

    def recall(self, moment: Moment) -> None:
        """Goes back to a remembered moment, of this world or another one."""
        self._sim = moment.sim.copy()
        self._record[:] = moment.record
        self._senses_are_fresh = False

    def interrupt(self) -> None:
        """Makes the next step fail; one in progress takes microseconds."""
        self._interrupted = True

    def close(self) -> None:
        """Lets go of the world's memory."""
        self._sim = None

    def _usable(self) -> Sim:
        if self._interrupted:
            raise WorldInterrupted("interrupted")
        if self._sim is None:
            raise WorldError("embedded world is not open")
        return self._sim

    def _roofed(self) -> Sim:
        """Returns the world, its roof raised if the player may reach it: a block put beyond it would be lost."""
        sim = self._usable()
        roof = int(sim.lo[1]) + sim.cells.shape[1]
        if roof < WORLD_HEIGHT and sim.body[0]["pos"][1] > roof - HEADROOM:
            sim = self._sim = raise_roof(sim)
        return sim

    def _show(self, sim: Sim, cam: bool) -> None:
        emit(sim, self._record, cam)
        self._senses_are_fresh = False
