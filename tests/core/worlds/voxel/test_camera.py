"""The camera against real recordings and against plain geometry."""

import numpy as np
import pytest

from core.worlds.voxel.camera import look, render
from core.worlds.voxel.state import empty_sim

#: Values that differ when rendering from a record's float32 feet instead of the exact ones, by tape: cam, depth, edge.
ROUNDING = {"s10_walk32": (0, 0, 0), "s14_walk32": (0, 0, 0), "s10_move400": (0, 5, 1), "s14_move400": (0, 3, 2)}
SHAPE = (36, 64)


def views() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return np.zeros(SHAPE, np.uint16), np.zeros(SHAPE, np.uint8), np.zeros(SHAPE, np.uint8)


def test_recorded_views_are_rendered_bit_for_bit(tape):
    cam, depth, edge = views()
    off = np.zeros(3, int)
    for record in tape.records:
        render(tape.sim.cells, tape.sim.lo, *record["xyz"], record["yaw"], record["pitch"], cam, depth, edge)
        off += [(cam != record["cam"]).sum(), (depth != record["depth"]).sum(), (edge != record["edge"]).sum()]
    assert tuple(off) == ROUNDING[tape.name]


def test_the_spawn_view_has_exact_feet(tape):
    first = tape.records[0]
    body = tape.sim.body[0]
    body["pos"], body["yaw"], body["pitch"] = first["xyz"], first["yaw"], first["pitch"]
    cam, depth, edge = views()
    look(tape.sim, cam, depth, edge)
    np.testing.assert_array_equal(cam, first["cam"])
    np.testing.assert_array_equal(depth, first["depth"])
    np.testing.assert_array_equal(edge, first["edge"])


def test_the_eyes_own_cell_fills_the_view():
    cells = np.full((4, 4, 4), 9 << 4, np.uint16)
    cam, depth, edge = views()
    render(cells, np.zeros(3, np.int32), 1.5, 0.5, 1.5, 0.0, 0.0, cam, depth, edge)
    assert (cam == 9).all()
    assert (depth == 0).all()
    assert (edge == 0).all()


@pytest.mark.parametrize("yaw", [0.0, 90.0, 180.0, 270.0])
def test_a_wall_is_seen_from_every_side_and_nothing_behind_the_region(yaw):
    cells = np.zeros((32, 32, 32), np.uint16)
    cells[0], cells[-1], cells[:, :, 0], cells[:, :, -1] = 1 << 4, 2 << 4, 3 << 4, 4 << 4
    cam, depth, edge = views()
    render(cells, np.array([-16, 0, -16], np.int32), 0.5, 14.0, 0.5, yaw, 0.0, cam, depth, edge)
    assert cam[18, 32] == {0.0: 4, 90.0: 1, 180.0: 3, 270.0: 2}[yaw]
    assert 56 <= depth[18, 32] <= 66


def test_sky_reads_zero_and_full_depth():
    cam, depth, edge = views()
    render(np.zeros((8, 8, 8), np.uint16), np.zeros(3, np.int32), 4.0, 2.0, 4.0, 33.0, -20.0, cam, depth, edge)
    assert (cam == 0).all()
    assert (depth == 255).all()
    assert (edge == 0).all()


def test_a_poisoned_yaw_ends_every_ray():
    sim = empty_sim((0, 0, 0), np.zeros((8, 8, 8), np.uint16))
    sim.body[0]["pos"], sim.body[0]["yaw"] = (4.0, 2.0, 4.0), np.nan
    cam, depth, edge = views()
    look(sim, cam, depth, edge)
    assert (cam == 0).all()
    assert (depth == 255).all()
