"""One line for each thing a run needs on this machine, and what to do when it is bad."""

import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

import psutil

from core.errors import NetheriteError
from core.host.memory import GIB, MIB, available_bytes, reserve_bytes
from core.host.processes import Processes
from core.ladder.admission import IN_PROCESS_BYTES, PROCESS_BYTES, slots_for
from core.ladder.blaze_probe import PROBE_TIMEOUT_S, probe_blaze
from core.ladder.config import GENERATED, LadderConfig
from core.ladder.sides import lane_program
from core.ladder.warmup import cold_rooms, rooms_of
from core.runs.lane_program import program_of
from core.wire.act13 import NOOP_ROW
from core.wire.bnn1 import load_checkpoint
from core.wire.bolr import RECORD_BYTES
from core.wire.bsnp import read_snapshot
from core.worlds.magma import lane_command

PROBE_DECISIONS = 10
MIN_COLUMNS, MIN_LINES = 80, 24
LANE_DISK_BYTES = 1 * MIB  #: what a lane's recordings take, roughly


class Level(StrEnum):
    """How a check came out. Only `bad` changes the exit code."""

    OK = "ok"
    HINT = "hint"  #: works, could be better
    BAD = "bad"
    NONE = "-"  #: does not apply here


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the doctor."""

    level: Level
    subject: str
    text: str
    remedy: str = ""  #: what to do; empty when nothing needs doing

    @property
    def line(self) -> str:
        """The line for people."""
        return f"{self.level.value:<5} {self.subject:<14} {self.text}{f' -> {self.remedy}' if self.remedy else ''}"


@dataclass(slots=True)
class Patient:
    """What is looked at, and what earlier checks learnt for later ones."""

    config: LadderConfig
    runs_dir: Path
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)
    lane_rss_bytes: int = 0  #: measured; 0 = not yet


def examine(patient: Patient) -> Iterator[Finding]:
    """Yields one finding a check, as each is done. What is bad is a finding, never an exception."""
    checks: tuple[Callable[[Patient], Finding], ...] = (
        check_lane_binary,
        check_blaze,
        check_snapshots,
        check_checkpoint,
        check_memory,
        check_disk,
        check_terminal,
        check_tmux,
    )
    for check in checks:
        yield check(patient)


# ---- what lanes need ------------------------------------------------------------------------------------------------


def check_lane_binary(patient: Patient) -> Finding:
    """Starts the lane program and plays a few decisions: record length, seconds to the first record, RSS."""
    config, subject = patient.config, "lane binary"
    if not config.has_magma:
        return Finding(Level.NONE, subject, f"backend {config.backend} starts no lane process")
    if cold_rooms(rooms_of(config)) and config.backend == "voxel":
        return Finding(Level.HINT, subject, "embedded world: not tried, its kernels are not compiled yet")
    processes = Processes(f"doctor-{os.getpid()}")
    try:
        start = _first_snapshot(config)
        snapshot, seed = start if start else (None, config.seeds[0])
        world = program_of(config).world(processes, snapshot, seed, config.lane_args)
        try:
            began = time.monotonic()
            world.open()
            first_s = time.monotonic() - began
            for _ in range(PROBE_DECISIONS):
                world.step(NOOP_ROW, config.action_repeat)
            patient.lane_rss_bytes = psutil.Process(world.pid).memory_info().rss
        finally:
            world.close()
    except NetheriteError as error:
        return Finding(Level.BAD, subject, _one_line(error), _lane_remedy(config, str(error)))
    except psutil.Error as error:
        return Finding(Level.BAD, subject, f"{config.magma_bin}: its memory cannot be read: {_one_line(error)}")
    finally:
        processes.close()
    name = "embedded world" if config.backend == "voxel" else config.magma_bin
    origin = snapshot.name if snapshot else f"seed {seed} spawned afresh"
    return Finding(
        Level.OK,
        subject,
        f"{name}: records of {RECORD_BYTES} bytes, first after {first_s:.2f} s, "
        f"{patient.lane_rss_bytes / MIB:.0f} MiB ({origin})",
    )


def _lane_remedy(config: LadderConfig, said: str) -> str:
    if "record is" in said or "record is longer" in said:
        return "build the engine this program speaks to (SPEC 2 records), or point --magma-bin at it"
    if "cannot start" in said:
        return "build the game, or point --magma-bin at it"
    by_hand = " ".join(lane_command(lane_program(config), None, config.seeds[0]))
    return f"start it by hand: {by_hand} < /dev/null | wc -c"


def _first_snapshot(config: LadderConfig) -> tuple[Path, int] | None:
    for seed in config.seeds:
        path = Path(config.snaps_dir) / f"s{seed}_t0.bsnp"
        if path.is_file():
            return path, seed
    return None


def check_blaze(patient: Patient) -> Finding:
    """Loads the blaze library: its ABI, and the miscompiled emit of SPEC 12."""
    config, subject = patient.config, "blaze library"
    if config.backend == "voxel" or (config.has_magma and config.reference != "blaze"):
        return Finding(Level.NONE, subject, "not used")
    start = _first_snapshot(config)
    works, text = probe_blaze(
        Path(config.blaze_lib), start[0] if start else None, config.action_repeat, PROBE_TIMEOUT_S
    )
    if not works:
        return Finding(
            Level.BAD, subject, text, "" if "miscompiled" in text else "build it, or point --blaze-lib at it"
        )
    if start is None:
        return Finding(Level.HINT, subject, text, "give it a snapshot to load")
    return Finding(Level.OK, subject, text)


def check_snapshots(patient: Patient) -> Finding:
    """Reads the head of every snapshot of every seed and stage; regions loaded together must be equally large."""
    config, subject = patient.config, "snapshots"
    if config.snaps_dir == GENERATED:
        return Finding(Level.OK, subject, "generated terrain, none needed")
    counts: Counter[int] = Counter()
    sizes: Counter[tuple[int, ...]] = Counter()
    bad: list[str] = []
    for seed in config.seeds:
        for stage in range(5):
            path = Path(config.snaps_dir) / (f"s{seed}_stg{stage}.bsnp" if stage else f"s{seed}_t0.bsnp")
            if not path.exists():
                continue
            try:
                snapshot = read_snapshot(path)
                if snapshot.seed != seed:
                    raise NetheriteError(f"{path}: seed is {snapshot.seed}, expected {seed}")
            except NetheriteError as error:
                bad.append(_one_line(error))
                continue
            counts[stage] += 1
            sizes[snapshot.cells.shape] += 1
    return _snapshot_finding(config, subject, counts, sizes, bad)


def _snapshot_finding(
    config: LadderConfig, subject: str, counts: Counter[int], sizes: Counter[tuple[int, ...]], bad: list[str]
) -> Finding:
    table = ", ".join(f"stage {stage} {counts[stage]}/{len(config.seeds)}" for stage in range(5))
    text = f"{config.snaps_dir}: {table}"
    if bad:
        return Finding(Level.BAD, subject, f"{bad[0]} ({len(bad)} bad; {table})", "bake it again, or copy it again")
    if 0 in config.stages and counts[0] < len(config.seeds):
        missing = next(s for s in config.seeds if not (Path(config.snaps_dir) / f"s{s}_t0.bsnp").exists())
        return Finding(Level.BAD, subject, text, f"seed {missing} has no t0: netherite-tui bake --seeds {missing}")
    if len(sizes) > 1:
        shown = ", ".join("x".join(map(str, size)) for size in sizes)
        return Finding(Level.HINT, subject, f"{text}; regions differ in size: {shown}", "bake them alike")
    return Finding(Level.OK, subject, text)


def check_checkpoint(patient: Patient) -> Finding:
    """Reads the checkpoint with every check of SPEC 8."""
    config, subject = patient.config, "checkpoint"
    if config.policy != "net":
        return Finding(Level.NONE, subject, f"policy {config.policy} needs none")
    if not config.checkpoint:
        return Finding(Level.HINT, subject, "none given", "--checkpoint PATH, or fixture:1 to try things")
    try:
        checkpoint = load_checkpoint(config.checkpoint)
    except NetheriteError as error:
        return Finding(Level.BAD, subject, _one_line(error), "copy it again, or choose another")
    text = f"{checkpoint.name}: schema 1, payload hash {checkpoint.payload_hash:016x}"
    if checkpoint.sidecar:
        return Finding(Level.HINT, subject, text, f"{checkpoint.sidecar.name} beside it is not read: defaults are used")
    return Finding(Level.OK, subject, text)


def check_memory(patient: Patient) -> Finding:
    """Tells how many lanes fit, with the measured lane or the usual one."""
    config, subject = patient.config, "memory"
    available = available_bytes()
    usable = max(0, available - reserve_bytes(available))
    lane = patient.lane_rss_bytes or (PROCESS_BYTES if config.has_magma else IN_PROCESS_BYTES)
    fit = usable // lane
    jobs = min(slots_for(config.jobs), len(config.seeds) * config.tries * len(config.stages))
    measured = "measured" if patient.lane_rss_bytes else "assumed"
    text = f"{available // MIB} MiB available, {lane // MIB} MiB a lane ({measured}): {fit} lanes fit, jobs {jobs}"
    if fit < 1:
        return Finding(Level.BAD, subject, text, "free memory; not even one lane fits beside the reserve")
    if fit < jobs:
        return Finding(Level.HINT, subject, text, f"fewer lanes will run at a time; --jobs {fit} says so")
    return Finding(Level.OK, subject, text)


def check_disk(patient: Patient) -> Finding:
    """Looks at the room for recordings in the runs folder, and whether it can be written."""
    subject, folder = "disk", patient.runs_dir
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    if not os.access(existing, os.W_OK | os.X_OK):
        return Finding(Level.BAD, subject, f"{folder} cannot be written", "--runs-dir, or NETHERITE_RUNS")
    free = shutil.disk_usage(existing).free
    lanes = len(patient.config.seeds) * patient.config.tries * len(patient.config.stages)
    text = f"{folder}: {free / GIB:.1f} GiB free"
    if free < lanes * LANE_DISK_BYTES:
        return Finding(Level.BAD, subject, text, f"{lanes} lanes may write {lanes * LANE_DISK_BYTES // MIB} MiB")
    return Finding(Level.OK, subject, text)


# ---- what the dashboard needs ---------------------------------------------------------------------------------------


def check_terminal(patient: Patient) -> Finding:
    """Tells size, colours and encoding of the terminal."""
    subject, environment = "terminal", patient.environment
    stdout = sys.__stdout__  # the dashboard puts something of its own in the place of sys.stdout
    if stdout is None or not stdout.isatty():
        return Finding(Level.NONE, subject, "standard output is no terminal")
    size = os.get_terminal_size(stdout.fileno())
    encoding = (stdout.encoding or "unknown").upper()
    text = f"{size.columns}x{size.lines}, {_colours(environment)}, {encoding}, TERM={environment.get('TERM', '')}"
    if environment.get("TERM", "dumb") == "dumb":
        return Finding(Level.BAD, subject, text, "the dashboard needs a TERM with cursor control; run --headless works")
    if size.columns < MIN_COLUMNS or size.lines < MIN_LINES:
        return Finding(Level.HINT, subject, text, f"panes are cut below {MIN_COLUMNS}x{MIN_LINES}")
    if encoding not in ("UTF-8", "UTF8"):
        return Finding(Level.HINT, subject, text, "plain glyphs are used; LC_ALL=C.UTF-8 gives lines and blocks")
    return Finding(Level.OK, subject, text)


def _colours(environment: Mapping[str, str]) -> str:
    if environment.get("NO_COLOR"):
        return "no colour (NO_COLOR)"
    if environment.get("COLORTERM", "").lower() in ("truecolor", "24bit"):
        return "true colour"
    return "256 colours" if "256color" in environment.get("TERM", "") else "16 colours"


def check_tmux(patient: Patient) -> Finding:
    """Inside tmux: version, default-terminal, RGB, mouse, allow-passthrough."""
    subject = "tmux"
    if not patient.environment.get("TMUX"):
        return Finding(Level.NONE, subject, "not inside tmux")
    version = _tmux("-V").removeprefix("tmux ")
    if not version:
        return Finding(Level.HINT, subject, "inside tmux, but the tmux program does not answer")
    options = {
        name: _tmux("show-options", scope, name) for name, scope in (("default-terminal", "-gqv"), ("mouse", "-gqv"))
    }
    options["allow-passthrough"] = _tmux("show-options", "-gwqv", "allow-passthrough")
    features = _tmux("display-message", "-p", "#{client_termfeatures}") or _tmux(
        "show-options", "-sqv", "terminal-features"
    )
    features += _tmux("show-options", "-sqv", "terminal-overrides")
    rgb = "RGB" in features or "Tc" in features
    shown = ", ".join(f"{name} {value or 'off'}" for name, value in options.items())
    text = f"{version}, {shown}, RGB {'on' if rgb else 'off'}"
    if not options["default-terminal"].startswith(("tmux", "screen")):
        return Finding(Level.HINT, subject, text, "tmux set -g default-terminal tmux-256color")
    if not rgb:
        return Finding(Level.HINT, subject, text, "for true colour: tmux set -as terminal-features ',*:RGB'")
    if options["mouse"] != "on":
        return Finding(Level.HINT, subject, text, "for the mouse: tmux set -g mouse on")
    return Finding(Level.OK, subject, text)


def _tmux(*arguments: str) -> str:
    try:
        done = subprocess.run(["tmux", *arguments], capture_output=True, text=True, timeout=5.0, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
