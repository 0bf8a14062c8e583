"""Inserting stacks: which slot, how much fits (RULES 8.1)."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from core.worlds.voxel.inventory import find, insert, take

ITEMS = (3, 4, 17, 270, 280)


def empty() -> np.ndarray:
    return np.zeros((37, 3), np.int32)


def test_the_stack_in_hand_comes_before_the_offhand_and_the_first_slot() -> None:
    inventory = empty()
    inventory[0], inventory[4], inventory[36] = (3, 10, 0), (3, 63, 0), (3, 62, 0)
    assert insert(inventory, 4, 3, 5, 0) == 0
    assert inventory[4, 1] == 64
    assert inventory[36, 1] == 64
    assert inventory[0, 1] == 12


def test_a_variant_needs_its_own_slot() -> None:
    inventory = empty()
    inventory[0] = (17, 5, 0)
    assert insert(inventory, 0, 17, 1, 2) == 0
    assert inventory[:2].tolist() == [[17, 5, 0], [17, 1, 2]]


def test_tools_do_not_stack_and_a_damaged_one_takes_an_empty_slot() -> None:
    inventory = empty()
    assert insert(inventory, 0, 270, 1, 0) == 0
    assert insert(inventory, 0, 270, 1, 0) == 0
    assert insert(inventory, 0, 270, 1, 7) == 0
    assert inventory[:3].tolist() == [[270, 1, 0], [270, 1, 0], [270, 1, 7]]
    inventory[:] = (1, 64, 0)
    assert insert(inventory, 0, 270, 1, 7) == 1


def test_find_wants_enough_in_one_stack() -> None:
    inventory = empty()
    inventory[2], inventory[5] = (5, 2, 0), (5, 4, 0)
    assert find(inventory, 5, 1) == 2
    assert find(inventory, 5, 3) == 5
    assert find(inventory, 5, 5) == -1
    take(inventory, 2, 2)
    assert inventory[2].tolist() == [0, 0, 0]


@given(
    st.lists(st.tuples(st.sampled_from(ITEMS), st.integers(1, 64), st.integers(0, 3)), max_size=60), st.integers(0, 8)
)
def test_inserting_conserves_items_and_never_overfills(stacks: list[tuple[int, int, int]], selected: int) -> None:
    inventory = empty()
    given_total = dict.fromkeys(ITEMS, 0)
    for item, count, meta in stacks:
        given_total[item] += count - insert(inventory, selected, item, count, meta)
    for item in ITEMS:
        rows = inventory[inventory[:, 0] == item]
        assert rows[:, 1].sum() == given_total[item]
        assert (rows[:, 1] <= (1 if item == 270 else 64)).all()
    assert (inventory[inventory[:, 1] == 0] == 0).all()
    assert (inventory[:, 1] >= 0).all()
