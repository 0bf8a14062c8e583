"""The list of runs, a new run, one lane, export: what their keys do."""

from dataclasses import replace
from pathlib import Path

import pytest

from core.ladder.events import LaneResult, Outcome
from core.runs import store
from netherite_tui.app import NetheriteApp
from netherite_tui.screens.confirm import Confirm
from netherite_tui.screens.export import ExportScreen
from netherite_tui.screens.lane import LaneScreen, record_differences
from netherite_tui.screens.new_run import NewRunScreen
from netherite_tui.screens.run import RunScreen
from netherite_tui.screens.runs import RunsPane, RunsScreen
from netherite_tui.settings import Settings
from netherite_tui.widgets.camera import CameraPane
from netherite_tui.widgets.lanes import LanesPane
from tests.netherite_tui.fake_client import golden_records, ladder, with_pixels
from tests.netherite_tui.seeing import text_of, until

# -- runs --


@pytest.mark.usefixtures("made_up_runs")
async def test_list_keeps_the_cursor_on_its_run(made_up_runs: list[store.RunSummary]) -> None:
    app = NetheriteApp(runs_dir=Path("/runs"))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: "4 runs" in text_of(app), "the list is there")
        await pilot.press("j")
        pane = app.screen.query_one(RunsPane)
        assert pane.run is made_up_runs[1]
        made_up_runs.insert(0, made_up_runs.pop(2))
        app.screen._wake.set()
        await until(pilot, lambda: pane.runs[0] is made_up_runs[0], "the list is fresh")
        assert pane.run is made_up_runs[2]


@pytest.mark.usefixtures("made_up_runs")
async def test_delete_asks_and_does_nothing_on_no(monkeypatch: pytest.MonkeyPatch) -> None:
    removed: list[Path] = []
    monkeypatch.setattr(store, "remove_run", removed.append)
    app = NetheriteApp(runs_dir=Path("/runs"))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: "4 runs" in text_of(app), "the list is there")
        await pilot.press("j", "d")
        assert "20261130-201500-77b2c0" in text_of(app)
        await pilot.press("n")
        assert removed == []
        await pilot.press("d", "y")
        assert removed == [Path("/runs/20261130-201500-77b2c0")]


@pytest.mark.usefixtures("made_up_runs")
async def test_readonly_list_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    removed: list[Path] = []
    monkeypatch.setattr(store, "remove_run", removed.append)
    app = NetheriteApp(runs_dir=Path("/runs"), readonly=True)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await until(pilot, lambda: "4 runs" in text_of(app), "the list is there")
        assert not {"Delete", "New", "Resume"} & set(text_of(app).split())
        for key in ("d", "n", "r"):
            await pilot.press(key)
            assert isinstance(app.screen, RunsScreen)
        await until(pilot, lambda: "--readonly" in text_of(app), "it says why")
    assert removed == []


async def test_an_unreadable_run_is_told_and_the_list_stays(tmp_path: Path) -> None:
    folder = tmp_path / "20261201-000000-abcdef"
    folder.mkdir()
    (folder / store.MANIFEST).write_text("{not json")
    app = NetheriteApp(runs_dir=tmp_path)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await until(pilot, lambda: "damaged" in text_of(app), "the list is there")
        await pilot.press("enter")
        await until(pilot, lambda: "not possible" in text_of(app), "it says why")
        assert isinstance(app.screen, RunsScreen)


async def test_an_empty_list_says_what_to_do(tmp_path: Path) -> None:
    app = NetheriteApp(runs_dir=tmp_path / "none")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "no runs yet" in text_of(app), "the list is there")


# -- new run --


async def new_run(pilot: object, app: NetheriteApp) -> NewRunScreen:
    await pilot.press("n")
    await until(pilot, lambda: isinstance(app.screen, NewRunScreen), "the form is there")
    return app.screen


@pytest.mark.usefixtures("made_up_doctor")
async def test_fields_are_checked_as_typed_and_make_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    app = NetheriteApp(runs_dir=tmp_path)
    async with app.run_test(size=(120, 40)) as pilot:
        form = await new_run(pilot, app)
        await pilot.press(*"magmA")
        await until(pilot, lambda: "expected one of" in text_of(app), "the backend is wrong")
        await pilot.press("backspace", "a", "down", *"replay", "down", *"my ckpt.bin")
        await until(pilot, lambda: "expected" not in text_of(app), "all is well")
        assert form.command() == "netherite-tui run --backend=magma --transfer=replay '--checkpoint=my ckpt.bin'"
        resolved = form.resolved()
        assert (resolved.config.backend, resolved.config.checkpoint) == ("magma", "my ckpt.bin")


