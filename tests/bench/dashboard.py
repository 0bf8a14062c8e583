"""What the dashboard costs: `python -m tests.bench.dashboard [--world toy|voxel] [--seconds S] [--pairs N]`.

Each pair runs the same 65 lanes, 3 at a time, once without a screen (A), once with the run screen and once with
the Wall (B), interleaved, each in a process of its own on a pseudo-terminal of 120 x 40. Medians are printed with
their limits.
"""

import argparse
import asyncio
import fcntl
import json
import os
import pty
import resource
import select
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
from pathlib import Path
from typing import Any

WIDTH, HEIGHT = 120, 40
SETTLE_S = 4.0
SEEDS = ",".join(map(str, range(1, 14)))
ENDLESS = "--ep-ticks=4000000"
LIMITS = {
    "dashboard": {"lost %": 5.0, "ui cpu %": 8.0, "KB/s": 60.0, "lag ms": 100.0, "first paint s": 0.5},
    "wall": {"lost %": 8.0, "ui cpu %": 15.0, "KB/s": 150.0, "lag ms": 100.0, "first paint s": 0.5},
}
GROWTH_LIMIT_MIB, GROWTH_UPDATES = 20.0, 200_000


# ---- the measured process -------------------------------------------------------------------------------------------


def measured_run(mode: str, arguments: list[str], seconds: float, answer: Path) -> None:
    """Runs the lanes with or without a screen and writes what was measured as JSON."""
    from netherite_tui.cli.run import run as run_command

    context = run_command.make_context("run", arguments)
    from netherite_tui.cli.run import resolve_typed
    from netherite_tui.clients.opening import new_run

    with context:
        client = new_run(resolve_typed(context.params), Path(os.environ["NETHERITE_RUNS"]))
    found: dict[str, Any] = {}
    if mode == "headless":
        client.start()
        _measure(client, seconds, found, None)
    else:
        _run_screen(mode, client, seconds, found)
    client.abort()
    client.close()
    answer.write_text(json.dumps(found))
    os._exit(0)


def _run_screen(mode: str, client: Any, seconds: float, found: dict[str, Any]) -> None:
    from netherite_tui.app import NetheriteApp
    from netherite_tui.terminal import SturdyDriver

    class TimedDriver(SturdyDriver):
        def write(self, data: str) -> None:
            if "first paint s" not in found and len(data) > 2000:
                found["first paint s"] = time.time() - float(os.environ["BENCH_START"])
                found["heavy"] = [name for name in ("torch", "numba") if name in sys.modules]
            super().write(data)

    app = NetheriteApp(client)
    app.driver_class = TimedDriver
    lags: list[float] = []

    async def watch_loop() -> None:
        while True:
            began = time.perf_counter()
            await asyncio.sleep(0.01)
            lags.append(time.perf_counter() - began - 0.01)

    async def go() -> None:
        task = asyncio.create_task(watch_loop())
        measuring = threading.Thread(target=measure, daemon=True)
        measuring.start()
        await app.run_async()
        task.cancel()

    def measure() -> None:
        deadline = time.monotonic() + 120
        while not client.views() and time.monotonic() < deadline:
            time.sleep(0.05)
        if mode == "wall":
            app.call_from_thread(app.screen.action_pane, "wall")
        _measure(client, seconds, found, lags)
        app.call_from_thread(app.exit)

    asyncio.run(go())


def _measure(client: Any, seconds: float, found: dict[str, Any], lags: list[float] | None) -> None:
    deadline = time.monotonic() + 120
    while sum(view.decision > 0 for view in client.views()) < 3 and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(SETTLE_S)
    if lags is not None:
        lags.clear()
    start, ticks, cpu = time.monotonic(), _ticks(client), _ui_cpu_s()
    time.sleep(seconds)
    wall = time.monotonic() - start
    found["ticks/s"] = (_ticks(client) - ticks) / wall
    found["ui cpu %"] = 100 * (_ui_cpu_s() - cpu) / wall
    found["window"] = [start, start + wall]
    found["lag ms"] = 1000 * max(lags, default=0.0) if lags is not None else 0.0


def _ticks(client: Any) -> int:
    return 4 * sum(view.decision for view in client.views())


def _ui_cpu_s() -> float:
    """Returns the CPU seconds of the main thread, the terminal's writer and its reader."""
    total = 0.0
    names = {thread.native_id for thread in threading.enumerate() if thread.name in ("textual-output", "textual-input")}
    for task in (os.getpid(), *names):
        fields = Path(f"/proc/self/task/{task}/stat").read_text().rpartition(")")[2].split()
        total += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return total


# ---- the measuring process ------------------------------------------------------------------------------------------


