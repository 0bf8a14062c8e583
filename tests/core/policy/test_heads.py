import numpy as np
import pytest

from core.policy.heads import HEADS, LOGITS, NOOP_HEADS, OFFSETS, WIDTHS, describe_row, to_act13
from tests.paths import DATA

GOLDEN = np.load(DATA / "nn/d2_acts_to_rows.npz")


def row_of(**heads):
    chosen = dict(zip(HEADS, NOOP_HEADS, strict=True)) | heads
    row = np.full(13, np.nan)
    to_act13(list(chosen.values()), row)
    return row


def test_rows_are_the_natives_bits():
    row = np.full(13, np.nan)
    for heads, expected in zip(GOLDEN["acts"], GOLDEN["rows"], strict=True):
        to_act13(heads, row)
        assert row.tobytes() == expected.tobytes(), heads


def test_offsets_are_those_of_the_logits():
    assert OFFSETS == (0, 3, 6, 9, 11, 13, 15, 22, 24)
    assert len(WIDTHS) == len(HEADS)
    assert LOGITS == 34


@pytest.mark.parametrize("choice", [-1, 3, 99])
def test_a_look_or_walk_choice_out_of_range_is_the_middle_one(choice):
    np.testing.assert_array_equal(row_of(yaw=choice, pitch=choice, forward=choice), row_of())


@pytest.mark.parametrize(
    ("heads", "words"),
    [
        ({}, "-"),
        ({"yaw": 2, "forward": 2, "jump": 1, "attack": 1}, "yaw+15 fwd jump attack"),
        ({"yaw": 0, "pitch": 0, "forward": 0, "use": 1}, "yaw-15 pitch-10 back use"),
        ({"craft": 1, "hotbar": 1, "interact": 1}, "slot1 planks interact"),
        ({"craft": 6}, "torch"),
    ],
)
def test_rows_of_heads_in_words(heads, words):
    assert describe_row(row_of(**heads)) == words


def test_rows_no_head_can_choose_have_words_too():
    row = np.array([0.5, -1, 0.25, 0, 0, 1, 1, 0, 0, 8, 9, 0, 1])
    assert describe_row(row) == "yaw+0.25 fwd0.5 left sneak sprint slot9 craft9 smelt"
