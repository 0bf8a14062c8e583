"""Recipes, tables and furnaces (RULES 10)."""

import numpy as np
import pytest

from core.worlds.voxel.crafting import craft, furnace_ticks, interact, smelt
from core.worlds.voxel.lists import refresh
from core.worlds.voxel.state import Sim
from tests.core.worlds.voxel.arena import block, hold, live_items, look_down, put, run, stone_floor

TABLE_CELL = (24, 5, 26)


def give(sim: Sim, *stacks: tuple[int, int, int]) -> None:
    """Fills the first main slots."""
    for slot, stack in enumerate(stacks):
        sim.inventory[slot] = stack


def held(sim: Sim) -> dict[tuple[int, int], int]:
    """Returns the total of each (item, meta)."""
    totals: dict[tuple[int, int], int] = {}
    for item, count, meta in sim.inventory.tolist():
        if count:
            totals[item, meta] = totals.get((item, meta), 0) + count
    return totals


@pytest.mark.parametrize(
    ("n", "table", "before", "after"),
    [
        (0, False, [(17, 2, 2)], {(17, 2): 1, (5, 2): 4}),
        (1, False, [(5, 3, 1)], {(5, 1): 1, (280, 0): 4}),
        (2, False, [(5, 4, 0)], {(58, 0): 1}),
        (3, True, [(5, 3, 0), (280, 2, 0)], {(270, 0): 1}),
        (4, True, [(4, 4, 0), (280, 3, 0)], {(4, 0): 1, (280, 0): 1, (274, 0): 1}),
        (5, False, [(263, 1, 1), (280, 1, 0)], {(50, 0): 4}),
        (6, True, [(4, 8, 0)], {(61, 0): 1}),
        (7, True, [(265, 3, 0), (280, 2, 0)], {(257, 0): 1}),
    ],
)
def test_recipes(n: int, table: bool, before: list[tuple[int, int, int]], after: dict[tuple[int, int], int]) -> None:
    sim = stone_floor()
    give(sim, *before)
    if table:
        assert not craft(sim, n)
        sim.player[0]["container"] = 1
    assert craft(sim, n)
    assert held(sim) == after


def test_ingredients_must_lie_in_one_stack() -> None:
    sim = stone_floor()
    give(sim, (5, 2, 0), (5, 2, 1))
    assert not craft(sim, 2)
    assert held(sim) == {(5, 0): 2, (5, 1): 2}


def test_without_room_nothing_changes() -> None:
    sim = stone_floor()
    sim.inventory[:] = (1, 64, 0)
    sim.inventory[3] = (17, 2, 0)
    before = sim.inventory.copy()
    assert not craft(sim, 0)
    assert np.array_equal(sim.inventory, before)


@pytest.mark.parametrize("n", [-1, 8, 100])
def test_unknown_recipes_do_nothing(n: int) -> None:
    sim = stone_floor()
    give(sim, (17, 2, 0))
    assert not craft(sim, n)


def open_at(sim: Sim, block_id: int, cell: tuple[int, int, int]) -> None:
    """Puts a block in the world, lists it, and interacts."""
    put(sim, *cell, block_id)
    sim.player[0]["scan_valid"] = 0
    refresh(sim)
    interact(sim)


def test_interact_opens_the_nearest_and_only_within_reach() -> None:
    sim = stone_floor()
    open_at(sim, 58, (24, 5, 32))
    assert sim.player[0]["container"] == 0
    open_at(sim, 58, (24, 5, 28))
    open_at(sim, 58, TABLE_CELL)
    assert sim.player[0]["container"] == 1
    assert tuple(sim.player[0]["container_pos"]) == TABLE_CELL


def test_of_equally_near_blocks_interact_opens_the_first_listed() -> None:
    sim = stone_floor()
    put(sim, *TABLE_CELL, 61)  # its centre is half a block above the feet, the table's half a block below
    open_at(sim, 58, (TABLE_CELL[0], TABLE_CELL[1] - 1, TABLE_CELL[2]))
    assert sim.player[0]["container"] == 1


def test_interact_goes_by_the_last_list_but_checks_the_world() -> None:
    sim = stone_floor()
    put(sim, *TABLE_CELL, 58)
    interact(sim)
    assert sim.player[0]["container"] == 0
    refresh(sim)
    put(sim, *TABLE_CELL, 0)
    interact(sim)
    assert sim.player[0]["container"] == 0


def test_a_table_closes_at_the_tick_after_it_is_gone() -> None:
    sim = stone_floor()
    open_at(sim, 58, TABLE_CELL)
    sim.player[0]["dig_delay"] = 0
    run(sim, 1)
    assert sim.player[0]["container"] == 1
    put(sim, *TABLE_CELL, 0)
    run(sim, 1)
    assert sim.player[0]["container"] == 0


def test_a_furnace_smelts_ten_iron_on_two_coal_and_spills_when_broken() -> None:
    sim = stone_floor()
    open_at(sim, 61, TABLE_CELL)
    assert sim.player[0]["container"] == 2
    give(sim, (15, 10, 0), (263, 2, 0))
    smelt(sim)
    assert held(sim) == {(263, 0): 1}
    furnace_ticks(sim)
    assert block(sim, *TABLE_CELL) == 62
    for _ in range(8 * 200 - 1):
        furnace_ticks(sim)
    assert sim.furnaces[0]["slots"][2].tolist() == [265, 8, 0]
    smelt(sim)
    assert held(sim) == {(265, 0): 8}
    for _ in range(2 * 200):
        furnace_ticks(sim)
    assert sim.furnaces[0]["slots"].tolist() == [[0, 0, 0], [0, 0, 0], [265, 2, 0]]
    assert block(sim, *TABLE_CELL) == 62
    give(sim, (0, 0, 0))
    look_down(sim, 30.0)
    run(sim, 105 + 3, attack=1)
    assert block(sim, *TABLE_CELL) == 0
    assert live_items(sim) == [(265, 2, 0)]
    assert sim.player[0]["container"] == 0
    assert not sim.furnaces["used"].any()


def test_a_cold_furnace_loses_progress() -> None:
    sim = stone_floor()
    open_at(sim, 61, TABLE_CELL)
    give(sim, (15, 1, 0), (280, 1, 0))
    smelt(sim)
    assert held(sim) == {(280, 0): 1}
    furnace = sim.furnaces[0]
    furnace["slots"][1] = (280, 1, 0)
    for _ in range(101):
        furnace_ticks(sim)
    assert furnace["burn"] == 0
    assert furnace["cook"] == 98
    assert block(sim, *TABLE_CELL) == 61


def test_a_dead_player_still_crafts() -> None:
    sim = stone_floor()
    hold(sim, 17, 1)
    sim.player[0]["dead"] = 1
    run(sim, 1, craft=0)
    assert held(sim) == {(5, 0): 4}
    assert sim.player[0]["tick"] == 0
