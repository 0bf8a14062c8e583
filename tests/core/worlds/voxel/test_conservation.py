"""Whatever a player does, nothing comes from nothing and, where every block drops itself, nothing is lost.

Every item is worth a number of points such that no recipe changes the total: a stick 1, planks 2, a log 8, cobble 1,
coal 3, so four torches 4. A block in the world is worth what it drops.
"""

from itertools import pairwise

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.worlds.voxel.lists import refresh
from core.worlds.voxel.state import FIELDS, FREE, Sim
from core.worlds.voxel.step import run_decision
from tests.core.worlds.voxel.arena import FLOOR, hold, row, stone_floor

ITEM_POINTS = {280: 1, 5: 2, 17: 8, 58: 8, 270: 8, 4: 1, 274: 5, 263: 3, 50: 1, 61: 8, 3: 1}
BLOCK_POINTS = {17: 8, 2: 1, 3: 1}  # what bare hands get; 5, 58, 50, 4 and 61 give them nothing
BEDROCK = 7

turns = st.sampled_from([0, 0, 30, -30, 90, 180])
actions = st.fixed_dictionaries(
    {
        "forward": st.sampled_from([0, 1]),
        "jump": st.sampled_from([0, 0, 1]),
        "attack": st.sampled_from([0, 1, 1]),
        "dyaw": turns,
        "dpitch": st.sampled_from([0, 0, 20, -20]),
        "craft": st.integers(-1, 5),
        "interact": st.sampled_from([0, 1]),
        "hotbar": st.integers(-1, 3),
        "repeat": st.sampled_from([1, 4, 16, 70]),
    }
)


def orchard(seed: int) -> Sim:
    """Returns bedrock under grass, strewn with logs and dirt, the player holding logs and planks."""
    sim = stone_floor(seed)
    sim.cells[:, : FLOOR - 1] = BEDROCK << 4
    sim.cells[:, FLOOR - 1] = 2 << 4
    rng = np.random.default_rng(seed)
    scattered = rng.choice(np.array([0, 17 << 4, 3 << 4], np.uint16), (12, 3, 12), p=[0.7, 0.2, 0.1])
    scattered[4:8, :, 4:8] = 0
    sim.cells[18:30, FLOOR : FLOOR + 3, 18:30] = scattered
    hold(sim, 17, 3)
    sim.inventory[1] = (5, 7, 2)
    sim.inventory[2] = (263, 1, 0)
    return sim


def points(sim: Sim) -> int:
    """Returns the points of the world's blocks, what lies in it, and what the player holds."""
    total = sum(worth * int((sim.cells >> 4 == block).sum()) for block, worth in BLOCK_POINTS.items())
    total += sum(ITEM_POINTS[item] * count for item, count, _ in sim.inventory.tolist() if count)
    for slots in (sim.items, sim.overflow):
        total += sum(ITEM_POINTS[int(slot["item"])] * int(slot["count"]) for slot in slots if slot["kind"] != FREE)
    return total


def play(sim: Sim, plan: list[dict[str, int]], **always: int) -> list[int]:
    """Plays decisions and returns the points after each."""
    seen = [points(sim)]
    for action in plan:
        keys = {key: value for key, value in action.items() if key != "repeat"} | always
        run_decision(sim, row(**keys), action["repeat"])
        refresh(sim)  # what `interact` goes by
        seen.append(points(sim))
    return seen


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 1000), st.lists(actions, min_size=5, max_size=25))
def test_digging_picking_up_and_crafting_keep_the_total(seed: int, plan: list[dict[str, int]]) -> None:
    seen = play(orchard(seed), plan)
    assert seen == [seen[0]] * len(seen)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 1000), st.lists(actions, min_size=5, max_size=25))
def test_placing_never_makes_anything(seed: int, plan: list[dict[str, int]]) -> None:
    seen = play(orchard(seed), plan, use=1)
    assert all(later <= earlier for earlier, later in pairwise(seen))


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 1000), st.lists(actions, min_size=3, max_size=12), st.lists(actions, min_size=3, max_size=12))
def test_a_copy_goes_on_like_the_original(seed: int, before: list[dict[str, int]], after: list[dict[str, int]]) -> None:
    sim = orchard(seed)
    play(sim, before)
    copy = sim.copy()
    play(sim, after, use=1)
    play(copy, after, use=1)
    for name in FIELDS:
        assert getattr(sim, name).tobytes() == getattr(copy, name).tobytes(), name
