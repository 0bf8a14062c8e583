"""The base of every live widget: lines drawn on demand, cached and repainted by what they depend on."""

from collections.abc import Hashable

from rich.segment import Segment
from rich.style import Style
from textual.cache import LRUCache
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from netherite_tui.look import Look


class Line:
    """Builds one Strip from pieces."""

    __slots__ = ("_segments", "length")

    def __init__(self) -> None:
        self._segments: list[Segment] = []
        self.length = 0  #: cells so far

    def add(self, text: str, style: Style | None = None) -> "Line":
        """Appends single-width text."""
        if text:
            self._segments.append(Segment(text, style))
            self.length += len(text)
        return self

    def gap(self, width: int) -> "Line":
        """Appends blanks up to column `width`."""
        return self.add(" " * (width - self.length))

    def strip(self, width: int, style: Style | None = None) -> Strip:
        """Returns the line in exactly `width` cells, over `style` when given."""
        strip = Strip(self._segments, self.length).adjust_cell_length(width)
        return strip if style is None else Strip(Segment.apply_style(strip, style), width)


class Lines(ScrollView):
    """A widget of lines. Subclasses say how many there are, what each depends on, and how it is drawn."""

    DEFAULT_CSS = """
    Lines {
        background: $background;
        color: $foreground;
        scrollbar-size-vertical: 1;
        scrollbar-size-horizontal: 1;
        overflow-x: hidden;
    }
    """

    heading = 0  #: lines at the top that do not scroll

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._strips: LRUCache[Hashable, Strip] = LRUCache(1024)
        self._shown: dict[int, Hashable] = {}

    @property
    def look(self) -> Look:
        """The theme and glyph set in use."""
        return self.app.look

    @property
    def inner(self) -> Size:
        """The cells there are for lines."""
        return self.scrollable_content_region.size

    def line_count(self) -> int:
        """Returns the number of lines."""
        raise NotImplementedError

    def line_key(self, y: int) -> Hashable:
        """Returns everything line `y` depends on but the width and the look."""
        raise NotImplementedError

    def draw_line(self, y: int, width: int) -> Strip:
        """Returns line `y` in exactly `width` cells."""
        raise NotImplementedError

    def update_lines(self) -> None:
        """Repaints the visible lines that changed."""
        if not self.is_attached or not self.is_on_screen:
            return
        width, height = self.inner
        count = self.line_count()
        if self.virtual_size.height != count or self.virtual_size.width != width:
            self.virtual_size = Size(width, count)
        for y in range(height):
            key = self._key(self._row(y), width)
            if self._shown.get(y) != key:
                left, right = self._changed_span(y, key, width)
                self.refresh(Region(left, y, max(1, right - left), 1))

    def _changed_span(self, y: int, key: Hashable, width: int) -> tuple[int, int]:
        """Returns the first column and the one after the last that differ from what is on the screen."""
        old_key = self._shown.get(y)
        if old_key is None or key is None or (old := self._strips.get(old_key)) is None:
            return 0, width
        before, after = list(old), list(self._strip(self._row(y), key, width))
        left = 0
        for a, b in zip(before, after, strict=False):
            if a != b:
                break
            left += a.cell_length
        right = width
        for a, b in zip(reversed(before), reversed(after), strict=False):
            if a != b or right - b.cell_length < left:
                break
            right -= b.cell_length
        return left, right

    def render_line(self, y: int) -> Strip:
        """Returns what is at line `y` of the window (Textual's line API)."""
        width = self.inner.width
        row = self._row(y)
        key = self._key(row, width)
        self._shown[y] = key
        if key is None:
            return Strip.blank(width, self.rich_style)
        return self._strip(row, key, width)

    def _strip(self, row: int, key: Hashable, width: int) -> Strip:
        strip = self._strips.get(key)
        if strip is None:
            strip = self._strips[key] = self.draw_line(row, width).apply_style(self.rich_style)
        return strip

    def _row(self, y: int) -> int:
        return y if y < self.heading else y + self.scroll_offset.y

    def _key(self, y: int, width: int) -> Hashable:
        return (self.line_key(y), width, self.look) if 0 <= y < self.line_count() else None

    def on_resize(self) -> None:
        """Keeps the scrollable size right at once."""
        self._shown.clear()
        self.virtual_size = Size(self.inner.width, self.line_count())

    def relook(self) -> None:
        """Draws everything anew after the theme or the glyph set changed."""
        self._strips.clear()
        self._shown.clear()
        self.refresh()


class Pane(Lines, can_focus=True):
    """Lines in a frame with a title; the frame of the focused pane takes the accent."""

    DEFAULT_CSS = """
    Pane {
        border: round $pane-border;
        border-title-color: $foreground;
        border-title-style: bold;
        border-subtitle-color: $secondary;
        border-title-background: $background;
        border-subtitle-background: $background;
    }
    Pane:focus {
        border: round $pane-border-focus;
        border-title-color: $accent;
    }
    """
    _said = ("", "")  # title and subtitle on the frame

    def say(self, *, title: str | None = None, subtitle: str | None = None) -> None:
        """Writes on the frame what differs from what is there: each change repaints the whole pane."""
        if title is not None and title != self._said[0]:
            self.border_title = title
        if subtitle is not None and subtitle != self._said[1]:
            self.border_subtitle = subtitle
        self._said = (self._said[0] if title is None else title, self._said[1] if subtitle is None else subtitle)
