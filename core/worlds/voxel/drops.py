"""Where items come from: the two drop generators and the spawning of live items (RULES 8)."""

import numpy as np

from core.kernels import kernel
from core.worlds.voxel.numbers import F32, I64
from core.worlds.voxel.state import FREE, ITEM_SLOTS, LIVE_ITEM, OVERFLOW_SLOTS, Sim

_MULTIPLIER, _INCREMENT, _MASK = 0x5DEECE66D, 0xB, (1 << 48) - 1
_M_SALT = 0x9E3779B97F4A
_SCALE_24 = F32(1.0 / (1 << 24))
_SCALE_53 = 1.0 / (1 << 53)
_HALF = F32(0.5)
PICKUP_DELAY, LIFESPAN = 10, 6000


@kernel
def seed_cursors(sim: Sim) -> None:
    """Sets both drop generators from the world seed, as at every start, restored or not."""
    p = sim.player[0]
    p.rng_w = (p.seed ^ _MULTIPLIER) & _MASK
    p.rng_m = (p.seed ^ _M_SALT ^ _MULTIPLIER) & _MASK


@kernel
def next_w(sim: Sim, bits: int) -> int:
    """Draws `bits` bits from cursor W."""
    p = sim.player[0]
    state = (I64(p.rng_w) * _MULTIPLIER + _INCREMENT) & _MASK
    p.rng_w = state
    return state >> (48 - bits)


@kernel
def next_m(sim: Sim, bits: int) -> int:
    """Draws `bits` bits from cursor M."""
    p = sim.player[0]
    state = (I64(p.rng_m) * _MULTIPLIER + _INCREMENT) & _MASK
    p.rng_m = state
    return state >> (48 - bits)


@kernel
def _float_w(sim):
    """The next float32 in [0, 1) of cursor W."""
    return F32(F32(next_w(sim, 24)) * _SCALE_24)


@kernel
def _double_m(sim):
    """The next float64 in [0, 1) of cursor M."""
    high = next_m(sim, 26)
    return ((high << 27) + next_m(sim, 27)) * _SCALE_53


@kernel
def free_slot(sim: Sim) -> int:
    """Returns the lowest free slot of items and falling blocks, or -1."""
    for slot in range(ITEM_SLOTS):
        if sim.items[slot].kind == FREE:
            return slot
    return -1


@kernel
def _fill(entity, x, y, z, item, count, meta):
    """Makes a motionless new item of a slot."""
    entity.kind = LIVE_ITEM
    entity.pos[0], entity.pos[1], entity.pos[2] = x, y, z
    entity.motion[0], entity.motion[1], entity.motion[2] = 0.0, 0.0, 0.0
    entity.before[0], entity.before[1], entity.before[2] = x, y, z
    entity.item, entity.count, entity.meta = item, count, meta
    entity.age, entity.pickup_delay, entity.lifespan = 0, PICKUP_DELAY, LIFESPAN
    entity.on_ground, entity.was_active = 0, 0
    entity.cell[0], entity.cell[1], entity.cell[2] = 0, 0, 0


@kernel
def _scatter(sim, base):
    """One coordinate of a block drop: a quarter to three quarters into the cell."""
    return (base + np.float64(F32(_float_w(sim) * _HALF))) + 0.25


@kernel
def _toss(sim):
    """One horizontal motion component of a block drop."""
    return np.float64(F32(_double_m(sim) * 0.20000000298023224 - 0.10000000149011612))


@kernel
def drop_block_item(sim: Sim, x: int, y: int, z: int, item: int, meta: int) -> None:
    """Drops one item from a broken block at world cell (x, y, z). Without a free slot it vanishes, its draws made."""
    _float_w(sim)
    px, py, pz = _scatter(sim, x), _scatter(sim, y), _scatter(sim, z)
    _double_m(sim)
    _double_m(sim)
    mx, mz = _toss(sim), _toss(sim)
    slot = free_slot(sim)
    if slot < 0:
        return
    entity = sim.items[slot]
    _fill(entity, px, py, pz, item, 1, meta)
    entity.motion[0], entity.motion[1], entity.motion[2] = mx, 0.20000000298023224, mz


@kernel
def spawn_still_item(sim: Sim, x: int, y: int, z: int, item: int, count: int, meta: int) -> None:
    """Spawns a plant's or furnace's item at the centre of a cell, no generator involved; it queues without a slot."""
    slot = free_slot(sim)
    if slot >= 0:
        _fill(sim.items[slot], x + 0.5, y + 0.5, z + 0.5, item, count, meta)
        return
    for waiting in range(OVERFLOW_SLOTS):
        if sim.overflow[waiting].kind == FREE:
            _fill(sim.overflow[waiting], x + 0.5, y + 0.5, z + 0.5, item, count, meta)
            return


@kernel
def drain_overflow(sim: Sim) -> None:
    """Moves waiting spawns, oldest first, into free slots."""
    while sim.overflow[0].kind != FREE:
        slot = free_slot(sim)
        if slot < 0:
            return
        sim.items[slot] = sim.overflow[0]
        for waiting in range(1, OVERFLOW_SLOTS):
            sim.overflow[waiting - 1] = sim.overflow[waiting]
        sim.overflow[OVERFLOW_SLOTS - 1].kind = FREE
