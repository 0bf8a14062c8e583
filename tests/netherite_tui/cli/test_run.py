"""`run` as a person uses it: tables, jobs, being stopped, going on, the background."""

import fcntl
import re
import resource
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from core.kernels import CACHE_VARIABLE
from core.ladder.config import DEFAULT_SEEDS
from core.runs import store
from core.runs.store import RunState
from tests.commandline import PATIENCE_S, environment, living_lanes, make_toy, netherite, start


def wait_for(what: Callable[[], object], patience_s: float = PATIENCE_S) -> object:
    deadline = time.monotonic() + patience_s
    while not (found := what()):
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)
    return found


def _only_run(runs: Path) -> store.StoredRun:
    (folder,) = store.run_folders(runs)
    return store.load_run(folder)


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    return tmp_path / "runs"


def test_65_lanes_print_the_same_whatever_the_jobs(tmp_path: Path, runs: Path) -> None:
    options = make_toy(tmp_path, DEFAULT_SEEDS)
    printed = {}
    for jobs in ("1", "2", "8", "all"):
        done = netherite(runs, "run", *options, "--ep-ticks=40", f"--jobs={jobs}")
        assert done.returncode == 0, done.stderr
        printed[jobs] = done.stdout
    assert len(set(printed.values())) == 1
    assert printed["1"].count("\nseed ") == 13
    results = [
        {index: result.comparable() for index, result in store.load_run(folder).results.items()}
        for folder in store.run_folders(runs)
    ]
    assert all(len(one) == 65 for one in results)
    assert all(one == results[0] for one in results)


def test_all_lanes_at_a_time_fit_into_few_open_files(tmp_path: Path, runs: Path) -> None:
    options = [*make_toy(tmp_path, range(2, 10)), "--tries=4", "--ep-ticks=40", "--jobs=all", "--retries=0"]

    def allow_few() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))

    done = netherite(runs, "run", *options, preexec_fn=allow_few)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\nseed ") == 8
    assert "LOST" not in done.stdout


def test_report_progress_and_folder(tmp_path: Path, runs: Path) -> None:
    done = netherite(runs, "run", *make_toy(tmp_path, (2, 11)), "--tries=2", "--ep-ticks=40")
    assert done.returncode == 0
    assert done.stdout.startswith("# policy random:3\nnet random:3, sampled, 2 tries x 40 ticks\nbackend magma  ")
    run = _only_run(runs)
    assert run.state == RunState.FINISHED
    assert f"run {run.id} in {run.folder}\n" in done.stderr
    assert (run.folder / "report.txt").read_text() == done.stdout == run.report()
    assert sorted(path.name for path in (run.folder / "lanes").iterdir()) == ["00", "01", "02", "03"]
    full = run.full_result(3)
    assert (len(full.heads), len(full.rows)) == (10 * 9, 10 * 13 * 8)
    assert b"toy: " in full.stderr_tail


def test_lost_lanes_exit_3_and_resume_redoes_only_them(tmp_path: Path, runs: Path) -> None:
    options = make_toy(tmp_path, (2, 3), "--misbehave=exit0", "--at=20", "--only-seed=3")
    done = netherite(runs, "run", *options, "--tries=2", "--ep-ticks=40", "--retries=0")
    assert done.returncode == 3
    assert "\nseed   3: best milestone = t0 (0/5) (2 of 2 tries lost)\n" in done.stdout
    before = _only_run(runs)
    again = netherite(runs, "run", "--resume=last")
    assert again.returncode == 3
    after = _only_run(runs)
    assert [event.text for event in after.events[len(before.events) :] if event.kind == "run-start"] == [
        "2 of 4 lanes to run"
    ]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
