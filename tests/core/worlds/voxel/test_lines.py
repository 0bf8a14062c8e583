"""Input lines as the game reads them."""

import ctypes
import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.wire.act13 import KEYS, NOOP_ROW, encode_decision, encode_tick
from core.worlds.voxel.lines import parse, strtod

NOTHING = tuple(NOOP_ROW)


def row_of(line: str) -> dict[str, float]:

    return dict(zip(KEYS, parse(line.encode()).row, strict=True))


@given(st.lists(st.floats(-1e30, 1e30), min_size=4, max_size=4), st.lists(st.integers(-5, 9), min_size=9, max_size=9))
def test_the_encoders_lines_come_back(reals, wholes):
    row = np.array([float(f"{value:.9g}") for value in reals] + [float(value) for value in wholes])
    assert parse(encode_tick(row)).row == tuple(row)
    assert [parse(line).cam for line in encode_decision(row, 4).splitlines()] == [False, False, False, True]


@pytest.mark.parametrize("line", ["", "\n", "garbage", "{}", "[1,2", '{"Forward":1}', "\0" + '{"jump":1}'])
def test_anything_else_is_a_tick_of_nothing(line):
    order = parse(line.encode())
    assert order.row == NOTHING
    assert order.cam
    assert order.snapshot is None


def test_what_strtod_cannot_read_is_zero_not_the_default():
    assert row_of('{"hotbar":null,"craft":true,"forward":"1","jump":false}') == row_of('{"hotbar":0,"craft":0}')


def test_the_first_occurrence_wins_at_any_depth():
    assert row_of('{"x":{"forward":-1},"forward":1}')["forward"] == -1
    assert row_of('{"forward" : 0x1p-1, "hotbar":\t 2.9}') == row_of('{"forward":0.5,"hotbar":2}')


def test_whole_numbers_truncate_and_overflow_like_c():
    row = row_of('{"jump":0.9,"use":-1.5,"attack":nan,"craft":1e99,"hotbar":-0.5}')
    assert (row["jump"], row["use"], row["attack"], row["craft"], row["hotbar"]) == (0, -1, -(2**31), -(2**31), 0)
    assert math.isnan(row_of('{"dyaw":nan}')["dyaw"])


def test_snapshot_needs_a_quoted_path():
    order = parse(b'{"snapshot":"/tmp/a b.bsnp","snapshot_r":16,"cam":0}')
    assert (order.snapshot, order.snapshot_r, order.cam) == ("/tmp/a b.bsnp", 16, False)
    assert parse(b'{"snapshot_r":9}').snapshot is None
    for line in (b'{"snapshot":1}', b'{"snapshot":""}', b'{"snapshot":"open', b'{"snapshot":null,"x":"y"}'):
        assert parse(line).snapshot is None
    assert parse(b'{"snapshot":"a"}').snapshot_r == 32


@given(st.text("0123456789+-.eExXpPinfaty \t", max_size=12).map(str.encode))
@example(b" +.5e3")
@example(b"1e")
@example(b"0x")
@example(b"-0x1.8p1z")
@example(b"infinit")
@example(b"1e999")
@example(b"-nan")
def test_strtod_is_the_c_librarys(text):
    library = ctypes.CDLL(None)
    library.strtod.restype = ctypes.c_double
    expected = library.strtod(ctypes.c_char_p(text), None)
    got = strtod(text)
    assert got == expected or (math.isnan(got) and math.isnan(expected))
