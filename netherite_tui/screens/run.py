"""The run screen: one run, its lanes, cameras, matrix, report and log, laid out for the size of the terminal."""

import time
from collections.abc import Iterable
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Container
from textual.screen import Screen
from textual.widgets import Input

from core.errors import NetheriteError
from core.ladder.events import LaneState, LaneView
from netherite_tui.client import RunClient
from netherite_tui.model import Change, RunModel
from netherite_tui.pace import Pace
from netherite_tui.screens.confirm import NO, Choice, Confirm
from netherite_tui.widgets.camera import CameraPane
from netherite_tui.widgets.footer import Footer, Hint
from netherite_tui.widgets.header import Header
from netherite_tui.widgets.lanes import LanesPane
from netherite_tui.widgets.lines import Lines, Pane
from netherite_tui.widgets.log import LogPane
from netherite_tui.widgets.matrix import MatrixPane
from netherite_tui.widgets.messages import LaneMoved, LaneOpened
from netherite_tui.widgets.report import ReportPane
from netherite_tui.widgets.wall import WallPane
from netherite_tui.words import state_word

#: Panes in the order of the keys 1 to 6.
PANES = ("lanes", "camera", "wall", "matrix", "report", "log")
_SHOWN = {
    "small": frozenset[str](),
    "medium": frozenset({"lanes", "camera", "matrix", "log"}),
    "large": frozenset({"lanes", "camera", "matrix", "log", "wall"}),
}
Spent = tuple[float, float, int]  #: wall s, CPU s of the UI thread, bytes to the terminal
#: Cells a layout needs: width, height.
_MEDIUM, _LARGE = (112, 32), (180, 50)


