import numpy as np
import pytest

from core.policy.sample import draw, gumbel, mix, unit, units
from tests.paths import DATA

NOISE = dict(np.load(DATA / "nn/a_hash_gumbel.npz"))
SAMPLES = dict(np.load(DATA / "nn/b_sample.npz"))


def bits(values):
    return np.asarray(values, np.float32).tobytes()


def test_uniform_noise_is_the_natives():
    assert bits([unit(*args) for args in NOISE["args"]]) == bits(NOISE["u01"])


@pytest.mark.parametrize(("given", "expected"), [("u01", "gumbel"), ("extra_u", "extra_gumbel")])
def test_gumbel_noise_is_the_natives(given, expected):
    assert bits([gumbel(u) for u in NOISE[given]]) == bits(NOISE[expected])


def test_noise_words_are_the_natives():
    assert [mix(int(seed), int(step)) for seed, step in NOISE["mix_args"]] == NOISE["mix_out"].tolist()


@pytest.mark.parametrize("seed", [0, 3])
def test_draws_are_the_natives_for_every_lane_and_step(seed):
    expected = SAMPLES[f"acts_seed{seed}"]
    drawn = np.full_like(expected, -1)
    for step in range(len(expected)):
        for ni, logits in enumerate(SAMPLES["logits"]):
            draw(logits, mix(seed, step), ni, drawn[step, ni])
    np.testing.assert_array_equal(drawn, expected)


def test_a_certain_choice_is_drawn_whatever_the_noise():
    logits = np.full(34, -1e6, np.float32)
    certain = [2, 0, 1, 1, 0, 1, 6, 0, 9]
    for offset, choice in zip((0, 3, 6, 9, 11, 13, 15, 22, 24), certain, strict=True):
        logits[offset + choice] = 0.0
    drawn = np.full(9, -1, np.int32)
    for step in range(50):
        draw(logits, mix(5, step), 12, drawn)
        assert drawn.tolist() == certain


def test_units_count_along_the_last_word():
    filled = np.zeros(5, np.float32)
    units(7, 1, 2, filled)
    assert bits(filled) == bits([unit(*np.array([7, 1, 2, c], np.uint64)) for c in range(5)])
