"""What one input line asks for, read as the game reads it (SPEC 1, RULES 1): substring search, then strtod.

There is no JSON here on purpose. The first `"key"` anywhere in the line counts, nested or not; whatever strtod cannot
read is 0, so `null`, `true` and quoted numbers are 0; a missing key has its default.
"""

import math
import re
from functools import lru_cache
from typing import NamedTuple

from core.wire.act13 import KEYS, REALS

_DEFAULTS = {b"hotbar": -1, b"craft": -1, b"cam": 1, b"snapshot_r": 32}
_INT_MIN = -(2**31)
_NUMBER = re.compile(
    rb"[ \t\n\v\f\r]*(?:"
    rb"(?P<hex>[-+]?0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)(?:[pP][-+]?[0-9]+)?)"
    rb"|(?P<plain>[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)"
    rb"|(?P<word>[-+]?(?:inf(?:inity)?|nan)))",
    re.IGNORECASE,
)


class Order(NamedTuple):
    """One line's wishes."""

    row: tuple[float, ...]  #: act13, every entry after the fourth a whole number
    cam: bool  #: render the camera
    snapshot: str | None  #: write the state before this tick to this path
    snapshot_r: int  #: half-width of that snapshot, blocks


def strtod(text: bytes) -> float:
    """Returns the number `text` begins with, as C's strtod, 0.0 if none."""
    found = _NUMBER.match(text)
    if found is None:
        return 0.0
    if found["hex"] is not None:
        try:
            return float.fromhex(found["hex"].decode())
        except OverflowError:
            return math.copysign(math.inf, -1.0 if found["hex"].startswith(b"-") else 1.0)
    return float(found["plain"] if found["plain"] is not None else found["word"])


def _after(line: bytes, key: bytes) -> bytes | None:
    """Returns what follows the first `"key"` and its colon, None without the key."""
    at = line.find(b'"' + key + b'"')
    if at < 0:
        return None
    return line[at + len(key) + 2 :].lstrip(b" \t").removeprefix(b":")


def _real(line: bytes, key: bytes) -> float:
    value = _after(line, key)
    return float(_DEFAULTS.get(key, 0)) if value is None else strtod(value)


def _whole(line: bytes, key: bytes) -> int:
    """Returns the number truncated like a C int conversion: what does not fit is INT_MIN."""
    value = _real(line, key)
    return int(value) if math.isfinite(value) and abs(value) < -_INT_MIN else _INT_MIN


def _path(line: bytes) -> str | None:
    """Returns the quoted path of the `snapshot` key, None if absent, empty or not quoted."""
    value = _after(line, b"snapshot")
    if value is None:
        return None
    before, quote, rest = value.partition(b'"')
    path, closing, _ = rest.partition(b'"')
    if before.strip() or not quote or not closing or not path:
        return None
    return path.decode("utf-8", "surrogateescape")


@lru_cache(maxsize=512)
def parse(line: bytes) -> Order:
    """Returns what `line` asks for; garbage and blank lines are one no-op tick.

    Args:
        line: one line with or without its newline. A NUL ends it, as it ends a C string.
    """
    line = line.partition(b"\0")[0]
    keys = [key.encode() for key in KEYS]
    row = [_real(line, key) for key in keys[:REALS]] + [float(_whole(line, key)) for key in keys[REALS:]]
    return Order(tuple(row), _whole(line, b"cam") != 0, _path(line), _whole(line, b"snapshot_r"))
