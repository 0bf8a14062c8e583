"""Shapes and sets of RULES 5."""

import numpy as np
import pytest

from core.worlds.voxel import blocks
from core.worlds.voxel.state import Sim, empty_sim


@pytest.fixture
def sim() -> Sim:
    """A 5 x 5 x 5 world of air whose first cell is world cell (-2, 0, -2)."""
    return empty_sim((-2, 0, -2), np.zeros((5, 5, 5), np.uint16))


def put(sim: Sim, x: int, y: int, z: int, block: int, meta: int = 0) -> None:
    sim.cells[x + 2, y, z + 2] = block << 4 | meta


def boxes_at(sim: Sim, x: int, y: int, z: int) -> list[tuple[float, ...]]:
    out = np.empty((blocks.MAX_BOXES, 6))
    count = blocks.collision_boxes(sim, x, y, z, out)
    return [tuple(row) for row in out[:count].tolist()]


def selected_at(sim: Sim, x: int, y: int, z: int) -> tuple[float, ...] | None:
    out = np.empty(6)
    return tuple(out.tolist()) if blocks.selection_box(sim, x, y, z, out) else None


CUBE = (0.0, 0.0, 0.0, 1.0, 1.0, 1.0)


@pytest.mark.parametrize(
    ("block", "meta", "expected"),
    [
        (0, 0, []),
        (9, 0, []),
        (31, 1, []),
        (1, 0, [CUBE]),
        (27, 0, [CUBE]),
        (18, 0, [CUBE]),
        (255, 0, [CUBE]),
        (78, 0, []),
        (78, 3, [(0, 0, 0, 1, 0.375, 1)]),
        (44, 0, [(0, 0, 0, 1, 0.5, 1)]),
        (44, 8, [(0, 0.5, 0, 1, 1, 1)]),
        (60, 0, [(0, 0, 0, 1, 0.9375, 1)]),
        (93, 0, [(0, 0, 0, 1, 0.125, 1)]),
        (81, 0, [(0.0625, 0, 0.0625, 0.9375, 0.9375, 0.9375)]),
        (111, 0, [(0.0625, 0, 0.0625, 0.9375, 0.09375, 0.9375)]),
        (85, 0, [(0.375, 0, 0.375, 0.625, 1.5, 0.625)]),
        (107, 0, [(0, 0, 0.375, 1, 1.5, 0.625)]),
        (107, 1, [(0.375, 0, 0, 0.625, 1.5, 1)]),
        (107, 5, []),
        (65, 5, [(0, 0, 0, 0.1875, 1, 1)]),
        (96, 0, [(0, 0, 0, 1, 0.1875, 1)]),
        (96, 8, [(0, 0.8125, 0, 1, 1, 1)]),
        (96, 7, [(0, 0, 0, 0.1875, 1, 1)]),
        (139, 0, [(0.25, 0, 0.25, 0.75, 1.5, 0.75)]),
        (53, 0, [(0, 0, 0, 1, 0.5, 1), (0.5, 0.5, 0, 1, 1, 1)]),
        (53, 7, [(0, 0.5, 0, 1, 1, 1), (0, 0, 0, 1, 0.5, 0.5)]),
    ],
)
def test_shape_without_neighbours(sim: Sim, block: int, meta: int, expected: list[tuple[float, ...]]) -> None:
    put(sim, 0, 1, 0, block, meta)
    assert boxes_at(sim, 0, 1, 0) == expected


def test_chest_joins_the_first_of_north_south_west_east(sim: Sim) -> None:
    for x, z in ((0, 0), (0, 1), (1, 0)):
        put(sim, x, 1, z, 54)
    assert boxes_at(sim, 0, 1, 0) == [(0.0625, 0, 0.0625, 0.9375, 0.875, 1)]


def test_fence_reaches_to_stone_and_own_kind_but_not_to_leaves_or_nether_fence(sim: Sim) -> None:
    put(sim, 0, 1, 0, 85)
    put(sim, 0, 1, -1, 1)
    put(sim, 1, 1, 0, 188)
    put(sim, 0, 1, 1, 18)
    put(sim, -1, 1, 0, 113)
    assert boxes_at(sim, 0, 1, 0)[1:] == [(0.375, 0, 0, 0.625, 1.5, 0.375), (0.625, 0, 0.375, 1, 1.5, 0.625)]


