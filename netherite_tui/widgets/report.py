"""The native tables, as they fill."""

from collections.abc import Hashable
from typing import ClassVar

from textual.binding import Binding
from textual.strip import Strip

from netherite_tui.model import Change, RunModel
from netherite_tui.widgets.lines import Line, Pane
from netherite_tui.words import plain


class ReportPane(Pane):
    """The text of the report, asked for anew when a lane ends."""

    BINDINGS: ClassVar = [
        Binding("down,j", "scroll_down", "Down", id="report-down", show=False),
        Binding("up,k", "scroll_up", "Up", id="report-up", show=False),
    ]

    def __init__(self, model: RunModel) -> None:
        super().__init__(id="report")
        self.model = model
        self.lines: list[str] = []
        self._ended = -1
        self.say(title="Report")

    def show_change(self, change: Change) -> None:
        """Renders the report when another lane has ended since the last time."""
        ended = self.model.counts.ended
        if ended != self._ended or (self.model.status.phase == "ended" and not self.lines):
            self._ended = ended
            self.lines = self.model.client.report().splitlines()
            self.say(subtitle=f"{ended} of {self.model.counts.total} lanes")
        self.update_lines()

    def line_count(self) -> int:
        """Returns the report's lines."""
        return len(self.lines)

    def line_key(self, y: int) -> Hashable:
        """Returns the line."""
        return self.lines[y]

    def draw_line(self, y: int, width: int) -> Strip:
        """Draws the line as the native prints it, states in their colours."""
        text = plain(self.lines[y])
        style = "dim" if text.startswith("# ") else "diverge" if "DIVERGE" in text else "text"
        style = "match" if text.startswith("seed") and text.endswith("MATCH") else style
        return Line().add(" ").add(text, self.look[style]).strip(width)
