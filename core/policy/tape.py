"""Tapes: recorded actions that a policy plays back, one act13 row a decision."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from core.errors import BadInput
from core.policy.heads import HEADS, WIDTHS, to_act13
from core.wire.act13 import KEYS, NOOP_ROW, encode_tick

Rows = npt.NDArray[np.float64]

#: Keys of a lane process's line that say nothing about the action; a tape may carry them, they are not played.
UNPLAYED_KEYS = ("cam",)


def read_tape(path: str | Path) -> Rows:
    """Returns the rows f64 [n, 13] (SPEC 1) of a tape, read-only.

    A tape is JSON lines with a lane process's keys (those left out keep its defaults), or a `.npy` file, or an `.npz`
    file with one array in it: [n, 13] rows, or [n, 9] heads of integers.

    Raises:
        BadInput: it cannot be read or played; the text names the file, the line or place, what was found and expected.
    """
    path = Path(path)
    try:
        rows = _array_rows(path) if path.suffix in (".npy", ".npz") else _line_rows(path)
    except OSError as error:
        raise BadInput(f"tape {path}: cannot be read: {error.strerror or error}") from error
    if not len(rows):
        raise BadInput(f"tape {path}: holds no action")
    rows.flags.writeable = False
    return rows


def _line_rows(path: Path) -> Rows:
    try:
        text = path.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput(f"tape {path}: byte {error.start} is not UTF-8, expected JSON lines, .npy or .npz") from error
    rows = [_line_row(f"tape {path}: line {i + 1}", line) for i, line in enumerate(text.splitlines()) if line.strip()]
    return np.array(rows, np.float64).reshape(-1, len(KEYS))


def _line_row(where: str, line: str) -> Rows:
    """Returns the row of one JSON object; stricter than a lane process, which reads a mistake as 0."""
    try:
        action = json.loads(line, parse_int=float, object_pairs_hook=_once_each)
    except json.JSONDecodeError as error:
        raise BadInput(f"{where} is not JSON: {error.msg} at column {error.colno}") from error
    except ValueError as error:
        raise BadInput(f"{where}: {error}") from error
    except RecursionError:
        raise BadInput(f"{where} is nested too deeply, expected a JSON object of numbers") from None
    if not isinstance(action, dict):
        raise BadInput(f"{where} is not a JSON object")
    row = NOOP_ROW.copy()
    for key, value in action.items():
        if key in KEYS:
            row[KEYS.index(key)] = _number(f"{where}: {key}", value)
        elif key not in UNPLAYED_KEYS:
            raise BadInput(f"{where}: unknown key {key!r}, expected {', '.join(KEYS)}")
    return _as_sent(where, row)


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    action = dict(pairs)
    if len(action) != len(pairs):
        raise ValueError("a key appears twice")
    return action


def _number(where: str, value: Any) -> float:
    if not isinstance(value, float):
        raise BadInput(f"{where} is {json.dumps(value)}, expected a number")
    return value


def _array_rows(path: Path) -> Rows:
    array = _load_array(path)
    numeric = array.dtype.kind in "iufb"
    if numeric and array.ndim == 2 and array.shape[1] == len(KEYS):
        rows = array.astype(np.float64)
    elif array.dtype.kind in "iu" and array.ndim == 2 and array.shape[1] == len(WIDTHS):
        rows = np.zeros((len(array), len(KEYS)))
        for i, heads in enumerate(array):
            to_act13(_checked_heads(f"tape {path}: decision {i}", heads), rows[i])
    else:
        shape = "x".join(map(str, array.shape)) or "a single value"
        raise BadInput(f"tape {path}: array is {array.dtype} {shape}, expected numbers n x 13 or integer heads n x 9")
    for i, row in enumerate(rows):
        rows[i] = _as_sent(f"tape {path}: decision {i}", row)
    return rows


def _load_array(path: Path) -> npt.NDArray[Any]:
    try:
        loaded = np.load(path, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return loaded
        with loaded:
            if len(loaded.files) != 1:
                raise BadInput(f"tape {path}: holds {len(loaded.files)} arrays, expected one")
            array: npt.NDArray[Any] = loaded[loaded.files[0]]
            return array
    except (BadInput, OSError):
        raise
    except Exception as error:  # a damaged file makes numpy, zipfile, zlib and tokenize raise a kind each
        reason = str(error).partition("\n")[0]
        raise BadInput(f"tape {path}: is not a numpy file that can be read: {reason}") from error


def _checked_heads(where: str, heads: npt.NDArray[Any]) -> npt.NDArray[Any]:
    for head, choice, width in zip(HEADS, heads.tolist(), WIDTHS, strict=True):
        if not 0 <= choice < width:
            raise BadInput(f"{where}: head {head} is {choice}, expected 0 to {width - 1}")
    return heads


def _as_sent(where: str, row: Rows) -> Rows:
    """Returns the row as a lane process reads it (nine digits, whole ints): both sides of a replay act alike."""
    try:
        sent = json.loads(encode_tick(row))
    except BadInput as error:
        raise BadInput(f"{where}: {error}") from error
    return np.array([sent[key] for key in KEYS], np.float64)