def measure_once(mode: str, arguments: list[str], seconds: float, folder: Path) -> dict[str, Any]:
    """Runs one measured process on a terminal of its own and returns what it found."""
    answer = folder / f"{mode}.json"
    answer.unlink(missing_ok=True)
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("4H", HEIGHT, WIDTH, 0, 0))
    environ = os.environ | {"TERM": "xterm-256color", "COLORTERM": "truecolor", "LC_ALL": "C.UTF-8"}
    environ |= {"NETHERITE_RUNS": str(folder / "runs"), "NETHERITE_CONFIG": str(folder / "none.toml")}
    environ["BENCH_START"] = str(time.time())
    command = [sys.executable, "-m", "tests.bench.dashboard", "--measured", mode, str(seconds), str(answer), *arguments]
    child = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=environ, start_new_session=True)
    os.close(slave)
    arrivals: list[tuple[float, int]] = []
    tail = b""
    while child.poll() is None:
        if select.select([master], [], [], 0.2)[0]:
            try:
                data = os.read(master, 1 << 16)
            except OSError:
                break
            arrivals.append((time.monotonic(), len(data)))
            tail = (tail + data)[-2000:]
    child.wait(30)
    os.close(master)
    if not answer.exists():
        raise SystemExit(f"{mode}: nothing was measured\n{tail.decode(errors='replace')}")
    found = json.loads(answer.read_text())
    begin, end = found["window"]
    found["KB/s"] = sum(size for when, size in arrivals if begin <= when <= end) / (end - begin) / 1000
    return found


def memory_growth_mib(updates: int) -> float:
    """Returns how much the app grows while `updates` views are replaced under it."""
    from netherite_tui.app import NetheriteApp
    from tests.netherite_tui.fake_client import golden_records, ladder

    records = golden_records("s14_move400")

    async def go() -> float:
        client = ladder()
        app = NetheriteApp(client)
        async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
            base = 0.0
            for number in range(updates):
                index = 19 + number % 3
                client.put(index, decision=number % 1500, record=records[number % len(records)])
                if number % 100 == 0:
                    app.screen.look_now(app.screen.model.poll())
                    await pilot.pause(0)
                if number == updates // 10:  # caches have filled
                    base = _rss_mib()
            return _rss_mib() - base

    return asyncio.run(go())


def _rss_mib() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--world", choices=("toy", "voxel"), default="voxel")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--pairs", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        arguments = _arguments(options.world, folder)
        found: dict[str, list[dict[str, Any]]] = {"headless": [], "dashboard": [], "wall": []}
        for _ in range(options.pairs):
            for mode, results in found.items():
                results.append(measure_once(mode, arguments, options.seconds, folder))
    _print(found)
    growth = memory_growth_mib(GROWTH_UPDATES)
    print(f"App memory growth over {GROWTH_UPDATES:,} view updates: {growth:.1f} MiB (at most {GROWTH_LIMIT_MIB:.0f})")


def _arguments(world: str, folder: Path) -> list[str]:
    if world == "toy":
        from tests.commandline import make_toy

        return [*make_toy(folder, [int(seed) for seed in SEEDS.split(",")]), "--jobs=3", "--tries=5", ENDLESS]
    words = ["--backend=voxel", "--transfer=closed", "--policy=net", "--checkpoint=fixture:1", f"--seeds={SEEDS}"]
    return [*words, "--jobs=3", "--tries=5", ENDLESS]


def _print(found: dict[str, list[dict[str, Any]]]) -> None:
    base = statistics.median(result["ticks/s"] for result in found["headless"])
    print(f"without a screen: {base:,.0f} ticks/s (median of {len(found['headless'])})")
    for mode, limits in LIMITS.items():
        results = found[mode]
        lost = [
            100 * (1 - with_ui["ticks/s"] / without["ticks/s"])
            for with_ui, without in zip(results, found["headless"], strict=True)
        ]
        values = {"lost %": statistics.median(lost)}
        for name in ("ui cpu %", "KB/s", "first paint s"):
            values[name] = statistics.median(result[name] for result in results)
        values["lag ms"] = max(result["lag ms"] for result in results)
        heavy = sorted({name for result in results for name in result["heavy"]})
        print(f"{mode}:")
        for name, limit in limits.items():
            print(f"  {name:<14} {values[name]:8.2f}  (at most {limit:g}){'' if values[name] <= limit else '  OVER'}")
        print(f"  imported before the first paint: {', '.join(heavy) or 'neither torch nor numba'}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measured"]:
        measured_run(sys.argv[2], sys.argv[5:], float(sys.argv[3]), Path(sys.argv[4]))
    else:
        main()