def test_a_signal_saves_prints_and_ends_every_child(tmp_path: Path, runs: Path, number: signal.Signals) -> None:
    options = make_toy(tmp_path, (2, 3), "--misbehave=stubborn", "--at=20", "--only-seed=3")
    process = start(runs, "run", *options, "--tries=1", "--ep-ticks=40", "--jobs=2")
    wait_for(lambda: runs.exists() and store.run_folders(runs) and _only_run(runs).results)
    process.send_signal(number)
    out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 128 + number
    assert living_lanes(runs) == []
    assert "\nseed   2: best milestone = t0 (0/5)\nseed   3: no result (1 of 1 tries not run)\n" in out
    run = _only_run(runs)
    assert f"go on with: netherite-tui run --resume {run.id}\n" in err
    assert run.state == RunState.STOPPED
    assert list(run.results) == [0]


def test_the_second_signal_kills_at_once(tmp_path: Path, runs: Path) -> None:
    options = make_toy(tmp_path, (2,), "--misbehave=stubborn", "--at=20")
    process = start(runs, "run", *options, "--tries=2", "--ep-ticks=40", "--jobs=2")
    wait_for(lambda: living_lanes(runs))
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=PATIENCE_S)
    assert process.returncode in (130, 143)
    assert living_lanes(runs) == []


def test_sigkill_of_the_engine_leaves_no_lane(tmp_path: Path, runs: Path) -> None:
    options = make_toy(tmp_path, (2,), "--misbehave=stubborn", "--at=20")
    process = start(runs, "run", *options, "--tries=3", "--ep-ticks=40", "--jobs=3")
    wait_for(lambda: len(living_lanes(runs)) == 3)
    process.kill()
    process.communicate(timeout=PATIENCE_S)
    wait_for(lambda: not living_lanes(runs), 20.0)
    assert _only_run(runs).state == RunState.GONE
    assert "gone" in netherite(runs, "ls").stdout


def test_closed_stdout_is_said_and_the_report_is_kept(tmp_path: Path, runs: Path) -> None:
    process = start(runs, "run", *make_toy(tmp_path, (2,)), "--tries=1", "--ep-ticks=40")
    process.stdout.close()
    error = process.stderr.read()
    assert process.wait(PATIENCE_S) == 2
    assert error.endswith("netherite-tui: standard output was closed\n")
    assert living_lanes(runs) == []
    assert (_only_run(runs).folder / "report.txt").read_text().startswith("# policy random:3\n")


def test_a_run_that_is_written_to_is_refused(tmp_path: Path, runs: Path) -> None:
    options = make_toy(tmp_path, (2,), "--misbehave=hang", "--at=20")
    process = start(runs, "run", *options, "--tries=1", "--ep-ticks=40")
    wait_for(lambda: living_lanes(runs))
    for arguments in (("run", "--resume=last"), ("rm", "--yes", "last")):
        refused = netherite(runs, *arguments)
        assert refused.returncode == 4
        assert refused.stderr == f"netherite-tui: run {_only_run(runs).id}: another process is writing to it\n"
    assert "running" in netherite(runs, "ls").stdout
    process.terminate()
    process.communicate(timeout=PATIENCE_S)


def test_resume_names_what_differs(tmp_path: Path, runs: Path) -> None:
    options = make_toy(tmp_path, (2,))
    assert netherite(runs, "run", *options, "--tries=1", "--ep-ticks=40").returncode == 0
    name = _only_run(runs).id
    cases = {
        "tries (had 1, now 2)": ["--tries=2"],
        "policy (had random:3, now noop)": ["--policy=noop"],
        "lane arguments (had ": ["--lane-arg=--late-s=1"],
    }
    for words, typed in cases.items():
        refused = netherite(runs, "run", f"--resume={name}", *typed)
        assert refused.returncode == 4
        assert refused.stderr.startswith(f"netherite-tui: run {name} cannot be resumed: {words}")
    snapshot = tmp_path / "snaps" / "s2_t0.bsnp"
    snapshot.write_bytes(b"other")
    refused = netherite(runs, "run", f"--resume={name}")
    assert re.search(r"cannot be resumed: snapshot s2_t0\.bsnp \(had \w{8}, now \w{8}\)\n$", refused.stderr)
    snapshot.write_bytes(b"")
    with (tmp_path / "toy").open("a") as program:
        program.write("# new\n")
    refused = netherite(runs, "run", f"--resume={name}")
    assert "cannot be resumed: lane binary (had " in refused.stderr
    assert refused.returncode == 4


