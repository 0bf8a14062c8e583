"""BlazeWorld against a small library of our own: both ABIs, its errors, several threads, a call that never returns."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from core.errors import BadInput
from core.host.processes import Processes
from core.ladder import gate
from core.wire.act13 import NOOP_ROW
from core.worlds.base import Done, World, WorldError, WorldInterrupted, WorldStartError
from core.worlds.blaze import BlazeWorld, MiscompiledLibrary
from core.worlds.magma import MagmaWorld, lane_command
from tests.toys import TOY_COMMAND, toy_library, toy_snapshot

ABIS = [pytest.param((), id="newer"), pytest.param(("OLDER_ABI",), id="older")]


def rows(count: int, seed: int = 3) -> np.ndarray:
    """Returns rows that walk, turn, hit and craft."""
    chance = np.random.default_rng(seed)
    many = np.tile(NOOP_ROW, (count, 1))
    many[:, 0] = chance.integers(-1, 2, count)
    many[:, 2] = chance.choice([-15.0, 0.0, 15.0], count)
    many[:, 3] = chance.choice([-10.0, 0.0, 10.0], count)
    many[:, 7] = 1.0
    many[:, 10] = chance.integers(-1, 2, count)
    return many


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where this module's libraries are compiled."""
    return tmp_path_factory.mktemp("blaze")


@pytest.mark.parametrize("defines", ABIS)
def test_it_plays_as_the_lane_process_does(built: Path, tmp_path: Path, defines: tuple[str, ...]) -> None:
    """The same rows on both sides give no gated difference: rows, repeats and records mean the same to both."""
    snapshot = toy_snapshot(tmp_path, 10)
    processes = Processes("blaze-test")
    magma = MagmaWorld(processes, lane_command(TOY_COMMAND, snapshot, 10))
    blaze = BlazeWorld(toy_library(built, *defines), snapshot)
    try:
        magma.open()
        blaze.open()
        assert gate.first_mismatch(magma.record, blaze.record) is None
        for row in rows(40):
            magma.step(row, 4)
            blaze.step(row, 4)
            assert gate.first_mismatch(magma.record, blaze.record) is None
        assert blaze.record["inv_counts"][0].sum() > 0
        assert not blaze.record["blocks"].any()
    finally:
        magma.close()
        blaze.close()
        processes.close()


def test_senses_are_the_steps_own_outputs(built: Path, tmp_path: Path) -> None:
    world = BlazeWorld(toy_library(built), toy_snapshot(tmp_path, 2))
    world.open()
    assert world.senses.pose.tolist() == [8.5, 64.0, 8.5, 180.0, 0.0]
    world.step(rows(1)[0], 4)
    assert world.senses.scal6.tolist() == [0.5, 0, 0, 0, 0, 0]
    assert np.array_equal(world.senses.cam, world.record["cam"][0])
    world.close()
    world.close()


@pytest.mark.parametrize(
    ("words", "item", "done"),
    [
        ("torch-at 3", 50, Done.SUCCESS),
        ("dead-at 3", 50, Done.DEATH),
        ("edge-at 3", 50, Done.BOUNDARY),
        ("torch-at 3", 17, Done.RUNNING),
    ],
)
def test_done(built: Path, tmp_path: Path, words: str, item: int, done: Done) -> None:
    world = BlazeWorld(toy_library(built), toy_snapshot(tmp_path, 2, words), success_item=item)
    world.open()
    assert world.done == Done.RUNNING
    world.step(NOOP_ROW, 4)
    assert world.done == done
    world.close()


def test_another_success_item_needs_the_newer_abi(built: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"no function blaze_set_success_item: success_item expected 50, found 17"):
        BlazeWorld(toy_library(built, "OLDER_ABI"), toy_snapshot(tmp_path, 2), success_item=17)


def test_missing_function_is_named(built: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"toy_blaze_no_emit\.so has no function blaze_emit"):
        BlazeWorld(toy_library(built, "NO_EMIT"), toy_snapshot(tmp_path, 2))


