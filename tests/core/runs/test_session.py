"""Sessions in this process: a slow disk, two writers, results found again by what lanes depend on."""

import os
import shutil
import threading
import time
from pathlib import Path

import pytest

from core.errors import BadInput, ExitCode, Refused
from core.ladder.config import Resolved, resolve
from core.ladder.events import Outcome
from core.runs import store
from core.runs.session import Session
from tests.commandline import make_toy

PATIENCE_S = 120.0


def _resolved(folder: Path, seeds: tuple[int, ...], *toy_options: str, **values: str) -> Resolved:
    options = dict(option.removeprefix("--").split("=", 1) for option in make_toy(folder, seeds, *toy_options))
    flags = {name.replace("-", "_"): value for name, value in options.items()}
    return resolve([("flag", flags | {"tries": "1", "ep_ticks": "40"} | values)])


def _run(session: Session) -> ExitCode:
    session.start()
    assert session.wait(PATIENCE_S)
    return session.finish()


def test_a_slow_fsync_never_slows_a_lane(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    release = threading.Event()
    real = os.fsync

    def slow_fsync(number: int) -> None:
        if threading.current_thread().name == "journal":
            assert release.wait(PATIENCE_S)
        real(number)

    monkeypatch.setattr(os, "fsync", slow_fsync)
    session = Session.create(_resolved(tmp_path, (2, 3, 10), tries="2"), runs_dir=tmp_path / "runs")
    session.start()
    assert session.wait(PATIENCE_S)  # every lane has ended while not one result is safely on the disk
    assert len(session.results()) == 6
    release.set()
    assert session.finish() == ExitCode.OK
    stored = store.load_run(session.folder)
    assert {index: result.comparable() for index, result in session.results().items()} == {
        index: stored.full_result(index).comparable() for index in stored.results
    }
    assert stored.state == store.RunState.FINISHED


def test_events_are_numbered_on_over_a_resume(tmp_path: Path) -> None:
    resolved = _resolved(tmp_path, (2, 3), "--misbehave=exit0", "--at=20", "--only-seed=3", retries="0")
    session = Session.create(resolved, runs_dir=tmp_path / "runs")
    assert _run(session) == ExitCode.LANES_LOST
    again = Session.reopen(session.folder)
    assert again.results()[0].outcome == Outcome.DONE
    assert again.is_unfinished()
    assert _run(again) == ExitCode.LANES_LOST
    events = store.load_run(session.folder).events
    assert [event.n for event in events] == list(range(len(events)))
    assert sum(event.kind == "run-start" for event in events) == 2
    assert sorted(event.lane for event in events if event.kind == "outcome") == [0, 1, 1]


def test_two_sessions_of_one_run_are_refused(tmp_path: Path) -> None:
    session = Session.create(_resolved(tmp_path, (2,)), runs_dir=tmp_path / "runs")
    with pytest.raises(Refused, match="another process is writing to it"):
        Session.reopen(session.folder)
    session.finish()
    reopened = Session.reopen(session.folder)
    assert _run(reopened) == ExitCode.OK


def test_the_lock_falls_with_its_process(tmp_path: Path) -> None:
    pid = os.fork()
    if pid == 0:
        store.RunLock(tmp_path)
        os._exit(0)
    os.waitpid(pid, 0)
    lock = store.RunLock(tmp_path)
    with pytest.raises(Refused):
        store.RunLock(tmp_path)
    lock.release()
    store.RunLock(tmp_path).release()


def test_a_run_before_its_first_lane_is_stopped_cleanly(tmp_path: Path) -> None:
    session = Session.create(_resolved(tmp_path, (2, 3)), runs_dir=tmp_path / "runs")
    session.start()
    session.stop()
    assert session.finish() in (ExitCode.LANES_LOST, ExitCode.OK)
    assert store.load_run(session.folder).state in (store.RunState.STOPPED, store.RunState.FINISHED)


def test_a_damaged_journal_is_refused_with_its_offset(tmp_path: Path) -> None:
    session = Session.create(_resolved(tmp_path, (2,)), runs_dir=tmp_path / "runs")
    assert _run(session) == ExitCode.OK
    path = session.folder / store.JOURNAL
    data = bytearray(path.read_bytes())
    data[20] ^= 1
    path.write_bytes(data)
    with pytest.raises(Refused, match=r"damaged at byte 0;"):
        Session.reopen(session.folder)
    summary = store.summarize(session.folder)
    assert summary.state == store.RunState.DAMAGED
    assert "damaged at byte 0" in summary.trouble


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "expected JSON"),
        ("[]", "expected format 1, found None"),
        ("{}", "expected format 1, found None"),
        ('{"format": 2}', "expected format 1, found 2"),
        ('{"format": 1}', "not whole"),
        ('{"format": 1, "config": {}, "lanes": 3, "hashes": {}}', "not whole"),
        ('{"format": 1, "config": {"trise": 1}, "lanes": [], "hashes": {}}', "unknown key 'trise'"),
        ('{"format": 1, "config": {}, "lanes": [], "hashes": []}', "hashes: expected texts by name"),
    ],
)
def test_a_bad_manifest_is_one_line(tmp_path: Path, text: str, complaint: str) -> None:
    (tmp_path / store.MANIFEST).write_text(text)
    with pytest.raises(BadInput) as caught:
        store.load_run(tmp_path)
    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)