@pytest.mark.usefixtures("made_up_doctor")
async def test_files_of_this_machine_are_offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "best.bin").write_bytes(b"BNN1" + bytes(60))
    (tmp_path / "out" / "other.bin").write_bytes(bytes(60))
    (tmp_path / "snaps").mkdir()
    (tmp_path / "snaps" / "s2_t0.bsnp").touch()
    monkeypatch.chdir(tmp_path)
    app = NetheriteApp(runs_dir=tmp_path / "runs")
    async with app.run_test(size=(120, 40)) as pilot:
        form = await new_run(pilot, app)
        await until(pilot, lambda: bool(form._found), "files were searched")
        await pilot.press("down", "down")
        await until(pilot, lambda: "out/best.bin, fixture:1" in text_of(app), "checkpoints are offered")
        assert form._found["snaps_dir"] == ["snaps"]
        await pilot.press("o")
        await pilot.pause(0.2)
        await pilot.press("right")
        assert form.typed() == {"checkpoint": "out/best.bin"}


@pytest.mark.usefixtures("made_up_doctor")
async def test_start_refuses_what_cannot_be_and_starts_what_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[object] = []
    monkeypatch.setattr(NetheriteApp, "start_run", lambda _app, resolved, argv: started.append((resolved, argv)))
    app = NetheriteApp(runs_dir=tmp_path)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await new_run(pilot, app)
        await pilot.press(*"vox", "ctrl+s")
        await until(pilot, lambda: "not started" in text_of(app), "it says why")
        assert started == []
        await pilot.press(*"el", "ctrl+s")
        await pilot.pause()
    ((resolved, argv),) = started
    assert resolved.config.backend == "voxel"
    assert argv == ["netherite-tui", "run", "--backend=voxel"]


