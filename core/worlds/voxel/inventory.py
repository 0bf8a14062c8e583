"""The 36 main slots and the offhand: inserting, finding and taking stacks (RULES 8.1).

A stack is a row (item, count, meta) of int32; an empty slot is three zeros. Functions take the inventory array and not
the world, so that crafting can try a change on a copy.
"""

import numpy as np
import numpy.typing as npt

from core.kernels import kernel

MAIN_SLOTS = 36
OFFHAND = 36
FULL_STACK = 64
ITEM_IDS = 512  #: table size; ids beyond it stack like blocks

#: Mining tools, whose use wears them: item -> highest damage they survive (RULES 7.4), by material.
MAX_DAMAGE = np.zeros(ITEM_IDS, np.int64)
for _uses, _tools in (
    (59, (269, 270, 271)),
    (131, (273, 274, 275)),
    (250, (256, 257, 258)),
    (1561, (277, 278, 279)),
    (32, (284, 285, 286)),
):
    MAX_DAMAGE[list(_tools)] = _uses

_SINGLE = MAX_DAMAGE > 0
for _ids in (
    (259, 261, 267, 268, 272, 276, 283),  # flint and steel, bow, swords
    tuple(range(290, 295)),  # hoes
    tuple(range(298, 318)),  # armour
    (346, 359, 398, 442, 443),  # rod, shears, carrot on a stick, shield, elytra
):
    _SINGLE[list(_ids)] = True


@kernel
def max_stack(item: int) -> int:
    """Returns how many of an item fit in one slot."""
    return 1 if 0 <= item < ITEM_IDS and _SINGLE[item] else FULL_STACK


@kernel
def _mergeable(inventory, slot, item, meta):
    """Whether one more of an item fits on a stack."""
    same = inventory[slot, 0] == item and inventory[slot, 2] == meta
    return same and 0 < inventory[slot, 1] < max_stack(item)


@kernel
def _first_empty(inventory):
    """The first empty main slot, or -1."""
    for slot in range(MAIN_SLOTS):
        if inventory[slot, 1] <= 0:
            return slot
    return -1


@kernel
def _target_slot(inventory, selected, item, meta):
    """Where an insert puts the next items: a stack in hand, in the offhand, in the main slots, else an empty slot."""
    if _mergeable(inventory, selected, item, meta):
        return selected
    if _mergeable(inventory, OFFHAND, item, meta):
        return OFFHAND
    for slot in range(MAIN_SLOTS):
        if _mergeable(inventory, slot, item, meta):
            return slot
    return _first_empty(inventory)


@kernel
def insert(inventory: npt.NDArray[np.int32], selected: int, item: int, count: int, meta: int) -> int:
    """Inserts a stack (RULES 8.1).

    Args:
        inventory: int32 [37, 3], changed in place.
        selected: the hotbar slot in hand, tried first.
        item: item id.
        count: how many.
        meta: variant, or damage of a tool.

    Returns:
        How many did not fit.
    """
    damaged = meta > 0 and 0 <= item < ITEM_IDS and _SINGLE[item]
    while count > 0:
        slot = _first_empty(inventory) if damaged else _target_slot(inventory, selected, item, meta)
        if slot < 0:
            break
        held = max(0, inventory[slot, 1])
        moved = min(count, max_stack(item) - held)
        inventory[slot, 0], inventory[slot, 1], inventory[slot, 2] = item, held + moved, meta
        count -= moved
    return count


@kernel
def find(inventory: npt.NDArray[np.int32], item: int, needed: int) -> int:
    """Returns the first main slot that holds at least `needed` of an item, or -1."""
    for slot in range(MAIN_SLOTS):
        if inventory[slot, 0] == item and inventory[slot, 1] >= needed:
            return slot
    return -1


@kernel
def take(inventory: npt.NDArray[np.int32], slot: int, count: int) -> None:
    """Removes `count` from a slot, which becomes three zeros when it runs out."""
    inventory[slot, 1] -= count
    if inventory[slot, 1] <= 0:
        inventory[slot, 0], inventory[slot, 1], inventory[slot, 2] = 0, 0, 0
