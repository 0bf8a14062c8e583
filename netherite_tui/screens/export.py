"""The export screen: a format, a preview, a file; or the clipboard, as far as the terminal passes it on."""

import threading
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.screen import Screen
from textual.strip import Strip
from textual.suggester import Suggester
from textual.widgets import Input, Static

from core.errors import NetheriteError
from core.wire.files import write_atomically
from netherite_tui.model import RunModel
from netherite_tui.screens.confirm import NO, Choice, Confirm
from netherite_tui.widgets.footer import Footer, Hint
from netherite_tui.widgets.lines import Line, Lines, Pane
from netherite_tui.words import plain

FORMATS = ("md", "csv", "json", "html")


class PathSuggester(Suggester):
    """Completes a file name from what lies in its folder; Right takes the suggestion."""

    def __init__(self) -> None:
        super().__init__(use_cache=False, case_sensitive=True)

    async def get_suggestion(self, value: str) -> str | None:
        """Returns the first name in the folder that goes on from what was typed."""
        folder, name = Path(value).expanduser().parent, Path(value).name
        if not value or value.endswith("/") or not name:
            return None
        try:
            names = sorted(
                entry.name + "/" * entry.is_dir() for entry in folder.iterdir() if entry.name.startswith(name)
            )
        except OSError:
            return None
        return value + names[0][len(name) :] if names else None


class PreviewPane(Pane):
    """The text that will be written."""

    BINDINGS: ClassVar = [
        Binding("down,j", "scroll_down", "Down", id="preview-down", show=False),
        Binding("up,k", "scroll_up", "Up", id="preview-up", show=False),
    ]

    def __init__(self) -> None:
        super().__init__(id="preview")
        self.lines = ["..."]

    def show_text(self, text: str) -> None:
        """Shows a text from its beginning."""
        self.lines = [plain(line) for line in text.splitlines()]
        self.scroll_home(animate=False, immediate=True)
        self.update_lines()

    def line_count(self) -> int:
        """Returns the text's lines."""
        return len(self.lines)

    def line_key(self, y: int) -> str:
        """Returns the line."""
        return self.lines[y]

    def draw_line(self, y: int, width: int) -> Strip:
        """Draws the line."""
        return Line().add(" ").add(self.lines[y], self.look["text"]).strip(width)


class ExportScreen(Screen[None]):
    """Chooses format and file and writes; a file that exists is replaced only after asking."""

    DEFAULT_CSS = """
    ExportScreen { background: $background; }
    ExportScreen > Vertical { height: auto; padding: 0 2; margin-top: 1; }
    ExportScreen Static { height: 1; width: 100%; }
    ExportScreen Input, ExportScreen Input:focus { border: none; height: 1; padding: 0; margin-bottom: 1; }
    ExportScreen Input, ExportScreen Input:focus { background: $panel; color: $foreground; }
    ExportScreen #preview { height: 1fr; }
    """
    BINDINGS: ClassVar = [
        Binding("escape", "close", "Back", id="export-back", priority=True),
        Binding("f2", "format(1)", "Next format", id="export-format", priority=True),
        Binding("ctrl+y", "copy", "Copy", id="export-copy", priority=True),
        Binding("tab", "app.focus_next", "Next field", show=False),
    ]
    AUTO_FOCUS = "#file"

    def __init__(self, model: RunModel) -> None:
        super().__init__()
        self.model = model
        self.format = FORMATS[0]
        self._text: dict[str, str | NetheriteError] = {}
        self._begun: set[str] = set()

    def compose(self) -> ComposeResult:
        """Shows format, file and preview."""
        with Vertical():
            yield Static(id="formats")
            yield Static("file, Enter writes it:", markup=False)
            yield Input(f"{self.model.facts.run_id or 'run'}.{self.format}", id="file", suggester=PathSuggester())
        yield PreviewPane()
        hints = (
            ("Enter", "Write", "write"),
            ("F2", "Format", "format(1)"),
            ("Ctrl-Y", "Copy", "copy"),
            ("Esc", "Back", "close"),
        )
        yield Footer(tuple(Hint(key, label, f"screen.{action}") for key, label, action in hints))

    def on_mount(self) -> None:
        """Begins with the first format."""
        self._show_format()
        self.set_interval(0.1, self._take)

    def relook(self) -> None:
        """Draws with the new look."""
        for widget in self.query(Lines):
            widget.relook()
        self._show_format()

    def action_close(self) -> None:
        """Goes back."""
        self.dismiss()

    def action_format(self, by: int) -> None:
        """Chooses the next format; the file's suffix follows."""
        self._choose(FORMATS[(FORMATS.index(self.format) + by) % len(FORMATS)])

    def action_choose(self, format: str) -> None:
        """Chooses a format."""
        self._choose(format)

    def _choose(self, format: str) -> None:
        box = self.query_one("#file", Input)
        stem, dot, suffix = box.value.rpartition(".")
        if dot and suffix in FORMATS:
            box.value = f"{stem}.{format}"
        self.format = format
        self._show_format()

    def _show_format(self) -> None:
        names = [
            f"[@click=screen.choose('{name}')]{f'[b $accent]{name}[/]' if name == self.format else name}[/]"
            for name in FORMATS
        ]
        self.query_one("#formats", Static).update("format, F2 changes it:  " + "  ".join(names))
        self.query_one(PreviewPane).say(title=f"Export {self.format}")
        self._render_format(self.format)
        self._take()

    def _render_format(self, format: str) -> None:
        """Makes the text in a thread: 512 lanes as HTML take a moment."""
        if format in self._begun:
            return
        self._begun.add(format)

        def make() -> None:
            try:
                self._text[format] = self.model.client.export(format)
            except NetheriteError as error:
                self._text[format] = error

        threading.Thread(target=make, name="export", daemon=True).start()

    def _take(self) -> None:
        pane = self.query_one(PreviewPane)
        text = self._text.get(self.format)
        shown = "writing the preview ..." if text is None else str(text)
        state = (self.format, shown)
        if getattr(pane, "state", None) != state:
            pane.state = state
            pane.show_text(shown)

    @on(Input.Submitted, "#file")
    def action_write(self) -> None:
        """Writes the file, after asking when it exists."""
        text, name = self._text.get(self.format), self.query_one("#file", Input).value.strip()
        if not isinstance(text, str):
            self.app.alert("export", "nothing to write yet" if text is None else str(text))
            return
        if not name:
            self.app.alert("export", "a file name is needed")
            return
        path = Path(name).expanduser()
        if path.exists():
            question = Confirm("Replace the file?", [str(path)], (Choice("y", "Yes", "yes"), NO))
            self.app.push_screen(question, lambda answer: self._write(path, text) if answer == "yes" else None)
        else:
            self._write(path, text)

    def _write(self, path: Path, text: str) -> None:
        try:
            write_atomically(path, [text.encode()])
        except (OSError, NetheriteError) as error:
            self.app.alert("not written", str(error))
        else:
            self.app.say(f"written: {path}")
            self.dismiss()

    def action_copy(self) -> None:
        """Copies by OSC 52, which terminals may ignore."""
        text = self._text.get(self.format)
        if isinstance(text, str):
            self.app.copy_to_clipboard(text)
            self.app.say("sent to the clipboard; a terminal or tmux may ignore it (tmux: set -g set-clipboard on)")
