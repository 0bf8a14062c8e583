"""BNN1 policy checkpoints, schema 1 (SPEC 8), and made-up weights that need no file (SPEC 13)."""

import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from core.errors import BadInput
from core.wire.files import Buffer, write_atomically
from core.wire.fnv import fnv1a64

MAGIC = 0x314E4E42
SCHEMA = 1
MODEL_HASH = 0xEA22EA947F23A453
FLOAT32 = 1

#: Every tensor, in file order, with its shape.
TENSORS: Mapping[str, tuple[int, ...]] = MappingProxyType(
    {
        "conv1_w": (32, 18, 5, 5),
        "conv1_b": (32,),
        "conv2_w": (64, 32, 3, 3),
        "conv2_b": (64,),
        "fc_w": (256, 6299),
        "fc_b": (256,),
        "heads_w": (34, 256),
        "heads_b": (34,),
        "value_w": (1, 256),
        "value_b": (1,),
    }
)
PAYLOAD_BYTES = 4 * sum(math.prod(shape) for shape in TENSORS.values())

FIXTURE_PREFIX = "fixture:"
SIDECAR_SUFFIX = ".policy.conf"

_FIXTURE_SCALES = {"conv1_w": 0.05, "conv2_w": 0.05, "fc_w": 0.01, "heads_w": 0.02, "value_w": 0.02}
_FIXTURE_BIAS_SCALE = 0.01


@dataclass(frozen=True)
class Checkpoint:
    """The weights of one policy network."""

    name: str  #: what reports call it: the file's base name, or the fixture's spec
    tensors: Mapping[str, npt.NDArray[np.float32]]  #: by the names of TENSORS, read-only
    payload_hash: int  #: FNV-1a-64 of all weights
    sidecar: Path | None = None  #: a file of policy options found beside it, which is not read


def load_checkpoint(spec: str) -> Checkpoint:
    """Returns the checkpoint at path `spec`, or made-up weights for "fixture:N".

    Raises:
        BadInput: `spec` cannot be read; the text names the field, what was expected and what was found.
    """
    if not spec.startswith(FIXTURE_PREFIX):
        return read_checkpoint(Path(spec))
    seed = spec.removeprefix(FIXTURE_PREFIX)
    if not (seed.isascii() and seed.isdigit() and int(seed) < 2**64):
        raise BadInput(f"checkpoint {spec}: the fixture seed is {seed!r}, expected a number from 0 to 2^64-1")
    return fixture_checkpoint(int(seed))


