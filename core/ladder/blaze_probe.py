"""Tries a blaze library in a process of its own, because a bad one may crash or never return.

`python -P -m core.ladder.blaze_probe LIBRARY SNAPSHOT REPEAT` prints one line and exits with 0, or with 2 when the
library cannot be used. An empty SNAPSHOT only loads it.
"""

import subprocess
import sys
from pathlib import Path

from core.errors import ExitCode, NetheriteError
from core.ladder.sides import package_environment
from core.wire.act13 import NOOP_ROW
from core.worlds.blaze import BlazeWorld, load_library
from core.worlds.magma import ending_of, last_line

PROBE_TIMEOUT_S = 60.0


def probe_blaze(library: Path, snapshot: Path | None, repeat: int, timeout_s: float) -> tuple[bool, str]:
    """Returns whether the library works, and one line about it."""
    command = [sys.executable, "-P", "-m", "core.ladder.blaze_probe", str(library), str(snapshot or ""), str(repeat)]
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=timeout_s,
            env=package_environment(),
            check=False,
        )
    except subprocess.TimeoutExpired:
        return False, f"blaze library {library}: a call did not return within {timeout_s:g} s"
    if done.returncode == ExitCode.OK:
        return True, done.stdout.decode("utf-8", "replace").strip()
    if done.returncode == ExitCode.USAGE and done.stderr:
        return False, done.stderr.decode("utf-8", "replace").splitlines()[-1]
    said = last_line(done.stderr)
    return False, f"blaze library {library}: {ending_of(done.returncode)}{f': {said}' if said else ''}"


def main(arguments: list[str]) -> int:
    """Loads the library, plays one decision, and reports."""
    library, snapshot, repeat = Path(arguments[0]), arguments[1], int(arguments[2])
    try:
        newer = load_library(library).is_newer_abi
        abi = "newer ABI" if newer else "older ABI (the boundary reads as death, success is always the torch)"
        if not snapshot:
            print(f"{library}: {abi}; emit not tried")
            return ExitCode.OK
        world = BlazeWorld(library, Path(snapshot))
        world.open()
        world.step(NOOP_ROW, repeat)
        _ = world.record
        world.close()
    except NetheriteError as error:
        print(error, file=sys.stderr)
        return ExitCode.USAGE
    print(f"{library}: {abi}, emit rounds to float32")
    return ExitCode.OK


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
