"""A run in progress: the engine, the writer of its journal, and its control socket.

Lanes never wait for the disk: one writer thread takes events and results from the engine and puts them into the run's
folder at the disk's own pace. When the folder cannot be written any more the run stops, with what it has.
"""

import contextlib
import math
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from core.errors import BadInput, ExitCode, NetheriteError, Refused
from core.ladder.config import LadderConfig, Resolved, config_from_dict, config_to_dict, value_text
from core.ladder.engine import Engine
from core.ladder.events import Event, LaneResult, LaneView, Outcome
from core.ladder.faults import check_faults
from core.ladder.inputs import check_inputs
from core.ladder.plan import Plan, make_plan
from core.ladder.report import render_report
from core.ladder.warmup import ensure_warm, rooms_of
from core.policy.controls import ControllerFactory, controller_factory
from core.runs import provenance, store
from core.runs.control import ControlServer, new_socket_path
from core.runs.journal import JournalWriter
from core.runs.tune import lane_arguments_notes
from core.wire.files import write_atomically

Tell = Callable[[str], None]

#: How long the writer sleeps when nothing happens, seconds; also how soon it sees that the engine has ended.
WRITER_POLL_S = 0.2


class Session:
    """One run of this process. `start` it, `wait` for it, `finish` it; `finish` is due whatever happened."""

    def __init__(
        self,
        folder: Path,
        lock: store.RunLock,
        manifest: dict[str, Any],
        controllers: ControllerFactory,
        kept: Mapping[int, LaneResult],
    ) -> None:
        """Prepares a run whose folder is made and locked; use `create` or `reopen`."""
        self.folder = folder
        self.config = config_from_dict(manifest["config"])
        self.plan: Plan = store.plan_from_list(manifest["lanes"])
        self.notes: list[str] = list(manifest["notes"])
        self.engine = Engine(self.config, self.plan, controllers, results=kept, run_id=folder.name)
        self._lock = lock
        self._manifest = manifest
        self._keys = [provenance.lane_key(lane, manifest["hashes"]) for lane in self.plan.lanes]
        self._journal = JournalWriter(folder / store.JOURNAL)
        self._writer = threading.Thread(target=self._write_all, name="journal", daemon=True)
        self._control: ControlServer | None = None
        self._failure = ""
        self._over = threading.Event()
        self._started = False

    # ---- making one ----

    @classmethod
    def create(
        cls, resolved: Resolved, *, runs_dir: Path, argv: Sequence[str] = (), on_progress: Tell = lambda _: None
    ) -> "Session":
        """Makes the folder of a new run, all inputs checked first.

        Args:
            resolved: settings and where each came from.
            runs_dir: folder of the runs; made when missing.
            argv: the command line, kept in the manifest.
            on_progress: told in one line what takes long (compiling kernels).

        Raises:
            BadInput: a setting, file or program that cannot be used, or a folder that cannot be written.
        """
        config = resolved.config
        plan = make_plan(config)
        check_faults(config, plan)
        hashes = provenance.run_hashes(config, plan)
        check_inputs(config, plan)
        ensure_warm(rooms_of(config), on_progress)
        controllers = _controllers(config)
        folder = store.new_run_folder(runs_dir)
        lock = store.RunLock(folder)
        manifest = {
            "format": store.FORMAT,
            "id": folder.name,
            "created": time.time(),
            "config": config_to_dict(config),
            "origins": {name: origin for name, origin in resolved.origins.items() if origin != "default"},
            "argv": list(argv),
            "directory": os.getcwd(),
            "versions": provenance.versions(),
            "hashes": hashes,
            "lanes": store.plan_to_list(plan),
            "notes": [*controllers.notes, *lane_arguments_notes(hashes.get("lane binary", ""), config.lane_args)],
        }
        return cls._open(folder, lock, manifest, controllers, {})

    @classmethod
    def reopen(
        cls, folder: Path, changes: Mapping[str, Any] | None = None, *, on_progress: Tell = lambda _: None
    ) -> "Session":
        """Takes up a run again: lanes without a result are run, the others keep theirs.

        Args:
            folder: the run's folder.
            changes: settings typed for this time; only such as leave every lane's result the same are accepted.
            on_progress: told in one line what takes long (compiling kernels).

        Raises:
            Refused: something the lanes depend on differs (it is named), or another process writes to the run.
            BadInput: the run or one of its inputs cannot be read.
            JournalDamaged: the journal is damaged before its last frame.
        """
        lock = store.RunLock(folder)
        try:
            stored = store.load_run(folder)
            config = _changed(stored, changes or {})
            plan = make_plan(config)
            now = provenance.run_hashes(config, plan)
            if found := provenance.differences(stored.manifest["hashes"], now):
                raise Refused(f"run {folder.name} cannot be resumed: {'; '.join(found)}")
            ensure_warm(rooms_of(config), on_progress)
            manifest = dict(stored.manifest) | {"config": config_to_dict(config), "lanes": store.plan_to_list(plan)}
            kept = {index: result for index, result in stored.results.items() if result.outcome.is_result}
            return cls._open(folder, lock, manifest, _controllers(config), kept)
        except BaseException:
            lock.release()
            raise

    @classmethod
    def _open(
        cls,
        folder: Path,
        lock: store.RunLock,
        manifest: dict[str, Any],
        controllers: ControllerFactory,
        kept: Mapping[int, LaneResult],
    ) -> "Session":
        """Writes the manifest and opens the journal; a folder that cannot be written is left unlocked."""
        try:
            manifest["engine"] = provenance.this_engine()
            store.write_manifest(folder, manifest)
            return cls(folder, lock, manifest, controllers, kept)
        except OSError as error:
            lock.release()
            raise BadInput(f"run {folder.name}: {folder} cannot be written: {error.strerror}") from None
        except BaseException:
            lock.release()
            raise

    # ---- running it ----

    @property
    def id(self) -> str:
        """The run's id."""
        return self.folder.name

    @property
    def failure(self) -> str:
        """What stopped the run from outside its lanes, one line; empty when nothing did."""
        return self._failure or self.engine.fault

    def start(self) -> None:
        """Starts the lanes, the journal and the control socket; returns at once.

        Raises:
            NetheriteError: the run's folder, socket or guard cannot be made.
        """
        self._manifest["engine"]["socket"] = self._start_control()
        with contextlib.suppress(NetheriteError):  # a folder that cannot be written is told by the journal's writer
            store.write_manifest(self.folder, self._manifest)
        try:
            self._journal.append({"kind": "open", "time": time.time(), **self._manifest["engine"]})
        except OSError as error:
            raise BadInput(f"run {self.id}: {self.folder} cannot be written: {error.strerror}") from None
        self.engine.start()
        self._started = True
        self._writer.start()

    def _start_control(self) -> str:
        """Returns where the run can be steered; empty without a socket, which a run can do without."""
        control = ControlServer(self, new_socket_path(self.id), {"id": self.id, "config": self._manifest["config"]})
        with contextlib.suppress(NetheriteError):
            control.start()
            self._control = control
            return str(control.path)
        return ""

    def wait(self, timeout_s: float) -> bool:
        """Waits until every lane has ended or the run was stopped; returns whether that is so."""
        return self.engine.wait(timeout_s)

    def finish(self, patience_s: float = math.inf, hurry: Callable[[], bool] = lambda: False) -> ExitCode:
        """Ends whatever runs, writes the report and lets go of the folder. May be called twice.

        Args:
            patience_s: how long a slow disk may take for the last events before they are left behind.
            hurry: asked again and again meanwhile; True ends the patience.

        Returns:
            The exit code of the run itself: lanes lost or not run, DIVERGE, or success.
        """
        if not self._over.is_set():
            if self._started:
                self.engine.stop(save=True)
            self._over.set()
            if self._started:
                give_up = time.monotonic() + patience_s
                while self._writer.is_alive() and time.monotonic() < give_up and not hurry():
                    self._writer.join(WRITER_POLL_S)
                if not self._writer.is_alive():
                    self._write_end()
            if self._control is not None:
                self._control.close()
            self._lock.release()
        return self.exit_code()

    def exit_code(self) -> ExitCode:
        """Returns the exit code for what is known now."""
        outcomes = [result.outcome for result in self.results().values()]
        if self.failure or self.is_unfinished() or not all(outcome.is_result for outcome in outcomes):
            return ExitCode.LANES_LOST
        return ExitCode.DIVERGE if Outcome.DIVERGE in outcomes else ExitCode.OK

    def is_unfinished(self) -> bool:
        """Whether a lane has neither a result nor an end."""
        return len(self.results()) < len(self.plan.lanes)

    def results(self) -> dict[int, LaneResult]:
        """Returns what is known of each lane that has ended, by index."""
        return self.engine.results()

    def report(self) -> str:
        """Returns the tables as far as they are known."""
        return render_report(self.config, self.plan, self.results(), self.notes)

    # ---- what a front end may see and do ----

    def views(self) -> tuple[LaneView, ...]:
        """Returns one view a lane."""
        return self.engine.views()

    def events_since(self, n: int) -> list[Event]:
        """Returns the events from number `n` on."""
        return self.engine.events_since(n)

    def kill(self, indices: Iterable[int]) -> None:
        """Ends lanes; they become KILLED."""
        self.engine.kill(indices)

    def kill_stuck(self) -> None:
        """Ends every STUCK lane."""
        self.engine.kill_stuck()

    def pause(self, indices: Iterable[int]) -> None:
        """Holds lanes before their next decision."""
        self.engine.pause(indices)

    def resume(self, indices: Iterable[int]) -> None:
        """Lets paused lanes go on."""
        self.engine.resume(indices)

    def retry(self, indices: Iterable[int]) -> None:
        """Runs lost lanes again."""
        self.engine.retry(indices)

    def pause_all(self) -> None:
        """Holds every lane."""
        self.engine.pause_all()

    def resume_all(self) -> None:
        """Lets every paused lane go on."""
        self.engine.resume_all()

    def stop(self) -> None:
        """Ends the running lanes, which wait for `run --resume`; returns when none is left, within seconds."""
        self.engine.stop(save=True)

    def abort(self) -> None:
        """Kills all lane processes at once, also while another thread is stopping gently."""
        self.engine.stop(save=False)

    # ---- the writer ----

    def _write_all(self) -> None:
        """The writer thread: takes events as they come until the run is over and all are written."""
        self._try_to_write(self._write_skips)
        written = 0
        while True:
            last_round = self._over.is_set()
            self.engine.wait_event(written, 0.0 if last_round else WRITER_POLL_S)
            events = self.engine.events_since(written)
            written += len(events)
            self._try_to_write(lambda: self._write_events(events))  # noqa: B023  (called before the next turn)
            if last_round and not events:
                return

    def _try_to_write(self, write: Callable[[], None]) -> None:
        if self._failure:
            return
        try:
            write()
        except Exception as error:  # whatever it is: a run that is not recorded must not go on as if it were
            reason = error.strerror if isinstance(error, OSError) else str(error)
            self._failure = f"run {self.id} was stopped: its folder {self.folder} cannot be written: {reason}"
            self.engine.stop(save=True)

    def _write_skips(self) -> None:
        """Lanes that have no snapshot never happen, so that no event tells of them."""
        for lane in self.plan.lanes:
            if lane.skip:
                self._write_result(lane.index)

    def _write_events(self, events: Sequence[Event]) -> None:
        for event in events:
            self._journal.append(store.event_frame(event))
            if event.kind == "outcome" and event.lane is not None:
                self._write_result(event.lane)
                self._journal.sync()

    def _write_result(self, index: int) -> None:
        result = self.results().get(index)
        if result is None:  # it is being run again already
            return
        if result.outcome != Outcome.SKIP:
            store.write_lane_files(self.folder, result)
        self._journal.append(store.result_frame(result, self._keys[index]))

    def _write_end(self) -> None:
        try:
            if not self._failure:
                write_atomically(self.folder / store.REPORT, [self.report().encode()])
                self._journal.append({"kind": "end", "time": time.time(), "exit_code": int(self.exit_code())})
                self._journal.sync()
        except (OSError, NetheriteError) as error:
            self._failure = f"run {self.id}: its report could not be written to {self.folder}: {error}"
        finally:
            self._journal.close()


def _controllers(config: LadderConfig) -> ControllerFactory:
    return controller_factory(config.policy, network=config.network, checkpoint=config.checkpoint, device=config.device)


def _changed(stored: store.StoredRun, changes: Mapping[str, Any]) -> LadderConfig:
    """Returns the config of a stored run with newly typed settings.

    Raises:
        Refused: one of them would change what lanes compute.
    """
    changed = config_from_dict(stored.manifest["config"], changes)
    for name in changes:
        had, now = value_text(stored.config, name), value_text(changed, name)
        if had != now and name not in provenance.OUTSIDE_CONFIG_HASH:
            raise Refused(f"run {stored.id} cannot be resumed: {name} (had {had}, now {now})")
    return changed
