"""Milestones: how far an episode got, from the best inventory totals it ever held (SPEC 5)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:  # whoever only wants the names need not load numpy
    import numpy as np
    import numpy.typing as npt

#: Milestone names by index. The histogram of the report calls the last one TORCH.
NAMES = ("t0", "logs3", "pick", "cobble3", "coal", "TORCHES")
TORCHES = 5
#: Ladder letter of each milestone (SPEC 10); t0 has none.
LETTERS = ".LPCOT"

_LOG, _PLANKS, _COBBLE, _WOODEN_PICK, _COAL, _TORCH = 0, 1, 3, 5, 7, 8

Best9: TypeAlias = "Sequence[int] | npt.NDArray[np.int32]"


def stage_of(best9: Best9) -> int:
    """Returns the milestone index 0 (t0) to 4 (coal), torches ignored; each test overrides the ones before it.

    Args:
        best9: largest inventory totals so far, nine counts in the order of `inv_counts` (SPEC 2).
    """
    stage = 0
    if best9[_LOG] >= 3 or best9[_PLANKS] >= 1:
        stage = 1
    if best9[_WOODEN_PICK] >= 1:
        stage = 2
        if best9[_COBBLE] >= 3:
            stage = 3
    if best9[_COAL] >= 1:
        stage = 4
    return stage


def milestone_of(best9: Best9) -> int:
    """Returns the milestone index 0 (t0) to 5 (TORCHES); one torch is the whole chain."""
    return TORCHES if best9[_TORCH] >= 1 else stage_of(best9)


def gained(base: int, reached: int) -> range:
    """Returns the milestones newly reached, ascending; an unknown start (-1) counts as t0."""
    return range(max(base, 0) + 1, reached + 1)


def ladder_letters(base: int, reached: int) -> str:
    """Returns the letters of the milestones newly reached, `.` when there are none (SPEC 10)."""
    return "".join(LETTERS[milestone] for milestone in gained(base, reached)) or "."
