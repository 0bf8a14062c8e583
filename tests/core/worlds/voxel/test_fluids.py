"""Water and lava set flowing by edits (RULES 11.3)."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from core.worlds.voxel.edits import apply_edits, queue_edit
from core.worlds.voxel.fluids import drop_distance
from core.worlds.voxel.state import Sim
from tests.core.worlds.voxel.arena import FLOOR, block, put, run, stone_floor

X, Y, Z = 36, FLOOR, 36
WATER, STILL_WATER, LAVA, STILL_LAVA = 8, 9, 10, 11


def edit(sim: Sim, x: int, y: int, z: int, cell: int = 0) -> None:
    """Changes one cell as an edit of the player."""
    queue_edit(sim, x, y, z, cell, 0, 0)
    apply_edits(sim)


def walled_source(kind: int) -> Sim:
    """Returns a source on the floor inside a ring of stone whose west side is a lone block."""
    sim = stone_floor()
    put(sim, X, Y, Z, kind)
    for x, z in ((X - 1, Z), (X + 1, Z), (X, Z - 1), (X, Z + 1)):
        put(sim, x, Y, z, 1)
    return sim


def recursive_distance(grid: np.ndarray, x: int, z: int, liquid: int, side: int) -> int:
    """The game's own search: never straight back, at most four deep, 1000 for no way."""
    moves = ((-1, 0), (1, 0), (0, -1), (0, 1))

    def cell(x: int, y: int, z: int) -> int:
        inside = 0 <= x < grid.shape[0] and 0 <= z < grid.shape[2]
        return int(grid[x, y, z]) if inside else 0

    def blocking(value: int) -> bool:
        return value != 0 and not 8 <= value >> 4 <= 11

    def closed(x: int, z: int) -> bool:
        return blocking(cell(x, 1, z)) or cell(x, 1, z) == liquid << 4

    def search(x: int, z: int, depth: int, back: int) -> int:
        best = 1000
        for turn, (dx, dz) in enumerate(moves):
            if turn == back or closed(x + dx, z + dz):
                continue
            if not blocking(cell(x + dx, 0, z + dz)):
                return depth
            if depth < 4:
                best = min(best, search(x + dx, z + dz, depth + 1, turn ^ 1))
        return best

    nx, nz = x + moves[side][0], z + moves[side][1]
    if closed(nx, nz):
        return 1000
    return 0 if not blocking(cell(nx, 0, nz)) else search(nx, nz, 1, side ^ 1)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.1, 0.4, 0.6]))
def test_the_way_to_a_drop_is_as_long_as_the_games_recursion_says(seed: int, walls: float) -> None:
    rng = np.random.default_rng(seed)
    grid = np.empty((11, 2, 11), np.uint16)
    grid[:, 0, :] = rng.choice(np.array([0, 1 << 4, 8 << 4], np.uint16), (11, 11), p=[0.03, 0.95, 0.02])
    grid[:, 1, :] = rng.choice(
        np.array([0, 1 << 4, 8 << 4, 8 << 4 | 3], np.uint16), (11, 11), p=[0.9 - walls, walls, 0.03, 0.07]
    )
    for x in range(11):
        for z in range(11):
            for side in range(4):
                expected = recursive_distance(grid, x, z, 8, side)
                assert drop_distance(grid, x, 1, z, 8, side) == expected


def test_an_untouched_source_stays_still() -> None:
    sim = stone_floor()
    put(sim, X, Y, Z, STILL_WATER)
    run(sim, 40)
    assert (sim.cells >> 4 == STILL_WATER).sum() == 1
    assert not sim.fluids["used"].any()


def test_water_spreads_seven_levels_over_a_flat_floor_and_rests() -> None:
    sim = walled_source(STILL_WATER)
    edit(sim, X - 1, Y, Z)
    run(sim, 5 * 14)
    for distance in range(1, 8):
        assert sim.cells[X - distance, Y, Z] == STILL_WATER << 4 | distance
    assert block(sim, X - 8, Y, Z) == 0
    assert sim.cells[X, Y, Z] == STILL_WATER << 4
    levels = np.argwhere(sim.cells[:, Y, :] >> 4 == STILL_WATER)
    assert np.abs(levels - (X, Z)).sum(axis=1).max() == 7
    assert not sim.fluids["used"].any()


