"""The network's forward pass, bit for bit the native's (SPEC 8), in a fraction of its time (tests/bench/network.py).

The native accumulates each output in float32: bias first, then input after input, one multiply and one add each. That
order is a property of one output, so many outputs may be advanced side by side: weights are stored with the output
channel last, every inner loop runs over output channels, and the compiler turns it into vector code that rounds
exactly as the plain loop does. A few inputs are taken per inner loop, and two or three neighbouring pixels share each
load of a weight.

Inputs that are exactly zero are skipped. Adding the product 0 * w = +-0 changes only a sum of -0, such a sum can only
come from a bias of -0, and the ReLU behind each skipping layer forgets the sign of zero. Weights are finite (the
checkpoint reader sees to it), so 0 * w is never NaN. The last layer has no ReLU and skips nothing.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from core.kernels import kernel

Floats = npt.NDArray[np.float32]
Indices = npt.NDArray[np.int32]

CHANNELS, HEIGHT, WIDTH = 18, 36, 64
CONV1, CONV1_HEIGHT, CONV1_WIDTH = 32, 16, 30
CONV2, CONV2_HEIGHT, CONV2_WIDTH = 64, 7, 14
FLAT = CONV2 * CONV2_HEIGHT * CONV2_WIDTH
SCALARS = 27
INPUTS = FLAT + SCALARS
HIDDEN = 256
OUTPUTS = 35  #: 34 logits, then the value

DEPTH_CHANNELS = (7, 16)  #: prior and present depth; the other planes are taken as they are
DEPTH_SCALE = np.float32(1.0) / np.float32(255.0)

CONV1_TOGETHER = 3  #: output pixels of a row computed side by side
CONV2_TOGETHER = 2

_ZERO = np.float32(0.0)
_ONE = np.float32(1.0)


class Weights(NamedTuple):
    """The tensors of SPEC 8, f32, with the output channel moved last; heads and value are one layer."""

    conv1: Floats  #: [18, 5, 5, 32]
    conv1_bias: Floats  #: [32]
    conv2: Floats  #: [32, 3, 3, 64]
    conv2_bias: Floats  #: [64]
    fc: Floats  #: [6299, 256]
    fc_bias: Floats  #: [256]
    out: Floats  #: [256, 35]
    out_bias: Floats  #: [35]


class Scratch(NamedTuple):
    """What one forward pass writes. Pictures are [row, column, channel]."""

    input: Floats  #: [18, 36, 64] scaled planes
    conv1: Floats  #: [16, 30, 32] after ReLU
    conv2: Floats  #: [7, 14, 64] after ReLU
    sums1: Floats  #: [3, 32] outputs of conv1 being accumulated
    sums2: Floats  #: [2, 64] the same for conv2
    active: Floats  #: [6299] inputs of fc that are not zero, in input order
    active_index: Indices  #: [6299] which inputs they are
    hidden: Floats  #: [256] after ReLU
    out: Floats  #: [35] logits, value


def empty_scratch() -> Scratch:
    """Returns scratch of its own for one lane, about 310 KiB."""

    def floats(*shape: int) -> Floats:
        return np.zeros(shape, np.float32)

    return Scratch(
        input=floats(CHANNELS, HEIGHT, WIDTH),
        conv1=floats(CONV1_HEIGHT, CONV1_WIDTH, CONV1),
        conv2=floats(CONV2_HEIGHT, CONV2_WIDTH, CONV2),
        sums1=floats(CONV1_TOGETHER, CONV1),
        sums2=floats(CONV2_TOGETHER, CONV2),
        active=floats(INPUTS),
        active_index=np.zeros(INPUTS, np.int32),
        hidden=floats(HIDDEN),
        out=floats(OUTPUTS),
    )


@kernel
def forward(planes: npt.NDArray[np.uint8], scalars: Floats, weights: Weights, scratch: Scratch) -> None:
    """Runs the network on planes u8 [18, 36, 64] and scalars f32 [27]; the results are in `scratch`."""
    _scale(planes, scratch.input)
    _conv1(scratch.input, weights.conv1, weights.conv1_bias, scratch.sums1, scratch.conv1)
    _conv2(scratch.conv1, weights.conv2, weights.conv2_bias, scratch.sums2, scratch.conv2)
    count = _gather_active(scratch.conv2, scalars, scratch.active, scratch.active_index)
    _fc(count, scratch.active, scratch.active_index, weights.fc, weights.fc_bias, scratch.hidden)
    _out(scratch.hidden, weights.out, weights.out_bias, scratch.out)


@kernel
def _scale(planes: npt.NDArray[np.uint8], scaled: Floats) -> None:
    for channel in range(CHANNELS):
        scale = DEPTH_SCALE if channel in DEPTH_CHANNELS else _ONE
        for y in range(HEIGHT):
            for x in range(WIDTH):
                scaled[channel, y, x] = np.float32(planes[channel, y, x]) * scale


@kernel
def _relu(value: np.float32) -> np.float32:
    return value if value > _ZERO else _ZERO


@kernel
def _conv1(picture: Floats, weights: Floats, bias: Floats, sums: Floats, result: Floats) -> None:
    """5 x 5, stride 2, over [channel, row, column]."""
    for y in range(CONV1_HEIGHT):
        for x in range(0, CONV1_WIDTH, CONV1_TOGETHER):
            _conv1_pixels(picture[:, 2 * y : 2 * y + 5, 2 * x : 2 * x + 9], weights, bias, sums)
            for pixel in range(CONV1_TOGETHER):
                for o in range(CONV1):
                    result[y, x + pixel, o] = _relu(sums[pixel, o])


@kernel
def _conv1_pixels(window: Floats, weights: Floats, bias: Floats, sums: Floats) -> None:
    """Sums of three pixels of a row from the window [18, 5, 9] they see together."""
    left, middle, right = sums[0], sums[1], sums[2]
    for o in range(CONV1):
        left[o] = middle[o] = right[o] = bias[o]
    for channel in range(CHANNELS):
        for ky in range(5):
            row = window[channel, ky]
            x0, x1, x2, x3, x4, x5, x6, x7, x8 = row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7], row[8]
            if x0 == 0 and x1 == 0 and x2 == 0 and x3 == 0 and x4 == 0 and x5 == 0 and x6 == 0 and x7 == 0 and x8 == 0:
                continue
            taps = weights[channel, ky]
            for o in range(CONV1):
                w0, w1, w2, w3, w4 = taps[0, o], taps[1, o], taps[2, o], taps[3, o], taps[4, o]
                left[o] = left[o] + x0 * w0 + x1 * w1 + x2 * w2 + x3 * w3 + x4 * w4
                middle[o] = middle[o] + x2 * w0 + x3 * w1 + x4 * w2 + x5 * w3 + x6 * w4
                right[o] = right[o] + x4 * w0 + x5 * w1 + x6 * w2 + x7 * w3 + x8 * w4


@kernel
def _conv2(picture: Floats, weights: Floats, bias: Floats, sums: Floats, result: Floats) -> None:
    """3 x 3, stride 2, over [row, column, channel]."""
    for y in range(CONV2_HEIGHT):
        for x in range(0, CONV2_WIDTH, CONV2_TOGETHER):
            _conv2_pixels(picture[2 * y : 2 * y + 3, 2 * x : 2 * x + 5], weights, bias, sums)
            for pixel in range(CONV2_TOGETHER):
                for o in range(CONV2):
                    result[y, x + pixel, o] = _relu(sums[pixel, o])


@kernel
def _conv2_pixels(window: Floats, weights: Floats, bias: Floats, sums: Floats) -> None:
    """Sums of two pixels of a row from the window [3, 5, 32] they see together."""
    left, right = sums[0], sums[1]
    for o in range(CONV2):
        left[o] = right[o] = bias[o]
    for channel in range(CONV1):
        for ky in range(3):
            row = window[ky, :, channel]
            x0, x1, x2, x3, x4 = row[0], row[1], row[2], row[3], row[4]
            if x0 == 0 and x1 == 0 and x2 == 0 and x3 == 0 and x4 == 0:
                continue
            taps = weights[channel, ky]
            for o in range(CONV2):
                w0, w1, w2 = taps[0, o], taps[1, o], taps[2, o]
                left[o] = left[o] + x0 * w0 + x1 * w1 + x2 * w2
                right[o] = right[o] + x2 * w0 + x3 * w1 + x4 * w2


@kernel
def _gather_active(picture: Floats, scalars: Floats, active: Floats, active_index: Indices) -> int:
    """Lists the inputs of fc that are not zero, in the flatten order (channel, row, column), and counts them."""
    count = 0
    at = 0
    for channel in range(CONV2):
        for y in range(CONV2_HEIGHT):
            for x in range(CONV2_WIDTH):
                count = _append(picture[y, x, channel], at, count, active, active_index)
                at += 1
    for k in range(SCALARS):
        count = _append(scalars[k], at + k, count, active, active_index)
    return count


@kernel
def _append(value: np.float32, index: int, count: int, active: Floats, active_index: Indices) -> int:
    """Writes always and counts only what is not zero: no branch to guess."""
    active[count] = value
    active_index[count] = index
    return count + int(value != _ZERO)


@kernel
def _fc(count: int, active: Floats, active_index: Indices, weights: Floats, bias: Floats, hidden: Floats) -> None:
    for o in range(HIDDEN):
        hidden[o] = bias[o]
    eights = count - count % 8
    for i in range(0, eights, 8):
        _fc_eight(active[i : i + 8], active_index[i : i + 8], weights, hidden)
    for i in range(eights, count):
        x, row = active[i], weights[active_index[i]]
        for o in range(HIDDEN):
            hidden[o] = hidden[o] + x * row[o]
    for o in range(HIDDEN):
        hidden[o] = _relu(hidden[o])


@kernel
def _fc_eight(x: Floats, rows: Indices, weights: Floats, hidden: Floats) -> None:
    """Adds eight inputs to every sum, so that each sum is loaded and stored once for eight."""
    x0, x1, x2, x3, x4, x5, x6, x7 = x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]
    w0, w1, w2, w3 = weights[rows[0]], weights[rows[1]], weights[rows[2]], weights[rows[3]]
    w4, w5, w6, w7 = weights[rows[4]], weights[rows[5]], weights[rows[6]], weights[rows[7]]
    for o in range(HIDDEN):
        first = hidden[o] + x0 * w0[o] + x1 * w1[o] + x2 * w2[o] + x3 * w3[o]
        hidden[o] = first + x4 * w4[o] + x5 * w5[o] + x6 * w6[o] + x7 * w7[o]


@kernel
def _out(hidden: Floats, weights: Floats, bias: Floats, result: Floats) -> None:
    for o in range(OUTPUTS):
        result[o] = bias[o]
    for i in range(HIDDEN):
        for o in range(OUTPUTS):
            result[o] = result[o] + hidden[i] * weights[i, o]
