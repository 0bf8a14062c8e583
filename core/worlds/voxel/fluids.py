"""Water and lava that edits set in motion: up to four regions, each stepped on a copy of its grid (RULES 11.3)."""

import numpy as np
import numpy.typing as npt

from core.kernels import kernel
from core.worlds.voxel.blocks import FACE_X, FACE_Y, FACE_Z, IDS, LIQUID, STONE, WATER
from core.worlds.voxel.grid import cell_at, id_at, put_cell
from core.worlds.voxel.numbers import I64
from core.worlds.voxel.state import FLUID_SLOTS, Sim

_WATER, _STILL_WATER, _LAVA, _STILL_LAVA = 8, 9, 10, 11
_MARGIN, _INNER = 8, 4  # the grid reaches 8 cells beyond the box; its outer 4 are never written back
_CAPS = np.array([64, 40, 64], np.int64)
_JOIN_DISTANCE = 20
_WATER_PERIOD, _LAVA_PERIOD = 5, 30
_QUIET_STEPS = 2
_NO_WAY = 1000
_SLOPE = 4  # how far a flow looks for a drop
_FALLING = 8  # level bit of falling liquid

#: Plants and snow cover, which liquid washes away and which count as air for it.
_COVER = np.zeros(IDS, np.bool_)
_COVER[[31, 32, 37, 38, 39, 40, 51, 78]] = True

# A cell and its six neighbours.
_NEAR_X = np.append(FACE_X, 0)
_NEAR_Y = np.append(FACE_Y, 0)
_NEAR_Z = np.append(FACE_Z, 0)

# Flow directions of RULES: W, E, N, S.
_DX = np.array([-1, 1, 0, 0], np.int64)
_DZ = np.array([0, 0, -1, 1], np.int64)


@kernel
def _clear(region):
    """Frees a region."""
    region.used, region.quiet, region.has_water = 0, 0, 0


@kernel
def _shrink(region, x, y, z):
    """Makes a region's box one cell."""
    region.lo[0], region.lo[1], region.lo[2] = x, y, z
    region.hi[0], region.hi[1], region.hi[2] = x, y, z


@kernel
def _grow(region, x, y, z):
    """Makes a region's box include a cell."""
    region.lo[0], region.lo[1], region.lo[2] = min(region.lo[0], x), min(region.lo[1], y), min(region.lo[2], z)
    region.hi[0], region.hi[1], region.hi[2] = max(region.hi[0], x), max(region.hi[1], y), max(region.hi[2], z)


@kernel
def _chebyshev(region, x, y, z):
    """Distance of a cell to a region's box, 0 inside."""
    return max(
        max(region.lo[0] - x, x - region.hi[0], 0),
        max(region.lo[1] - y, y - region.hi[1], 0),
        max(region.lo[2] - z, z - region.hi[2], 0),
    )


@kernel
def _region_for(sim, x, y, z):
    """The region a marked cell joins: the nearest within 20 cells, else a free one, else the nearest."""
    nearest, free, best = 0, -1, I64(1 << 40)
    for index in range(FLUID_SLOTS):
        region = sim.fluids[index]
        if not region.used:
            if free < 0:
                free = index
            continue
        distance = _chebyshev(region, x, y, z)
        if distance < best:
            nearest, best = index, distance
    if best > _JOIN_DISTANCE and free >= 0:
        region = sim.fluids[free]
        region.used, region.quiet, region.has_water = 1, 0, 0
        _shrink(region, x, y, z)
        return free
    return nearest


@kernel
def mark_fluid(sim: Sim, x: int, y: int, z: int) -> None:
    """Wakes the liquid at or beside an edited world cell."""
    liquid, water = False, False
    for side in range(7):
        block = id_at(sim, x + _NEAR_X[side], y + _NEAR_Y[side], z + _NEAR_Z[side])
        liquid, water = liquid or LIQUID[block], water or WATER[block]
    if not liquid:
        return
    region = sim.fluids[_region_for(sim, x, y, z)]
    _grow(region, x, y, z)
    region.quiet = 0
    if water:
        region.has_water = 1


@kernel
def _as_fluid_sees(cell):
    """A cell as the grid holds it: covers as air, still liquids as flowing ones."""
    block = cell >> 4
    if _COVER[block]:
        return 0
    if block == _STILL_WATER:
        return _WATER << 4 | cell & 15
    if block == _STILL_LAVA:
        return _LAVA << 4 | cell & 15
    return cell


