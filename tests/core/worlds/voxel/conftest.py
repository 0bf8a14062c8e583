"""Recordings of the real game, and the snapshots they started from."""

import gzip
import tempfile
from typing import NamedTuple

import numpy as np
import pytest

from core.wire.bolr import RECORD
from core.wire.bsnp import Snapshot, read_snapshot
from core.worlds.voxel.state import Sim, empty_sim
from tests.paths import DATA

MAGMA = DATA / "magma"
TAPES = ("s10_walk32", "s14_walk32", "s10_move400", "s14_move400")
_REGION_OFFSET, _HEAD_BYTES = 728, 752


class Tape(NamedTuple):
    """A recording: its lines and the records they led to, and an empty-handed world with the snapshot's cells."""

    name: str
    lines: list[str]
    records: np.ndarray  # [len(lines) + 1] RECORD
    sim: Sim


def still_world(seed: int) -> Sim:
    """Returns a zero state around the cells of a real t0 snapshot (which holds no items)."""
    raw = gzip.decompress((MAGMA / f"s{seed}_t0.bsnp.gz").read_bytes())
    lo_x, lo_y, lo_z, nx, ny, nz = np.frombuffer(raw, "<i4", 6, _REGION_OFFSET)
    cells = np.frombuffer(raw, "<u2", nx * ny * nz, _HEAD_BYTES).astype(np.uint16).reshape(nx, ny, nz)
    return empty_sim((lo_x, lo_y, lo_z), cells)


def snapshot_of_seed(seed: int) -> Snapshot:
    """Returns a real t0 snapshot."""
    with tempfile.NamedTemporaryFile(suffix=".bsnp") as file:
        file.write(gzip.decompress((MAGMA / f"s{seed}_t0.bsnp.gz").read_bytes()))
        file.flush()
        return read_snapshot(file.name)


def read_tape(name: str) -> tuple[list[str], np.ndarray]:
    """Returns the lines of a recording and the records they led to, one more, of dtype RECORD."""
    with np.load(MAGMA / f"{name}.npz") as file:
        lines = [bytes(line).decode() if isinstance(line, bytes) else str(line) for line in file["lines"]]
        return lines, file["records"].view(RECORD)[:, 0]


@pytest.fixture(params=TAPES)
def tape(request: pytest.FixtureRequest) -> Tape:
    """Returns each recording in turn."""
    lines, records = read_tape(request.param)
    return Tape(request.param, lines, records, still_world(int(request.param[1:3])))
