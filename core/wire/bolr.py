"""BOLR observation records (SPEC 2): their layout, and a reader that takes them off a lane process's stdout."""

import math
import os
import select
import time

import numpy as np
import numpy.typing as npt

from core.errors import NetheriteError

MAGIC = b"BOLR"
CAM_WIDTH, CAM_HEIGHT = 64, 36
PIXELS = CAM_WIDTH * CAM_HEIGHT

#: One record, packed little-endian, 14,628 bytes. Field order is the wire's order.
RECORD = np.dtype(
    [
        ("magic", "<u4"),
        ("tick", "<i8"),
        ("xyz", "<f8", (3,)),
        ("yaw", "<f4"),
        ("pitch", "<f4"),
        ("dead", "<i4"),
        ("hotbar_ids", "<i4", (9,)),
        ("hotbar_counts", "<i4", (9,)),
        ("hotbar_sel", "<i4"),
        ("container", "<i4"),
        ("inv_counts", "<i4", (9,)),
        ("blocks", "<i4", (256, 4)),
        ("logs", "<i4", (64, 3)),
        ("coal", "<i4", (32, 3)),
        ("cam", "<u2", (CAM_HEIGHT, CAM_WIDTH)),
        ("depth", "u1", (CAM_HEIGHT, CAM_WIDTH)),
        ("edge", "u1", (CAM_HEIGHT, CAM_WIDTH)),
    ]
)
RECORD_BYTES = 14_628
assert RECORD.itemsize == RECORD_BYTES

#: Bytes skipped in search of a magic, before the first record and after one of the wrong length.
SCAN_LIMIT = 1 << 20
_CHUNK = 1 << 16
_MAGIC_TAIL = len(MAGIC) - 1  # bytes that may hold the beginning of a magic but not all of it


class RecordError(NetheriteError):
    """A record stream that gives no further record."""


class EndOfStream(RecordError):
    """The stream ended between two records, the way a lane process ends that did its work."""

    def __init__(self) -> None:
        super().__init__("record stream ended")


class TruncatedRecord(RecordError):
    """The stream ended inside a record."""

    def __init__(self, got: int) -> None:
        super().__init__(f"record stream ended inside a record: {got} bytes, expected {RECORD_BYTES}")
        self.got = got  #: bytes of the record that came


class WrongRecordLength(RecordError):
    """The records of this stream are not 14,628 bytes apart (a patched engine), or no records at all."""

    def __init__(self, text: str, found: int | None) -> None:
        super().__init__(text)
        self.found = found  #: bytes from one magic to the next; None when no next one was seen


class ReadDeadline(RecordError):
    """No whole record before the deadline. Reading on with the same buffer continues the same record."""

    def __init__(self, got: int, skipped: int = 0) -> None:
        other = f" after {skipped} bytes of something else" if skipped else ""
        super().__init__(f"no record before the deadline: {got} of {RECORD_BYTES} bytes came{other}")
        self.got = got  #: bytes of the record that came so far


