"""Medians of the exact network on one core, beside plain loops in the native's order.

Run it as `python tests/bench/network.py` from the project's root. The limits: 1.0 ms, and 4 times the plain loops.
"""

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from core.kernels import kernel
from core.policy.network import ExactNetwork
from core.wire.bnn1 import fixture_checkpoint

LIMIT_MS = 1.0
LEAST_RATIO = 4.0
RUNS = 300


@kernel
def plain_convolution(picture, weights, bias, result):
    """Stride 2, the loops as SPEC 8 tells them: one output after the other, nothing skipped."""
    size = weights.shape[3]
    for o in range(result.shape[0]):
        for y in range(result.shape[1]):
            for x in range(result.shape[2]):
                total = bias[o]
                for channel in range(picture.shape[0]):
                    for ky in range(size):
                        for kx in range(size):
                            total += weights[o, channel, ky, kx] * picture[channel, 2 * y + ky, 2 * x + kx]
                result[o, y, x] = total if total > 0 else np.float32(0)


@kernel
def plain_layer(inputs, weights, bias, result, relu):
    for o in range(result.size):
        total = bias[o]
        for i in range(inputs.size):
            total += weights[o, i] * inputs[i]
        result[o] = total if total > 0 or not relu else np.float32(0)


class PlainLoops:
    """The baseline: the same arithmetic in the plainest compiled loops."""

    def __init__(self, tensors):
        self.tensors = tensors
        self.scales = np.ones((18, 1, 1), np.float32)
        self.scales[[7, 16]] = np.float32(1) / np.float32(255)
        self.conv1 = np.zeros((32, 16, 30), np.float32)
        self.conv2 = np.zeros((64, 7, 14), np.float32)
        self.hidden, self.logits = np.zeros(256, np.float32), np.zeros(34, np.float32)
        self.value = np.zeros(1, np.float32)

    def forward(self, planes, scalars):
        w = self.tensors
        plain_convolution(planes * self.scales, w["conv1_w"], w["conv1_b"], self.conv1)
        plain_convolution(self.conv1, w["conv2_w"], w["conv2_b"], self.conv2)
        inputs = np.concatenate([self.conv2.ravel(), scalars])
        plain_layer(inputs, w["fc_w"], w["fc_b"], self.hidden, True)
        plain_layer(self.hidden, w["heads_w"], w["heads_b"], self.logits, False)
        plain_layer(self.hidden, w["value_w"], w["value_b"], self.value, False)
        return self.logits


def pictures():
    """Returns planes by name: a third of the pixels set, all set, and what a lane usually sees (few planes filled)."""
    chance = np.random.default_rng(1)
    dense = chance.integers(1, 256, (18, 36, 64), np.uint8)
    third = (chance.random(dense.shape) < 0.3).astype(np.uint8)
    third[[7, 16]] = dense[[7, 16]]
    sparse = np.zeros_like(dense)
    sparse[[7, 16]] = dense[[7, 16]]
    sparse[[6, 15], 18:] = 1
    sparse[[4, 13], 20:] = 1
    return {"sparse": sparse, "third": third, "dense": dense}


def median_ms(call: Callable[[], object]) -> float:
    call()
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return 1e3 * statistics.median(times)


def main() -> int:
    checkpoint = fixture_checkpoint(1)
    exact, plain = ExactNetwork(checkpoint).lane(), PlainLoops(checkpoint.tensors)
    scalars = np.random.default_rng(2).normal(size=27).astype(np.float32)
    failed = False
    print(f"{'planes':8} {'exact ms':>9} {'plain ms':>9} {'ratio':>6}")
    for name, planes in pictures().items():
        same = exact.forward(planes, scalars).tobytes() == plain.forward(planes, scalars).tobytes()
        exact_ms = median_ms(lambda planes=planes: exact.forward(planes, scalars))
        plain_ms = median_ms(lambda planes=planes: plain.forward(planes, scalars))
        good = same and exact_ms <= LIMIT_MS and plain_ms >= LEAST_RATIO * exact_ms
        failed |= not good
        verdict = "ok" if good else "LOGITS DIFFER" if not same else "TOO SLOW"
        print(f"{name:8} {exact_ms:9.3f} {plain_ms:9.3f} {plain_ms / exact_ms:6.1f} {verdict}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