def test_finding_a_run(tmp_path: Path) -> None:
    for name in ("20260101-000000-aaaaaa", "20260101-000001-bbbbbb", "20260102-000000-cccccc"):
        (tmp_path / name).mkdir()
        (tmp_path / name / store.MANIFEST).touch()
    (tmp_path / "20260103-000000-dddddd").mkdir()  # no manifest: no run
    assert store.find_run(tmp_path, "last").name == "20260102-000000-cccccc"
    assert store.find_run(tmp_path, "20260102").name == "20260102-000000-cccccc"
    assert store.find_run(tmp_path, "20260101-000001-bbbbbb").name == "20260101-000001-bbbbbb"
    with pytest.raises(BadInput, match="expected one run, found 2: 20260101-000001-bbbbbb, 20260101-000000-aaaaaa"):
        store.find_run(tmp_path, "20260101")
    for name in ("", "nope", "20260103"):
        with pytest.raises(BadInput, match="found no such run in"):
            store.find_run(tmp_path, name)


def test_where_runs_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETHERITE_RUNS", str(tmp_path / "environment"))
    assert store.runs_dir() == tmp_path / "environment"
    assert store.runs_dir(tmp_path / "option") == tmp_path / "option"
    monkeypatch.delenv("NETHERITE_RUNS")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert store.runs_dir().name == "runs"


def test_the_report_of_an_hour_ago_is_still_the_same(tmp_path: Path) -> None:
    begun = time.time()
    session = Session.create(_resolved(tmp_path, (2, 11)), runs_dir=tmp_path / "runs")
    assert _run(session) == ExitCode.OK
    stored = store.load_run(session.folder)
    assert stored.report() == session.report() == (session.folder / store.REPORT).read_text()
    assert begun <= stored.started <= time.time()


def test_a_disk_that_hangs_is_left_behind_when_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    release = threading.Event()
    real = os.fsync

    def hung_fsync(number: int) -> None:
        if threading.current_thread().name == "journal":
            release.wait(PATIENCE_S)
        real(number)

    session = Session.create(_resolved(tmp_path, (2,)), runs_dir=tmp_path / "runs")
    monkeypatch.setattr(os, "fsync", hung_fsync)
    session.start()
    assert session.wait(PATIENCE_S)
    begun = time.monotonic()
    assert session.finish(hurry=lambda: True) == ExitCode.OK
    assert time.monotonic() - begun < 30.0
    assert session.report().startswith("# policy random:3\n")
    release.set()


def test_what_cannot_be_written_at_the_start_is_one_line(tmp_path: Path) -> None:
    session = Session.create(_resolved(tmp_path, (2,)), runs_dir=tmp_path / "runs")
    session._journal.close()  # stands for a disk that went away between the two
    with pytest.raises(BadInput, match=r"^run \S+: \S+ cannot be written: Bad file descriptor$"):
        session.start()
    session.finish()


def test_a_run_whose_folder_is_deleted_stops_and_says_so(tmp_path: Path) -> None:
    session = Session.create(_resolved(tmp_path, (2, 3)), runs_dir=tmp_path / "runs")
    shutil.rmtree(session.folder)
    session.start()
    assert session.wait(60.0)
    assert session.finish() == ExitCode.LANES_LOST
    assert session.failure.startswith(f"run {session.id} was stopped: its folder {session.folder} cannot be written: ")
    assert "\n" not in session.failure
    assert not session.folder.exists()
