"""How far the embedded world agrees with recordings of the real game, field by field.

    python tests/bench/parity.py [TAPE.npz | FOLDER]...

A tape `sSEED_NAME.npz` holds `lines` and `records` and starts from `sSEED_t0.bsnp` or `.bsnp.gz` beside it. Without
arguments the recordings under tests/data are played. blocks and logs, which the gate does not look at, come apart.
"""

import gzip
import re
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from core.wire.bolr import RECORD
from core.worlds.voxel.lines import parse
from core.worlds.voxel.world import VoxelWorld
from tests.paths import DATA

UNGATED = ("blocks", "logs")


def snapshot_beside(tape: Path, scratch: Path) -> Path:
    """Returns the t0 snapshot a tape starts from, unpacked if need be."""
    seed = re.match(r"s-?\d+", tape.name)
    plain = tape.with_name(f"{seed[0] if seed else tape.stem}_t0.bsnp")
    if plain.exists():
        return plain
    unpacked = scratch / plain.name
    unpacked.write_bytes(gzip.decompress(Path(f"{plain}.gz").read_bytes()))
    return unpacked


def compare(tape: Path, scratch: Path) -> dict[str, np.ndarray]:
    """Plays a tape; returns by field which records agree."""
    with np.load(tape) as file:
        lines = [line if isinstance(line, bytes) else str(line).encode() for line in file["lines"]]
        records = file["records"].view(RECORD)[:, 0]
    world = VoxelWorld(snapshot_beside(tape, scratch), None)
    world.open()
    agree = {name: np.zeros(len(records), bool) for name in RECORD.names}
    for tick, real in enumerate(records):
        if tick:
            order = parse(lines[tick - 1])
            world.tick(np.array(order.row), cam=order.cam)
        for name, column in agree.items():
            column[tick] = np.array_equal(world.record[0][name], real[name])
    world.close()
    return agree


def print_table(title: str, agree: dict[str, np.ndarray]) -> None:
    """Prints one tape: ticks that agree and the first that does not."""
    print(title)
    for apart in (False, True):
        for name, column in agree.items():
            if (name in UNGATED) == apart:
                first = "" if column.all() else f"   first off at tick {int(np.argmin(column))}"
                print(f"  {name:14s} {int(column.sum()):5d} / {len(column)}{first}{'   (not gated)' if apart else ''}")


def main(arguments: list[str]) -> int:
    """Plays every tape named or found; 1 if any gated field was off anywhere."""
    places = [Path(argument) for argument in arguments] or [DATA / "magma"]
    tapes = [tape for place in places for tape in (sorted(place.glob("s*.npz")) if place.is_dir() else [place])]
    exact = True
    with tempfile.TemporaryDirectory() as scratch:
        for tape in tapes:
            started = time.perf_counter()
            agree = compare(tape, Path(scratch))
            print_table(f"{tape.name} ({time.perf_counter() - started:.1f} s)", agree)
            exact &= all(column.all() for name, column in agree.items() if name not in UNGATED)
    print("every gated field agrees on every tick" if exact else "some gated fields are off")
    return 0 if exact else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
