"""A new run: the settings people change, checked as they are typed, with the command line that does the same."""

import shlex
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Container, Horizontal, VerticalScroll
from textual.screen import Screen
from textual.suggester import SuggestFromList
from textual.widgets import Input, Static

from core.errors import BadInput
from core.ladder.config import KEYS, LadderConfig, Resolved, config_path, read_config_file, read_value, resolve
from netherite_tui.widgets.footer import Footer, Hint
from netherite_tui.widgets.lines import Lines
from netherite_tui.words import plain

FIELDS = (
    *("backend", "transfer", "checkpoint", "policy", "snaps_dir", "seeds", "tries", "ep_ticks", "stage", "jobs"),
    *("magma_bin", "blaze_lib", "lane_args"),
)
_CHOICES = {
    "backend": ("cpu", "cuda", "magma", "voxel"),
    "transfer": ("closed", "replay"),
    "policy": ("net", "noop", "bot", "random", "random:1"),
    "stage": ("0", "1", "2", "3", "4", "all"),
    "jobs": ("auto", "all"),
}
#: Folders under the present one that are searched for files, and how many entries are looked at.
_SEARCH_DEPTH, _SEARCH_LIMIT = 4, 20_000


class NewRunScreen(Screen[None]):
    """A field a line; Ctrl-S starts the run."""

    DEFAULT_CSS = """
    NewRunScreen { background: $background; }
    NewRunScreen #form, NewRunScreen #doctor {
        border: round $pane-border; border-title-style: bold; border-subtitle-color: $secondary; padding: 0 1;
        scrollbar-size-vertical: 1; background: $background;
    }
    NewRunScreen #form:focus-within { border: round $pane-border-focus; }
    NewRunScreen #columns { height: 1fr; }
    NewRunScreen #columns.wide { layout: horizontal; }
    NewRunScreen #columns.wide > #form { width: 3fr; height: 100%; }
    NewRunScreen #columns.wide > #doctor { width: 2fr; height: 100%; }
    NewRunScreen #columns.narrow { layout: vertical; }
    NewRunScreen #columns.narrow > #form { height: 2fr; }
    NewRunScreen #columns.narrow > #doctor { height: 1fr; }
    NewRunScreen Horizontal { height: 1; }
    NewRunScreen .name { width: 11; color: $secondary; }
    NewRunScreen Input, NewRunScreen Input:focus { width: 1fr; border: none; height: 1; padding: 0; }
    NewRunScreen Input { background: $panel; color: $foreground; }
    NewRunScreen Input:focus { background: $surface; text-style: bold; }
    NewRunScreen .trouble { width: 1fr; color: $warning; padding-left: 1; }
    NewRunScreen #help, NewRunScreen #command { height: auto; max-height: 4; padding: 0 2; }
    NewRunScreen #help { color: $secondary; height: 1; }
    """
    BINDINGS: ClassVar = [
        Binding("escape", "close", "Back", id="new-back", priority=True),
        Binding("ctrl+s", "begin", "Start", id="new-start", priority=True),
        Binding("ctrl+y", "copy", "Copy the command", id="new-copy", priority=True),
        Binding("f4", "check", "Check this machine", id="new-check", priority=True),
        Binding("down", "app.focus_next", "Next field", show=False, priority=True),
        Binding("up", "app.focus_previous", "Previous field", show=False, priority=True),
    ]
    AUTO_FOCUS = "#backend"

    def __init__(self, runs_dir: Path) -> None:
        super().__init__()
        self.runs_dir = runs_dir
        self._found: dict[str, list[str]] = {}
        self._findings: list[str] = []
        self._shown: object = None
        self._checking = False

    def compose(self) -> ComposeResult:
        """Makes a line for each field, filled from the config file."""
        with Container(id="columns"):
            with VerticalScroll(id="form", can_focus=False) as form:
                form.border_title = "New run"
                for name in FIELDS:
                    with Horizontal():
                        yield Static(name, classes="name", markup=False)
                        yield Input(id=name, placeholder=_default_text(name), suggester=_suggester(name, ()))
                        yield Static(id=f"{name}-trouble", classes="trouble", markup=False)
            with VerticalScroll(id="doctor", can_focus=False) as doctor:
                doctor.border_title = "This machine"
                doctor.border_subtitle = "F4 looks again"
                yield Static(id="findings", markup=False)
        yield Static(id="help", markup=False)
        yield Static(id="command", markup=False)
        hints = (
            ("Ctrl-S", "Start", "begin"),
            ("Ctrl-Y", "Copy", "copy"),
            ("F4", "Check", "check"),
            ("Esc", "Back", "close"),
        )
        yield Footer(tuple(Hint(key, label, f"screen.{action}") for key, label, action in hints))

    def on_mount(self) -> None:
        """Fills in the config file's values and looks for files in the background."""
        path = config_path()
        try:
            for name, raw in read_config_file(path)["run"].items():
                if name in FIELDS:
                    self.query_one(f"#{name}", Input).value = (
                        " ".join(map(str, raw)) if isinstance(raw, list) else str(raw)
                    )
        except BadInput as error:
            self.app.alert("config file", str(error))
        threading.Thread(target=self._search, name="search", daemon=True).start()
        self.set_interval(0.2, self._take)
        self._lay_out()
        self.action_check()
        self._show_command()

    def on_resize(self, _event: events.Resize) -> None:
        """Puts the machine beside the form when there is room."""
        self._lay_out()

    def relook(self) -> None:
        """Draws with the new look."""
        for widget in self.query(Lines):
            widget.relook()
        self._show_command()

    def _lay_out(self) -> None:
        self.query_one("#columns").set_classes("wide" if self.app.size.width >= 112 else "narrow")

    # -- values --------------------------------------------------------------------------------------------------

    def typed(self) -> dict[str, str]:
        """Returns the fields that hold something."""
        texts = {name: self.query_one(f"#{name}", Input).value.strip() for name in FIELDS}
        return {name: text for name, text in texts.items() if text}

    def resolved(self) -> Resolved:
        """Returns the settings as they stand.

        Raises:
            BadInput: a field does not fit, or two contradict each other.
        """
        path = config_path()
        below = {name: raw for name, raw in read_config_file(path)["run"].items() if name not in FIELDS}
        typed: dict[str, Any] = dict(self.typed())
        if "lane_args" in typed:
            typed["lane_args"] = typed["lane_args"].split()
        return resolve([(f"config file {path}", below), ("flag", typed)])

    @on(Input.Changed)
    def check_as_typed(self, event: Input.Changed) -> None:
        """Checks the field and shows the command line anew."""
        name = event.input.id or ""
        trouble = ""
        if event.value.strip() and name in FIELDS and name != "lane_args":
            try:
                read_value(name, event.value.strip())
            except BadInput as error:
                trouble = str(error).removeprefix(f"{name}: ")
        self.query_one(f"#{name}-trouble", Static).update(plain(trouble))
        self._explain(name, trouble)
        self._show_command()

    def command(self) -> str:
        """Returns the command line that starts the same run."""
        words = ["netherite-tui", "run"]
        for name, text in self.typed().items():
            values = text.split() if name == "lane_args" else [text]
            words += [f"{KEYS[name].option}={value}" for value in values]
        return shlex.join(words)

    def _show_command(self) -> None:
        look = self.app.look
        self.query_one("#command", Static).update(Text(f"$ {self.command()}", look["accent"]))

    @on(events.DescendantFocus)
    def explain_focused(self, event: events.DescendantFocus) -> None:
        """Says what the field is for."""
        self._explain(event.widget.id or "", "")

    def _explain(self, name: str, trouble: str) -> None:
        """Says what is wrong with a field, or what it is for and what was found for it."""
        if name not in KEYS:
            return
        found = [*_CHOICES.get(name, ()), *self._found.get(name, ())]
        known = f": {', '.join(found[:6])} (Right takes what is offered)" if found else ""
        style = self.app.look["warning" if trouble else "dim"]
        words = trouble or f"{KEYS[name].help}{known}"
        self.query_one("#help", Static).update(Text(plain(f"{name}: {words}"), style))

    # -- what is on this machine ---------------------------------------------------------------------------------

    def _search(self) -> None:
        found: dict[str, list[str]] = {"checkpoint": [], "snaps_dir": [], "magma_bin": [], "blaze_lib": []}
        for path in _files(Path(), _SEARCH_DEPTH, _SEARCH_LIMIT):
            if path.name == "magma_game":
                found["magma_bin"].append(str(path))
            elif path.suffix == ".so" and path.name.startswith("blaze_"):
                found["blaze_lib"].append(str(path))
            elif path.suffix == ".bsnp" and str(path.parent) not in found["snaps_dir"]:
                found["snaps_dir"].append(str(path.parent))
            elif path.suffix == ".bin" and _begins_with(path, b"BNN1"):
                found["checkpoint"].append(str(path))
        found["checkpoint"].append("fixture:1")
        self._found = found

    def action_check(self) -> None:
        """Lets the doctor look at what this run would need."""
        if self._checking:
            return
        try:
            config = self.resolved().config
        except BadInput as error:
            self._findings = [plain(str(error))]
            return
        self._checking, self._findings = True, []
        threading.Thread(target=self._examine, args=(config,), name="doctor", daemon=True).start()

    def _examine(self, config: LadderConfig) -> None:
        from core.runs.doctor import Patient, examine

        try:
            for finding in examine(Patient(config, self.runs_dir)):
                self._findings = [*self._findings, plain(finding.line)]
        except Exception as error:  # a check that fails is one more finding, not the end of the form
            self._findings = [*self._findings, plain(f"doctor: {type(error).__name__}: {error}")]
        finally:
            self._checking = False

    def _take(self) -> None:
        """Shows what the threads have found since."""
        state = (tuple(self._findings), self._checking, len(self._found))
        if state == self._shown:
            return
        self._shown = state
        waiting = ["looking ..."] if self._checking else []
        self.query_one("#findings", Static).update("\n".join([*self._findings, *waiting]))
        for name, values in self._found.items():
            self.query_one(f"#{name}", Input).suggester = _suggester(name, values)

    # -- keys ----------------------------------------------------------------------------------------------------

    def action_close(self) -> None:
        """Goes back."""
        self.dismiss()

    def action_copy(self) -> None:
        """Copies the command line, as far as the terminal passes it on."""
        self.app.copy_to_clipboard(self.command())
        self.app.say("command sent to the clipboard; a terminal or tmux may ignore it")

    def action_begin(self) -> None:
        """Starts the run and shows it."""
        try:
            resolved = self.resolved()
        except BadInput as error:
            self.app.alert("not started", str(error))
            return
        argv = shlex.split(self.command())
        self.dismiss()
        self.app.start_run(resolved, argv)


def _default_text(name: str) -> str:
    value = getattr(LadderConfig(), name)
    if name == "jobs":
        return "auto"
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _suggester(name: str, found: Any) -> SuggestFromList | None:
    offered = [*_CHOICES.get(name, ()), *found]
    return SuggestFromList(offered, case_sensitive=True) if offered else None


def _files(folder: Path, depth: int, limit: int) -> Iterator[Path]:
    """Yields files below a folder, nearest first, hidden folders left out."""
    folders, seen, give_up = [(folder, depth)], 0, time.monotonic() + 5.0
    while folders and seen < limit and time.monotonic() < give_up:
        here, left = folders.pop(0)
        try:
            entries = sorted(here.iterdir())
        except OSError:
            continue
        for entry in entries:
            seen += 1
            if entry.is_dir() and left and not entry.name.startswith(".") and not entry.is_symlink():
                folders.append((entry, left - 1))
            elif entry.is_file():
                yield entry


def _begins_with(path: Path, magic: bytes) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(magic)) == magic
    except OSError:
        return False