def test_missing_library_and_no_library(tmp_path: Path) -> None:
    text = tmp_path / "text.so"
    text.write_text("not a library")
    with pytest.raises(BadInput, match=r"no/blaze_cpu\.so cannot be loaded: no such file"):
        BlazeWorld(Path("no/blaze_cpu.so"), tmp_path)
    with pytest.raises(BadInput, match=r"text\.so cannot be loaded: .*(invalid ELF header|file too short)"):
        BlazeWorld(text, tmp_path)


def test_bad_snapshot_in_the_librarys_words(built: Path, tmp_path: Path) -> None:
    bad = tmp_path / "s1_t0.bsnp"
    bad.write_text("BSNP")
    world = BlazeWorld(toy_library(built), bad)
    with pytest.raises(WorldStartError, match=r"blaze cannot load .*s1_t0\.bsnp: not a toy snapshot"):
        world.open()
    world.close()


def test_refused_device(built: Path, tmp_path: Path) -> None:
    with pytest.raises(WorldStartError, match=r"blaze_create failed \(device 9\)"):
        BlazeWorld(toy_library(built), toy_snapshot(tmp_path, 2), device=9).open()


def test_failed_step(built: Path, tmp_path: Path) -> None:
    world = BlazeWorld(toy_library(built), toy_snapshot(tmp_path, 2, "fail-at 8"))
    world.open()
    world.step(NOOP_ROW, 4)
    with pytest.raises(WorldError, match="blaze_step_full failed: -7"):
        world.step(NOOP_ROW, 4)
    world.close()


def test_miscompiled_emit_is_named_with_its_remedy(built: Path, tmp_path: Path) -> None:
    world = BlazeWorld(toy_library(built, "MISCOMPILED"), toy_snapshot(tmp_path, 2))
    with pytest.raises(MiscompiledLibrary, match=r"emitted x 8\.500000001 is not rounded .*-fno-tree-slp-vectorize"):
        world.open()
    world.close()


def test_interrupted_world_goes_no_further(built: Path, tmp_path: Path) -> None:
    world: World = BlazeWorld(toy_library(built), toy_snapshot(tmp_path, 2))
    world.open()
    world.interrupt()
    with pytest.raises(WorldInterrupted):
        world.step(NOOP_ROW, 4)
    world.close()


def test_several_threads_give_the_same_as_one(built: Path, tmp_path: Path) -> None:
    library = toy_library(built)

    def play(seed: int, into: dict[int, bytes]) -> None:
        world = BlazeWorld(library, toy_snapshot(tmp_path, seed))
        world.open()
        seen = []
        for row in rows(30, seed):
            world.step(row, 4)
            seen.append(world.record.tobytes())
        world.close()
        into[seed] = b"".join(seen)

    alone: dict[int, bytes] = {}
    for seed in range(6):
        play(seed, alone)
    together: dict[int, bytes] = {}
    threads = [threading.Thread(target=play, args=(seed, together)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert together == alone
    assert len(set(alone.values())) == 6


NEVER_RETURNS = """
import sys, threading
from pathlib import Path
from core.wire.act13 import NOOP_ROW
from core.worlds.blaze import BlazeWorld
world = BlazeWorld(Path(sys.argv[1]), Path(sys.argv[2]))
world.open()
thread = threading.Thread(target=world.step, args=(NOOP_ROW, 4), daemon=True)
thread.start()
thread.join(0.5)
world.interrupt()
print(thread.is_alive(), flush=True)
import os
print(os.environ["OMP_NUM_THREADS"])
"""


def test_a_call_that_never_returns_keeps_nobody_from_ending(built: Path, tmp_path: Path) -> None:
    environment = {key: value for key, value in os.environ.items() if key != "OMP_NUM_THREADS"}
    ended = subprocess.run(
        [sys.executable, "-c", NEVER_RETURNS, toy_library(built), toy_snapshot(tmp_path, 2, "hang-at 3")],
        env={**environment, "PYTHONPATH": str(Path(__file__).parents[3])},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert ended.stdout.split() == ["True", "1"]
