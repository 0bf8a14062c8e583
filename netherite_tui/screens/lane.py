"""One lane, full screen: its picture, milestones, load over time, what its process said, and where it diverged."""

from collections.abc import Hashable
from typing import ClassVar

import numpy as np
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Container
from textual.screen import Screen
from textual.strip import Strip

from core.ladder.events import LaneResult
from core.ladder.milestones import NAMES
from core.wire.bolr import RECORD
from netherite_tui.blocks import INVENTORY
from netherite_tui.model import RunModel
from netherite_tui.widgets.camera import CameraPane
from netherite_tui.widgets.footer import Footer, Hint
from netherite_tui.widgets.header import Header
from netherite_tui.widgets.lines import Line, Lines, Pane
from netherite_tui.widgets.log import LogPane
from netherite_tui.words import (
    UNKNOWN,
    age,
    clock,
    count,
    fit,
    milestone_word,
    percent,
    plain,
    state_style,
    state_word,
)

Piece = tuple[str, str]
_SPARKS = "▁▂▃▄▅▆▇█"
_ASCII_SPARKS = "_.-~=+*#"


class FactsPane(Pane):
    """Everything known of the lane, as lines."""

    BINDINGS: ClassVar = [
        Binding("down,j", "scroll_down", "Down", id="facts-down", show=False),
        Binding("up,k", "scroll_up", "Up", id="facts-up", show=False),
    ]

    def __init__(self, model: RunModel, index: int) -> None:
        super().__init__(id="facts")
        self.model = model
        self.index = index
        self.say(title="Lane")
        self._lines: list[tuple[Piece, ...]] = []

    def redraw(self) -> None:
        """Gathers the facts anew."""
        view = self.model.views[self.index]
        self.say(title=f"Lane {view.seed}:{view.attempt}")
        result = self.model.client.result(self.index)
        lines = [*self._state_lines(), (), *self._milestone_lines(result), (), *self._load_lines()]
        lines += [(), *self._difference_lines(result), *self._stderr_lines(result)]
        self._lines = lines
        self.update_lines()

    def line_count(self) -> int:
        """Returns the number of facts."""
        return len(self._lines)

    def line_key(self, y: int) -> Hashable:
        """Returns the words."""
        return self._lines[y]

    def draw_line(self, y: int, width: int) -> Strip:
        """Draws the words."""
        line = Line().add(" ")
        for text, style in self._lines[y]:
            line.add(text, self.look[style])
        return line.strip(width)

    def _state_lines(self) -> list[tuple[Piece, ...]]:
        view, model = self.model.views[self.index], self.model
        held = "  held out" if view.held_out else ""
        running_s = None if view.started_s is None or view.outcome is not None else model.now - view.started_s
        return [
            (("state     ", "dim"), (state_word(view), state_style(view)), (f"  {percent(view)}%{held}", "text")),
            (("decision  ", "dim"), (f"{view.decision} of {view.limit}", "text"), (f"  run {view.runs}", "dim")),
            (("process   ", "dim"), (f"pid {view.pid or UNKNOWN}", "text"), (f"  {clock(running_s)}", "dim")),
            (("last      ", "dim"), (age(model.age_s(view)), "text"), (" s ago  ", "dim"), (view.action, "text")),
            (("noise     ", "dim"), (f"ni {view.ni}", "text"), (f"  stage {view.stage}", "dim")),
            (("note      ", "dim"), (plain(view.mismatch or view.note) or UNKNOWN, "text")),
        ]

    def _milestone_lines(self, result: LaneResult | None) -> list[tuple[Piece, ...]]:
        """One line a milestone: the decision it was reached at, from the result or the events so far."""
        reached = {} if result is None else {i: d for i, d in enumerate(result.milestone_decisions) if d >= 0}
        for event in self.model.events:
            if event.kind == "milestone" and event.lane == self.index and "milestone" in event.data:
                reached.setdefault(int(event.data["milestone"]), int(event.data.get("decision", -1)))
        view = self.model.views[self.index]
        lines: list[tuple[Piece, ...]] = []
        for number, name in enumerate(NAMES[1:], 1):
            got = number in reached or view.milestone >= number
            mark = self.look.glyphs["mark"] if got else self.look.glyphs["dot"]
            when = reached.get(number, -1)
            at = f"decision {when}" if when >= 0 else "reached" if got else UNKNOWN
            lines.append(((f"{mark} {name:<9} ", "accent" if got else "dim"), (at, "text" if got else "faint")))
        start = (f"  start {milestone_word(view.base)}", "dim")
        return [((" milestones"[1:], "title"), start), *lines]

    def _load_lines(self) -> list[tuple[Piece, ...]]:
        sample = self.model.samples(self.index)
        rows = (("RSS MiB", sample.rss_mib), ("cpu %", sample.cpu_percent), ("ticks/s", sample.ticks_per_s))
        return [
            ((f"{name:<8} ", "dim"), (f"{count(values[-1]) if values else UNKNOWN:>6} ", "text"), self._spark(values))
            for name, values in rows
        ]

    def _spark(self, values: object) -> Piece:
        numbers = list(values)[-max(8, self.inner.width - 20) :]
        steps = _ASCII_SPARKS if self.look.glyphs.ascii else _SPARKS
        top = max(numbers, default=0.0) or 1.0
        return ("".join(steps[min(7, int(8 * value / top))] for value in numbers), "bar")

    def _difference_lines(self, result: LaneResult | None) -> list[tuple[Piece, ...]]:
        view = self.model.views[self.index]
        ours = (result.magma_record if result is not None else None) or (
            view.record if view.mismatch_step >= 0 else None
        )
        theirs = (result.reference_record if result is not None else None) or view.reference
        if view.mismatch_step < 0:
            return []
        title = (("divergence", "title"), (f"  step {view.mismatch_step}  {plain(view.mismatch)}", "diverge"))
        if not ours or not theirs:
            return [title, (("its records are not here yet", "dim"),)]
        head = ((fit("field", 14), "head"), *((fit(world, 19), "head") for world in self.model.facts.worlds))
        return [title, head, *record_differences(ours, theirs)]

    def _stderr_lines(self, result: LaneResult | None) -> list[tuple[Piece, ...]]:
        if result is None or not result.stderr_tail:
            return []
        text = result.stderr_tail.decode("utf-8", "replace").splitlines()[-40:]
        return [(), (("stderr", "title"),), *(((plain(line), "text"),) for line in text)]


