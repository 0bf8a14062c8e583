"""Steering a detached run from another terminal, as a person would, and what is refused."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from core.host.processes import RUN_ID_VARIABLE
from core.ladder.events import LaneState, Outcome
from core.runs import store
from core.runs.remote import ControlClient, client_of
from core.runs.store import RunState
from tests.commandline import PATIENCE_S, environment, living_lanes, make_toy, netherite


def wait_for(what: Callable[[], object]) -> object:
    deadline = time.monotonic() + PATIENCE_S
    while not (found := what()):
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)
    return found


@pytest.fixture
def runs(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "runs"
    yield folder
    for path in store.run_folders(folder):
        if store.load_run(path).state is RunState.RUNNING:
            netherite(folder, "stop", path.name)
    assert living_lanes(folder) == []


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A runs folder with one run of one lane that has ended."""
    folder = tmp_path_factory.mktemp("finished")
    netherite(folder / "runs", "run", *make_toy(folder, (2,)), "--tries=1", "--ep-ticks=8")
    return folder / "runs"


def detached(runs: Path, *options: str) -> store.StoredRun:
    """Starts a run in the background and returns it once its lanes move."""
    done = netherite(runs, "run", "--detach", *options)
    assert done.returncode == 0, done.stderr
    return store.load_run(runs / done.stdout.strip())


def long_run(tmp_path: Path, runs: Path, *toy: str, options: tuple[str, ...] = ()) -> store.StoredRun:
    seeds = make_toy(tmp_path, (2, 3), *toy)
    return detached(runs, *seeds, "--tries=2", "--ep-ticks=4000000", "--jobs=2", *options)


def lane_states(run: store.StoredRun) -> dict[str, LaneState | Outcome]:
    client = client_of(store.load_run(run.folder))
    client.connect()
    try:
        wait_for(lambda: len(client.views()) == len(run.plan.lanes))
        return {f"{view.seed}:{view.attempt}": view.outcome or view.state for view in client.views()}
    finally:
        client.close()


def test_kill_pause_resume_and_stop(tmp_path: Path, runs: Path) -> None:
    run = long_run(tmp_path, runs)
    wait_for(lambda: list(lane_states(run).values()).count(LaneState.RUNNING) == 2)
    killed = netherite(runs, "kill", "last", "2:0")
    assert (killed.returncode, killed.stdout) == (0, f"killed 2:0 of run {run.id}\n")
    wait_for(lambda: lane_states(run)["2:0"] == Outcome.KILLED)
    wait_for(lambda: lane_states(run)["3:0"] == LaneState.RUNNING)
    again = netherite(runs, "kill", "last", "2:0")
    assert (again.returncode, again.stdout) == (4, "")
    assert again.stderr == f"netherite-tui: run {run.id}: nothing to do, 2:0 (KILLED) ended already\n"
    assert netherite(runs, "kill", "last", "--stuck").stdout == f"no lane of run {run.id} is stuck\n"
    assert netherite(runs, "pause", run.id, "3:0").stdout == f"paused 3:0 of run {run.id}\n"
    wait_for(lambda: lane_states(run)["3:0"] == LaneState.PAUSED)
    assert netherite(runs, "resume", run.id[:-2]).stdout == f"resumed all lanes of run {run.id}\n"
    wait_for(lambda: lane_states(run)["3:0"] == LaneState.RUNNING)
    stopped = netherite(runs, "stop", "last")
    assert stopped.returncode == 0
    assert stopped.stdout.endswith(f"go on with: netherite-tui run --resume {run.id}\n")
    after = store.load_run(run.folder)
    assert after.state is RunState.STOPPED
    assert [result.outcome for result in after.results.values()] == [Outcome.KILLED]
    again = netherite(runs, "stop", "last")
    assert again.returncode == 4
    assert again.stderr.startswith(f"netherite-tui: run {run.id} is stopped: no engine drives it")


def test_kill_all_ends_the_run(tmp_path: Path, runs: Path) -> None:
    run = long_run(tmp_path, runs)
    assert netherite(runs, "kill", "last", "--all").returncode == 0
    wait_for(lambda: store.load_run(run.folder).state is RunState.FINISHED)
    results = store.load_run(run.folder).results
    assert {result.outcome for result in results.values()} == {Outcome.KILLED}
    assert len(results) == 4


