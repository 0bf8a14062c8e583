"""The two lines at the top: which run this is, and how it is doing."""

from collections.abc import Hashable
from typing import NamedTuple

from textual.strip import Strip

from netherite_tui.model import RunModel
from netherite_tui.widgets.lines import Line, Lines
from netherite_tui.words import UNKNOWN, clock, count, plain

#: Seconds without news from the engine after which the header says so.
STALE_S = 2.0


class Piece(NamedTuple):
    """A few words of the header."""

    text: str
    style: str
    rank: int = 0  #: what gives way first on a narrow terminal: the highest; 0 never


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
        """Puts the left pieces left and the right pieces right; on a narrow line the highest ranks give way."""
        left, right = self._left(y), self._right(y)
        while left + right and 1 + sum(len(piece.text) + 2 for piece in left + right) > width + 2:
            loser = max(left + right, key=lambda piece: piece.rank)
            if loser.rank == 0:
                break
            (left if loser in left else right).remove(loser)
        line = Line().add(" ")
        for piece in left:
            line.add(piece.text, self.look[piece.style]).add("  ")
        line.gap(width - sum(len(piece.text) + 2 for piece in right) + 1)
        for number, piece in enumerate(right):
            line.add("  " if number else "").add(piece.text, self.look[piece.style])
        return line.strip(width)

    def _left(self, y: int) -> list[Piece]:
        return self._identity() if y == 0 else self._tally()

    def _right(self, y: int) -> list[Piece]:
        return self._speed() if y == 0 else self._load()

    def _identity(self) -> list[Piece]:
        facts, between = self.model.facts, self.look.glyphs["between"]
        worlds = f" {between} ".join(filter(None, facts.worlds))
        pieces = [Piece(plain(facts.checkpoint or facts.policy)[:40], "strong")]
        if facts.transfer:
            pieces += [Piece(facts.transfer, "text", 3), Piece(worlds, "dim", 8)]
        if self.model.views:
            pieces += [Piece(f"{len(self.model.views)} lanes", "dim", 6), Piece(f"jobs {facts.jobs}", "dim", 7)]
        if facts.faults:
            pieces.append(Piece("FAULTS", "warning", 1))
        return pieces

    def _speed(self) -> list[Piece]:
        model = self.model
        phase = self.phase()
        pieces = [] if phase is None else [phase]
        pieces.append(Piece(clock(model.elapsed_s()), "text", 2))
        eta = model.eta_s()
        if eta is not None:
            pieces.append(Piece(f"ETA {clock(eta)}", "dim", 4))
        pieces.append(Piece(f"{count(model.ticks_per_s):>6} ticks/s", "text", 5))
        return pieces

    def phase(self) -> Piece | None:
        """Returns the word for anything but a healthy running engine."""
        status = self.model.status
        if status.phase == "gone":
            return Piece("engine gone", "stuck")
        if status.age_s >= STALE_S and status.phase not in ("ended", "preparing"):
            return Piece(f"no news for {status.age_s:.0f} s", "stuck")
        if status.phase == "running":
            return None
        return Piece(status.phase, "accent")

    def _tally(self) -> list[Piece]:
        counts = self.model.counts
        if not counts.total:
            return [Piece(plain(self.model.status.detail or "no lanes yet"), "dim")]
        replay = self.model.facts.transfer == "replay"
        pieces = []
        if replay or counts.match or counts.diverge:
            pieces += [
                Piece(f"MATCH {counts.match}/{counts.total - counts.skip}", "match"),
                Piece(f"DIVERGE {counts.diverge}", "diverge"),
            ]
        if counts.done or not replay:
            pieces.append(Piece(f"done {counts.done}", "done"))
        if counts.skip:
            pieces.append(Piece(f"SKIP {counts.skip}", "waiting", 4))
        pieces += [Piece(f"running {counts.running}", "text", 2), Piece(f"waiting {counts.waiting}", "dim", 3)]
        if counts.paused:
            pieces.append(Piece(f"paused {counts.paused}", "paused", 1))
        pieces.append(Piece(f"stuck {counts.stuck}", "stuck" if counts.stuck else "dim"))
        pieces.append(Piece(f"lost {counts.lost}", "lost" if counts.lost else "dim"))
        return pieces

    def _load(self) -> list[Piece]:
        status, counts = self.model.status, self.model.counts
        budget = "" if status.budget_mib is None else f" / {count(status.budget_mib)}"
        cpu = UNKNOWN if status.cpu_percent is None else f"{status.cpu_percent:.0f}%"
        return [
            Piece(f"{counts.ended}/{counts.total}", "dim", 5),
            Piece(f"RSS {count(status.rss_mib)}{budget} MiB", "dim", 6),
            Piece(f"cpu {cpu:>4}", "dim", 7),
        ]
