"""The matrix: seeds by tries, or seeds by stages for a run over all of them. A cell a lane, totals at the end."""

from collections.abc import Hashable
from typing import ClassVar

from textual import events
from textual.binding import Binding
from textual.strip import Strip

from core.ladder.events import LaneState, LaneView, Outcome
from core.ladder.milestones import TORCHES, ladder_letters
from netherite_tui.model import Change, RunModel
from netherite_tui.widgets.lines import Line, Pane
from netherite_tui.widgets.messages import LaneMoved, LaneOpened
from netherite_tui.words import UNKNOWN, fit, matrix_cell, milestone_word, state_style

_CELL = 6


class MatrixPane(Pane):
    """One row a seed. The cursor is on a lane; Enter opens it."""

    BINDINGS: ClassVar = [
        Binding("left,h", "move(0,-1)", "Left", id="matrix-left", show=False),
        Binding("right,l", "move(0,1)", "Right", id="matrix-right", show=False),
        Binding("up,k", "move(-1,0)", "Up", id="matrix-up", show=False),
        Binding("down,j", "move(1,0)", "Down", id="matrix-down", show=False),
        Binding("enter", "open", "Open the lane", id="matrix-open", show=False),
    ]
    heading = 1

    def __init__(self, model: RunModel) -> None:
        super().__init__(id="matrix")
        self.model = model
        self.rows: list[int] = []  #: seeds in the run's order
        self.columns: list[int] = []  #: tries, or stages
        self.cells: dict[tuple[int, int], list[LaneView]] = {}
        self.cursor = (0, 0)  #: row, column
        self.say(title="Matrix")

    @property
    def by_stage(self) -> bool:
        """Whether columns are stages."""
        return self.model.facts.stage == "all"

    @property
    def lane(self) -> LaneView | None:
        """The lane under the cursor; of a stage, its best try."""
        row, column = self.cursor
        if row >= len(self.rows) or column >= len(self.columns):
            return None
        lanes = self.cells.get((self.rows[row], self.columns[column]))
        return max(lanes, key=lambda view: view.milestone) if lanes else None

    def show_change(self, change: Change) -> None:
        """Takes in what a look at the run found."""
        if change.lanes:
            self.cells = {}
            for view in self.model.views:
                self.cells.setdefault((view.seed, view.stage if self.by_stage else view.attempt), []).append(view)
            self.rows = list(dict.fromkeys(seed for seed, _ in self.cells))
            self.columns = sorted({column for _, column in self.cells})
        dot = self.look.glyphs["dot"]
        legend = (
            f"L P C O T newly reached {dot} H held out" if self.by_stage else f"D = DIVERGE at step {dot} H held out"
        )
        self.say(subtitle=legend)
        self.update_lines()

    def line_count(self) -> int:
        """Returns heading, seeds and totals."""
        return len(self.rows) + 2 if self.rows else 0

    def line_key(self, y: int) -> Hashable:
        """Returns the words of the line and where the cursor is."""
        cursor = self.cursor[1] if y - 1 == self.cursor[0] and self.has_focus else None
        return (tuple(self._words(y)), cursor)

    def draw_line(self, y: int, width: int) -> Strip:
        """Draws the words, the cell under the cursor reversed."""
        line = Line()
        for number, (text, style) in enumerate(self._words(y)):
            here = y - 1 == self.cursor[0] and number - 1 == self.cursor[1] and self.has_focus
            line.add(text, self.look[style] + self.look["cross"] if here else self.look[style])
            if number:
                line.add(" ")
        return line.strip(width)

    def _words(self, y: int) -> list[tuple[str, str]]:
        if y == 0:
            names = [f"stg{c}" if self.by_stage else str(c) for c in self.columns]
            return [(" seed   ", "head"), *((f"{name:>5}", "head") for name in names), ("best", "head")]
        if y == len(self.rows) + 1:
            return self._totals()
        seed = self.rows[y - 1]
        lanes = [view for column in self.columns for view in self.cells.get((seed, column), ())]
        held = "H" if lanes and lanes[0].held_out else " "
        best = max((view.milestone for view in lanes), default=-1)
        words = [(f"{seed:>5} {held} ", "text" if held == " " else "accent")]
        words += [self._cell(seed, column) for column in self.columns]
        return [*words, (fit(milestone_word(best), 8), "accent" if best > 0 else "dim"), self._matches(lanes)]

    def _cell(self, seed: int, column: int) -> tuple[str, str]:
        lanes = self.cells.get((seed, column), [])
        if not lanes:
            return (" " * 5, "dim")
        if self.by_stage:
            word, style = stage_cell(lanes)
            return (fit(word, 5, right=True), style)
        return (fit(matrix_cell(lanes[0]).replace("·", self.look.glyphs["dot"]), 5, right=True), state_style(lanes[0]))

    def _totals(self) -> list[tuple[str, str]]:
        words = [(" total  ", "head")]
        for column in self.columns:
            lanes = [view for (_, c), views in self.cells.items() if c == column for view in views]
            words.append((fit(total_word(lanes, self.by_stage), 5, right=True), "dim"))
        return [*words, (" " * 8, "dim"), self._matches(list(self.model.views))]

    def _matches(self, lanes: list[LaneView]) -> tuple[str, str]:
        if self.model.facts.transfer != "replay":
            return ("", "dim")
        matches = sum(view.outcome is Outcome.MATCH for view in lanes)
        return (f"{matches}/{len(lanes)}", "match" if matches == len(lanes) else "dim")

    def action_move(self, down: int, right: int) -> None:
        """Moves the cursor by cells."""
        row = max(0, min(len(self.rows) - 1, self.cursor[0] + down))
        column = max(0, min(len(self.columns) - 1, self.cursor[1] + right))
        self._put_cursor((row, column))

    def move_to(self, index: int) -> None:
        """Puts the cursor on a lane's cell."""
        view = self.model.views[index]
        column = view.stage if self.by_stage else view.attempt
        if view.seed in self.rows and column in self.columns:
            self.cursor = (self.rows.index(view.seed), self.columns.index(column))
            self.update_lines()

    def action_open(self) -> None:
        """Asks for the lane under the cursor."""
        if self.lane is not None:
            self.post_message(LaneOpened(self.lane.index))

    def on_click(self, event: events.Click) -> None:
        """Moves the cursor; a second click opens the lane."""
        offset = event.get_content_offset(self)
        if offset is None:
            return
        row, column = offset.y + self.scroll_offset.y - 1, (offset.x - 8) // _CELL
        if 0 <= row < len(self.rows) and 0 <= column < len(self.columns):
            self._put_cursor((row, column))
            if event.chain == 2:
                self.action_open()

    def _put_cursor(self, cursor: tuple[int, int]) -> None:
        self.cursor = cursor
        y, top, height = cursor[0] + 1, self.scroll_offset.y, self.inner.height
        if y <= top:
            self.scroll_to(y=max(0, y - 1), animate=False, immediate=True)
        elif height and y >= top + height:
            self.scroll_to(y=y - height + 1, animate=False, immediate=True)
        if self.lane is not None:
            self.post_message(LaneMoved(self, self.lane.index))
        self.update_lines()

    def watch_has_focus(self, value: bool) -> None:
        """Shows the cursor while the pane has the keys."""
        super().watch_has_focus(value)
        self.update_lines()


