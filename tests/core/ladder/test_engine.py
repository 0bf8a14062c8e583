"""The engine with real lane processes: outcomes of every misbehaviour, slots, kill, pause, retry, stop."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from core.host import memory
from core.host.processes import leftovers
from core.ladder.config import ALL_JOBS, LadderConfig
from core.ladder.deadlines import ASK_PATIENCE_S
from core.ladder.engine import Engine
from core.ladder.events import LaneResult, LaneState, Outcome
from core.ladder.plan import make_plan
from core.policy.controls import controller_factory
from tests.toys import toy_library, toy_program, toy_snapshot

SEEDS = (2, 3, 10)
BAD = 3  #: the seed that misbehaves
BAD_LANES = (2, 3)
PATIENCE_S = 60.0
RUN = f"engine-test-{os.getpid()}"  #: no other test process has children of this name


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where this module's library is compiled."""
    return tmp_path_factory.mktemp("engine")


Make = Callable[..., Engine]


def start_engine(folder: Path, library: Path, bad: tuple[str, ...], words: str, **settings: Any) -> Engine:
    """Starts an engine over 3 seeds x 2 tries of the toy world.

    Args:
        folder: for snapshots and the program. library: the compiled one.
        bad: lane arguments that only seed `BAD` follows. words: what its snapshot tells the library.
        settings: of the config, and `results` for the engine.
    """
    for seed in SEEDS:
        toy_snapshot(folder, seed, words if seed == BAD else "")
    defaults: dict[str, Any] = {
        "backend": "magma",
        "transfer": "replay",
        "policy": "random",
        "seeds": SEEDS,
        "tries": 2,
        "ep_ticks": 160,
        "retries": 0,
        "step_timeout_s": 20.0,
        "start_timeout_s": 20.0,
    }
    results = settings.pop("results", None)
    config = LadderConfig(
        **defaults | settings,
        snaps_dir=str(folder),
        magma_bin=str(toy_program(folder)),
        blaze_lib=str(library),
        lane_args=(*bad, "--only-seed", str(BAD)) if bad else (),
    )
    controllers = controller_factory(config.policy)
    engine = Engine(config, make_plan(config), controllers, run_id=f"{RUN}-{folder.name}", results=results)
    engine.start()
    return engine


@pytest.fixture
def make(built: Path, tmp_path: Path) -> Iterator[Make]:
    """Returns a maker of started engines (see `start_engine`); all are stopped at the end."""
    engines = []

    def start(*bad: str, words: str = "", **settings: Any) -> Engine:
        engines.append(start_engine(tmp_path, toy_library(built), bad, words, **settings))
        return engines[-1]

    yield start
    for engine in engines:
        engine.stop(save=False)


def until(condition: Callable[[], bool], patience_s: float = PATIENCE_S) -> bool:
    """Polls until the condition holds; False when it never did."""
    give_up = time.monotonic() + patience_s
    while not condition():
        if time.monotonic() > give_up:
            return False
        time.sleep(0.02)
    return True


def states(engine: Engine) -> list[str]:
    return [str(view.outcome or view.state) for view in engine.views()]


def kinds(engine: Engine, lane: int) -> list[str]:
    return [event.kind for event in engine.events_since(0) if event.lane == lane and event.kind != "milestone"]


def healthy(engine: Engine) -> list[tuple[Any, ...]]:
    """Returns what may not depend on the misbehaving lanes."""
    return [result.comparable() for index, result in sorted(engine.results().items()) if index not in BAD_LANES]


@pytest.fixture(scope="module")
def reference(built: Path, tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Any, ...]]:
    """What the healthy lanes give when nobody misbehaves."""
    engine = start_engine(tmp_path_factory.mktemp("reference"), toy_library(built), (), "")
    assert engine.wait(PATIENCE_S)
    engine.stop()
    assert states(engine) == ["MATCH"] * 6
    return healthy(engine)


