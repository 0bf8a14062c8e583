"""The primitives of RULES 10: crafting by recipe number, opening a table or furnace, smelting."""

import numpy as np

from core.kernels import kernel
from core.worlds.voxel.blocks import COBBLE, FURNACE, LIT_FURNACE, LOG, PLANKS, TABLE, TORCH
from core.worlds.voxel.drops import spawn_still_item
from core.worlds.voxel.grid import cell_at, id_at, put_cell
from core.worlds.voxel.inventory import FULL_STACK, find, insert, take
from core.worlds.voxel.lists import comes_before
from core.worlds.voxel.numbers import F32, I64
from core.worlds.voxel.state import FURNACE_SLOTS, Sim

NO_CONTAINER, OPEN_TABLE, OPEN_FURNACE = 0, 1, 2
_INPUT, _FUEL, _OUTPUT = 0, 1, 2  # rows of a furnace record's slots
_STICK, _COAL, _IRON_ORE, _GOLD_ORE, _IRON, _GOLD = 280, 263, 15, 14, 265, 266
_REACH_SQUARED = 36.0
_EYE = F32(1.62)
_SNEAK_EYE = F32(_EYE - F32(0.08))

#: Recipe n: first ingredient and count, second ingredient and count (0: none), result and count, needs a table.
_RECIPES = np.array(
    [
        (LOG, 1, 0, 0, PLANKS, 4, 0),
        (PLANKS, 2, 0, 0, _STICK, 4, 0),
        (PLANKS, 4, 0, 0, TABLE, 1, 0),
        (PLANKS, 3, _STICK, 2, 270, 1, 1),
        (COBBLE, 3, _STICK, 2, 274, 1, 1),
        (_COAL, 1, _STICK, 1, TORCH, 4, 0),
        (COBBLE, 8, 0, 0, FURNACE, 1, 1),
        (_IRON, 3, _STICK, 2, 257, 1, 1),
    ],
    np.int64,
)


@kernel
def _copy_stacks(source, target):
    """Copies every stack; a slice assignment would take the compiler seconds."""
    for slot in range(source.shape[0]):
        for part in range(3):
            target[slot, part] = source[slot, part]


@kernel
def craft(sim: Sim, n: int) -> bool:
    """Crafts recipe n once (0 planks .. 7 iron pickaxe); anything missing, or no room, changes nothing.

    Each ingredient must lie in one stack, the first main slot that holds enough. A dead player crafts too.

    Returns:
        Whether it was crafted.
    """
    p = sim.player[0]
    if not 0 <= n < _RECIPES.shape[0] or (_RECIPES[n, 6] and p.container != OPEN_TABLE):
        return False
    trial = np.empty((sim.inventory.shape[0], 3), np.int32)
    _copy_stacks(sim.inventory, trial)
    meta = 0
    for part in range(2):
        item, count = _RECIPES[n, 2 * part], _RECIPES[n, 2 * part + 1]
        if count == 0:
            continue
        slot = find(trial, item, count)
        if slot < 0:
            return False
        if item == LOG:
            meta = I64(trial[slot, 2]) & 3
        take(trial, slot, count)
    if insert(trial, I64(p.hotbar_sel), _RECIPES[n, 4], _RECIPES[n, 5], meta) > 0:
        return False
    _copy_stacks(trial, sim.inventory)
    return True


@kernel
def _eye_distance_squared(sim, x, y, z):
    """From the centre of a world cell to the player's eye, float32 coordinates summed in float64 (RULES 1.1b)."""
    p, pos = sim.player[0], sim.body[0].pos
    eye = F32(F32(pos[1]) + (_SNEAK_EYE if p.prev_sneak else _EYE))
    dx = (x + 0.5) - np.float64(F32(pos[0] + p.ox))
    dy = (y + 0.5) - np.float64(eye)
    dz = (z + 0.5) - np.float64(F32(pos[2] + p.oz))
    return dx * dx + dy * dy + dz * dz


