"""Live items: flight, landing, pickup and collision, one pass a tick (RULES 8).

The 48 slots are shared with falling blocks (falling.py); a pass updates both in slot order.
"""

import math

import numpy as np

from core.kernels import kernel
from core.worlds.voxel.blocks import FULL_CUBE, ITEM_SLIPPERINESS, ITEM_SOLID, MAX_BOXES, SOLID, collision_boxes
from core.worlds.voxel.drops import drain_overflow
from core.worlds.voxel.falling import start_due_falls, update_falling
from core.worlds.voxel.grid import cell_at, id_at
from core.worlds.voxel.inventory import insert
from core.worlds.voxel.numbers import F32, I64, ifloor
from core.worlds.voxel.state import FALLING, FREE, ITEM_SLOTS, LIVE_ITEM, Sim

_AIR_DRAG = F32(0.98)
_HALF_WIDTH, _HEIGHT = 0.125, 0.25


@kernel
def _partial_top(cell):
    """Height of a partial block, which items land on only from above, 0 for the lowest snow; -1 for all others."""
    block, meta = cell >> 4, cell & 15
    if block == 44 or block == 126 or block == 182:
        return -1.0 if meta & 8 else 0.5
    if block == 78:
        return (meta & 7) * 0.125
    if block == 60:
        return 0.9375
    if block == 92:
        return 0.5
    if block == 116:
        return 0.75
    if block == 171:
        return 0.0625
    return -1.0


@kernel
def _settle(sim, entity, y0):
    """Puts an item that moved down from `y0` on top of what it sank into (RULES 8 step 3)."""
    bx, by, bz = ifloor(entity.pos[0]), ifloor(entity.pos[1]), ifloor(entity.pos[2])
    cell = cell_at(sim, bx, by, bz)
    top = _partial_top(cell)
    if top >= 0.0:
        resting = top > 0.0 and entity.pos[1] < by + top and y0 >= by + top
        height = by + top
    elif ITEM_SOLID[cell >> 4]:
        resting = True
        height = by + 1.0
    else:
        resting = ITEM_SOLID[id_at(sim, bx, by - 1, bz)] and entity.pos[1] - math.floor(entity.pos[1]) < 0.01
        height = entity.pos[1]
    entity.on_ground = 0
    if resting:
        entity.pos[1] = height
        entity.motion[1] = 0.0
        entity.on_ground = 1
    slip = ITEM_SLIPPERINESS[id_at(sim, bx, by - 1, bz)]
    return np.float64(F32(slip * _AIR_DRAG)) if resting else np.float64(_AIR_DRAG)


@kernel
def _fly(sim, entity):
    """One tick of a live item without collision (RULES 8 steps 1 to 4)."""
    if entity.pickup_delay > 0:
        entity.pickup_delay -= 1
    y0 = entity.pos[1]
    entity.motion[1] -= 0.03999999910593033
    for axis in range(3):
        entity.pos[axis] += entity.motion[axis]
    drag = _settle(sim, entity, y0)
    entity.motion[0] *= drag
    entity.motion[2] *= drag
    entity.motion[1] *= 0.9800000190734863
    if entity.on_ground:
        entity.motion[1] *= -0.5
    entity.age += 1
    if entity.age >= entity.lifespan:
        entity.kind = FREE


@kernel
def _pick_up(sim):
    """Moves items within reach of the player's feet into the inventory, in slot order; what does not fit stays."""
    p, body = sim.player[0], sim.body[0]
    px, py, pz = body.pos[0] + p.ox, body.pos[1], body.pos[2] + p.oz
    for slot in range(ITEM_SLOTS):
        entity = sim.items[slot]
        if entity.kind != LIVE_ITEM or entity.pickup_delay != 0:
            continue
        if abs(entity.pos[0] - px) > 1.0 or abs(entity.pos[2] - pz) > 1.0:
            continue
        if not (py - 0.25 <= entity.pos[1] <= py + 2.8):
            continue
        entity.count = insert(sim.inventory, I64(p.hotbar_sel), I64(entity.item), I64(entity.count), I64(entity.meta))
        if entity.count <= 0:
            entity.kind = FREE


