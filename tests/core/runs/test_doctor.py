"""doctor: each check on something good and on the ways it is bad, with real programs, libraries and files."""

import gzip
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from core.ladder.config import LadderConfig, resolve
from core.runs import doctor
from core.runs.doctor import Level
from core.wire.bnn1 import load_checkpoint, write_checkpoint
from core.wire.bsnp import read_snapshot, write_snapshot
from tests.paths import DATA
from tests.toys import TOY_COMMAND, toy_library, toy_program, toy_snapshot

ROOT = Path(__file__).parents[3]


def patient(tmp_path: Path, **values: object) -> doctor.Patient:
    common = {"backend": "magma", "snaps_dir": str(tmp_path), "seeds": "10", "policy": "noop", "tries": "2"}
    return doctor.Patient(config(**(common | values)), tmp_path / "runs" / "deep", {})


def config(**values: object) -> LadderConfig:
    return resolve([("flag", values)]).config


def misbehaving(folder: Path, *words: str) -> str:
    path = folder / "bad_lane"
    path.write_text(f'#!/bin/sh\nexec {" ".join(TOY_COMMAND)} {" ".join(words)} "$@"\n')
    path.chmod(0o755)
    return str(path)


def test_a_lane_binary_that_works_is_measured(tmp_path: Path) -> None:
    toy_snapshot(tmp_path, 10)
    seen = patient(tmp_path, magma_bin=str(toy_program(tmp_path)))
    found = doctor.check_lane_binary(seen)
    assert found.level is Level.OK
    assert "records of 14628 bytes, first after " in found.text
    assert found.text.endswith(" MiB (s10_t0.bsnp)")
    assert seen.lane_rss_bytes > 1_000_000
    assert "(measured)" in doctor.check_memory(seen).text


@pytest.mark.parametrize(
    ("words", "text", "remedy"),
    [
        (("--misbehave", "longer"), "record is 14640 bytes, expected 14628", "build the engine this program speaks to"),
        (("--misbehave", "exit0", "--at", "0"), "lane process ended: exit code 0", "start it by hand"),
        (("--misbehave", "segfault", "--at", "5"), "killed by SIGSEGV", "start it by hand"),
        (("--misbehave", "hang", "--at", "0"), "no first record", "start it by hand"),
        (("--unknown",), "exit code 2", "start it by hand"),
    ],
)
def test_a_bad_lane_binary_is_named(tmp_path: Path, words: tuple[str, ...], text: str, remedy: str) -> None:
    seen = patient(tmp_path, magma_bin=misbehaving(tmp_path, *words), start_timeout_s="2")
    found = doctor.check_lane_binary(seen)
    assert found.level is Level.BAD
    assert text in found.text
    assert remedy in found.remedy
    assert "\n" not in found.line


def test_a_missing_lane_binary_is_named(tmp_path: Path) -> None:
    found = doctor.check_lane_binary(patient(tmp_path, magma_bin="/nowhere/magma_game"))
    assert (found.level, found.remedy) == (Level.BAD, "build the game, or point --magma-bin at it")
    assert doctor.check_lane_binary(patient(tmp_path, backend="cpu")).level is Level.NONE


@pytest.mark.parametrize(
    ("defines", "words", "level", "text"),
    [
        ((), "", Level.OK, "newer ABI, emit rounds to float32"),
        (("OLDER_ABI",), "", Level.OK, "older ABI (the boundary reads as death, success is always the torch)"),
        (("MISCOMPILED",), "", Level.BAD, "rebuild it with -fno-tree-slp-vectorize"),
        (("NO_EMIT",), "", Level.BAD, "has no function blaze_emit"),
        ((), "fail-load", Level.BAD, "blaze cannot load"),
        ((), "hang-at 2", Level.BAD, "did not return within 3 s"),
    ],
)
def test_the_blaze_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, defines: tuple[str, ...], words: str, level: Level, text: str
) -> None:
    if words.startswith("hang"):
        monkeypatch.setattr(doctor, "PROBE_TIMEOUT_S", 3.0)
    toy_snapshot(tmp_path, 10, words)
    found = doctor.check_blaze(patient(tmp_path, blaze_lib=str(toy_library(tmp_path, *defines))))
    assert found.level is level
    assert text in found.text


def test_no_blaze_library(tmp_path: Path) -> None:
    found = doctor.check_blaze(patient(tmp_path, blaze_lib="/nowhere/blaze_cpu.so"))
    assert (found.level, found.remedy) == (Level.BAD, "build it, or point --blaze-lib at it")
    (tmp_path / "text.so").write_text("not a library")
    assert doctor.check_blaze(patient(tmp_path, blaze_lib=str(tmp_path / "text.so"))).level is Level.BAD
    assert doctor.check_blaze(patient(tmp_path, reference="voxel")).level is Level.NONE


def test_snapshots_are_counted_and_bad_ones_named(tmp_path: Path) -> None:
    good = tmp_path / "s10_t0.bsnp"
    good.write_bytes(gzip.decompress((DATA / "magma/s10_t0.bsnp.gz").read_bytes()))
    shutil.copy(good, tmp_path / "s10_stg2.bsnp")
    found = doctor.check_snapshots(patient(tmp_path))
    assert found.level is Level.OK
    assert found.text.endswith("stage 0 1/1, stage 1 0/1, stage 2 1/1, stage 3 0/1, stage 4 0/1")
    missing = doctor.check_snapshots(patient(tmp_path, seeds="10,14"))
    assert (missing.level, missing.remedy) == (Level.BAD, "seed 14 has no t0: netherite-tui bake --seeds 14")
    shutil.copy(good, tmp_path / "s14_t0.bsnp")
    foreign = doctor.check_snapshots(patient(tmp_path, seeds="10,14"))
    assert "s14_t0.bsnp: seed is 10, expected 14 (1 bad; " in foreign.text
    os.truncate(tmp_path / "s14_t0.bsnp", 1000)
    assert "truncated" in doctor.check_snapshots(patient(tmp_path, seeds="10,14")).text


