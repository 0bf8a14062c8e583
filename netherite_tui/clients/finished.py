"""A run that nobody drives: what its folder holds."""

import threading
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from core.errors import NetheriteError, Refused
from core.ladder.events import Event, LaneResult, LaneView
from netherite_tui.client import RunFacts, RunStatus

if TYPE_CHECKING:
    from core.runs.store import StoredRun


class FinishedRun:
    """Shows a run folder. Diverged lanes show the two records of their divergence."""

    owned = False

    def __init__(self, folder: Path, facts: RunFacts, *, gone: bool = False) -> None:
        """Prepares to read a folder.

        Args:
            folder: the run's folder.
            facts: what to show.
            gone: whether its engine died before the end.
        """
        self.facts = facts
        self.error: NetheriteError | None = None
        self.read_only = "this run is over; run --resume goes on with it"
        self._folder = folder
        self._gone = gone
        self._stored: StoredRun | None = None
        self._views: tuple[LaneView, ...] = ()
        self._status = RunStatus("preparing", f"reading {folder.name}")
        self._thread = threading.Thread(target=self._read, name="finished", daemon=True)

    def start(self) -> None:
        """Reads the folder in the background."""
        self._thread.start()

    def status(self) -> RunStatus:
        """Returns how the run ended."""
        return self._status

    def views(self) -> tuple[LaneView, ...]:
        """Returns one view a lane."""
        return self._views

    def watch(self, indices: Iterable[int]) -> None:
        """Does nothing: what there is has been read."""

    def events_since(self, n: int) -> Sequence[Event]:
        """Returns the events the folder holds."""
        return () if self._stored is None else self._stored.events[n:]

    def result(self, index: int) -> LaneResult | None:
        """Returns the lane's result."""
        return None if self._stored is None else self._stored.full_result(index)

    def report(self) -> str:
        """Returns the run's tables."""
        return "" if self._stored is None else self._stored.report()

    def export(self, format: str) -> str:
        """Returns the run in an export format.

        Raises:
            NetheriteError: unknown format, or the folder is not read yet.
        """
        from netherite_tui.clients.exporting import export_text

        if self._stored is None:
            raise Refused("the run's folder is being read")
        return export_text(self._folder, self._stored.results, format)

    def _refuse(self, *_: object) -> None:
        raise Refused(self.read_only)

    kill = kill_stuck = pause = resume = retry = pause_all = resume_all = stop = _refuse

    def abort(self) -> None:
        """Does nothing: no lane of it lives here."""

    def close(self) -> None:
        """Has nothing to let go of."""

    def _read(self) -> None:
        from core.runs.store import load_run

        try:
            stored = load_run(self._folder)
            self._views = tuple(self._with_records(stored, view) for view in stored.views())
        except NetheriteError as error:
            self.error = error
            self._status = RunStatus("failed", str(error))
            return
        self._stored = stored
        last = stored.journal.frames[-1].get("time") if stored.journal.frames else None
        self._status = RunStatus("gone" if self._gone else "ended", "", stored.started, last or stored.started)

    def _with_records(self, stored: "StoredRun", view: LaneView) -> LaneView:
        if view.mismatch_step < 0:
            return view
        result = stored.full_result(view.index)
        if result is None:
            return view
        return replace(view, record=result.magma_record or None, reference=result.reference_record or None)
