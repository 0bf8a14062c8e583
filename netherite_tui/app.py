"""The Textual app: themes, keys, notices and exits. What is on the screen is the screens' business."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from rich.color import ColorSystem
from rich.segment import Segment
from textual.app import App, SystemCommand
from textual.binding import Binding
from textual.color import Color
from textual.dom import DOMNode
from textual.filter import LineFilter
from textual.screen import Screen

from core.errors import BadInput, ExitCode
from core.ladder.events import Event
from netherite_tui.client import RunClient
from netherite_tui.look import Look
from netherite_tui.model import RunModel
from netherite_tui.screens.confirm import Choice, Confirm
from netherite_tui.screens.help import Help
from netherite_tui.screens.run import RunScreen
from netherite_tui.settings import Settings
from netherite_tui.terminal import SturdyDriver, signals_end
from netherite_tui.theming import load_glyphs, load_palettes, terminal_is_ascii, to_ascii
from netherite_tui.widgets.lines import Pane
from netherite_tui.words import plain

if TYPE_CHECKING:
    from core.ladder.config import Resolved

TITLE = "netherite"


class AsciiOnly(LineFilter):
    """The last gate before an ASCII terminal: whatever is drawn, by us or by Textual, becomes ASCII."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Replaces every character outside ASCII."""
        return [Segment(to_ascii(text), style, control) for text, style, control in segments]


