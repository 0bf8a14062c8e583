"""The dashboard in a real terminal, driven by keys as a person would."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from core.ladder.warmup import ensure_warm
from core.runs import store
from core.runs.remote import ControlClient
from tests.commandline import environment, living_lanes, make_toy, netherite
from tests.terminal import PATIENCE_S, Terminal, terminal

PROGRAM = [sys.executable, "-m", "netherite_tui"]
SEEDS = (1, 2, 3)
COLOURS = re.compile(r"\x1b\[(?:[\d;]*;)?(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])[;m]")


@pytest.fixture(autouse=True, scope="module")
def compiled_kernels() -> None:
    """Compiles what is not compiled yet, so that no wait below has to allow for it."""
    ensure_warm(["policy", "voxel"], lambda _: None)


def env_of(runs: Path, **more: str) -> dict[str, str]:
    """Returns a small environment: what the program needs, and the terminal's own variables."""
    names = ("PATH", "HOME", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "PYTHONPATH", "NETHERITE_RUNS", "NETHERITE_CONFIG")
    base = {name: value for name, value in environment(runs).items() if name in names}
    return base | {"TERM": "tmux-256color", "COLORTERM": "truecolor", "LC_ALL": "C.UTF-8"} | more


def toy_run(folder: Path, *options: str, ticks: int = 4_000_000) -> list[str]:
    """Returns a command line that runs three toy lanes, endless unless `ticks` says otherwise."""
    return [*PROGRAM, "run", *make_toy(folder, SEEDS, *options), "--tries=1", "--jobs=3", f"--ep-ticks={ticks}"]


