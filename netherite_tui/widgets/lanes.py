"""The lanes table: a row a lane, sorted and filtered, with a cursor and a selection that survive both."""

from collections.abc import Hashable
from typing import ClassVar, NamedTuple

from textual import events
from textual.binding import Binding
from textual.strip import Strip

from core.ladder.events import LaneState, LaneView
from netherite_tui.look import Look
from netherite_tui.model import Change, RunModel
from netherite_tui.widgets.lines import Line, Pane
from netherite_tui.widgets.messages import LaneMoved, LaneOpened
from netherite_tui.words import UNKNOWN, age, count, fit, milestone_word, percent, plain, state_style, state_word


class Column(NamedTuple):
    """A column: its name, width in cells, alignment, and how early it gives way on a narrow pane (0 never)."""

    name: str
    width: int
    right: bool
    rank: int


COLUMNS = (
    Column("seed", 4, True, 0),
    Column("try", 3, True, 0),
    Column("state", 8, False, 0),
    Column("progress", 13, False, 0),
    Column("mile", 7, False, 0),
    Column("tick/s", 6, True, 3),
    Column("RSS", 4, True, 1),
    Column("cpu", 4, True, 4),
    Column("age", 4, True, 1),
    Column("note", 24, False, 5),
)
_WIDEST_BAR = 12  #: cells a progress bar may grow by
_STATE_ORDER = {LaneState.STUCK: 0, LaneState.RUNNING: 1, LaneState.STARTING: 2, LaneState.PAUSED: 3}