@kernel
def _grid_bounds(region, lo, hi):
    """The grid of a region: its box grown by 8, capped, y within the world.

    Which side the caps cut is not settled by any recording; here the high side is cut.
    """
    for axis in range(3):
        lo[axis], hi[axis] = region.lo[axis] - _MARGIN, region.hi[axis] + _MARGIN
        hi[axis] = min(hi[axis], lo[axis] + _CAPS[axis] - 1)
    lo[1], hi[1] = max(lo[1], 0), min(hi[1], 255)


@kernel
def _at(grid, x, y, z):
    """A grid cell, air outside."""
    if 0 <= x < grid.shape[0] and 0 <= y < grid.shape[1] and 0 <= z < grid.shape[2]:
        return I64(grid[x, y, z])
    return 0


@kernel
def _blocking(cell):
    """Whether a cell keeps liquid out: neither air nor liquid."""
    return cell >> 4 != 0 and not LIQUID[cell >> 4]


@kernel
def _displaceable(cell, liquid):
    """Whether a flowing liquid can take a cell."""
    block = cell >> 4
    return not _blocking(cell) and block != _LAVA and not (liquid == _WATER and block == _WATER)


@kernel
def _fed_level(grid, x, y, z, liquid, cost):
    """The level a flowing cell's surroundings give it (0 source .. 7, 8 and more falling), or -1 to dry up."""
    least, sources = -100, 0
    for side in range(4):
        cell = _at(grid, x + _DX[side], y, z + _DZ[side])
        if cell >> 4 != liquid:
            continue
        level = cell & 15
        if level == 0:
            sources += 1
        elif level >= _FALLING:
            level = 0
        if least < 0 or level < least:
            least = level
    fed = least + cost
    if least < 0 or fed >= 8:
        fed = -1
    above = _at(grid, x, y + 1, z)
    if above >> 4 == liquid:
        fed = (above & 15) | _FALLING
    if liquid == _WATER and sources >= 2:
        below = _at(grid, x, y - 1, z)
        if _blocking(below) or below == _WATER << 4:
            fed = 0
    return fed


@kernel
def _closed_to(cell, liquid):
    """Whether a flow cannot pass a cell sideways: blocking, or a source of the same liquid."""
    return _blocking(cell) or cell == liquid << 4


@kernel
def drop_distance(grid: npt.NDArray[np.uint16], x: int, y: int, z: int, liquid: int, side: int) -> int:
    """Returns the steps from a neighbour to the nearest cell with a gap below, 1000 if none is within reach.

    A breadth-first search gives what the game's recursion does: it only ever forbids turning straight back, which
    matters for the first step alone.

    Args:
        grid: uint16 [nx, ny, nz], cells as fluids see them.
        x: grid cell the liquid would flow from; so are y and z.
        liquid: 8 or 10.
        side: direction of the neighbour: W, E, N, S.
    """
    nx, nz = x + _DX[side], z + _DZ[side]
    if _closed_to(_at(grid, nx, y, nz), liquid):
        return _NO_WAY
    if not _blocking(_at(grid, nx, y - 1, nz)):
        return 0
    span = 2 * _SLOPE + 1
    seen = np.zeros((span, span), np.bool_)
    queue = np.empty((span * span, 3), np.int64)
    queue[0, 0], queue[0, 1], queue[0, 2] = 0, 0, 0
    seen[_SLOPE, _SLOPE] = True
    head, tail = 0, 1
    while head < tail:
        dx, dz, distance = queue[head, 0], queue[head, 1], queue[head, 2] + 1
        head += 1
        for turn in range(4):
            ex, ez = dx + _DX[turn], dz + _DZ[turn]
            if head == 1 and turn == side ^ 1:
                continue
            if seen[ex + _SLOPE, ez + _SLOPE] or _closed_to(_at(grid, nx + ex, y, nz + ez), liquid):
                continue
            if not _blocking(_at(grid, nx + ex, y - 1, nz + ez)):
                return distance
            seen[ex + _SLOPE, ez + _SLOPE] = True
            if distance < _SLOPE:
                queue[tail, 0], queue[tail, 1], queue[tail, 2] = ex, ez, distance
                tail += 1
    return _NO_WAY


