"""A run that lives in this process. Its engine is imported and started in a thread, after the first paint."""

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from core.errors import BadInput, NetheriteError, Refused
from core.ladder.events import Event, LaneResult, LaneState, LaneView
from netherite_tui.client import RunFacts, RunStatus

if TYPE_CHECKING:
    from core.runs.session import Session

POLL_S = 0.2
CLOSE_PATIENCE_S = 20.0
#: Seconds a disk may take for the last events once everything else is done.
DISK_PATIENCE_S = 5.0

MakeSession = Callable[[Callable[[str], None]], "Session"]


class LiveRun:
    """Runs a session. `make` is called in a thread of ours with a function that is told what takes long."""

    owned = True
    read_only = ""

    def __init__(self, make: MakeSession, facts: RunFacts) -> None:
        self.facts = facts
        self.error: NetheriteError | None = None
        self.session: Session | None = None
        self._make = make
        self._status = RunStatus("preparing", "starting")
        self._began_s: float | None = None
        self._load = _Load()
        self._stop = threading.Event()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="session", daemon=True)

    def start(self) -> None:
        """Begins to prepare and run."""
        self._began_s = time.monotonic()
        self._thread.start()

    def status(self) -> RunStatus:
        """Returns the newest status; an engine in this process is never out of touch."""
        if self._status.phase in ("running", "stopping") and self.session is not None:
            rss_mib, cpu_percent = self._load.measure(self.session.views())
            return replace(self._status, rss_mib=rss_mib, cpu_percent=cpu_percent)
        if self._status.phase == "preparing" and self._began_s is not None:
            waited_s = time.monotonic() - self._began_s
            return replace(self._status, detail=f"{self._status.detail}  {waited_s:.0f} s")
        return self._status

    def views(self) -> tuple[LaneView, ...]:
        """Returns the engine's views."""
        return () if self.session is None else self.session.views()

    def watch(self, indices: Iterable[int]) -> None:
        """Does nothing: every record is here."""

    def events_since(self, n: int) -> Sequence[Event]:
        """Returns the engine's events."""
        return () if self.session is None else self.session.events_since(n)

    def result(self, index: int) -> LaneResult | None:
        """Returns the lane's result."""
        return None if self.session is None else self.session.results().get(index)

    def report(self) -> str:
        """Returns the tables so far."""
        return "" if self.session is None else self.session.report()

    def export(self, format: str) -> str:
        """Returns the run in an export format, as text.

        Raises:
            NetheriteError: unknown format, or the run has not begun.
        """
        from netherite_tui.clients.exporting import export_text

        if self.session is None:
            raise BadInput("nothing to export yet: the run has not begun")
        return export_text(self.session.folder, self.session.results(), format)

    def kill(self, indices: Iterable[int]) -> None:
        """Ends lanes."""
        self._begun().kill(indices)

    def kill_stuck(self) -> None:
        """Ends every STUCK lane."""
        self._begun().kill_stuck()

    def pause(self, indices: Iterable[int]) -> None:
        """Holds lanes."""
        self._begun().pause(indices)

    def resume(self, indices: Iterable[int]) -> None:
        """Lets lanes go on."""
        self._begun().resume(indices)

    def retry(self, indices: Iterable[int]) -> None:
        """Runs lost lanes again."""
        if self._over.is_set():
            raise Refused("the run is over and saved; run --resume takes its lost lanes up again")
        self._begun().retry(indices)

    def pause_all(self) -> None:
        """Holds every lane."""
        self._begun().pause_all()

    def resume_all(self) -> None:
        """Lets every lane go on."""
        self._begun().resume_all()

    def stop(self) -> None:
        """Asks the session's thread to stop and save."""
        if self._status.phase in ("preparing", "running"):
            self._status = replace(self._status, phase="stopping", detail="ending lanes and saving")
        self._stop.set()

    def abort(self) -> None:
        """Kills all lane processes at once; the stop that is under way then ends soon."""
        self._stop.set()
        if self.session is not None:
            self.session.abort()

    def close(self) -> None:
        """Stops, saves and waits for both, within bounds."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(CLOSE_PATIENCE_S)
        if self._thread.is_alive():
            self.abort()

    def _begun(self) -> "Session":
        if self.session is None:
            raise Refused("the run has not begun")
        return self.session

    def _tell(self, text: str) -> None:
        self._status = replace(self._status, detail=text)

    # ---- the session's thread ----

    def _run(self) -> None:
        try:
            session = self._make(self._tell)
        except NetheriteError as error:
            self.error = error
            self._status = RunStatus("failed", str(error))
            return
        except Exception as bug:  # told on the screen and by the exit code; the terminal must come back first
            self.error = NetheriteError(f"internal error: {type(bug).__name__}: {bug}")
            self._status = RunStatus("failed", str(self.error))
            return
        self._drive(session)

    def _drive(self, session: "Session") -> None:
        from netherite_tui.clients.facts import budget_mib, facts_of, lanes_at_once

        jobs = lanes_at_once(session.config, len(session.plan.lanes))
        self.facts = facts_of(session.id, session.config, host=self.facts.host, jobs=jobs)
        try:
            if not self._stop.is_set():
                session.start()
                self.session = session
                self._status = RunStatus("running", started=time.time(), budget_mib=budget_mib())
                while not self._stop.is_set() and not (session.wait(POLL_S) and self._is_settled(session)):
                    pass
        except NetheriteError as error:
            self.error = error
        finally:
            self._over.set()
            session.finish(DISK_PATIENCE_S)
            detail = str(self.error or session.failure or "")
            self._status = replace(self._status, phase="ended", detail=detail, ended=time.time())

    def _is_settled(self, session: "Session") -> bool:
        """Whether nothing is left that a retry could change; until then the run stays open after its last lane."""
        lost = any(view.outcome is not None and not view.outcome.is_result for view in session.views())
        if not lost or session.failure:
            return True
        self._stop.wait(POLL_S)
        return False


class _Load:
    """Memory and CPU of the engine and its lanes together."""

    def __init__(self) -> None:
        self._at, self._cpu_s = time.monotonic(), time.process_time()
        self._percent = 0.0

    def measure(self, views: Sequence[LaneView]) -> tuple[float, float]:
        """Returns the lanes' RSS in MiB and the CPU per cent of lanes and engine, at most once a second anew."""
        alive = [view for view in views if view.outcome is None and view.state is not LaneState.WAITING]
        now, cpu_s = time.monotonic(), time.process_time()
        if now - self._at >= 1.0:
            self._percent = 100 * (cpu_s - self._cpu_s) / (now - self._at)
            self._at, self._cpu_s = now, cpu_s
        return sum(v.rss_mib or 0.0 for v in alive), self._percent + sum(v.cpu_percent or 0.0 for v in alive)
