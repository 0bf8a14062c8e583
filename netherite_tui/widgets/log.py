"""The log: what happened, newest last, with the time of day."""

import time
from collections.abc import Hashable
from typing import ClassVar

from textual.binding import Binding
from textual.geometry import Size
from textual.strip import Strip

from core.ladder.events import Event
from netherite_tui.model import Change, RunModel
from netherite_tui.widgets.lines import Line, Pane
from netherite_tui.words import plain

_STYLE_OF_KIND = {
    "stuck": "warning",
    "mismatch": "diverge",
    "killed": "lost",
    "warning": "warning",
    "milestone": "accent",
}
_STYLE_OF_OUTCOME = {"MATCH": "match", "DIVERGE": "diverge", "done": "text", "SKIP": "dim"}


class LogPane(Pane):
    """Events that pass the filter. It follows the newest while it is at its end."""

    BINDINGS: ClassVar = [
        Binding("down,j", "scroll_down", "Down", id="log-down", show=False),
        Binding("up,k", "scroll_up", "Up", id="log-up", show=False),
        Binding("home", "scroll_home", "Oldest", id="log-first", show=False),
        Binding("end", "scroll_end", "Newest", id="log-last", show=False),
    ]

    def __init__(self, model: RunModel, *, id: str = "log") -> None:
        super().__init__(id=id)
        self.model = model
        self.filter = ""
        self.lane: int | None = None  #: only this lane's events
        self.shown: list[Event] = []
        self.say(title="Log")

    def show_change(self, change: Change) -> None:
        """Adds new events."""
        if not change.events:
            return
        height = self.inner.height
        following = self.scroll_offset.y >= len(self.shown) - height
        self.shown.extend(event for event in change.events if self._passes(event))
        if len(self.shown) > len(self.model.events):
            del self.shown[: len(self.shown) - len(self.model.events)]
        self.update_lines()
        if following:
            self._go_to_newest()

    def _go_to_newest(self) -> None:
        self.virtual_size = Size(self.inner.width, len(self.shown))
        self.scroll_to(y=max(0, len(self.shown) - self.inner.height), animate=False, immediate=True, force=True)
        self.update_lines()

    def on_resize(self) -> None:
        """Keeps the newest in sight."""
        super().on_resize()
        self._go_to_newest()

    def set_filter(self, text: str) -> None:
        """Shows only events with every word of `text`."""
        self.filter = text.strip()
        self.refill()

    def refill(self) -> None:
        """Filters all events anew and goes to the newest."""
        self.shown = [event for event in self.model.events if self._passes(event)]
        self.say(subtitle=f"filter: {plain(self.filter)}" if self.filter else "")
        self._go_to_newest()

    def line_count(self) -> int:
        """Returns the number of events shown."""
        return len(self.shown)

    def line_key(self, y: int) -> Hashable:
        """Returns the event's number."""
        return self.shown[y].n

    def draw_line(self, y: int, width: int) -> Strip:
        """Draws time and text."""
        event = self.shown[y]
        line = Line().add(time.strftime(" %H:%M:%S  ", time.localtime(event.time)), self.look["dim"])
        line.add(plain(event.text), self.look[style_of(event)])
        return line.strip(width)

    def _passes(self, event: Event) -> bool:
        if self.lane is not None and event.lane != self.lane:
            return False
        text = f"{event.kind} {event.text}".lower()
        return all(word in text for word in self.filter.lower().split())


def style_of(event: Event) -> str:
    """Returns the palette name an event is drawn in."""
    if event.kind == "outcome":
        words = event.text.split()
        return next((style for word, style in _STYLE_OF_OUTCOME.items() if word in words), "lost")
    return _STYLE_OF_KIND.get(event.kind, "text")
