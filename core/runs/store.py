"""The folder of all runs: where it is, how a run is found, what a run's folder holds (DESIGN, run folder)."""

import contextlib
import fcntl
import json
import os
import secrets
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

import platformdirs

from core.errors import BadInput, Refused
from core.ladder.config import LadderConfig, config_from_dict
from core.ladder.events import Event, LaneResult, LaneView, Outcome, ended_fields
from core.ladder.milestones import NAMES
from core.ladder.plan import HELD_OUT, LanePlan, Plan
from core.ladder.report import render_report
from core.runs import provenance
from core.runs.journal import JournalContent, JournalDamaged, frames_of_kind, read_journal
from core.wire.files import write_atomically

MANIFEST, JOURNAL, REPORT, LOCK, LANES, LOG = (
    "manifest.json",
    "journal.msgpack",
    "report.txt",
    "lock",
    "lanes",
    "log.txt",
)
FORMAT = 1
LAST = "last"

#: Files of a lane's folder and the LaneResult field each keeps.
LANE_FILES = {
    "heads.i8": "heads",
    "rows.f64": "rows",
    "stderr.txt": "stderr_tail",
    "magma.bolr": "magma_record",
    "reference.bolr": "reference_record",
}
_JOURNALLED = [one.name for one in fields(LaneResult) if one.name not in LANE_FILES.values()]


class RunState(StrEnum):
    """How a run stands."""

    RUNNING = "running"
    FINISHED = "finished"  #: every lane has ended
    STOPPED = "stopped"  #: ended in good order with lanes left to run
    GONE = "gone"  #: its engine died
    ELSEWHERE = "elsewhere"  #: unfinished, and of another host: only that host can tell
    DAMAGED = "damaged"


# ---- finding --------------------------------------------------------------------------------------------------------


def runs_dir(option: Path | str | None = None) -> Path:
    """Returns the folder of the runs: the option, else `NETHERITE_RUNS`, else in the user data folder."""
    chosen = option or os.environ.get("NETHERITE_RUNS")
    return Path(chosen) if chosen else platformdirs.user_data_path("netherite-tui", appauthor=False) / "runs"


def run_folders(folder: Path) -> list[Path]:
    """Returns the folders of all runs, newest first; none when the folder does not exist.

    Raises:
        BadInput: the folder cannot be read.
    """
    try:
        names = sorted(os.listdir(folder), reverse=True)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise BadInput(f"runs folder {folder}: {error.strerror}") from None
    return [folder / name for name in names if (folder / name / MANIFEST).is_file()]


def find_run(folder: Path, name: str) -> Path:
    """Returns the folder of the run called by an id, a unique prefix of one, or `last`.

    Raises:
        BadInput: no run, or several, are called so.
    """
    found = run_folders(folder)
    if name == LAST and found:
        return found[0]
    matching = [path for path in found if name and path.name.startswith(name)]
    exact = [path for path in matching if path.name == name]
    if len(exact or matching) == 1:
        return (exact or matching)[0]
    if matching:
        raise BadInput(
            f"run {name!r}: expected one run, found {len(matching)}: {', '.join(p.name for p in matching[:4])}"
        )
    raise BadInput(f"run {name!r}: expected an id, a prefix or `last`, found no such run in {folder}")


def new_run_folder(folder: Path) -> Path:
    """Makes and returns the folder of a new run; its name is its id and sorts by time.

    Raises:
        BadInput: it cannot be made.
    """
    path = folder / f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{secrets.token_hex(3)}"
    try:
        (path / LANES).mkdir(parents=True)
    except OSError as error:
        raise BadInput(f"runs folder {folder}: cannot be written: {error.strerror}") from None
    return path