@pytest.mark.usefixtures("made_up_doctor")
async def test_the_form_starts_from_the_config_file(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('[run]\ntries = 2\nbackend = "voxel"\nlane_args = ["--set", "a=1"]\n')
    app = NetheriteApp(runs_dir=tmp_path / "runs")
    async with app.run_test(size=(120, 40)) as pilot:
        form = await new_run(pilot, app)
        assert form.typed() == {"tries": "2", "backend": "voxel", "lane_args": "--set a=1"}
        assert form.resolved().config.lane_args == ("--set", "a=1")


# -- lane --


async def test_lane_shows_result_load_and_divergence_field_by_field() -> None:
    client = ladder()
    record = golden_records("s14_move400")[60]
    client.results[7] = LaneResult(
        7,
        Outcome.DIVERGE,
        milestone_decisions=(0, 210, -1, -1, -1, -1),
        stderr_tail=b"toy: 604 ticks\n\xff\n",
        magma_record=record,
        reference_record=with_pixels(record, 3),
    )
    app = NetheriteApp(client)
    async with app.run_test(size=(200, 60)) as pilot:
        app.screen.query_one(LanesPane).move_to(7)
        await pilot.press("enter")
        assert isinstance(app.screen, LaneScreen)
        await until(pilot, lambda: "toy: 604 ticks" in text_of(app), "stderr is there")
        text = text_of(app)
        for words in ("decision 210", "step 153", "cam 3 px", "3 differ", "3:2  DIVERGE"):
            assert words in text
        await pilot.press("right_square_bracket")
        await until(pilot, lambda: "Lane 3:3" in text_of(app), "the next lane")
        await pilot.press("left_square_bracket", "left_square_bracket")
        await until(pilot, lambda: "Lane 3:1" in text_of(app), "the lane before")
        view = app.screen.query_one(CameraPane).view
        await pilot.press("v")
        assert app.screen.query_one(CameraPane).view != view
        await pilot.press("escape")
        assert isinstance(app.screen, RunScreen)


def test_record_differences_name_every_gated_field() -> None:
    record = golden_records("s14_move400")[60]
    lines = record_differences(record, with_pixels(record, 4))
    words = {line[0][0].strip(): line[1][0].strip() for line in lines}
    assert words["cam"] == "4 differ"
    assert words["coal"] == "same"
    assert [line[0][0].strip() for line in lines[:2]] == ["cam", "depth"]  # what differs comes first
    assert {
        "dead",
        "x",
        "y",
        "z",
        "yaw",
        "pitch",
        "container",
        "hotbar_sel",
        "hotbar_ids",
        "log",
        "torch",
        "edge",
    } <= set(words)


# -- export --


async def test_export_writes_asks_before_replacing_and_changes_format(tmp_path: Path) -> None:
    path = tmp_path / "tables.md"
    app = NetheriteApp(ladder())
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        for turn in range(2):
            await pilot.press("e")
            await until(pilot, lambda: "md of 65 lanes" in text_of(app), "the preview is there")
            await pilot.press("home", "ctrl+k", *str(path), "enter")
            if turn:
                assert isinstance(app.screen, Confirm)
                await pilot.press("y")
            await until(pilot, path.exists, "the file is written")
            await until(pilot, lambda: isinstance(app.screen, RunScreen), "back at the run")
        assert path.read_text() == "md of 65 lanes\n"
        await pilot.press("e", "f2")
        await until(pilot, lambda: "csv of 65 lanes" in text_of(app), "the next format")
        assert ".csv" in text_of(app)
        await pilot.press("escape")
        assert isinstance(app.screen, RunScreen)


async def test_export_failures_are_one_line(tmp_path: Path) -> None:
    app = NetheriteApp(ladder())
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await pilot.press("e")
        await until(pilot, lambda: "md of 65 lanes" in text_of(app), "the preview is there")
        await pilot.press("home", "ctrl+k", *str(tmp_path / "no" / "such" / "x.md"), "enter")
        await until(pilot, lambda: "not written" in text_of(app), "it says why")
        assert isinstance(app.screen, ExportScreen)


async def test_copy_says_that_a_terminal_may_ignore_it() -> None:
    app = NetheriteApp(ladder())
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await pilot.press("e")
        await until(pilot, lambda: "md of 65 lanes" in text_of(app), "the preview is there")
        await pilot.press("ctrl+y")
        await until(pilot, lambda: "may ignore it" in text_of(app), "the note is shown")
        assert app.clipboard == "md of 65 lanes\n"


# -- everywhere --


async def test_command_palette_finds_actions_and_themes() -> None:
    app = NetheriteApp(ladder())
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("ctrl+p", *"overworld")
        await until(pilot, lambda: "Theme: overworld" in text_of(app), "the theme is found")
        await pilot.press("enter")
        await until(pilot, lambda: app.look.palette.name == "overworld", "the theme is on")


async def test_theme_and_glyphs_change_live() -> None:
    app = NetheriteApp(ladder())
    async with app.run_test(size=(120, 40)) as pilot:
        seen = []
        for _ in range(4):
            seen.append(app.look.palette.name)
            await pilot.press("t")
            await pilot.pause()
        assert sorted(seen) == ["high-contrast", "mono", "netherite", "overworld"]
        assert app.look.palette.name == seen[0]
        await pilot.press("g")
        await pilot.pause(0.3)
        assert text_of(app).isascii()
        await pilot.press("g")
        await pilot.pause(0.3)
        assert "╭" in text_of(app)


async def test_the_bell_rings_for_firsts_and_can_be_off(monkeypatch: pytest.MonkeyPatch) -> None:

    for wanted in (True, False):
        rings: list[int] = []
        monkeypatch.setattr(NetheriteApp, "bell", lambda _app, rung=rings: rung.append(1))
        client = ladder()
        app = NetheriteApp(client, settings=Settings(bell=wanted))
        async with app.run_test(size=(120, 40)) as pilot:
            await pilot.pause()
            for kind in ("mismatch", "mismatch", "stuck", "stuck", "run-end"):
                client.say(kind, f"{kind} of a lane", 20)
            await until(pilot, lambda app=app: "run-end of a lane" in text_of(app), "the events came")
        assert len(rings) == 3 * wanted


async def test_the_history_of_a_run_that_is_read_slowly_is_no_news(monkeypatch: pytest.MonkeyPatch) -> None:
    rings: list[int] = []
    monkeypatch.setattr(NetheriteApp, "bell", lambda _app: rings.append(1))
    client = ladder()
    client.owned = False
    client.state = replace(client.state, phase="preparing")
    app = NetheriteApp(client)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await pilot.pause()
        client.say("stuck", "an old hang", 20)
        await until(pilot, lambda: "an old hang" in text_of(app), "the history came")
        client.state = replace(client.state, phase="running")
        await until(pilot, lambda: app.screen.model.status.phase == "running", "the run was read")
        await pilot.pause(0.3)
        assert rings == []
        client.say("run-end", "it is over", None)
        await until(pilot, lambda: bool(rings), "what happens now is told")


async def test_help_lists_the_keys_of_the_screen_it_was_opened_on(tmp_path: Path) -> None:
    app = NetheriteApp(runs_dir=tmp_path)
    async with app.run_test(size=(120, 60)) as pilot:
        await pilot.press("question_mark")
        assert "New run" in text_of(app)
        assert "Retry lost lanes" not in text_of(app)


@pytest.mark.usefixtures("made_up_runs")
async def test_the_lists_keys_can_be_rebound_and_are_in_the_palette() -> None:
    app = NetheriteApp(runs_dir=Path("/runs"), settings=Settings(keys={"runs-delete": "f9", "new-start": "f10"}))
    async with app.run_test(size=(120, 60)) as pilot:
        await until(pilot, lambda: "4 runs" in text_of(app), "the list is there")
        assert "f9 Delete" in text_of(app)
        offered = {command.title for command in app.get_system_commands(app.screen)}
        assert {"New run", "Delete", "Quit"} <= offered
        assert "Kill all stuck" not in offered
        await pilot.press("f9")
        await until(pilot, lambda: "Delete this run?" in text_of(app), "the user's own key deletes")