def test_a_run_in_the_background(tmp_path: Path, runs: Path) -> None:
    options = make_toy(tmp_path, (2,), "--misbehave=hang", "--at=20")
    done = netherite(runs, "run", *options, "--tries=1", "--ep-ticks=40", "--detach")
    assert done.returncode == 0, done.stderr
    run = _only_run(runs)
    assert done.stdout == f"{run.id}\n"
    wait_for(lambda: living_lanes(runs))
    assert _only_run(runs).state == RunState.RUNNING
    assert netherite(runs, "show", "last").stdout.count("state        running") == 1
    stopped = netherite(runs, "stop", run.id)
    assert stopped.returncode == 0, stopped.stderr
    wait_for(lambda: _only_run(runs).state == RunState.STOPPED)
    assert living_lanes(runs) == []
    assert "no result (1 of 1 tries not run)" in (run.folder / "log.txt").read_text()


def test_stopped_in_the_background_and_gone_on_with_gives_the_same_report(tmp_path: Path, runs: Path) -> None:
    options = [*make_toy(tmp_path, (2, 3)), "--tries=2", "--ep-ticks=4000", "--jobs=1"]
    whole = netherite(tmp_path / "others", "run", *options)
    assert whole.returncode == 0, whole.stderr
    name = netherite(runs, "run", *options, "--detach").stdout.strip()
    wait_for(lambda: _only_run(runs).results)
    assert netherite(runs, "stop", name).returncode == 0
    wait_for(lambda: _only_run(runs).state == RunState.STOPPED)
    assert len(_only_run(runs).results) < 4
    again = netherite(runs, "run", "--resume=last")
    assert (again.returncode, again.stdout) == (0, whole.stdout)
    assert (_only_run(runs).folder / "report.txt").read_text() == whole.stdout


def test_a_detached_run_that_cannot_start_says_why(tmp_path: Path, runs: Path) -> None:
    done = netherite(runs, "run", "--backend=magma", "--policy=noop", f"--snaps-dir={tmp_path}", "--detach")
    assert done.returncode == 2
    assert done.stderr == f"eval: missing t0 snapshot: {tmp_path}/s2_t0.bsnp\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_a_signal_before_the_run_began(
    tmp_path: Path, runs: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))
    with (tmp_path / "warm.lock").open("w") as lock:  # held, as if another process were compiling the kernels
        fcntl.flock(lock, fcntl.LOCK_EX)
        process = start(runs, "run", *make_toy(tmp_path, (2,)))
        assert select.select([process.stderr], [], [], PATIENCE_S)[0]
        assert "waiting for it" in process.stderr.readline()
        process.send_signal(number)
        _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 128 + number
    assert err.startswith("netherite-tui: ")
    assert err.count("\n") == 1
    assert not runs.exists()


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--tries=17"], "netherite-tui: tries: expected a whole number from 1 to 16, found '17'"),
        (["--set", "tries"], "netherite-tui: --set: expected key=value, found 'tries'"),
        (["--magma-bin=none", "--seeds=2"], "netherite-tui: magma_bin: expected a readable file, found none: No such"),
        (["--backend=metal"], "netherite-tui: backend: metal cannot run here; expected cpu, cuda, magma or voxel"),
        (["--policy=net"], "netherite-tui: checkpoint: policy net expects a file or fixture:N, found nothing"),
        (["--policy=net", "--checkpoint=none.bin"], "netherite-tui: "),
        (["--policy=tape:none"], "netherite-tui: "),
        (["--backend=cpu", "--blaze-lib=none.so"], "netherite-tui: blaze_lib: expected a readable file, found none.so"),
        (["--transfer=replay"], "netherite-tui: blaze_lib: expected a readable file, found out/blaze/env/blaze_cpu.so"),
        (["--fault=hang:step=4"], "netherite-tui: faults: only backend voxel can be made to misbehave, found magma"),
        (["--resume=nope"], "netherite-tui: run 'nope': expected an id, a prefix or `last`, found no such run in "),
        (["--ep-ticks=41"], "netherite-tui: ep_ticks: expected a multiple of action_repeat (4), found 41"),
        (["--seeds=2,5"], "eval: missing t0 snapshot: "),
        (["extra"], "netherite-tui: run: Got unexpected extra argument (extra)"),
    ],
)
def test_a_bad_input_is_one_line_and_exit_2(tmp_path: Path, runs: Path, arguments: list[str], line: str) -> None:
    done = netherite(runs, "run", *make_toy(tmp_path, (2,)), *arguments)
    assert done.stderr.startswith(line)
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""
    assert done.returncode == 2
    assert not runs.exists()


