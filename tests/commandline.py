"""Running the command line on the toy lane program, as a person would."""

import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from core.host.processes import leftovers
from tests.toys import TOY_COMMAND

ROOT = Path(__file__).parents[1]
PATIENCE_S = 120.0


def make_toy(folder: Path, seeds: Sequence[int], *options: str) -> list[str]:
    """Writes a lane program and empty snapshots to a folder; returns `run` options that use them.

    Args:
        folder: an existing folder.
        seeds: seeds that get a t0 snapshot.
        options: further options of the toy lane program.
    """
    program = folder / "toy"
    program.write_text(f'#!/bin/sh\nexec {shlex.join(TOY_COMMAND)} "$@" {shlex.join(options)}\n')
    program.chmod(0o755)
    snaps = folder / "snaps"
    snaps.mkdir(exist_ok=True)
    for seed in seeds:
        (snaps / f"s{seed}_t0.bsnp").touch()
    return [
        "--backend=magma",
        f"--magma-bin={program}",
        f"--snaps-dir={snaps}",
        f"--seeds={','.join(map(str, seeds))}",
        "--policy=random:3",
    ]


def environment(runs: Path) -> dict[str, str]:
    """Returns the environment of a command whose runs and config file lie in a folder of the test."""
    return {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "NETHERITE_RUNS": str(runs),
        "NETHERITE_CONFIG": str(runs / "config.toml"),
    }


def netherite(runs: Path, *arguments: str, **settings: object) -> subprocess.CompletedProcess:
    """Runs one command to its end."""
    return subprocess.run(
        [sys.executable, "-m", "netherite_tui", *arguments],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
        env=environment(runs),
        **settings,
    )


def start(runs: Path, *arguments: str, **settings: object) -> subprocess.Popen:
    """Starts one command; the caller waits for it."""
    return subprocess.Popen(
        [sys.executable, "-m", "netherite_tui", *arguments],
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **settings},
        env=environment(runs),
    )


def living_lanes(runs: Path) -> list[int]:
    """Returns the pids of all lane processes of the runs in a folder."""
    ids = {path.name for path in runs.iterdir()} if runs.exists() else set()
    return [one.pid for one in leftovers() if one.run_id in ids]
