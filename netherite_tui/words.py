"""How facts are worded: states, cells, numbers. One vocabulary for every screen, plain strings only."""

from rich.cells import get_character_cell_size

from core.ladder.events import LaneState, LaneView, Outcome
from core.ladder.milestones import NAMES

UNKNOWN = "-"

_CELL_OF_OUTCOME = {
    Outcome.MATCH: "MATCH",
    Outcome.SKIP: "SKIP",
    Outcome.KILLED: "KILL",
    Outcome.TIMEOUT: "TIME",
    Outcome.CRASHED: "CRSH",
    Outcome.OOM: "OOM",
    Outcome.FAILED: "FAIL",
}


def state_word(view: LaneView) -> str:
    """Returns the lane's state, or how it ended."""
    return str(view.outcome or view.state)


def state_style(view: LaneView) -> str:
    """Returns the palette name the lane's state is drawn in; lost lanes never share one with MATCH or DIVERGE."""
    if view.outcome is None:
        return {LaneState.STUCK: "stuck", LaneState.WAITING: "waiting", LaneState.PAUSED: "paused"}.get(
            view.state, "running"
        )
    if not view.outcome.is_result:
        return "lost"
    return {Outcome.MATCH: "match", Outcome.DIVERGE: "diverge", Outcome.DONE: "done"}.get(view.outcome, "waiting")


def matrix_cell(view: LaneView) -> str:
    """Returns the lane in at most five cells: a result, a percentage or a short word."""
    if view.outcome is Outcome.DIVERGE:
        return f"D{view.mismatch_step}"
    if view.outcome is Outcome.DONE:
        return milestone_word(view.milestone)[:5] if view.milestone >= 0 else "done"
    if view.outcome is not None:
        return _CELL_OF_OUTCOME[view.outcome]
    if view.state is LaneState.STUCK:
        return "STUCK"
    if view.state is LaneState.WAITING:
        return "·"
    if view.state is LaneState.STARTING:
        return "start"
    if view.state is LaneState.PAUSED:
        return "pause"
    return f"{percent(view):3d}%"


def percent(view: LaneView) -> int:
    """Returns how much of the decision limit is done, 0..100."""
    return 100 * view.decision // view.limit if view.limit else 100


def milestone_word(index: int) -> str:
    """Returns the milestone's name, `-` when unknown."""
    return NAMES[index] if 0 <= index < len(NAMES) else UNKNOWN


def clock(seconds: float | None) -> str:
    """Returns `hh:mm:ss`, `-` when unknown."""
    if seconds is None:
        return UNKNOWN
    whole = max(0, int(seconds))
    return f"{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}"


def age(seconds: float | None) -> str:
    """Returns seconds, with one decimal under 100."""
    if seconds is None:
        return UNKNOWN
    return f"{max(0.0, seconds):.1f}" if seconds < 99.95 else f"{seconds:.0f}"


def ago(seconds: float) -> str:
    """Returns a rough age for lists: `12 s`, `5 min`, `3 h`, `2 d`."""
    for limit, unit, name in ((100, 1, "s"), (5400, 60, "min"), (172_800, 3600, "h")):
        if seconds < limit:
            return f"{max(0, seconds) / unit:.0f} {name}"
    return f"{seconds / 86_400:.0f} d"


def count(value: float | None) -> str:
    """Returns a whole number with thousands separators, `-` when unknown."""
    return UNKNOWN if value is None else f"{value:,.0f}"


def plain(text: str) -> str:
    """Returns one printable line of single-width characters; whatever else a program said becomes `?`."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_single_width(character) for character in text)


def _single_width(character: str) -> str:
    if character in "\t\n\r":
        return " "
    return character if character.isprintable() and get_character_cell_size(character) == 1 else "?"


def fit(text: str, width: int, *, right: bool = False) -> str:
    """Returns the text in exactly `width` cells, cut or padded."""
    text = text[:width]
    return text.rjust(width) if right else text.ljust(width)
