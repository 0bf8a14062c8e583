"""MagmaWorld over real pipes: a lane program that behaves, and one that misbehaves in every way we know."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from core.host import memory
from core.host.processes import Processes
from core.wire.act13 import NOOP_ROW
from core.worlds.base import Done, WorldDied, WorldError, WorldInterrupted, WorldStartError, WorldTimeout
from core.worlds.magma import MagmaWorld, lane_command
from tests.toys import TOY_COMMAND

WALK = NOOP_ROW.copy()
WALK[0] = 1.0


@pytest.fixture
def processes() -> Iterator[Processes]:
    owner = Processes("magma-test")
    yield owner
    owner.close()


@pytest.fixture
def world(processes: Processes) -> Iterator[Callable[..., MagmaWorld]]:
    """Returns a maker of worlds that are closed at the end of the test."""
    made = []

    def make(*extra: str, start_s: float = 30.0, step_s: float = 30.0, snapshot: Path | None = None) -> MagmaWorld:
        command = lane_command(TOY_COMMAND, snapshot, 10, extra)
        made.append(MagmaWorld(processes, command, start_timeout_s=start_s, step_timeout_s=step_s))
        return made[-1]

    yield make
    for one in made:
        one.close()


def test_command_is_in_the_native_order() -> None:
    command = " ".join(lane_command(["magma/magma_game"], Path("s2_t0.bsnp"), 2, ["--view-distance", "2"]))
    assert command == (
        "magma/magma_game --rl-bin --render off --pace unlimited --mobs off --snapshot-in s2_t0.bsnp --seed 2 "
        "--view-distance 2"
    )


@pytest.mark.parametrize("repeat", [1, 4, 64])
def test_a_decision_is_repeat_ticks(world: Callable[..., MagmaWorld], repeat: int) -> None:
    one = world()
    one.open()
    assert one.record["tick"][0] == 0
    for decision in range(3):
        one.step(WALK, repeat)
        assert one.record["tick"][0] == (decision + 1) * repeat
    assert one.record["xyz"][0].tolist() == [8.5 + 3 * repeat * 0.125, 64.0, 8.5]
    assert one.done == Done.RUNNING


def test_the_last_record_has_a_fresh_camera(world: Callable[..., MagmaWorld]) -> None:
    """Ticks before the last say cam 0, and the record of the decision is as if all had said cam 1."""
    several, single = world(), world()
    several.open()
    single.open()
    several.step(NOOP_ROW, 4)
    for _ in range(4):
        single.step(NOOP_ROW, 1)
    assert several.record.tobytes() == single.record.tobytes()


def test_senses_follow_the_record(world: Callable[..., MagmaWorld]) -> None:
    one = world()
    one.open()
    before = one.senses.pose.copy()
    one.step(WALK, 4)
    assert one.senses.pose[0] == before[0] + 0.5
    assert np.array_equal(one.senses.cam, one.record["cam"][0])


def test_death_and_torches_end_a_closed_episode(world: Callable[..., MagmaWorld]) -> None:
    dying, lighting, both = (
        world("--dead-at", "3"),
        world("--torch-at", "3"),
        world("--dead-at", "3", "--torch-at", "3"),
    )
    for one in (dying, lighting, both):
        one.open()
        one.step(NOOP_ROW, 4)
    assert (dying.done, lighting.done, both.done) == (Done.DEATH, Done.SUCCESS, Done.DEATH)


def test_closing_lets_the_process_end_by_itself(world: Callable[..., MagmaWorld]) -> None:
    one = world()
    one.open()
    one.step(NOOP_ROW, 4)
    one.close()
    assert one.stderr_tail() == b"toy: 4 ticks\n"
    one.close()
    one.interrupt()


def test_missing_snapshot_is_told_with_the_process_own_words(world: Callable[..., MagmaWorld]) -> None:
    with pytest.raises(WorldStartError, match=r"exit code 1: toy: cannot open snapshot /no/such\.bsnp"):
        world(snapshot=Path("/no/such.bsnp")).open()


def test_missing_program(processes: Processes) -> None:
    with pytest.raises(WorldStartError, match=r"cannot start no/magma_game: No such file"):
        MagmaWorld(processes, ["no/magma_game"]).open()


def test_hang_at_start(world: Callable[..., MagmaWorld]) -> None:
    one = world("--misbehave", "hang-start", start_s=0.5)
    with pytest.raises(WorldTimeout, match=r"no first record \(0 of 14628 bytes came\) before the deadline"):
        one.open()
    with pytest.raises(WorldError, match="not usable"):
        one.step(NOOP_ROW, 1)


def test_hang_at_a_tick_poisons_the_world(world: Callable[..., MagmaWorld]) -> None:
    one = world("--misbehave", "hang", "--at", "6", step_s=0.5)
    one.open()
    one.step(NOOP_ROW, 4)
    with pytest.raises(WorldTimeout):
        one.step(NOOP_ROW, 4)
    with pytest.raises(WorldError, match="not usable"):
        one.step(NOOP_ROW, 4)


def test_an_answer_after_the_deadline_is_never_read(world: Callable[..., MagmaWorld]) -> None:
    one = world("--misbehave", "late", "--at", "2", "--late-s", "1.0", step_s=0.3)
    one.open()
    with pytest.raises(WorldTimeout):
        one.step(NOOP_ROW, 4)
    assert one.record["tick"][0] == 1
    with pytest.raises(WorldError, match="not usable"):
        one.step(NOOP_ROW, 4)


def test_death_inside_a_record(world: Callable[..., MagmaWorld]) -> None:
    one = world("--misbehave", "die-mid-record", "--at", "2")
    one.open()
    expected = r"ended inside a record \(5000 of 14628 bytes\): exit code 7: toy: something went wrong"
    with pytest.raises(WorldDied, match=expected) as caught:
        one.step(NOOP_ROW, 4)
    assert caught.value.returncode == 7


@pytest.mark.parametrize(("kind", "code"), [("exit0", 0), ("segfault", -signal.SIGSEGV)])
def test_early_end(world: Callable[..., MagmaWorld], kind: str, code: int) -> None:
    one = world("--misbehave", kind, "--at", "2")
    one.open()
    with pytest.raises(WorldDied, match="exit code 0" if code == 0 else "killed by SIGSEGV") as caught:
        one.step(NOOP_ROW, 4)
    assert caught.value.returncode == code
    assert not caught.value.oom


def test_end_noticed_while_writing(world: Callable[..., MagmaWorld]) -> None:
    """The process is gone before the lines are written: still CRASHED with its exit code, not a broken pipe."""
    one = world()
    one.open()
    assert one.pid is not None
    os.kill(one.pid, signal.SIGKILL)
    with pytest.raises(WorldDied, match="killed by SIGKILL"):
        one.step(NOOP_ROW, 64)


@pytest.mark.parametrize(("before", "after", "oom"), [(4, 5, True), (4, 4, False), (None, None, False)])
def test_only_the_kernels_counter_says_oom(
    world: Callable[..., MagmaWorld], monkeypatch: pytest.MonkeyPatch, before: int | None, after: int | None, oom: bool
) -> None:
    one = world()
    monkeypatch.setattr(memory, "oom_kills", lambda: before)
    one.open()
    monkeypatch.setattr(memory, "oom_kills", lambda: after)
    assert one.pid is not None
    os.kill(one.pid, signal.SIGKILL)
    with pytest.raises(WorldDied, match="for lack of memory" if oom else "killed by SIGKILL") as caught:
        one.step(NOOP_ROW, 4)
    assert caught.value.oom is oom


def test_flooded_stderr_blocks_nothing(world: Callable[..., MagmaWorld]) -> None:
    one = world("--misbehave", "flood", "--at", "2")
    one.open()
    one.step(NOOP_ROW, 4)
    one.close()
    assert one.stderr_tail().endswith(b"last words\ntoy: 4 ticks\n")


def test_longer_records_are_named(world: Callable[..., MagmaWorld]) -> None:
    one = world("--misbehave", "longer")
    one.open()
    with pytest.raises(WorldError, match="record is 14640 bytes, expected 14628"):
        one.step(NOOP_ROW, 4)


def test_closed_stdout_of_a_living_process(world: Callable[..., MagmaWorld]) -> None:
    one = world("--misbehave", "close-stdout", "--at", "1")
    one.open()
    with pytest.raises(WorldDied, match="closed its output but did not end"):
        one.step(NOOP_ROW, 1)


@pytest.mark.parametrize("kind", ["stubborn", "fork"])
def test_interrupt_from_another_thread(world: Callable[..., MagmaWorld], kind: str) -> None:
    one = world("--misbehave", kind, "--at", "2")
    one.open()
    threading.Timer(0.3, one.interrupt).start()
    began = time.monotonic()
    with pytest.raises(WorldInterrupted):
        one.step(NOOP_ROW, 4)
    one.close()
    assert time.monotonic() - began < 10.0
    with pytest.raises(WorldInterrupted):
        one.step(NOOP_ROW, 4)
