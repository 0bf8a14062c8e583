import numpy as np

from core.policy.observe import FRAME_PLANES, Packer, Senses
from tests.paths import DATA

GOLDEN = dict(np.load(DATA / "nn/d_pack_obs.npz"))
LIMIT = int(GOLDEN["ep_lim"])
PIXELS = (36, 64)


def senses_of(i):
    cam, depth, edge = (GOLDEN[name][i].reshape(PIXELS) for name in ("cam", "depth", "edge"))
    return Senses(cam, depth, edge, GOLDEN["scal6"][i], GOLDEN["pose"][i], GOLDEN["status"][i])


def assert_is_golden(packed, i):
    planes, scalars = packed
    np.testing.assert_array_equal(planes, GOLDEN["planes"][i])
    assert scalars.tobytes() == GOLDEN["scalars"][i].tobytes(), i


def test_first_decisions_are_the_natives_bits():
    fresh = np.flatnonzero(GOLDEN["have_prior"] == 0)
    assert len(fresh) >= 2
    for i in fresh:
        assert_is_golden(Packer().pack(senses_of(i), int(GOLDEN["ep_dec"][i]), LIMIT), i)


def test_later_decisions_are_the_natives_bits():
    later = np.flatnonzero(GOLDEN["have_prior"])
    assert len(later) >= 2
    for i in later:
        packer = Packer()
        packer.pack(Senses.empty(), 0, LIMIT)
        # The recorded prior frames are random bytes that no picture gives, so one is put in place of the packed one.
        packer.planes[FRAME_PLANES:] = GOLDEN["prior_frame"][i].reshape(FRAME_PLANES, *PIXELS)
        assert_is_golden(packer.pack(senses_of(i), int(GOLDEN["ep_dec"][i]), LIMIT), i)


def test_each_call_makes_the_present_frame_the_prior_one():
    packer = Packer()
    first = packer.pack(senses_of(0), 0, LIMIT)[0].copy()
    second = packer.pack(senses_of(1), 1, LIMIT)[0].copy()
    third = packer.pack(senses_of(2), 2, LIMIT)[0]
    np.testing.assert_array_equal(first[:FRAME_PLANES], first[FRAME_PLANES:])
    np.testing.assert_array_equal(second[:FRAME_PLANES], first[FRAME_PLANES:])
    np.testing.assert_array_equal(third[:FRAME_PLANES], second[FRAME_PLANES:])
    assert (third[:FRAME_PLANES] != third[FRAME_PLANES:]).any()


def test_scalars_of_a_decision():
    senses = Senses.empty()
    senses.status[:9] = 1, 2, 3, 4, 5, 9, 10, 11, 64
    senses.status[10], senses.status[11] = 270, 2
    senses.pose[1] = 80.0
    scalars = Packer().pack(senses, 3, 1500)[1]
    expected = np.zeros(27, np.float32)
    expected[6:15] = np.array([1, 2, 3, 4, 5, 9, 10, 10, 10], np.float32) / np.float32(10)
    expected[15] = 1
    expected[16 + 5] = 1
    expected[25] = 1.25
    expected[26] = np.float32(3) / np.float32(1500)
    np.testing.assert_array_equal(scalars, expected)
