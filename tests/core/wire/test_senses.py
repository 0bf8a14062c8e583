import math

import numpy as np
import pytest

from core.wire.bolr import RECORD
from core.wire.senses import Senses, scal6_of, senses_of_record, wrap180
from tests.paths import DATA

GOLDEN = np.load(DATA / "nn/e_fill_policy.npz")
RECORDS = GOLDEN["obs_raw"].reshape(-1).view(RECORD)


@pytest.mark.parametrize("make", [lambda record: Senses.empty(), Senses.over], ids=["copied", "viewed"])
def test_records_give_the_natives_bits(make):
    for i in range(len(RECORDS)):
        record = RECORDS[i : i + 1]
        senses = make(record)
        senses_of_record(record, senses)
        for name in ("scal6", "pose", "status"):
            assert getattr(senses, name).tobytes() == GOLDEN[name][i].tobytes(), (i, name)
        for name in ("cam", "depth", "edge"):
            np.testing.assert_array_equal(getattr(senses, name), record[name][0])


def test_pixels_over_a_record_follow_it():
    record = RECORDS[:1].copy()
    senses = Senses.over(record)
    record["cam"][0, 3, 5] = 4242
    assert senses.cam[3, 5] == 4242


def test_wrap180_matches_the_native():
    wrapped = np.array([wrap180(angle) for angle in GOLDEN["wrap_in"]])
    assert wrapped.tobytes() == GOLDEN["wrap_out"].tobytes()


@pytest.mark.parametrize("angle", [math.nan, math.inf, -math.inf])
def test_a_poisoned_yaw_is_not_a_number_and_no_exception(angle):
    coal = np.zeros((32, 3), np.int32)
    coal[0] = 1, 2, 3
    assert math.isnan(wrap180(angle))
    assert math.isnan(scal6_of((0.5, 64.0, 0.5), angle, 0.0, coal)[0])
    assert math.isnan(scal6_of((0.5, 64.0, 0.5), 0.0, angle, coal)[4])


def test_the_first_of_two_equally_near_cells_wins_and_zeros_end_the_list():
    coal = np.zeros((32, 3), np.int32)
    coal[0], coal[1], coal[3] = (3, 10, 0), (-3, 10, 0), (0, 9, 1)
    turn_sin = scal6_of((0.5, 10.0 - 1.12, 0.5), 0.0, 0.0, coal)[0]
    assert turn_sin == pytest.approx(-1.0)  # east of someone who looks south (+z) is on the left


def test_coal_in_the_eye_itself_is_finite():
    coal = np.zeros((32, 3), np.int32)
    coal[0] = 0, 11, 0
    assert all(math.isfinite(value) for value in scal6_of((0.5, 11.5 - 1.62, 0.5), 0.0, 0.0, coal))


@pytest.mark.filterwarnings("error")
def test_a_place_beyond_all_numbers_is_no_warning_on_stderr():
    record = RECORDS[:1].copy()
    record["xyz"] = (1e300, math.nan, -math.inf)
    senses = Senses.empty()
    senses_of_record(record, senses)
    assert not np.isfinite(senses.pose[:3]).any()
