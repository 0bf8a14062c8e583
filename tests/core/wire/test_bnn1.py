"""Checkpoints: the fixture's known hashes, round trips, and one clear line for each broken field."""

import hashlib
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from core.errors import BadInput
from core.wire import bnn1

DIRECTORY = 20  # the first tensor's entry begins here
PAYLOAD_AT = 6_619_348 - 8 - bnn1.PAYLOAD_BYTES


@pytest.fixture(scope="module")
def w1() -> bnn1.Checkpoint:
    return bnn1.load_checkpoint("fixture:1")


@pytest.fixture(scope="module")
def w1_bytes(w1: bnn1.Checkpoint) -> bytes:
    return b"".join(bnn1.checkpoint_bytes(w1.tensors))


def test_the_fixture_has_the_known_hashes(w1: bnn1.Checkpoint, w1_bytes: bytes) -> None:
    assert w1.name == "fixture:1"
    assert w1.payload_hash == 0x6560571A80587972
    assert len(w1_bytes) == 6_619_348
    assert hashlib.sha256(w1_bytes).hexdigest() == "0aabb084c7a4bffb207d5dcd2d85716868cac43b56e2f4b8fc6573ac1c82db5f"


def test_a_written_file_reads_back(tmp_path: Path, w1: bnn1.Checkpoint, w1_bytes: bytes) -> None:
    path = tmp_path / "w1.bnn"
    bnn1.write_checkpoint(path, w1.tensors)
    assert path.read_bytes() == w1_bytes
    back = bnn1.load_checkpoint(str(path))
    assert (back.name, back.payload_hash, back.sidecar) == ("w1.bnn", w1.payload_hash, None)
    for name, shape in bnn1.TENSORS.items():
        assert back.tensors[name].shape == shape
        assert back.tensors[name].dtype == np.float32
        assert not back.tensors[name].flags.writeable
        assert np.array_equal(back.tensors[name], w1.tensors[name])


def test_policy_options_beside_the_file_are_noticed(tmp_path: Path, w1_bytes: bytes) -> None:
    (tmp_path / "w1.bnn").write_bytes(w1_bytes)
    sidecar = tmp_path / "w1.bnn.policy.conf"
    sidecar.write_text("policy_io_version = 1\n")
    assert bnn1.load_checkpoint(str(tmp_path / "w1.bnn")).sidecar == sidecar


def patch(offset: int, data: bytes) -> Callable[[bytes], bytes]:
    return lambda whole: whole[:offset] + data + whole[offset + len(data) :]


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda whole: b"", "truncated at magic: 0 bytes left, expected 4"),
        (patch(0, b"BSNP"), "magic is 0x504e5342, expected 0x314e4e42"),
        (patch(4, b"\2"), "schema is 2, expected 1"),
        (patch(8, b"\0"), "model hash is 0xea22ea947f23a400, expected 0xea22ea947f23a453"),
        (patch(16, b"\x0b"), "tensor count is 11, expected 10"),
        (patch(DIRECTORY, b"\xff\xff\xff\xff"), "name length of tensor conv1_w is 4294967295, expected 7"),
        (patch(DIRECTORY + 4, b"c\xffnv"), r"tensor name is 'c\\xffnv1_w', expected 'conv1_w'"),
        (patch(DIRECTORY + 11, b"\2"), "dtype of conv1_w is 2, expected 1"),
        (patch(DIRECTORY + 15, b"\3"), "ndim of conv1_w is 3, expected 4"),
        (patch(DIRECTORY + 23, b"\x13"), "dim 1 of conv1_w is 19, expected 18"),
        (patch(DIRECTORY + 35, b"\1"), "offset of conv1_w is 1, expected 0"),
        (patch(DIRECTORY + 43, b"\1"), "bytes of conv1_w is 57601, expected 57600"),
        (patch(PAYLOAD_AT - 8, b"\0\0\0\0"), "payload bytes is 0, expected 6618892"),
        (patch(PAYLOAD_AT + 5, b"\x99"), ", expected 0x"),
        (patch(6_619_340, b"\1\2\3\4\5\6\7\x08"), "payload hash is 0x0807060504030201, expected 0x6560571a80587972"),
        (lambda whole: whole[:200], "truncated at "),
        (lambda whole: whole[:-9], "truncated at payload: 6618891 bytes left, expected 6618892"),
        (lambda whole: whole[:-1], "truncated at payload hash: 7 bytes left, expected 8"),
        (lambda whole: whole + b"\n", "1 trailing bytes after the payload hash, expected the end of the file"),
    ],
)
def test_a_broken_field_is_named(
    tmp_path: Path, w1_bytes: bytes, damage: Callable[[bytes], bytes], message: str
) -> None:
    path = tmp_path / "w.bnn"
    path.write_bytes(damage(w1_bytes))
    with pytest.raises(BadInput) as caught:
        bnn1.load_checkpoint(str(path))
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"checkpoint {path}: ")
    assert "\n" not in str(caught.value)


def test_weights_that_are_not_finite_are_named(tmp_path: Path, w1: bnn1.Checkpoint) -> None:
    tensors = {name: tensor.copy() for name, tensor in w1.tensors.items()}
    tensors["fc_b"][7] = np.nan
    bnn1.write_checkpoint(tmp_path / "w.bnn", tensors)
    with pytest.raises(BadInput, match="fc_b holds nan at 7, expected finite weights"):
        bnn1.read_checkpoint(tmp_path / "w.bnn")


def test_tensors_of_another_shape_are_not_written(tmp_path: Path, w1: bnn1.Checkpoint) -> None:
    with pytest.raises(BadInput, match=r"tensor fc_b is \(255,\), expected \(256,\)"):
        bnn1.write_checkpoint(tmp_path / "w.bnn", {**w1.tensors, "fc_b": w1.tensors["fc_b"][:255]})
    with pytest.raises(BadInput, match=r"tensor extra is \(2,\), expected none"):
        bnn1.write_checkpoint(tmp_path / "w.bnn", {**w1.tensors, "extra": np.zeros(2, np.float32)})
    with pytest.raises(BadInput, match=r"tensor value_b is missing, expected \(1,\)"):
        bnn1.write_checkpoint(tmp_path / "w.bnn", {n: t for n, t in w1.tensors.items() if n != "value_b"})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("spec", ["fixture:", "fixture:-1", "fixture:x", f"fixture:{2**64}", "fixture:\u0661"])
def test_a_bad_fixture_seed_is_named(spec: str) -> None:
    with pytest.raises(BadInput, match=r"the fixture seed is '.*', expected a number from 0"):
        bnn1.load_checkpoint(spec)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read: No such file or directory"):
        bnn1.load_checkpoint(str(tmp_path / "none.bnn"))


def test_the_directory_is_packed_as_the_page_says(w1_bytes: bytes) -> None:
    assert struct.unpack_from("<IIQI", w1_bytes) == (0x314E4E42, 1, 0xEA22EA947F23A453, 10)
    assert w1_bytes[20:31] == b"\7\0\0\0conv1_w"
    assert struct.unpack_from("<II4iQQ", w1_bytes, 31) == (1, 4, 32, 18, 5, 5, 0, 57_600)