class LanesPane(Pane):
    """Lanes of the run. `lane` is the one under the cursor, `selected` those marked with space."""

    BINDINGS: ClassVar = [
        Binding("down,j", "move(1)", "Down", id="down", show=False),
        Binding("up,k", "move(-1)", "Up", id="up", show=False),
        Binding("pagedown", "page(1)", "Page down", id="page-down", show=False),
        Binding("pageup", "page(-1)", "Page up", id="page-up", show=False),
        Binding("home", "end(-1)", "First", id="first", show=False),
        Binding("end", "end(1)", "Last", id="last", show=False),
        Binding("space", "mark", "Select", id="select", show=False),
        Binding("a", "mark_all", "Select all shown, or none", id="select-all", show=False),
        Binding("s", "sort(1)", "Sort by the next column", id="sort", show=False),
        Binding("S", "reverse", "Reverse the order", id="reverse", show=False),
        Binding("enter", "open", "Open the lane", id="open", show=False),
    ]

    heading = 1

    def __init__(self, model: RunModel) -> None:
        super().__init__(id="lanes")
        self.model = model
        self.rows: list[int] = []  #: lane indices in the order shown
        self.cursor = 0  #: lane index
        self.selected: set[int] = set()
        self.filter = ""
        self.sort_column = -1  #: index in COLUMNS; -1 keeps the run's order
        self.descending = False
        self.say(title="Lanes")

    # -- what others ask -----------------------------------------------------------------------------------------

    @property
    def lane(self) -> LaneView | None:
        """The lane under the cursor."""
        return self.model.views[self.cursor] if self.cursor < len(self.model.views) else None

    def targets(self) -> list[int]:
        """Returns the lanes an action is for: the selected ones, else the one under the cursor."""
        if self.selected:
            return sorted(self.selected)
        return [self.cursor] if self.lane is not None else []

    def show_change(self, change: Change) -> None:
        """Takes in what a look at the run found."""
        if change.layout or (change.lanes and (self.filter or self.sort_column >= 0)):
            self.arrange()
        self.update_lines()

    def set_filter(self, text: str) -> None:
        """Shows only lanes that match every word of `text` (`state=STUCK`, or part of any column)."""
        self.filter = text.strip()
        self.arrange()

    def arrange(self) -> None:
        """Filters and sorts anew, keeping the cursor's lane when it is still shown."""
        views = self.model.views
        rows = [view.index for view in views if matches(view, self.filter)]
        if self.sort_column >= 0:
            name = COLUMNS[self.sort_column].name
            rows.sort(key=lambda index: sort_value(views[index], name, self.model), reverse=self.descending)
        self.rows = rows
        if self.cursor not in rows and rows:
            self._put_cursor(rows[0])
        self._say()
        self.update_lines()

    # -- lines ---------------------------------------------------------------------------------------------------

    def line_count(self) -> int:
        """Returns the heading and the rows."""
        return 1 + len(self.rows)

    def line_key(self, y: int) -> Hashable:
        """Returns the heading's order, or the row's view version, marks and age."""
        if y == 0:
            return ("head", self.sort_column, self.descending)
        view = self.model.views[self.rows[y - 1]]
        ticking = age(self.model.age_s(view))
        return (view, ticking, view.index == self.cursor, view.index in self.selected, self.has_focus)

    def draw_line(self, y: int, width: int) -> Strip:
        """Draws the heading or a row."""
        columns = visible_columns(width)
        if y == 0:
            return self._draw_head(columns, width)
        view = self.model.views[self.rows[y - 1]]
        here = view.index == self.cursor
        line = Line()
        line.add(self.look.glyphs["cursor"] if here else " ", self.look["mark"])
        line.add(self.look.glyphs["mark"] if view.index in self.selected else " ", self.look["mark"])
        for column in columns:
            self._draw_cell(line, view, column)
        under = self.look["cursor"] if here and self.has_focus else None
        return line.strip(width, under)

    def _draw_head(self, columns: tuple[Column, ...], width: int) -> Strip:
        line = Line().gap(2)
        for column in columns:
            sorted_by = self.sort_column >= 0 and COLUMNS[self.sort_column] is column
            arrow = self.look.glyphs["down" if self.descending else "up"] if sorted_by else ""
            title = fit((column.name + arrow)[: column.width], column.width, right=column.right)
            line.add(title, self.look["accent" if sorted_by else "head"]).add(" ")
        return line.strip(width)

    def _draw_cell(self, line: Line, view: LaneView, column: Column) -> None:
        if column.name == "progress":
            draw_progress(line, view, column.width, self.look)
        else:
            text, style = cell(view, column.name, self.model)
            line.add(fit(text, column.width, right=column.right), self.look[style])
        line.add(" ")

    # -- keys and mouse ------------------------------------------------------------------------------------------

    def action_move(self, by: int) -> None:
        """Moves the cursor by rows."""
        if self.rows:
            at = self.rows.index(self.cursor) if self.cursor in self.rows else 0
            self._put_cursor(self.rows[max(0, min(len(self.rows) - 1, at + by))])

    def action_page(self, by: int) -> None:
        """Moves the cursor by pages."""
        self.action_move(by * max(1, self.inner.height - 2))

    def action_end(self, side: int) -> None:
        """Moves the cursor to the first or last row."""
        self.action_move(side * len(self.rows))

    def action_mark(self) -> None:
        """Selects or unselects the lane under the cursor and moves on."""
        if self.lane is not None:
            self.selected ^= {self.cursor}
            self.action_move(1)
            self._say()
            self.update_lines()

    def action_mark_all(self) -> None:
        """Selects every lane shown; when all are, none."""
        shown = set(self.rows)
        self.selected = self.selected - shown if shown <= self.selected else self.selected | shown
        self._say()
        self.update_lines()

    def action_sort(self, by: int) -> None:
        """Sorts by the next column; after the last, in the run's order."""
        self.sort_column += by
        if self.sort_column >= len(COLUMNS):
            self.sort_column = -1
        self.arrange()

    def action_reverse(self) -> None:
        """Reverses the order."""
        self.descending = not self.descending
        self.arrange()

    def action_open(self) -> None:
        """Asks for the lane under the cursor."""
        if self.lane is not None:
            self.post_message(LaneOpened(self.cursor))

    def move_to(self, index: int) -> None:
        """Puts the cursor on a lane, showing all lanes when the filter hides it."""
        if index not in self.rows and self.filter:
            self.set_filter("")
        self._put_cursor(index)

    def on_click(self, event: events.Click) -> None:
        """Sorts by the heading clicked, or moves the cursor to the row; a second click opens it."""
        offset = event.get_content_offset(self)
        if offset is None:
            return
        if offset.y == 0:
            self._sort_by_click(offset.x)
            return
        y = offset.y + self.scroll_offset.y - 1
        if 0 <= y < len(self.rows):
            again = self.rows[y] == self.cursor and event.chain == 2
            self._put_cursor(self.rows[y])
            if again:
                self.action_open()

    def _sort_by_click(self, x: int) -> None:
        left = 2
        for column in visible_columns(self.inner.width):
            if left <= x <= left + column.width:
                position = COLUMNS.index(column)
                self.descending = not self.descending if position == self.sort_column else False
                self.sort_column = position
                self.arrange()
            left += column.width + 1

    def _put_cursor(self, index: int) -> None:
        if index != self.cursor:
            self.cursor = index
            self.post_message(LaneMoved(self, index))
        y = self.rows.index(index) + 1 if index in self.rows else 0
        top, height = self.scroll_offset.y, self.inner.height
        if y <= top:
            self.scroll_to(y=max(0, y - 1), animate=False, immediate=True)
        elif height and y >= top + height:
            self.scroll_to(y=y - height + 1, animate=False, immediate=True)
        self.update_lines()

    def _say(self) -> None:
        parts = [f"{len(self.selected)} selected"] if self.selected else []
        if self.filter:
            parts.append(f"filter: {plain(self.filter)} ({len(self.rows)} of {len(self.model.views)})")
        self.say(subtitle=f" {self.look.glyphs['dot']} ".join(parts))

    def watch_has_focus(self, value: bool) -> None:
        """Shows the cursor's row stronger while the pane has the keys."""
        super().watch_has_focus(value)
        self.update_lines()


