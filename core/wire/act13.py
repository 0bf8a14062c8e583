"""act13: one row of 13 numbers is one tick's input, sent to a lane process as one JSON line (SPEC 1)."""

import math
import os

import numpy as np
import numpy.typing as npt

from core.errors import BadInput

#: The row's numbers in order; dyaw and dpitch are degrees, hotbar and craft are -1 for "leave as is".
KEYS = (
    "forward",
    "strafe",
    "dyaw",
    "dpitch",
    "jump",
    "sneak",
    "sprint",
    "attack",
    "use",
    "hotbar",
    "craft",
    "interact",
    "smelt",
)
REALS = 4  #: the first four are printed as %.9g, the others truncated to %d

#: The row that does nothing.
NOOP_ROW: npt.NDArray[np.float64] = np.array([0.0] * 9 + [-1.0, -1.0, 0.0, 0.0])
NOOP_ROW.flags.writeable = False

_LINE = "{" + ",".join(f'"{key}":{"%.9g" if i < REALS else "%d"}' for i, key in enumerate(KEYS)) + ',"cam":%d}\n'
_INT32 = 2.0**31


def encode_tick(row: npt.NDArray[np.float64], cam: int = 1) -> bytes:
    """Returns the line the native eval sends for `row` [13], byte for byte; `cam` 0 skips the camera of that tick.

    Raises:
        BadInput: a number is not finite, or does not fit the int it is sent as.
    """
    return _line(_checked(row), cam)


def encode_decision(row: npt.NDArray[np.float64], repeat: int) -> bytes:
    """Returns the `repeat` lines of one decision: only the last asks for the camera.

    The first line is the row; the later ones neither turn nor craft, interact or smelt again (SPEC 1).

    Raises:
        BadInput: as `encode_tick`.
    """
    values = _checked(row)
    if repeat == 1:
        return _line(values, 1)
    held = (*values[:2], 0.0, 0.0, *values[4:10], -1, 0, 0)
    between = _line(held, 0) * (repeat - 2) if repeat > 2 else b""
    return _line(values, 0) + between + _line(held, 1)


def encode_snapshot(path: str, half_width: int) -> bytes:
    """Returns a no-op tick before which the lane process writes its state to `path`, `half_width` blocks around.

    Raises:
        BadInput: the path cannot stand between quotes in a line that is searched, not parsed.
    """
    if not path or any(char in '"\\' or not char.isprintable() for char in path):
        raise BadInput(f"snapshot path {path!r}: expected no quotes, backslashes or control characters")
    order = f',"snapshot":"{path}","snapshot_r":{half_width}}}\n'
    return encode_tick(NOOP_ROW).rstrip(b"}\n") + os.fsencode(order)


def _line(values: tuple[float, ...], cam: int) -> bytes:
    return (_LINE % (*values, cam)).encode("ascii")


def _checked(row: npt.NDArray[np.float64]) -> tuple[float, ...]:
    values = tuple(row.tolist())
    if len(values) != len(KEYS):
        raise BadInput(f"act13 row has {len(values)} numbers, expected {len(KEYS)}")
    # One comparison settles nearly every row: the lane's parser reads NaN as poison and "inf" as infinity.
    if not all(map(math.isfinite, values)):
        bad = next(i for i, value in enumerate(values) if not math.isfinite(value))
        raise BadInput(f"act13 {KEYS[bad]} is {values[bad]}, expected a finite number")
    if max(values[REALS:]) >= _INT32 or min(values[REALS:]) <= -_INT32 - 1:
        bad = next(i for i in range(REALS, len(KEYS)) if not -_INT32 - 1 < values[i] < _INT32)
        raise BadInput(f"act13 {KEYS[bad]} is {values[bad]:g}, expected a 32-bit integer")
    return values
