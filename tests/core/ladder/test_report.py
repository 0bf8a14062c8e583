"""Reports against the native's recorded ones: results are read out of each recording, then printed again."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.ladder.config import LadderConfig
from core.ladder.events import LaneResult, Outcome
from core.ladder.milestones import NAMES
from core.ladder.plan import LanePlan, Plan, make_plan
from core.ladder.report import native_bytes, render_report

NATIVE = Path(__file__).parents[2] / "data" / "native"
SNAPS = "blaze/rl/out/snaps"
PREFIXES = ("t=0 ", "burn-in ")


def _config_of(report: str) -> LadderConfig:
    head = re.search(r"^net (\S+), sampled, (\d+) tries x (\d+) ticks$", report, re.M)
    transfer = re.search(r"^transfer (\w+) ", report, re.M)
    return LadderConfig(
        backend=re.search(r"^backend (\w+) ", report, re.M)[1],
        checkpoint=f"somewhere/{head[1]}",
        tries=int(head[2]),
        ep_ticks=int(head[3]),
        seeds=tuple(dict.fromkeys(int(seed) for seed in re.findall(r"^seed +(\d+)[ :]", report, re.M))),
        stage="all" if "--- stage" in report else 0,
        transfer=transfer[1] if transfer else "closed",
    )


def _touch_snapshots(config: LadderConfig, report: str, folder: Path) -> None:
    snaps = folder / SNAPS
    snaps.mkdir(parents=True)
    missing = set(re.findall(r"SKIP missing \S+/(\S+)$", report, re.M))
    for seed in config.seeds:
        for name in (f"s{seed}_t0.bsnp", *(f"s{seed}_stg{stage}.bsnp" for stage in range(1, 5))):
            if name not in missing:
                (snaps / name).touch()


def _stage_texts(report: str) -> dict[int, str]:
    parts = re.split(r"^--- stage (\d) ---\n", report, flags=re.M)
    return {0: report} if len(parts) == 1 else dict(zip(map(int, parts[1::2]), parts[2::2], strict=True))


def _result_of(lane: LanePlan, stage_text: str) -> LaneResult:
    """Reads a lane's result from the recording; every try of a seed gets its seed's best."""
    if lane.skip:
        return LaneResult(lane.index, Outcome.SKIP)
    line = re.search(rf"^seed +{lane.seed}(?: HELD-OUT)?: (.*)$", stage_text, re.M)[1]
    reached = int(re.search(r"\((\d)/5\)", line)[1])
    start = re.search(r"start=(\w+)", line)
    result = LaneResult(lane.index, Outcome.DONE, base=NAMES.index(start[1]) if start else 0, reached=reached)
    replay = re.search(rf"^seed +{lane.seed} try {lane.attempt}: (.*)$", stage_text, re.M)
    if replay is None:
        return result
    diverge = re.fullmatch(r"DIVERGE step=(\d+) (.*)", replay[1])
    if diverge is None:
        return replace(result, outcome=Outcome.MATCH)
    return replace(result, outcome=Outcome.DIVERGE, mismatch_step=int(diverge[1]), mismatch=diverge[2])


def _recorded(name: str, folder: Path) -> tuple[str, LadderConfig, Plan, dict[int, LaneResult]]:
    report = (NATIVE / name).read_text()
    config = _config_of(report)
    _touch_snapshots(config, report, folder)
    plan = make_plan(config)
    texts = _stage_texts(report)
    return report, config, plan, {lane.index: _result_of(lane, texts[lane.stage]) for lane in plan.lanes}


@pytest.mark.parametrize("name", sorted(path.name for path in NATIVE.glob("out_*.txt")))
def test_every_recorded_report(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    report, config, plan, results = _recorded(name, tmp_path)
    rendered = render_report(config, plan, results, ["a note"])
    assert rendered.startswith("# a note\n")
    assert native_bytes(rendered) == report


def test_the_recordings_cover_all_kinds() -> None:
    assert len(list(NATIVE.glob("out_*.txt"))) == 7


def _voxel(**settings: object) -> tuple[LadderConfig, Plan]:
    config = LadderConfig(backend="voxel", checkpoint="fixture:1", **settings)
    return config, make_plan(config)


def test_lost_lanes_never_shrink_n() -> None:
    config, plan = _voxel(transfer="replay", seeds=(2, 3), tries=5)
    results = {lane.index: LaneResult(lane.index, Outcome.MATCH, base=0, reached=1) for lane in plan.lanes}
    results[7] = LaneResult(7, Outcome.TIMEOUT, note="no record for 30 s")
    report = render_report(config, plan, results)
    assert "\nseed   3 try 2: TIMEOUT\n" in report
    assert "\nMATCH 9/10 (1 lost) (step 0=t0, 1=burn-in, 2+=policy decision)\n" in report
    assert "\nseed   2: best milestone = logs3 (1/5)\n" in report
    assert "\nseed   3: best milestone = logs3 (1/5) (1 of 5 tries lost)\n" in report
    assert "# LOST seed 3 try 2: TIMEOUT (no record for 30 s)\n" in report


def test_an_early_report_says_what_did_not_run() -> None:
    config, plan = _voxel(transfer="replay", seeds=(2, 11), tries=2)
    results = {0: LaneResult(0, Outcome.DIVERGE, base=0, reached=2, mismatch_step=0, mismatch="cam 3 px")}
    report = render_report(config, plan, results)
    assert "\nseed   2 try 0: DIVERGE step=0 t=0 cam 3 px\nseed   2 try 1: not run\n" in report
    assert "\nMATCH 0/4 (3 not run) (step 0=t0" in report
    assert "\nseed   2: best milestone = pick (2/5) (1 of 2 tries not run)\n" in report
    assert "\nseed  11 HELD-OUT: no result (2 of 2 tries not run)\n" in report
    assert report.endswith("\nfull chain (torches): 0/2 seeds; milestone histogram: pick:1\n")


def test_burn_in_divergence_is_named() -> None:
    config, plan = _voxel(transfer="replay", seeds=(2,), tries=1)
    result = LaneResult(0, Outcome.DIVERGE, base=0, reached=0, mismatch_step=1, mismatch="coal")
    assert "\nseed   2 try 0: DIVERGE step=1 burn-in coal\n" in render_report(config, plan, {0: result})


def test_the_embedded_world_and_faults_say_so() -> None:
    config, plan = _voxel(seeds=(2,), tries=1, faults=("2:0:hang:step=3",))
    report = render_report(config, plan, {0: LaneResult(0, Outcome.DONE, base=0, reached=0)})
    assert "# FAULT INJECTED 2:0:hang:step=3\n" in report
    assert native_bytes(report).splitlines()[:3] == [
        "net fixture:1, sampled, 1 tries x 6000 ticks",
        "backend voxel  rng_protocol nn_sample Gumbel rng_seed=0 sample_step=decision ni=seed_index*1+attempt",
        "transfer closed magma_bin (embedded) camera 64x36 (oc_pixel, not window)",
    ]


def test_letters_of_a_stage_start_at_the_base_of_try_0(tmp_path: Path) -> None:
    (tmp_path / "s2_stg1.bsnp").touch()
    config, plan = _voxel(seeds=(2,), tries=2, stage=1, snaps_dir=str(tmp_path))
    results = {
        0: LaneResult(0, Outcome.DONE, base=1, reached=2),
        1: LaneResult(1, Outcome.DONE, base=1, reached=5),
    }
    assert "\nseed   2: new=+pick+cobble3+coal+T abs=TORCHES (5/5) start=logs3\n" in render_report(
        config, plan, results
    )


OUTCOMES = st.sampled_from([None, *(outcome for outcome in Outcome if outcome not in (Outcome.SKIP, Outcome.DONE))])


@given(outcomes=st.lists(OUTCOMES, min_size=12, max_size=12), reached=st.lists(st.integers(-1, 5), min_size=12))
def test_whatever_happened_n_stays_and_every_lane_has_its_line(
    outcomes: list[Outcome | None], reached: list[int]
) -> None:
    config, plan = _voxel(transfer="replay", seeds=(2, 3, 11), tries=4)
    results = {
        index: LaneResult(index, outcome, base=0, reached=reached[index], mismatch_step=9, mismatch="coal")
        for index, outcome in enumerate(outcomes)
        if outcome is not None
    }
    report = render_report(config, plan, results)
    lines = native_bytes(report).splitlines()
    words = {None: "not run", Outcome.DIVERGE: "DIVERGE step=9 coal"}
    for lane, outcome in zip(plan.lanes, outcomes, strict=True):
        assert lines[1 + lane.index] == f"seed {lane.seed:3d} try {lane.attempt}: {words.get(outcome) or outcome.value}"
    lost = sum(outcome is not None and not outcome.is_result for outcome in outcomes)
    missing = outcomes.count(None)
    assert lines[13] == (
        f"MATCH {outcomes.count(Outcome.MATCH)}/12{f' ({lost} lost)' if lost else ''}"
        f"{f' ({missing} not run)' if missing else ''} (step 0=t0, 1=burn-in, 2+=policy decision)"
    )
    assert sum(line.startswith("# LOST ") for line in report.splitlines()) == lost
    best = [max((r.reached for i, r in results.items() if i // 4 == seed), default=-1) for seed in range(3)]
    assert f"full chain (torches): {best.count(5)}/3 seeds; " in lines[-1]