class RunScreen(Screen[None]):
    """Polls the run's client and hands what changed to the panes on the screen."""

    DEFAULT_CSS = """
    RunScreen { background: $background; }
    RunScreen #body { height: 1fr; }
    RunScreen #body.small { layout: vertical; }
    RunScreen #body.small > Pane { height: 1fr; }
    RunScreen #body.medium { layout: grid; grid-size: 2 2; grid-columns: 1fr 66; grid-rows: 22 1fr; }
    RunScreen #body.large { layout: grid; grid-size: 3 3; grid-columns: 1fr 1fr 66; grid-rows: 1fr 18 13; }
    RunScreen #body.large > #lanes { column-span: 2; }
    RunScreen #body.large > #camera { row-span: 2; }
    RunScreen #body.large > #wall { column-span: 3; }
    RunScreen #filter { display: none; dock: bottom; margin-bottom: 1; background: $panel; color: $foreground; }
    RunScreen #filter, RunScreen #filter:focus { height: 1; border: none; padding: 0 1; }
    RunScreen #filter.asked { display: block; }
    """
    BINDINGS: ClassVar = [
        *(Binding(str(i), f"pane('{name}')", name.title(), id=name, show=False) for i, name in enumerate(PANES, 1)),
        Binding("x", "kill", "Kill", id="kill"),
        Binding("X", "kill_stuck", "Kill all stuck", id="kill-stuck", show=False),
        Binding("r", "retry", "Retry lost lanes", id="retry"),
        Binding("p", "pause", "Pause or resume", id="pause"),
        Binding("P", "pause_all", "Pause or resume all lanes", id="pause-all", show=False),
        Binding("e", "export", "Export", id="export"),
        Binding("slash", "filter", "Filter lanes or log", id="filter", key_display="/"),
        Binding("v", "view", "Camera: next view", id="view", show=False),
        Binding("b", "side", "Camera: next side", id="side", show=False),
        Binding("c", "crosshair", "Camera: crosshair", id="crosshair", show=False),
        Binding("z", "zoom", "Zoom the pane", id="zoom", show=False),
        Binding("tab", "next_pane(1)", "Next pane", id="next-pane", show=False),
        Binding("shift+tab", "next_pane(-1)", "Previous pane", id="previous-pane", show=False),
        Binding("escape", "back", "Back", id="back", show=False),
    ]
    AUTO_FOCUS = "#lanes"

    def __init__(self, client: RunClient) -> None:
        super().__init__()
        self.model = RunModel(client)
        self.active = "lanes"
        self.zoomed = False
        self._polls = Pace(0.15, 0.25, cpu_share=0.05, bytes_per_s=20_000)
        self._pictures = Pace(0.3, 2.0, cpu_share=0.05, bytes_per_s=40_000)
        self._last_poll = self._last_picture = (0.0, 0.0, 0)  #: what had been spent then: wall s, CPU s, bytes
        self._told: set[str] = set()
        self._looked = False  #: whether events are news: what was there at the first look is not

    @property
    def client(self) -> RunClient:
        """The run."""
        return self.model.client

    def compose(self) -> ComposeResult:
        """Makes every pane once; the layout shows some of them."""
        yield Header(self.model)
        with Container(id="body"):
            yield LanesPane(self.model)
            yield CameraPane(self.model)
            yield MatrixPane(self.model)
            yield LogPane(self.model)
            yield WallPane(self.model)
            yield ReportPane(self.model)
        yield Input(id="filter", placeholder="words, or state=STUCK seed=27 try=1; empty shows all")
        yield Footer()

    def on_mount(self) -> None:
        """Takes the first look at once, then keeps looking."""
        self.lay_out()
        self.look_now(self.model.poll())
        self._last_poll = self._spent()
        self.set_timer(self._polls.fastest_s, self._poll)

    def pane(self, name: str) -> Pane:
        """Returns a pane by its name in PANES."""
        return self.query_one(f"#{name}", Pane)

    # -- looking at the run --------------------------------------------------------------------------------------

    def _poll(self) -> None:
        """Looks at the run, unless the terminal is behind: then it gets time, and the engine none of this."""
        before, self._last_poll = self._last_poll, self._spent()
        self.set_timer(self._polls.update(*_cost(before, self._last_poll)), self._poll)
        if self.app.backlog < 3:
            self.look_now(self.model.poll())

    def _spent(self) -> Spent:
        return (time.monotonic(), time.thread_time(), self.app.sent_bytes)

    def look_now(self, change: Change) -> None:
        """Shows what one look found. A pane that fails shows its error; the others live on."""
        pictures = time.monotonic() - self._last_picture[0] >= self._pictures.interval_s
        if pictures:
            before, self._last_picture = self._last_picture, self._spent()
            self._pictures.update(*_cost(before, self._last_picture))
        with self.app.batch_update():
            self.query_one(Header).update_lines()
            for name in PANES:
                pane = self.pane(name)
                try:
                    self._show(pane, change, pictures)
                except Exception as error:
                    self.app.panel_failed(pane, error)
        self.client.watch(self._previewed())
        for event in change.events if self._looked else ():
            self.app.announce(event, self.model)
        # The history of a run that is not ours may come in a later look than the first.
        self._looked = self.client.owned or self.model.status.phase != "preparing"
        self._announce_state()

    def _previewed(self) -> frozenset[int]:
        """Returns the lanes whose records are on the screen: a distant engine need not send the others."""
        camera, wall = self.query_one(CameraPane), self.query_one(WallPane)
        shown = {camera.index} if camera.display else set()
        return frozenset(shown | set(wall.wanted() if wall.display else ()))

    def _show(self, pane: Pane, change: Change, pictures: bool) -> None:
        if isinstance(pane, LanesPane | MatrixPane | LogPane):
            pane.show_change(change)
        elif not pane.display:
            return
        elif isinstance(pane, ReportPane):
            pane.show_change(change)
        elif pictures and isinstance(pane, CameraPane | WallPane):
            pane.redraw()

    def _announce_state(self) -> None:
        if self.model.status.phase == "failed" and "failed" not in self._told:
            self._told.add("failed")
            self.app.run_failed(self.client)
        if self.model.status.phase == "gone" and "gone" not in self._told:
            self._told.add("gone")
            self.app.alert("engine gone", "the run's engine ended without saying so; its folder holds what it saved")

    # -- layout --------------------------------------------------------------------------------------------------

    def layout_name(self) -> str:
        """Returns `small`, `medium` or `large` for the terminal's size."""
        size = self.app.size
        for name, (width, height) in (("large", _LARGE), ("medium", _MEDIUM)):
            if size.width >= width and size.height >= height:
                return name
        return "small"

    def lay_out(self) -> None:
        """Shows the panes that belong to the layout, or the active one alone."""
        name = self.layout_name()
        shown = _SHOWN[name]
        if self.zoomed or self.active not in shown:
            name, shown = "small", frozenset({self.active})
        body = self.query_one("#body")
        body.set_classes(name)
        for pane in PANES:
            self.pane(pane).display = pane in shown
        self.pane(self.active).focus()
        self._show_hints()
        self._last_picture = (0.0, 0.0, 0)

    def on_resize(self, _event: events.Resize) -> None:
        """Lays out anew."""
        self.lay_out()

    def on_screen_resume(self) -> None:
        """Comes up to date after another screen was on top."""
        self.lay_out()

    def _show_hints(self) -> None:
        key = self.app.key_of
        small = self.layout_name() == "small"
        tabs = [
            Hint(key(name), name.title(), f"screen.pane('{name}')", name == self.active, 1 if small else 0)
            for name in PANES
        ]
        acts = [
            Hint(key("kill"), "Kill", "screen.kill", rank=2),
            Hint(key("retry"), "Retry", "screen.retry", rank=6),
            Hint(key("pause"), "Pause", "screen.pause", rank=5),
        ]
        ends = [
            Hint(key("export"), "Export", "screen.export", rank=4),
            Hint(key("filter"), "Filter", "screen.filter", rank=7),
            Hint(key("help"), "Help", "app.help"),
            Hint(key("quit"), "Quit", "app.quit"),
        ]
        self.query_one(Footer).show((*tabs, *(acts if not self.read_only else ()), *ends))

    def relook(self) -> None:
        """Draws every widget with the new look."""
        for widget in self.query(Lines):
            widget.relook()

    # -- moving about --------------------------------------------------------------------------------------------

    def action_pane(self, name: str) -> None:
        """Goes to a pane."""
        self.active = name
        self.lay_out()
        self.look_now(self.model.poll())

    def action_next_pane(self, by: int) -> None:
        """Goes to the next pane that is shown, or the next tab."""
        names = [name for name in PANES if self.pane(name).display]
        names = names if len(names) > 1 else list(PANES)
        self.action_pane(names[(names.index(self.active) + by) % len(names)])

    def action_zoom(self) -> None:
        """Gives the active pane the whole screen, or takes it back."""
        self.zoomed = not self.zoomed
        self.lay_out()
        self.look_now(self.model.poll())

    def action_back(self) -> None:
        """Leaves, one step at a time: zoom, selection, filter, then the run when the list lies under it."""
        lanes = self.query_one(LanesPane)
        if self.zoomed:
            self.action_zoom()
        elif lanes.selected:
            lanes.selected.clear()
            lanes.arrange()
        elif lanes.filter or self.query_one(LogPane).filter:
            lanes.set_filter("")
            self.query_one(LogPane).set_filter("")
        else:
            self.app.leave_run()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Makes the focused pane the active one."""
        if isinstance(event.widget, Pane) and event.widget.id in PANES and event.widget.id != self.active:
            self.active = event.widget.id
            self._show_hints()

    @on(LaneMoved)
    def follow_cursor(self, message: LaneMoved) -> None:
        """Keeps every pane on the same lane."""
        self.query_one(CameraPane).show_lane(message.index)
        self.query_one(LanesPane).move_to(message.index)
        if not isinstance(message.pane, MatrixPane):
            self.query_one(MatrixPane).move_to(message.index)

    @on(LaneOpened)
    def open_lane(self, message: LaneOpened) -> None:
        """Shows one lane full screen."""
        self.app.open_lane(self.model, message.index)

    # -- camera --------------------------------------------------------------------------------------------------

    def action_view(self) -> None:
        """Shows the camera's next view."""
        self.query_one(CameraPane).cycle_view()
        self.query_one(WallPane).show_view(self.query_one(CameraPane).view)

    def action_side(self) -> None:
        """Shows the camera's next side."""
        self.query_one(CameraPane).cycle_side()

    def action_crosshair(self) -> None:
        """Shows or hides the crosshair."""
        self.query_one(CameraPane).toggle_crosshair()

    # -- filter --------------------------------------------------------------------------------------------------

    def action_filter(self) -> None:
        """Asks for a filter of the log when it is active, else of the lanes."""
        box = self.query_one("#filter", Input)
        box.value = self._filtered().filter
        box.add_class("asked")
        box.focus()

    def _filtered(self) -> LanesPane | LogPane:
        return self.query_one(LogPane) if self.active == "log" else self.query_one(LanesPane)

    @on(Input.Changed, "#filter")
    def filter_as_typed(self, event: Input.Changed) -> None:
        """Filters with every letter."""
        if event.input.has_class("asked"):
            self._filtered().set_filter(event.value)

    @on(Input.Submitted, "#filter")
    def filter_done(self) -> None:
        """Puts the filter away and goes back to the pane."""
        self.query_one("#filter").remove_class("asked")
        self.pane(self.active).focus()

    def key_escape(self) -> None:
        """Escape in the filter line clears and closes it."""
        box = self.query_one("#filter", Input)
        if box.has_focus:
            box.value = ""
            self.filter_done()

    # -- changing the run ----------------------------------------------------------------------------------------

    @property
    def read_only(self) -> str:
        """Why nothing can be changed; empty when it can."""
        return self.client.read_only or ("--readonly" if self.app.readonly else "")

    def _lanes(self, wanted: Iterable[LaneState]) -> list[LaneView]:
        """Returns the lanes an action is for that are in one of the wanted states."""
        states = set(wanted)
        views = self.model.views
        return [views[i] for i in self.query_one(LanesPane).targets() if views[i].state in states]

    def _steer(self, ask: tuple[str, list[str]] | None, done: str, act: object, *args: object) -> None:
        """Does `act(*args)`, after a yes when `ask` (title, lines) is given; refusals and errors become one line."""

        def go(answer: str | None) -> None:
            if answer != "yes":
                return
            try:
                act(*args)  # type: ignore[operator]
            except NetheriteError as error:
                self.app.alert("refused", str(error))
            else:
                self.app.say(done)

        if self.read_only:
            self.app.alert("read-only", f"nothing can be changed: {self.read_only}")
        elif ask is None:
            go("yes")
        else:
            title, lines = ask
            self.app.push_screen(Confirm(title, lines, (Choice("y", "Yes", "yes"), NO)), go)

    def action_kill(self) -> None:
        """Kills the selected lanes, or the one under the cursor, after asking."""
        alive = (LaneState.STARTING, LaneState.RUNNING, LaneState.PAUSED, LaneState.STUCK, LaneState.WAITING)
        lanes = self._lanes(alive)
        if not lanes:
            self.app.say("no lane here can be killed")
            return
        text = [f"seed {v.seed} try {v.attempt}  {state_word(v)}  pid {v.pid or '-'}" for v in lanes[:12]]
        text += [f"and {len(lanes) - 12} more"] if len(lanes) > 12 else []
        title = f"Kill {len(lanes)} lanes?" if len(lanes) > 1 else "Kill this lane?"
        self._steer((title, text), f"killing {len(lanes)}", self.client.kill, [v.index for v in lanes])

    def action_kill_stuck(self) -> None:
        """Kills every STUCK lane after asking."""
        stuck = [view for view in self.model.views if view.state is LaneState.STUCK]
        if not stuck:
            self.app.say("no lane is stuck")
            return
        text = [f"seed {v.seed} try {v.attempt}  pid {v.pid or '-'}" for v in stuck[:12]]
        self._steer((f"Kill all {len(stuck)} stuck?", text), f"killing {len(stuck)}", self.client.kill_stuck)

    def action_retry(self) -> None:
        """Runs the selected lost lanes again."""
        lost = [v for v in self._lanes((LaneState.ENDED,)) if v.outcome is not None and not v.outcome.is_result]
        if not lost:
            self.app.say("only lost lanes can be retried")
            return
        self._steer(None, f"retrying {len(lost)}", self.client.retry, [v.index for v in lost])

    def action_pause(self) -> None:
        """Pauses the selected lanes, or resumes them when all of them are paused."""
        lanes = self._lanes((LaneState.STARTING, LaneState.RUNNING, LaneState.PAUSED, LaneState.WAITING))
        if not lanes:
            self.app.say("no lane here can be paused")
            return
        paused = all(view.state is LaneState.PAUSED for view in lanes)
        act = self.client.resume if paused else self.client.pause
        self._steer(None, f"{'resuming' if paused else 'pausing'} {len(lanes)}", act, [v.index for v in lanes])

    def action_pause_all(self) -> None:
        """Pauses every lane, or resumes all when any is paused."""
        paused = self.model.counts.paused > 0
        act = self.client.resume_all if paused else self.client.pause_all
        self._steer(None, "resuming all" if paused else "pausing all", act)

    def action_export(self) -> None:
        """Opens the export screen."""
        self.app.open_export(self.model)


def _cost(before: Spent, after: Spent) -> Spent:
    return (after[0] - before[0], after[1] - before[1], after[2] - before[2])
