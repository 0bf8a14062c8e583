"""The engine: runs the lanes of a plan, each in a thread of its own, and never lets anything outlive it.

Threads: one a running lane, the conductor (deadlines, memory, admission), the monitor (samples), and those of
`Processes`. All are daemons, because a native call that never returns must not keep the program from ending. Readers
take `views` and `events_since`; nobody is ever called back.
"""

import atexit
import contextlib
import dataclasses
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from core.host import memory
from core.host.processes import AT_ONCE, BRISK, Processes
from core.ladder.admission import Admission
from core.ladder.config import LadderConfig
from core.ladder.deadlines import Deadlines
from core.ladder.entry import Attempt, Ending, LaneEntry
from core.ladder.eventlog import EventLog
from core.ladder.events import Event, LaneResult, LaneState, LaneView, Outcome
from core.ladder.lane import Lane, explain
from core.ladder.monitor import SAMPLE_S, Monitor
from core.ladder.plan import LanePlan, Plan
from core.ladder.sides import make_sides
from core.policy.controls import ControllerFactory

CONDUCTOR_S = 0.1
MEMORY_S = 0.5  #: between two readings of the available memory
STOP_PATIENCE_S = 6.0
#: Outcomes that say something about the machinery, not about the lane: worth another try.
RETRIED = (Outcome.TIMEOUT, Outcome.CRASHED, Outcome.OOM, Outcome.FAILED)


