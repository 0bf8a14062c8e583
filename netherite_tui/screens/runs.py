"""The list of runs: newest first, and what can be done with one."""

import threading
import time
from collections.abc import Hashable
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding
from textual.message import Message
from textual.screen import Screen
from textual.strip import Strip

from core.errors import NetheriteError
from netherite_tui.screens.confirm import NO, Choice, Confirm
from netherite_tui.widgets.footer import Footer, Hint
from netherite_tui.widgets.lines import Line, Lines, Pane
from netherite_tui.words import ago, fit, plain

if TYPE_CHECKING:
    from core.runs.store import RunSummary

REFRESH_S = 2.0
_COLUMNS = (
    ("run", 22, False),
    ("checkpoint", 24, False),
    ("mode", 14, False),
    ("host", 12, False),
    ("state", 9, False),
    ("result", 15, False),
    ("lanes", 7, True),
    ("age", 7, True),
)
_STATE_STYLES = {"running": "accent", "finished": "text", "stopped": "dim", "gone": "lost", "damaged": "warning"}


class RunsPane(Pane):
    """One line a run; the cursor stays on its run when others come and go."""

    BINDINGS: ClassVar = [
        Binding("down,j", "move(1)", "Down", id="runs-down", show=False),
        Binding("up,k", "move(-1)", "Up", id="runs-up", show=False),
        Binding("home", "move(-100000)", "First", show=False),
        Binding("end", "move(100000)", "Last", show=False),
        Binding("enter", "open", "Open", id="runs-open", show=False),
    ]
    heading = 1

    class Opened(Message):
        """A run was asked for."""

    def __init__(self) -> None:
        super().__init__(id="runs")
        self.runs: list[RunSummary] = []
        self.cursor = ""
        self.loaded = False
        self.say(title="Runs")

    @property
    def run(self) -> "RunSummary | None":
        """The run under the cursor."""
        return next((run for run in self.runs if run.id == self.cursor), self.runs[0] if self.runs else None)

    def show_runs(self, runs: "list[RunSummary]") -> None:
        """Shows a fresh list."""
        self.runs, self.loaded = runs, True
        if not any(run.id == self.cursor for run in runs):
            self.cursor = runs[0].id if runs else ""
        self.say(subtitle="1 run" if len(runs) == 1 else f"{len(runs)} runs")
        self.update_lines()

    def line_count(self) -> int:
        """Returns heading and runs."""
        return 1 + max(1, len(self.runs))

    def line_key(self, y: int) -> Hashable:
        """Returns the line's words and whether the cursor is there."""
        if y == 0:
            return "head"
        if not self.runs:
            return ("empty", self.loaded)
        run = self.runs[y - 1]
        return (tuple(self._words(run)), run.trouble, run.id == self.cursor)

    def draw_line(self, y: int, width: int) -> Strip:
        """Draws heading, a run, or what to do when there is none."""
        line = Line()
        columns = self._columns(width)
        if y == 0:
            line.gap(2)
            for name, cells, right in columns:
                line.add(fit(name, cells, right=right), self.look["head"]).add("  ")
            return line.strip(width)
        if not self.runs:
            text = "no runs yet: n makes one, or: netherite-tui demo" if self.loaded else "looking for runs ..."
            return line.add(f"  {text}", self.look["dim"]).strip(width)
        run = self.runs[y - 1]
        here = run.id == self.cursor
        line.add(self.look.glyphs["cursor"] if here else " ", self.look["mark"]).add(" ")
        if run.trouble:
            line.add(fit(run.id, 24), self.look["text"]).add(f"{run.state}  ", self.look["warning"])
            return line.add(plain(run.trouble), self.look["dim"]).strip(width, self.look["cursor"] if here else None)
        words = dict(zip((name for name, _, _ in _COLUMNS), self._words(run), strict=True))
        for name, cells, right in columns:
            style = _STATE_STYLES.get(words["state"], "text") if name == "state" else "text" if name == "run" else "dim"
            line.add(fit(words[name], cells, right=right), self.look[style]).add("  ")
        return line.strip(width, self.look["cursor"] if here else None)

    def _columns(self, width: int) -> tuple[tuple[str, int, bool], ...]:
        columns = list(_COLUMNS)
        for name in ("host", "mode", "lanes", "checkpoint", "age"):
            if 2 + sum(cells + 2 for _, cells, _ in columns) <= width + 2:
                break
            columns = [column for column in columns if column[0] != name]
        return tuple(columns)

    def _words(self, run: "RunSummary") -> list[str]:
        lanes = f"{run.ended}/{run.lanes}" if run.lanes else ""
        age = ago(time.time() - run.started) if run.started else ""
        return [run.id, plain(run.name), run.mode, plain(run.host), str(run.state), run.headline, lanes, age]

    def action_move(self, by: int) -> None:
        """Moves the cursor."""
        if not self.runs:
            return
        at = next((i for i, run in enumerate(self.runs) if run.id == self.cursor), 0)
        self._put_cursor(max(0, min(len(self.runs) - 1, at + by)))

    def action_open(self) -> None:
        """Asks for the run under the cursor."""
        if self.run is not None:
            self.post_message(self.Opened())

    def on_click(self, event: events.Click) -> None:
        """Moves the cursor; a second click opens."""
        offset = event.get_content_offset(self)
        y = -1 if offset is None else offset.y + self.scroll_offset.y - 1
        if 0 <= y < len(self.runs):
            self._put_cursor(y)
            if event.chain == 2:
                self.action_open()

    def _put_cursor(self, at: int) -> None:
        self.cursor = self.runs[at].id
        y, top, height = at + 1, self.scroll_offset.y, self.inner.height
        if y <= top:
            self.scroll_to(y=at, animate=False, immediate=True)
        elif height and y >= top + height:
            self.scroll_to(y=y - height + 1, animate=False, immediate=True)
        self.update_lines()


