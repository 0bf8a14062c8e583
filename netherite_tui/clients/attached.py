"""A run that another process of this host drives: seen and steered over its control socket."""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.errors import BadInput, NetheriteError
from core.ladder.events import Event, LaneResult, LaneState, LaneView
from netherite_tui.client import RunFacts, RunStatus

if TYPE_CHECKING:
    from core.runs.remote import ControlClient
    from core.runs.store import StoredRun

FOLDER_S = 2.0  #: between two readings of the run's folder


class AttachedRun:
    """Follows a live run. When it ends, its folder tells the rest; when its engine dies, the phase is `gone`."""

    owned = False
    read_only = ""

    def __init__(self, folder: Path, manifest: Mapping[str, Any], facts: RunFacts) -> None:
        """Prepares to attach.

        Args:
            folder: the run's folder.
            manifest: its manifest.
            facts: what to show.
        """
        self.facts = facts
        self.error: NetheriteError | None = None
        self._folder = folder
        self._started = float(manifest.get("created", 0.0)) or None
        self._client: ControlClient | None = None
        self._watched: frozenset[int] = frozenset()
        self._stored: StoredRun | None = None
        self._trouble = ""
        self._closing = threading.Event()
        self._stop_asked = False
        self._budget_mib: float | None = None
        self._thread = threading.Thread(target=self._follow, name="attached", daemon=True)

    def start(self) -> None:
        """Connects in the background."""
        self._thread.start()

    def status(self) -> RunStatus:
        """Returns what is known of the engine."""
        client = self._client
        if client is None:
            return RunStatus("gone" if self._trouble else "preparing", self._trouble or "connecting", self._started)
        if not client.alive:
            return self._status_at_end(client)
        alive = [view for view in client.views() if view.outcome is None and view.state is not LaneState.WAITING]
        return RunStatus(
            "stopping" if self._stop_asked else "running",
            started=self._started,
            age_s=client.age_s,
            rss_mib=_rss_mib(alive),
            budget_mib=self._budget_mib,
            cpu_percent=sum(view.cpu_percent or 0.0 for view in alive),
        )

    def _status_at_end(self, client: "ControlClient") -> RunStatus:
        stored = self._stored
        end = None if stored is None else stored.end
        if end is not None:
            return RunStatus("ended", client.ended, self._started, float(end["time"]))
        said_goodbye = "ended" in client.ended
        return RunStatus("ended" if said_goodbye else "gone", client.ended, self._started)

    def views(self) -> tuple[LaneView, ...]:
        """Returns the newest views that came."""
        return () if self._client is None else self._client.views()

    def watch(self, indices: Iterable[int]) -> None:
        """Asks for the records of these lanes."""
        wanted = frozenset(indices)
        client = self._client
        if client is None or not client.alive or wanted == self._watched:
            return
        self._watched = wanted
        self._send(lambda: client.watch_records(wanted))

    def events_since(self, n: int) -> Sequence[Event]:
        """Returns the events that came."""
        return () if self._client is None else self._client.events_since(n)

    def result(self, index: int) -> LaneResult | None:
        """Returns the lane's result as the folder has it."""
        return None if self._stored is None else self._stored.full_result(index)

    def report(self) -> str:
        """Returns the tables as of the last reading of the folder."""
        return "" if self._stored is None else self._stored.report()

    def export(self, format: str) -> str:
        """Returns what the folder holds now in an export format.

        Raises:
            NetheriteError: unknown format, or the folder cannot be read.
        """
        from core.runs.store import load_run
        from netherite_tui.clients.exporting import export_text

        return export_text(self._folder, load_run(self._folder).results, format)

    def kill(self, indices: Iterable[int]) -> None:
        """Ends lanes."""
        self._post("kill", indices)

    def kill_stuck(self) -> None:
        """Ends every STUCK lane."""
        self._post("kill_stuck")

    def pause(self, indices: Iterable[int]) -> None:
        """Holds lanes."""
        self._post("pause", indices)

    def resume(self, indices: Iterable[int]) -> None:
        """Lets lanes go on."""
        self._post("resume", indices)

    def retry(self, indices: Iterable[int]) -> None:
        """Runs lost lanes again."""
        self._post("retry", indices)

    def pause_all(self) -> None:
        """Holds every lane."""
        self._post("pause_all")

    def resume_all(self) -> None:
        """Lets every lane go on."""
        self._post("resume_all")

    def stop(self) -> None:
        """Stops the run where it lives."""
        self._stop_asked = True
        self._post("stop")

    def abort(self) -> None:
        """Does nothing: no lane of it lives here."""

    def close(self) -> None:
        """Lets go; the run goes on."""
        self._closing.set()
        if self._client is not None:
            self._client.close()

    def _post(self, name: str, indices: Iterable[int] = ()) -> None:
        if self._client is None:
            raise BadInput("not connected to the engine yet")
        self._client.post(name, indices)

    def _send(self, send: Callable[[], None]) -> None:
        try:
            send()
        except NetheriteError as error:
            self._trouble = str(error)

    # ---- the thread ----

    def _follow(self) -> None:
        from core.runs.remote import ControlClient, socket_of

        try:
            client = ControlClient(socket_of(self._folder))
            client.connect()
        except NetheriteError as error:
            self._trouble = str(error)
            return
        self._client = client
        self._reckon_budget(client)
        read_at_end = False
        while not self._closing.is_set() and not read_at_end:
            read_at_end = client.wait_end(FOLDER_S)
            self._read_folder()

    def _reckon_budget(self, client: "ControlClient") -> None:
        from netherite_tui.clients.facts import budget_mib

        client.wait_change(1.0)  # the first views tell what the lanes hold already
        self._budget_mib = budget_mib(_rss_mib(client.views()))

    def _read_folder(self) -> None:
        from core.runs.store import load_run

        try:
            self._stored = load_run(self._folder)
        except NetheriteError as error:
            self._trouble = str(error)
        else:
            self.facts = replace(self.facts, run_id=self._stored.id)


def _rss_mib(views: Iterable[LaneView]) -> float:
    return sum(view.rss_mib or 0.0 for view in views if view.outcome is None)