QUICK = {"step_timeout_s": 1.0}
MISBEHAVIOURS = [
    (("hang-start",), {"start_timeout_s": 1.0}, Outcome.TIMEOUT, "no first record for 1 s (pid "),
    (("hang", "--at", "42"), QUICK, Outcome.TIMEOUT, "no record for 1 s (pid "),
    (("stubborn", "--at", "42"), QUICK, Outcome.TIMEOUT, "no record for 1 s (pid "),
    (("fork", "--at", "42"), QUICK, Outcome.TIMEOUT, "no record for 1 s (pid "),
    (("late", "--at", "42", "--late-s", "3"), QUICK, Outcome.TIMEOUT, "no record for 1 s (pid "),
    (("die-mid-record", "--at", "42"), {}, Outcome.CRASHED, "lane process ended inside a record (5000 of 14628"),
    (("exit0", "--at", "42"), {}, Outcome.CRASHED, "lane process ended: exit code 0"),
    (("segfault", "--at", "42"), {}, Outcome.CRASHED, "lane process ended: killed by SIGSEGV"),
    (("longer",), {}, Outcome.CRASHED, "record is 14640 bytes, expected 14628"),
    (("garbage", "--at", "42"), {}, Outcome.CRASHED, "record is 14630 bytes, expected 14628"),
    (("exit0", "--at", "0"), {}, Outcome.FAILED, "no first record: lane process ended: exit code 0"),
    (("flood", "--at", "42"), {}, Outcome.MATCH, ""),
]


@pytest.mark.parametrize(("how", "settings", "outcome", "note"), MISBEHAVIOURS, ids=[m[0][0] for m in MISBEHAVIOURS])
def test_what_a_misbehaving_lane_is_called_and_that_no_other_lane_changes(
    make: Make,
    reference: list[tuple[Any, ...]],
    how: tuple[str, ...],
    settings: dict[str, Any],
    outcome: Outcome,
    note: str,
) -> None:
    engine = make("--misbehave", *how, **settings)
    assert engine.wait(PATIENCE_S)
    for lane in BAD_LANES:
        result = engine.results()[lane]
        assert result.outcome == outcome
        assert result.note.startswith(note)
    assert healthy(engine) == reference
    assert until(lambda: not [one for one in leftovers() if one.run_id.startswith(RUN)], 10.0)


def test_lost_lanes_are_tried_again(make: Make) -> None:
    engine = make("--misbehave", "exit0", "--at", "42", retries=2)
    assert engine.wait(PATIENCE_S)
    assert kinds(engine, BAD_LANES[0]) == ["started", "retry", "started", "retry", "started", "outcome"]
    assert engine.results()[BAD_LANES[0]].runs == 3
    assert engine.results()[0].runs == 1


def test_a_divergence_is_a_result_and_never_tried_again(make: Make) -> None:
    engine = make("--off-by-one-at", "42", retries=3)
    assert engine.wait(PATIENCE_S)
    lanes = [index for index, result in engine.results().items() if result.outcome is Outcome.DIVERGE]
    assert lanes  # the option reaches every seed
    assert all(engine.results()[lane].runs == 1 for lane in lanes)


@pytest.mark.parametrize("jobs", [1, 2, ALL_JOBS])
def test_jobs_change_nothing_but_time(make: Make, reference: list[tuple[Any, ...]], jobs: int) -> None:
    engine = make(jobs=jobs)
    assert engine.wait(PATIENCE_S)
    assert healthy(engine) == reference


def test_never_more_lanes_than_jobs(make: Make) -> None:
    engine = make(jobs=1)
    busy = 0
    while not engine.wait(0.005):
        busy = max(busy, sum(1 for entry in engine._entries if entry.attempt is not None))
    assert busy == 1


