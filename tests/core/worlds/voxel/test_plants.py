"""Plants that lose their support, and neighbours that notice an edit (RULES 11.4)."""

import pytest

from core.worlds.voxel.edits import apply_edits, queue_edit
from core.worlds.voxel.state import Sim
from tests.core.worlds.voxel.arena import block, live_items, put, stone_floor

X, Y, Z = 40, 5, 40


def edit(sim: Sim, x: int, y: int, z: int, cell: int = 0) -> None:
    """Changes one cell as an edit of the player."""
    queue_edit(sim, x, y, z, cell, 0, 0)
    apply_edits(sim)


@pytest.mark.parametrize(
    ("plant", "soil", "drops"),
    [
        (6, 2, [(6, 1, 0)]), (37, 3, [(37, 1, 0)]), (38, 60, [(38, 1, 0)]), (31, 2, []), (32, 12, []),
        (111, 9, [(111, 1, 0)]),
    ],
)  # fmt: skip
def test_a_plant_falls_with_its_soil(plant: int, soil: int, drops: list[tuple[int, int, int]]) -> None:
    sim = stone_floor()
    put(sim, X, Y, Z, soil)
    put(sim, X, Y + 1, Z, plant, 1 if plant == 31 else 0)
    edit(sim, X, Y, Z)
    assert block(sim, X, Y + 1, Z) == 0
    assert live_items(sim) == drops


@pytest.mark.parametrize("plant", [39, 40, 50, 78, 106])
def test_torches_snow_vines_and_mushrooms_float(plant: int) -> None:
    sim = stone_floor()
    put(sim, X, Y + 1, Z, plant)
    edit(sim, X, Y, Z)
    assert block(sim, X, Y + 1, Z) == plant


def test_a_cane_falls_as_a_whole() -> None:
    sim = stone_floor()
    put(sim, X, Y, Z, 12)
    for up in (1, 2, 3):
        put(sim, X, Y + up, Z, 83)
    edit(sim, X, Y, Z)
    assert [block(sim, X, Y + up, Z) for up in (1, 2, 3)] == [0, 0, 0]
    assert live_items(sim) == [(338, 1, 0)] * 3


def test_a_cane_dries_out_when_its_water_goes() -> None:
    sim = stone_floor()
    put(sim, X, Y - 1, Z, 12)
    put(sim, X + 1, Y - 1, Z, 9)
    put(sim, X, Y, Z, 83)
    put(sim, X, Y + 1, Z, 83)
    edit(sim, X, Y, Z + 1, 1 << 4)
    assert block(sim, X, Y, Z) == 83
    put(sim, X + 1, Y - 1, Z, 1)
    edit(sim, X, Y, Z + 1)
    assert [block(sim, X, Y + up, Z) for up in (0, 1)] == [0, 0]
    assert live_items(sim) == [(338, 1, 0)] * 2


@pytest.mark.parametrize("meta", [0, 1, 4, 5])
def test_a_double_plant_drops_from_its_lower_half_only(meta: int) -> None:
    sim = stone_floor()
    put(sim, X, Y, Z, 2)
    put(sim, X, Y + 1, Z, 175, meta)
    put(sim, X, Y + 2, Z, 175, 8)
    edit(sim, X, Y + 2, Z)
    assert block(sim, X, Y + 1, Z) == 0
    assert live_items(sim) == [(175, 1, meta)]
    put(sim, X, Y + 1, Z, 175, meta)
    put(sim, X, Y + 2, Z, 175, 8)
    edit(sim, X, Y + 1, Z)
    assert block(sim, X, Y + 2, Z) == 0
    assert len(live_items(sim)) == 1


def test_double_grass_yields_seeds_now_and_then() -> None:
    seeds = 0
    for seed in range(200):
        sim = stone_floor(seed * 7919)
        put(sim, X, Y, Z, 2)
        put(sim, X, Y + 1, Z, 175, 2)
        put(sim, X, Y + 2, Z, 175, 8)
        edit(sim, X, Y, Z)
        assert block(sim, X, Y + 2, Z) == 0
        seeds += live_items(sim) == [(295, 1, 0)]
    assert 5 <= seeds <= 60


def test_a_crowded_cactus_drops() -> None:
    sim = stone_floor()
    put(sim, X, Y, Z, 12)
    put(sim, X, Y + 1, Z, 81)
    put(sim, X, Y + 2, Z, 81)
    edit(sim, X + 1, Y + 2, Z, 1 << 4)
    assert [block(sim, X, Y + up, Z) for up in (1, 2)] == [81, 0]
    assert live_items(sim) == [(81, 1, 0)]


@pytest.mark.parametrize(
    ("neighbour", "is_solid"),
    [(1, True), (30, True), (70, True), (50, False), (65, False), (66, False), (75, False), (171, False)],
)
def test_cactus_and_farmland_bear_no_neighbour_of_a_solid_material(neighbour: int, is_solid: bool) -> None:
    sim = stone_floor()
    put(sim, X, Y, Z, 12)
    put(sim, X, Y + 1, Z, 81)
    put(sim, X + 1, Y, Z, 60)
    edit(sim, X + 1, Y + 1, Z, neighbour << 4)
    assert block(sim, X, Y + 1, Z) == (0 if is_solid else 81)
    assert block(sim, X + 1, Y, Z) == (3 if is_solid else 60)
