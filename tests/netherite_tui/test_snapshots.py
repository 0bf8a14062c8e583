"""What every screen looks like, as plain text, at the three sizes; and what every theme does to it."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion
from textual.pilot import Pilot

from core.ladder.events import LaneResult, Outcome
from netherite_tui.app import NetheriteApp
from netherite_tui.settings import Settings
from netherite_tui.widgets.lanes import LanesPane
from tests.netherite_tui.fake_client import FakeClient, golden_records, ladder, with_pixels
from tests.netherite_tui.seeing import styles_of, text_of, until

SIZES = ((80, 24), (120, 40), (200, 60))
pytestmark = pytest.mark.usefixtures("still_clock")
Act = Callable[[Pilot[int]], Awaitable[None]]


def press(*keys: str) -> Act:
    async def act(pilot: Pilot[int]) -> None:
        await pilot.press(*keys)

    return act


async def difference(pilot: Pilot[int]) -> None:
    pilot.app.screen.query_one(LanesPane).move_to(7)
    await pilot.press("2", "b", "b", "b")


async def diverged_lane(pilot: Pilot[int]) -> None:
    pilot.app.screen.query_one(LanesPane).move_to(7)
    await pilot.press("enter")


async def stuck_kill(pilot: Pilot[int]) -> None:
    pilot.app.screen.query_one(LanesPane).move_to(22)
    await pilot.press("x")


async def selection(pilot: Pilot[int]) -> None:
    await pilot.press("space", "space", "slash", *"match", "enter", "s", "s", "S")


async def export(pilot: Pilot[int]) -> None:
    await pilot.press("e")
    await until(pilot, lambda: "md of 65 lanes" in text_of(pilot.app), "the preview is there")


RUN_SCREENS: dict[str, Act] = {
    "run": press(),
    "camera": press("2", "z"),
    "camera-planes": press("2", "z", "v", "v", "v", "v"),
    "camera-difference": difference,
    "wall": press("3"),
    "matrix": press("4", "j", "l"),
    "report": press("5"),
    "log": press("6"),
    "selection": selection,
    "lane": diverged_lane,
    "export": export,
    "help": press("question_mark"),
    "kill": stuck_kill,
    "quit": press("q"),
}


def replay() -> FakeClient:
    client = ladder()
    record = golden_records("s14_move400")[60]
    client.results[7] = LaneResult(
        7,
        Outcome.DIVERGE,
        milestone_decisions=(0, 210, 377, -1, -1, -1),
        mismatch_step=153,
        mismatch="cam 3 px",
        stderr_tail=b"magma: loaded snapshot\nmagma: 604 ticks\n",
        magma_record=record,
        reference_record=with_pixels(record, 3),
    )
    return client


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("name", RUN_SCREENS)
async def test_run_screens(name: str, size: tuple[int, int], snapshot: SnapshotAssertion) -> None:
    app = NetheriteApp(replay())
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        await RUN_SCREENS[name](pilot)
        await pilot.pause(0.3)
        assert text_of(app) == snapshot


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.usefixtures("made_up_runs")
async def test_run_list(size: tuple[int, int], snapshot: SnapshotAssertion) -> None:
    app = NetheriteApp(runs_dir=Path("/runs"))
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: "4 runs" in text_of(app), "the list is there")
        assert text_of(app) == snapshot


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.usefixtures("made_up_runs", "made_up_doctor")
async def test_new_run(
    size: tuple[int, int], snapshot: SnapshotAssertion, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    app = NetheriteApp(runs_dir=Path("/runs"))
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: "4 runs" in text_of(app), "the list is there")
        await pilot.press("n", *"voxel", "down", *"replay", "down", "down", "down", "down", "down", *"99")
        await until(pilot, lambda: "build the game" in text_of(app), "the doctor is done")
        await pilot.pause(0.3)
        assert text_of(app) == snapshot


@pytest.mark.parametrize("theme", ["netherite", "overworld", "high-contrast", "mono"])
async def test_themes(theme: str, snapshot: SnapshotAssertion) -> None:
    app = NetheriteApp(replay(), settings=Settings(theme=theme))
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause(0.3)
        assert text_of(app) + styles_of(app, ("MATCH", "DIVERGE", "STUCK", "CRASHED", "Lanes")) == snapshot


async def test_ascii_glyphs(snapshot: SnapshotAssertion) -> None:
    app = NetheriteApp(replay(), settings=Settings(glyphs="ascii"))
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause(0.3)
        assert text_of(app).isascii()
        assert text_of(app) == snapshot


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_stage_all(size: tuple[int, int], snapshot: SnapshotAssertion) -> None:
    client = ladder(tries=5)
    client.facts = replace(client.facts, stage="all", tries=1)
    for view in client.views():
        client.put(view.index, stage=view.attempt, attempt=0)
    app = NetheriteApp(client)
    async with app.run_test(size=size) as pilot:
        await pilot.press("4")
        await pilot.pause(0.3)
        assert text_of(app) == snapshot