def test_regions_of_different_sizes_are_hinted(tmp_path: Path) -> None:
    raw = tmp_path / "s10_t0.bsnp"
    raw.write_bytes(gzip.decompress((DATA / "magma/s10_t0.bsnp.gz").read_bytes()))
    whole = read_snapshot(raw)
    write_snapshot(tmp_path / "s10_stg1.bsnp", type(whole)(whole.head, whole.items, whole.cells[:64], whole.coal[:0]))
    found = doctor.check_snapshots(patient(tmp_path))
    assert found.level is Level.HINT
    assert "regions differ in size: 128x128x128, 64x128x128" in found.text


def test_the_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "w1.bin"
    write_checkpoint(path, load_checkpoint("fixture:1").tensors)
    good = doctor.check_checkpoint(patient(tmp_path, policy="net", checkpoint=str(path)))
    assert (good.level, good.text) == (Level.OK, "w1.bin: schema 1, payload hash 6560571a80587972")
    (tmp_path / "w1.bin.policy.conf").write_text("")
    hint = doctor.check_checkpoint(patient(tmp_path, policy="net", checkpoint=str(path)))
    assert (hint.level, hint.remedy) == (Level.HINT, "w1.bin.policy.conf beside it is not read: defaults are used")
    path.write_bytes(b"BNN1")
    assert doctor.check_checkpoint(patient(tmp_path, policy="net", checkpoint=str(path))).level is Level.BAD
    assert doctor.check_checkpoint(patient(tmp_path, policy="net")).level is Level.HINT
    assert doctor.check_checkpoint(patient(tmp_path)).level is Level.NONE


def test_memory_that_is_short_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = patient(tmp_path, jobs="4", tries="4")
    seen.lane_rss_bytes = 200 << 20
    for gib, level in ((1, Level.BAD), (1.5, Level.HINT), (8, Level.OK)):
        monkeypatch.setattr(doctor, "available_bytes", lambda gib=gib: int(gib * 2**30))
        assert doctor.check_memory(seen).level is level
    monkeypatch.setattr(doctor, "available_bytes", lambda: int(1.5 * 2**30))
    found = doctor.check_memory(seen)
    assert found.text == "1536 MiB available, 200 MiB a lane (measured): 2 lanes fit, jobs 4"
    assert "--jobs 2" in found.remedy


def test_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert doctor.check_disk(patient(tmp_path)).level is Level.OK
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=1000))
    found = doctor.check_disk(patient(tmp_path))
    assert (found.level, found.remedy) == (Level.BAD, "2 lanes may write 2 MiB")


def test_a_pipe_is_no_terminal_and_outside_tmux_is_no_tmux(tmp_path: Path) -> None:
    seen = patient(tmp_path)
    assert doctor.check_terminal(seen).level is Level.NONE
    assert doctor.check_tmux(seen).text == "not inside tmux"


@pytest.mark.parametrize(
    ("environment", "colours"),
    [
        ({"NO_COLOR": "1", "COLORTERM": "truecolor"}, "no colour (NO_COLOR)"),
        ({"COLORTERM": "truecolor"}, "true colour"),
        ({"TERM": "tmux-256color"}, "256 colours"),
        ({"TERM": "screen"}, "16 colours"),
    ],
)
def test_colours(environment: dict[str, str], colours: str) -> None:
    assert doctor._colours(environment) == colours


def test_inside_tmux_its_options_are_told(tmp_path: Path) -> None:
    """A real tmux server of the test's own, with RGB and mouse on."""
    tmux = ["tmux", "-L", f"netherite-test-{os.getpid()}"]
    answer = tmp_path / "answer"
    probe = "from core.runs import doctor; import os; print(doctor.check_tmux(doctor.Patient(None, None)).line)"
    command = f"PYTHONPATH={ROOT} {sys.executable} -c '{probe}' > {answer}.part; mv {answer}.part {answer}"
    options = ["set -g default-terminal tmux-256color", "set -g mouse on", "set -as terminal-features ',*:RGB'"]
    (tmp_path / "tmux.conf").write_text("\n".join(options) + "\n")
    try:
        subprocess.run([*tmux, "-f", tmp_path / "tmux.conf", "new-session", "-d", command], check=True, timeout=60)
        deadline = time.monotonic() + 60
        while not answer.exists():
            assert time.monotonic() < deadline, "no answer from inside tmux"
            time.sleep(0.05)
    finally:
        subprocess.run([*tmux, "kill-server"], check=False, capture_output=True, timeout=60)
    line = answer.read_text()
    assert line.startswith("ok    tmux           3.")
    assert "default-terminal tmux-256color, mouse on, allow-passthrough off, RGB on" in line


def test_all_checks_give_one_line_each(tmp_path: Path) -> None:
    toy_snapshot(tmp_path, 10)
    seen = patient(tmp_path, magma_bin=str(toy_program(tmp_path)), reference="voxel")
    lines = [finding.line for finding in doctor.examine(seen)]
    assert [line[6:20].strip() for line in lines] == [
        "lane binary", "blaze library", "snapshots", "checkpoint", "memory", "disk", "terminal", "tmux",
    ]  # fmt: skip
    assert not any("\n" in line for line in lines)