class RunLock:
    """The right to write to a run: one process at a time, given back by the system when it dies."""

    def __init__(self, folder: Path) -> None:
        """Takes the lock.

        Raises:
            Refused: another process has it.
            BadInput: the folder cannot be written.
        """
        try:
            self._file = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise BadInput(f"run {folder.name}: {folder} cannot be written: {error.strerror}") from None
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._file)
            raise Refused(f"run {folder.name}: another process is writing to it") from None

    def release(self) -> None:
        """Gives the lock back; may be called twice."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def remove_run(folder: Path) -> None:
    """Deletes a run.

    Raises:
        Refused: it is being written to, here or perhaps on another host.
        BadInput: it cannot be deleted.
    """
    lock = RunLock(folder)
    try:
        # The manifest goes first: what is left after a failure is no run any more.
        (folder / MANIFEST).unlink()
        shutil.rmtree(folder)
    except OSError as error:
        raise BadInput(f"run {folder.name}: cannot be deleted: {error.strerror}") from None
    finally:
        lock.release()


# ---- writing --------------------------------------------------------------------------------------------------------


def write_manifest(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Writes the manifest atomically; raises `BadInput` when it cannot."""
    write_atomically(folder / MANIFEST, [json.dumps(manifest, indent=1).encode() + b"\n"])


def plan_to_list(plan: Plan) -> list[list[Any]]:
    """Returns the lanes as JSON values."""
    return [
        [lane.stage, lane.seed, lane.attempt, lane.ni, lane.rng_seed, str(lane.snapshot or ""), lane.skip_path]
        for lane in plan.lanes
    ]


def plan_from_list(rows: Sequence[Sequence[Any]]) -> Plan:
    """Returns the lanes `plan_to_list` wrote.

    Raises:
        ValueError, TypeError: something else wrote them.
    """
    for row in rows:
        if [type(value) for value in row] != [int] * 5 + [str] * 2:
            raise ValueError(f"expected 5 whole numbers and 2 texts a lane, found {row}")
    return Plan(
        tuple(
            LanePlan(
                index=index,
                stage=stage,
                seed=seed,
                attempt=attempt,
                held_out=seed in HELD_OUT,
                ni=ni,
                rng_seed=rng_seed,
                snapshot=Path(snapshot) if snapshot else None,
                skip=bool(skip_path),
                skip_path=skip_path,
            )
            for index, (stage, seed, attempt, ni, rng_seed, snapshot, skip_path) in enumerate(rows)
        )
    )


def event_frame(event: Event) -> dict[str, Any]:
    """Returns an event as a journal frame."""
    return {"kind": "event", "n": event.n, "time": event.time, "what": event.kind, "lane": event.lane} | {
        "text": event.text,
        "data": event.data,
    }


def result_frame(result: LaneResult, key: str) -> dict[str, Any]:
    """Returns a result as a journal frame, without what lies in the lane's folder; `key` is its `lane_key`."""
    values = asdict(result)
    return {"kind": "result", "key": key} | {name: values[name] for name in _JOURNALLED}


def lane_folder(folder: Path, index: int) -> Path:
    """Returns the folder of one lane."""
    return folder / LANES / f"{index:02d}"


def write_lane_files(folder: Path, result: LaneResult) -> None:
    """Writes what a lane left behind; files of an earlier try to run it are replaced or removed.

    Raises:
        OSError, BadInput: they cannot be written.
    """
    home = lane_folder(folder, result.index)
    for made in (home.parent, home):  # never the run's folder itself: one that was deleted must not come back in part
        made.mkdir(exist_ok=True)
    for name, field in LANE_FILES.items():
        data = getattr(result, field)
        if data:
            write_atomically(home / name, [data])
        else:
            (home / name).unlink(missing_ok=True)


# ---- reading --------------------------------------------------------------------------------------------------------