class Engine:
    """Runs a plan. Any thread may call any method."""

    def __init__(
        self,
        config: LadderConfig,
        plan: Plan,
        controllers: ControllerFactory,
        *,
        run_id: str,
        results: Mapping[int, LaneResult] | None = None,
    ) -> None:
        """Prepares a run; nothing is started.

        Args:
            config: settings. plan: the lanes. controllers: the loaded policy.
            run_id: what the children carry in their environment, so that they can be found.
            results: lanes that are done already, by index; they are not run.
        """
        self._config = config
        self._controllers = controllers
        self._run_id = run_id
        self._entries = tuple(LaneEntry(lane, config.decisions) for lane in plan.lanes)
        self._results = dict(results or {})
        self._events = EventLog()
        self._lock = threading.RLock()  # transitions of lanes; held for moments only
        self._wake = threading.Event()
        self._all_ended = threading.Event()
        self._closing = threading.Event()
        self._closed = threading.Event()
        self._fault = ""
        self._processes: Processes | None = None
        self._available_bytes = 0
        self._available_due_s = 0.0
        for entry in self._entries:
            self._settle_before_start(entry)

    def _settle_before_start(self, entry: LaneEntry) -> None:
        if entry.plan.skip:
            self._results[entry.index] = LaneResult(
                entry.index, Outcome.SKIP, note=f"missing {entry.plan.skip_path}", runs=0
            )
        if entry.index in self._results:
            entry.show_result(self._results[entry.index])

    # ---- what readers see ----

    def views(self) -> tuple[LaneView, ...]:
        """Returns one immutable view a lane, in plan order."""
        return tuple(entry.view for entry in self._entries)

    def events_since(self, n: int) -> list[Event]:
        """Returns the events numbered `n` and later."""
        return self._events.since(n)

    def wait_event(self, n: int, timeout_s: float) -> bool:
        """Waits until event `n` exists; returns whether it does."""
        return self._events.wait(n, timeout_s)

    def results(self) -> dict[int, LaneResult]:
        """Returns the results of all lanes that have ended, by index."""
        with self._lock:
            return dict(self._results)

    @property
    def fault(self) -> str:
        """Why the engine itself had to stop, one line; empty when it did not."""
        return self._fault

    # ---- life ----

    def start(self) -> None:
        """Starts the run.

        Raises:
            SpawnError: no guard process can be started.
        """
        self._processes = Processes(self._run_id)
        self._admission = Admission(self._config.jobs, memory.available_bytes(), self._config.has_magma)
        self._deadlines = Deadlines(self._config, self._events, self._abandon)
        self._monitor = Monitor()
        atexit.register(self._stop_at_exit)
        waiting = sum(1 for entry in self._entries if entry.view.state is LaneState.WAITING)
        self._events.add("run-start", None, f"{waiting} of {len(self._entries)} lanes to run", lanes=waiting)
        self._threads = [
            threading.Thread(target=self._guarded, args=(loop,), name=name, daemon=True)
            for name, loop in (("conductor", self._conduct), ("monitor", self._measure))
        ]
        for thread in self._threads:
            thread.start()

    def wait(self, timeout_s: float | None = None) -> bool:
        """Waits until every lane has ended (or the engine had to stop); returns whether that is so."""
        return self._all_ended.wait(timeout_s)

    def stop(self, save: bool = True) -> None:
        """Ends the run within bounds; returns when no child is left. Running lanes wait again, without a result.

        Args:
            save: give the lanes a moment to end; False kills at once, also while another thread is stopping gently.
        """
        if self._processes is None:
            return
        with self._lock:
            first = not self._closing.is_set()
            self._closing.set()  # before any lane notices the end of its process and takes it for a crash
        if not save:
            self._processes.kill_all()
        if first:
            self._shut_down(save)
        else:
            self._closed.wait(STOP_PATIENCE_S * 3)

    def _shut_down(self, save: bool) -> None:
        assert self._processes is not None
        try:
            attempts = self._attempts()
            for attempt in attempts:
                attempt.end(Ending(None, "stopped before its end"))
            give_up = time.monotonic() + (STOP_PATIENCE_S if save else STOP_PATIENCE_S / 3)
            for attempt in attempts:
                self._outwait(attempt, give_up)
            self._wake.set()
            for thread in self._threads:
                if thread is not threading.current_thread():
                    thread.join(2.0)
        finally:
            self._processes.close(BRISK if save else AT_ONCE)
            if not self._all_ended.is_set():
                self._events.add("run-end", None, self._tally(), stopped=True)
            self._all_ended.set()
            self._closed.set()
            atexit.unregister(self._stop_at_exit)

    def _outwait(self, attempt: Attempt, give_up_s: float) -> None:
        """Waits for a lane's thread as long as it can be expected to end, then goes on without it."""
        thread = attempt.thread
        while thread is not None and thread.is_alive() and time.monotonic() < give_up_s:
            if self._deadlines.is_beyond_ending(attempt):
                break
            thread.join(0.05)
        self._abandon(attempt)

    def _stop_at_exit(self) -> None:
        with contextlib.suppress(Exception):
            self.stop(save=False)

    # ---- what people ask for ----

    def kill(self, indices: Iterable[int]) -> None:
        """Ends lanes for good: KILLED. One that has not started never will; one that has ended stays as it is."""
        for entry in self._chosen(indices):
            with self._lock:
                attempt = entry.attempt
                if attempt is not None:
                    attempt.end(Ending(Outcome.KILLED, "killed by hand", "killed"))
                elif entry.view.state is not LaneState.ENDED:
                    self._finish(entry, LaneResult(entry.index, Outcome.KILLED, note="killed before its start", runs=0))
        self._wake.set()

    def kill_stuck(self) -> int:
        """Kills every STUCK lane; returns how many there were."""
        stuck = [view.index for view in self.views() if view.state is LaneState.STUCK]
        self.kill(stuck)
        return len(stuck)

    def pause(self, indices: Iterable[int]) -> None:
        """Holds lanes after their present decision. A running one keeps its slot; its deadlines stand still."""
        for entry in self._chosen(indices):
            with self._lock:
                if entry.go.is_set() and entry.view.state not in (LaneState.ENDED, LaneState.STUCK):
                    entry.go.clear()
                    entry.update(state=LaneState.PAUSED)
                    self._tell("paused", entry, "paused")

    def resume(self, indices: Iterable[int]) -> None:
        """Lets paused lanes go on."""
        for entry in self._chosen(indices):
            with self._lock:
                if not entry.go.is_set():
                    entry.go.set()
                    entry.update(state=entry.unpaused_state)
                    self._tell("resumed", entry, "resumed")
        self._wake.set()

    def pause_all(self) -> None:
        """Pauses every lane that has not ended."""
        self.pause(range(len(self._entries)))

    def resume_all(self) -> None:
        """Resumes every paused lane."""
        self.resume(range(len(self._entries)))

    def retry(self, indices: Iterable[int]) -> None:
        """Lets lost lanes run again from their beginning; results (MATCH, DIVERGE, done, SKIP) stay."""
        for entry in self._chosen(indices):
            with self._lock:
                result = self._results.get(entry.index)
                if result is None or result.outcome.is_result or self._closing.is_set():
                    continue
                del self._results[entry.index]
                self._all_ended.clear()
                entry.reset_view(LaneState.WAITING, f"again after {result.outcome}")
                self._tell("retry", entry, f"again after {result.outcome}", after=str(result.outcome))
        self._wake.set()

    def _chosen(self, indices: Iterable[int]) -> list[LaneEntry]:
        return [self._entries[index] for index in indices if 0 <= index < len(self._entries)]

    # ---- the conductor ----

    def _guarded(self, loop: Callable[[], None]) -> None:
        """Runs a thread's loop; a bug in it ends the run with one line instead of leaving children behind."""
        try:
            loop()
        except Exception as error:
            self._fault = f"engine: {explain(error)}"
            self._events.add("warning", None, self._fault)
            self.stop(save=False)

    def _conduct(self) -> None:
        while not self._closing.is_set():
            self._deadlines.look(self._attempts())
            self._balance()
            self._note_the_end()
            self._wake.wait(CONDUCTOR_S)
            self._wake.clear()

    def _measure(self) -> None:
        while not self._closing.wait(SAMPLE_S):
            attempts = self._attempts()
            self._monitor.sample(attempts)
            for attempt in attempts:
                self._admission.measured(attempt.rss_bytes)

    def _attempts(self) -> list[Attempt]:
        return [attempt for entry in self._entries if (attempt := entry.attempt) is not None]

    def _balance(self) -> None:
        """Gives free slots to waiting lanes, or takes one back when memory runs out."""
        available = self._available()
        attempts = self._attempts()
        if self._admission.must_shed(available, len(attempts)):
            self._shed(attempts, available)
            return
        slots = self._admission.slots - sum(1 for one in attempts if not one.is_stuck)
        starting = self._admission.starting_limit - sum(
            1 for one in attempts if one.entry.view.state is LaneState.STARTING
        )
        weights = [one.rss_bytes for one in attempts]
        for entry in self._entries:
            if min(slots, starting) <= 0 or not self._admission.has_room(available, weights):
                return
            if entry.view.state is LaneState.WAITING and self._begin(entry):
                slots, starting = slots - 1, starting - 1
                weights.append(0)

    def _shed(self, attempts: list[Attempt], available: int) -> None:
        """Sends the youngest lane back to wait; while one is on its way out, what it frees is waited for first."""
        if any(attempt.ending is not None for attempt in attempts):
            return
        youngest = max(attempts, key=lambda one: one.started_s)
        note = f"memory is short ({available // memory.MIB} MiB available): waits again"
        youngest.end(Ending(None, note, "requeue"))

    def _available(self) -> int:
        now = time.monotonic()
        if now >= self._available_due_s:
            self._available_due_s = now + MEMORY_S
            self._available_bytes = memory.available_bytes()
        return self._available_bytes

    def _note_the_end(self) -> None:
        with self._lock:
            if not self._all_ended.is_set() and len(self._results) == len(self._entries):
                self._events.add("run-end", None, self._tally(), stopped=False)
                self._all_ended.set()

    def _tally(self) -> str:
        counts: dict[str, int] = {}
        for result in self._results.values():
            counts[result.outcome] = counts.get(result.outcome, 0) + 1
        waiting = len(self._entries) - len(self._results)
        words = [f"{count} {outcome}" for outcome, count in counts.items()] + [f"{waiting} not run"] * (waiting > 0)
        return ", ".join(words) or "no lanes"

    # ---- one attempt ----

    def _begin(self, entry: LaneEntry) -> bool:
        with self._lock:
            if self._closing.is_set() or entry.view.state is not LaneState.WAITING:
                return False
            attempt = Attempt(entry, self._events, self._opened)
            entry.attempt = attempt
            entry.update(
                state=LaneState.STARTING, started_s=attempt.started_s, runs=entry.view.runs + 1, note="", outcome=None
            )
        attempt.thread = threading.Thread(
            target=self._run_attempt, args=(attempt,), name=f"lane-{entry.index}", daemon=True
        )
        attempt.thread.start()
        return True

    def _run_attempt(self, attempt: Attempt) -> None:
        """A lane's thread, from its worlds to its result."""
        entry = attempt.entry
        try:
            lane = self._make_lane(entry.plan, attempt)
        except Exception as error:
            self._over(attempt, LaneResult(entry.index, Outcome.FAILED, note=explain(error)))
            return
        attempt.lane = lane
        if attempt.ending is not None:  # it was asked to end before there was anything to interrupt
            lane.interrupt()
        self._over(attempt, lane.run())

    def _make_lane(self, plan: LanePlan, attempt: Attempt) -> Lane:
        assert self._processes is not None
        sides = make_sides(self._config, plan, self._processes)
        controller = self._controllers.make(ni=plan.ni, rng_seed=plan.rng_seed, limit=self._config.decisions)
        return Lane(self._config, plan, sides, controller, attempt)

    def _opened(self, attempt: Attempt) -> None:
        with self._lock:
            entry = attempt.entry
            if entry.attempt is not attempt:
                return
            pid = attempt.pid
            state = LaneState.RUNNING if entry.go.is_set() else LaneState.PAUSED
            if not attempt.is_stuck:
                entry.update(state=state, pid=pid)
            self._tell("started", entry, "started" + (f" (pid {pid})" if pid else ""), pid=pid, run=entry.view.runs)
        self._wake.set()  # another lane may start now

    def _abandon(self, attempt: Attempt) -> None:
        """Goes on without a lane whose thread does not end: a native call that never returns. What it may still do
        is not heard of, and its lane process is ended by another thread."""
        lane, ending = attempt.lane, attempt.ending
        if attempt.entry.attempt is not attempt:
            return
        outcome = ending.outcome if ending is not None and ending.outcome is not None else Outcome.TIMEOUT
        note = ending.note if ending is not None else ""
        if lane is None:
            self._over(attempt, LaneResult(attempt.entry.index, outcome, note=note))
            return
        if lane.sides.magma is not None:
            threading.Thread(target=lane.sides.magma.close, name="abandoned", daemon=True).start()
        self._over(attempt, lane.result(outcome, note))

    def _over(self, attempt: Attempt, result: LaneResult) -> None:
        """Takes in how an attempt ended, and decides what that means for its lane."""
        entry = attempt.entry
        with self._lock:
            if entry.attempt is not attempt:
                return  # abandoned long ago
            entry.attempt = None
            self._available_due_s = 0.0  # what it held is free now
            result = _completed(result, attempt)
            ending = attempt.ending
            if ending is not None and ending.event:
                self._tell(ending.event, entry, ending.note)
            if result.outcome.is_result or result.outcome is Outcome.KILLED:
                self._finish(entry, result)
            elif self._closing.is_set() or (ending is not None and ending.outcome is None):
                entry.reset_view(entry.waiting_state, ending.note if ending is not None else result.note)
            elif result.outcome in RETRIED and entry.retries_used < self._config.retries:
                entry.retries_used += 1
                entry.reset_view(LaneState.WAITING, f"again after {result.outcome}: {result.note}")
                self._tell("retry", entry, f"{result.outcome}: {result.note}; again", after=str(result.outcome))
            else:
                self._finish(entry, result)
        self._wake.set()

    def _finish(self, entry: LaneEntry, result: LaneResult) -> None:
        self._results[entry.index] = result
        entry.go.set()
        entry.show_result(result)
        text = str(result.outcome) + (f": {result.note}" if result.note else "")
        self._tell("outcome", entry, text, outcome=str(result.outcome), reached=result.reached, run=result.runs)

    def _tell(self, kind: str, entry: LaneEntry, text: str, **data: object) -> None:
        self._events.add(kind, entry.index, f"{entry.name}  {text}", **data)


def _completed(result: LaneResult, attempt: Attempt) -> LaneResult:
    """Returns the result with what only the engine knows: why it was ended, its memory, which attempt it was."""
    ending = attempt.ending
    changes: dict[str, Any] = {"runs": attempt.entry.view.runs}
    if attempt.peak_rss_bytes:
        changes["peak_rss_mib"] = attempt.peak_rss_bytes / memory.MIB
    if ending is not None and not result.outcome.is_result:
        changes |= {"outcome": ending.outcome or Outcome.FAILED, "note": ending.note}
    return dataclasses.replace(result, **changes)