@kernel
def _spread_to(grid, after, x, y, z, liquid, level):
    """Lets a flow arrive in a cell that can take it and is empty or flows lower now."""
    if not (0 <= x < grid.shape[0] and 0 <= y < grid.shape[1] and 0 <= z < grid.shape[2]):
        return
    now = I64(after[x, y, z])
    lower = now >> 4 == liquid and now & 15 > level
    if (now == 0 or lower) and _displaceable(I64(grid[x, y, z]), liquid):
        after[x, y, z] = liquid << 4 | level


@kernel
def _spread_sideways(grid, after, x, y, z, liquid, level):
    """Flows toward the nearest drops, all of them if several are equally near."""
    if level >= 8:
        return
    best = _NO_WAY
    distances = np.empty(4, np.int64)
    for side in range(4):
        distances[side] = drop_distance(grid, x, y, z, liquid, side)
        best = min(best, distances[side])
    for side in range(4):
        if distances[side] == best:
            _spread_to(grid, after, x + _DX[side], y, z + _DZ[side], liquid, level)


@kernel
def _flow(grid, after, x, y, z):
    """One liquid cell of one step: its own new level, then where it spreads."""
    cell = I64(grid[x, y, z])
    liquid, level = cell >> 4, cell & 15
    cost = 1 if liquid == _WATER else 2
    if level > 0:
        fed = _fed_level(grid, x, y, z, liquid, cost)
        if fed == level:
            after[x, y, z] = (liquid + 1) << 4 | level
        else:
            after[x, y, z] = 0 if fed < 0 else liquid << 4 | fed
        level = fed
    else:
        after[x, y, z] = (liquid + 1) << 4
    if level < 0:
        return
    below = _at(grid, x, y - 1, z)
    if _displaceable(below, liquid):
        if liquid == _LAVA and below >> 4 == _WATER:
            after[x, y - 1, z] = STONE << 4
        else:
            _spread_to(grid, after, x, y - 1, z, liquid, level | _FALLING)
    elif level == 0 or _blocking(below):
        _spread_sideways(grid, after, x, y, z, liquid, 1 if level >= _FALLING else level + cost)


@kernel
def _write_back(sim, region, lo, after):
    """Writes the inner cells that changed and shrinks the region to them; a region quiet for two steps ends."""
    nx, ny, nz = after.shape
    changed = False
    for ix in range(_INNER, nx - _INNER):
        for iy in range(_INNER, ny - _INNER):
            for iz in range(_INNER, nz - _INNER):
                x, y, z = lo[0] + ix, lo[1] + iy, lo[2] + iz
                old, new = cell_at(sim, x, y, z), I64(after[ix, iy, iz])
                if old == new or (_COVER[old >> 4] and not LIQUID[new >> 4]):
                    continue
                put_cell(sim, x, y, z, new)
                if cell_at(sim, x, y, z) != new:
                    continue  # beyond the known region nothing changes: else a leak over its edge would never rest
                if not changed:
                    _shrink(region, x, y, z)
                changed = True
                _grow(region, x, y, z)
    region.quiet = 0 if changed else region.quiet + 1
    if region.quiet >= _QUIET_STEPS:
        _clear(region)


@kernel
def _step(sim, region):
    """One step of a region."""
    lo, hi = np.empty(3, np.int64), np.empty(3, np.int64)
    _grid_bounds(region, lo, hi)
    nx, ny, nz = hi[0] - lo[0] + 1, hi[1] - lo[1] + 1, hi[2] - lo[2] + 1
    grid = np.empty((nx, ny, nz), np.uint16)
    after = np.empty((nx, ny, nz), np.uint16)
    for ix in range(nx):
        for iy in range(ny):
            for iz in range(nz):
                grid[ix, iy, iz] = _as_fluid_sees(cell_at(sim, lo[0] + ix, lo[1] + iy, lo[2] + iz))
                after[ix, iy, iz] = grid[ix, iy, iz]
    for iy in range(ny):
        for iz in range(nz):
            for ix in range(nx):
                if LIQUID[grid[ix, iy, iz] >> 4]:
                    _flow(grid, after, ix, iy, iz)
    _write_back(sim, region, lo, after)


@kernel
def fluid_tick(sim: Sim) -> None:
    """Steps every region that is due: water every 5 ticks, lava alone every 30."""
    tick = I64(sim.player[0].tick)
    for index in range(FLUID_SLOTS):
        region = sim.fluids[index]
        if region.used and tick % (_WATER_PERIOD if region.has_water else _LAVA_PERIOD) == 0:
            _step(sim, region)
