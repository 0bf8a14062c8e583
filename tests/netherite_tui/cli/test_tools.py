"""export, tune, doctor, config and completion from the command line."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from core.ladder.config import DEFAULT_SEEDS
from core.runs import store
from tests.commandline import environment, make_toy, netherite
from tests.toys import PROGRAMS


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    return tmp_path / "runs"


def small_run(tmp_path: Path, runs: Path, *options: str) -> store.StoredRun:
    done = netherite(runs, "run", *make_toy(tmp_path, (2, 11)), "--tries=2", "--ep-ticks=40", *options)
    assert done.returncode == 0, done.stderr
    return store.load_run(store.run_folders(runs)[0])


def test_export_to_stdout_and_to_a_file_by_its_ending(tmp_path: Path, runs: Path) -> None:
    run = small_run(tmp_path, runs)
    shown = netherite(runs, "export", "last")
    assert shown.returncode == 0
    assert shown.stdout.startswith("### random:3: closed on magma\n")
    assert f"| run | {run.id} |" in shown.stdout
    target = tmp_path / "out.json"
    assert netherite(runs, "export", run.id, "-o", str(target)).stdout == ""
    lanes = json.loads(target.read_text())["lanes"]
    assert [(lane["seed"], lane["try"], lane["status"]) for lane in lanes] == [
        (2, 0, "done"), (2, 1, "done"), (11, 0, "done"), (11, 1, "done"),
    ]  # fmt: skip
    html = netherite(runs, "export", "last", "--format=html", "-o", "-").stdout
    assert html.startswith("<!DOCTYPE html>")
    assert "11 HELD-OUT" in html


def test_an_unfinished_run_is_exported_too(tmp_path: Path, runs: Path) -> None:
    run = small_run(tmp_path, runs)
    journal = run.folder / store.JOURNAL
    journal.write_bytes(journal.read_bytes()[:900])
    text = netherite(runs, "export", "last", "--format=csv").stdout
    assert text.count("\n") == 5
    assert text.count(",not run,") >= 1


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("export", "last", "--format=pdf"), "'pdf' is not one of 'md', 'csv', 'json', 'html'"),
        (("export", "last", "-o", "/nowhere/a.md"), "/nowhere/a.md: cannot be written: No such file or directory"),
        (("export", "last"), "run 'last': expected an id, a prefix or `last`, found no such run"),
    ],
)
def test_a_bad_export_is_one_line(tmp_path: Path, runs: Path, arguments: tuple[str, ...], text: str) -> None:
    if "/nowhere/a.md" in arguments:
        small_run(tmp_path, runs)
    done = netherite(runs, *arguments)
    assert done.returncode == 2
    assert text in done.stderr
    assert done.stderr.count("\n") == 1


def test_tune_tells_and_a_run_says_what_was_not_shown(tmp_path: Path, runs: Path) -> None:
    data = {"XDG_DATA_HOME": str(tmp_path / "data")}
    toy = make_toy(tmp_path, (2, 3))
    tuned = subprocess.run(
        [sys.executable, "-m", "netherite_tui", "tune", *toy, "--ticks=40", "--try=--late-s 0.5", "--try=--torch-at 8"],
        env=environment(runs) | data, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert tuned.returncode == 0, tuned.stderr
    good, bad = tuned.stdout.splitlines()
    assert good.startswith("--late-s 0.5: identical over 80 ticks from 2 starts; ")
    assert good.endswith("use --lane-arg=--late-s --lane-arg=0.5")
    assert bad == "--torch-at 8: DIFFERENT on s2_t0.bsnp: inv_counts at tick 8"
    for words, note in ((("--late-s", "0.5"), False), (("--late-s", "0.7"), True)):
        extra = [f"--lane-arg={word}" for word in words]
        done = subprocess.run(
            [sys.executable, "-m", "netherite_tui", "run", *toy, *extra, "--tries=1", "--ep-ticks=8"],
            env=environment(runs) | data, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert ("# lane arguments --late-s 0.7: not shown to leave" in done.stdout) == note
        assert ("# lane arguments" in done.stdout) == note


def test_bake_on_the_command_line(tmp_path: Path, runs: Path) -> None:
    game = tmp_path / "game"
    game.write_text(f'#!/bin/sh\nexec {sys.executable} {PROGRAMS / "baking_lane.py"} "$@"\n')
    game.chmod(0o755)
    (tmp_path / "snaps").mkdir()
    bake = ["bake", f"--magma-bin={game}", f"--snaps-dir={tmp_path / 'snaps'}", "--seeds=3,4"]
    done = netherite(runs, *bake)
    assert done.stdout.count("128x4x128 cells, liquids yes, 2 coal\n") == 2
    assert done.returncode == 0
    assert netherite(runs, *bake).returncode == 4
    climbed = netherite(runs, *bake, "--stage=2", "--policy=noop", "--tries=1", "--ep-ticks=8")
    assert climbed.stdout == "".join(f"seed {seed}: pick not reached in 1 x 2 decisions\n" for seed in (3, 4))
    assert climbed.returncode == 3
    for wrong in (["--stage=all"], ["--backend=voxel"], ["--backend=cpu"]):
        refused = netherite(runs, *bake, *wrong, *([] if "voxel" not in wrong[0] else ["--snaps-dir=generated"]))
        assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)


def test_doctor_on_the_command_line(tmp_path: Path, runs: Path) -> None:
    done = netherite(runs, "doctor", *make_toy(tmp_path, (2,)), "--reference=voxel")
    lines = done.stdout.splitlines()
    assert [line[:5].strip() for line in lines][:2] == ["ok", "-"]
    assert lines[2].startswith("bad   snapshots ")  # the toy's snapshots are empty files
    assert done.returncode == 3
    assert len(lines) == 8


def test_config_tells_where_each_value_came_from(tmp_path: Path, runs: Path) -> None:
    runs.mkdir()
    (runs / "config.toml").write_text('[run]\ntries = 3\ncheckpoint = "a.bin"\n')
    done = netherite(runs, "config", "--set", "ep_ticks=400", "--seeds=2,3")
    values = {line.split()[0]: line.split(maxsplit=3)[2:] for line in done.stdout.splitlines() if " = " in line}
    assert values["tries"] == ["3", f"config file {runs / 'config.toml'}"]
    assert values["ep_ticks"] == ["400", "--set"]
    assert values["seeds"] == ["2,3", "flag"]
    assert values["action_repeat"] == ["4", "default"]
    assert f"runs             {runs}" in done.stdout
    assert "environment NETHERITE_RUNS" in done.stdout
    (shipped,) = (line.split()[2] for line in done.stdout.splitlines() if line.startswith("shipped themes"))
    assert (Path(shipped) / "mono.toml").is_file()
    assert done.returncode == 0


def test_config_tells_a_kernel_folder_of_ones_own_from_the_usual_one(
    tmp_path: Path, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def origin() -> str:
        lines = netherite(runs, "config").stdout.splitlines()
        return next(line for line in lines if line.startswith("kernels "))

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    assert origin().endswith(" default")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "mine"))
    assert origin().endswith(f"{tmp_path / 'mine'} environment NUMBA_CACHE_DIR")


def complete(runs: Path, *words: str) -> list[str]:
    """Returns what bash would be offered after these words, the last being unfinished."""
    asked = {
        "_NETHERITE_TUI_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(words),
        "COMP_CWORD": str(len(words) - 1),
    }
    if words[-1] == "":
        asked["COMP_WORDS"] = " ".join(words[:-1])
    done = subprocess.run(
        [sys.executable, "-m", "netherite_tui"],
        env=environment(runs) | asked,
        capture_output=True,
        text=True,
        check=False,
    )
    return [line.partition(",")[2] for line in done.stdout.splitlines()]


def test_completion_offers_runs_lanes_seeds_formats_and_words(tmp_path: Path, runs: Path) -> None:
    run = small_run(tmp_path, runs)
    program = "netherite-tui"
    assert complete(runs, program, "exp") == ["export"]
    assert complete(runs, program, "show", "") == ["last", run.id]
    assert complete(runs, program, "export", run.id[:4]) == [run.id]
    assert complete(runs, program, "export", "last", "--format", "") == ["md", "csv", "json", "html"]
    assert complete(runs, program, "kill", run.id, "2") == ["2:0", "2:1"]
    assert complete(runs, program, "run", "--backend", "m") == ["metal", "magma"]
    assert complete(runs, program, "run", "--seeds", "2,3,1") == ["2,3,10", "2,3,11", "2,3,14", "2,3,16"]
    snaps = f"--snaps-dir={tmp_path / 'snaps'}"
    assert complete(runs, program, "run", snaps, "--seeds", "") == ["2", "11"]
    assert complete(runs, program, "run", "--seeds", "")[: len(DEFAULT_SEEDS)] == [str(seed) for seed in DEFAULT_SEEDS]
    assert complete(runs, program, "completion", "") == ["bash", "zsh", "fish"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(runs: Path, shell: str) -> None:
    done = netherite(runs, "completion", shell)
    assert done.returncode == 0
    assert "_NETHERITE_TUI_COMPLETE" in done.stdout
    if shell == "bash":
        script = os.fsencode(done.stdout)
        subprocess.run(["bash", "-n"], input=script, check=True)