@kernel
def _opens(block):
    """Which container a block opens as."""
    if block == TABLE:
        return OPEN_TABLE
    return OPEN_FURNACE if block in (FURNACE, LIT_FURNACE) else NO_CONTAINER


@kernel
def check_container(sim: Sim) -> None:
    """Closes the open container when its block is gone or out of reach (RULES 1.1b)."""
    p = sim.player[0]
    if p.container == NO_CONTAINER:
        return
    x, y, z = I64(p.container_pos[0]), I64(p.container_pos[1]), I64(p.container_pos[2])
    if _opens(id_at(sim, x, y, z)) != p.container or not _eye_distance_squared(sim, x, y, z) <= _REACH_SQUARED:
        p.container = NO_CONTAINER


@kernel
def interact(sim: Sim) -> None:
    """Opens the nearest table or furnace of the last emitted lists, if it still stands within reach (RULES 10).

    RULES name no order among equally near ones; here it is the one they were emitted in.
    """
    p = sim.player[0]
    best = -1
    for row in range(p.scan_count):
        entry = sim.scan[row]
        opens = entry.d2 < _REACH_SQUARED and _opens(I64(entry.id)) != NO_CONTAINER
        if opens and (best < 0 or comes_before(sim.scan, row, best)):
            best = row
    if best < 0:
        return
    x, y, z = I64(sim.scan[best].x), I64(sim.scan[best].y), I64(sim.scan[best].z)
    kind = _opens(id_at(sim, x, y, z))
    if kind == NO_CONTAINER or not _eye_distance_squared(sim, x, y, z) <= _REACH_SQUARED:
        return
    if kind == OPEN_FURNACE and _furnace_at(sim, x, y, z) < 0:
        _register_furnace(sim, x, y, z)
    p.container = kind
    p.container_pos[0], p.container_pos[1], p.container_pos[2] = x, y, z


@kernel
def _furnace_at(sim, x, y, z):
    """The record of the furnace at a world cell, or -1."""
    for index in range(FURNACE_SLOTS):
        furnace = sim.furnaces[index]
        if furnace.used and furnace.cell[0] == x and furnace.cell[1] == y and furnace.cell[2] == z:
            return index
    return -1


@kernel
def _register_furnace(sim, x, y, z):
    """Gives a furnace opened for the first time an empty record; a seventeenth gets none and never smelts."""
    for index in range(FURNACE_SLOTS):
        furnace = sim.furnaces[index]
        if not furnace.used:
            furnace.used, furnace.burn, furnace.cook = 1, 0, 0
            furnace.cell[0], furnace.cell[1], furnace.cell[2] = x, y, z
            for part in range(3):
                _keep(furnace.slots, part, 0)
            return


@kernel
def smelt(sim: Sim) -> None:
    """Serves the open furnace: output out, first iron ore stack in, one coal if it has no fuel (RULES 10)."""
    p = sim.player[0]
    if p.container != OPEN_FURNACE:
        return
    index = _furnace_at(sim, I64(p.container_pos[0]), I64(p.container_pos[1]), I64(p.container_pos[2]))
    if index < 0:
        return
    slots = sim.furnaces[index].slots
    item, count, meta = I64(slots[_OUTPUT, 0]), I64(slots[_OUTPUT, 1]), I64(slots[_OUTPUT, 2])
    if count > 0:
        _keep(slots, _OUTPUT, insert(sim.inventory, I64(p.hotbar_sel), item, count, meta))
    _load(sim, slots, _INPUT, find(sim.inventory, _IRON_ORE, 1), FULL_STACK)
    if slots[_FUEL, 1] == 0:
        _load(sim, slots, _FUEL, find(sim.inventory, _COAL, 1), 1)


@kernel
def _keep(slots, part, count):
    """Leaves `count` items in a furnace slot, three zeros if none."""
    slots[part, 1] = count
    if count == 0:
        slots[part, 0], slots[part, 2] = 0, 0


