"""Sand and gravel (RULES 11.2)."""

import pytest

from core.worlds.voxel.edits import apply_edits, queue_edit
from core.worlds.voxel.state import FALLING, FREE, Sim
from tests.core.worlds.voxel.arena import block, put, run, stone_floor

X, Z = 40, 40


def dig_out(sim: Sim, y: int) -> None:
    """Removes one cell of the test column as an edit of the player."""
    queue_edit(sim, X, y, Z, 0, 0, 0)
    apply_edits(sim)


def column(sim: Sim, upto: int = 16) -> list[int]:
    """Returns the ids of the test column from the floor up."""
    return [block(sim, X, y, Z) for y in range(5, upto)]


@pytest.mark.parametrize("kind", [12, 13])
def test_a_column_follows_when_its_support_is_dug(kind: int) -> None:
    sim = stone_floor()
    for y in range(6, 9):
        put(sim, X, y, Z, kind, y & 1)
    put(sim, X, 5, Z, 1)
    dig_out(sim, 5)
    run(sim, 100)
    assert column(sim) == [kind] * 3 + [0] * 8
    assert [int(sim.cells[X, y, Z]) & 15 for y in range(5, 8)] == [0, 1, 0]
    assert (sim.items["kind"] == FREE).all()
    assert sim.player[0]["falls_waiting"] == 0
    assert not sim.falls["id"].any()


def test_the_fall_starts_two_passes_after_the_edit() -> None:
    sim = stone_floor()
    put(sim, X, 5, Z, 1)
    put(sim, X, 6, Z, 12)
    dig_out(sim, 5)
    run(sim, 2)
    assert block(sim, X, 6, Z) == 12
    run(sim, 1)
    assert block(sim, X, 6, Z) == 0
    assert (sim.items["kind"] == FALLING).sum() == 1


def test_floating_sand_stays_until_something_under_it_changes() -> None:
    sim = stone_floor()
    put(sim, X, 9, Z, 12)
    run(sim, 20)
    assert block(sim, X, 9, Z) == 12
    queue_edit(sim, X, 8, Z, 4 << 4, 0, 0)
    apply_edits(sim)
    run(sim, 20)
    assert block(sim, X, 9, Z) == 12
    dig_out(sim, 8)
    run(sim, 60)
    assert column(sim) == [12] + [0] * 10


def test_sand_on_a_slab_is_lost_and_sand_in_grass_replaces_it() -> None:
    sim = stone_floor()
    put(sim, X, 5, Z, 44)
    put(sim, X, 8, Z, 12)
    put(sim, X, 7, Z, 1)
    dig_out(sim, 7)
    run(sim, 60)
    assert column(sim, 9) == [44, 0, 0, 0]
    put(sim, X, 5, Z, 31, 1)
    put(sim, X, 8, Z, 12)
    put(sim, X, 7, Z, 1)
    dig_out(sim, 7)
    run(sim, 60)
    assert column(sim, 9) == [12, 0, 0, 0]


def test_a_placed_sand_block_falls() -> None:
    sim = stone_floor()
    put(sim, X, 9, Z - 1, 1)
    queue_edit(sim, X, 9, Z, 12 << 4, 0, 0)
    apply_edits(sim)
    run(sim, 60)
    assert column(sim) == [12] + [0] * 10
