"""Sand and gravel: scheduled falls, falling blocks, landings, and their shadow on the digging ray (RULES 11.2)."""

from typing import Any

import numpy as np

from core.kernels import kernel
from core.worlds.voxel.blocks import FALL_REPLACEABLE, FALL_THROUGH, GRAVEL, SAND, SOLID
from core.worlds.voxel.drops import free_slot
from core.worlds.voxel.grid import cell_at, id_at, put_cell
from core.worlds.voxel.numbers import F32, I64, ifloor
from core.worlds.voxel.ray import EYE_HEIGHT, REACH, look_vector
from core.worlds.voxel.state import FALLING, FREE, ITEM_SLOTS, QUEUE_SLOTS, Sim

EDIT_DELAY, LANDING_DELAY = 2, 3
_LIFT = float(F32(F32(F32(1.0) - F32(0.98)) / F32(2.0)))
_MAX_AGE = 600
_PROBE = 0.009999999776482582


@kernel
def schedule_fall(sim: Sim, x: int, y: int, z: int, delay: int) -> None:
    """Queues the sand or gravel at a cell and the one above it to be checked `delay` item passes from now."""
    for up in range(2):
        block = id_at(sim, x, y + up, z)
        if block in (SAND, GRAVEL):
            _enqueue(sim, x, y + up, z, block, delay)


@kernel
def _enqueue(sim, x, y, z, block, delay):
    """Takes the first free queue slot, unless the same cell and id already wait or the queue is full."""
    free = -1
    for slot in range(QUEUE_SLOTS):
        entry = sim.falls[slot]
        if entry.id == 0:
            if free < 0:
                free = slot
        elif entry.id == block and entry.cell[0] == x and entry.cell[1] == y and entry.cell[2] == z:
            return
    if free >= 0:
        entry = sim.falls[free]
        entry.cell[0], entry.cell[1], entry.cell[2] = x, y, z
        entry.id, entry.meta, entry.due = block, 0, sim.player[0].item_tick + delay
        sim.player[0].falls_waiting += 1


@kernel
def start_due_falls(sim: Sim) -> None:
    """Turns due entries whose block still hangs over a gap into falling blocks; without a free slot they retry."""
    p = sim.player[0]
    if p.falls_waiting == 0:
        return
    for slot in range(QUEUE_SLOTS):
        entry = sim.falls[slot]
        if entry.id == 0 or entry.due > p.item_tick:
            continue
        x, y, z = I64(entry.cell[0]), I64(entry.cell[1]), I64(entry.cell[2])
        if id_at(sim, x, y, z) == entry.id and FALL_THROUGH[id_at(sim, x, y - 1, z)]:
            free = free_slot(sim)
            if free < 0:
                continue
            _spawn(sim.items[free], x, y, z, cell_at(sim, x, y, z))
        entry.id = 0
        p.falls_waiting -= 1


@kernel
def _spawn(entity, x, y, z, cell):
    """Makes a motionless falling block of a slot; the cell itself is emptied by its first update."""
    entity.kind = FALLING
    entity.pos[0], entity.pos[1], entity.pos[2] = x + 0.5, y + _LIFT, z + 0.5
    entity.motion[0], entity.motion[1], entity.motion[2] = 0.0, 0.0, 0.0
    entity.before[0], entity.before[1], entity.before[2] = entity.pos[0], entity.pos[1], entity.pos[2]
    entity.item, entity.count, entity.meta = cell >> 4, 1, cell & 15
    entity.age, entity.pickup_delay, entity.lifespan = 0, 0, 0
    entity.on_ground, entity.was_active = 0, 0
    entity.cell[0], entity.cell[1], entity.cell[2] = x, y, z


@kernel
def _top(cell):
    """Height of the surface a block offers to falling blocks, 0 if none."""
    block = cell >> 4
    if block == 44 or block == 126 or block == 182 or block == 205:
        return 1.0 if cell & 8 else 0.5
    if block == 88:
        return 0.875
    if block == 81:
        return 0.9375
    if block == 85 or block == 113 or block == 139:
        return 1.5
    return 1.0 if SOLID[block] else 0.0