def record_differences(ours: bytes, theirs: bytes) -> list[tuple[Piece, ...]]:
    """Returns one line for each gated field of two records, those that differ first; pixel planes are counted."""
    mine, other = np.frombuffer(ours, RECORD)[0], np.frombuffer(theirs, RECORD)[0]
    fields = [("dead", mine["dead"], other["dead"])]
    fields += [(axis, mine["xyz"][i], other["xyz"][i]) for i, axis in enumerate("xyz")]
    names = ("yaw", "pitch", "container", "hotbar_sel", "hotbar_ids", "hotbar_counts")
    fields += [(name, mine[name], other[name]) for name in names]
    fields += list(zip(INVENTORY, mine["inv_counts"], other["inv_counts"], strict=True))
    lines = [
        (np.array_equal(a, b), _field_line(name, _value(a), _value(b), np.array_equal(a, b))) for name, a, b in fields
    ]
    for name in ("coal", "cam", "depth", "edge"):
        count = int(np.count_nonzero(mine[name] != other[name]))
        lines.append((not count, _field_line(name, f"{count} differ" if count else "same", "", not count)))
    return [line for _, line in sorted(lines, key=lambda entry: entry[0])]


def _field_line(name: str, mine: str, other: str, same: bool) -> tuple[Piece, ...]:
    style = "faint" if same else "diverge"
    return ((fit(name, 14), "faint" if same else "text"), (fit(mine, 19), style), (other, style))


def _value(value: object) -> str:
    numbers = np.atleast_1d(value)
    return " ".join(f"{number:.9g}" if numbers.dtype.kind == "f" else str(number) for number in numbers.tolist())


