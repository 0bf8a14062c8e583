"""Which lanes a run has, and which noise each gets."""

from pathlib import Path

import pytest

from core.errors import BadInput, ExitCode
from core.ladder.config import LadderConfig
from core.ladder.faults import check_faults, lane_faults
from core.ladder.plan import make_plan

VOXEL = {"backend": "voxel", "policy": "noop"}


def test_generated_terrain_needs_no_files() -> None:
    plan = make_plan(LadderConfig(**VOXEL))
    assert len(plan.lanes) == 65
    assert [lane.ni for lane in plan.lanes] == list(range(65))
    assert [lane.index for lane in plan.lanes] == list(range(65))
    assert {lane.seed for lane in plan.lanes if lane.held_out} == {11, 33}
    assert all(lane.snapshot is None and not lane.skip and lane.rng_seed == 0 for lane in plan.lanes)


def test_the_largest_plan() -> None:
    plan = make_plan(LadderConfig(**VOXEL, seeds=tuple(range(32)), tries=16))
    assert len(plan.lanes) == 512
    assert plan.lanes[-1].ni == 511


def test_only_seeds_with_a_snapshot_count_for_ni(tmp_path: Path) -> None:
    for name in ("s3_stg2.bsnp", "s11_stg2.bsnp"):
        (tmp_path / name).touch()
    config = LadderConfig(**VOXEL, snaps_dir=str(tmp_path), seeds=(2, 3, 10, 11), tries=2, stage=2, seed=7)
    lanes = make_plan(config).lanes
    assert [(lane.seed, lane.attempt, lane.ni, lane.skip) for lane in lanes] == [
        (2, 0, -1, True),
        (2, 1, -1, True),
        (3, 0, 0, False),
        (3, 1, 1, False),
        (10, 0, -1, True),
        (10, 1, -1, True),
        (11, 0, 2, False),
        (11, 1, 3, False),
    ]
    assert lanes[0].skip_path == f"{tmp_path}/s2_stg2.bsnp"
    assert lanes[2].snapshot == tmp_path / "s3_stg2.bsnp"
    assert {lane.rng_seed for lane in lanes} == {9}


def test_all_stages_are_planned_one_after_the_other() -> None:
    plan = make_plan(LadderConfig(**VOXEL, seeds=(10, 11), tries=2, stage="all", seed=3))
    assert [lane.index for lane in plan.lanes] == list(range(20))
    assert [len(plan.of_stage(stage)) for stage in range(5)] == [4] * 5
    assert [lane.rng_seed for lane in plan.of_stage(4)] == [7] * 4
    assert [lane.skip for lane in plan.of_stage(1)] == [True] * 4
    assert plan.of_stage(1)[0].skip_path == "generated/s10_stg1.bsnp"


def test_a_missing_t0_snapshot_is_fatal_in_the_natives_words(tmp_path: Path) -> None:
    (tmp_path / "s2_t0.bsnp").touch()
    config = LadderConfig(backend="magma", policy="noop", snaps_dir=str(tmp_path), seeds=(2, 3))
    with pytest.raises(BadInput) as caught:
        make_plan(config)
    assert str(caught.value) == f"eval: missing t0 snapshot: {tmp_path}/s3_t0.bsnp"
    assert caught.value.exit_code == ExitCode.USAGE


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"backend": "metal"}, "backend: metal cannot run here"),
        ({"backend": "cpu", "transfer": "replay", "checkpoint": "fixture:1"}, "transfer: replay needs backend magma"),
        ({"backend": "magma", "snaps_dir": "generated", "policy": "noop"}, "snaps_dir: `generated` terrain needs"),
        ({"backend": "voxel", "transfer": "replay", "reference": "blaze"}, "reference: blaze needs snaps_dir"),
        ({"backend": "voxel"}, "checkpoint: policy net expects a file or fixture:N, found nothing"),
        ({"backend": "magma", "policy": "noop", "faults": ("hang:step=3",)}, "faults: only backend voxel"),
    ],
)
def test_what_cannot_run_is_refused_before_it_starts(settings: dict, complaint: str) -> None:
    with pytest.raises(BadInput) as caught:
        make_plan(LadderConfig(**settings))
    assert str(caught.value).startswith(complaint)


def test_faults_reach_their_lane_in_ticks() -> None:
    faults = ("27:1:cam:step=40:px=2", "hang:step=60", "2:0:exit:code=9")
    config = LadderConfig(**VOXEL, seeds=(2, 27), tries=2, faults=faults)
    lanes = {lane.name: lane_faults(config, lane) for lane in make_plan(config).lanes}
    assert lanes == {
        "2:0": ("hang:tick=240", "exit:code=9"),
        "2:1": ("hang:tick=240",),
        "27:0": ("hang:tick=240",),
        "27:1": ("cam:tick=160:px=2", "hang:tick=240"),
    }


@pytest.mark.parametrize("fault", ["", "27:cam:step=4", "cam:step", "3:0:cam:step=4", "27:5:cam:step=4", "cam step=4"])
def test_a_malformed_or_homeless_fault_is_refused(fault: str) -> None:
    config = LadderConfig(**VOXEL, seeds=(2, 27), tries=2, faults=(fault,))
    with pytest.raises(BadInput, match=r"^faults: expected "):
        check_faults(config, make_plan(config))


@pytest.mark.parametrize("fault", ["camera:step=4", "cam:step=x", "27:1:cam:step=4:px=0"])
def test_a_fault_the_embedded_world_does_not_know_is_refused(fault: str) -> None:
    config = LadderConfig(**VOXEL, seeds=(2, 27), tries=2, faults=(fault,))
    with pytest.raises(BadInput, match=r"^fault "):
        check_faults(config, make_plan(config))
