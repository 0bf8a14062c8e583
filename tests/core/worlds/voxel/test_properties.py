"""What holds for every world and every sequence of actions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.worlds.voxel import lists, step
from core.worlds.voxel.collide import MAX_LIST, gather
from core.worlds.voxel.state import FIELDS, Sim
from core.worlds.voxel.world import VoxelWorld
from tests.core.worlds.voxel.arena import FLOOR, KEYS, hold, stone_floor

#: Every kind of shape; nothing that falls, for a falling block lands where the player stands as well.
PALETTE = np.array(
    [1, 4, 5, 17, 18, 20, 44, 53, 60, 65, 78, 79, 81, 85, 88, 101, 106, 107, 111, 139, 165, 170, 9, 30, 54, 64, 96, 171]
)
ULP = 1e-9  #: a clip may leave a box this much over the face it stopped at, in the game as well


def maze(seed: int) -> Sim:
    """Returns a floor strewn with blocks of random shape and meta, free around the player, who holds cobblestone."""
    chance = np.random.default_rng(seed)
    sim = stone_floor()
    shape = sim.cells[:, FLOOR : FLOOR + 4, :].shape
    blocks = chance.choice(PALETTE, shape) << 4 | chance.integers(0, 16, shape)
    sim.cells[:, FLOOR : FLOOR + 4, :] = np.where(chance.random(shape) < 0.25, blocks, 0)
    sim.cells[23:26, FLOOR : FLOOR + 4, 23:26] = 0
    hold(sim, 4, 64)
    return sim


def actions(seed: int, count: int) -> np.ndarray:
    """Returns random but lively action rows [count, 13]: held for a few ticks, as players hold keys."""
    chance = np.random.default_rng(seed)
    rows = np.zeros((count, len(KEYS)))
    rows[:, :2] = chance.choice([-1, 0, 1, 1], (count, 2))
    rows[:, 2:4] = chance.normal(0, 25, (count, 2))
    rows[:, 4:9] = chance.random((count, 5)) < (0.3, 0.2, 0.4, 0.4, 0.3)
    rows[:, 9:11] = -1
    return np.repeat(rows, 4, axis=0)[:count]


def is_inside_a_block(sim: Sim) -> bool:
    found = np.empty((MAX_LIST, 6))
    return gather(sim, sim.body[0]["box"] + np.array([ULP] * 3 + [-ULP] * 3), found) > 0


def state_bytes(sim: Sim) -> bytes:
    """Returns all that decides how a world goes on: of the scan cache, the entries in use."""
    arrays = {name: getattr(sim, name) for name in FIELDS}
    arrays["scan"] = sim.scan[: int(sim.player[0]["scan_count"])]
    return b"".join(array.tobytes() for array in arrays.values())


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 2**32))
def test_the_player_is_never_inside_a_block(world: int, play: int) -> None:
    sim = maze(world)
    for row in actions(play, 300):
        step.step(sim, row)
        assert not is_inside_a_block(sim)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 2**32))
def test_same_actions_same_bytes(world: int, play: int) -> None:
    sims = maze(world), maze(world)
    for row in actions(play, 200):
        for sim in sims:
            step.step(sim, row)
            lists.refresh(sim)
    assert state_bytes(sims[0]) == state_bytes(sims[1])


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 199))
def test_a_copy_goes_on_as_the_original(play: int, at: int) -> None:
    sim = maze(play)
    rows = actions(play, 200)
    for row in rows[:at]:
        step.step(sim, row)
    copy = sim.copy()
    for row in rows[at:]:
        step.step(sim, row)
        step.step(copy, row)
    assert state_bytes(sim) == state_bytes(copy)


@pytest.mark.parametrize("repeat", [1, 3, 4])
def test_a_decision_is_its_ticks(repeat: int) -> None:
    by_decision, by_tick = maze(7), maze(7)
    for row in actions(8, 60):
        step.run_decision(by_decision, row, repeat)
        lists.refresh(by_decision)
        for tick in range(repeat):
            held = row.copy()
            if tick:
                held[2:4] = 0
                held[10:] = (-1, 0, 0)
            step.step(by_tick, held)
            lists.refresh(by_tick)
    assert state_bytes(by_decision) == state_bytes(by_tick)


def test_a_world_is_remembered_with_its_items() -> None:
    world = VoxelWorld(None, 3)
    world.open()
    dig = np.zeros(13)
    dig[[3, 7]] = 80, 1
    dig[9:11] = -1
    for _ in range(8):
        world.step(dig, 4)
    assert world.remember().sim.items["kind"].any() or world.record["hotbar_counts"].any()
    moment = world.remember()
    rows = actions(5, 60)
    seen = []
    for _ in range(2):
        world.recall(moment)
        stream = [world.record.tobytes()]
        for row in rows:
            world.step(row, 4)
            stream.append(world.record.tobytes())
        seen.append(stream)
    assert seen[0] == seen[1]