@kernel
def _surface(sim, x, z, y0, y1):
    """The highest top in a column that a fall from y0 to y1 meets, or -inf."""
    best = -np.inf
    for y in range(ifloor(y0), ifloor(y1) - 2, -1):
        height = _top(cell_at(sim, x, y, z))
        if height > 0.0 and y1 < y + height <= y0:
            best = max(best, y + height)
    return best


@kernel
def _land(sim, entity, x, y, z):
    """Queues a landing for the next tick if the block can stay in cell (x, y, z); otherwise the block is lost."""
    if not FALL_REPLACEABLE[id_at(sim, x, y, z)] or FALL_THROUGH[id_at(sim, x, y - 1, z)]:
        return
    for slot in range(sim.landings.shape[0]):
        entry = sim.landings[slot]
        if entry.id == 0:
            entry.cell[0], entry.cell[1], entry.cell[2] = x, y, z
            entry.id, entry.meta, entry.due = entity.item, entity.meta, 0
            return


@kernel
def update_falling(sim: Sim, entity: Any) -> None:
    """One tick of a falling block, an ITEM record: it leaves its cell at age 0, falls, and ends on the ground."""
    x, z = ifloor(entity.pos[0]), ifloor(entity.pos[2])
    if entity.age == 0:
        cx, cy, cz = I64(entity.cell[0]), I64(entity.cell[1]), I64(entity.cell[2])
        if id_at(sim, cx, cy, cz) != entity.item:
            entity.kind = FREE
            return
        put_cell(sim, cx, cy, cz, 0)
        schedule_fall(sim, cx, cy, cz, EDIT_DELAY)
    entity.motion[1] -= 0.03999999910593033
    y0 = entity.pos[1]
    y1 = y0 + entity.motion[1]
    surface = _surface(sim, x, z, y0, y1)
    grounded = surface > -np.inf
    entity.pos[1] = surface if grounded else y1
    entity.motion[1] *= 0.9800000190734863
    entity.age += 1
    if grounded and not FALL_THROUGH[id_at(sim, x, ifloor(entity.pos[1] - _PROBE), z)]:
        _land(sim, entity, x, ifloor(entity.pos[1]), z)
        entity.kind = FREE
    elif entity.age > _MAX_AGE:
        entity.kind = FREE


@kernel
def write_landings(sim: Sim) -> None:
    """Writes last tick's landed blocks (RULES 1.1c) and schedules them and what lies above."""
    for slot in range(sim.landings.shape[0]):
        entry = sim.landings[slot]
        if entry.id == 0:
            return
        x, y, z = I64(entry.cell[0]), I64(entry.cell[1]), I64(entry.cell[2])
        put_cell(sim, x, y, z, I64(entry.id) << 4 | entry.meta)
        entry.id = 0
        schedule_fall(sim, x, y, z, LANDING_DELAY)


@kernel
def falling_block_in_way(sim: Sim) -> bool:
    """Whether a falling block crosses the digging ray (RULES 1.1j): then digging resets though attack is held.

    Called before this tick's look, so that the ray uses last tick's angles, from the standing eye.
    """
    body, p = sim.body[0], sim.player[0]
    eye, direction = np.empty(3), np.empty(3)
    eye[0], eye[1], eye[2] = body.pos[0] + p.ox, body.pos[1] + EYE_HEIGHT, body.pos[2] + p.oz
    look_vector(body.yaw, body.pitch, direction)
    for slot in range(ITEM_SLOTS):
        entity = sim.items[slot]
        if entity.kind == FALLING and _crosses(eye, direction, entity.pos):
            return True
    return False


@kernel
def _crosses(eye, direction, pos):
    """Inclusive slab test of the ray against the grown box of one falling block."""
    enter, leave = 0.0, REACH
    for axis in range(3):
        if axis == 1:
            base = pos[1] + _LIFT
            lo, hi = base - 0.1, (base + 0.98) + 0.1
        else:
            lo, hi = (pos[axis] - 0.49) - 0.1, (pos[axis] + 0.49) + 0.1
        d = direction[axis]
        if d == 0.0:
            if eye[axis] < lo or eye[axis] > hi:
                return False
            continue
        t0, t1 = (lo - eye[axis]) / d, (hi - eye[axis]) / d
        enter, leave = max(enter, min(t0, t1)), min(leave, max(t0, t1))
    return enter <= leave