def read_checkpoint(path: Path) -> Checkpoint:
    """Returns the checkpoint in `path` after every check of SPEC 8.

    Raises:
        BadInput: as `load_checkpoint`.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BadInput(f"checkpoint {path}: cannot be read: {error.strerror}") from error
    tensors, payload_hash = _parse(_Fields(path, data))
    sidecar = path.with_name(path.name + SIDECAR_SUFFIX)
    return Checkpoint(path.name, tensors, payload_hash, sidecar if sidecar.exists() else None)


def write_checkpoint(path: Path, tensors: Mapping[str, npt.NDArray[np.float32]]) -> None:
    """Writes `tensors` (names and shapes of TENSORS) as a BNN1 file, whole or not at all.

    Raises:
        BadInput: a tensor is missing or has another shape, or the file cannot be written.
    """
    write_atomically(path, checkpoint_bytes(tensors))


def checkpoint_bytes(tensors: Mapping[str, npt.NDArray[np.float32]]) -> list[Buffer]:
    """Returns the pieces of the BNN1 file in order.

    Raises:
        BadInput: a tensor is missing, unknown or of another shape.
    """
    shapes = {name: tensor.shape for name, tensor in tensors.items()}
    for name in TENSORS.keys() | shapes.keys():
        if shapes.get(name) != TENSORS.get(name):
            raise BadInput(f"tensor {name} is {shapes.get(name, 'missing')}, expected {TENSORS.get(name, 'none')}")
    head = [struct.pack("<IIQI", MAGIC, SCHEMA, MODEL_HASH, len(TENSORS))]
    offset = 0
    for name, shape in TENSORS.items():
        size = 4 * math.prod(shape)
        head.append(struct.pack("<I", len(name)) + name.encode())
        head.append(struct.pack(f"<II{len(shape)}iQQ", FLOAT32, len(shape), *shape, offset, size))
        offset += size
    payload = b"".join(np.ascontiguousarray(tensors[name], "<f4").tobytes() for name in TENSORS)
    return [b"".join(head), struct.pack("<Q", len(payload)), payload, struct.pack("<Q", fnv1a64(payload))]


class _Fields:
    """Takes fields off the front of a file, naming each one that does not fit."""

    def __init__(self, path: Path, data: bytes) -> None:
        self._path = path
        self._data = data
        self._at = 0

    def error(self, text: str) -> BadInput:
        return BadInput(f"checkpoint {self._path}: {text}")

    def take(self, size: int, field: str) -> memoryview:
        left = len(self._data) - self._at
        if size > left:
            raise self.error(f"truncated at {field}: {left} bytes left, expected {size}")
        self._at += size
        return memoryview(self._data)[self._at - size : self._at]

    def expect(self, layout: str, field: str, expected: int, show: str = "d") -> None:
        (found,) = struct.unpack("<" + layout, self.take(struct.calcsize(layout), field))
        if found != expected:
            raise self.error(f"{field} is {found:{show}}, expected {expected:{show}}")

    def expect_end(self) -> None:
        left = len(self._data) - self._at
        if left:
            raise self.error(f"{left} trailing bytes after the payload hash, expected the end of the file")


def _parse(fields: _Fields) -> tuple[Mapping[str, npt.NDArray[np.float32]], int]:
    fields.expect("I", "magic", MAGIC, "#010x")
    fields.expect("I", "schema", SCHEMA)
    fields.expect("Q", "model hash", MODEL_HASH, "#018x")
    fields.expect("I", "tensor count", len(TENSORS))
    offset = 0
    for name, shape in TENSORS.items():
        size = 4 * math.prod(shape)
        _expect_directory_entry(fields, name, shape, offset, size)
        offset += size
    fields.expect("Q", "payload bytes", PAYLOAD_BYTES)
    payload = fields.take(PAYLOAD_BYTES, "payload")
    payload_hash = fnv1a64(payload)
    fields.expect("Q", "payload hash", payload_hash, "#018x")
    fields.expect_end()
    return _split(fields, np.frombuffer(payload, "<f4")), payload_hash


def _expect_directory_entry(fields: _Fields, name: str, shape: tuple[int, ...], offset: int, size: int) -> None:
    fields.expect("I", f"name length of tensor {name}", len(name))
    found = bytes(fields.take(len(name), f"name of tensor {name}"))
    if found != name.encode():
        raise fields.error(f"tensor name is {found.decode('ascii', 'backslashreplace')!r}, expected {name!r}")
    fields.expect("I", f"dtype of {name}", FLOAT32)
    fields.expect("I", f"ndim of {name}", len(shape))
    for axis, dim in enumerate(shape):
        fields.expect("i", f"dim {axis} of {name}", dim)
    fields.expect("Q", f"offset of {name}", offset)
    fields.expect("Q", f"bytes of {name}", size)


def _split(fields: _Fields, floats: npt.NDArray[np.float32]) -> Mapping[str, npt.NDArray[np.float32]]:
    tensors, at = {}, 0
    for name, shape in TENSORS.items():
        size = math.prod(shape)
        tensor = floats[at : at + size]
        wild = np.flatnonzero(~np.isfinite(tensor))
        if len(wild):
            raise fields.error(f"{name} holds {tensor[wild[0]]} at {wild[0]}, expected finite weights")
        tensors[name] = tensor.reshape(shape)
        at += size
    return MappingProxyType(tensors)


def fixture_checkpoint(seed: int) -> Checkpoint:
    """Returns the made-up weights of SPEC 13 for `seed`: the same on every machine, in about 0.15 s."""
    tensors, start = {}, 0
    for index, (name, shape) in enumerate(TENSORS.items()):
        size = math.prod(shape)
        scale = np.float32(_FIXTURE_SCALES.get(name, _FIXTURE_BIAS_SCALE))
        unit = _uniform(seed, index, np.arange(start, start + size, dtype=np.uint64))
        tensor = ((unit - np.float32(0.5)) * np.float32(2.0) * scale).reshape(shape)
        tensor.flags.writeable = False
        tensors[name] = tensor
        start += size
    payload_hash = fnv1a64(b"".join(tensor.tobytes() for tensor in tensors.values()))
    return Checkpoint(f"{FIXTURE_PREFIX}{seed}", MappingProxyType(tensors), payload_hash)


def _uniform(seed: int, tensor: int, positions: npt.NDArray[np.uint64]) -> npt.NDArray[np.float32]:
    """Returns u of SPEC 9 for (a, b, c) = (tensor, position, 0)."""
    x = positions * np.uint64(0xBF58476D1CE4E5B9)
    x ^= np.uint64(seed ^ (tensor * 0x9E3779B97F4A7C15 % 2**64))
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        x ^= x >> np.uint64(33)
        x *= np.uint64(factor)
    x ^= x >> np.uint64(33)
    unit = ((x >> np.uint64(40)).astype(np.float32) + np.float32(0.5)) * np.float32(2.0**-24)
    clamped: npt.NDArray[np.float32] = np.clip(unit, np.float32(1e-7), np.float32(1 - 1e-7))
    return clamped
