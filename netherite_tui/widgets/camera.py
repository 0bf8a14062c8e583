"""The camera pane: what one lane sees, and what its player carries."""

from collections.abc import Hashable
from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from textual import events
from textual.binding import Binding
from textual.strip import Strip

from core.ladder.events import LaneView
from netherite_tui.model import RunModel
from netherite_tui.widgets.lines import Line, Pane
from netherite_tui.widgets.views import PIXELS_HIGH, PIXELS_WIDE, Scale, Side, View, best_scale
from netherite_tui.words import state_word

if TYPE_CHECKING:
    from netherite_tui.widgets.preview import Picture

SIDE_GAP = 1


class CameraPane(Pane):
    """The preview of one lane, scaled to the pane, and facts of its record under it."""

    DEFAULT_CSS = "CameraPane { overflow-y: hidden; }"
    BINDINGS: ClassVar = [
        Binding("left,h", "cross(0,-1)", "Crosshair left", id="cross-left", show=False),
        Binding("right,l", "cross(0,1)", "Crosshair right", id="cross-right", show=False),
        Binding("up,k", "cross(-1,0)", "Crosshair up", id="cross-up", show=False),
        Binding("down,j", "cross(1,0)", "Crosshair down", id="cross-down", show=False),
        Binding("home", "cross(0,0)", "Crosshair to the centre", id="cross-home", show=False),
    ]

    def __init__(self, model: RunModel, *, id: str = "camera") -> None:
        super().__init__(id=id)
        self.model = model
        self.index = 0  #: lane shown
        self.view = View.BLOCKS
        self.side = Side.MAGMA
        self.crosshair = True
        self.cross = (PIXELS_HIGH // 2, PIXELS_WIDE // 2)  #: row, column in pixels
        self._picture: Picture | None = None
        self._keyed: list[tuple[Hashable, Strip]] = []
        self._drawn: Hashable = None

    @property
    def lane(self) -> LaneView | None:
        """The lane shown."""
        return self.model.views[self.index] if self.index < len(self.model.views) else None

    def show_lane(self, index: int) -> None:
        """Shows another lane."""
        self.index = index
        self.redraw()

    def cycle_view(self) -> None:
        """Shows the next view."""
        views = list(View)
        self.view = views[(views.index(self.view) + 1) % len(views)]
        self.redraw()

    def cycle_side(self) -> None:
        """Shows the next side; without a reference there is only one."""
        sides = list(Side)
        if self.lane is not None and self.lane.reference is not None:
            self.side = sides[(sides.index(self.side) + 1) % len(sides)]
        self.redraw()

    def action_cross(self, down: int, right: int) -> None:
        """Moves the crosshair by pixels; (0, 0) puts it back to the centre."""
        row, column = self.cross
        self.cross = ((row + down) % PIXELS_HIGH, (column + right) % PIXELS_WIDE)
        if down == right == 0:
            self.cross = (PIXELS_HIGH // 2, PIXELS_WIDE // 2)
        self.redraw()

    def toggle_crosshair(self) -> None:
        """Shows or hides the crosshair."""
        self.crosshair = not self.crosshair
        self.redraw()

    def redraw(self) -> None:
        """Draws the lane's newest record if it or the way it is shown changed."""
        lane = self.lane
        side = self.shown_side(lane)
        width, height = self.inner
        state = (lane and (lane.record, lane.reference, lane.action, lane.state, lane.outcome, lane.mismatch), side)
        drawn = (state, self.view, self.crosshair, self.cross, width, height, self.look)
        if drawn == self._drawn or not width or not height:
            return
        self._drawn = drawn
        self._say(lane, side)
        self._keyed = self._compose_lines(lane, side, width, height)
        self.update_lines()

    def on_resize(self) -> None:
        """Scales anew."""
        self.redraw()
        super().on_resize()

    def relook(self) -> None:
        """Draws with the new look."""
        super().relook()
        self.redraw()

    def shown_side(self, lane: LaneView | None) -> Side:
        """Returns the side that can be shown of the lane."""
        return self.side if lane is not None and lane.reference is not None else Side.MAGMA

    def line_count(self) -> int:
        """Returns the lines of picture and facts."""
        return len(self._keyed)

    def line_key(self, y: int) -> Hashable:
        """Returns the line's own key."""
        return self._keyed[y][0]

    def draw_line(self, y: int, width: int) -> Strip:
        """Returns the line, cut or padded to the pane."""
        return self._keyed[y][1].adjust_cell_length(width)

    def on_click(self, event: events.Click) -> None:
        """Puts the crosshair where the mouse is."""
        offset = event.get_content_offset(self)
        lane = self.lane
        if offset is None or lane is None or lane.record is None:
            return
        scale = self.scale(self.shown_side(lane))
        left = max(0, (self.inner.width - self._picture_width(scale, self.shown_side(lane))) // 2)
        x, y = offset.x - left + self.scroll_offset.x, offset.y + self.scroll_offset.y
        if 0 <= y < scale.height and x >= 0:
            self.cross = (y * PIXELS_HIGH // scale.height, x % (scale.width + SIDE_GAP) * PIXELS_WIDE // scale.width)
            self.cross = (self.cross[0], min(self.cross[1], PIXELS_WIDE - 1))
            self.redraw()

    def scale(self, side: Side) -> Scale:
        """Returns the scale the pane has room for, two pictures wide when both sides are shown."""
        width, height = self.inner
        width = (width - SIDE_GAP) // 2 if side is Side.BOTH else width
        return best_scale(width, max(9, height - 1), half_blocks=self.look.half_blocks)

    # -- what is in the pane -------------------------------------------------------------------------------------

    def _say(self, lane: LaneView | None, side: Side) -> None:
        if lane is None:
            self.say(title="Camera")
        else:
            stage = f" stage {lane.stage}" if self.model.facts.stage == "all" else ""
            self.say(title=f"Camera  seed {lane.seed} try {lane.attempt}{stage}  {side.title(self.model.facts.worlds)}")
        self.say(subtitle=f"v {self.view}  b side  c crosshair")

    def _compose_lines(
        self, lane: LaneView | None, side: Side, width: int, height: int
    ) -> list[tuple[Hashable, Strip]]:
        if lane is None or lane.record is None:
            text = "no record yet" if lane is None or lane.outcome is None else f"no record ({state_word(lane)})"
            return self._texts([[("", "text")], [(f" {text}", "dim")]])
        from netherite_tui.widgets.preview import Picture
        from netherite_tui.widgets.record_lines import record_lines

        if self._picture is None or self._picture.look is not self.look:
            self._picture = Picture(self.look)
        scale = self.scale(side)
        picture = self._draw_side(lane, side, scale)
        left = max(0, (width - self._picture_width(scale, side)) // 2)
        picture = [((key, left), Strip([Segment(" " * left), *strip])) for key, strip in picture]
        return [*picture, *self._texts(record_lines(lane, side, self.cross, self.model.facts.worlds, self.look))]

    def _picture_width(self, scale: Scale, side: Side) -> int:
        return scale.width * 2 + SIDE_GAP if side is Side.BOTH else scale.width

    def _draw_side(self, lane: LaneView, side: Side, scale: Scale) -> list[tuple[Hashable, Strip]]:
        assert self._picture is not None
        assert lane.record is not None
        if side is Side.MAGMA:
            return self._crossed(self._picture.draw(lane.record, self.view, scale), scale)
        assert lane.reference is not None
        if side is Side.REFERENCE:
            return self._crossed(self._picture.draw(lane.reference, self.view, scale), scale)
        if side is Side.DIFFERENCE:
            return self._crossed(self._picture.draw_difference(lane.record, lane.reference, scale), scale)
        ours = self._crossed(self._picture.draw(lane.record, self.view, scale), scale)
        theirs = self._crossed(self._picture.draw(lane.reference, self.view, scale), scale)
        gap = Strip([Segment(" " * SIDE_GAP)])
        pairs = zip(ours, theirs, strict=True)
        return [((a, b), Strip.join([mine, gap, other])) for (a, mine), (b, other) in pairs]

    def _crossed(self, lines: list[tuple[Hashable, Strip]], scale: Scale) -> list[tuple[Hashable, Strip]]:
        """Reverses the cell under the crosshair."""
        if not self.crosshair or self.view is View.PLANES:
            return lines
        y, x = self.cross[0] * scale.height // PIXELS_HIGH, self.cross[1] * scale.width // PIXELS_WIDE
        key, strip = lines[y]
        left, _, right = strip.divide([x, x + 1, scale.width])
        marked = Strip([Segment("+", self.look["text"] + self.look["cross"])])
        lines[y] = ((key, x), Strip.join([left, marked, right]))
        return lines

    def _texts(self, lines: list[list[tuple[str, str]]]) -> list[tuple[Hashable, Strip]]:
        made = []
        for pieces in lines:
            line = Line()
            for text, style in pieces:
                line.add(text, self.look[style])
            made.append((tuple(pieces), line.strip(max(line.length, self.inner.width))))
        return made
