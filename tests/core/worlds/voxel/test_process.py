"""The lane process: SPEC 1 spoken over real pipes."""

import contextlib
import gzip
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from core.wire.act13 import NOOP_ROW, encode_tick
from core.wire.bolr import RECORD, RECORD_BYTES
from core.wire.bsnp import read_snapshot
from core.worlds.voxel.world import VoxelWorld
from tests.paths import DATA

FLAGS = ("--rl-bin", "--render", "off", "--pace", "unlimited", "--mobs", "off")
DEADLINE_S = 300.0  # generous: kernels may have to be compiled first


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("snapshots") / "s10_t0.bsnp"
    path.write_bytes(gzip.decompress((DATA / "magma" / "s10_t0.bsnp.gz").read_bytes()))
    return path


def lane(*arguments: str, lines: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Runs a lane to its end with all of stdin given at once."""
    command = [sys.executable, "-P", "-m", "core.worlds.voxel", *FLAGS, *arguments]
    return subprocess.run(command, input=lines, capture_output=True, timeout=DEADLINE_S)


def records(done: subprocess.CompletedProcess[bytes]) -> np.ndarray:
    assert done.returncode == 0, done.stderr
    assert len(done.stdout) % RECORD_BYTES == 0
    return np.frombuffer(done.stdout, RECORD)


def test_a_recording_is_answered_byte_for_byte(snapshot):
    with np.load(DATA / "magma" / "s10_walk32.npz") as file:
        lines, real = [str(line) for line in file["lines"]], file["records"]
    done = lane("--snapshot-in", str(snapshot), "--seed", "10", lines="".join(lines).encode())
    assert done.stdout == real.tobytes()
    assert done.returncode == 0
    assert done.stderr == b""


def test_odd_lines_are_ticks_and_the_process_is_the_world_in_this_process(snapshot, tmp_path):
    dump = tmp_path / "dump.bsnp"
    turning = b'{"dyaw":15,"forward":1,"cam":0}\n'
    dumping = f'{{"snapshot":"{dump}","snapshot_r":16}}\n'.encode()
    done = lane("--seed", "5", "--view-distance", "2", lines=b"\n" + turning + dumping + b"rubbish")
    got = records(done)
    world = VoxelWorld(None, 5, view_distance=2)
    world.open()
    expected = [world.record.copy()]
    for row, cam in ((NOOP_ROW, True), ([1, 0, 15, 0, 0, 0, 0, 0, 0, -1, -1, 0, 0], False), *[(NOOP_ROW, True)] * 2):
        world.tick(np.array(row, np.float64), cam=cam)
        expected.append(world.record.copy())
    assert got.tobytes() == b"".join(record.tobytes() for record in expected)
    assert got["tick"].tolist() == [0, 1, 2, 3, 4]
    saved = read_snapshot(dump)
    assert (saved.seed, int(saved.head["tick"])) == (5, 2)
    assert saved.cells.shape[0] == 32


def test_a_snapshot_holds_the_mark_of_its_own_ticks_attack_and_nothing_else_of_it(tmp_path):
    orders = {"none": "", "attack": '"attack":1,"dyaw":9,', "use": '"use":1,'}
    lines = "".join(f'{{{keys}"snapshot":"{tmp_path}/{name}"}}\n' for name, keys in orders.items())
    assert len(records(lane("--seed", "5", lines=lines.encode()))) == 4
    heads = [read_snapshot(tmp_path / name).head for name in orders]
    assert [int(head["tick"]) for head in heads] == [0, 1, 2]
    assert [int(head["world_dirty"]) for head in heads] == [0, 40, 40]
    assert [float(head["yaw"]) for head in heads] == [180.0, 180.0, 189.0]


def test_a_snapshot_that_cannot_be_written_is_said_and_the_lane_goes_on(tmp_path):
    done = lane("--seed", "5", lines=f'{{"snapshot":"{tmp_path}/none/x"}}\n'.encode())
    assert len(records(done)) == 2
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("--snapshot-in", "missing.bsnp"), 1, "missing.bsnp"),
        (("--snapshot-in", "SNAPSHOT", "--seed", "11"), 1, "seed 11"),
        (("--snapshot-in", __file__), 1, "not a snapshot"),
        (("--seed", "1e3"), 2, "--seed"),
        (("--seed", "1", "--view-distance", "0"), 2, "--view-distance"),
        (("--seed", "1", "--set", "novalue"), 2, "key=value"),
        (("--seed", "1", "--fault", "melt"), 2, "melt"),
        (("--seed", "1", "--what"), 2, "--what"),
        ((), 2, "--seed"),
    ],
)
def test_what_cannot_start_says_one_line_and_sends_nothing(arguments, code, said, snapshot):
    done = lane(*(str(snapshot) if word == "SNAPSHOT" else word for word in arguments))
    assert done.returncode == code
    assert done.stdout == b""
    assert len(done.stderr.splitlines()) == 1
    assert said in done.stderr.decode()


@pytest.fixture
def running(request: pytest.FixtureRequest) -> Iterator[subprocess.Popen[bytes]]:
    """A lane with the faults of the parameter, which is killed if it is left over."""
    command = [sys.executable, "-P", "-m", "core.worlds.voxel", *FLAGS, "--seed", "5"]
    for fault in request.param:
        command += ["--fault", fault]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    yield process
    process.kill()
    process.wait(DEADLINE_S)
    for pipe in (process.stdin, process.stdout, process.stderr):
        with contextlib.suppress(BrokenPipeError):
            pipe.close()


@pytest.mark.parametrize("running", [[]], indirect=True)
def test_a_closed_stdout_ends_it_by_sigpipe(running):
    running.stdout.read(RECORD_BYTES)
    running.stdout.close()
    running.stdin.write(encode_tick(NOOP_ROW))
    running.stdin.flush()
    assert running.wait(DEADLINE_S) == -signal.SIGPIPE
    assert running.stderr.read() == b""


@pytest.mark.parametrize("running", [["flood:tick=1:bytes=100", "hang:tick=1"]], indirect=True)
def test_a_hanging_lane_answers_no_more_but_can_be_ended(running):
    running.stdout.read(RECORD_BYTES)
    running.stdin.write(encode_tick(NOOP_ROW))
    running.stdin.flush()
    running.stderr.readline()  # the faults of that record have begun
    running.terminate()
    assert running.stdout.read() == b""
    assert running.wait(DEADLINE_S) == -signal.SIGTERM


@pytest.mark.parametrize("running", [["deaf:tick=0"]], indirect=True)
def test_a_deaf_lane_must_be_killed(running):
    assert b"SIGTERM" in running.stderr.readline()
    running.terminate()
    with pytest.raises(subprocess.TimeoutExpired):
        running.wait(0.3)
    running.kill()
    assert running.stdout.read() == b""


def test_faults_strike_at_their_record():
    lines = encode_tick(NOOP_ROW) * 3
    good = records(lane("--seed", "5", lines=lines))
    odd = records(lane("--seed", "5", "--fault", "cam:tick=2:px=3", "--fault", "flood:tick=1:bytes=2000", lines=lines))
    assert [int((a["cam"] != b["cam"]).sum()) for a, b in zip(good, odd, strict=True)] == [0, 0, 3, 0]
    for kind, code, length in (("crash:tick=2", -signal.SIGSEGV, 2), ("exit:tick=3:code=7", 7, 3)):
        done = lane("--seed", "5", "--fault", kind, lines=lines)
        assert (done.returncode, len(done.stdout)) == (code, length * RECORD_BYTES)
    done = lane("--seed", "5", "--fault", "cut:tick=1:bytes=100", "--fault", "long:tick=0:bytes=8", lines=lines)
    assert len(done.stdout) == RECORD_BYTES + 8 + 100
