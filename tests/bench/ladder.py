"""What a ladder costs: wall, CPU of engine and lane processes, microseconds a decision, memory, for several `--jobs`.

Run it as `python tests/bench/ladder.py` from the project's root. Every line is a fresh engine process. What other
programs use of the cores meanwhile is measured too, and counted as if it were ours in the figure for wall time.
`--world voxel` (default) is the embedded world, `toy` the tests' tiny lane program, which leaves the engine alone with
its own cost, and `magma` the real game (`--magma-bin`, `--snaps-dir`). The limits are those of the project; the exit
code is 1 when one is broken.
"""

import argparse
import contextlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import psutil

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

MIB = 1024 * 1024
SAMPLE_S = 0.5

DECISION_LIMIT_US = 1300.0
WALL_LIMIT = 1.15  # times total CPU / cores, when there are at least as many lanes at a time as cores
LANE_OVERHEAD_MIB, ENGINE_MIB = 14.0, 300.0


def main() -> int:
    options = parsed_options()
    if options.measure:
        print(json.dumps(measure(options, options.measure)))
        return 0
    print(f"{options.world} {options.transfer}, {options.seeds} seeds x {options.tries} tries x {options.ticks} ticks")
    print(HEADER)
    failures = [failure for jobs in options.jobs.split(",") for failure in run_one(options, jobs)]
    for failure in failures:
        print("OVER THE LIMIT", failure)
    return int(bool(failures))


def parsed_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--world", choices=("voxel", "toy", "magma"), default="voxel")
    parser.add_argument("--transfer", choices=("closed", "replay"), default="closed")
    parser.add_argument("--jobs", default="1,2,3,all")
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--tries", type=int, default=2)
    parser.add_argument("--ticks", type=int, default=1200)
    parser.add_argument("--checkpoint", default="fixture:1")
    parser.add_argument("--magma-bin", default="magma/magma_game")
    parser.add_argument("--snaps-dir", default="blaze/rl/out/snaps")
    parser.add_argument("--measure", metavar="JOBS", help=argparse.SUPPRESS)
    return parser.parse_args()


# ---- in the measured process ----------------------------------------------------------------------------------------


