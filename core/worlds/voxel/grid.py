"""Reading and writing cells by world coordinates. Outside the known region everything is air."""

import numpy as np

from core.kernels import kernel
from core.worlds.voxel.state import Sim


@kernel
def cell_at(sim: Sim, x: int, y: int, z: int) -> int:
    """Returns id << 4 | meta of world cell (x, y, z), 0 outside the region."""
    ix, iy, iz = x - sim.lo[0], y - sim.lo[1], z - sim.lo[2]
    shape = sim.cells.shape
    if ix < 0 or iy < 0 or iz < 0 or ix >= shape[0] or iy >= shape[1] or iz >= shape[2]:
        return 0
    return int(np.int64(sim.cells[ix, iy, iz]))


@kernel
def id_at(sim: Sim, x: int, y: int, z: int) -> int:
    """Returns the block id of world cell (x, y, z), 0 outside the region."""
    return cell_at(sim, x, y, z) >> 4


@kernel
def meta_at(sim: Sim, x: int, y: int, z: int) -> int:
    """Returns the meta of world cell (x, y, z), 0 outside the region."""
    return cell_at(sim, x, y, z) & 15


@kernel
def put_cell(sim: Sim, x: int, y: int, z: int, cell: int) -> None:
    """Writes id << 4 | meta; writes outside the region are lost."""
    ix, iy, iz = x - sim.lo[0], y - sim.lo[1], z - sim.lo[2]
    shape = sim.cells.shape
    if ix < 0 or iy < 0 or iz < 0 or ix >= shape[0] or iy >= shape[1] or iz >= shape[2]:
        return
    sim.cells[ix, iy, iz] = np.uint16(cell)
