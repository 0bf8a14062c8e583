"""The block-wise hash against the definition, byte by byte."""

import json

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from core.wire import fnv
from tests.paths import DATA


def plain(data: bytes) -> int:
    state = fnv.OFFSET_BASIS
    for byte in data:
        state = (state ^ byte) * fnv.PRIME % 2**64
    return state


def test_the_recorded_hash_of_hello() -> None:
    recorded = json.loads((DATA / "nn/g_hash.json").read_text())
    assert f"{fnv.fnv1a64(b'hello'):016x}" == recorded["fnv1a64_of_'hello'"]


@given(st.binary(max_size=300))
def test_any_bytes(data: bytes) -> None:
    assert fnv.fnv1a64(data) == plain(data)


@given(st.binary(max_size=100), st.binary(max_size=100))
def test_a_hash_goes_on_from_its_state(first: bytes, second: bytes) -> None:
    assert fnv.fnv1a64(second, fnv.fnv1a64(first)) == plain(first + second)


def test_lengths_around_a_block() -> None:
    data = np.random.default_rng(5).bytes(2 * fnv._BLOCK + 1)
    for length in (fnv._BLOCK - 1, fnv._BLOCK, fnv._BLOCK + 1, fnv._BLOCK + 8, 2 * fnv._BLOCK + 1):
        assert fnv.fnv1a64(data[:length]) == plain(data[:length])
