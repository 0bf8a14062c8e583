import re

import numpy as np
import pytest

from core.errors import BadInput
from core.policy import forward as passes
from core.policy.network import ExactNetwork, TorchNetwork
from core.wire.bnn1 import Checkpoint, fixture_checkpoint
from tests.paths import DATA

GOLDEN = dict(np.load(DATA / "nn/c_forward.npz"))
PLANES, SCALARS = GOLDEN["planes"], GOLDEN["scalars"]


@pytest.fixture(scope="module", params=[1, 7], ids=["w1", "w7"])
def weights(request):
    return f"w{request.param}", fixture_checkpoint(request.param)


def test_every_layer_is_the_natives_bits(weights):
    name, checkpoint = weights
    lane = ExactNetwork(checkpoint).lane()
    for i in range(len(PLANES)):
        assert lane.forward(PLANES[i], SCALARS[i]).tobytes() == GOLDEN[f"logits_{name}"][i].tobytes()
        assert np.float32(lane.value).tobytes() == GOLDEN[f"values_{name}"][i].tobytes()
        np.testing.assert_array_equal(lane.scratch.hidden, GOLDEN[f"hidden_{name}"][i])
        if i == 0:
            np.testing.assert_array_equal(channels_first(lane.scratch.conv1), GOLDEN[f"conv1_{name}_s0"])
            np.testing.assert_array_equal(channels_first(lane.scratch.conv2), GOLDEN[f"conv2_{name}_s0"])


def channels_first(picture):
    return np.moveaxis(picture, -1, 0)


def test_lanes_share_weights_and_nothing_else():
    network = ExactNetwork(fixture_checkpoint(1))
    one, other = network.lane(), network.lane()
    logits = one.forward(PLANES[0], SCALARS[0])
    other.forward(PLANES[1], SCALARS[1])
    assert logits.tobytes() == GOLDEN["logits_w1"][0].tobytes()


def in_plain_order(planes, scalars, tensors):
    """The forward pass of SPEC 8 with nothing skipped: float32, bias first, one multiply and one add at a time."""
    scales = np.ones(18, np.float32)
    scales[[7, 16]] = np.float32(1) / np.float32(255)
    x = convolved(planes.astype(np.float32) * scales[:, None, None], tensors["conv1_w"], tensors["conv1_b"])
    x = convolved(x, tensors["conv2_w"], tensors["conv2_b"])
    hidden = relu(dense(np.concatenate([x.ravel(), scalars]), tensors["fc_w"], tensors["fc_b"]))
    return dense(hidden, tensors["heads_w"], tensors["heads_b"]), dense(hidden, tensors["value_w"], tensors["value_b"])


def convolved(x, weights, bias):
    size = weights.shape[-1]
    rows, columns = (x.shape[1] - size) // 2 + 1, (x.shape[2] - size) // 2 + 1
    sums = np.broadcast_to(bias[:, None, None], (len(bias), rows, columns)).astype(np.float32)
    for channel in range(x.shape[0]):
        for ky in range(size):
            for kx in range(size):
                seen = x[channel, ky : ky + 2 * rows : 2, kx : kx + 2 * columns : 2][:rows, :columns]
                sums += weights[:, channel, ky, kx, None, None] * seen
    return relu(sums)


def dense(x, weights, bias):
    sums = bias.copy()
    for i in range(len(x)):
        sums += weights[:, i] * x[i]
    return sums


def relu(x):
    return np.where(x > 0, x, np.float32(0))


def awkward_checkpoint():
    """Zero and minus zero weights and biases, where a skipped product could change the sign of a zero sum."""
    chance = np.random.default_rng(5)
    tensors = {}
    for name, tensor in fixture_checkpoint(3).tensors.items():
        tensor = tensor.copy()
        tensor[chance.random(tensor.shape) < 0.5] = -0.0
        tensor[chance.random(tensor.shape) < 0.3] = 0.0
        tensors[name] = tensor
    tensors["heads_b"][:] = -0.0
    tensors["heads_w"][:10] = 0.0
    return Checkpoint("awkward", tensors, 0)


@pytest.mark.parametrize("kind", ["all zero", "sparse", "any byte"])
def test_skipping_zeros_never_changes_a_bit(kind):
    chance = np.random.default_rng(11)
    planes = chance.integers(0, 256, (18, 36, 64), np.uint8)
    if kind != "any byte":
        planes *= chance.random(planes.shape) < (0.02 if kind == "sparse" else 0.0)
    scalars = np.where(chance.random(27) < 0.5, chance.normal(size=27), -0.0).astype(np.float32)
    checkpoint = awkward_checkpoint()
    lane = ExactNetwork(checkpoint).lane()
    logits = lane.forward(planes, scalars)
    expected_logits, expected_value = in_plain_order(planes, scalars, checkpoint.tensors)
    assert logits.tobytes() == expected_logits.tobytes()
    assert np.float32(lane.value).tobytes() == expected_value.tobytes()


def test_no_multiply_and_add_is_fused_and_nothing_is_allocated():
    assembly = fresh_assembly()
    assert "mul" in assembly
    assert "alloc" not in assembly.lower()
    assert not re.findall(r"\bv?fn?m(?:add|sub|la|ls)\w*", assembly)


def fresh_assembly():
    """Returns the machine code of the forward pass, compiled here because a cached one cannot be shown."""
    from numba import njit

    compiled = njit(nogil=True, error_model="numpy")(passes.forward.py_func)
    lane = ExactNetwork(fixture_checkpoint(1)).lane()
    compiled(PLANES[0], SCALARS[0], lane._weights, lane.scratch)
    return "".join(compiled.inspect_asm().values())


def test_torch_agrees_within_rounding_and_says_that_it_is_not_exact(weights):
    name, checkpoint = weights
    network = TorchNetwork(checkpoint, "cpu")
    assert network.note == "network torch on cpu: not bit-exact"
    lane = network.lane()
    for i in range(len(PLANES)):
        np.testing.assert_allclose(lane.forward(PLANES[i], SCALARS[i]), GOLDEN[f"logits_{name}"][i], atol=2e-6)
        assert lane.value == pytest.approx(GOLDEN[f"values_{name}"][i], abs=2e-6)


@pytest.mark.parametrize("device", ["cuda:62", "nonsense", "meta:x", "63"])
def test_a_device_that_cannot_be_used_is_one_clear_line(device):
    with pytest.raises(BadInput, match=f"network torch: device '{device}' cannot be used: ") as caught:
        TorchNetwork(fixture_checkpoint(1), device)
    assert "\n" not in str(caught.value)
