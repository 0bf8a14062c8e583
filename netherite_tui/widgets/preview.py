"""Pictures of a record's camera as Strips: letters or half blocks, brightness by distance, edges bold (SPEC 3)."""

from collections.abc import Hashable

import numpy as np
import numpy.typing as npt
from rich.color_triplet import ColorTriplet
from rich.segment import Segment
from rich.style import Style
from textual.cache import LRUCache
from textual.strip import Strip

from core.wire.bolr import CAM_HEIGHT, CAM_WIDTH, RECORD
from netherite_tui.blocks import KIND_OF_ID, KINDS
from netherite_tui.look import Look
from netherite_tui.theming import LEVELS, mix, two_colors
from netherite_tui.widgets.views import Scale, View

Cells = npt.NDArray[np.int32]
#: A line of a picture and a key that is equal when the line is.
KeyedStrip = tuple[Hashable, Strip]


#: The nine policy planes (SPEC 6) in words short enough for a third of the width.
PLANE_NAMES = ("log", "leaves", "coal", "stone", "soil", "table", "solid", "depth", "edge")

_DIGITS = np.array([ord(c) for c in "9876543210"], np.int32)  # nearest first
_KIND = np.full(65_536, KINDS.index("unknown"), np.int32)
for _id, _kind in KIND_OF_ID.items():
    _KIND[_id] = KINDS.index(_kind)
_LEVEL = np.digitize(np.arange(256), [10, 20, 36, 64, 112]).astype(np.int32)

# Style codes: kind * LEVELS + level, once plain and once for edges, then these.
_EDGES = len(KINDS) * LEVELS
_GREYS = 2 * _EDGES
_ON, _OFF, _SAME, _DIFFER, _LABEL = range(_GREYS + 10, _GREYS + 15)
_CODES = 512
assert _LABEL < _CODES


