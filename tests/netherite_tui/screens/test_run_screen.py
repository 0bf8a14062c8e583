"""The run screen on injected views: what is where at each size, and what each key does."""

import pytest
from textual.strip import Strip

from core.errors import Refused
from core.ladder.events import LaneState, Outcome
from netherite_tui.app import NetheriteApp
from netherite_tui.screens.confirm import Confirm
from netherite_tui.screens.help import Help
from netherite_tui.screens.run import PANES, RunScreen
from netherite_tui.widgets.camera import CameraPane
from netherite_tui.widgets.lanes import LanesPane
from netherite_tui.widgets.lines import Lines
from netherite_tui.widgets.log import LogPane
from netherite_tui.widgets.views import Side, View
from tests.netherite_tui.fake_client import FakeClient, ladder
from tests.netherite_tui.seeing import text_of, until

SIZES = ((80, 24), (120, 40), (200, 60))
SHOWN = {80: {"lanes"}, 120: {"lanes", "camera", "matrix", "log"}, 200: {"lanes", "camera", "matrix", "log", "wall"}}


def lanes_of(app: NetheriteApp) -> LanesPane:
    return app.screen.query_one(LanesPane)


@pytest.mark.parametrize("size", SIZES)
async def test_layout_follows_the_size(size: tuple[int, int]) -> None:
    app = NetheriteApp(ladder())
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        assert {name for name in PANES if app.screen.pane(name).display} == SHOWN[size[0]]
        text = text_of(app)
        for words in ("MATCH 15/65", "DIVERGE 2", "stuck 1", "lost 2", "retrain_0821_best.bin", "Quit"):
            assert words in text


