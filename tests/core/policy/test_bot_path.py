"""The search: cheapest ways, and the places it must never lead to."""

import numpy as np
import pytest

from core.policy import bot_map
from core.policy.bot_body import DIG_COSTS
from core.policy.bot_map import AIR
from core.policy.bot_path import ANY, find_path

START = (64, 40, 64)


def plain() -> bot_map.Memory:
    """Stone up to y 39, air above."""
    memory = bot_map.blank()
    memory[:, :40], memory[:, 40:] = 1, AIR
    return memory


def search(memory: bot_map.Memory, *goals: tuple[int, int, int], pick: bool = True) -> list[tuple[int, int, int]]:
    path = find_path(memory, DIG_COSTS[pick], START, np.array(goals, np.int32), 40_000)
    return [tuple(cell) for cell in path.tolist()]


def test_open_land_is_crossed_straight():
    assert search(plain(), (69, 40, 64)) == [(x, 40, 64) for x in range(65, 70)]
    assert search(plain(), START) == []


def test_steps_go_up_and_drops_go_down_but_not_deep():
    memory = plain()
    memory[66, 40, 64] = 1
    assert search(memory, (66, 41, 64)) == [(65, 40, 64), (66, 41, 64)]
    memory[66:, 30:41] = AIR  # a cliff of ten
    path = search(memory, (ANY, 33, ANY))
    assert path
    assert all(before[1] - after[1] <= 3 for before, after in zip([START, *path], path, strict=False))


def test_a_wall_is_walked_around_or_dug_through_whichever_is_cheaper():
    memory = plain()
    memory[66, 40:44, 55:74] = 1
    assert all(cell[2] == 64 for cell in search(memory, (68, 40, 64)))
    memory[66, 40:44, 55:74] = 7  # bedrock
    around = search(memory, (68, 40, 64))
    assert around[-1] == (68, 40, 64)
    assert {(66, 40, 54), (66, 40, 74)} & set(around)


@pytest.mark.parametrize("liquid", [10, 11])
def test_lava_is_never_entered_nor_opened(liquid):
    memory = plain()
    memory[66, 38:40, :] = liquid
    for x, y, z in search(memory, (68, 37, 64)):
        near = memory[x - 1 : x + 2, y - 1 : y + 2, z - 1 : z + 2]
        assert memory[x, y, z] != liquid
        assert y == 40 or not (near == liquid).any()


def test_a_goal_may_leave_coordinates_free_and_may_be_out_of_reach():
    assert search(plain(), (ANY, 36, ANY))[-1][1] == 36
    memory = plain()
    memory[60:70, 36:44, 60:70] = 7
    memory[62:67, 40:42, 62:67] = AIR
    assert search(memory, (80, 40, 64)) == []