def stage_cell(lanes: list[LaneView]) -> tuple[str, str]:
    """Returns a seed's cell of the ladder over stages (SPEC 10): letters newly reached by its best try."""
    if all(view.outcome is Outcome.SKIP for view in lanes):
        return ("SKIP", "waiting")
    if any(view.state is LaneState.STUCK for view in lanes):
        return ("STUCK", "stuck")
    base = next((view.base for view in lanes if view.base >= 0), -1)
    best = max(view.milestone for view in lanes)
    if best < 0:
        return matrix_cell(lanes[0]) if len(lanes) == 1 else UNKNOWN, "waiting"
    letters = ladder_letters(base, best)
    if any(state_style(view) == "lost" for view in lanes):
        return (letters, "lost")
    return (letters, "done" if all(view.outcome for view in lanes) else "running")


def total_word(lanes: list[LaneView], by_stage: bool) -> str:
    """Returns a column's sum: lanes with torches, or lanes that MATCH, of all."""
    if by_stage:
        seeds = {view.seed for view in lanes if view.outcome is not Outcome.SKIP}
        torches = {view.seed for view in lanes if view.milestone == TORCHES}
        return f"{len(torches)}T/{len(seeds)}"
    ended = sum(view.outcome in (Outcome.MATCH, Outcome.DONE) for view in lanes)
    return f"{ended}/{len(lanes)}"
