"""bake: what is written is checked before it gets its name; stages are climbed; nothing wrong is left behind."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from core.errors import BadInput, NetheriteError, Refused
from core.policy.controls import controller_factory
from core.runs.bake import Baked, Climb, bake_stage, bake_t0
from core.runs.lane_program import LaneProgram
from core.wire.act13 import KEYS, NOOP_ROW
from core.wire.bsnp import read_snapshot

ROOT = Path(__file__).parents[3]
PROGRAM = ROOT / "tests" / "programs" / "baking_lane.py"


def program(*words: str) -> LaneProgram:
    return LaneProgram((sys.executable, str(PROGRAM), *words), {"PYTHONPATH": str(ROOT)})


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_t0_snapshots_are_written_and_described(tmp_path: Path) -> None:
    first, second = bake_t0(program(), (3, -7), tmp_path)
    assert first == Baked(tmp_path / "s3_t0.bsnp", 3, (128, 4, 128), liquids=True, coal=2, items=0)
    assert second.text == f"{tmp_path}/s-7_t0.bsnp: seed -7, 128x4x128 cells, liquids yes, 2 coal"
    assert names(tmp_path) == ["s-7_t0.bsnp", "s3_t0.bsnp"]
    assert read_snapshot(tmp_path / "s3_t0.bsnp").head["tick"] == 0


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("seed", "^not kept: .*/s3_t0.bsnp: seed is 4, expected 3"),
        ("size", r"region is \(127, 4, 127\) cells, expected 128 in x and z"),
        ("coal", "coal list has 1 cells, expected 2"),
        ("nothing", r"seed 3: the lane program wrote no snapshot \(toy: cannot write a snapshot\)"),
    ],
)
def test_a_wrong_snapshot_never_gets_its_name(tmp_path: Path, wrong: str, message: str) -> None:
    with pytest.raises(NetheriteError, match=message):
        list(bake_t0(program("--wrong", wrong), (3,), tmp_path))
    assert names(tmp_path) == []


def test_land_that_ends_may_give_a_smaller_region(tmp_path: Path) -> None:
    (baked,) = bake_t0(replace(program("--wrong", "size"), is_endless=False), (3,), tmp_path)
    assert baked.size == (127, 4, 127)


def test_files_are_replaced_only_when_told(tmp_path: Path) -> None:
    target = tmp_path / "s3_t0.bsnp"
    target.write_text("precious")
    with pytest.raises(Refused, match=r"s3_t0.bsnp exists already \(1 of 2 do\); --force replaces"):
        list(bake_t0(program(), (2, 3), tmp_path))
    assert names(tmp_path) == ["s3_t0.bsnp"]
    list(bake_t0(program(), (3,), tmp_path, force=True))
    assert read_snapshot(target).seed == 3


def test_a_folder_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"snapshot folder .*none: expected a folder, found none"):
        list(bake_t0(program(), (3,), tmp_path / "none"))


def test_a_program_that_does_not_start_is_named(tmp_path: Path) -> None:
    with pytest.raises(NetheriteError, match="cannot start /nowhere/game"):
        list(bake_t0(LaneProgram(("/nowhere/game",)), (3,), tmp_path))


def climbing_tape(tmp_path: Path, hits: int) -> str:
    """Returns a policy that hits for a number of decisions (16 hit ticks are one log), then stands still."""
    row = dict(zip(KEYS, NOOP_ROW.tolist(), strict=True)) | {"attack": 1}
    path = tmp_path / "tape.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for _ in range(hits)))
    return f"tape:{path}"


def climb(tmp_path: Path, hits: int, **values: int) -> Climb:
    settings = {"stage": 1, "tries": 2, "decisions": 30, "repeat": 4} | values
    return Climb(controllers=controller_factory(climbing_tape(tmp_path, hits)), **settings)


def test_a_stage_is_taken_the_first_time_its_milestone_is_held(tmp_path: Path) -> None:
    snaps = tmp_path / "snaps"
    snaps.mkdir()
    heard: list[str] = []
    (baked,) = bake_stage(program(), (3,), snaps, climb(tmp_path, 30), progress=heard.append)
    assert isinstance(baked, Baked)
    assert (baked.decision, baked.attempt) == (12, 0)  # three logs are 48 ticks of hitting
    assert baked.text.endswith("2 coal, after 12 decisions of try 0")
    assert read_snapshot(snaps / "s3_stg1.bsnp").head["tick"] == 4 + 48  # the burn-in comes first
    assert heard == ["seed 3 try 0"]


def test_a_stage_that_is_not_reached_is_told_for_each_seed(tmp_path: Path) -> None:
    snaps = tmp_path / "snaps"
    snaps.mkdir()
    heard: list[str] = []
    found = list(bake_stage(program(), (3, 4), snaps, climb(tmp_path, 11), progress=heard.append))
    assert found == [f"seed {seed}: logs3 not reached in 2 x 30 decisions" for seed in (3, 4)]
    assert heard == ["seed 3 try 0", "seed 3 try 1", "seed 4 try 0", "seed 4 try 1"]
    assert names(snaps) == []


def test_a_death_ends_the_try(tmp_path: Path) -> None:
    snaps = tmp_path / "snaps"
    snaps.mkdir()
    (found,) = bake_stage(program("--dead-at", "20"), (3,), snaps, climb(tmp_path, 30))
    assert found == "seed 3: logs3 not reached in 2 x 30 decisions"


def test_dropped_items_make_a_snapshot_inexact(tmp_path: Path) -> None:
    (baked,) = bake_t0(program("--wrong", "items"), (3,), tmp_path)
    assert baked.text.endswith("; not exact: items were dropped before it, their random numbers are not stored")
