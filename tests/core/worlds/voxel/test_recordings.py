"""The embedded world against recordings of the real game: every field of every record."""

import json

import numpy as np
import pytest

from core.wire.act13 import KEYS
from core.wire.bolr import RECORD
from core.worlds.voxel import lists, step
from core.worlds.voxel.load import sim_of_snapshot
from tests.core.worlds.voxel.conftest import TAPES, read_tape, snapshot_of_seed

DEFAULTS = {"hotbar": -1, "craft": -1}


def row_of(line: str) -> np.ndarray:
    order = json.loads(line)
    return np.array([order.get(key, DEFAULTS.get(key, 0)) for key in KEYS], np.float64)


@pytest.mark.parametrize("name", TAPES)
def test_every_field_of_every_record_is_the_games(name: str) -> None:
    lines, records = read_tape(name)
    sim = sim_of_snapshot(snapshot_of_seed(int(name[1:3])))
    record = np.zeros(1, RECORD)
    lists.emit(sim, record, True)
    assert record.tobytes() == records[0].tobytes()
    for tick, line in enumerate(lines, 1):
        step.step(sim, row_of(line))
        lists.emit(sim, record, True)
        different = [field for field in RECORD.names if (record[0][field] != records[tick][field]).any()]
        assert not different, f"tick {tick}"