class NetheriteApp(App[int]):
    """The dashboard. It shows a run, or the list of runs when it was given none."""

    CSS = """
    Screen { background: $background; color: $foreground; }
    Toast { background: $panel; color: $foreground; max-width: 60%; padding: 0 1; margin-top: 0; }
    Toast { border-left: outer $accent; }
    ToastRack { margin-bottom: 1; }
    Toast.-warning { border-left: outer $warning; }
    Toast.-error { border-left: outer $error; }
    App.-ascii Pane { border: ascii $pane-border; }
    App.-ascii Pane:focus { border: ascii $pane-border-focus; }
    """
    BINDINGS: ClassVar = [
        Binding("question_mark", "help", "Help", id="help", key_display="?"),
        Binding("q", "quit", "Quit", id="quit"),
        Binding("ctrl+c", "quit", "Quit", id="interrupt", show=False, priority=True),
        Binding("ctrl+q", "quit", "Quit", show=False, priority=True),
        Binding("t", "next_theme", "Next theme", id="theme", show=False),
        Binding("g", "next_glyphs", "Next glyph set", id="glyphs", show=False),
        Binding("m", "mouse", "Mouse on or off", id="mouse", show=False),
    ]
    ENABLE_COMMAND_PALETTE = True
    look: Look

    def __init__(
        self,
        client: RunClient | None = None,
        *,
        runs_dir: Path | None = None,
        settings: Settings | None = None,
        readonly: bool = False,
    ) -> None:
        """Makes the app.

        Args:
            client: the run to show; None shows the list of runs.
            runs_dir: the folder of the runs; None when there is no list to go back to.
            settings: the user's settings.
            readonly: offer nothing that changes a run.

        Raises:
            BadInput: a setting names a theme, glyph set or key binding that does not exist.
        """
        self.settings = settings or Settings()
        self.palettes, self.complaints = load_palettes(self.settings.theme_folder)
        self.glyph_sets, more = load_glyphs(self.settings.theme_folder)
        self.complaints += more
        no_color = "NO_COLOR" in os.environ
        super().__init__(driver_class=SturdyDriver, ansi_color=True if no_color else None)
        self.title = TITLE
        self.client = client
        self.runs_dir = runs_dir
        self.readonly = readonly
        self.mouse_on = self.settings.mouse
        self.signal_number = 0
        self._gone = False
        self._told: set[str] = set()
        self._ascii = AsciiOnly(enabled=False)
        for palette in self.palettes.values():
            self.register_theme(palette.theme)
        self._choose_look()
        self._check_keys()
        self.set_keymap(dict(self.settings.keys))

    # -- look ----------------------------------------------------------------------------------------------------

    @property
    def colors(self) -> int:
        """How many colours the terminal shows."""
        if self.no_color:
            return 0
        system = self.console._color_system
        return {None: 0, ColorSystem.STANDARD: 16, ColorSystem.EIGHT_BIT: 256}.get(system, 2**24)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Names the colours of our own that Textual's themes do not have."""
        return {"pane-border": "#444444", "pane-border-focus": "#888888"}

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Adds the ASCII gate to Textual's filters."""
        return [*super().get_line_filters(), *((self._ascii,) if self._ascii.enabled else ())]

    def _choose_look(self) -> None:
        theme, glyphs = self.settings.theme, self.settings.glyphs
        if theme == "auto":
            theme = "mono" if self.colors == 0 else "high-contrast" if self.colors == 16 else "netherite"
        if glyphs == "auto":
            glyphs = "ascii" if terminal_is_ascii() else "block"
        if theme not in self.palettes:
            raise BadInput(f"theme: expected one of {', '.join(self.palettes)}, found {theme!r}")
        if glyphs not in self.glyph_sets:
            raise BadInput(f"glyphs: expected one of {', '.join(self.glyph_sets)}, found {glyphs!r}")
        self.set_look(theme, glyphs)

    def set_look(self, theme: str, glyphs: str) -> None:
        """Puts on a theme and a glyph set."""
        self.look = Look(self.palettes[theme], self.glyph_sets[glyphs], colors=self.colors)
        self._ascii.enabled = self.look.glyphs.ascii
        self.set_class(self.look.glyphs.ascii, "-ascii")
        self.theme = theme
        if self.no_color:
            self.ansi_color = True
        for screen in self.screen_stack if self.is_running else ():
            getattr(screen, "relook", lambda: None)()

    def action_next_theme(self) -> None:
        """Puts on the next theme."""
        self._cycle(list(self.palettes), self.look.palette.name, lambda name: (name, self.look.glyphs.name))

    def action_next_glyphs(self) -> None:
        """Puts on the next glyph set."""
        self._cycle(list(self.glyph_sets), self.look.glyphs.name, lambda name: (self.look.palette.name, name))

    def _cycle(self, names: list[str], now: str, pick: Callable[[str], tuple[str, str]]) -> None:
        name = names[(names.index(now) + 1) % len(names)]
        self.set_look(*pick(name))
        self.say(name)

    # -- life ----------------------------------------------------------------------------------------------------

    def on_mount(self) -> None:
        """Shows the run or the list, then starts the run: the first paint waits for nothing."""
        for complaint in self.complaints:
            self.alert("theme not used", complaint)
        if self.runs_dir is not None:
            from netherite_tui.screens.runs import RunsScreen

            self.push_screen(RunsScreen(self.runs_dir))
        if self.client is not None:
            self.show_run(self.client)

    def show_run(self, client: RunClient) -> None:
        """Opens a run, on top of the list when there is one; it starts after its first paint."""
        self.client = client
        self._told.clear()
        self.push_screen(RunScreen(client))
        self.call_after_refresh(client.start)

    def open_run(self, folder: Path) -> None:
        """Opens the run in a folder: attached while it lives here, else what the folder holds.

        Raises:
            NetheriteError: it belongs to another host, or cannot be read.
        """
        from netherite_tui.clients.opening import client_of

        self.show_run(client_of(folder))

    def resume_run(self, folder: Path) -> None:
        """Goes on with a run in this process.

        Raises:
            NetheriteError: its folder cannot be read.
        """
        from netherite_tui.clients.opening import resumed_run

        self.show_run(resumed_run(folder))

    def start_run(self, resolved: "Resolved", argv: list[str]) -> None:
        """Starts a new run in this process."""
        from netherite_tui.clients.opening import new_run

        assert self.runs_dir is not None
        self.show_run(new_run(resolved, self.runs_dir, argv))

    def open_new_run(self) -> None:
        """Asks for the settings of a new run."""
        from netherite_tui.screens.new_run import NewRunScreen

        assert self.runs_dir is not None
        self.push_screen(NewRunScreen(self.runs_dir))

    def export_run(self, folder: Path) -> None:
        """Exports a run without opening it.

        Raises:
            NetheriteError: its folder cannot be read.
        """
        from netherite_tui.clients.opening import client_of

        client = client_of(folder)
        client.start()
        self.open_export(RunModel(client))

    def run_failed(self, client: RunClient) -> None:
        """Leaves a run that could not begin: back to the list with its one line, or out of the app."""
        if self.runs_dir is None:
            self.exit(1)
            return
        self.alert("not started", str(client.error))
        self.leave_run()

    def leave_run(self) -> None:
        """Goes back to the list; a run that lives in this process asks as quitting does."""
        if self.runs_dir is None or self.client is None:
            return
        if self._runs_here():
            self.say("this run ends with the dashboard: q quits, or start it with --detach")
            return
        self.client.close()
        self.client = None
        self.pop_screen()

    def _runs_here(self) -> bool:
        """Whether leaving would stop something: lanes of this process that have not ended, or are being prepared."""
        client = self.client
        if client is None or not client.owned or client.status().phase in ("ended", "gone", "failed"):
            return False
        views = client.views()
        return not views or any(view.outcome is None for view in views)

    async def action_quit(self) -> None:
        """Quits; asks first when lanes run here. A second request while it stops quits at once."""
        client = self.client
        if client is None or not self._runs_here():
            self.exit(0)
        elif client.status().phase == "stopping":
            client.abort()
            self.exit(130)
        elif not isinstance(self.screen, Confirm):
            lines = ["Lanes run in this process. They stop, and what is finished is saved for --resume."]
            choices = (Choice("s", "Stop and save", "stop"), Choice("c", "Cancel", ""))
            self.push_screen(Confirm("Quit?", lines, choices), self._quit_answered)

    def _quit_answered(self, answer: str | None) -> None:
        if answer == "stop" and self.client is not None:
            self.client.stop()
            self.say("stopping and saving")
            self.set_interval(0.1, self._leave_when_stopped)

    def _leave_when_stopped(self) -> None:
        if not self._runs_here():
            self.exit(130)

    def end_by_signal(self, number: int) -> None:
        """Ends the app from a signal handler: 128 + n."""
        self.signal_number = number
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self.exit, 128 + number)

    @property
    def sent_bytes(self) -> int:
        """Bytes sent to the terminal so far."""
        return getattr(self._driver, "sent_bytes", 0)

    @property
    def stalled(self) -> bool:
        """Whether the terminal took nothing any more at the end."""
        return getattr(self._driver, "stalled", False)

    @property
    def backlog(self) -> int:
        """Frames the terminal has not taken yet."""
        return getattr(self._driver, "backlog", 0)

    # -- notices -------------------------------------------------------------------------------------------------

    def say(self, text: str) -> None:
        """Shows a passing notice."""
        self.notify(plain(text), timeout=4, markup=False)

    def alert(self, title: str, text: str) -> None:
        """Shows a notice that stays longer."""
        self.notify(plain(text), title=title, severity="warning", timeout=10, markup=False)

    def panel_failed(self, pane: Pane, error: Exception) -> None:
        """Says once that a pane could not be drawn; the others live on."""
        pane.say(subtitle=plain(f"{type(error).__name__}: {error}"))
        if pane.id not in self._told:
            self._told.add(str(pane.id))
            self.alert(f"{pane.id} failed", f"{type(error).__name__}: {error}")

    def announce(self, event: Event, model: RunModel) -> None:
        """Rings and titles the terminal at the first DIVERGE, the first STUCK and the end; notifies of STUCK once."""
        first = {"mismatch": "DIVERGE", "stuck": "STUCK", "run-end": "finished"}.get(event.kind)
        if first is None or first in self._told:
            return
        self._told.add(first)
        if self.settings.bell:
            self.bell()
        counts = model.counts
        self.set_terminal_title(f"{TITLE}: {first}" if first != "finished" else f"{TITLE}: {counts.ended} lanes done")
        if event.kind == "stuck":
            self.alert("STUCK", f"{event.text}. X kills all that are stuck.")
        elif event.kind == "run-end":
            self.say(f"run ended: {event.text}")

    def set_terminal_title(self, text: str) -> None:
        """Names the terminal's window."""
        if self._driver is not None and not self.is_headless:
            self._driver.write(f"\x1b]2;{to_ascii(plain(text))}\x07")

    # -- keys ----------------------------------------------------------------------------------------------------

    def key_of(self, binding: str, *owners: type[DOMNode]) -> str:
        """Returns the key of a binding id as people write it, the user's own when it was rebound.

        Args:
            binding: an id of one of `owners`, of the run screen or of the app.
            owners: further classes with keys of their own.
        """
        keys = self.settings.keys.get(binding)
        for node in (*owners, RunScreen, type(self)):
            for item in node.BINDINGS:
                if isinstance(item, Binding) and item.id == binding:
                    keys = keys or item.key
        return ", ".join(_SHORT_KEYS.get(key.strip(), key.strip()) for key in (keys or "").split(","))

    def _check_keys(self) -> None:
        if not self.settings.keys:
            return  # the first paint need not wait for the modules of every screen
        known = {item.id for _, owner in self._owners() for item in _named_keys(owner)}
        for name in self.settings.keys:
            if name not in known:
                raise BadInput(f"keys.{name}: unknown, expected one of {', '.join(sorted(filter(None, known)))}")

    def _owners(self) -> list[tuple[str, type[DOMNode]]]:
        """Returns whatever has keys of its own, in the order `Help` lists it."""
        from netherite_tui.screens.export import ExportScreen, PreviewPane
        from netherite_tui.screens.lane import FactsPane, LaneScreen
        from netherite_tui.screens.new_run import NewRunScreen
        from netherite_tui.screens.runs import RunsPane, RunsScreen
        from netherite_tui.widgets.camera import CameraPane
        from netherite_tui.widgets.lanes import LanesPane
        from netherite_tui.widgets.log import LogPane
        from netherite_tui.widgets.matrix import MatrixPane
        from netherite_tui.widgets.wall import WallPane

        return [
            *(("Run", RunScreen), ("Runs", RunsScreen), ("List", RunsPane), ("Lane", LaneScreen)),
            *(("New run", NewRunScreen), ("Export", ExportScreen), ("Preview", PreviewPane)),
            *(("Everywhere", type(self)), ("Facts", FactsPane), ("Lanes", LanesPane), ("Camera", CameraPane)),
            *(("Matrix", MatrixPane), ("Wall", WallPane), ("Log", LogPane)),
        ]

    def _is_here(self, owner: type[DOMNode]) -> bool:
        """Returns whether its keys do something on the screen that is shown."""
        return isinstance(self, owner) or isinstance(self.screen, owner) or bool(self.screen.query(owner))

    def action_help(self) -> None:
        """Lists the keys of the screen that is shown."""
        if isinstance(self.screen, Help):
            return
        sections = []
        for title, owner in self._owners():
            keys = [(self._shown_keys(item), item.description) for item in _named_keys(owner) if self._offered(item)]
            if keys and self._is_here(owner):
                sections.append((title, keys))
        note = "Ctrl-P finds every command. Keys are rebound in the [keys] table of the config file."
        self.push_screen(Help(sections, note))

    def _shown_keys(self, item: Binding) -> str:
        keys = self.settings.keys.get(item.id or "", item.key)
        return " ".join(_SHORT_KEYS.get(key.strip(), key.strip()) for key in keys.split(","))

    def _offered(self, item: Binding) -> bool:
        if item.id in ("runs-new", "runs-resume", "runs-delete"):
            return not self.readonly
        steering = item.id in ("kill", "kill-stuck", "retry", "pause", "pause-all")
        return not (steering and (self.readonly or (self.client is not None and self.client.read_only)))

    def action_mouse(self) -> None:
        """Turns the mouse off, so that tmux or the terminal can select text, or on again."""
        self.mouse_on = not self.mouse_on
        if isinstance(self._driver, SturdyDriver):
            self._driver.set_mouse(self.mouse_on)
        self.say("mouse on" if self.mouse_on else "mouse off: the terminal selects text")

    def get_system_commands(self, screen: Screen[object]) -> list[SystemCommand]:
        """Offers the action of every key of the screen and the app, and every theme, in the command palette."""
        commands = [
            SystemCommand(item.description, f"key {self._shown_keys(item)}", self._runner(item.action))
            for owner in (type(screen), type(self))
            for item in _named_keys(owner)
            if self._offered(item)
        ]
        commands += [
            SystemCommand(f"Theme: {name}", "change the colours", self._look_changer(name, None))
            for name in self.palettes
        ]
        return commands + [
            SystemCommand(f"Glyphs: {name}", "change the characters", self._look_changer(None, name))
            for name in self.glyph_sets
        ]

    def _runner(self, action: str) -> Callable[[], object]:
        return lambda: self.call_later(self.run_action, action, self.screen)

    def _look_changer(self, theme: str | None, glyphs: str | None) -> Callable[[], None]:
        return lambda: self.set_look(theme or self.look.palette.name, glyphs or self.look.glyphs.name)

    # -- other screens -------------------------------------------------------------------------------------------

    def open_lane(self, model: RunModel, index: int) -> None:
        """Shows one lane full screen."""
        from netherite_tui.screens.lane import LaneScreen

        self.push_screen(LaneScreen(model, index))

    def open_export(self, model: RunModel) -> None:
        """Opens the export screen."""
        from netherite_tui.screens.export import ExportScreen

        self.push_screen(ExportScreen(model))


