"""Sampling with counter-based Gumbel noise (SPEC 9): a lane's draws depend on its ni and its decision count alone."""

import math

import numpy as np
import numpy.typing as npt

from core.kernels import kernel
from core.policy.heads import OFFSETS, WIDTHS

STEP_MULTIPLIER = 0xD1B54A32D192ED03
WORD = (1 << 64) - 1

A_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
B_MULTIPLIER = np.uint64(0xBF58476D1CE4E5B9)
C_MULTIPLIER = np.uint64(0x94D049BB133111EB)
FIRST_FINALIZER = np.uint64(0xFF51AFD7ED558CCD)
SECOND_FINALIZER = np.uint64(0xC4CEB9FE1A85EC53)
HALF_WORD = np.uint64(33)
TO_24_BITS = np.uint64(40)

HALF = np.float32(0.5)
ULP_24 = np.float32(2.0**-24)
LOWEST_UNIT = np.float32(1e-7)
HIGHEST_UNIT = np.float32(1.0) - np.float32(1e-7)
LOG_FLOOR = np.float32(1e-20)

Floats = npt.NDArray[np.float32]

_OFFSETS = np.array(OFFSETS, np.int64)
_WIDTHS = np.array(WIDTHS, np.int64)


def mix(rng_seed: int, step: int) -> int:
    """Returns the noise word s of decision `step` (from 0), an unsigned 64-bit integer."""
    return (rng_seed ^ (step * STEP_MULTIPLIER)) & WORD


@kernel
def unit(s: np.uint64, a: np.uint64, b: np.uint64, c: np.uint64) -> np.float32:
    """Returns float32 in [1e-7, 1 - 1e-7], a pure function of four u64 words."""
    x = s ^ (a * A_MULTIPLIER) ^ (b * B_MULTIPLIER) ^ (c * C_MULTIPLIER)
    x ^= x >> HALF_WORD
    x *= FIRST_FINALIZER
    x ^= x >> HALF_WORD
    x *= SECOND_FINALIZER
    x ^= x >> HALF_WORD
    u = (np.float32(x >> TO_24_BITS) + HALF) * ULP_24
    return min(max(u, LOWEST_UNIT), HIGHEST_UNIT)


@kernel
def gumbel(u: np.float32) -> np.float32:
    """Returns -log(-log(u)) in float32 with the C library's logf, both logarithms kept off zero."""
    inner = np.float32(-math.log(u if u > LOG_FLOOR else LOG_FLOOR))
    return np.float32(-math.log(inner if inner > LOG_FLOOR else LOG_FLOOR))


@kernel
def _draw(logits: Floats, s: np.uint64, ni: np.uint64, out: npt.NDArray[np.int32]) -> None:
    for head in range(_WIDTHS.size):
        best = np.float32(-np.inf)
        chosen = 0
        for choice in range(_WIDTHS[head]):
            noise = gumbel(unit(s, ni, np.uint64(head), np.uint64(choice)))
            score = logits[_OFFSETS[head] + choice] + noise
            if score > best:
                best = score
                chosen = choice
        out[head] = chosen


@kernel
def _fill_units(s: np.uint64, a: np.uint64, b: np.uint64, out: Floats) -> None:
    for i in range(out.size):
        out[i] = unit(s, a, b, np.uint64(i))


def draw(logits: Floats, s: int, ni: int, out: npt.NDArray[np.int32]) -> None:
    """Draws the nine heads.

    Args:
        logits: f32 [34]. s: the noise word of this decision, from `mix`. ni: the lane's noise index.
        out: i32 [9], overwritten with the choices; the first maximum wins.
    """
    _draw(logits, np.uint64(s), np.uint64(ni), out)


def units(s: int, a: int, b: int, out: Floats) -> None:
    """Fills f32 `out` with `unit(s, a, b, c)` for c = 0, 1, ..."""
    _fill_units(np.uint64(s), np.uint64(a), np.uint64(b), out)
