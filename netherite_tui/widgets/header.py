"""The two lines at the top: which run this is, and how it is doing."""

from collections.abc import Hashable

from rich.style import Style
from textual.strip import Strip

from netherite_tui.model import RunModel
from netherite_tui.widgets.lines import Line, Lines
from netherite_tui.words import UNKNOWN, clock, count, plain

#: Seconds without news from the engine after which the header says so.
STALE_S = 2.0


class Header(Lines):
    """Checkpoint, transfer, backend, jobs, time and speed; below, the lanes by state, memory and CPU."""

    DEFAULT_CSS = "Header { height: 2; overflow: hidden; dock: top; }"

    def __init__(self, model: RunModel) -> None:
        super().__init__(id="header")
        self.model = model

    def line_count(self) -> int:
        """Returns 2."""
        return 2

    def line_key(self, y: int) -> Hashable:
        """Returns the pieces of the line: they are cheap to make and tell all."""
        return (tuple(self._left(y)), tuple(self._right(y)))

    def draw_line(self, y: int, width: int) -> Strip:
        """Puts the left pieces left and the right pieces right; the right give way, last first."""
        left, right = self._left(y), self._right(y)
        used = 1 + sum(len(text) + 2 for text, _ in left)
        while right and used + sum(len(text) + 2 for text, _ in right) > width:
            right.pop(0)
        line = Line().add(" ")
        for text, style in left:
            line.add(text, self.look[style]).add("  ")
        rest = sum(len(text) + 2 for text, _ in right)
        line.gap(width - rest)
        for text, style in right:
            line.add(text, self.look[style]).add("  ")
        return line.strip(width, Style())

    def _left(self, y: int) -> list[tuple[str, str]]:
        return self._identity() if y == 0 else self._tally()

    def _right(self, y: int) -> list[tuple[str, str]]:
        return self._speed() if y == 0 else self._load()

    def _identity(self) -> list[tuple[str, str]]:
        facts, between = self.model.facts, self.look.glyphs["between"]
        sides = f"magma {between} blaze" if facts.transfer == "replay" else "magma"
        if facts.backend == "voxel":
            sides = f"voxel {between} voxel" if facts.transfer == "replay" else "voxel"
        pieces = [(plain(facts.checkpoint or facts.policy), "strong")]
        if facts.transfer:
            pieces += [(facts.transfer, "text"), (sides, "dim")]
        if self.model.views:
            pieces += [(f"{len(self.model.views)} lanes", "dim"), (f"jobs {facts.jobs}", "dim")]
        if facts.faults:
            pieces.append(("FAULTS", "warning"))
        return pieces

    def _speed(self) -> list[tuple[str, str]]:
        model = self.model
        pieces = [] if self.phase() is None else [self.phase()]
        pieces.append((clock(model.elapsed_s()), "text"))
        eta = model.eta_s()
        if eta is not None:
            pieces.append((f"ETA {clock(eta)}", "dim"))
        pieces.append((f"{count(model.ticks_per_s):>6} ticks/s", "text"))
        return pieces

    def phase(self) -> tuple[str, str] | None:
        """Returns the word for anything but a healthy running engine, and its style."""
        status = self.model.status
        if status.phase == "gone":
            return ("engine gone", "stuck")
        if status.age_s >= STALE_S and status.phase not in ("ended", "preparing"):
            return (f"no news for {status.age_s:.0f} s", "stuck")
        if status.phase == "running":
            return None
        return (status.phase, "accent")

    def _tally(self) -> list[tuple[str, str]]:
        counts = self.model.counts
        if not counts.total:
            return [(plain(self.model.status.detail or "no lanes yet"), "dim")]
        replay = self.model.facts.transfer == "replay"
        pieces = []
        if replay or counts.match or counts.diverge:
            pieces += [(f"MATCH {counts.match}", "match"), (f"DIVERGE {counts.diverge}", "diverge")]
        if counts.done or not replay:
            pieces.append((f"done {counts.done}", "done"))
        if counts.skip:
            pieces.append((f"SKIP {counts.skip}", "waiting"))
        pieces += [(f"running {counts.running}", "text"), (f"waiting {counts.waiting}", "dim")]
        if counts.paused:
            pieces.append((f"paused {counts.paused}", "paused"))
        pieces.append((f"stuck {counts.stuck}", "stuck" if counts.stuck else "dim"))
        pieces.append((f"lost {counts.lost}", "lost" if counts.lost else "dim"))
        return pieces

    def _load(self) -> list[tuple[str, str]]:
        status, counts = self.model.status, self.model.counts
        budget = "" if status.budget_mib is None else f" / {count(status.budget_mib)}"
        cpu = UNKNOWN if status.cpu_percent is None else f"{status.cpu_percent:.0f}%"
        return [
            (f"{counts.ended}/{counts.total}", "dim"),
            (f"RSS {count(status.rss_mib)}{budget} MiB", "dim"),
            (f"cpu {cpu:>4}", "dim"),
        ]
