"""The wall: small previews of many lanes at once, the live ones first, a page at a time."""

from collections.abc import Hashable
from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from textual import events
from textual.binding import Binding
from textual.strip import Strip

from core.ladder.events import LaneView
from netherite_tui.model import RunModel
from netherite_tui.widgets.lines import Line, Pane
from netherite_tui.widgets.messages import LaneMoved, LaneOpened
from netherite_tui.widgets.views import Scale, View
from netherite_tui.words import fit, matrix_cell, percent, state_style, state_word

if TYPE_CHECKING:
    from netherite_tui.widgets.preview import Picture

_GAP = 2
_HALF_SCALES = (Scale(64, 18, True), Scale(32, 9, True), Scale(16, 9))
_LETTER_SCALES = (Scale(64, 36), Scale(32, 18), Scale(16, 9))
_MANY = 4  #: a wall shows at least so many lanes when there are so many, however few are live


class WallPane(Pane):
    """Tiles of previews; the state of each lane stands in the rule above it."""

    BINDINGS: ClassVar = [
        Binding("left,h", "move(-1)", "Left", id="wall-left", show=False),
        Binding("right,l", "move(1)", "Right", id="wall-right", show=False),
        Binding("up,k", "row(-1)", "Up", id="wall-up", show=False),
        Binding("down,j", "row(1)", "Down", id="wall-down", show=False),
        Binding("pagedown,n", "page(1)", "Next page", id="wall-next", show=False),
        Binding("pageup,N", "page(-1)", "Previous page", id="wall-previous", show=False),
        Binding("enter", "open", "Open the lane", id="wall-open", show=False),
    ]

    def __init__(self, model: RunModel) -> None:
        super().__init__(id="wall")
        self.model = model
        self.view = View.BLOCKS
        self.page = 0
        self.cursor = 0  #: position in `order`
        self.order: list[int] = []  #: lane indices with something to show
        self.scale = _LETTER_SCALES[-1]
        self._columns = self._rows = 1
        self._picture: Picture | None = None
        self._tiles: dict[int, tuple[Hashable, list[tuple[Hashable, Strip]]]] = {}
        self._lines: list[tuple[Hashable, Strip]] = []
        self.say(title="Wall")

    @property
    def tiles_a_page(self) -> int:
        """How many lanes are shown at once."""
        return self._columns * self._rows

    def wanted(self) -> list[int]:
        """Returns the lanes of the page; live ones without a record yet belong to it too."""
        live = [v.index for v in self.model.views if v.outcome is None and v.pid is not None]
        return list(dict.fromkeys([*self.shown(), *live[: self.tiles_a_page]]))

    def shown(self) -> list[int]:
        """Returns the lanes of the page."""
        return self.order[self.page * self.tiles_a_page :][: self.tiles_a_page]

    def show_view(self, view: View) -> None:
        """Shows another view of every lane."""
        self.view = view
        self.redraw()

    def redraw(self) -> None:
        """Draws the tiles of the page whose lane has news."""
        width, height = self.inner
        if not self.display or not width or not height:
            return
        if self._picture is None or self._picture.look is not self.look:
            from netherite_tui.widgets.preview import Picture

            self._picture = Picture(self.look)
            self._tiles.clear()
        live = [v.index for v in self.model.views if v.outcome is None and v.record is not None]
        ended = [v.index for v in self.model.views if v.outcome is not None and v.record is not None]
        self.order = live + ended
        self._fit(width, height, max(1, len(live), min(len(self.order), _MANY)))
        pages = max(1, -(-len(self.order) // self.tiles_a_page))
        self.page = min(self.page, pages - 1)
        self.say(subtitle=f"{self.view}  page {self.page + 1} of {pages}")
        self._lines = self._compose_lines(width)
        self.update_lines()

    def line_count(self) -> int:
        """Returns the lines of a page."""
        return len(self._lines)

    def line_key(self, y: int) -> Hashable:
        """Returns the keys of the tiles it crosses."""
        return self._lines[y][0]

    def draw_line(self, y: int, width: int) -> Strip:
        """Returns the line."""
        return self._lines[y][1].adjust_cell_length(width)

    def on_resize(self) -> None:
        """Scales anew."""
        self.redraw()
        super().on_resize()

    def relook(self) -> None:
        """Draws with the new look."""
        super().relook()
        self.redraw()

    def _fit(self, width: int, height: int, tiles: int) -> None:
        """Chooses the largest scale that shows so many tiles on one page, else the smallest."""
        for scale in _HALF_SCALES if self.look.half_blocks else _LETTER_SCALES:
            columns, rows = (width + _GAP) // (scale.width + _GAP), height // (scale.height + 1)
            if columns * rows >= tiles:
                break
        self.scale, self._columns, self._rows = scale, max(1, columns), max(1, rows)

    def _compose_lines(self, width: int) -> list[tuple[Hashable, Strip]]:
        shown = self.shown()
        if not shown:
            return [("none", Line().add(" no record yet", self.look["dim"]).strip(width))]
        lines: list[tuple[Hashable, Strip]] = []
        gap = Strip([Segment(" " * _GAP)])
        for start in range(0, len(shown), self._columns):
            tiles = [self._tile(self.model.views[index]) for index in shown[start : start + self._columns]]
            for pieces in zip(*tiles, strict=True):
                strips = [part for _, strip in pieces for part in (strip, gap)][:-1]
                lines.append((tuple(key for key, _ in pieces), Strip.join(strips)))
        return lines

    def _tile(self, view: LaneView) -> list[tuple[Hashable, Strip]]:
        """Returns a rule with the state and the picture, drawn anew only when the lane's record is."""
        here = self.has_focus and self.cursor < len(self.order) and self.order[self.cursor] == view.index
        title = self._rule(view, here)
        wanted = (view.record, self.view, self.scale)
        before = self._tiles.get(view.index)
        if before is None or before[0] != wanted:
            assert self._picture is not None
            assert view.record is not None
            before = self._tiles[view.index] = (wanted, self._picture.draw(view.record, self.view, self.scale))
            while len(self._tiles) > 2 * self.tiles_a_page + 8:
                del self._tiles[next(iter(self._tiles))]
        return [title, *before[1]]

    def _rule(self, view: LaneView, here: bool) -> tuple[Hashable, Strip]:
        word = f"{percent(view)}%" if state_style(view) == "running" else state_word(view)
        word = matrix_cell(view) if self.scale.width < 24 else word
        name = f"{self.look.glyphs['cursor'] if here else '─'}{view.seed}:{view.attempt} "
        line = Line().add(fit(name, min(len(name), self.scale.width)), self.look["mark" if here else "text"])
        line.add(word[: self.scale.width - line.length], self.look[state_style(view)])
        rest = self.scale.width - line.length - 1
        line.add(" " + "─" * max(0, rest), self.look["faint"])
        return (name, word, state_style(view)), line.strip(self.scale.width)

    def action_move(self, by: int) -> None:
        """Moves the cursor by tiles, turning the page at its ends."""
        if not self.order:
            return
        self.cursor = max(0, min(len(self.order) - 1, self.cursor + by))
        self.page = self.cursor // self.tiles_a_page
        self.post_message(LaneMoved(self, self.order[self.cursor]))
        self.redraw()

    def action_row(self, by: int) -> None:
        """Moves the cursor by rows of tiles."""
        self.action_move(by * self._columns)

    def action_page(self, by: int) -> None:
        """Turns the page."""
        self.action_move(by * self.tiles_a_page)

    def action_open(self) -> None:
        """Asks for the lane under the cursor."""
        if self.cursor < len(self.order):
            self.post_message(LaneOpened(self.order[self.cursor]))

    def on_click(self, event: events.Click) -> None:
        """Moves the cursor to the tile; a second click opens it."""
        offset = event.get_content_offset(self)
        if offset is None:
            return
        column = offset.x // (self.scale.width + _GAP)
        row = (offset.y + self.scroll_offset.y) // (self.scale.height + 1)
        at = self.page * self.tiles_a_page + row * self._columns + column
        if column < self._columns and at < len(self.order):
            self.cursor = at
            self.post_message(LaneMoved(self, self.order[at]))
            self.redraw()
            if event.chain == 2:
                self.action_open()

    def watch_has_focus(self, value: bool) -> None:
        """Shows the cursor while the pane has the keys."""
        super().watch_has_focus(value)
        self.redraw()
