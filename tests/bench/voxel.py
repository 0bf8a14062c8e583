"""What the embedded world costs: ticks a second in process, a lane process's start and memory, the first compile.

    python tests/bench/voxel.py [--compile]

`--compile` also compiles every kernel into an empty cache, which takes the better part of a minute. Ticks are those of
a lane: decisions of four, camera and lists on the last. Figures are of this process's own CPU time where it says cpu,
so that other work on the machine does not count.
"""

import os
import subprocess
import sys
import tempfile
import time

import numpy as np
import psutil

from core.policy.bot import Bot
from core.policy.controls import Controller, Random
from core.wire.bolr import RECORD_BYTES
from core.worlds.voxel.warm import warm
from core.worlds.voxel.world import VoxelWorld

DECISIONS, REPEAT = 500, 4
LANE = (sys.executable, "-P", "-m", "core.worlds.voxel", "--rl-bin", "--seed")
WARM = "from core.worlds.voxel.warm import warm; warm()"


class Walker:
    """Walks ahead and jumps, turning now and then."""

    def decide(self, senses: object, record: object, decision: int) -> np.ndarray:
        """Returns the row of one decision."""
        return np.array([1, 0, 15.0 * (decision % 9 == 0), 0, 1, 0, 0, 0, 0, -1, -1, 0, 0], np.float64)


def ticks_a_second(seed: int, controller: Controller | Walker) -> tuple[float, int]:
    """Plays one lane on generated land; returns ticks a second of cpu in the world alone, and the ticks."""
    world = VoxelWorld(None, seed)
    world.open()
    spent, ticks = 0.0, 0
    for decision in range(DECISIONS):
        row = controller.decide(world.senses, world.record, decision)
        started = time.thread_time()
        world.step(row, REPEAT)
        spent += time.thread_time() - started
        ticks += REPEAT
        if world.done:
            break
    return ticks / spent, ticks


def lane_process() -> tuple[float, float, float]:
    """Returns a lane process's wall and cpu seconds to its first record, and its peak RSS in MiB after 400 ticks."""
    started = time.perf_counter()
    lane = subprocess.Popen([*LANE, "2"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert lane.stdin is not None
    assert lane.stdout is not None
    lane.stdout.read(RECORD_BYTES)
    wall = time.perf_counter() - started
    process = psutil.Process(lane.pid)
    times = process.cpu_times()
    for _ in range(400):
        lane.stdin.write(b'{"forward":1,"attack":1,"dyaw":5}\n')
        lane.stdin.flush()
        lane.stdout.read(RECORD_BYTES)
    peak = process.memory_info().rss
    lane.stdin.close()
    lane.wait()
    return wall, times.user + times.system, peak / 2**20


def first_compile() -> tuple[float, float]:
    """Returns the wall and cpu seconds it takes to compile every kernel of the room into an empty cache."""
    with tempfile.TemporaryDirectory() as cache:
        started, before = time.perf_counter(), os.times()
        subprocess.run([sys.executable, "-c", WARM], env=os.environ | {"NUMBA_CACHE_DIR": cache}, check=True)
        after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return time.perf_counter() - started, cpu


def main(arguments: list[str]) -> int:
    """Prints the figures."""
    warm()  # so that no figure holds a compilation
    players = (
        ("walking", Walker()),
        ("random heads", Random(seed=1, ni=0)),
        ("bot", Bot(ni=0, rng_seed=0, limit=1500)),
    )
    for name, controller in players:
        speed, ticks = ticks_a_second(2, controller)
        print(f"{name:14s} {speed:8,.0f} ticks/s (cpu, camera on every {REPEAT}th of {ticks} ticks)")
    lane_process()  # the first one finds files the machine has not read lately
    wall, cpu, rss = lane_process()
    print(f"lane process   {wall:8.2f} s to the first record ({cpu:.2f} s cpu), {rss:.0f} MiB RSS after 400 ticks")
    if "--compile" in arguments:
        wall, cpu = first_compile()
        print(f"first compile  {wall:8.1f} s ({cpu:.1f} s cpu)")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
