"""Placing blocks: where, how turned, how often, and what refuses (RULES 9)."""

import numpy as np
import pytest

from core.worlds.voxel.placing import use_swallowed
from core.worlds.voxel.state import Sim
from tests.core.worlds.voxel.arena import block, hold, look_down, put, run, stone_floor

WALL = (24, 6, 27)  # in front of the eye, one cell away
BEFORE_WALL = (24, 6, 26)


def facing_wall(yaw: float = 0.0) -> Sim:
    """Returns a world whose player looks level at a stone block two cells off, south or north."""
    sim = stone_floor()
    z = 27 if yaw == 0.0 else 21
    put(sim, 24, 6, z, 1)
    sim.body[0]["yaw"] = yaw
    return sim


def test_a_block_goes_before_the_struck_face_and_leaves_the_hand() -> None:
    sim = facing_wall()
    hold(sim, 5, 2, meta=3)
    run(sim, 1, use=1)
    assert sim.cells[BEFORE_WALL] == 5 << 4
    assert tuple(sim.inventory[0]) == (5, 1, 3)


def test_held_use_acts_every_fourth_tick_and_a_press_at_once() -> None:
    sim = stone_floor()
    put(sim, 24, 6, 29, 1)
    hold(sim, 4, 64)
    placed = []
    for _ in range(9):
        run(sim, 1, use=1)
        placed.append(64 - int(sim.inventory[0, 1]))
    assert placed == [1, 1, 1, 1, 2, 2, 2, 2, 3]
    run(sim, 1)
    sim = facing_wall()
    hold(sim, 50, 64)
    put(sim, *BEFORE_WALL, 0)
    for expected in (1, 2):
        run(sim, 1, use=1)
        assert 64 - int(sim.inventory[0, 1]) == expected
        put(sim, *BEFORE_WALL, 0)
        run(sim, 1)


def test_the_last_slot_item_leaves_an_empty_slot() -> None:
    sim = facing_wall()
    hold(sim, 4, 1)
    run(sim, 1, use=1)
    assert sim.inventory[0].tolist() == [0, 0, 0]


def test_the_first_cell_after_the_eye_cannot_be_built_on() -> None:
    sim = stone_floor()
    put(sim, 24, 6, 25, 1)
    hold(sim, 4, 1)
    run(sim, 1, use=1)
    assert sim.inventory[0, 1] == 1


def test_a_solid_block_is_refused_inside_the_player_but_a_torch_is_not() -> None:
    sim = stone_floor()
    look_down(sim, 89.0)
    hold(sim, 4, 1)
    run(sim, 1, use=1)
    assert block(sim, 24, 5, 24) == 0
    run(sim, 1)
    hold(sim, 50, 1)
    run(sim, 1, use=1)
    assert sim.cells[24, 5, 24] == 50 << 4 | 5


@pytest.mark.parametrize("cover", [8, 9, 51])
def test_liquid_and_fire_are_built_over(cover: int) -> None:
    sim = facing_wall()
    put(sim, *BEFORE_WALL, cover)
    hold(sim, 4, 1)
    run(sim, 1, use=1)
    assert block(sim, *BEFORE_WALL) == 4


def test_a_clicked_plant_is_not_replaced_itself() -> None:
    sim = facing_wall()
    put(sim, *BEFORE_WALL, 31, 1)
    hold(sim, 4, 1)
    run(sim, 1, use=1)
    assert [block(sim, 24, 6, z) for z in (25, 26)] == [4, 31]


@pytest.mark.parametrize("held", [0, 280, 263, 270])
def test_items_that_are_no_blocks_place_nothing(held: int) -> None:
    sim = facing_wall()
    hold(sim, held, 1)
    run(sim, 1, use=1)
    assert block(sim, *BEFORE_WALL) == 0


@pytest.mark.parametrize(
    ("item", "meta", "yaw", "placed"),
    [
        (61, 0, 0.0, 2), (61, 0, 180.0, 3), (61, 0, -180.0, 3), (54, 0, 0.0, 2), (17, 2, 0.0, 10), (86, 0, 0.0, 2),
        (53, 0, 0.0, 6), (65, 0, 0.0, 2), (65, 0, 180.0, 3), (50, 0, 0.0, 4), (50, 0, 180.0, 3), (12, 1, 0.0, 0),
    ],
)  # fmt: skip
def test_blocks_turn_by_the_yaw_or_the_clicked_face(item: int, meta: int, yaw: float, placed: int) -> None:
    sim = facing_wall(yaw)
    hold(sim, item, 1, meta)
    run(sim, 1, use=1)
    z = 26 if yaw == 0.0 else 22
    assert sim.cells[24, 6, z] == item << 4 | placed


def test_a_torch_finds_another_wall_when_the_clicked_block_is_not_solid() -> None:
    sim = facing_wall()
    put(sim, *WALL, 50, 4)
    put(sim, *WALL, 6)
    hold(sim, 50, 1)
    run(sim, 1, use=1)
    assert sim.inventory[0, 1] == 1
    run(sim, 4)
    put(sim, 25, 6, 26, 1)
    run(sim, 1, use=1)
    assert sim.cells[BEFORE_WALL] == 50 << 4 | 2


def test_use_on_a_table_is_swallowed_and_does_not_arm_the_delay() -> None:
    sim = facing_wall()
    put(sim, *WALL, 58)
    hold(sim, 4, 1)
    assert use_swallowed(sim, np.float32(0), np.float32(0))
    assert not use_swallowed(sim, np.float32(90), np.float32(0))
    run(sim, 1, use=1)
    assert block(sim, *BEFORE_WALL) == 0
    assert sim.player[0]["use_prev"] == 0
    assert sim.player[0]["rc_delay"] == 0


def test_no_placing_while_digging_nor_on_the_tick_of_release() -> None:
    sim = facing_wall()
    hold(sim, 4, 5)
    run(sim, 3, attack=1)
    run(sim, 1, use=1)
    assert sim.inventory[0, 1] == 5
    run(sim, 1, use=1)
    assert sim.inventory[0, 1] == 4
