"""Lists against real recordings, and the rules of the scan cache."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from core.wire.bolr import RECORD
from core.worlds.voxel.lists import emit, nearest, refresh, skip
from core.worlds.voxel.state import SCAN, Sim, empty_sim

LISTED = ("magic", "tick", "xyz", "yaw", "pitch", "dead", "hotbar_ids", "hotbar_counts", "hotbar_sel", "container")


def small_world() -> Sim:
    cells = np.zeros((8, 8, 8), np.uint16)
    cells[:, 0] = 1 << 4
    sim = empty_sim((0, 0, 0), cells)
    sim.body[0]["pos"] = (4.5, 1.0, 4.5)
    return sim


def test_recorded_lists_follow_from_the_recorded_feet(tape):
    record = np.zeros(1, RECORD)
    for tick, real in enumerate(tape.records):
        body, player = tape.sim.body[0], tape.sim.player[0]
        body["pos"], body["yaw"], body["pitch"] = real["xyz"], real["yaw"], real["pitch"]
        player["tick"], player["hotbar_sel"] = tick, real["hotbar_sel"]
        emit(tape.sim, record, cam=False)
        for field in (*LISTED, "inv_counts", "blocks", "logs", "coal"):
            np.testing.assert_array_equal(record[0][field], real[field], err_msg=f"{field} of tick {tick}")


def test_membership_is_stale_until_an_edit_is_announced_or_the_feet_change_cell():
    sim, record = small_world(), np.zeros(1, RECORD)
    emit(sim, record, cam=False)
    sim.cells[4, 3, 5] = 17 << 4
    emit(sim, record, cam=False)
    assert not record[0]["logs"].any()
    sim.player[0]["world_dirty"] = 2
    emit(sim, record, cam=False)
    assert record[0]["logs"][0].tolist() == [4, 3, 5]
    assert sim.player[0]["world_dirty"] == 1
    sim.player[0]["world_dirty"] = 0
    sim.cells[4, 3, 5] = 0
    sim.body[0]["pos"][0] = 5.5
    emit(sim, record, cam=False)
    assert not record[0]["logs"].any()


def test_skipped_ticks_end_in_the_same_cache():
    told, silent = small_world(), small_world()
    for sim, passing in ((told, refresh), (silent, skip)):
        refresh(sim)
        sim.player[0]["world_dirty"] = 3
        for tick in range(5):
            sim.cells[tick, 2, 2] = 16 << 4
            passing(sim)
        refresh(sim)
    np.testing.assert_array_equal(told.scan, silent.scan)
    assert told.player == silent.player


def test_inventory_totals_leave_the_offhand_out():
    sim, record = small_world(), np.zeros(1, RECORD)
    sim.inventory[0], sim.inventory[20], sim.inventory[36] = (17, 3, 1), (17, 4, 0), (17, 64, 0)
    sim.inventory[8] = (50, 4, 0)
    emit(sim, record, cam=False)
    assert record[0]["inv_counts"].tolist() == [7, 0, 0, 0, 0, 0, 0, 0, 4]
    assert record[0]["hotbar_ids"].tolist() == [17, 0, 0, 0, 0, 0, 0, 0, 50]


@settings(max_examples=60, deadline=None)
@given(
    cells=st.lists(st.tuples(st.sampled_from([1, 16, 17]), *[st.integers(-9, 9)] * 3), max_size=400),
    wanted=st.integers(1, 300),
    only=st.sampled_from([0, 16, 17]),
)
def test_selection_equals_a_full_sort(cells, wanted, only):
    scan = np.zeros(len(cells), SCAN)
    for entry, (block, x, y, z) in zip(scan, cells, strict=True):
        entry["id"], entry["x"], entry["y"], entry["z"] = block, x, y, z
        entry["d2"] = (x + 0.3) ** 2 + (y - 0.2) ** 2 + (z + 0.3) ** 2
    into = np.full(wanted, -1, np.int32)
    found = nearest(scan, len(scan), only, into)
    key = lambda i: (scan[i]["d2"], scan[i]["x"], scan[i]["y"], scan[i]["z"])  # noqa: E731
    best = sorted((i for i in range(len(scan)) if only in (0, scan[i]["id"])), key=key)[:wanted]
    assert [key(i) for i in into[:found]] == [key(i) for i in best]