def test_a_stuck_lane_gives_its_slot_away_and_is_killed_by_hand(make: Make) -> None:
    engine = make("--misbehave", "hang", "--at", "42", jobs=1, stuck="ask", **QUICK)
    assert until(lambda: states(engine) == ["MATCH", "MATCH", "STUCK", "STUCK", "MATCH", "MATCH"])
    assert not engine.wait(0.0)
    assert engine.kill_stuck() == 2
    assert engine.wait(PATIENCE_S)
    assert states(engine)[2] == "KILLED"
    assert kinds(engine, 2) == ["started", "stuck", "killed", "outcome"]
    assert engine.kill_stuck() == 0


def test_a_stuck_lane_that_answers_after_all_goes_on(make: Make) -> None:
    engine = make("--misbehave", "late", "--at", "42", "--late-s", "2.5", stuck="ask", **QUICK)
    assert engine.wait(PATIENCE_S)
    assert states(engine) == ["MATCH"] * 6
    assert kinds(engine, 2) == ["started", "stuck", "resumed", "outcome"]


def test_asking_ends_after_five_minutes(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    assert ASK_PATIENCE_S == 300.0
    monkeypatch.setattr("core.ladder.deadlines.ASK_PATIENCE_S", 0.5)
    engine = make("--misbehave", "hang", "--at", "42", stuck="ask", **QUICK)
    assert engine.wait(PATIENCE_S)
    assert states(engine)[2] == "TIMEOUT"


def test_a_whole_lane_may_have_a_deadline(make: Make) -> None:
    engine = make("--misbehave", "hang", "--at", "42", lane_timeout_s=2.0)
    assert engine.wait(PATIENCE_S)
    assert engine.results()[2].note == "lane took more than 2 s"
    assert states(engine)[2] == "TIMEOUT"


def test_a_library_call_that_never_returns_is_given_up(make: Make, reference: list[tuple[Any, ...]]) -> None:
    engine = make(words="hang-at 42", **QUICK)
    assert engine.wait(PATIENCE_S)
    result = engine.results()[2]
    assert (result.outcome, result.note) == (Outcome.TIMEOUT, "a call into blaze did not return for 1 s")
    assert result.decisions == 9
    assert healthy(engine) == reference
    began = time.monotonic()
    engine.stop()
    assert time.monotonic() - began < 10.0


def test_kill_running_waiting_and_ended(make: Make) -> None:
    engine = make("--misbehave", "hang", "--at", "42", jobs=1)
    assert until(lambda: engine.views()[2].decision >= 9)
    engine.kill([0, 2, 5, 99])
    assert until(lambda: engine.views()[2].state is LaneState.ENDED)
    engine.kill([3])
    assert engine.wait(PATIENCE_S)
    assert states(engine) == ["MATCH", "MATCH", "KILLED", "KILLED", "MATCH", "KILLED"]
    assert engine.results()[5].note == "killed before its start"
    assert engine.results()[2].decisions >= 9


def test_retry_by_hand_takes_lost_lanes_only(make: Make, tmp_path: Path) -> None:
    engine = make("--misbehave", "exit0", "--at", "42")
    assert engine.wait(PATIENCE_S)
    before = len(engine.events_since(0))
    engine.retry([0, 2])
    assert not engine.wait(0.0) or engine.results()[2].runs == 2
    assert engine.wait(PATIENCE_S)
    assert until(lambda: engine.results()[2].runs == 2)
    assert engine.results()[0].runs == 1
    after = [event.kind for event in engine.events_since(before)]
    assert after[0] == "retry"
    assert after[-1] == "run-end"


def test_pause_holds_a_lane_its_slot_and_its_deadlines(make: Make) -> None:
    engine = make(jobs=1, ep_ticks=4000, step_timeout_s=0.6)
    assert until(lambda: engine.views()[0].decision > 5)
    engine.pause([0])
    assert engine.views()[0].state is LaneState.PAUSED
    assert until(lambda: engine._entries[0].attempt is not None)
    held = engine._entries[0].attempt
    assert held is not None
    assert held.lane is not None
    lane = held.lane
    assert until(lambda: _stands_still(lane))
    time.sleep(1.5)  # well past the step deadline: what is shown is that nothing comes of it
    assert states(engine) == ["paused"] + ["waiting"] * 5
    engine.resume([0])
    assert until(lambda: engine.views()[0].state is not LaneState.PAUSED)
    assert until(lambda: engine.views()[0].outcome is Outcome.MATCH)
    assert [kind for kind in kinds(engine, 0) if kind != "started"] == ["paused", "resumed", "outcome"]


def _stands_still(lane: Any) -> bool:
    before = lane.decisions
    time.sleep(0.2)
    return bool(lane.decisions == before)


def test_pause_all_and_resume_all(make: Make, reference: list[tuple[Any, ...]]) -> None:
    engine = make(jobs=2, ep_ticks=160)
    engine.pause_all()
    assert states(engine) == ["paused"] * 6
    assert not engine.wait(0.5)
    assert states(engine) == ["paused"] * 6
    engine.resume_all()
    assert engine.wait(PATIENCE_S)
    assert healthy(engine) == reference


def test_a_paused_lane_can_be_killed(make: Make) -> None:
    engine = make(jobs=1, ep_ticks=40000)
    assert until(lambda: engine.views()[0].decision > 5)
    engine.pause([0])
    engine.kill([0])
    assert until(lambda: engine.views()[0].outcome is Outcome.KILLED)


def test_stop_leaves_running_lanes_waiting_and_no_child(make: Make) -> None:
    engine = make(jobs=2, ep_ticks=40000)
    assert until(lambda: sum(view.decision > 5 for view in engine.views()) == 2)
    children = [view.pid for view in engine.views() if view.pid is not None]
    assert len(children) == 2
    engine.stop()
    engine.stop()
    assert engine.wait(0.0)
    assert states(engine) == ["waiting"] * 6
    assert engine.results() == {}
    assert engine.events_since(0)[-1].kind == "run-end"
    assert not any(_lives(pid) for pid in children)


def _lives(pid: int) -> bool:
    with contextlib.suppress(psutil.Error):
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    return False


def test_stop_at_once_with_stubborn_children_is_quick(make: Make) -> None:
    engine = make("--misbehave", "stubborn", "--at", "2", jobs=ALL_JOBS)
    assert until(lambda: sum(view.state is LaneState.RUNNING for view in engine.views()) >= 1)
    began = time.monotonic()
    engine.stop(save=False)
    assert time.monotonic() - began < 10.0
    assert not [one for one in leftovers() if one.run_id.startswith(RUN)]


def test_results_of_an_earlier_run_are_kept(make: Make) -> None:
    kept = LaneResult(2, Outcome.DIVERGE, base=0, reached=1, decisions=40, mismatch_step=3, mismatch="edge")
    engine = make(results={2: kept})
    assert engine.wait(PATIENCE_S)
    assert engine.results()[2] is kept
    assert engine.views()[2].mismatch == "edge"
    assert kinds(engine, 2) == []
    assert engine.events_since(0)[0].data == {"lanes": 5}


def test_views_show_progress_and_both_records(make: Make) -> None:
    engine = make(jobs=1, ep_ticks=400_000)
    assert until(lambda: (view := engine.views()[0]).reference is not None and view.rss_mib is not None)
    view = engine.views()[0]
    assert view.record is not None
    assert len(view.record) == len(view.reference or b"") == 14_628
    assert view.pid is not None
    assert view.rss_mib is not None
    assert 1 < view.rss_mib < 500
    assert until(lambda: bool(engine.views()[0].ticks_per_s))
    assert engine.views()[0].version > view.version
    assert engine.views()[0].action


def test_a_lane_that_has_ended_shows_no_process(make: Make) -> None:
    engine = make(jobs=1, ep_ticks=400_000)
    assert until(lambda: engine.views()[0].rss_mib is not None)
    engine.kill([0])
    assert until(lambda: engine.views()[0].outcome is Outcome.KILLED)
    view = engine.views()[0]
    assert (view.pid, view.rss_mib, view.cpu_percent) == (None, None, None)


def test_events_are_numbered_without_gaps(make: Make) -> None:
    engine = make()
    assert engine.wait(PATIENCE_S)
    events = engine.events_since(0)
    assert [event.n for event in events] == list(range(len(events)))
    assert (events[0].kind, events[-1].kind) == ("run-start", "run-end")
    assert engine.wait_event(len(events) - 1, 0.0)
    assert not engine.wait_event(len(events), 0.01)
    assert engine.events_since(len(events)) == []


def test_short_memory_sends_the_youngest_back_to_wait(
    make: Make, reference: list[tuple[Any, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A requeue is no outcome and uses no retry; the lane later gives what it would have given."""
    plenty = memory.available_bytes()
    monkeypatch.setattr(memory, "available_bytes", lambda: plenty)
    engine = make(jobs=2, ep_ticks=400_000, retries=0)
    assert until(lambda: sum(view.decision > 5 for view in engine.views()) == 2)
    monkeypatch.setattr(memory, "available_bytes", lambda: 0)
    assert until(lambda: any(event.kind == "requeue" for event in engine.events_since(0)))
    assert until(lambda: sum(entry.attempt is not None for entry in engine._entries) == 1)
    time.sleep(0.5)  # memory stays short: nobody starts, and the last lane is not sent away
    requeued = [event.lane for event in engine.events_since(0) if event.kind == "requeue"]
    assert len(requeued) == 1
    assert states(engine).count("running") == 1
    assert states(engine)[requeued[0] or 0] == "waiting"
    monkeypatch.setattr(memory, "available_bytes", lambda: plenty)
    assert until(lambda: sum(entry.attempt is not None for entry in engine._entries) == 2)


DRIVER = """
import sys, time
from pathlib import Path
from core.ladder.config import LadderConfig
from core.ladder.engine import Engine
from core.ladder.plan import make_plan
from core.policy.controls import controller_factory
folder, how, run_id = sys.argv[1:4]
config = LadderConfig(backend="magma", policy="noop", seeds=(2, 3), tries=1, snaps_dir=folder, step_timeout_s=1.5,
                      magma_bin=folder + "/toy_lane", ep_ticks=400_000, retries=0,
                      lane_args=("--misbehave", how, "--at", "42", "--late-s", "1.0"))
engine = Engine(config, make_plan(config), controller_factory("noop"), run_id=run_id)
engine.start()
while sum(view.decision > 2 for view in engine.views()) < 2:
    time.sleep(0.01)
print("running", flush=True)
sys.stdin.read()
if how == "late":
    print([str(view.state) for view in engine.views()], [event.kind for event in engine.events_since(0)], flush=True)
raise RuntimeError("an uncaught error in the main thread")
"""


def drive(folder: Path, how: str) -> "subprocess.Popen[str]":
    """Starts an engine in a process of its own and returns when its lanes run."""
    for seed in (2, 3):
        toy_snapshot(folder, seed)
    toy_program(folder)
    driver = subprocess.Popen(
        [sys.executable, "-c", DRIVER, folder, how, f"{RUN}-driver"],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert driver.stdout is not None
    assert driver.stdout.readline() == "running\n"
    return driver


def test_an_uncaught_error_in_the_program_leaves_no_child(tmp_path: Path) -> None:
    driver = drive(tmp_path, "stubborn")
    assert len(leftovers(f"{RUN}-driver")) >= 2
    _out, err = driver.communicate("", PATIENCE_S)
    assert "an uncaught error in the main thread" in err
    assert until(lambda: not leftovers(f"{RUN}-driver"), 5.0)


def test_time_stopped_does_not_count(tmp_path: Path) -> None:
    """Stopped for longer than the step deadline (Ctrl-Z), with an answer outstanding: nobody is stuck."""
    driver = drive(tmp_path, "late")
    driver.send_signal(signal.SIGSTOP)
    time.sleep(3.0)
    driver.send_signal(signal.SIGCONT)
    out, _err = driver.communicate("", PATIENCE_S)
    assert out == "['running', 'running'] ['run-start', 'started', 'started']\n"
