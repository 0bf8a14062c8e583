"""The toy world in its two forms: a lane program and a blaze library compiled on the spot."""

import subprocess
import sys
from pathlib import Path

PROGRAMS = Path(__file__).parent / "programs"
#: A command, not a path: starts in some 20 ms.
TOY_COMMAND = (sys.executable, "-S", "-E", str(PROGRAMS / "toy_lane.py"))


def toy_program(folder: Path) -> Path:
    """Writes an executable that is the toy lane program, for settings that take one path, and returns it."""
    path = folder / "toy_lane"
    path.write_text(f'#!/bin/sh\nexec {" ".join(TOY_COMMAND)} "$@"\n')
    path.chmod(0o755)
    return path


def toy_library(folder: Path, *defines: str) -> Path:
    """Compiles the toy blaze library with compile-time choices of `toy_blaze.c` and returns it."""
    path = folder / f"toy_blaze{'_'.join(['', *defines]).lower()}.so"
    if not path.exists():
        options = [
            "-O1",
            "-Wall",
            "-Werror",
            "-shared",
            "-fPIC",
            "-ffp-contract=off",
            *(f"-D{name}" for name in defines),
        ]
        subprocess.run(["cc", *options, "-o", path, PROGRAMS / "toy_blaze.c"], check=True)
    return path


def toy_snapshot(folder: Path, seed: int, words: str = "") -> Path:
    """Writes the t0 snapshot of a seed (see `toy_blaze.c` for the words) and returns it."""
    path = folder / f"s{seed}_t0.bsnp"
    path.write_text(f"toy {seed} {words}\n")
    return path
