"""act13 lines against the native's bytes, and what must be refused."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import BadInput
from core.wire import act13
from tests.paths import DATA

FINITE = st.floats(-1e9, 1e9)
ROWS = st.lists(FINITE, min_size=13, max_size=13).map(np.array)


def test_every_recorded_row_gives_the_native_line() -> None:
    recorded = np.load(DATA / "nn/d2_acts_to_rows.npz")
    lines = [act13.encode_tick(row).decode() for row in recorded["rows"]]
    assert lines == recorded["json_lines"].tolist()


def test_numbers_are_printed_as_c_does() -> None:
    row = np.array([-0.0, 1e-7, 1 / 3, 123456789012.0, 1.9, 0, 0, 0, 0, -1, -1, 0, -0.9])
    assert act13.encode_tick(row, cam=0) == (
        b'{"forward":-0,"strafe":1e-07,"dyaw":0.333333333,"dpitch":1.23456789e+11,"jump":1,"sneak":0,"sprint":0,'
        b'"attack":0,"use":0,"hotbar":-1,"craft":-1,"interact":0,"smelt":0,"cam":0}\n'
    )


def test_a_decision_turns_and_clicks_only_in_its_first_tick() -> None:
    row = np.array([1.0, -1, 15, -10, 1, 1, 1, 1, 1, 3, 2, 1, 1])
    first, second, third = (json.loads(line) for line in act13.encode_decision(row, 3).splitlines())
    held = dict(zip(act13.KEYS, row, strict=True)) | {"dyaw": 0, "dpitch": 0, "craft": -1, "interact": 0, "smelt": 0}
    assert first == dict(zip(act13.KEYS, row, strict=True)) | {"cam": 0}
    assert second == held | {"cam": 0}
    assert third == held | {"cam": 1}


@given(ROWS, st.integers(1, 64))
def test_a_decision_is_its_ticks_one_by_one(row: np.ndarray, repeat: int) -> None:
    held = row.copy()
    held[[2, 3, 10, 11, 12]] = 0, 0, -1, 0, 0
    ticks = [row] + [held] * (repeat - 1)
    expected = b"".join(act13.encode_tick(tick, cam=int(i == repeat - 1)) for i, tick in enumerate(ticks))
    assert act13.encode_decision(row, repeat) == expected


@given(ROWS)
def test_a_line_reads_back_as_its_row(row: np.ndarray) -> None:
    line = json.loads(act13.encode_tick(row))
    for i, key in enumerate(act13.KEYS):
        if i < act13.REALS:
            assert math.isclose(line[key], row[i], rel_tol=1e-8, abs_tol=0)
        else:
            assert line[key] == math.trunc(row[i])


@given(st.integers(0, 12), st.sampled_from([math.nan, math.inf, -math.inf]))
def test_a_number_that_is_not_finite_is_refused_by_name(at: int, value: float) -> None:
    row = act13.NOOP_ROW.copy()
    row[at] = value
    with pytest.raises(BadInput, match=f"act13 {act13.KEYS[at]} is {value}, expected a finite number"):
        act13.encode_decision(row, 4)


@given(st.integers(4, 12), st.sampled_from([2.0**31, -(2.0**31) - 1, 1e300]))
def test_a_number_that_fits_no_int_is_refused_by_name(at: int, value: float) -> None:
    row = act13.NOOP_ROW.copy()
    row[at] = value
    with pytest.raises(BadInput, match=f"act13 {act13.KEYS[at]} is .*, expected a 32-bit integer"):
        act13.encode_tick(row)


def test_a_row_of_another_length_is_refused() -> None:
    with pytest.raises(BadInput, match="12 numbers, expected 13"):
        act13.encode_tick(act13.NOOP_ROW[:12])


def test_the_noop_row_cannot_be_changed_by_accident() -> None:
    with pytest.raises(ValueError, match="read-only"):
        act13.NOOP_ROW[0] = 1


def test_a_snapshot_line_is_a_noop_tick_with_a_path() -> None:
    line = act13.encode_snapshot("/tmp/s 10é.bsnp", 64)
    assert line.decode() == (
        '{"forward":0,"strafe":0,"dyaw":0,"dpitch":0,"jump":0,"sneak":0,"sprint":0,"attack":0,"use":0,"hotbar":-1,'
        '"craft":-1,"interact":0,"smelt":0,"cam":1,"snapshot":"/tmp/s 10é.bsnp","snapshot_r":64}\n'
    )


@pytest.mark.parametrize("path", ["", 'a"b', "a\\b", "a\nb", "a\0b"])
def test_a_snapshot_path_that_would_break_the_line_is_refused(path: str) -> None:
    with pytest.raises(BadInput, match="expected no quotes, backslashes or control characters"):
        act13.encode_snapshot(path, 64)
