"""Children are started, drained, ended and found again; every wait has a deadline."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from core.host.guard import group_is_alive, start_mark
from core.host.processes import (
    AT_ONCE,
    BRISK,
    RUN_ID_VARIABLE,
    STDERR_TAIL_BYTES,
    Processes,
    SpawnError,
    leftovers,
    reap,
)

PYTHON = [sys.executable, "-S", "-E", "-c"]


@pytest.fixture
def processes() -> Iterator[Processes]:
    owner = Processes("test-run")
    yield owner
    owner.close()


def until(condition: Callable[[], bool], patience_s: float = 20.0) -> bool:
    """Polls until the condition holds; False when it never did."""
    give_up = time.monotonic() + patience_s
    while not condition():
        if time.monotonic() > give_up:
            return False
        time.sleep(0.02)
    return True


def is_gone(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def test_child_talks_and_ends_at_the_end_of_its_input(processes: Processes) -> None:
    child = processes.spawn([*PYTHON, "import sys; sys.stdout.write(sys.stdin.read().upper()); sys.exit(5)"])
    os.write(child.stdin_fd, b"hello")
    assert child.close() == 5


def test_child_leads_its_own_session_and_carries_the_run_id(processes: Processes) -> None:
    child = processes.spawn(["cat"])
    assert os.getsid(child.pid) == os.getpgid(child.pid) == child.pid
    assert psutil.Process(child.pid).environ()[RUN_ID_VARIABLE] == "test-run"


def test_siblings_do_not_inherit_pipe_ends(processes: Processes) -> None:
    """With a sibling holding its stdin open, the first child would never see the end of its input."""
    first = processes.spawn(["cat"])
    second = processes.spawn(["cat"])
    assert first.close() == 0
    assert second.close() == 0


def test_missing_program_is_one_clear_line(processes: Processes) -> None:
    with pytest.raises(SpawnError, match=r"cannot start /no/such/program: No such file or directory"):
        processes.spawn(["/no/such/program"])


def test_stderr_keeps_the_last_64_kib_and_never_blocks_the_child(processes: Processes) -> None:
    flood = "import sys; [sys.stderr.write('x' * 65536) for _ in range(20)]; sys.stderr.write('the end')"
    child = processes.spawn([*PYTHON, flood])
    assert child.wait(20) == 0
    child.close()
    assert len(child.stderr_tail()) == STDERR_TAIL_BYTES
    assert child.stderr_tail().endswith(b"xthe end")


def test_stubborn_child_is_killed_within_bounds(processes: Processes) -> None:
    code = "import signal, time; signal.signal(15, signal.SIG_IGN); print('x', flush=True); time.sleep(600)"
    child = processes.spawn([*PYTHON, code])
    assert os.read(child.stdout_fd, 1) == b"x"
    assert child.close(BRISK) == -signal.SIGKILL


def test_grandchildren_end_with_their_group(processes: Processes) -> None:
    code = "import subprocess; print(subprocess.Popen(['sleep', '600']).pid, flush=True)"
    child = processes.spawn([*PYTHON, code])
    grandchild = int(os.read(child.stdout_fd, 20))
    assert child.wait(20) == 0
    assert not is_gone(grandchild)
    child.close(BRISK)
    assert until(lambda: is_gone(grandchild))


def test_close_twice_and_after_kill(processes: Processes) -> None:
    child = processes.spawn(["cat"])
    child.kill()
    assert child.close() == -signal.SIGKILL
    assert child.close() == -signal.SIGKILL
    child.kill()  # a group that is gone is left alone


def test_closing_the_owner_ends_children_and_guard() -> None:
    owner = Processes("closing")
    children = [owner.spawn(["sleep", "600"]) for _ in range(3)]
    owner.close()
    owner.close()
    assert all(is_gone(child.pid) for child in children)
    assert is_gone(owner.guard_pid)
    with pytest.raises(SpawnError, match=r"cannot start"):
        owner.spawn(["cat"])


def test_guard_that_was_ended_is_replaced(processes: Processes) -> None:
    first = processes.guard_pid
    os.kill(first, signal.SIGKILL)
    assert until(lambda: is_gone(first))
    child = processes.spawn(["sleep", "600"])
    assert processes.guard_pid != first
    child.close(AT_ONCE)


def test_reap_finds_by_environment_only() -> None:
    run_a, run_b = f"run-a-{os.getpid()}", f"run-b-{os.getpid()}"
    sleeper = [*PYTHON, "import time; print('x', flush=True); time.sleep(600)"]
    ours = subprocess.Popen(sleeper, env={**os.environ, RUN_ID_VARIABLE: run_a}, stdout=subprocess.PIPE)
    other = subprocess.Popen(sleeper, env={**os.environ, RUN_ID_VARIABLE: run_b}, stdout=subprocess.PIPE)
    try:
        for process in (ours, other):  # the environment is the program's own only once it runs
            assert process.stdout is not None
            assert process.stdout.read(1) == b"x"
        assert {one.pid for one in leftovers(run_b)} == {other.pid}
        assert reap(run_a) == [ours.pid]
        assert other.poll() is None
    finally:
        for process in (ours, other):
            process.kill()
            process.wait()
            assert process.stdout is not None
            process.stdout.close()


def test_a_stranger_with_the_same_number_is_not_ours(processes: Processes) -> None:
    child = processes.spawn(["sleep", "600"])
    assert group_is_alive(child.pid, start_mark(child.pid))
    assert not group_is_alive(child.pid, "another start")


DRIVER = """
import signal, sys, time
from core.host.processes import Processes
owner = Processes(sys.argv[1])
stubborn = "import signal, time; signal.signal(15, signal.SIG_IGN); print('x', flush=True); time.sleep(600)"
forking = "import subprocess as s, time; s.Popen(['setsid', 'sleep', '600']); print('x', flush=True); time.sleep(600)"
children = [owner.spawn([sys.executable, "-S", "-E", "-c", code]) for code in (stubborn, forking)]
import os
for child in children:
    os.read(child.stdout_fd, 1)
print(owner.guard_pid, *(child.pid for child in children), flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_no_child_is_left_5_s_after_the_engine_ends(number: signal.Signals) -> None:
    """Children that ignore SIGTERM and grandchildren in sessions of their own are ended too."""
    root, run_id = Path(__file__).parents[3], f"driver-{os.getpid()}"
    driver = subprocess.Popen(
        [sys.executable, "-c", DRIVER, run_id],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(root)},
    )
    assert driver.stdout is not None
    with driver.stdout:
        pids = [int(word) for word in driver.stdout.readline().split()]
        assert len(pids) == 3
        family = {one.pid for one in leftovers(run_id)}
        assert family >= set(pids[1:])
        driver.send_signal(number)
        driver.wait(20)
    ended = time.monotonic()
    assert until(lambda: all(is_gone(pid) for pid in [*pids, *family]), 15.0)
    assert time.monotonic() - ended < 5.0
