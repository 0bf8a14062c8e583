"""Random ticks, which only grass answers, and the light it asks for (RULES 11.1).

Light is not stored. A tick of grass asks whether a cell has at least so much light, and the answer is searched backward
from that cell: no further than the light that would still be enough. Out in the open that ends at the first look up.
Sections where no grass was ever seen are passed over without drawing, since no draw is shared between attempts.
"""

import numpy as np

from core.kernels import kernel
from core.worlds.voxel.blocks import DIRT, EMISSION, FACE_X, FACE_Y, FACE_Z, GRASS, OPACITY
from core.worlds.voxel.grid import cell_at, id_at, put_cell
from core.worlds.voxel.numbers import I64, ifloor
from core.worlds.voxel.state import Sim

_U = np.uint64
_M1, _M2 = _U(0xBF58476D1CE4E5B9), _U(0x94D049BB133111EB)
_S27, _S30, _S31, _S32 = _U(27), _U(30), _U(31), _U(32)
_TICK_KEY, _X_KEY, _Y_KEY = _U(0x9E3779B97F4A7C15), _U(0xC2B2AE3D27D4EB4F), _U(0x165667B19E3779F9)
_Z_KEY, _PURPOSE_KEY = _U(0xD6E8FEB86659FD93), _U(0x2545F4914F6CDD1D)
_ONE, _TWO, _LOW_WORD = _U(1), _U(2), _U(0xFFFFFFFF)
_RANDOM_TICK, _SPREAD = 0x5254504F, 0x52544752
_ATTEMPTS = 3
_TOP_SECTION = 15

_UNKNOWN, _BARREN, _GRASSY = 0, 1, 2  # values of `Sim.grassy`
_DAYLIGHT = 15
_ENOUGH_TO_SPREAD, _ENOUGH_TO_LIVE = 9, 4
_CLEAR = 2  # the highest opacity grass bears above itself


@kernel
def _mix(x):
    """H of RULES 11.1."""
    x ^= x >> _S30
    x *= _M1
    x ^= x >> _S27
    x *= _M2
    return x ^ (x >> _S31)


@kernel
def _word(v):
    """The low 32 bits of an integer as u64."""
    return _U(v) & _LOW_WORD


@kernel
def _below(h, bound):
    """B of RULES 11.1: a number in 0..bound-1 of a hash."""
    return I64(((_mix(h) >> _S32) * _U(bound)) >> _S32)


@kernel
def _tick_hash(seed, tick):
    """HS up to the tick."""
    return _mix(_U(seed) ^ (_U(tick) * _TICK_KEY))


@kernel
def _column_hash(h, x, y, z):
    """HS from the tick on to the three coordinates."""
    h = _mix(h ^ (_word(x) * _X_KEY))
    h = _mix(h ^ (_word(y) * _Y_KEY))
    return _mix(h ^ (_word(z) * _Z_KEY))


@kernel
def _purpose_hash(h, purpose):
    """HS's last step."""
    return _mix(h ^ (_word(purpose) * _PURPOSE_KEY))


@kernel
def _sky_light(sim, x, y, z):
    """Light that falls straight down on a cell: 15 under the open sky, less through leaves and water, then 0."""
    level = _DAYLIGHT
    for above in range(sim.lo[1] + sim.cells.shape[1] - 1, y - 1, -1):
        opacity = I64(OPACITY[id_at(sim, x, above, z)])
        if opacity == 0 and level != _DAYLIGHT:
            opacity = 1
        level -= opacity
        if level <= 0:
            return 0
    return level


@kernel
def light_reaches(sim: Sim, x: int, y: int, z: int, level: int) -> bool:
    """Returns whether world cell (x, y, z) has at least `level` light, of the sky or of blocks.

    Args:
        sim: the world.
        x: world cell; so are y and z.
        level: 1..15.
    """
    if max(_sky_light(sim, x, y, z), I64(EMISSION[id_at(sim, x, y, z)])) >= level:
        return True
    return _light_flows_in(sim, x, y, z, level)


@kernel
def _light_flows_in(sim, x, y, z, level):
    """Searches outward for a cell whose own light, less the loss on the way in, is enough.

    `spent[cell]` is the least loss found from that cell to the asking one; a cheaper way found later queues it again.
    """
    budget = _DAYLIGHT - level
    span = 2 * budget + 1
    spent = np.full(span * span * span, 255, np.uint8)
    queue = np.empty(span * span * span, np.int32)
    queue[0] = (budget * span + budget) * span + budget
    spent[queue[0]] = 0
    head, tail = 0, 1
    while head < tail:
        at = I64(queue[head % queue.shape[0]])
        head += 1
        cx, cy, cz = x + at // (span * span) - budget, y + at // span % span - budget, z + at % span - budget
        block, so_far = id_at(sim, cx, cy, cz), I64(spent[at])
        if max(_sky_light(sim, cx, cy, cz), I64(EMISSION[block])) - so_far >= level:
            return True
        loss = so_far + max(1, I64(OPACITY[block]))
        if loss > budget:
            continue
        for side in range(6):
            near = at + (FACE_X[side] * span + FACE_Y[side]) * span + FACE_Z[side]
            if loss < spent[near]:
                spent[near] = loss
                queue[tail % queue.shape[0]] = near
                tail += 1
    return False


