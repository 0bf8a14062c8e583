"""The last line: panes as tabs, then the keys that matter, each clickable."""

from collections.abc import Hashable
from typing import NamedTuple

from rich.style import Style
from textual.strip import Strip

from netherite_tui.widgets.lines import Line, Lines


class Hint(NamedTuple):
    """One clickable word of the footer."""

    key: str
    label: str
    action: str
    active: bool = False
    rank: int = 0  #: what gives way first when the line is too long: the highest


class Footer(Lines):
    """Hints of the present screen in one line."""

    DEFAULT_CSS = "Footer { height: 1; overflow: hidden; dock: bottom; }"

    def __init__(self, hints: tuple[Hint, ...] = ()) -> None:
        super().__init__(id="footer")
        self.hints = hints

    def show(self, hints: tuple[Hint, ...]) -> None:
        """Replaces the hints."""
        self.hints = hints
        self.update_lines()

    def line_count(self) -> int:
        """Returns 1."""
        return 1

    def line_key(self, y: int) -> Hashable:
        """Returns the hints."""
        return self.hints

    def draw_line(self, y: int, width: int) -> Strip:
        """Draws as many hints as fit."""
        hints = list(self.hints)
        while hints and 1 + sum(len(hint.key) + len(hint.label) + 2 for hint in hints) > width:
            hints.remove(max(hints, key=lambda hint: hint.rank))
        spare = width - 1 - sum(len(hint.key) + len(hint.label) + 2 for hint in hints)
        gap = "  " if spare >= len(hints) else " "
        line = Line().add(" ")
        for hint in hints:
            click = Style(meta={"@click": hint.action})
            line.add(hint.key, self.look["key"] + click)
            label = self.look["strong"] + Style(underline=True) if hint.active else self.look["dim"]
            line.add(f" {hint.label}" if hint.label else "", label + click).add(gap)
        return line.strip(width)