def test_each_step_takes_five_ticks() -> None:
    sim = walled_source(STILL_WATER)
    sim.player[0]["tick"] = 100
    edit(sim, X - 1, Y, Z)
    run(sim, 1)
    assert sim.cells[X - 1, Y, Z] == WATER << 4 | 1
    run(sim, 4)
    assert block(sim, X - 2, Y, Z) == 0
    run(sim, 1)
    assert sim.cells[X - 2, Y, Z] == WATER << 4 | 2


def test_water_runs_to_the_nearest_drop_only() -> None:
    sim = walled_source(STILL_WATER)
    put(sim, X - 4, Y - 1, Z, 0)
    edit(sim, X - 1, Y, Z)
    run(sim, 5 * 12)
    assert [int(sim.cells[X - d, Y, Z]) & 15 for d in (1, 2, 3, 4)] == [1, 2, 3, 4]
    assert block(sim, X - 2, Y, Z - 1) == 0
    assert block(sim, X - 2, Y, Z + 1) == 0
    assert block(sim, X - 4, Y - 1, Z) in (WATER, STILL_WATER)
    assert int(sim.cells[X - 4, Y - 1, Z]) & 8


def test_two_sources_make_a_third() -> None:
    sim = stone_floor()
    for x in (X - 1, X, X + 1):
        for z in (Z - 1, Z + 1):
            put(sim, x, Y, z, 1)
    put(sim, X - 2, Y, Z, 1)
    put(sim, X + 2, Y, Z, 1)
    put(sim, X - 1, Y, Z, STILL_WATER)
    put(sim, X + 1, Y, Z, STILL_WATER)
    put(sim, X, Y, Z, 4)
    edit(sim, X, Y, Z)
    run(sim, 30)
    assert sim.cells[X, Y, Z] == STILL_WATER << 4


def test_a_removed_source_dries_up() -> None:
    sim = walled_source(STILL_WATER)
    edit(sim, X - 1, Y, Z)
    run(sim, 70)
    edit(sim, X, Y, Z, 1 << 4)
    run(sim, 120)
    assert not np.isin(sim.cells >> 4, (WATER, STILL_WATER)).any()


def test_water_washes_plants_away_only_where_it_arrives() -> None:
    sim = walled_source(STILL_WATER)
    put(sim, X - 2, Y, Z, 31, 1)
    put(sim, X - 3, Y, Z + 6, 31, 1)
    edit(sim, X - 1, Y, Z)
    run(sim, 70)
    assert block(sim, X - 2, Y, Z) == STILL_WATER
    assert block(sim, X - 3, Y, Z + 6) == 31


def test_lava_spreads_three_levels_of_two_every_thirty_ticks() -> None:
    sim = walled_source(STILL_LAVA)
    edit(sim, X - 1, Y, Z)
    run(sim, 30 * 8)
    assert [int(sim.cells[X - d, Y, Z]) for d in (1, 2, 3)] == [STILL_LAVA << 4 | level for level in (2, 4, 6)]
    assert block(sim, X - 4, Y, Z) == 0


def test_lava_falling_on_water_makes_stone() -> None:
    sim = walled_source(STILL_LAVA)
    put(sim, X, Y - 1, Z, STILL_WATER)
    put(sim, X + 1, Y, Z, 4)
    edit(sim, X + 1, Y, Z, 1 << 4)
    run(sim, 10)
    assert block(sim, X, Y - 1, Z) == 1


def test_a_quiet_region_ends_and_its_slot_is_used_again() -> None:
    sim = walled_source(STILL_WATER)
    edit(sim, X + 1, Y, Z, 4 << 4)
    assert sim.fluids["used"].tolist() == [1, 0, 0, 0]
    run(sim, 11)
    assert sim.fluids["used"].tolist() == [0, 0, 0, 0]
    edit(sim, X + 1, Y, Z, 1 << 4)
    assert sim.fluids["used"].tolist() == [1, 0, 0, 0]


def test_water_that_runs_out_of_the_region_comes_to_rest() -> None:
    sim = stone_floor()
    edge = sim.cells.shape[0] - 1
    put(sim, edge, Y, Z, STILL_WATER)
    edit(sim, edge - 1, Y, Z)
    assert sim.fluids["used"].any()
    run(sim, 100)
    assert not sim.fluids["used"].any()