def test_config_file_and_flags(tmp_path: Path, runs: Path) -> None:
    runs.mkdir()
    (runs / "config.toml").write_text("[run]\ntries = 3\nep_ticks = 400\n")
    shown = netherite(runs, "run", "--dump-config", "--tries=2").stdout
    assert "  tries            = 2\n" in shown
    assert "  ep_ticks         = 400\n" in shown
    (runs / "config.toml").write_text("[run]\ntrise = 3\n")
    done = netherite(runs, "run", "--dump-config")
    assert done.returncode == 2
    assert done.stderr.startswith(
        f"netherite-tui: config file {runs}/config.toml: unknown key 'trise'; expected one of"
    )


def test_runs_folder_that_cannot_be_made(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.touch()
    done = netherite(tmp_path, "run", *make_toy(tmp_path, (2,)), f"--runs-dir={blocked}/runs")
    assert done.returncode == 2
    assert done.stderr == f"netherite-tui: runs folder {blocked}/runs: cannot be written: Not a directory\n"


def test_a_full_disk_stops_the_run_with_one_line(tmp_path: Path, runs: Path) -> None:
    options = " ".join(make_toy(tmp_path, (2, 3)))
    # A limit on the size of files stands for the full disk: writes fail in the middle of a file in the same way.
    command = f"ulimit -f 8; exec {sys.executable} -m netherite_tui run {options} --tries=2 --ep-ticks=4000 --jobs=1"
    shell = f"trap '' XFSZ; {command}"
    done = subprocess.run(
        ["bash", "-c", shell], capture_output=True, text=True, timeout=PATIENCE_S, env=environment(runs), check=False
    )
    assert done.returncode == 3
    lines = [line for line in done.stderr.splitlines() if line.startswith("netherite-tui: ")]
    assert len(lines) == 1
    assert "was stopped: its folder " in lines[0]
    assert lines[0].endswith("File too large")
    assert "backend magma" in done.stdout
    assert living_lanes(runs) == []
    assert _only_run(runs).state in (RunState.GONE, RunState.STOPPED)


def test_rm_and_ls(tmp_path: Path, runs: Path) -> None:
    options = make_toy(tmp_path, (2,))
    empty = netherite(runs, "ls")
    assert empty.stdout.split() == ["RUN", "STATE", "RESULT", "LANES", "AGE", "HOST", "WHAT"]
    assert empty.stderr == f"no runs in {runs}\n"
    assert netherite(runs, "run", *options, "--tries=1", "--ep-ticks=40").returncode == 0
    name = _only_run(runs).id
    listed = netherite(runs, "ls").stdout.splitlines()[1].split()
    assert listed[:3] == [name, "finished", "best"]
    assert netherite(runs, "rm", "last", input="n\n").returncode == 0
    assert _only_run(runs).id == name
    assert netherite(runs, "rm", name[:12], input="y\n").stdout.endswith(f"deleted {name}\n")
    assert store.run_folders(runs) == []
    gone = netherite(runs, "show", "last")
    assert gone.returncode == 2
    assert gone.stderr.startswith("netherite-tui: run 'last': expected an id, a prefix or `last`, found no such run")
