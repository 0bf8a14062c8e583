"""Breaking blocks: the attack state machine, its speed, what a break costs and drops (RULES 7.2 to 7.5)."""

import numpy as np

from core.kernels import kernel
from core.worlds.voxel.blocks import COAL_ORE, COBBLE, DIRT, GRASS, GRAVEL, HARDNESS, IDS, LOG, SAND, STONE, WATER
from core.worlds.voxel.edits import queue_edit
from core.worlds.voxel.grid import cell_at, id_at
from core.worlds.voxel.inventory import ITEM_IDS, MAX_DAMAGE, take
from core.worlds.voxel.numbers import F32, I64, ifloor
from core.worlds.voxel.ray import MISS, cast_from_player, eye_height
from core.worlds.voxel.state import NO_TARGET, Sim

_ZERO, _ONE, _FIVE = F32(0.0), F32(1.0), F32(5.0)
_BY_HAND, _WITHOUT_TOOL = F32(30.0), F32(100.0)
_BREAK_EXHAUSTION, _MOST_EXHAUSTION = F32(0.005), F32(40.0)
_DELAY_AFTER_BREAK = 5

#: Pickaxes: item -> speed on the blocks they suit, and level (0 none, 1 wood and gold, 2 stone, 3 iron, 4 diamond).
#: Shovels and axes dig at hand speed here: RULES 7.3 give no figures for them and no recipe makes them.
_PICK_SPEED = np.ones(ITEM_IDS, np.float32)
_PICK_LEVEL = np.zeros(ITEM_IDS, np.int64)
for _item, _speed, _level in ((270, 2, 1), (274, 4, 2), (257, 6, 3), (278, 8, 4), (285, 12, 1)):
    _PICK_SPEED[_item], _PICK_LEVEL[_item] = _speed, _level

#: Blocks a pickaxe speeds up, and the level each block needs to yield anything (0: hands do).
_PICK_SUITS = np.zeros(IDS, np.bool_)
_PICK_SUITS[[STONE, COBBLE, 14, 15, COAL_ORE, 21, 56]] = True
_NEEDED_LEVEL = np.zeros(IDS, np.int64)
for _ids, _level in (((STONE, COBBLE, COAL_ORE), 1), ((15, 21), 2), ((14, 56, 73, 74), 3), ((49,), 4)):
    _NEEDED_LEVEL[list(_ids)] = _level

#: Blocks that drop one item: block -> item, and the bits of the block's meta the item keeps.
_DROP = np.zeros(IDS, np.int64)
_DROP_META = np.zeros(IDS, np.int64)
for _block, _item, _bits in (
    (GRASS, DIRT, 0), (DIRT, DIRT, 3), (SAND, SAND, 1), (GRAVEL, GRAVEL, 0), (14, 14, 0), (15, 15, 0),
    (COBBLE, COBBLE, 0), (49, 49, 0), (54, 54, 0), (COAL_ORE, 263, 0), (LOG, LOG, 3), (56, 264, 0), (117, 379, 0),
    (132, 287, 0),
):  # fmt: skip
    _DROP[_block], _DROP_META[_block] = _item, _bits
_FLINT = 318


@kernel
def _held(sim):
    """The item id in hand as an index of the tool tables; empty or beyond them is 0."""
    slot = sim.inventory[sim.player[0].hotbar_sel]
    return I64(slot[0]) if slot[1] > 0 and 0 <= slot[0] < ITEM_IDS else 0


@kernel
def harvestable(block: int, held: int) -> bool:
    """Returns whether breaking a block with item `held` (0 for none) yields its drop."""
    return _PICK_LEVEL[held] >= _NEEDED_LEVEL[block]


@kernel
def dig_rate(sim: Sim, block: int) -> np.float32:
    """Returns the float32 progress one tick of digging adds on a block (RULES 7.3); 1 breaks it."""
    body = sim.body[0]
    held = _held(sim)
    speed = _PICK_SPEED[held] if _PICK_SUITS[block] else _ONE
    eye_y = body.pos[1] + eye_height(sim.player[0].prev_sneak)
    x, z = ifloor(body.pos[0]) + sim.player[0].ox, ifloor(body.pos[2]) + sim.player[0].oz
    if WATER[id_at(sim, x, ifloor(eye_y), z)]:
        speed = F32(speed / _FIVE)
    if not body.on_ground:
        speed = F32(speed / _FIVE)
    divisor = _BY_HAND if harvestable(block, held) else _WITHOUT_TOOL
    return F32(F32(speed / HARDNESS[block]) / divisor)