def visible_columns(width: int) -> tuple[Column, ...]:
    """Returns the columns that fit in `width` cells, the least needed left out first; bar and note take the rest."""
    columns = list(COLUMNS)
    while _width_of(columns) > width:
        losable = max(columns, key=lambda column: column.rank)
        if losable.rank == 0:
            break
        columns.remove(losable)
    rest = max(0, width - _width_of(columns))
    bar = min(rest, _WIDEST_BAR)
    columns[3] = columns[3]._replace(width=columns[3].width + bar)
    if columns[-1].name == "note":
        columns[-1] = columns[-1]._replace(width=columns[-1].width + rest - bar)
    return tuple(columns)


def _width_of(columns: list[Column]) -> int:
    return 1 + sum(column.width + 1 for column in columns)


def cell(view: LaneView, name: str, model: RunModel) -> tuple[str, str]:
    """Returns the text and style name of a lane's cell; a value not known is `-`."""
    match name:
        case "seed":
            return f"{view.seed}{'H' if view.held_out else ' '}", "text"
        case "try":
            return str(view.attempt), "text"
        case "state":
            return state_word(view), state_style(view)
        case "mile":
            return milestone_word(view.milestone), "accent" if view.milestone > 0 else "dim"
        case "tick/s":
            return count(view.ticks_per_s if view.outcome is None else None), "dim"
        case "RSS":
            return (f"{view.rss_mib:.0f}" if view.rss_mib else UNKNOWN), "dim"
        case "cpu":
            return (UNKNOWN if view.cpu_percent is None else f"{view.cpu_percent:.0f}%"), "dim"
        case "age":
            return age(model.age_s(view)), "warning" if view.state is LaneState.STUCK else "dim"
        case _:
            return plain(view.mismatch or view.note), "dim"


def draw_progress(line: Line, view: LaneView, width: int, look: Look) -> None:
    """Draws a bar and `decision/limit`, together `width` cells."""
    numbers = f"{view.decision}/{view.limit}".rjust(2 * len(str(view.limit)) + 1)
    cells = max(0, width - len(numbers) - 1)
    full = cells * percent(view) // 100
    line.add(look.glyphs["bar"] * full, look["bar" if view.outcome is None else "dim"])
    line.add(look.glyphs["bar-rest"] * (cells - full), look["bar-rest"])
    line.add(f" {numbers}"[:width], look["waiting" if view.state is LaneState.WAITING else "text"])


def matches(view: LaneView, text: str) -> bool:
    """Returns whether the lane has every word of `text`.

    A word is `state=WORD`, `seed=N`, `try=N` or `stage=N`, or part of seed:try, state, milestone or note.
    """
    facts = {"state": state_word(view), "seed": str(view.seed), "try": str(view.attempt), "stage": str(view.stage)}
    words = f"{view.seed}:{view.attempt} {facts['state']} {milestone_word(view.milestone)} {view.mismatch} {view.note}"
    words = f"{words} {'held-out' if view.held_out else ''}".lower()
    for word in text.lower().split():
        name, equals, value = word.partition("=")
        if equals and name in facts:
            if not facts[name].lower().startswith(value):
                return False
        elif word not in words:
            return False
    return True


def sort_value(view: LaneView, name: str, model: RunModel) -> tuple[float, str]:
    """Returns what a column sorts by; unknown values come first."""
    match name:
        case "seed":
            return (view.seed, "")
        case "try":
            return (view.attempt, "")
        case "state":
            order = 9 if view.outcome is not None else _STATE_ORDER.get(view.state, 5)
            return (order, state_word(view))
        case "progress":
            return (percent(view), "")
        case "mile":
            return (view.milestone, "")
        case "tick/s":
            return (-1.0 if view.ticks_per_s is None else view.ticks_per_s, "")
        case "RSS":
            return (-1.0 if view.rss_mib is None else view.rss_mib, "")
        case "cpu":
            return (-1.0 if view.cpu_percent is None else view.cpu_percent, "")
        case "age":
            seconds = model.age_s(view)
            return (-1.0 if seconds is None else seconds, "")
        case _:
            return (0.0, view.mismatch or view.note)
