"""Runs on the embedded world: the process, the reference in this process, faults, and the demo."""

from pathlib import Path

import pytest

from core.ladder.config import LadderConfig
from core.ladder.engine import Engine
from core.ladder.events import Outcome
from core.ladder.plan import make_plan
from core.ladder.report import native_bytes
from core.ladder.warmup import ensure_warm, rooms_of
from core.policy.controls import controller_factory
from netherite_tui.cli.demo import SETTINGS
from tests.commandline import living_lanes, netherite


@pytest.fixture(scope="module", autouse=True)
def _kernels() -> None:
    ensure_warm(rooms_of(LadderConfig(**SETTINGS)), print)


def test_a_replay_needs_no_kernel_the_warm_up_did_not_compile() -> None:
    from core.worlds.voxel.step import run_decision

    config = LadderConfig(backend="voxel", transfer="replay", policy="random", seeds=(2,), tries=1, ep_ticks=16)
    engine = Engine(config, make_plan(config), controller_factory("random"), run_id="voxel-test")
    engine.start()
    try:
        assert engine.wait(120.0)
    finally:
        engine.stop()
    result = engine.results()[0]
    assert result.outcome == Outcome.MATCH, result.note
    assert len(run_decision.nopython_signatures) == 1


def test_check_on_the_embedded_world(tmp_path: Path) -> None:
    done = netherite(tmp_path / "runs", "check", "--backend=voxel", "--seeds=2")
    assert done.stdout == "PASS 32 forward ticks: voxel and voxel, seeds 2\n", done.stderr
    assert done.returncode == 0
    faulty = netherite(tmp_path / "runs", "check", "--backend=voxel", "--seeds=2", "--fault=cam:step=7:px=3")
    assert faulty.stdout == "FAIL 32 forward ticks: voxel and voxel, seeds 2: seed 2 step 7: cam 3 px\n", faulty.stderr
    assert faulty.returncode == 1


def test_the_demo_shows_every_kind_of_end(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    done = netherite(runs, "demo", "--headless", "--seeds=2,10,27,33", "--ep-ticks=800", "--step-timeout=20")
    assert done.returncode == 3, done.stderr
    lines = done.stdout.splitlines()
    assert [line for line in lines if line.startswith("# FAULT INJECTED ")] == [
        f"# FAULT INJECTED {fault}" for fault in SETTINGS["faults"]
    ]
    assert native_bytes(done.stdout).splitlines()[:9] == [
        "replay magma --rl-bin vs voxel gated BOLR (cam/inv/pose/hotbar/coal/dead)",
        "seed   2 try 0: MATCH",
        "seed  10 try 0: DIVERGE step=40 cam 2 px",
        "seed  27 try 0: DIVERGE step=160 cam 5 px",
        "seed  33 try 0: TIMEOUT",
        "MATCH 1/4 (1 lost) (step 0=t0, 1=burn-in, 2+=policy decision)",
        "net bot, sampled, 1 tries x 800 ticks",
        "backend voxel  rng_protocol nn_sample Gumbel rng_seed=0 sample_step=decision ni=seed_index*1+attempt",
        "transfer replay magma_bin (embedded) camera 64x36 (oc_pixel, not window)",
    ]
    assert living_lanes(runs) == []