def arrays_of(record: bytes) -> tuple[npt.NDArray[np.uint16], npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    """Returns cam, depth and edge of a record, each [36, 64]."""
    fields = np.frombuffer(record, RECORD)[0]
    return fields["cam"], fields["depth"], fields["edge"]


def differing(record: bytes, reference: bytes) -> npt.NDArray[np.bool_]:
    """Returns which pixels [36, 64] differ in block, depth or edge."""
    pairs = zip(arrays_of(record), arrays_of(reference), strict=True)
    return np.logical_or.reduce([mine != theirs for mine, theirs in pairs])


def policy_planes(record: bytes) -> npt.NDArray[np.uint8]:
    """Returns the frame u8 [9, 36, 64] a policy sees of a record (SPEC 6)."""
    cam, depth, edge = arrays_of(record)
    masks = [np.isin(cam, ids) for ids in ((17,), (18,), (16,), (1, 4), (2, 3), (58,))]
    return np.stack([*masks, cam != 0, depth, edge]).astype(np.uint8)


class Picture:
    """Draws records with one look. Styles and lines are cached by what is on them."""

    def __init__(self, look: Look) -> None:
        self.look = look
        self._glyphs = np.array([ord(look.glyphs.camera[kind]) for kind in KINDS], np.int32)
        self._styles: dict[int, Style] = {}
        self._lines: LRUCache[Hashable, Strip] = LRUCache(1024)

    def draw(self, record: bytes, view: View, scale: Scale) -> list[KeyedStrip]:
        """Returns the preview's lines, `scale.height` of `scale.width` cells."""
        if view is View.PLANES:
            return self._lettered(*self._plane_cells(record, scale))
        if scale.half:
            return self._halved(self._cells(record, view, scale)[1])
        return self._lettered(*self._cells(record, view, scale))

    def draw_difference(self, record: bytes, reference: bytes, scale: Scale) -> list[KeyedStrip]:
        """Returns the magma preview in letters, equal pixels dim and differing ones reversed."""
        scale = scale._replace(half=False)
        glyphs, _ = self._cells(record, View.BLOCKS, scale)
        differ = _any_in_cell(differing(record, reference), scale)
        glyphs = np.where(differ & (glyphs == 32), ord("."), glyphs)
        return self._lettered(glyphs, np.where(differ, _DIFFER, _SAME))

    def _cells(self, record: bytes, view: View, scale: Scale) -> tuple[Cells, Cells]:
        """Returns code points and style codes, i32 [pixel rows, width]."""
        cam, depth, edge = (_sample(plane, scale) for plane in arrays_of(record))
        kind, level, sky = _KIND[cam], _LEVEL[depth], cam == 0
        match view:
            case View.IDS:
                return self._glyphs[kind], kind * LEVELS
            case View.DEPTH:
                tenth = np.minimum(depth.astype(np.int32) * 10 // 255, 9)
                return np.where(sky, 32, _DIGITS[tenth]), _GREYS + tenth
            case View.EDGE:
                return np.where(edge > 0, ord("#"), np.where(sky, 32, ord("."))), np.where(edge > 0, _ON, _OFF)
            case _:
                return self._glyphs[kind], kind * LEVELS + level + np.where(edge > 0, _EDGES, 0)

    def _plane_cells(self, record: bytes, scale: Scale) -> tuple[Cells, Cells]:
        """Lays the nine planes out three by three, each under its name."""
        glyphs = np.full((scale.height, scale.width), 32, np.int32)
        codes = np.full((scale.height, scale.width), _OFF, np.int32)
        tile_width, tile_height = scale.width // 3, scale.height // 3
        rows = np.arange(1, tile_height) * CAM_HEIGHT // tile_height
        columns = np.arange(tile_width - 1) * CAM_WIDTH // (tile_width - 1)
        for number, (name, plane) in enumerate(zip(PLANE_NAMES, policy_planes(record), strict=True)):
            top, left = number // 3 * tile_height, number % 3 * (tile_width + 1) - number % 3 // 2
            small = plane[np.ix_(rows, columns)].astype(np.int32)
            area = np.s_[top + 1 : top + tile_height, left : left + tile_width - 1]
            if name == "depth":
                tenth = np.minimum(small * 10 // 255, 9)
                glyphs[area], codes[area] = np.where(small == 255, 32, _DIGITS[tenth]), _GREYS + tenth
            else:
                glyphs[area], codes[area] = np.where(small > 0, ord("#"), ord(".")), np.where(small > 0, _ON, _OFF)
            label = [ord(c) for c in name[: tile_width - 1]]
            glyphs[top, left : left + len(label)], codes[top, left : left + len(label)] = label, _LABEL
        return glyphs, codes

    def _lettered(self, glyphs: Cells, codes: Cells) -> list[KeyedStrip]:
        return [self._line(g, c) for g, c in zip(glyphs, codes, strict=True)]

    def _halved(self, codes: Cells) -> list[KeyedStrip]:
        pairs = codes[0::2] * _CODES + codes[1::2]
        glyphs = np.full(pairs.shape[1], ord(self.look.glyphs["half"]), np.int32)
        return [self._line(glyphs, row + _CODES) for row in pairs]

    def _line(self, glyphs: Cells, codes: Cells) -> KeyedStrip:
        key = (glyphs.tobytes(), codes.tobytes())
        strip = self._lines.get(key)
        if strip is None:
            strip = self._lines[key] = self._draw_line(glyphs, codes)
        return key, strip

    def _draw_line(self, glyphs: Cells, codes: Cells) -> Strip:
        text = "".join(map(chr, glyphs))
        starts = [0, *(np.flatnonzero(np.diff(codes)) + 1).tolist()]
        ends = [*starts[1:], len(text)]
        segments = [Segment(text[a:b], self._style(int(codes[a]))) for a, b in zip(starts, ends, strict=True)]
        return Strip(segments, len(text))

    def _style(self, code: int) -> Style:
        style = self._styles.get(code)
        if style is None:
            style = self._styles[code] = self._make_style(code)
        return style

    def _make_style(self, code: int) -> Style:
        if code >= _CODES:
            top, bottom = divmod(code - _CODES, _CODES)
            return two_colors(self._color(top), self._color(bottom))
        if code in (_SAME, _DIFFER, _LABEL):
            return self.look[{_SAME: "faint", _DIFFER: "differ", _LABEL: "accent"}[code]]
        if self.look.depth_style == "weight":
            return self._weighted(code)
        color = self._color(code)
        behind = mix(color, self.look.palette.background, 0.7) if code < _GREYS else None
        return two_colors(color, behind, bold=_EDGES <= code < _GREYS or code == _ON)

    def _weighted(self, code: int) -> Style:
        """Distance by bold, normal and dim, colours as the theme has them."""
        if code >= _GREYS:
            return Style(bold=True) if code == _ON else Style(dim=True) if code == _OFF else Style()
        edge, rest = divmod(code, _EDGES)
        kind, level = divmod(rest, LEVELS)
        weight = Style(bold=True) if edge or level == 0 else Style(dim=True) if level >= 4 else Style()
        if not self.look.palette.blocks or KINDS[kind] == "sky":
            return weight
        return two_colors(self.look.palette.block_color(KINDS[kind], 0), None) + weight

    def _color(self, code: int) -> ColorTriplet:
        palette = self.look.palette
        if code >= _GREYS:
            text = palette["text"].color
            ink = text.get_truecolor() if text is not None else ColorTriplet(255, 255, 255)
            share = {_ON: 0.0, _OFF: 0.8}.get(code, (code - _GREYS) / 10)
            return mix(ink, palette.background, share)
        edge, rest = divmod(code, _EDGES)
        kind, level = divmod(rest, LEVELS)
        color = palette.block_color(KINDS[kind], level)
        return mix(color, palette.background, 0.3) if edge and self.look.half_blocks else color


def _sample(plane: npt.NDArray[np.generic], scale: Scale) -> npt.NDArray[np.generic]:
    """Returns one pixel a cell (two a cell for half blocks), taken from the middle of what the cell stands for."""
    rows = scale.height * (2 if scale.half else 1)
    y_step, x_step = CAM_HEIGHT // rows, CAM_WIDTH // scale.width
    return plane[y_step // 2 :: y_step, x_step // 2 :: x_step]


def _any_in_cell(mask: npt.NDArray[np.bool_], scale: Scale) -> npt.NDArray[np.bool_]:
    """Returns whether any pixel of each cell is set, [height, width]."""
    y_step, x_step = CAM_HEIGHT // scale.height, CAM_WIDTH // scale.width
    return mask.reshape(scale.height, y_step, scale.width, x_step).any(axis=(1, 3))
