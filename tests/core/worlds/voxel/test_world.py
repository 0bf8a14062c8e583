"""The embedded world as a World: opening, stepping, ending, saving."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.wire.act13 import NOOP_ROW
from core.wire.bsnp import ITEM, Snapshot, check_coal, read_snapshot, write_snapshot
from core.worlds.base import Done, World, WorldError, WorldInterrupted, WorldStartError
from core.worlds.voxel.step import run_decision
from core.worlds.voxel.terrain import spawn_snapshot
from core.worlds.voxel.world import VoxelWorld
from tests.core.worlds.voxel.arena import row
from tests.core.worlds.voxel.conftest import snapshot_of_seed


@pytest.fixture
def t0(tmp_path: Path) -> Path:
    """A real t0 snapshot on disk."""
    path = tmp_path / "s10_t0.bsnp"
    write_snapshot(path, snapshot_of_seed(10))
    return path


def opened(snapshot: Path | None, seed: int | None = None, success_item: int = 50) -> VoxelWorld:
    world = VoxelWorld(snapshot, seed, success_item=success_item)
    world.open()
    return world


def changed(tmp_path: Path, **fields: object) -> Path:
    """Returns a generated t0 snapshot with other head fields."""
    snapshot = spawn_snapshot(5)
    for name, value in fields.items():
        snapshot.head[name] = value
    path = tmp_path / "changed.bsnp"
    write_snapshot(path, snapshot)
    return path


def test_it_is_a_world(t0: Path) -> None:
    world: World = opened(t0, 10)
    assert world.done is Done.RUNNING
    assert world.record["tick"] == 0
    world.step(NOOP_ROW, 4)
    assert world.record["tick"] == 4
    assert world.senses.pose[0] == np.float32(8.5)
    assert world.senses.cam is not world.record["cam"]
    world.close()
    world.close()
    with pytest.raises(WorldError, match="not open"):
        world.step(NOOP_ROW, 4)


def test_a_block_can_be_put_above_what_a_snapshot_holds(tmp_path: Path) -> None:
    snapshot = spawn_snapshot(5)
    lo, head = snapshot.head["region_lo"], snapshot.head
    head["box"][[1, 4]] += 127 - head["pos"][1]
    head["pos"][1] = 127
    head["yaw"], head["pitch"], head["inventory"][0] = 0, 17, (4, 9, 0)
    snapshot.cells[8 - lo[0], 126, 8 - lo[2]] = snapshot.cells[8 - lo[0], 127, 10 - lo[2]] = 4 << 4
    write_snapshot(tmp_path / "high.bsnp", snapshot)
    world = opened(tmp_path / "high.bsnp")
    world.tick(row(use=1))
    assert world.record["hotbar_counts"][0, 0] == 8
    assert (4, 8, 128, 10) in [tuple(entry) for entry in world.record["blocks"][0].tolist()]
    world.save(tmp_path / "saved.bsnp", 64)
    assert read_snapshot(tmp_path / "saved.bsnp").cells.shape == (128, 128, 128)


def test_a_decision_shows_the_camera_of_its_last_tick(t0: Path) -> None:
    by_step, by_tick = opened(t0), opened(t0)
    by_step.step(row(dyaw=30, forward=1), 2)
    by_tick.tick(row(dyaw=30, forward=1), cam=False)
    still = by_tick.record["cam"].copy()
    by_tick.tick(row(forward=1))
    assert by_step.record.tobytes() == by_tick.record.tobytes()
    assert (still != by_tick.record["cam"]).any()


def test_rows_of_any_layout_run_the_same_kernel(t0: Path) -> None:
    world = opened(t0)
    strided, frozen = np.zeros(26)[::2], row(forward=1)
    strided[:] = frozen
    frozen.flags.writeable = False
    before = len(run_decision.signatures)
    world.step(strided, 1)
    world.step(frozen, 1)
    assert world.record["tick"] == 2
    assert len(run_decision.signatures) <= max(before, 1)


def test_the_seed_must_be_the_snapshots(t0: Path) -> None:
    with pytest.raises(WorldStartError, match=r"s10_t0\.bsnp: snapshot of seed 10, expected seed 11$"):
        opened(t0, 11)


def test_a_bad_snapshot_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(WorldStartError, match=r"none\.bsnp: .*No such file") as raised:
        opened(tmp_path / "none.bsnp", 10)
    assert "\n" not in str(raised.value)
    with pytest.raises(WorldStartError, match="needs a seed"):
        opened(None, None)


def test_block_ids_the_game_has_not_are_refused(tmp_path: Path) -> None:
    whole = spawn_snapshot(5)
    whole.cells[1, 2, 3] = 300 << 4
    write_snapshot(tmp_path / "odd.bsnp", whole)
    with pytest.raises(WorldStartError, match=r"block id 300, expected 0\.\.255"):
        opened(tmp_path / "odd.bsnp")


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"motion": (0.0, -1e9, 0.0)}, r"player's motion is 1e\+09 blocks, expected at most 100$"),
        ({"pos": (1e300, 64.0, 8.5)}, r"player's distance from the origin is 1e\+300 blocks"),
        ({"box": (0.0, 0.0, 0.0, 9.0, 1.8, 0.6)}, r"player's box is 9 blocks"),
        ({"box": (1e300, 64.0, 8.0, 1e300, 65.8, 8.6)}, r"player's box's distance from the origin is 1e\+300 blocks"),
        ({"server_motion": (0.0, 1e300)}, r"player's motion at the server is 1e\+300 blocks, expected at most 100$"),
        ({"server_motion": (np.nan, 0.0)}, r"player's motion at the server is nan blocks"),
    ],
)
def test_bodies_nobody_could_move_are_refused(tmp_path: Path, fields: dict[str, object], text: str) -> None:
    with pytest.raises(WorldStartError, match=text):
        opened(changed(tmp_path, **fields))


def test_items_that_are_nowhere_are_refused(tmp_path: Path) -> None:
    whole = spawn_snapshot(5)
    items = np.zeros(1, ITEM)
    items["pos"] = np.nan
    write_snapshot(tmp_path / "odd.bsnp", replace(whole, items=items))
    with pytest.raises(WorldStartError, match="items' distance from the origin is nan"):
        opened(tmp_path / "odd.bsnp")


def test_the_item_that_ends_a_lane(tmp_path: Path) -> None:
    inventory = np.zeros((37, 3), np.int32)
    inventory[20] = (50, 1, 0)
    path = changed(tmp_path, inventory=inventory)
    assert opened(path).done is Done.SUCCESS
    assert opened(path, success_item=17).done is Done.RUNNING


def test_death_ends_a_lane(tmp_path: Path) -> None:
    world = opened(changed(tmp_path, health=0.0))
    world.step(NOOP_ROW, 1)
    assert world.done is Done.DEATH
    assert world.record["dead"] == 1


@pytest.mark.parametrize(
    ("x", "done"), [(-53.0, Done.RUNNING), (-54.1, Done.BOUNDARY), (69.9, Done.RUNNING), (70.0, Done.BOUNDARY)]
)
def test_the_regions_edge_ends_a_lane(tmp_path: Path, x: float, done: Done) -> None:
    box = np.array([x - 0.3, 120.0, 8.2, x + 0.3, 121.8, 8.8])
    assert opened(changed(tmp_path, pos=(x, 120.0, 8.5), box=box)).done is done


def test_an_interrupted_world_stops(t0: Path) -> None:
    world = opened(t0)
    world.interrupt()
    with pytest.raises(WorldInterrupted):
        world.step(NOOP_ROW, 4)


def test_a_saved_t0_is_the_same_file_again(t0: Path, tmp_path: Path) -> None:
    world = opened(t0)
    world.save(tmp_path / "again.bsnp", 64)
    assert (tmp_path / "again.bsnp").read_bytes() == t0.read_bytes()


def test_a_saved_world_goes_on_from_the_file(tmp_path: Path) -> None:
    """Without drops on the ground a snapshot goes on exactly (SPEC 1), but for the hunger of the server's shadow."""
    world = opened(None, 16)
    for _ in range(30):
        world.step(row(forward=1, jump=1, dyaw=7), 4)
    world.save(tmp_path / "mid.bsnp", 128)
    saved = read_snapshot(tmp_path / "mid.bsnp")
    check_coal(tmp_path / "mid.bsnp", saved)
    again = opened(tmp_path / "mid.bsnp", 16)
    for _ in range(20):
        assert again.record["xyz"].tolist() == world.record["xyz"].tolist()
        assert (again.record["cam"] == world.record["cam"]).all()
        for each in (world, again):
            each.step(row(forward=1, dyaw=-5, attack=1), 4)


def test_a_narrow_snapshot_is_cut_around_the_player(t0: Path, tmp_path: Path) -> None:
    opened(t0).save(tmp_path / "narrow.bsnp", 2)
    narrow: Snapshot = read_snapshot(tmp_path / "narrow.bsnp")
    assert narrow.cells.shape == (16, 128, 16)
    assert narrow.head["region_lo"].tolist() == [0, 0, 0]