@kernel
def _gravel_drop(x, y, z):
    """Flint or gravel, by a hash of the world cell (RULES 7.5)."""
    word = I64(0xFFFFFFFF)
    h = ((x * 73428767) ^ (y * 912931) ^ (z * 19349663)) & word
    h ^= h >> 13
    h = (h * 0x85EBCA6B) & word
    h ^= h >> 16
    return _FLINT if h % 10 == 0 else GRAVEL


@kernel
def _drop_of(x, y, z, cell):
    """The item id and meta a harvested block drops; id 0 for nothing, which is most blocks."""
    block, meta = cell >> 4, cell & 15
    if block == STONE:
        return (STONE, meta) if 1 <= meta <= 6 else (COBBLE, 0)
    if block == GRAVEL:
        return _gravel_drop(x, y, z), 0
    return _DROP[block], meta & _DROP_META[block]


@kernel
def _wear_tool(sim, held):
    """Adds one damage to the tool in hand; beyond its last use the whole stack is gone."""
    slot = I64(sim.player[0].hotbar_sel)
    sim.inventory[slot, 2] += 1
    if sim.inventory[slot, 2] > MAX_DAMAGE[held]:
        take(sim.inventory, slot, I64(sim.inventory[slot, 1]))


@kernel
def _destroy(sim, x, y, z):
    """Breaks a world cell at once in the window and queues the edit with its drop (RULES 7.4)."""
    p = sim.player[0]
    cell, held = cell_at(sim, x, y, z), _held(sim)
    block = cell >> 4
    item, meta = 0, 0
    if harvestable(block, held):
        item, meta = _drop_of(x, y, z, cell)
        p.exhaustion = min(F32(p.exhaustion + _BREAK_EXHAUSTION), _MOST_EXHAUSTION)
    if MAX_DAMAGE[held] > 0 and HARDNESS[block] != _ZERO:
        _wear_tool(sim, held)
    queue_edit(sim, x, y, z, 0, item, meta)


@kernel
def _forget_target(sim):
    """Stops digging; the delay after a break runs on."""
    p = sim.player[0]
    p.dig_hitting = 0
    p.dig_target[0], p.dig_target[1], p.dig_target[2] = NO_TARGET, 0, 0
    p.dig_progress = _ZERO


@kernel
def _acquire(sim, lx, y, lz):
    """Starts digging a cell, given in window coordinates like the stored target, which never shifts (RULES 7.2)."""
    p = sim.player[0]
    p.dig_hitting = 1
    p.dig_target[0], p.dig_target[1], p.dig_target[2] = lx, y, lz
    p.dig_progress = _ZERO


@kernel
def _hit_block(sim, pressed, hit):
    """One tick of attack on the cell of `hit`; returns whether it was newly acquired by a press."""
    p = sim.player[0]
    x, y, z = hit[1], hit[2], hit[3]
    lx, lz = x - p.ox, z - p.oz
    rate = dig_rate(sim, id_at(sim, x, y, z))
    same = p.dig_target[0] == lx and p.dig_target[1] == y and p.dig_target[2] == lz
    acquired = False
    if pressed and not (p.dig_hitting and same):
        if rate >= _ONE:
            _destroy(sim, x, y, z)
            return False
        _acquire(sim, lx, y, lz)
        acquired, same = True, True
    if p.dig_delay > 0:
        p.dig_delay -= 1
    elif same:
        p.dig_progress = F32(p.dig_progress + rate)
        if p.dig_progress >= _ONE:
            p.dig_hitting = 0
            _destroy(sim, x, y, z)
            p.dig_progress = _ZERO
            p.dig_delay = _DELAY_AFTER_BREAK
    elif rate >= _ONE:
        _destroy(sim, x, y, z)
    else:
        _acquire(sim, lx, y, lz)
    return acquired


@kernel
def dig(sim: Sim, attack: bool, attack_blocked: bool) -> bool:
    """One tick of the attack button (RULES 1.3 step 5), before the move, along the new look.

    Args:
        sim: the world; body 0 still has last tick's position and ground flag, `prev_sneak` is this tick's.
        attack: whether the button is held.
        attack_blocked: whether a falling block is in the way (`falling.falling_block_in_way`).

    Returns:
        Whether digging keeps `use` from acting this tick: it was going on at entry or a press began it.
    """
    p = sim.player[0]
    gate = p.dig_hitting != 0
    hit = np.empty(5, np.int64)
    hit[0] = MISS
    if attack and not attack_blocked:
        cast_from_player(sim, sim.body[0].yaw, sim.body[0].pitch, hit)
    if hit[0] == MISS or HARDNESS[id_at(sim, hit[1], hit[2], hit[3])] < _ZERO:
        _forget_target(sim)
    elif _hit_block(sim, not p.atk_prev, hit):
        gate = True
    p.atk_prev = attack
    return gate
