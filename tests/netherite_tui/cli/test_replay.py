"""`check` and replay runs from the command line: the toy game against the toy library."""

import subprocess
import sys
from pathlib import Path

import pytest

from core.ladder.report import native_bytes
from tests.commandline import environment, make_toy, netherite
from tests.toys import toy_library, toy_snapshot


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return toy_library(tmp_path_factory.mktemp("library"))


def _replay_options(folder: Path, library: Path, seeds: tuple[int, ...], *toy_options: str) -> list[str]:
    options = make_toy(folder, seeds, *toy_options)
    for seed in seeds:
        toy_snapshot(folder / "snaps", seed)
    return [*options, f"--blaze-lib={library}"]


def test_check_passes_for_equal_worlds(tmp_path: Path, library: Path) -> None:
    done = netherite(tmp_path / "runs", "check", *_replay_options(tmp_path, library, (2, 3)))
    assert done.stdout == "PASS 32 forward ticks: magma and blaze, seeds 2,3\n", done.stderr
    assert done.returncode == 0
    assert not (tmp_path / "runs").exists()


def test_check_fails_at_the_first_difference(tmp_path: Path, library: Path) -> None:
    options = _replay_options(tmp_path, library, (2, 3), "--off-by-one-at=20")
    done = netherite(tmp_path / "runs", "check", *options, "--seeds=2")
    assert done.stdout == (
        "FAIL 32 forward ticks: magma and blaze, seeds 2: seed 2 step 20: hotbar[0] id/count 17/1 vs 0/0\n"
    ), done.stderr
    assert done.returncode == 1


def test_check_of_a_game_that_dies_is_no_pass(tmp_path: Path, library: Path) -> None:
    options = _replay_options(tmp_path, library, (2,), "--misbehave=exit0", "--at=20")
    done = netherite(tmp_path / "runs", "check", *options)
    assert done.stdout.startswith("FAIL 32 forward ticks: magma and blaze, seeds 2: seed 2 CRASHED: ")
    assert done.stdout.count("\n") == 1
    assert done.returncode == 3


def test_a_replay_that_diverges_exits_1(tmp_path: Path, library: Path) -> None:
    options = _replay_options(tmp_path, library, (2, 3), "--off-by-one-at=20")
    done = netherite(tmp_path / "runs", "run", *options, "--transfer=replay", "--tries=1", "--ep-ticks=80")
    assert done.returncode == 1, done.stderr
    assert native_bytes(done.stdout).splitlines()[:4] == [
        "replay magma --rl-bin vs blaze_cpu gated BOLR (cam/inv/pose/hotbar/coal/dead)",
        "seed   2 try 0: DIVERGE step=5 hotbar[0] id/count 17/1 vs 0/0",
        "seed   3 try 0: DIVERGE step=5 hotbar[0] id/count 17/1 vs 0/0",
        "MATCH 0/2 (step 0=t0, 1=burn-in, 2+=policy decision)",
    ]
    shown = netherite(tmp_path / "runs", "ls").stdout
    assert "MATCH 0/2" in shown


def test_a_lost_lane_outranks_a_divergence(tmp_path: Path, library: Path) -> None:
    words = ("--off-by-one-at=20", "--misbehave=exit0", "--at=12", "--only-seed=3")
    options = [*_replay_options(tmp_path, library, (2, 3), *words), "--transfer=replay", "--retries=0"]
    done = netherite(tmp_path / "runs", "run", *options, "--tries=1", "--ep-ticks=80")
    assert "\nseed   3 try 0: CRASHED\nMATCH 0/2 (1 lost) (step 0=t0" in done.stdout
    assert done.returncode == 3, done.stdout + done.stderr


def test_a_headless_exact_run_imports_neither_torch_nor_a_user_interface(tmp_path: Path, library: Path) -> None:
    options = _replay_options(tmp_path, library, (2,))
    arguments = [*options, "--policy=net", "--checkpoint=fixture:1", "--transfer=replay", "--tries=1", "--ep-ticks=40"]
    probe = (
        "import sys; from netherite_tui.cli import run_cli; code = run_cli(['run', '--headless', *sys.argv[1:]]);"
        "print('CODE', code, sorted({'torch', 'textual', 'rich'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", probe, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=environment(tmp_path / "runs"),
    )
    assert done.stdout.splitlines()[-1] == "CODE 0 []", done.stderr