def read_manifest(folder: Path) -> dict[str, Any]:
    """Returns a run's manifest.

    Raises:
        BadInput: it is missing, damaged, or of another format.
    """
    path = folder / MANIFEST
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        json.dumps(manifest, ensure_ascii=False).encode(
            errors="surrogateescape"
        )  # an escape may stand for half a character
    except OSError as error:
        raise BadInput(f"manifest {path}: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise BadInput(f"manifest {path}: expected JSON, found something else") from None
    found = manifest.get("format") if isinstance(manifest, dict) else None
    if found != FORMAT:
        raise BadInput(f"manifest {path}: expected format {FORMAT}, found {found!r}")
    for name, (fits, expected) in _MANIFEST_SHAPE.items():
        if name in manifest and not fits(manifest[name]):
            raise BadInput(f"manifest {path}: {name}: expected {expected}, found {str(manifest[name])[:80]!r}")
    return dict(manifest)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and "\0" not in value


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _is_text_by_name(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(one, str) for one in value.values())


def _is_time(value: Any) -> bool:
    return isinstance(value, int | float) and 0 <= value < 1e11  # what a calendar can show


def _is_config(value: Any) -> bool:
    return isinstance(value, dict) and all(_is_texts(value.get(name, [])) for name in ("lane_args", "faults"))


def _is_engine(value: Any) -> bool:
    return isinstance(value, dict) and all(_is_text(value.get(name, "")) for name in ("host", "start", "socket"))


#: What the parts of a manifest must be, where they are there; lanes and settings are looked at by who reads them.
_MANIFEST_SHAPE: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "created": (_is_time, "unix seconds"),
    "config": (_is_config, "settings by name"),
    "origins": (_is_text_by_name, "texts by name"),
    "argv": (_is_texts, "a list of texts"),
    "directory": (_is_text, "a path"),
    "versions": (_is_text_by_name, "texts by name"),
    "hashes": (_is_text_by_name, "texts by name"),
    "notes": (_is_texts, "a list of texts"),
    "engine": (_is_engine, "host, boot_id, pid, start and socket"),
}


def _result_of(frame: Mapping[str, Any], index: int) -> LaneResult:
    values = {name: frame[name] for name in _JOURNALLED if name in frame}
    values["index"] = index
    values["outcome"] = Outcome(values["outcome"])
    for name in ("milestone_decisions", "later_mismatches"):
        values[name] = tuple(tuple(one) if isinstance(one, list) else one for one in values.get(name, ()))
    return LaneResult(**values)


def _results(plan: Plan, hashes: Mapping[str, str], journal: JournalContent) -> dict[int, LaneResult]:
    by_key = {provenance.lane_key(lane, hashes): lane.index for lane in plan.lanes}
    found = {}
    for frame in frames_of_kind(journal.frames, "result"):
        index = by_key.get(frame["key"])
        if index is not None:
            found[index] = _result_of(frame, index)
    return dict(sorted(found.items()))


def _events(journal: JournalContent) -> tuple[Event, ...]:
    frames = frames_of_kind(journal.frames, "event")
    return tuple(
        Event(n, frame["time"], frame["what"], frame["lane"], frame["text"], frame["data"])
        for n, frame in enumerate(frames)
    )


