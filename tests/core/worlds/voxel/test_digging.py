"""Digging: ticks a block takes, drops, wear, and the attack state machine (RULES 7)."""

import numpy as np
import pytest

from core.worlds.voxel.digging import dig
from core.worlds.voxel.falling import falling_block_in_way
from core.worlds.voxel.ray import FAR, MISS, NEAR, cast_from_player
from core.worlds.voxel.state import NO_TARGET
from tests.core.worlds.voxel.arena import ORIGIN, block, hold, live_items, look_down, put, run, stone_floor

AIM = (24, 4, 25)  # the cell `look_down` looks at


def ticks_to_break(target: int, tool: int) -> int:
    """Digs `target` with `tool` in hand, standing dry on the ground; returns the ticks including the press."""
    sim = stone_floor()
    put(sim, *AIM, target)
    if tool:
        hold(sim, tool)
    look_down(sim)
    for tick in range(1, 400):
        run(sim, 1, attack=1)
        if block(sim, *AIM) != target:
            return tick
    raise AssertionError("never broke")


@pytest.mark.parametrize(
    ("target", "tool", "ticks"),
    [
        (3, 0, 15), (2, 0, 18), (18, 0, 6), (17, 0, 61), (5, 0, 61), (58, 0, 76), (61, 0, 105), (1, 0, 151),
        (16, 0, 301), (1, 270, 23), (16, 270, 45), (1, 274, 12), (16, 274, 23), (15, 274, 23),
    ],
)  # fmt: skip
def test_dry_digging_takes_the_ticks_rules_list(target: int, tool: int, ticks: int) -> None:
    assert ticks_to_break(target, tool) == ticks


def test_digging_in_the_air_takes_five_times_as_long() -> None:
    sim = stone_floor()
    put(sim, *AIM, 2)
    look_down(sim)
    rate, progress, ticks = np.float32(np.float32(np.float32(0.2) / np.float32(0.6)) / np.float32(30)), np.float32(0), 0
    while progress < 1:
        progress, ticks = np.float32(progress + rate), ticks + 1
    for _ in range(ticks - 1):
        sim.body[0]["on_ground"] = 0
        dig(sim, True, False)
    assert block(sim, *AIM) == 2
    dig(sim, True, False)
    assert block(sim, *AIM) == 0
    assert ticks in range(89, 92)


@pytest.mark.parametrize(
    ("target", "tool", "drop"),
    [
        ((2, 0), 0, (3, 1, 0)), ((3, 1), 0, (3, 1, 1)), ((12, 1), 0, (12, 1, 1)), ((17, 6), 0, (17, 1, 2)),
        ((1, 3), 270, (1, 1, 3)), ((1, 0), 270, (4, 1, 0)), ((16, 0), 270, (263, 1, 0)), ((15, 0), 274, (15, 1, 0)),
        ((1, 0), 0, None), ((16, 0), 0, None), ((15, 0), 270, None), ((5, 0), 0, None), ((58, 0), 0, None),
        ((18, 0), 0, None), ((162, 0), 0, None),
    ],
)  # fmt: skip
def test_a_break_drops_what_the_table_says(
    target: tuple[int, int], tool: int, drop: tuple[int, int, int] | None
) -> None:
    sim = stone_floor()
    put(sim, *AIM, *target)
    if tool:
        hold(sim, tool)
    look_down(sim)
    for _ in range(320):
        run(sim, 1, attack=1)
        if block(sim, *AIM) == 0:
            break
    assert block(sim, *AIM) == 0
    assert live_items(sim) == ([drop] if drop else [])


def test_five_held_ticks_pass_after_a_break_and_the_next_only_acquires() -> None:
    sim = stone_floor()
    put(sim, *AIM, 3)
    put(sim, 24, 3, 25, 3)
    look_down(sim)
    run(sim, 15, attack=1)
    assert block(sim, *AIM) == 0
    assert sim.player[0]["dig_delay"] == 5
    run(sim, 5, attack=1)
    assert sim.player[0]["dig_delay"] == 0
    assert sim.player[0]["dig_progress"] == 0
    run(sim, 1, attack=1)
    assert sim.player[0]["dig_hitting"] == 1
    assert sim.player[0]["dig_progress"] == 0
    run(sim, 1, attack=1)
    assert sim.player[0]["dig_progress"] > 0


