"""What generated land promises, for the canonical seeds and for any other."""

import gzip

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.wire.bsnp import HEAD, check_coal, read_snapshot, write_snapshot
from core.worlds.voxel import terrain
from tests.paths import DATA

MAGMA = DATA / "magma"
CANONICAL = (2, 3, 10, 11, 14, 16, 20, 27, 29, 32, 33, 44, 46)


def columns_away(cells: np.ndarray) -> np.ndarray:
    """Horizontal distance from the spawn column to each of `cells` [n, 3]."""
    return np.hypot(cells[:, 0] - terrain.SPAWN, cells[:, 2] - terrain.SPAWN)


def promises_hold(seed: int) -> None:
    land = terrain.generate(seed)
    ids = land.cells >> 4
    lo = np.array(land.lo)
    logs, coal = np.argwhere(ids == terrain.LOG) + lo, np.argwhere(ids == terrain.COAL_ORE) + lo
    assert (columns_away(logs) <= 24).sum() >= 4
    assert ((columns_away(coal) <= 12) & (coal[:, 1] < land.spawn[1])).sum() >= 4
    column = ids[terrain.SPAWN - lo[0], :, terrain.SPAWN - lo[2]]
    top = int(np.flatnonzero(column)[-1])
    assert column[top] == terrain.GRASS
    assert land.spawn == (8.5, top + 2.0, 8.5)


@pytest.mark.parametrize("seed", CANONICAL)
def test_canonical_seeds_have_wood_and_coal_near_a_dry_spawn(seed):
    promises_hold(seed)


@settings(max_examples=12, deadline=None)
@given(st.integers(-(2**63), 2**63 - 1))
def test_so_has_every_seed(seed):
    promises_hold(seed)


def test_the_same_seed_is_the_same_land_and_another_is_not():
    first, again, other = terrain.generate(7), terrain.generate(7), terrain.generate(8)
    np.testing.assert_array_equal(first.cells, again.cells)
    assert (first.cells != other.cells).any()


def test_land_is_made_of_the_promised_blocks_in_sensible_places():
    land = terrain.generate(20)  # a seed with a wide sea
    ids = land.cells >> 4
    assert ids.shape == (128, 128, 128)
    assert set(np.unique(ids)) == {0, 1, 2, 3, 7, 9, 12, 13, 16, 17, 18}
    assert (ids[:, 0] == terrain.BEDROCK).all()
    water = np.argwhere(ids == terrain.WATER)
    assert water[:, 1].max() == terrain.SEA_LEVEL
    assert not (ids[water[:, 0], water[:, 1] - 1, water[:, 2]] == terrain.AIR).any()
    logs = np.argwhere(ids == terrain.LOG)
    assert np.isin(ids[logs[:, 0], logs[:, 1] - 1, logs[:, 2]], (terrain.LOG, terrain.DIRT)).all()
    assert ids.flags.c_contiguous


def test_the_spawn_snapshot_differs_from_a_real_one_in_the_land_alone(tmp_path):
    path = tmp_path / "s10_t0.bsnp"
    write_snapshot(path, terrain.spawn_snapshot(10))
    ours = read_snapshot(path)
    check_coal(path, ours)
    real = np.frombuffer(gzip.decompress((MAGMA / "s10_t0.bsnp.gz").read_bytes()), HEAD, 1)[0]
    lift = ours.head["pos"][1] - real["pos"][1]
    for name in HEAD.names:
        shift = {"pos": (0, lift, 0), "box": (0, lift, 0) * 2}.get(name, 0)
        if HEAD[name].kind == "S":
            assert ours.head[name] == real[name]
        else:
            np.testing.assert_array_equal(ours.head[name], real[name] + np.array(shift), err_msg=name)