class RunsScreen(Screen[None]):
    """Reads the runs folder every few seconds in a thread; folders that did not change are not read again."""

    DEFAULT_CSS = """
    RunsScreen { background: $background; }
    RunsScreen #runs { height: 1fr; }
    """
    BINDINGS: ClassVar = [
        Binding("n", "new", "New run", id="runs-new"),
        Binding("r", "resume", "Resume", id="runs-resume"),
        Binding("e", "export", "Export", id="runs-export"),
        Binding("d", "delete", "Delete", id="runs-delete"),
    ]
    AUTO_FOCUS = "#runs"

    def __init__(self, runs_dir: Path) -> None:
        super().__init__()
        self.runs_dir = runs_dir
        self._known: dict[Path, tuple[Hashable, RunSummary]] = {}
        self._fresh: list[RunSummary] | None = None
        self._trouble = ""
        self._wake = threading.Event()
        self._leaving = threading.Event()

    def compose(self) -> ComposeResult:
        """Shows the list."""
        yield RunsPane()

        def key(binding: str) -> str:
            return str(self.app.key_of(binding, RunsScreen, RunsPane))

        hints = [Hint(key("runs-open"), "Open", "screen.open")]
        if not self.app.readonly:
            hints += [Hint(key("runs-new"), "New", "screen.new"), Hint(key("runs-resume"), "Resume", "screen.resume")]
            hints.append(Hint(key("runs-delete"), "Delete", "screen.delete", rank=1))
        hints += [
            Hint(key("runs-export"), "Export", "screen.export", rank=2),
            Hint(key("help"), "Help", "app.help"),
            Hint(key("quit"), "Quit", "app.quit"),
        ]
        yield Footer(tuple(hints))

    def on_mount(self) -> None:
        """Begins to look."""
        threading.Thread(target=self._look, name="runs", daemon=True).start()
        self.set_interval(0.1, self._take)

    def on_unmount(self) -> None:
        """Ends the looking thread."""
        self._leaving.set()
        self._wake.set()

    def on_screen_resume(self) -> None:
        """Looks at once after another screen was on top."""
        self._wake.set()

    def relook(self) -> None:
        """Draws with the new look."""
        for widget in self.query(Lines):
            widget.relook()

    # -- the looking thread --------------------------------------------------------------------------------------

    def _look(self) -> None:
        from core.runs import store

        while not self._leaving.is_set():
            try:
                self._fresh = [self._summary(folder) for folder in store.run_folders(self.runs_dir)]
                self._trouble = ""
            except NetheriteError as error:
                self._fresh, self._trouble = [], str(error)
            self._wake.wait(REFRESH_S)
            self._wake.clear()

    def _summary(self, folder: Path) -> "RunSummary":
        from core.runs import store

        stamp = tuple(_stamp(folder / name) for name in (store.MANIFEST, store.JOURNAL))
        known = self._known.get(folder)
        # A live run can die without touching its files, so it is always looked at again.
        if known is None or known[0] != stamp or known[1].state == store.RunState.RUNNING:
            known = self._known[folder] = (stamp, store.summarize(folder))
        return known[1]

    def _take(self) -> None:
        fresh, self._fresh = self._fresh, None
        if fresh is not None:
            self.query_one(RunsPane).show_runs(fresh)
            if self._trouble:
                self.query_one(RunsPane).say(subtitle=plain(self._trouble))

    # -- keys ----------------------------------------------------------------------------------------------------

    def on_runs_pane_opened(self) -> None:
        """Opens the run."""
        self.action_open()

    def action_open(self) -> None:
        """Opens the run under the cursor: attached when it lives, else as its folder has it."""
        run = self.query_one(RunsPane).run
        if run is not None:
            self._do(lambda: self.app.open_run(run.folder))

    def action_new(self) -> None:
        """Makes a new run."""
        if not self._refused():
            self.app.open_new_run()

    def action_resume(self) -> None:
        """Goes on with the run in this process."""
        run = self.query_one(RunsPane).run
        if run is not None and not self._refused():
            self._do(lambda: self.app.resume_run(run.folder))

    def action_export(self) -> None:
        """Exports the run."""
        run = self.query_one(RunsPane).run
        if run is not None:
            self._do(lambda: self.app.export_run(run.folder))

    def action_delete(self) -> None:
        """Deletes the run after asking."""
        run = self.query_one(RunsPane).run
        if run is None or self._refused():
            return
        lines = [f"{run.id}  {run.state}  {run.headline}", f"its folder {run.folder} and all in it"]
        question = Confirm("Delete this run?", lines, (Choice("y", "Yes, delete", "yes"), NO))
        self.app.push_screen(question, lambda answer: self._delete(run) if answer == "yes" else None)

    def _delete(self, run: "RunSummary") -> None:
        from core.runs.store import remove_run

        self._do(lambda: remove_run(run.folder))
        self._wake.set()

    def _refused(self) -> bool:
        if self.app.readonly:
            self.app.alert("read-only", "nothing can be changed: --readonly")
        return bool(self.app.readonly)

    def _do(self, act: object) -> None:
        try:
            act()  # type: ignore[operator]
        except NetheriteError as error:
            self.app.alert("not possible", str(error))


def _stamp(path: Path) -> Hashable:
    try:
        stat = path.stat()
    except OSError:
        return None
    return (stat.st_mtime_ns, stat.st_size, stat.st_ino)