class RecordReader:
    """Takes records off a file descriptor, straight into the caller's buffer.

    The first magic is searched for, skipping at most `SCAN_LIMIT` bytes of garbage; from then on records must follow
    one another without a gap. A reader belongs to one thread and never reads past the end of the record asked for.
    """

    def __init__(self, fd: int) -> None:
        """Reads from `fd`, a pipe or socket, blocking or not; the caller keeps and closes it."""
        self._fd = fd
        self._poll = select.poll()
        self._poll.register(fd, select.POLLIN)
        self._got = 0  # bytes of the current record already in the caller's buffer
        self._skipped = 0  # garbage before the first record
        self._records = 0
        self._last_inner = -1  # where in the previous record another magic stood: the sign of shorter records
        self._last_tail = b""  # its last bytes, in which the next magic may have begun

    def read_into(self, buf: npt.NDArray[np.uint8], deadline_monotonic: float | None = None) -> None:
        """Fills `buf` with the next record.

        Args:
            buf: shape [14628], u8, contiguous.
            deadline_monotonic: `time.monotonic()` seconds to give up at; None waits for ever.

        Raises:
            EndOfStream, TruncatedRecord, WrongRecordLength, ReadDeadline: as their names say (SPEC 2).
        """
        view = buf.data.cast("B")
        if len(view) != RECORD_BYTES:
            raise ValueError(f"record buffer is {len(view)} bytes, expected {RECORD_BYTES}")
        while self._got < RECORD_BYTES:
            count = self._read(view[self._got :], deadline_monotonic)
            if count is None:
                raise self._shorter(view) or ReadDeadline(self._got, 0 if self._records else self._skipped)
            if count == 0:
                raise self._shorter(view) or self._end(view)
            fresh = self._got < len(MAGIC)
            self._got += count
            if fresh and self._got >= len(MAGIC) and view[: len(MAGIC)] != MAGIC:
                if self._records:
                    raise self._wrong_length(bytes(view[: self._got]), deadline_monotonic)
                self._skip_garbage(view)
        # A stream keeps its record length, so only the first record can show that it is shorter than ours.
        self._last_inner = -1 if self._records else bytes(view).find(MAGIC, len(MAGIC))
        self._last_tail = bytes(view[-_MAGIC_TAIL:])
        self._records += 1
        self._got = 0

    def _read(self, into: memoryview, deadline: float | None) -> int | None:
        """Returns the bytes that one read gave, 0 at the end of the stream, None at the deadline."""
        while True:
            timeout_ms = None if deadline is None else math.ceil(max(0.0, deadline - time.monotonic()) * 1000)
            if not self._poll.poll(timeout_ms):
                return None
            try:
                return os.readv(self._fd, [into])
            except BlockingIOError:
                continue

    def _end(self, view: memoryview) -> RecordError:
        if self._got >= len(MAGIC) or (self._got and MAGIC.startswith(bytes(view[: self._got]))):
            return TruncatedRecord(self._got)
        if self._records and self._got:
            return _longer(RECORD_BYTES + self._got)
        if not self._records and self._skipped + self._got:
            skipped = self._skipped + self._got
            return WrongRecordLength(f"record stream ended after {skipped} bytes without a record", None)
        return EndOfStream()

    def _skip_garbage(self, view: memoryview) -> None:
        """Drops what precedes the first magic in the buffer, keeping a tail that may be half a magic."""
        seen = bytes(view[: self._got])
        start = seen.find(MAGIC)
        if start < 0:
            start = min(at for at in range(self._got - _MAGIC_TAIL, self._got + 1) if MAGIC.startswith(seen[at:]))
        self._skipped += start
        if self._skipped > SCAN_LIMIT:
            raise WrongRecordLength(f"no record in the first {SCAN_LIMIT} bytes of the stream", None)
        view[: self._got - start] = seen[start:]
        self._got -= start

    def _shorter(self, view: memoryview) -> WrongRecordLength | None:
        """Returns the error for records shorter than ours, when the unfinished one already holds the next magic."""
        inner = bytes(view[: self._got]).find(MAGIC, len(MAGIC))
        return _wrong(inner) if inner > 0 and view[: len(MAGIC)] == MAGIC else None

    def _wrong_length(self, head: bytes, deadline: float | None) -> WrongRecordLength:
        """Returns the error for a record whose successor, beginning with `head`, is not where it should be."""
        if self._last_inner > 0:
            return _wrong(self._last_inner)
        chunk, seen = bytearray(_CHUNK), self._last_tail + head
        distance = RECORD_BYTES - _MAGIC_TAIL  # from the previous magic to the first byte of `seen`
        while True:
            at = seen.find(MAGIC)
            if at >= 0:
                return _wrong(distance + at)
            keep = min(len(seen), _MAGIC_TAIL)
            distance += len(seen) - keep
            if distance > SCAN_LIMIT:
                return _longer(None)
            count = self._read(memoryview(chunk), deadline)
            if count == 0:
                return _wrong(distance + keep)  # the end of the stream ends the record too
            if count is None:
                return _longer(None)
            seen = seen[len(seen) - keep :] + bytes(chunk[:count])


def _wrong(found: int) -> WrongRecordLength:
    return WrongRecordLength(f"record is {found} bytes, expected {RECORD_BYTES}", found)


def _longer(found: int | None) -> WrongRecordLength:
    if found is not None:
        return _wrong(found)
    return WrongRecordLength(f"record is longer than expected {RECORD_BYTES} bytes (no next record seen)", None)
