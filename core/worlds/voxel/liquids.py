"""Bodies in water and lava: the tests, the current of a cell and its push (RULES 6)."""

import math

import numpy as np

from core.kernels import kernel
from core.worlds.voxel.blocks import LIQUID, SOLID, WATER
from core.worlds.voxel.grid import cell_at, id_at
from core.worlds.voxel.numbers import iceil, ifloor

PUSH = 0.014
ICE = 79
# South, west, north, east: the order in which a cell's current sums its neighbours.
_AROUND_X = np.array([0, -1, 0, 1], np.int64)
_AROUND_Z = np.array([1, 0, -1, 0], np.int64)


@kernel
def _depth(sim, x, y, z):
    """Water level of a cell: -1 if it holds no water, 0 full or falling, up to 7."""
    cell = cell_at(sim, x, y, z)
    if not WATER[cell >> 4]:
        return -1
    return cell & 15 if cell & 15 < 8 else 0


@kernel
def _holds_back(sim, x, y, z):
    """Whether a falling current sticks to this neighbour (solid, but not water or ice)."""
    block = id_at(sim, x, y, z)
    return SOLID[block] and not WATER[block] and block != ICE


@kernel
def _normalised(x, y, z):
    """The unit vector, or zero if the vector is shorter than 1e-4."""
    length = math.sqrt(x * x + y * y + z * z)
    if length < 1.0e-4:
        return 0.0, 0.0, 0.0
    return x / length, y / length, z / length


@kernel
def flow_of(sim, x, y, z):
    """Direction of the current in water cell (x, y, z), world coordinates: a float64 unit vector or zero."""
    own = _depth(sim, x, y, z)
    fx, fy, fz = 0.0, 0.0, 0.0
    for k in range(4):
        nx, nz = x + _AROUND_X[k], z + _AROUND_Z[k]
        drop = 0
        level = _depth(sim, nx, y, nz)
        if level >= 0:
            drop = level - own
        elif not SOLID[id_at(sim, nx, y, nz)]:
            level = _depth(sim, nx, y - 1, nz)
            if level >= 0:
                drop = level - (own - 8)
        fx += float(_AROUND_X[k] * drop)
        fz += float(_AROUND_Z[k] * drop)
    if cell_at(sim, x, y, z) & 15 >= 8:
        for k in range(4):
            nx, nz = x + _AROUND_X[k], z + _AROUND_Z[k]
            if _holds_back(sim, nx, y, nz) or _holds_back(sim, nx, y + 1, nz):
                fx, fy, fz = _normalised(fx, fy, fz)
                fy += -6.0
                break
    return _normalised(fx, fy, fz)


@kernel
def _wet_heights(box):
    """The span of heights the water test looks at."""
    lo, hi = (box[1] + 0.4) + 0.001, (box[4] - 0.4) - 0.001
    return (lo, hi) if lo <= hi else (hi, lo)


@kernel
def in_water(sim, body):
    """Whether the water test of RULES 6 finds water in the body's box."""
    box, ox, oz = body.box, sim.player[0].ox, sim.player[0].oz
    lo, hi = _wet_heights(box)
    for x in range(ifloor(box[0] + 0.001), iceil(box[3] - 0.001)):
        for y in range(ifloor(lo), iceil(hi)):
            for z in range(ifloor(box[2] + 0.001), iceil(box[5] - 0.001)):
                if WATER[id_at(sim, x + ox, y, z + oz)]:
                    return True
    return False


@kernel
def handle_water(sim, body):
    """The water test, which also pushes the body along the current."""
    box, ox, oz = body.box, sim.player[0].ox, sim.player[0].oz
    lo, hi = _wet_heights(box)
    wet = False
    sx, sy, sz = 0.0, 0.0, 0.0
    for x in range(ifloor(box[0] + 0.001), iceil(box[3] - 0.001)):
        for y in range(ifloor(lo), iceil(hi)):
            for z in range(ifloor(box[2] + 0.001), iceil(box[5] - 0.001)):
                if WATER[id_at(sim, x + ox, y, z + oz)]:
                    wet = True
                    fx, fy, fz = flow_of(sim, x + ox, y, z + oz)
                    sx, sy, sz = sx + fx, sy + fy, sz + fz
    length = math.sqrt(sx * sx + sy * sy + sz * sz)
    if length > 0.0:
        motion = body.motion
        motion[0] += (sx / length) * PUSH
        motion[1] += (sy / length) * PUSH
        motion[2] += (sz / length) * PUSH
    return wet


@kernel
def in_lava(sim, body):
    """Whether the lava test of RULES 6 finds lava in the body's box."""
    box, ox, oz = body.box, sim.player[0].ox, sim.player[0].oz
    for x in range(ifloor(box[0] + 0.1), iceil(box[3] - 0.1)):
        for y in range(ifloor(box[1] + 0.4), iceil(box[4] - 0.4)):
            for z in range(ifloor(box[2] + 0.1), iceil(box[5] - 0.1)):
                block = id_at(sim, x + ox, y, z + oz)
                if block in (10, 11):
                    return True
    return False


@kernel
def liquid_between(sim, box, dx, dy, dz):
    """Whether a body's box moved by (dx, dy, dz) touches a cell of any liquid."""
    ox, oz = sim.player[0].ox, sim.player[0].oz
    for x in range(ifloor(box[0] + dx), iceil(box[3] + dx)):
        for y in range(ifloor(box[1] + dy), iceil(box[4] + dy)):
            for z in range(ifloor(box[2] + dz), iceil(box[5] + dz)):
                if LIQUID[id_at(sim, x + ox, y, z + oz)]:
                    return True
    return False
