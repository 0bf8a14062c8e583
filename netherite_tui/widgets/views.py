"""What a preview can show and at which sizes. Apart from the drawing, so that the first paint needs no numpy."""

from enum import StrEnum
from typing import NamedTuple

#: A camera picture in pixels (SPEC 3).
PIXELS_WIDE, PIXELS_HIGH = 64, 36


class View(StrEnum):
    """What a preview shows of a record, in the order `v` cycles through."""

    BLOCKS = "blocks+edges"
    IDS = "ids"
    DEPTH = "depth"
    EDGE = "edge"
    PLANES = "policy planes"


class Side(StrEnum):
    """Whose picture is shown, in the order `b` cycles through."""

    MAGMA = "magma"
    REFERENCE = "reference"
    BOTH = "both"
    DIFFERENCE = "difference"

    def title(self, worlds: tuple[str, str]) -> str:
        """Returns what to call it where the two worlds have the given names."""
        magma, reference = worlds
        return {"magma": magma, "reference": reference, "both": f"{magma} and {reference}"}.get(self, str(self))


class Scale(NamedTuple):
    """A size a preview can be drawn at."""

    width: int  #: cells
    height: int  #: cells
    half: bool = False  #: two pixels of height in a cell


FULL = Scale(64, 36)
SCALES = (FULL, Scale(64, 18, True), Scale(32, 18), Scale(32, 9, True), Scale(16, 9))


def best_scale(width: int, height: int, *, half_blocks: bool) -> Scale:
    """Returns the largest scale that fits in width x height cells; the smallest when none does."""
    fitting = (s for s in SCALES if s.width <= width and s.height <= height and (half_blocks or not s.half))
    return next(fitting, SCALES[-1])