_SHORT_KEYS = {
    "question_mark": "?",
    "slash": "/",
    "down": "Down",
    "up": "Up",
    "left": "Left",
    "right": "Right",
    "pagedown": "PgDn",
    "pageup": "PgUp",
    "escape": "Esc",
    "enter": "Enter",
    "space": "Space",
    "tab": "Tab",
    "shift+tab": "Shift-Tab",
    "home": "Home",
    "end": "End",
    "ctrl+c": "Ctrl-C",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
}


def _named_keys(owner: type[DOMNode]) -> list[Binding]:
    """Returns the bindings people see and may rebind."""
    return [item for item in owner.BINDINGS if isinstance(item, Binding) and item.id]


def run_app(
    client: RunClient | None = None,
    *,
    runs_dir: Path | None = None,
    settings: Settings | None = None,
    readonly: bool = False,
) -> int:
    """Runs the dashboard on the terminal until it is left, and lets go of the run.

    Args:
        client: the run to show; None shows the list of runs.
        runs_dir: the folder of the runs; None when there is no list to go back to.
        settings: the user's settings.
        readonly: offer nothing that changes a run.

    Returns:
        0 when it was left in the ordinary way, 130 when a run was stopped on the way, 128 + n after signal n, 3 when
        the dashboard itself failed.

    Raises:
        NetheriteError: a setting that cannot be used, or the run could not begin.
    """
    app = NetheriteApp(client, runs_dir=runs_dir, settings=settings, readonly=readonly)

    def let_go() -> None:
        if app.client is not None:
            app.client.close()

    with signals_end(app.end_by_signal, let_go):
        app.run(mouse=app.settings.mouse)
        let_go()
    if app.signal_number:
        code = 128 + app.signal_number
    elif app._exception is not None:  # its traceback has been printed
        code = int(ExitCode.LANES_LOST)
    else:
        code = app.return_value or 0
    if app.stalled:
        os._exit(code)  # the interpreter's own end would wait for the terminal
    if runs_dir is None and client is not None and client.error is not None:
        raise client.error
    return code
