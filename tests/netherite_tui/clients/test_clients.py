"""The three kinds of run behind a screen, on real engines with toy lanes."""

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from core.errors import BadInput, NetheriteError, Refused
from core.ladder.config import Resolved, resolve
from core.ladder.events import LaneState, Outcome
from core.ladder.warmup import ensure_warm
from core.runs import store
from netherite_tui.clients.attached import AttachedRun
from netherite_tui.clients.finished import FinishedRun
from netherite_tui.clients.live import LiveRun
from netherite_tui.clients.opening import client_of, new_run, resumed_run
from netherite_tui.widgets.preview import differing
from tests.commandline import living_lanes, make_toy, netherite
from tests.toys import toy_library, toy_snapshot

PATIENCE_S = 60.0


@pytest.fixture(autouse=True, scope="module")
def compiled_kernels() -> None:
    """Compiles what is not compiled yet, so that no wait below has to allow for it."""
    ensure_warm(["policy"], lambda _: None)


def wait(met: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not met():
        assert time.monotonic() < deadline, f"not in time: {what}"
        time.sleep(0.02)


def settings(folder: Path, *options: str, ticks: int = 4_000_000, **more: object) -> Resolved:
    words = [option.removeprefix("--").partition("=") for option in make_toy(folder, (1, 2), *options)]
    values = {name.replace("-", "_"): value for name, _, value in words}
    return resolve([("flag", values | {"tries": 1, "jobs": 2, "ep_ticks": ticks} | more)])


def lanes_in(client: LiveRun | AttachedRun, state: LaneState) -> int:
    return sum(view.state is state for view in client.views())


def test_a_live_run_goes_from_preparing_to_saved(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    client = new_run(settings(tmp_path), runs)
    assert client.status().phase == "preparing"
    assert client.views() == ()
    assert client.report() == ""
    with pytest.raises(Refused, match="not begun"):
        client.kill([0])
    client.start()
    wait(lambda: lanes_in(client, LaneState.RUNNING) == 2, "both lanes run")
    status = client.status()
    assert status.phase == "running"
    assert status.budget_mib > 100
    assert client.facts.run_id
    client.kill([0])
    wait(lambda: client.views()[0].outcome is Outcome.KILLED, "lane 0 is killed")
    client.retry([0])
    wait(lambda: lanes_in(client, LaneState.RUNNING) == 2, "both lanes run again")
    client.pause([1])
    wait(lambda: client.views()[1].state is LaneState.PAUSED, "lane 1 is paused")
    client.resume_all()
    client.stop()
    assert client.status().phase == "stopping"
    wait(lambda: client.status().phase == "ended", "it is saved")
    assert living_lanes(runs) == []
    with pytest.raises(Refused, match="--resume"):
        client.retry([0])
    client.close()
    assert store.load_run(store.run_folders(runs)[0]).state is store.RunState.STOPPED


def test_the_dashboards_runs_ask_before_killing_stuck_lanes(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    client = new_run(settings(tmp_path, "--misbehave=hang", "--at=9", "--only-seed=2", step_timeout_s=1), runs)
    client.start()
    wait(lambda: lanes_in(client, LaneState.STUCK) == 1, "lane 1 is STUCK, and nobody kills it")
    client.kill_stuck()
    wait(lambda: client.views()[1].outcome is Outcome.KILLED, "it is killed when asked for")
    assert client.result(1).outcome is Outcome.KILLED
    client.close()
    assert living_lanes(runs) == []


def test_a_run_with_lost_lanes_stays_open_and_one_without_is_over(tmp_path: Path) -> None:
    client = new_run(
        settings(tmp_path, "--misbehave=exit0", "--at=9", "--only-seed=2", ticks=40, retries=0), tmp_path / "r"
    )
    client.start()
    wait(lambda: all(view.outcome is not None for view in client.views()) and client.views(), "both lanes are over")
    assert client.status().phase == "running"
    client.close()
    assert client.status().phase == "ended"
    whole = new_run(settings(tmp_path, ticks=40), tmp_path / "r")
    whole.start()
    wait(lambda: whole.status().phase == "ended", "a whole run ends by itself")
    assert "best milestone" in whole.report()
    assert whole.session.exit_code() == 0


def test_what_cannot_begin_is_an_error_not_a_crash(tmp_path: Path) -> None:
    client = new_run(
        resolve([("flag", {"backend": "magma", "snaps_dir": str(tmp_path), "policy": "noop"})]), tmp_path / "r"
    )
    client.start()
    wait(lambda: client.status().phase == "failed", "it failed")
    assert isinstance(client.error, NetheriteError)
    assert "missing t0 snapshot" in client.status().detail
    client.close()

    def bug(_tell: Callable[[str], None]) -> object:
        raise ZeroDivisionError("oops")

    buggy = LiveRun(bug, client.facts)
    buggy.start()
    wait(lambda: buggy.status().phase == "failed", "it failed")
    assert str(buggy.error) == "internal error: ZeroDivisionError: oops"


def test_resume_goes_on_in_its_own_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = tmp_path / "runs"
    first = new_run(settings(tmp_path), runs)
    first.start()
    wait(lambda: lanes_in(first, LaneState.RUNNING) == 2, "both lanes run")
    first.close()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    home = Path.cwd()
    monkeypatch.chdir(elsewhere)
    again = resumed_run(store.run_folders(runs)[0])
    again.start()
    wait(lambda: lanes_in(again, LaneState.RUNNING) == 2, "both lanes run again")
    assert Path.cwd() == home
    again.close()


def test_attached_sends_records_of_watched_lanes_only_and_steers(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    words = [*make_toy(tmp_path, (1, 2)), "--tries=1", "--jobs=2", "--ep-ticks=4000000"]
    assert netherite(runs, "run", "--detach", *words).returncode == 0
    client = client_of(store.run_folders(runs)[0])
    try:
        assert isinstance(client, AttachedRun)
        assert not client.owned
        client.start()
        wait(lambda: lanes_in(client, LaneState.RUNNING) == 2, "both lanes are seen")
        wait(lambda: (client.status().budget_mib or 0) > 100, "the memory there is for lanes is told")
        assert all(view.record is None for view in client.views())
        client.watch({1})
        wait(lambda: client.views()[1].record is not None, "the watched lane's record comes")
        assert client.views()[0].record is None
        client.kill([0])
        wait(lambda: client.views()[0].outcome is Outcome.KILLED, "lane 0 is killed")
        wait(lambda: "best milestone" in client.report(), "the folder gives the report")
        assert json.loads(client.export("json"))
        client.stop()
        wait(lambda: client.status().phase == "ended", "the run has ended")
    finally:
        client.close()
        netherite(runs, "stop", "last")
    wait(lambda: living_lanes(runs) == [], "no lane is left")


def test_finished_shows_results_and_the_records_of_a_divergence(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    words = make_toy(tmp_path, (2, 3), "--off-by-one-at=20")
    for seed in (2, 3):
        toy_snapshot(tmp_path / "snaps", seed)
    words += [f"--blaze-lib={toy_library(tmp_path)}", "--transfer=replay", "--tries=1", "--ep-ticks=80"]
    assert netherite(runs, "run", "--headless", *words).returncode == 1
    client = client_of(store.run_folders(runs)[0])
    assert isinstance(client, FinishedRun)
    client.start()
    wait(lambda: client.status().phase == "ended", "the folder is read")
    view = client.views()[0]
    assert (view.outcome, view.mismatch_step) == (Outcome.DIVERGE, 5)
    assert not differing(view.record, view.reference).any()
    assert "DIVERGE step=5" in client.report()
    assert client.result(0).magma_record == view.record
    assert "| 2 | 0 |" in client.export("md")
    with pytest.raises(BadInput, match="format"):
        client.export("pdf")
    for act in (client.kill_stuck, client.stop, client.pause_all):
        with pytest.raises(Refused, match="over"):
            act()


def test_a_run_of_another_host_is_refused_with_the_line_that_opens_it(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    client = new_run(settings(tmp_path), runs)
    client.start()
    wait(lambda: lanes_in(client, LaneState.RUNNING) == 2, "both lanes run")
    folder = store.run_folders(runs)[0]
    manifest = store.read_manifest(folder)
    manifest["engine"]["host"] = "polaris"
    store.write_manifest(folder, manifest)
    with pytest.raises(Refused, match=f"ssh -t polaris netherite-tui watch {folder.name}"):
        client_of(folder)
    client.close()