@kernel
def note_grass(sim: Sim, x: int, y: int, z: int) -> None:
    """Records that grass came to world cell (x, y, z)."""
    i, j, k = (x >> 4) - (sim.lo[0] >> 4), (y >> 4) - (sim.lo[1] >> 4), (z >> 4) - (sim.lo[2] >> 4)
    if 0 <= i < sim.grassy.shape[0] and 0 <= j < sim.grassy.shape[1] and 0 <= k < sim.grassy.shape[2]:
        sim.grassy[i, j, k] = _GRASSY


@kernel
def _section_has_grass(sim, cx, section, cz):
    """Whether a section of the region may hold grass; looked up once, then remembered."""
    i, j, k = cx - (sim.lo[0] >> 4), section - (sim.lo[1] >> 4), cz - (sim.lo[2] >> 4)
    if sim.grassy[i, j, k] == _UNKNOWN:
        sim.grassy[i, j, k] = _BARREN
        for x in range(cx * 16, cx * 16 + 16):
            for y in range(section * 16, section * 16 + 16):
                for z in range(cz * 16, cz * 16 + 16):
                    if id_at(sim, x, y, z) == GRASS:
                        sim.grassy[i, j, k] = _GRASSY
                        return True
    return sim.grassy[i, j, k] == _GRASSY


@kernel
def _grow(sim, h, x, y, z):
    """A random tick of the grass at a world cell: it dies in the dark or spreads in the light."""
    if not light_reaches(sim, x, y + 1, z, _ENOUGH_TO_LIVE):
        if OPACITY[id_at(sim, x, y + 1, z)] > _CLEAR:
            put_cell(sim, x, y, z, DIRT << 4)
        return
    if not light_reaches(sim, x, y + 1, z, _ENOUGH_TO_SPREAD):
        return
    g = _purpose_hash(_column_hash(h, x, y, z), _SPREAD)
    for attempt in range(4):
        h = _mix(g ^ _U(attempt))
        tx = x + _below(h, 3) - 1
        h = _mix(h + _ONE)
        ty = y + _below(h, 5) - 3
        h = _mix(h + _TWO)
        tz = z + _below(h, 3) - 1
        if cell_at(sim, tx, ty, tz) != DIRT << 4 or OPACITY[id_at(sim, tx, ty + 1, tz)] > _CLEAR:
            continue
        if light_reaches(sim, tx, ty + 1, tz, _ENOUGH_TO_LIVE):
            put_cell(sim, tx, ty, tz, GRASS << 4)
            note_grass(sim, tx, ty, tz)


@kernel
def _tick_section(sim, tick_hash, cx, section, cz):
    """Three random ticks in one section."""
    h = _column_hash(tick_hash, cx, section, cz)
    for attempt in range(_ATTEMPTS):
        draw = _purpose_hash(h, _RANDOM_TICK ^ attempt)
        x = cx * 16 + _below(draw, 16)
        draw = _mix(draw + _ONE)
        y = section * 16 + _below(draw, 16)
        draw = _mix(draw + _TWO)
        z = cz * 16 + _below(draw, 16)
        if id_at(sim, x, y, z) == GRASS:
            _grow(sim, tick_hash, x, y, z)


@kernel
def _sections_of(sim, axis, first, last):
    """The part of sections first..last along an axis that meets the region, as [first, end)."""
    low = sim.lo[axis] >> 4
    return max(first, low), min(last + 1, low + sim.grassy.shape[axis])


@kernel
def random_ticks(sim: Sim) -> None:
    """Random ticks of the chunks within `view_distance` of the player's (RULES 11.1).

    No recording settles whether the player's chunk is taken before or after the move; here it is after.
    """
    p, pos = sim.player[0], sim.body[0].pos
    pcx, pcz = ifloor(pos[0] + p.ox) >> 4, ifloor(pos[2] + p.oz) >> 4
    radius = I64(p.view_distance)
    h = _tick_hash(p.seed, p.tick)
    x0, x1 = _sections_of(sim, 0, pcx - radius, pcx + radius)
    y0, y1 = _sections_of(sim, 1, 0, _TOP_SECTION)
    z0, z1 = _sections_of(sim, 2, pcz - radius, pcz + radius)
    for cz in range(z0, z1):
        for cx in range(x0, x1):
            for section in range(y0, y1):
                if _section_has_grass(sim, cx, section, cz):
                    _tick_section(sim, h, cx, section, cz)
