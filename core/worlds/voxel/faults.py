"""Misbehaviour on demand: what a lane process can be told to do wrong, for demonstrations and tests.

A fault is `KIND:key=value...`. `tick` is the number of the record it strikes at (0 = the start record); repeats of a
decision are ticks, so step s of SPEC 4 is tick s * action_repeat.
"""

import os
import resource
import signal
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from core.errors import BadInput
from core.wire.bolr import PIXELS, RECORD_BYTES

#: Every kind with its keys and their defaults.
KINDS: Mapping[str, Mapping[str, int]] = MappingProxyType(
    {
        "cam": {"tick": 0, "px": 1},  # px pixels of that one record show another block
        "hang": {"tick": 0},  # that record never comes
        "deaf": {"tick": 0},  # that record never comes, and SIGTERM is ignored
        "crash": {"tick": 0},  # dies of SIGSEGV instead of that record
        "exit": {"tick": 0, "code": 0},  # ends by itself instead of that record
        "cut": {"tick": 0, "bytes": RECORD_BYTES // 2},  # dies after that many bytes of that record
        "slow": {"tick": 0, "ms": 100},  # every record from that one on comes ms late
        "long": {"tick": 0, "bytes": 4},  # every record from that one on is that much longer
        "flood": {"tick": 0, "bytes": 1 << 20},  # that much text on stderr before that record
    }
)


@dataclass(frozen=True)
class Fault:
    """One way to misbehave."""

    kind: str
    values: Mapping[str, int]

    @classmethod
    def parse(cls, text: str) -> "Fault":
        """Returns the fault `text` names.

        Raises:
            BadInput: an unknown kind or key, or a value that is not a whole number of at least 0.
        """
        kind, *settings = text.split(":")
        if kind not in KINDS:
            raise BadInput(f"fault {text!r}: unknown kind {kind!r}, expected one of {', '.join(KINDS)}")
        values = dict(KINDS[kind])
        for setting in settings:
            key, _, value = setting.partition("=")
            if key not in values:
                raise BadInput(f"fault {text!r}: unknown key {key!r}, expected one of {', '.join(values)}")
            if not value.isascii() or not value.isdigit():
                raise BadInput(f"fault {text!r}: {key} is {value!r}, expected a whole number of at least 0")
            values[key] = int(value)
        if kind == "cam" and not 1 <= values["px"] <= PIXELS:
            raise BadInput(f"fault {text!r}: px is {values['px']}, expected 1..{PIXELS}")
        return cls(kind, MappingProxyType(values))

    def strike(self, tick: int, record: npt.NDArray[np.void], data: bytes) -> bytes:
        """Returns what is sent for record number `tick` instead of `data`; may not return at all.

        Args:
            tick: number of the record since the start.
            record: [1] of `core.wire.bolr.RECORD`, the same record as an array; not changed.
            data: the bytes about to be sent.
        """
        due = self.values["tick"]
        if tick == due or (tick > due and self.kind in ("slow", "long")):
            return _STRIKES[self.kind](self.values, record, data)
        return data


def _cam(values: Mapping[str, int], record: npt.NDArray[np.void], data: bytes) -> bytes:
    wrong = record.copy()
    pixels = wrong["cam"].reshape(-1)
    pixels[np.arange(values["px"]) * (PIXELS // values["px"])] ^= 1
    return wrong.tobytes() + data[RECORD_BYTES:]


def _hang(values: Mapping[str, int], record: npt.NDArray[np.void], data: bytes) -> bytes:
    while True:
        time.sleep(3600)


def _deaf(values: Mapping[str, int], record: npt.NDArray[np.void], data: bytes) -> bytes:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print("fault: SIGTERM is ignored from here on", file=sys.stderr, flush=True)
    return _hang(values, record, data)


def _crash(values: Mapping[str, int], record: npt.NDArray[np.void], data: bytes) -> bytes:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGSEGV, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGSEGV)
    return data


def _exit(values: Mapping[str, int], record: npt.NDArray[np.void], data: bytes) -> bytes:
    sys.exit(values["code"] & 0xFF)


def _cut(values: Mapping[str, int], record: npt.NDArray[np.void], data: bytes) -> bytes:
    sys.stdout.buffer.write(data[: values["bytes"]])
    sys.stdout.buffer.flush()
    return _crash(values, record, data)


def _slow(values: Mapping[str, int], record: npt.NDArray[np.void], data: bytes) -> bytes:
    time.sleep(values["ms"] / 1000)
    return data


def _long(values: Mapping[str, int], record: npt.NDArray[np.void], data: bytes) -> bytes:
    return data + bytes(values["bytes"])


def _flood(values: Mapping[str, int], record: npt.NDArray[np.void], data: bytes) -> bytes:
    line = b"x" * 99 + b"\n"
    sys.stderr.buffer.write(line * (values["bytes"] // len(line)))
    sys.stderr.buffer.flush()
    return data


_STRIKES = {
    "cam": _cam,
    "hang": _hang,
    "deaf": _deaf,
    "crash": _crash,
    "exit": _exit,
    "cut": _cut,
    "slow": _slow,
    "long": _long,
    "flood": _flood,
}
