"""Number tools of RULES 0, 8 and 11.1: the sine table, the item generator, the tick hash.

float32 discipline: numba promotes float32 * python-float to float64, so float32 literals are module constants made with
np.float32 and every float32 operation has float32 operands on both sides.
"""

import math
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from core.kernels import kernel

F32 = np.float32
#: int64 in kernels, an int to the type checker: fields of records are narrower, and callees are compiled for int64.
I64: Callable[[Any], int] = cast(Any, np.int64)
DEG = F32(0.017453292)
_TO_INDEX = F32(10430.378)
_QUARTER = F32(16384.0)


@kernel
def _index(v: np.float32) -> int:
    """Truncates float32 `v` like a C int conversion that saturates (NaN is 0), and masks it to the table."""
    if v != v:
        return 0
    if v >= F32(2147483648.0):
        return 0x7FFFFFFF & 65535
    if v <= F32(-2147483648.0):
        return 0
    return int(v) & 65535


@kernel
def table_sine(index: int) -> np.float32:
    """Entry 0..65535 of RULES 0's table, computed: as a constant the table would be compiled into every caller."""
    return F32(math.sin(((index * math.pi) * 2.0) / 65536.0))


@kernel
def msin(v: np.float32) -> np.float32:
    """Table sine of float32 radians."""
    return table_sine(_index(F32(v * _TO_INDEX)))


@kernel
def mcos(v: np.float32) -> np.float32:
    """Table cosine of float32 radians."""
    return table_sine(_index(F32(F32(v * _TO_INDEX) + _QUARTER)))


@kernel
def ifloor(v: float | np.float32) -> int:
    """floor as an integer."""
    return math.floor(v)


@kernel
def iceil(v: float) -> int:
    """ceil as an integer (trunc, plus one if the value is above)."""
    return math.ceil(v)