def test_kill_stuck(tmp_path: Path, runs: Path) -> None:
    hanging = ("--misbehave=hang", "--at=20", "--only-seed=3")
    run = long_run(tmp_path, runs, *hanging, options=("--stuck=ask", "--step-timeout=1", "--jobs=4", "--ep-ticks=80"))
    wait_for(lambda: list(lane_states(run).values()).count(LaneState.STUCK) == 2)
    assert netherite(runs, "kill", "last", "--stuck").stdout == f"killed 3:0, 3:1 of run {run.id}\n"
    wait_for(lambda: store.load_run(run.folder).state is RunState.FINISHED)
    outcomes = {lane.name: store.load_run(run.folder).results[lane.index].outcome for lane in run.plan.lanes}
    assert outcomes["2:0"] == outcomes["2:1"] == Outcome.DONE
    assert outcomes["3:0"] == outcomes["3:1"] == Outcome.KILLED


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (("kill", "last"), 2, "expected lanes (SEED:TRY), or --stuck, or --all"),
        (("kill", "last", "2:0", "--stuck"), 2, "expected lanes"),
        (("kill", "last", "2:7"), 2, "lane '2:7': run "),
        (("kill", "last", "two"), 2, "lane 'two': expected SEED:TRY, SEED or STAGE/SEED:TRY"),
        (("pause", "last", "4/2:0"), 2, "lane '4/2:0': run "),
        (("pause", "last", "2:0"), 4, "is finished: no engine drives it"),
        (("resume", "nothing"), 2, "run 'nothing': expected an id, a prefix or `last`"),
        (("stop", "last"), 4, "is finished"),
    ],
)
def test_what_cannot_be_done_is_one_line(finished: Path, arguments: tuple[str, ...], code: int, text: str) -> None:
    done = netherite(finished, *arguments)
    assert done.returncode == code
    assert text in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_run_of_another_host_says_how_to_reach_it(tmp_path: Path, runs: Path) -> None:
    run = long_run(tmp_path, runs)
    engine = {**run.manifest["engine"], "host": "elsewhere"}
    (runs / "20000101-000000-aaa").mkdir()
    store.write_manifest(runs / "20000101-000000-aaa", {**run.manifest, "engine": engine})
    done = netherite(runs, "stop", "2000")
    assert done.returncode == 4
    assert "belongs to host elsewhere: ssh -t elsewhere netherite-tui watch 20000101-000000-aaa" in done.stderr


def test_the_socket_is_gone_with_the_run(tmp_path: Path, runs: Path) -> None:
    run = long_run(tmp_path, runs)
    socket = Path(wait_for(lambda: store.load_run(run.folder).engine.get("socket")))
    client = ControlClient(socket)
    client.connect()
    assert client.facts["id"] == run.id
    assert netherite(runs, "stop", "last").returncode == 0
    assert client.wait_end(PATIENCE_S)
    assert client.ended == "the run has ended"
    assert [event.kind for event in client.events_since(0)][-1] == "run-end"
    client.close()
    assert not socket.exists()


def test_reap_ends_what_a_dead_run_left_behind_and_nothing_else(tmp_path: Path, runs: Path) -> None:
    netherite(runs, "run", *make_toy(tmp_path, (2,)), "--tries=1", "--ep-ticks=8")
    (folder,) = store.run_folders(runs)
    sleeper = [sys.executable, "-S", "-E", "-c", "import time; time.sleep(600)"]
    mine = subprocess.Popen(sleeper, env={**environment(runs), RUN_ID_VARIABLE: folder.name})
    foreign = subprocess.Popen(sleeper, env={**os.environ, RUN_ID_VARIABLE: "20000101-000000-zzz"})
    try:
        done = netherite(runs, "reap")
        assert done.returncode == 0
        assert f"ended pid {mine.pid}\n1 processes ended\n" in done.stdout
        assert f"left alone: pid {foreign.pid} of run 20000101-000000-zzz, which is not in {runs}" in done.stdout
        assert mine.wait(PATIENCE_S) != 0
        assert foreign.poll() is None
        assert netherite(runs, "reap", "last").stdout == "nothing to reap\n"
    finally:
        for process in (mine, foreign):
            process.kill()
            process.wait(PATIENCE_S)


def test_reap_refuses_a_living_run(tmp_path: Path, runs: Path) -> None:
    run = long_run(tmp_path, runs)
    done = netherite(runs, "reap", "last")
    assert done.returncode == 4
    assert f"run {run.id} is alive: use kill or stop" in done.stderr
