"""Snapshots: golden round trips, and one clear line for each way a file can be broken."""

import gzip
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import BadInput
from core.wire import bsnp
from tests.paths import DATA


def small_snapshot(items: int = 2, size: tuple[int, int, int] = (3, 4, 5)) -> bsnp.Snapshot:
    head = np.zeros(1, bsnp.HEAD)[0]
    head["seed"], head["region_lo"] = -7, (-1, 0, 10)
    lying = np.zeros(items, bsnp.ITEM)
    lying["count"] = np.arange(items)
    cells = np.arange(np.prod(size), dtype=np.uint16).reshape(size) % 20 << 4
    snapshot = bsnp.Snapshot(head, lying, cells, np.zeros((0, 3), np.int32))
    return bsnp.Snapshot(head, lying, cells, bsnp.coal_cells(snapshot))


def raw(snapshot: bsnp.Snapshot) -> bytes:
    return b"".join(bytes(piece) for piece in bsnp.snapshot_bytes(snapshot))


def read_raw(tmp_path: Path, data: bytes) -> bsnp.Snapshot:
    path = tmp_path / "s3_t0.bsnp"
    path.write_bytes(data)
    return bsnp.read_snapshot(path)


@pytest.mark.parametrize("seed", [10, 14])
def test_golden_snapshots_round_trip(tmp_path: Path, seed: int) -> None:
    data = gzip.decompress((DATA / f"magma/s{seed}_t0.bsnp.gz").read_bytes())
    snapshot = read_raw(tmp_path, data)
    assert snapshot.seed == seed
    assert snapshot.cells.shape == (128, 128, 128)
    assert isinstance(snapshot.cells, np.memmap)
    bsnp.check_coal("golden", snapshot)
    copy = tmp_path / "copy.bsnp"
    bsnp.write_snapshot(copy, snapshot)
    assert copy.read_bytes() == data
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy.bsnp", "s3_t0.bsnp"]


@given(st.integers(0, 5), st.tuples(st.integers(1, 6), st.integers(1, 6), st.integers(1, 6)))
def test_made_up_snapshots_round_trip(tmp_path_factory: pytest.TempPathFactory, items: int, size: tuple) -> None:
    made = small_snapshot(items, size)
    back = read_raw(tmp_path_factory.mktemp("bsnp"), raw(made))
    assert raw(back) == raw(made)
    assert np.array_equal(back.items, made.items)
    assert np.array_equal(back.cells, made.cells)
    assert np.array_equal(back.coal, made.coal)


def patch(offset: int, layout: str, value: float) -> Callable[[bytes], bytes]:
    field = struct.pack("<" + layout, value)
    return lambda data: data[:offset] + field + data[offset + len(field) :]


def offset_of(name: str, index: int = 0) -> int:
    dtype, offset = bsnp.HEAD.fields[name][:2]
    return offset + index * dtype.base.itemsize


COAL_AT = 752 + 2 * 76 + 2 * 60


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda data: b"", "not a snapshot: magic is b'', expected b'BSNP'"),
        (lambda data: b"BNN1" + data[4:], "not a snapshot: magic is b'BNN1', expected b'BSNP'"),
        (patch(4, "I", 2), "snapshot version 2, expected 1"),
        (lambda data: patch(4, "I", 3)(data)[:8], "snapshot version 3, expected 1"),
        (lambda data: data[:100], "truncated: 100 bytes, expected at least 752 to hold the head"),
        (patch(offset_of("region_size", 0), "i", -1), "region size rnx is -1, expected 1..4096"),
        (patch(offset_of("region_size", 1), "i", 257), "region size rny is 257, expected 1..256"),
        (patch(offset_of("region_size", 2), "i", 2**31 - 1), "region size rnz is 2147483647, expected 1..4096"),
        (patch(offset_of("region_size", 2), "i", 4096), "expected at least 99208 to hold 3x4x4096 cells"),
        (patch(724, "I", 2**32 - 1), "expected at least 326417515172 to hold 4294967295 items"),
        (patch(COAL_AT, "I", 2**32 - 1), "to hold 4294967295 coal cells"),
        (lambda data: data[: COAL_AT + 3], f"expected at least {COAL_AT + 4} to hold the coal count"),
        (lambda data: data[:-1], "to hold 3 coal cells"),
        (lambda data: data + b"xyz", "3 trailing bytes after the coal list"),
        (patch(offset_of("pos", 1), "d", float("nan")), "pos is 0, nan, 0, expected finite numbers"),
        (patch(offset_of("yaw"), "f", float("inf")), "yaw is inf, expected finite numbers"),
        (patch(offset_of("hotbar_sel"), "i", 9), "hotbar_sel is 9, expected 0..8"),
        (patch(offset_of("container"), "i", -1), "container is -1, expected 0, 1 or 2"),
    ],
)
def test_a_broken_file_is_named(tmp_path: Path, damage: Callable[[bytes], bytes], message: str) -> None:
    with pytest.raises(BadInput) as caught:
        read_raw(tmp_path, damage(raw(small_snapshot())))
    assert message in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path / "s3_t0.bsnp"))
    assert "\n" not in str(caught.value)


@given(st.data())
def test_every_truncation_is_refused(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    whole = raw(small_snapshot())
    with pytest.raises(BadInput):
        read_raw(tmp_path_factory.mktemp("bsnp"), whole[: data.draw(st.integers(0, len(whole) - 1))])


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="snapshot cannot be read: No such file or directory"):
        bsnp.read_snapshot(tmp_path / "none.bsnp")
    with pytest.raises(BadInput, match="snapshot cannot be read: Is a directory"):
        bsnp.read_snapshot(tmp_path)


def test_a_coal_list_that_disagrees_with_the_cells_is_named() -> None:
    good = small_snapshot()
    short = bsnp.Snapshot(good.head, good.items, good.cells, good.coal[:-1])
    with pytest.raises(BadInput, match="coal list has 2 cells, expected 3"):
        bsnp.check_coal("a.bsnp", short)
    moved = bsnp.Snapshot(good.head, good.items, good.cells, good.coal + np.eye(3, dtype=np.int32)[[1, 1, 1]])
    with pytest.raises(BadInput, match=r"a.bsnp: coal list entry 0 is \(.*\), expected \("):
        bsnp.check_coal("a.bsnp", moved)


def test_a_file_that_cannot_be_written_is_named_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be written: No such file or directory"):
        bsnp.write_snapshot(tmp_path / "none/a.bsnp", small_snapshot())
    (tmp_path / "folder").mkdir()
    with pytest.raises(BadInput, match="folder: cannot be written"):
        bsnp.write_snapshot(tmp_path / "folder", small_snapshot())
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]