@dataclass(frozen=True)
class StoredRun:
    """A run as its folder tells it. It may be alive: reading takes no lock."""

    folder: Path
    manifest: Mapping[str, Any]
    config: LadderConfig
    plan: Plan
    journal: JournalContent
    #: the newest result of each lane, by index, without what lies in the lanes' folders
    results: Mapping[int, LaneResult]
    #: what happened, in order, numbered anew over all times it was resumed
    events: tuple[Event, ...]

    @property
    def id(self) -> str:
        """The run's id."""
        return self.folder.name

    @property
    def engine(self) -> Mapping[str, Any]:
        """Who writes or wrote it: host, boot_id, pid, start, socket."""
        found: Mapping[str, Any] = self.manifest.get("engine", {})
        return found

    @property
    def host(self) -> str:
        """The host it ran on."""
        return str(self.engine.get("host", ""))

    @property
    def notes(self) -> list[str]:
        """Further `# ` lines of its report."""
        return list(self.manifest.get("notes", []))

    @property
    def end(self) -> Mapping[str, Any] | None:
        """The frame of its last end in good order, None while it runs or when its engine died."""
        last = self.journal.frames[-1] if self.journal.frames else {}
        return last if last.get("kind") == "end" else None

    @property
    def state(self) -> RunState:
        """How it stands, judged from this host."""
        if self.end is not None:
            done = all(lane.index in self.results for lane in self.plan.lanes)
            return RunState.FINISHED if done else RunState.STOPPED
        if not provenance.is_here(self.engine):
            return RunState.ELSEWHERE
        return RunState.RUNNING if provenance.is_alive(self.engine) else RunState.GONE

    @property
    def started(self) -> float:
        """When it was first started, unix seconds."""
        return float(self.manifest.get("created", 0.0))

    @property
    def headline(self) -> str:
        """`MATCH n/N` of a replay, `best NAME` else."""
        ran = [lane for lane in self.plan.lanes if not lane.skip]
        found = self.results
        if self.config.is_replay and self.config.has_magma:
            matches = sum(found[lane.index].outcome == Outcome.MATCH for lane in ran if lane.index in found)
            return f"MATCH {matches}/{len(ran)}"
        best = max((result.reached for result in found.values()), default=-1)
        return f"best {NAMES[best]}" if best >= 0 else "best -"

    def report(self) -> str:
        """Returns its tables as far as they are known."""
        return render_report(self.config, self.plan, self.results, self.notes)

    def full_result(self, index: int) -> LaneResult | None:
        """Returns a lane's result with what lies in its folder (missing files read as empty); None without one."""
        result = self.results.get(index)
        if result is None:
            return None
        values = {one.name: getattr(result, one.name) for one in fields(LaneResult)}
        for name, field in LANE_FILES.items():
            with contextlib.suppress(OSError):
                values[field] = (lane_folder(self.folder, index) / name).read_bytes()
        return LaneResult(**values)

    def views(self) -> tuple[LaneView, ...]:
        """Returns one view a lane as the folder tells it, without records."""
        return tuple(self._view(lane) for lane in self.plan.lanes)

    def _view(self, lane: LanePlan) -> LaneView:
        view = LaneView(lane.index, lane.stage, lane.seed, lane.attempt, lane.held_out, lane.ni, self.config.decisions)
        result = self.results.get(lane.index)
        if result is None:
            return view
        return replace(view, version=1, **ended_fields(result))


def load_run(folder: Path) -> StoredRun:
    """Returns a run as its folder tells it.

    Raises:
        BadInput: manifest or journal cannot be read.
        JournalDamaged: the journal is damaged before its last frame.
    """
    manifest = read_manifest(folder)
    try:
        config, plan = config_from_dict(manifest["config"]), plan_from_list(manifest["lanes"])
        _ = {name: str(value) for name, value in manifest["hashes"].items()}
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadInput(f"manifest {folder / MANIFEST}: not whole ({type(error).__name__}: {error})") from None
    try:
        journal = read_journal(folder / JOURNAL)
    except FileNotFoundError:
        journal = JournalContent((), 0, 0)
    except OSError as error:
        raise BadInput(f"journal {folder / JOURNAL}: {error.strerror}") from None
    try:
        results, events = _results(plan, manifest["hashes"], journal), _events(journal)
    except (KeyError, TypeError, ValueError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise BadInput(f"journal {folder / JOURNAL}: a frame is not of this version ({reason})") from None
    return StoredRun(folder, manifest, config, plan, journal, results, events)


@dataclass(frozen=True)
class RunSummary:
    """One line of the list of runs; a run that cannot be read is listed with the reason."""

    id: str
    folder: Path
    state: RunState
    name: str = ""  #: checkpoint's file name, or the policy
    mode: str = ""  #: backend and transfer
    headline: str = ""
    ended: int = 0  #: lanes with a result or lost
    lanes: int = 0
    started: float = 0.0  #: unix seconds
    host: str = ""
    trouble: str = ""


def summarize(folder: Path) -> RunSummary:
    """Returns what a list of runs says of one; never raises for a damaged one."""
    try:
        run = load_run(folder)
        config = run.config
        return RunSummary(
            id=run.id,
            folder=folder,
            state=run.state,
            name=os.path.basename(config.checkpoint) if config.policy == "net" else config.policy,
            mode=f"{config.backend} {config.transfer}",
            headline=run.headline,
            ended=len(run.results),
            lanes=len(run.plan.lanes),
            started=run.started,
            host=run.host,
        )
    except (BadInput, JournalDamaged) as error:
        return RunSummary(folder.name, folder, RunState.DAMAGED, trouble=str(error))
