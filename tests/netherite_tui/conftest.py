"""A terminal that is the same everywhere: true colours, UTF-8, no NO_COLOR, a clock that stands still."""

import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from textual import constants

from core.runs import doctor, store
from netherite_tui import model
from netherite_tui.screens import runs
from netherite_tui.widgets import log
from tests.netherite_tui import fake_client


@pytest.fixture(autouse=True)
def steady_terminal(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Fixes what a screen would otherwise take from the machine."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in (("LC_ALL", "C.UTF-8"), ("TERM", "xterm-256color"), ("COLORTERM", "truecolor")):
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("NETHERITE_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setattr(constants, "COLOR_SYSTEM", "truecolor")
    monkeypatch.setattr(log, "time", SimpleNamespace(strftime=time.strftime, localtime=time.gmtime))


@pytest.fixture
def still_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stops the clocks that screens read, so that ages in pictures do not move."""
    frozen = SimpleNamespace(monotonic=lambda: 5000.0, time=lambda: fake_client.START + 2472)
    for module in (model, fake_client, runs):
        monkeypatch.setattr(module, "time", frozen)


@pytest.fixture
def made_up_runs(monkeypatch: pytest.MonkeyPatch) -> list[store.RunSummary]:
    """Makes the runs folder look as if it held four runs."""
    start = fake_client.START
    rows = [
        ("20261201-124000-k3f9a1", "running", "retrain_0821_best.bin", "magma replay", "MATCH 15/65", 19, start),
        ("20261130-201500-77b2c0", "finished", "retrain_0819.bin", "magma closed", "best logs3", 65, start - 60_000),
        ("20261130-090000-aa01bb", "gone", "bot", "voxel replay", "MATCH 3/13", 4, start - 90_000),
    ]
    found = [
        store.RunSummary(id, Path("/runs") / id, store.RunState(state), name, mode, head, ended, 65, when, "polaris")
        for id, state, name, mode, head, ended, when in rows
    ]
    trouble = "journal /runs/x/journal.msgpack: damaged at byte 4096"
    found.append(store.RunSummary("20261129-010101-dead00", Path("/runs/x"), store.RunState.DAMAGED, trouble=trouble))
    monkeypatch.setattr(store, "run_folders", lambda _folder: [run.folder for run in found])
    monkeypatch.setattr(store, "summarize", lambda folder: next(run for run in found if run.folder == folder))
    return found


@pytest.fixture
def made_up_doctor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets the doctor say the same of every machine."""

    def examine(_patient: Any) -> Iterator[doctor.Finding]:
        yield doctor.Finding(doctor.Level.OK, "snapshots", "13 of 13 seeds")
        yield doctor.Finding(doctor.Level.BAD, "lane binary", "magma/magma_game: cannot start", "build the game")

    monkeypatch.setattr(doctor, "examine", examine)