def test_an_instant_break_arms_no_delay() -> None:
    sim = stone_floor()
    put(sim, 24, 5, 25, 31, 1)
    look_down(sim, 55.0)
    run(sim, 1, attack=1)
    assert block(sim, 24, 5, 25) == 0
    assert sim.player[0]["dig_delay"] == 0
    assert live_items(sim) == []


def test_releasing_forgets_progress_and_target() -> None:
    sim = stone_floor()
    look_down(sim)
    run(sim, 5, attack=1)
    assert tuple(sim.player[0]["dig_target"]) == (AIM[0] - ORIGIN, AIM[1], AIM[2] - ORIGIN)
    run(sim, 1)
    player = sim.player[0]
    assert player["dig_progress"] == 0
    assert player["dig_hitting"] == 0
    assert tuple(player["dig_target"]) == (NO_TARGET, 0, 0)


def test_a_pickaxe_wears_out_on_its_sixtieth_block() -> None:
    sim = stone_floor()
    hold(sim, 270, meta=58)
    look_down(sim)
    run(sim, 23, attack=1)
    assert tuple(sim.inventory[0]) == (270, 1, 59)
    put(sim, *AIM, 1)
    run(sim, 5 + 23, attack=1)
    assert block(sim, *AIM) == 0
    assert 270 not in sim.inventory[:, 0]


def test_a_worn_out_tool_takes_its_whole_stack_along() -> None:
    sim = stone_floor()
    hold(sim, 270, count=2, meta=59)
    look_down(sim)
    run(sim, 23, attack=1)
    assert block(sim, *AIM) == 0
    assert tuple(sim.inventory[0]) == (0, 0, 0)


def test_bedrock_is_no_target() -> None:
    sim = stone_floor()
    put(sim, *AIM, 7)
    look_down(sim)
    run(sim, 20, attack=1)
    assert block(sim, *AIM) == 7
    assert sim.player[0]["dig_hitting"] == 0


def test_a_falling_block_in_the_way_resets_digging() -> None:
    sim = stone_floor()
    look_down(sim)
    run(sim, 5, attack=1)
    entity = sim.items[0]
    entity["kind"], entity["item"], entity["age"] = 2, 12, 1
    entity["pos"] = (24.5, 5.2, 25.0)
    assert falling_block_in_way(sim)
    dig(sim, True, True)
    assert sim.player[0]["dig_progress"] == 0
    assert sim.player[0]["atk_prev"] == 1


def test_the_ray_reports_cell_face_and_whether_it_passed_another() -> None:
    sim = stone_floor()
    hit = np.zeros(5, np.int64)
    assert cast_from_player(sim, np.float32(0), np.float32(89), hit) > 0
    assert hit.tolist() == [FAR, 24, 4, 24, 1]
    put(sim, 24, 6, 25, 1)
    distance = cast_from_player(sim, np.float32(0), np.float32(0), hit)
    assert hit.tolist() == [NEAR, 24, 6, 25, 2]
    assert distance == pytest.approx(0.5)
    assert cast_from_player(sim, np.float32(180), np.float32(0), hit) == -1
    assert hit[0] == MISS


def test_the_ray_reaches_five_blocks() -> None:
    sim = stone_floor()
    hit = np.zeros(5, np.int64)
    put(sim, 24, 6, 29, 1)
    assert cast_from_player(sim, np.float32(0), np.float32(0), hit) == pytest.approx(4.5)
    put(sim, 24, 6, 29, 0)
    put(sim, 24, 6, 30, 1)
    cast_from_player(sim, np.float32(0), np.float32(0), hit)
    assert hit[0] == MISS
