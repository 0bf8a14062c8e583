"""The theme and the glyph set in use, as widgets draw with them."""

from rich.style import Style

from netherite_tui.theming import Glyphs, Palette


class Look:
    """One theme and one glyph set; a new object whenever either changes, so it can be part of a cache key."""

    def __init__(self, palette: Palette, glyphs: Glyphs, *, colors: int) -> None:
        """Makes a look.

        Args:
            palette: the theme.
            glyphs: the glyph set.
            colors: how many colours the terminal shows: 0, 16, 256 or 2**24.
        """
        self.palette = palette
        self.glyphs = glyphs
        #: How previews carry distance: `fog` blends colours, `weight` uses bold and dim only.
        self.depth_style = "fog" if palette.blocks and colors > 16 else "weight"
        #: Whether two pixels may share a cell.
        self.half_blocks = bool(glyphs["half"]) and self.depth_style == "fog"

    def __getitem__(self, name: str) -> Style:
        return self.palette[name]