@kernel
def _load(sim, slots, part, source, most):
    """Moves up to `most` items of inventory slot `source` (-1: none) into a furnace slot that is empty or the same."""
    if source < 0:
        return
    stack = sim.inventory[source]
    if slots[part, 1] > 0 and (slots[part, 0] != stack[0] or slots[part, 2] != stack[2]):
        return
    moved = min(I64(stack[1]), most, FULL_STACK - I64(slots[part, 1]))
    slots[part, 0], slots[part, 2] = stack[0], stack[2]
    slots[part, 1] += moved
    take(sim.inventory, source, moved)


@kernel
def _smelts_to(item):
    """What an input becomes, 0 for nothing."""
    if item == _IRON_ORE:
        return _IRON
    return _GOLD if item == _GOLD_ORE else 0


@kernel
def _can_smelt(slots):
    """Whether the input smelts to something the output slot has room for."""
    result = _smelts_to(I64(slots[_INPUT, 0])) if slots[_INPUT, 1] > 0 else 0
    return result != 0 and (slots[_OUTPUT, 1] == 0 or (slots[_OUTPUT, 0] == result and slots[_OUTPUT, 1] < FULL_STACK))


@kernel
def _fuel_ticks(item):
    """How long one item burns, in ticks."""
    if item == _COAL:
        return 1600
    if item == _STICK:
        return 100
    return 300 if item in (LOG, PLANKS) else 0


@kernel
def _burn_and_cook(furnace):
    """One tick of fuel and progress of a furnace record."""
    slots = furnace.slots
    if furnace.burn > 0:
        furnace.burn -= 1
    if furnace.burn > 0 or (slots[_FUEL, 1] > 0 and slots[_INPUT, 1] > 0):
        if furnace.burn == 0 and _can_smelt(slots):
            furnace.burn = _fuel_ticks(slots[_FUEL, 0])
            if furnace.burn > 0:
                _keep(slots, _FUEL, I64(slots[_FUEL, 1]) - 1)
        if furnace.burn > 0 and _can_smelt(slots):
            furnace.cook += 1
            if furnace.cook == 200:
                furnace.cook = 0
                slots[_OUTPUT, 0] = _smelts_to(I64(slots[_INPUT, 0]))
                slots[_OUTPUT, 1] += 1
                _keep(slots, _INPUT, I64(slots[_INPUT, 1]) - 1)
        else:
            furnace.cook = 0
    elif furnace.cook > 0:
        furnace.cook = max(0, furnace.cook - 2)


@kernel
def furnace_ticks(sim: Sim) -> None:
    """One tick of every known furnace, open or not; the block shows whether it burns (RULES 10)."""
    for index in range(FURNACE_SLOTS):
        furnace = sim.furnaces[index]
        if not furnace.used:
            continue
        was_lit = furnace.burn > 0
        _burn_and_cook(furnace)
        lit = furnace.burn > 0
        if lit != was_lit:
            x, y, z = I64(furnace.cell[0]), I64(furnace.cell[1]), I64(furnace.cell[2])
            block = LIT_FURNACE if lit else FURNACE
            put_cell(sim, x, y, z, block << 4 | cell_at(sim, x, y, z) & 15)


@kernel
def break_furnace(sim: Sim, x: int, y: int, z: int) -> None:
    """Spills a broken furnace's stacks at its centre, forgets it, and closes it if it was open."""
    index = _furnace_at(sim, x, y, z)
    if index >= 0:
        slots = sim.furnaces[index].slots
        for part in range(3):
            if slots[part, 1] > 0:
                spawn_still_item(sim, x, y, z, I64(slots[part, 0]), I64(slots[part, 1]), I64(slots[part, 2]))
        sim.furnaces[index].used = 0
    p = sim.player[0]
    at_it = p.container_pos[0] == x and p.container_pos[1] == y and p.container_pos[2] == z
    if p.container == OPEN_FURNACE and at_it:
        p.container = NO_CONTAINER