def test_wall_in_a_straight_run_is_thin(sim: Sim) -> None:
    for z in (-1, 0, 1):
        put(sim, 0, 1, z, 139)
    assert boxes_at(sim, 0, 1, 0) == [(0.3125, 0, 0, 0.6875, 1.5, 1)]


def test_stair_corners(sim: Sim) -> None:
    put(sim, 0, 1, 0, 53, 0)  # faces east
    put(sim, 1, 1, 0, 53, 3)  # in front, faces north = left of east: outer left
    assert boxes_at(sim, 0, 1, 0)[1:] == [(0.5, 0.5, 0, 1, 1, 0.5)]
    put(sim, 1, 1, 0, 53, 2)  # faces south: outer right
    assert boxes_at(sim, 0, 1, 0)[1:] == [(0.5, 0.5, 0.5, 1, 1, 1)]
    put(sim, 1, 1, 0, 0)
    put(sim, -1, 1, 0, 53, 3)  # behind, faces north: inner left
    assert boxes_at(sim, 0, 1, 0)[1:] == [(0.5, 0.5, 0, 1, 1, 1), (0, 0.5, 0, 0.5, 1, 0.5)]


def test_door_takes_facing_from_below_and_hinge_from_above(sim: Sim) -> None:
    put(sim, 0, 1, 0, 64, 1 | 4)
    put(sim, 0, 2, 0, 64, 8 | 1)
    west = (0, 0, 0, 0.1875, 1, 1)
    assert boxes_at(sim, 0, 1, 0) == boxes_at(sim, 0, 2, 0) == [west]


@pytest.mark.parametrize(
    ("block", "meta", "edges"),
    [
        (31, 1, (0.1, 0, 0.1, 0.9, 0.8, 0.9)),
        (50, 1, (0, 0.2, 0.35, 0.3, 0.8, 0.65)),
        (50, 5, (0.4, 0, 0.4, 0.6, 0.6, 0.6)),
        (81, 0, (0.0625, 0, 0.0625, 0.9375, 1, 0.9375)),
        (106, 0, (0, 0.9375, 0, 1, 1, 1)),
        (106, 1, (0, 0, 0.9375, 1, 1, 1)),
        (106, 3, (0, 0, 0, 1, 1, 1)),
        (175, 0, CUBE),
        (139, 0, CUBE),
        (78, 0, (0, 0, 0, 1, 0.125, 1)),
        (107, 4, (0, 0, 0.375, 1, 1, 0.625)),
    ],
)
def test_selection_edges_are_widened_float32(sim: Sim, block: int, meta: int, edges: tuple[float, ...]) -> None:
    put(sim, 0, 1, 0, block, meta)
    assert selected_at(sim, 0, 1, 0) == tuple(float(np.float32(edge)) for edge in edges)


@pytest.mark.parametrize("block", [0, 8, 9, 10, 11, 51])
def test_rays_pass_air_liquids_and_fire(sim: Sim, block: int) -> None:
    put(sim, 0, 1, 0, block)
    assert selected_at(sim, 0, 1, 0) is None


def test_fence_selection_reaches_any_solid_neighbour(sim: Sim) -> None:
    put(sim, 0, 1, 0, 85)
    put(sim, 0, 1, 1, 18)
    assert selected_at(sim, 0, 1, 0) == (0.375, 0, 0.375, 0.625, 1, 1)


def test_tables_hold_the_rules() -> None:
    assert blocks.HARDNESS[[7, 2, 3, 17, 4, 213, 49]].tolist() == pytest.approx([-1, 0.6, 0.5, 2.0, 2.0, 1.5, 50])
    assert blocks.HARDNESS[98] == 1.5
    assert blocks.HARDNESS.dtype == np.float32
    assert blocks.SLIPPERINESS[[1, 79, 165]].tolist() == [np.float32(0.6), np.float32(0.98), np.float32(0.8)]
    assert blocks.OPACITY[[0, 2, 18, 9, 17]].tolist() == [0, 255, 1, 3, 255]
    assert blocks.ITEM_SOLID[31]
    assert not blocks.ITEM_SOLID[9]
    assert not blocks.SOLID[30]
    assert blocks.SOLID[66]