class LaneScreen(Screen[None]):
    """The lane's screen; `j` and `k` in it scroll, brackets go to the neighbours, Esc goes back."""

    DEFAULT_CSS = """
    LaneScreen { background: $background; }
    LaneScreen #panes { height: 1fr; layout: vertical; }
    LaneScreen #panes.wide { layout: grid; grid-size: 2 2; grid-columns: 66 1fr; grid-rows: 1fr 9; }
    LaneScreen #panes.wide > #facts { row-span: 2; }
    LaneScreen #panes > Pane { height: 1fr; }
    LaneScreen #panes.narrow > #lane-log { display: none; }
    LaneScreen #panes.narrow > #lane-camera { height: 12; }
    """
    BINDINGS: ClassVar = [
        Binding("escape", "close", "Back", id="lane-back"),
        Binding("q", "close", "Back", show=False),
        Binding("left_square_bracket", "step(-1)", "Previous lane", id="lane-previous", key_display="["),
        Binding("right_square_bracket", "step(1)", "Next lane", id="lane-next", key_display="]"),
        Binding("v", "view", "Next view", id="lane-view"),
        Binding("b", "side", "Next side", id="lane-side"),
        Binding("c", "crosshair", "Crosshair", id="lane-crosshair"),
    ]
    AUTO_FOCUS = "#facts"

    def __init__(self, model: RunModel, index: int) -> None:
        super().__init__()
        self.model = model
        self.index = index

    def compose(self) -> ComposeResult:
        """Puts the picture beside the facts."""
        yield Header(self.model)
        with Container(id="panes"):
            yield CameraPane(self.model, id="lane-camera")
            yield FactsPane(self.model, self.index)
            yield LogPane(self.model, id="lane-log")
        yield Footer()

    def on_mount(self) -> None:
        """Shows the lane and keeps it fresh."""
        self._hints()
        self._lay_out()
        self._go(self.index)
        self.set_interval(0.25, self._refresh)

    def on_resize(self, _event: events.Resize) -> None:
        """Puts panes side by side when there is room."""
        self._lay_out()

    def relook(self) -> None:
        """Draws with the new look."""
        for widget in self.query(Lines):
            widget.relook()

    def action_close(self) -> None:
        """Goes back to the run."""
        self.dismiss()

    def action_step(self, by: int) -> None:
        """Shows the lane before or after."""
        self._go((self.index + by) % len(self.model.views))

    def action_view(self) -> None:
        """Shows the camera's next view."""
        self.query_one(CameraPane).cycle_view()

    def action_side(self) -> None:
        """Shows the camera's next side."""
        self.query_one(CameraPane).cycle_side()

    def action_crosshair(self) -> None:
        """Shows or hides the crosshair."""
        self.query_one(CameraPane).toggle_crosshair()

    def _go(self, index: int) -> None:
        self.index = index
        self.query_one(FactsPane).index = index
        log = self.query_one(LogPane)
        log.lane = index
        log.refill()
        self.query_one(CameraPane).show_lane(index)
        self.model.client.watch({index})
        self.query_one(FactsPane).redraw()

    def _refresh(self) -> None:
        change = self.model.poll()
        if self.app.backlog >= 3:
            return
        with self.app.batch_update():
            self.query_one(Header).update_lines()
            self.query_one(CameraPane).redraw()
            self.query_one(FactsPane).redraw()
            self.query_one(LogPane).show_change(change)
        for event in change.events:
            self.app.announce(event, self.model)

    def _lay_out(self) -> None:
        wide = self.app.size.width >= 112 and self.app.size.height >= 30
        self.query_one("#panes").set_classes("wide" if wide else "narrow")

    def _hints(self) -> None:
        keys = (
            ("Esc", "Back", "close"),
            ("[", "Previous", "step(-1)"),
            ("]", "Next", "step(1)"),
            ("v", "View", "view"),
        )
        keys += (("b", "Side", "side"), ("c", "Crosshair", "crosshair"))
        hints = tuple(Hint(key, label, f"screen.{action}") for key, label, action in keys)
        self.query_one(Footer).show((*hints, Hint("?", "Help", "app.help")))