def wait(met: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not met():
        assert time.monotonic() < deadline, f"not in {PATIENCE_S:g} s: {what}"
        time.sleep(0.05)


def engine_pid(runs: Path) -> int:
    return int(store.read_manifest(store.run_folders(runs)[0])["engine"]["pid"])


def assert_terminal_is_restored(shown: Terminal) -> None:
    flags = {name: shown.flag(name) for name in ("alternate_on", "mouse_any_flag", "cursor_flag", "wrap_flag")}
    assert flags == {"alternate_on": "0", "mouse_any_flag": "0", "cursor_flag": "1", "wrap_flag": "1"}
    shown.type("typed in the line below")
    assert "typed in the line below" in shown.wait_for("typed in the line below")  # echo is on again


def test_demo_match_diverge_stuck_kill_export_quit(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    words = [*PROGRAM, "demo", "--seeds=2,10,27,33", "--ep-ticks=400", "--step-timeout=2", "--jobs=3"]
    with terminal(words, env_of(runs)) as shown:
        shown.wait_for("MATCH 2/4", "DIVERGE 1", "stuck 1")
        text = shown.wait_for("D40", "STUCK")
        assert "FAULTS" in text
        shown.press("X")
        shown.wait_for("Kill all 1 stuck?", "seed 33 try 0")
        shown.press("y")
        shown.wait_for("KILL", "stuck 0", "lost 1")
        shown.press("e")
        shown.wait_for("Export md", "MATCH 2/4")
        shown.press("C-a", "C-k")
        shown.type(str(tmp_path / "tables.md"))
        shown.press("Enter")
        wait((tmp_path / "tables.md").exists, "the tables are written")
        shown.wait_for("Lanes")
        shown.press("q")
        shown.wait_for("EXIT 3")
        assert_terminal_is_restored(shown)
    tables = (tmp_path / "tables.md").read_text()
    assert "| 10 | 0 |" in tables
    assert "MATCH 2/4" in tables
    assert living_lanes(runs) == []
    shown_again = netherite(runs, "show", "last")
    assert "seed   2 try 0: MATCH" in shown_again.stdout


def test_detached_run_is_watched_killed_into_and_left_running(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    started = netherite(runs, *toy_run(tmp_path)[3:], "--detach")
    assert started.returncode == 0, started.stderr
    try:
        with terminal([*PROGRAM, "watch", "last"], env_of(runs)) as shown:
            shown.wait_for("running 3")
            shown.press("x")
            shown.wait_for("Kill this lane?", "seed 1 try 0")
            shown.press("y")
            shown.wait_for("KILLED", "running 2")
            shown.press("2", "z")
            shown.wait_for("hotbar")  # its records come over the socket
            shown.press("q")
            shown.wait_for("EXIT 0")
        listed = netherite(runs, "ls")
        assert started.stdout.strip() in listed.stdout
        assert "running" in listed.stdout
        assert len(living_lanes(runs)) == 2
    finally:
        assert netherite(runs, "stop", "last").returncode == 0
    wait(lambda: living_lanes(runs) == [], "no lane is left")


def test_watch_says_when_the_engine_is_gone(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    assert netherite(runs, *toy_run(tmp_path)[3:], "--detach").returncode == 0
    with terminal([*PROGRAM, "watch", "last"], env_of(runs)) as shown:
        shown.wait_for("running 3")
        os.kill(engine_pid(runs), signal.SIGKILL)
        shown.wait_for("engine gone")
        shown.press("q")
        shown.wait_for("EXIT 0")
    wait(lambda: living_lanes(runs) == [], "the guard ended the lanes")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_signals_restore_the_terminal_and_end_the_lanes(tmp_path: Path, number: signal.Signals) -> None:
    runs = tmp_path / "runs"
    with terminal(toy_run(tmp_path), env_of(runs)) as shown:
        shown.wait_for("running 3")
        os.kill(engine_pid(runs), number)
        shown.wait_for(f"EXIT {128 + number}")
        assert_terminal_is_restored(shown)
        assert living_lanes(runs) == []
    assert store.load_run(store.run_folders(runs)[0]).end is not None  # the journal is whole


def test_a_closed_terminal_ends_the_run_in_good_order(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    with terminal(toy_run(tmp_path), env_of(runs)) as shown:
        shown.wait_for("running 3")
        pid = engine_pid(runs)
    wait(lambda: not Path(f"/proc/{pid}").exists(), "the engine has ended")
    assert living_lanes(runs) == []
    assert store.load_run(store.run_folders(runs)[0]).end is not None


def test_a_stalled_terminal_slows_no_lane_and_keeps_nothing_from_ending(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("4H", 40, 120, 0, 0))
    child = subprocess.Popen(toy_run(tmp_path), stdin=slave, stdout=slave, stderr=slave, env=env_of(runs))
    os.close(slave)
    try:
        seen = b""
        while b"running 3" not in seen:
            assert select.select([master], [], [], PATIENCE_S)[0]
            seen += os.read(master, 1 << 16)
        # From here on nobody reads the terminal.
        remote = ControlClient(store.read_manifest(store.run_folders(runs)[0])["engine"]["socket"])
        remote.connect()
        wait(lambda: len(remote.views()) == 3, "another terminal sees the lanes")
        for _ in range(3):
            before = sum(view.decision for view in remote.views())
            wait(lambda before=before: sum(view.decision for view in remote.views()) > before + 3000, "lanes go on")
        remote.close()
        child.send_signal(signal.SIGTERM)
        assert child.wait(PATIENCE_S) == 128 + signal.SIGTERM
    finally:
        child.kill()
        child.wait()
        os.close(master)
    assert living_lanes(runs) == []


def test_quit_stops_saves_and_can_be_resumed(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    with terminal(toy_run(tmp_path), env_of(runs)) as shown:
        shown.wait_for("running 3")
        assert shown.flag("mouse_any_flag") == "1"
        shown.press("m")
        shown.wait_for("mouse off")
        assert shown.flag("mouse_any_flag") == "0"
        shown.press("m")
        shown.wait_for("mouse on")
        shown.press("q")
        shown.wait_for("Quit?", "Stop and save")
        shown.press("c")
        shown.wait_until(lambda text: "Quit?" not in text, "the question is gone")
        shown.press("C-c")
        shown.wait_for("Stop and save")
        shown.press("s")
        text = shown.wait_for("EXIT 130")
        assert "--resume" in text
    assert living_lanes(runs) == []
    run = store.load_run(store.run_folders(runs)[0])
    assert run.state is store.RunState.STOPPED


def test_a_run_that_cannot_begin_is_one_line_and_its_code(tmp_path: Path) -> None:
    words = [*PROGRAM, "run", "--backend=magma", "--magma-bin=/nowhere/game", "--policy=noop", "--seeds=1"]
    with terminal(words, env_of(tmp_path / "runs")) as shown:
        text = shown.wait_for("EXIT 2")
        assert "missing t0 snapshot" in text


def test_list_opens_a_finished_run_and_comes_back(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    done = netherite(runs, *toy_run(tmp_path, ticks=40)[3:], "--headless")
    assert done.returncode == 0, done.stderr
    with terminal(PROGRAM, env_of(runs), size=(80, 24)) as shown:
        shown.wait_for("finished", "1 run")
        shown.press("Enter")
        shown.wait_for("done 3", "ended")
        shown.press("5")
        shown.wait_for("best milestone")
        shown.press("Escape")
        shown.wait_for("1 run")
        shown.press("d")
        shown.wait_for("Delete this run?")
        shown.press("y")
        shown.wait_for("no runs yet")
        shown.press("q")
        shown.wait_for("EXIT 0")


@pytest.mark.parametrize(
    ("variables", "allowed"),
    [
        ({"TERM": "screen", "COLORTERM": ""}, "colours"),
        ({"NO_COLOR": "1"}, "no colours"),
        ({"LC_ALL": "C"}, "ascii"),
    ],
    ids=["screen", "no-color", "ascii"],
)
def test_poor_terminals_stay_readable(tmp_path: Path, variables: dict[str, str], allowed: str) -> None:
    runs = tmp_path / "runs"
    with terminal(toy_run(tmp_path), env_of(runs, **variables), size=(80, 24)) as shown:
        text = shown.wait_for("running 3", "Lanes", "seed try state")
        raw = shown.text(escapes=True)
        assert text.isascii() == (allowed == "ascii")
        assert bool(COLOURS.search(raw)) == (allowed != "no colours")
        assert "TERM" not in variables or "8;2;" not in raw  # sixteen colours only
        shown.press("2")
        shown.wait_for("Camera", "pitch")
        shown.press("q")
        shown.wait_for("Stop and save")
        shown.press("s")
        shown.wait_for("EXIT 130")