def measure(options: argparse.Namespace, jobs: str) -> dict[str, Any]:
    """Runs one ladder in this process and returns what it took."""
    from core.ladder.config import resolve
    from core.ladder.engine import Engine
    from core.ladder.plan import make_plan
    from core.ladder.warmup import ensure_warm
    from core.policy.controls import controller_factory

    with tempfile.TemporaryDirectory() as folder:
        settings = {"jobs": jobs, "checkpoint": options.checkpoint, "tries": options.tries, "ep_ticks": options.ticks}
        config = resolve([("bench", settings | world_settings(options, Path(folder)))]).config
        ensure_warm(["policy", "voxel"] if options.world == "voxel" else ["policy"], lambda line: None)
        controllers = controller_factory("net", checkpoint=config.checkpoint)
        engine = Engine(config, make_plan(config), controllers, run_id=f"bench-{os.getpid()}")
        before = Clocks()
        engine.start()
        engine.wait()
        engine.stop()
        took = Clocks().since(before)
        results = engine.results().values()
        return took | {
            "decisions": sum(result.decisions for result in results),
            "lanes": len(results),
            "lost": [f"{one.outcome}: {one.note}" for one in results if not one.outcome.is_result],
            "child_mib": max(result.peak_rss_mib or 0.0 for result in results),
            "engine_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        }


def world_settings(options: argparse.Namespace, folder: Path) -> dict[str, object]:
    seeds = list(range(2, 2 + options.seeds))
    if options.world == "voxel":
        return {"seeds": seeds, "backend": "voxel", "transfer": options.transfer}
    if options.world == "magma":
        from core.ladder.config import DEFAULT_SEEDS

        files = {"magma_bin": options.magma_bin, "snaps_dir": options.snaps_dir}
        return {"seeds": DEFAULT_SEEDS[: options.seeds], "backend": "magma", "transfer": options.transfer} | files
    from tests.toys import toy_library, toy_program, toy_snapshot

    for seed in seeds:
        toy_snapshot(folder, seed)
    library = {"transfer": "replay", "blaze_lib": str(toy_library(folder))} if options.transfer == "replay" else {}
    files = {"magma_bin": str(toy_program(folder)), "snaps_dir": str(folder)}
    return {"seeds": seeds, "backend": "magma"} | files | library


class Clocks:
    """Wall time and processor time, of this process, its ended children, and everybody on this machine."""

    def __init__(self) -> None:
        self.wall_s = time.monotonic()
        self.engine_s = cpu_s(resource.RUSAGE_SELF)
        self.children_s = cpu_s(resource.RUSAGE_CHILDREN)
        times = psutil.cpu_times()
        self.busy_s = sum(times) - times.idle - getattr(times, "iowait", 0.0)

    def since(self, before: "Clocks") -> dict[str, float]:
        """Returns the seconds passed on each clock, and those that went to other programs."""
        passed = {name: value - getattr(before, name) for name, value in vars(self).items()}
        others_s = passed.pop("busy_s") - passed["engine_s"] - passed["children_s"]
        return passed | {"others_s": max(0.0, others_s)}


def cpu_s(who: int) -> float:
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


# ---- around it ------------------------------------------------------------------------------------------------------

HEADER = (
    f"{'jobs':>5} {'wall s':>7} {'engine s':>8} {'lanes s':>8} {'others s':>8}"
    f" {'us/decision':>11} {'wall/(cpu/cores)':>16} {'engine MiB':>10} {'lane MiB':>8} {'peak MiB':>8} {'allowed':>8}"
)


def run_one(options: argparse.Namespace, jobs: str) -> list[str]:
    """Measures one `--jobs` in a process of its own, prints its line, and returns the limits it breaks."""
    command = [sys.executable, __file__, *sys.argv[1:], "--measure", jobs]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        peak = PeakRss(process.pid)
        answer, _ = process.communicate()
        peak_mib = peak.stop()
    if process.returncode:
        return [f"jobs {jobs}: the measured process ended with {process.returncode}"]
    found = json.loads(answer)
    at_once = found["lanes"] if jobs == "all" else min(int(jobs), found["lanes"])
    cores = len(os.sched_getaffinity(0))
    decision_us = 1e6 * found["engine_s"] / max(1, found["decisions"])
    wall = found["wall_s"] * cores / (found["engine_s"] + found["children_s"] + found["others_s"])
    allowed_mib = at_once * (found["child_mib"] + LANE_OVERHEAD_MIB) + ENGINE_MIB
    print(
        f"{jobs:>5} {found['wall_s']:7.1f} {found['engine_s']:8.1f} {found['children_s']:8.1f} {found['others_s']:8.1f}"
        f" {decision_us:11.0f} {wall:16.2f} {found['engine_mib']:10.0f} {found['child_mib']:8.0f}"
        f" {peak_mib:8.0f} {allowed_mib:8.0f}",
        flush=True,
    )
    checks = {
        f"{decision_us:.0f} us a decision, at most {DECISION_LIMIT_US:.0f}": decision_us > DECISION_LIMIT_US
        and options.transfer == "closed",  # in replay the reference world's own work is in the figure
        f"wall {wall:.2f} times total CPU / cores, at most {WALL_LIMIT}": at_once >= cores and wall > WALL_LIMIT,
        f"peak {peak_mib:.0f} MiB, at most {allowed_mib:.0f}": peak_mib > allowed_mib,
        f"{len(found['lost'])} lanes lost: {next(iter(found['lost']), '')}": bool(found["lost"]),
    }
    return [f"jobs {jobs}: {text}" for text, is_broken in checks.items() if is_broken]


class PeakRss:
    """Follows the RSS of a process and all its children, from a thread."""

    def __init__(self, pid: int) -> None:
        self._process = psutil.Process(pid)
        self._command = self._process.cmdline()
        self._peak = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._follow)
        self._thread.start()

    def stop(self) -> float:
        """Returns the highest sum seen, MiB."""
        self._over.set()
        self._thread.join()
        return self._peak / MIB

    def _follow(self) -> None:
        while not self._over.wait(SAMPLE_S):
            self._peak = max(self._peak, self._sum())

    def _sum(self) -> int:
        total = 0
        with contextlib.suppress(psutil.Error):
            total += self._process.memory_info().rss
            for child in self._process.children(recursive=True):
                with contextlib.suppress(psutil.Error):  # it has just ended
                    if child.cmdline() != self._command:  # else it is being started and still shares all our memory
                        total += child.memory_info().rss
        return total


if __name__ == "__main__":
    sys.exit(main())
