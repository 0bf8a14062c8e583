"""What a block edit does to plants and other neighbours (RULES 11.4).

Doors, beds and redstone, which RULES only call vanilla-like and rare, are left as they are.
"""

import numpy as np

from core.kernels import kernel
from core.worlds.voxel.blocks import CACTUS, DIRT, DOUBLE_PLANT, GRASS, LIQUID, SAND, SOLID_MATERIAL, WATER
from core.worlds.voxel.drops import drop_block_item, next_w, spawn_still_item
from core.worlds.voxel.grid import cell_at, id_at, meta_at, put_cell
from core.worlds.voxel.state import Sim

_SAPLING, _TALL_GRASS, _DEAD_BUSH, _DANDELION, _POPPY, _LILY, _REED, _FARMLAND = 6, 31, 32, 37, 38, 111, 83, 60
_REED_ITEM, _SEEDS = 338, 295
_UPPER = 8  # meta bit of the upper half of a double plant

# Notification order of RULES: W, E, D, U, N, S.
_DX = np.array([-1, 1, 0, 0, 0, 0], np.int64)
_DY = np.array([0, 0, -1, 1, 0, 0], np.int64)
_DZ = np.array([0, 0, 0, 0, -1, 1], np.int64)
_STACK = 512


@kernel
def _supported(plant, below):
    """Whether `below` keeps a plant up; everything that is no plant of this list stays by itself."""
    if plant in (_SAPLING, _TALL_GRASS, _DANDELION, _POPPY):
        return below in (GRASS, DIRT, _FARMLAND)
    if plant == _DEAD_BUSH:
        return below in (DIRT, SAND, 159, 172)
    if plant == _REED:
        return below in (_REED, GRASS, DIRT, SAND)
    if plant == _LILY:
        return WATER[below]
    if plant == CACTUS:
        return below in (SAND, CACTUS)
    return True


@kernel
def sweep_plants(sim: Sim, x: int, y: int, z: int) -> None:
    """Removes the column of plants that an edit at world cell (x, y, z) leaves without support, bottom up."""
    while True:
        y += 1
        plant = id_at(sim, x, y, z)
        if plant == DOUBLE_PLANT or _supported(plant, id_at(sim, x, y - 1, z)):
            return
        put_cell(sim, x, y, z, 0)
        if plant == _REED:
            spawn_still_item(sim, x, y, z, _REED_ITEM, 1, 0)
        elif plant not in (_TALL_GRASS, _DEAD_BUSH):
            spawn_still_item(sim, x, y, z, plant, 1, 0)


@kernel
def _check_double_plant(sim, x, y, z, meta):
    """A double plant that lost its other half or its soil goes; returns whether its neighbours must hear of it."""
    if meta & _UPPER:
        if id_at(sim, x, y - 1, z) != DOUBLE_PLANT:
            put_cell(sim, x, y, z, 0)
        return False
    whole = id_at(sim, x, y + 1, z) == DOUBLE_PLANT
    if whole and id_at(sim, x, y - 1, z) in (GRASS, DIRT, _FARMLAND):
        return False
    if meta in (0, 1, 4, 5):
        drop_block_item(sim, x, y, z, DOUBLE_PLANT, meta)
    elif meta == 2 and (8 * next_w(sim, 31)) >> 31 == 0:
        drop_block_item(sim, x, y, z, _SEEDS, 0)
    if whole:
        put_cell(sim, x, y + 1, z, 0)
    put_cell(sim, x, y, z, 0)
    return True


@kernel
def _beside(sim, x, y, z, group):
    """Whether a horizontal neighbour of a cell is in a block set."""
    return (
        group[id_at(sim, x - 1, y, z)]
        or group[id_at(sim, x + 1, y, z)]
        or group[id_at(sim, x, y, z - 1)]
        or group[id_at(sim, x, y, z + 1)]
    )


_WETS_REED = WATER.copy()
_WETS_REED[212] = True  # frosted ice
_HURTS_CACTUS = SOLID_MATERIAL.copy()
_HURTS_CACTUS[[10, 11]] = True


@kernel
def _check_reed(sim, x, y, z):
    """A reed without reed or watered soil below drops; returns whether it did."""
    below = id_at(sim, x, y - 1, z)
    if below == _REED or (below in (GRASS, DIRT, SAND) and _beside(sim, x, y - 1, z, _WETS_REED)):
        return False
    drop_block_item(sim, x, y, z, _REED_ITEM, 0)
    put_cell(sim, x, y, z, 0)
    return True


@kernel
def _check_cactus(sim, x, y, z):
    """A cactus that is crowded, unsupported or under liquid drops; returns whether it did."""
    kept = id_at(sim, x, y - 1, z) in (SAND, CACTUS) and not LIQUID[id_at(sim, x, y + 1, z)]
    if kept and not _beside(sim, x, y, z, _HURTS_CACTUS):
        return False
    drop_block_item(sim, x, y, z, CACTUS, 0)
    put_cell(sim, x, y, z, 0)
    return True


@kernel
def _notify(sim, x, y, z):
    """Lets the block of one cell react to a change beside it; returns whether it went and its neighbours must hear."""
    cell = cell_at(sim, x, y, z)
    block = cell >> 4
    if block == DOUBLE_PLANT:
        return _check_double_plant(sim, x, y, z, meta_at(sim, x, y, z))
    if block == _REED:
        return _check_reed(sim, x, y, z)
    if block == CACTUS:
        return _check_cactus(sim, x, y, z)
    if block == _FARMLAND and SOLID_MATERIAL[id_at(sim, x, y + 1, z)]:
        put_cell(sim, x, y, z, DIRT << 4)
    return False


@kernel
def notify_neighbours(sim: Sim, x: int, y: int, z: int) -> None:
    """Lets the six neighbours of an edited world cell react, each change telling its own neighbours, depth first.

    The depth-first order decides the order of the draws of the drop generator.
    """
    stack = np.empty((_STACK, 4), np.int64)  # cell and the next direction to notify
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = x, y, z, 0
    depth = 1
    while depth > 0:
        frame = stack[depth - 1]
        side = frame[3]
        if side == 6:
            depth -= 1
            continue
        frame[3] = side + 1
        nx, ny, nz = frame[0] + _DX[side], frame[1] + _DY[side], frame[2] + _DZ[side]
        if _notify(sim, nx, ny, nz) and depth < _STACK:
            stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3] = nx, ny, nz, 0
            depth += 1