async def test_a_resize_lays_out_anew_and_keeps_the_cursor() -> None:
    app = NetheriteApp(ladder())
    async with app.run_test(size=(200, 60)) as pilot:
        await pilot.press("j", "j", "j")
        for size in ((80, 24), (120, 40), (40, 10), (200, 60)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            assert lanes_of(app).cursor == 3
        assert {name for name in PANES if app.screen.pane(name).display} == SHOWN[200]


@pytest.mark.parametrize(("key", "name"), [(str(i), name) for i, name in enumerate(PANES, 1)])
async def test_number_keys_reach_every_pane_on_a_small_terminal(key: str, name: str) -> None:
    app = NetheriteApp(ladder())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(key)
        await pilot.pause()
        assert [pane for pane in PANES if app.screen.pane(pane).display] == [name]
        assert name.title() in text_of(app)


async def test_only_new_views_change_the_screen() -> None:
    client = ladder()
    app = NetheriteApp(client)
    async with app.run_test(size=(200, 60)) as pilot:
        await pilot.pause()
        client.put(3, state=LaneState.RUNNING, outcome=None, decision=42, pid=77, rss_mib=123.0)
        await until(pilot, lambda: "42/1500" in text_of(app), "lane 3 shows its decision")
        assert "123" in text_of(app)


async def test_kill_asks_names_the_lane_and_kills_on_yes() -> None:
    client = ladder()
    app = NetheriteApp(client)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        lanes_of(app).move_to(22)
        await pilot.press("x")
        assert isinstance(app.screen, Confirm)
        assert "seed 14 try 2  STUCK  pid 40122" in text_of(app)
        await pilot.press("enter")
        await pilot.press("n")
        assert client.calls == []
        await pilot.press("x", "y")
        await pilot.pause()
        assert client.calls == [("kill", (22,))]
        await until(pilot, lambda: "KILL" in text_of(app), "the matrix says KILL")


async def test_kill_all_stuck() -> None:
    client = ladder()
    app = NetheriteApp(client)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await pilot.press("X")
        assert "Kill all 1 stuck?" in text_of(app)
        await pilot.press("y")
        assert client.calls == [("kill_stuck", (22,))]
        await until(pilot, lambda: "stuck 0" in text_of(app), "no lane is stuck")
        await pilot.press("X")
        assert not isinstance(app.screen, Confirm)
        await until(pilot, lambda: "no lane is stuck" in text_of(app), "the key says so")


async def test_retry_is_for_lost_lanes_only() -> None:
    client = ladder()
    app = NetheriteApp(client)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await pilot.press("r")
        assert client.calls == []
        lanes_of(app).move_to(11)
        await pilot.press("r")
        assert client.calls == [("retry", (11,))]


async def test_pause_and_resume_of_the_selection_and_of_all() -> None:
    client = ladder()
    app = NetheriteApp(client)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        lanes_of(app).move_to(19)
        await pilot.press("space", "space", "p")
        assert client.calls == [("pause", (19, 20))]
        await until(pilot, lambda: "paused 2" in text_of(app), "the header counts the paused")
        await pilot.press("p")
        assert client.calls[-1] == ("resume", (19, 20))
        await until(pilot, lambda: "paused" not in text_of(app), "nothing is paused")
        await pilot.press("P")
        assert client.calls[-1] == ("pause_all", ())


async def test_readonly_offers_and_does_nothing() -> None:
    client = ladder()
    app = NetheriteApp(client, readonly=True)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        assert "Kill" not in text_of(app)
        lanes_of(app).move_to(22)
        for key in ("x", "X", "p", "P"):
            await pilot.press(key)
            assert not isinstance(app.screen, Confirm)
        assert client.calls == []
        await until(pilot, lambda: "read-only" in text_of(app), "the refusal is told")
        await pilot.press("question_mark")
        assert "Kill" not in text_of(app)


async def test_a_refusal_is_one_line() -> None:
    client = ladder()
    client.fail_with = Refused("lane 19 is already over")
    app = NetheriteApp(client)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        lanes_of(app).move_to(19)
        await pilot.press("p")
        await until(pilot, lambda: "lane 19 is already over" in text_of(app), "the refusal is told")


async def test_filter_narrows_as_typed_and_escape_clears() -> None:
    app = NetheriteApp(ladder())
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await pilot.press("slash", *"state=diverge")
        await pilot.pause()
        assert lanes_of(app).rows == [7, 16]
        await pilot.press("enter")
        assert app.focused is lanes_of(app)
        assert "filter: state=diverge (2 of 65)" in text_of(app)
        await pilot.press("escape")
        assert len(lanes_of(app).rows) == 65


async def test_the_log_has_its_own_filter() -> None:
    app = NetheriteApp(ladder())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("6", "slash", *"stuck", "enter")
        log = app.screen.query_one(LogPane)
        assert [event.kind for event in log.shown] == ["stuck"]
        assert len(lanes_of(app).rows) == 65


async def test_sorting_keeps_the_cursor_on_its_lane() -> None:
    app = NetheriteApp(ladder())
    async with app.run_test(size=(200, 60)) as pilot:
        lanes = lanes_of(app)
        lanes.move_to(22)
        await pilot.press("s", "s", "s")  # seed, try, state: STUCK first
        assert lanes.rows[0] == 22
        assert lanes.cursor == 22
        await pilot.press("S")
        assert lanes.rows[-1] == 22
        for _ in range(20):
            await pilot.press("s")
        assert sorted(lanes.rows) == list(range(65))


async def test_camera_cycles_views_and_sides_and_moves_its_crosshair() -> None:
    app = NetheriteApp(ladder())
    async with app.run_test(size=(200, 60)) as pilot:
        lanes_of(app).move_to(7)
        await pilot.pause()
        camera = app.screen.query_one(CameraPane)
        assert "seed 3 try 2  magma" in text_of(app)
        seen = set()
        for _ in View:
            seen.add(camera.view)
            await pilot.press("v")
        assert seen == set(View)
        sides = []
        for _ in Side:
            sides.append(camera.side)
            await pilot.press("b")
            assert "Camera" in text_of(app)
        assert sides == list(Side)
        await pilot.press("2", "l", "j")
        assert camera.cross == (19, 33)
        await pilot.press("home", "c")
        assert camera.cross == (18, 32)
        assert not camera.crosshair


async def test_difference_lists_the_pixels_that_differ() -> None:
    app = NetheriteApp(ladder())
    async with app.run_test(size=(200, 60)) as pilot:
        lanes_of(app).move_to(7)
        await pilot.press("b", "b", "b")
        await pilot.pause()
        text = text_of(app)
        assert "3 px differ" in text
        assert "18  30" in text
        assert "magma" in text


async def test_a_lane_without_reference_has_one_side() -> None:
    client = ladder()
    client.put(0, reference=None)
    app = NetheriteApp(client)
    async with app.run_test(size=(200, 60)) as pilot:
        await pilot.press("b")
        assert app.screen.query_one(CameraPane).side is Side.MAGMA


async def test_zoom_shows_one_pane_and_back() -> None:
    app = NetheriteApp(ladder())
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await pilot.press("2", "z")
        assert [name for name in PANES if app.screen.pane(name).display] == ["camera"]
        await pilot.press("z")
        assert {name for name in PANES if app.screen.pane(name).display} == SHOWN[120]


async def test_matrix_cursor_leads_the_other_panes() -> None:
    app = NetheriteApp(ladder())
    async with app.run_test(size=(200, 60)) as pilot:
        await pilot.press("4", "j", "l", "l")
        assert lanes_of(app).cursor == 7
        assert "seed 3 try 2" in text_of(app)


async def test_wall_pages_and_leads_the_cursor() -> None:
    app = NetheriteApp(ladder())
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await pilot.press("3")
        await pilot.pause()
        assert "page 1 of 3" in text_of(app)
        await pilot.press("n")
        await pilot.pause()
        assert "page 2 of 3" in text_of(app)
        await pilot.press("l", "l")
        assert lanes_of(app).cursor == app.screen.pane("wall").order[app.screen.pane("wall").cursor]


async def test_mouse_moves_sorts_and_turns_tabs() -> None:
    app = NetheriteApp(ladder())
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await pilot.click(LanesPane, offset=(10, 5))
        assert lanes_of(app).cursor == 3
        await pilot.click(LanesPane, offset=(13, 1))
        assert lanes_of(app).rows[0] == 22
        await pilot.click("#footer", offset=(1, 0))
        await pilot.click("#footer", offset=(20, 0))
        await pilot.pause()
        assert app.screen.active == "wall"


async def test_help_lists_keys_with_the_users_own() -> None:
    from netherite_tui.settings import Settings

    app = NetheriteApp(ladder(), settings=Settings(keys={"kill": "k,f8", "up": "up"}))
    async with app.run_test(size=(120, 60)) as pilot:
        await pilot.press("question_mark")
        assert isinstance(app.screen, Help)
        assert "k f8" in text_of(app)
        await pilot.press("escape")
        lanes_of(app).move_to(22)
        await pilot.press("f8")
        assert isinstance(app.screen, Confirm)


async def test_quit_asks_while_lanes_run_here() -> None:
    client = ladder()
    app = NetheriteApp(client)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await pilot.press("q")
        assert "Stop and save" in text_of(app)
        await pilot.press("c")
        assert client.calls == []
        await pilot.press("ctrl+c", "s")
        await until(pilot, lambda: app.return_value is not None, "the app has been left")
    assert client.calls == [("stop", ())]
    assert app.return_value == 130


@pytest.mark.parametrize("phase", ["ended", "gone"])
async def test_quit_does_not_ask_when_nothing_runs_here(phase: str) -> None:
    from dataclasses import replace

    client = ladder()
    client.state = replace(client.state, phase=phase)
    app = NetheriteApp(client)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("q")
    assert app.return_value == 0


async def test_quit_of_a_watched_run_leaves_it_running() -> None:
    client = ladder()
    client.owned = False
    app = NetheriteApp(client)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("q")
    assert app.return_value == 0
    assert client.calls == []


async def test_stuck_is_told_once_and_shown_everywhere() -> None:
    client = ladder()
    app = NetheriteApp(client)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await pilot.pause()
        client.put(20, state=LaneState.STUCK)
        client.say("stuck", "14:0  no record for 30 s: STUCK", 20)
        await until(pilot, lambda: "stuck 2" in text_of(app), "the header counts it")
        await until(pilot, lambda: "X kills all" in text_of(app), "a notice says so")
        assert text_of(app).count("STUCK") >= 3


async def test_stale_and_gone_engines_are_said() -> None:
    from dataclasses import replace

    client = ladder()
    app = NetheriteApp(client)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await pilot.pause()
        client.state = replace(client.state, age_s=7.4)
        await until(pilot, lambda: "no news for 7 s" in text_of(app), "the age of the data is shown")
        client.state = replace(client.state, phase="gone")
        await until(pilot, lambda: "engine gone" in text_of(app), "the engine is called gone")


async def test_a_failing_panel_shows_its_error_and_the_rest_lives(monkeypatch: pytest.MonkeyPatch) -> None:
    client = ladder()
    app = NetheriteApp(client)
    monkeypatch.setattr(client, "report", lambda: 1 / 0)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("5")
        await until(pilot, lambda: "ZeroDivisionError" in text_of(app), "the report pane shows its error")
        await pilot.press("1")
        client.put(24, state=LaneState.RUNNING, decision=42)
        lanes_of(app).move_to(24)
        await until(pilot, lambda: "42/1500" in text_of(app), "lanes still move")


async def test_512_lanes_are_laid_out_and_moved_through() -> None:
    client = ladder(tries=16, seeds=tuple(range(32)))
    app = NetheriteApp(client)
    async with app.run_test(size=(200, 60)) as pilot:
        await pilot.press("end")
        assert lanes_of(app).cursor == 511
        assert " 31 " in text_of(app)
        await pilot.press("slash", *"seed=30 try=1", "enter")
        assert lanes_of(app).rows == [481, *range(490, 496)]


def test_outcomes_of_the_fake_are_what_the_header_counts() -> None:
    client: FakeClient = ladder()
    assert sum(view.outcome is Outcome.MATCH for view in client.views()) == 15
    assert isinstance(RunScreen(client).model.counts.total, int)


@pytest.mark.usefixtures("still_clock")
async def test_a_still_run_paints_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    painted: list[tuple[str | None, int]] = []
    paint = Lines.render_line

    def counted(self: Lines, y: int) -> Strip:
        painted.append((self.id, y))
        return paint(self, y)

    monkeypatch.setattr(Lines, "render_line", counted)
    app = NetheriteApp(ladder())
    async with app.run_test(size=(200, 60)) as pilot:
        await pilot.pause(0.5)
        assert painted
        painted.clear()
        await pilot.pause(1.0)
        assert painted == []
        app.client.put(19, decision=1000)
        await until(pilot, lambda: "1000/1500" in text_of(app), "the lane's row changes")