@kernel
def _obstacles(sim, x, y, z, out):
    """Collision boxes of one cell for an item: listed shapes of solid blocks and the vanilla full cubes."""
    cell = cell_at(sim, x, y, z)
    block = cell >> 4
    if not SOLID[block] or ((block == 161 or block == 162) and cell & 2):
        return 0
    n = collision_boxes(sim, x, y, z, out)
    whole = n == 1 and out[0, 0] == 0.0 and out[0, 1] == 0.0 and out[0, 2] == 0.0
    whole = whole and out[0, 3] == 1.0 and out[0, 4] == 1.0 and out[0, 5] == 1.0
    return 0 if whole and not FULL_CUBE[block] else n


@kernel
def _gather(sim, lo, hi, boxes):
    """Collects obstacle boxes of the cells that [lo, hi] covers into `boxes`, world coordinates; returns the count."""
    local = np.empty((MAX_BOXES, 6))
    n = 0
    for x in range(ifloor(lo[0]), ifloor(hi[0] - 1e-9) + 1):
        for y in range(ifloor(lo[1]), ifloor(hi[1] - 1e-9) + 1):
            for z in range(ifloor(lo[2]), ifloor(hi[2] - 1e-9) + 1):
                for row in range(_obstacles(sim, x, y, z, local)):
                    if n == boxes.shape[0]:
                        return n
                    for edge in range(2):
                        boxes[n, 3 * edge] = x + local[row, 3 * edge]
                        boxes[n, 3 * edge + 1] = y + local[row, 3 * edge + 1]
                        boxes[n, 3 * edge + 2] = z + local[row, 3 * edge + 2]
                    n += 1
    return n


@kernel
def _clip(boxes, n, axis, offset, lo, hi):
    """Shortens a move along one axis so that box [lo, hi] touches but never enters a box (RULES 4.2 clip)."""
    u, v = (axis + 1) % 3, (axis + 2) % 3
    for row in range(n):
        box = boxes[row]
        if hi[u] <= box[u] or lo[u] >= box[u + 3] or hi[v] <= box[v] or lo[v] >= box[v + 3]:
            continue
        if offset > 0.0 and hi[axis] <= box[axis]:
            offset = min(offset, box[axis] - hi[axis])
        elif offset < 0.0 and lo[axis] >= box[axis + 3]:
            offset = max(offset, box[axis + 3] - lo[axis])
    return offset


@kernel
def _collide(sim, entity, boxes):
    """Redoes this tick's move of one item against real shapes, from where it was at pass start."""
    lo, hi, reach_lo, reach_hi = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    for axis in range(3):
        half, height = (0.0, _HEIGHT) if axis == 1 else (_HALF_WIDTH, _HALF_WIDTH)
        lo[axis], hi[axis] = entity.before[axis] - half, entity.before[axis] + height
        reach_lo[axis] = min(lo[axis], entity.pos[axis] - half)
        reach_hi[axis] = max(hi[axis], entity.pos[axis] + height)
    n = _gather(sim, reach_lo, reach_hi, boxes)
    for turn in range(3):
        axis = (1, 0, 2)[turn]
        asked = entity.pos[axis] - entity.before[axis]
        moved = _clip(boxes, n, axis, asked, lo, hi)
        lo[axis] += moved
        hi[axis] += moved
        entity.pos[axis] = entity.before[axis] + moved
        if moved != asked:
            entity.motion[axis] = 0.0
            if axis == 1 and asked < 0.0:
                entity.on_ground = 1


@kernel
def item_pass(sim: Sim) -> None:
    """One tick of falling blocks and items: due falls start, all move, the player picks up, items collide.

    RULES 8 do not say whether waiting spawns or due falls take free slots first; here spawns do.
    """
    drain_overflow(sim)
    start_due_falls(sim)
    for slot in range(ITEM_SLOTS):
        entity = sim.items[slot]
        entity.was_active = entity.kind
        if entity.kind == FREE:
            continue
        for axis in range(3):
            entity.before[axis] = entity.pos[axis]
        if entity.kind == FALLING:
            update_falling(sim, entity)
        else:
            _fly(sim, entity)
    _pick_up(sim)
    boxes = np.empty((128, 6))
    for slot in range(ITEM_SLOTS):
        entity = sim.items[slot]
        if entity.kind == LIVE_ITEM and entity.was_active == LIVE_ITEM:
            _collide(sim, entity, boxes)
    sim.player[0].item_tick += 1
