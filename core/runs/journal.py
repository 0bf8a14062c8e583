"""The journal of a run: an append-only file of checked frames (DESIGN, run folder).

A frame is u32 length, u32 crc32 of the payload (both little-endian), then the payload: one msgpack map. The last frame
may be torn by a crash and is cut off; damage anywhere else is refused with its offset, because what follows can no
longer be trusted.
"""

import errno
import os
import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgpack

from core.errors import Refused

_HEAD = struct.Struct("<II")
MAX_PAYLOAD = 1 << 20  #: bytes; frames carry events and results, never recordings


class JournalDamaged(Refused):
    """A journal with damage before its last frame."""

    def __init__(self, path: Path, offset: int) -> None:
        super().__init__(f"journal {path}: damaged at byte {offset}; expected a whole frame, more frames follow it")
        self.offset = offset


@dataclass(frozen=True)
class JournalContent:
    """What a journal holds."""

    frames: tuple[dict[str, Any], ...]
    whole_bytes: int  #: length of the part that is whole; what lies after it is a torn tail
    torn_bytes: int


def encode_frame(fields: Mapping[str, Any]) -> bytes:
    """Returns one frame.

    Raises:
        ValueError: the payload is larger than `MAX_PAYLOAD`.
    """
    payload: bytes = msgpack.packb(dict(fields))
    if len(payload) > MAX_PAYLOAD:
        raise ValueError(f"journal frame: expected at most {MAX_PAYLOAD} bytes, found {len(payload)}")
    return _HEAD.pack(len(payload), zlib.crc32(payload)) + payload


def read_journal(path: Path) -> JournalContent:
    """Returns all whole frames of a journal; it may be growing meanwhile.

    Raises:
        JournalDamaged: a frame before the last one is not whole.
        OSError: the file cannot be read.
    """
    data = path.read_bytes()
    frames: list[dict[str, Any]] = []
    offset = 0
    while offset < len(data):
        found = _frame_at(data, offset)
        if found is None:
            if any(_frame_at(data, later) for later in range(offset + 1, len(data) - _HEAD.size)):
                raise JournalDamaged(path, offset)
            break
        fields, offset = found
        frames.append(fields)
    return JournalContent(tuple(frames), offset, len(data) - offset)


def _frame_at(data: bytes, offset: int) -> tuple[dict[str, Any], int] | None:
    """Returns the frame at an offset and where it ends, or None when there is no whole frame."""
    if offset + _HEAD.size > len(data):
        return None
    length, checksum = _HEAD.unpack_from(data, offset)
    start, end = offset + _HEAD.size, offset + _HEAD.size + length
    # A file system may leave zeros after a crash: length 0 with checksum 0 would pass, so an empty frame is none.
    if not 0 < length <= MAX_PAYLOAD or end > len(data) or zlib.crc32(data[start:end]) != checksum:
        return None
    try:
        fields = msgpack.unpackb(data[start:end], strict_map_key=False)
    except (ValueError, msgpack.UnpackException):
        return None
    return (fields, end) if isinstance(fields, dict) else None


class JournalWriter:
    """Appends frames to a journal. Used by one thread; the run's lock keeps other processes out."""

    def __init__(self, path: Path) -> None:
        """Opens a journal, cutting off a torn tail.

        Raises:
            JournalDamaged: a frame before the last one is not whole.
            OSError: the file cannot be opened, read or cut.
        """
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        try:
            self.content = read_journal(path)  #: what it held when it was opened
            if self.content.torn_bytes:
                os.ftruncate(self._file, self.content.whole_bytes)
            self._whole_bytes = self.content.whole_bytes
        except BaseException:
            os.close(self._file)
            raise

    def append(self, fields: Mapping[str, Any]) -> None:
        """Appends one frame and hands it to the system.

        Raises:
            OSError: it cannot be written; what part of it was is cut off again.
        """
        frame = memoryview(encode_frame(fields))
        try:
            left = frame
            while left:
                left = left[os.write(self._file, left) :]
        except OSError:
            os.ftruncate(self._file, self._whole_bytes)
            raise
        self._whole_bytes += len(frame)

    def sync(self) -> None:
        """Waits until everything appended is on the disk. May take seconds.

        Raises:
            OSError: it cannot be written, or the file was deleted, so that nothing of it would be left.
        """
        os.fsync(self._file)
        if os.fstat(self._file).st_nlink == 0:
            raise FileNotFoundError(errno.ENOENT, "the journal was deleted")

    def close(self) -> None:
        """Closes the file; may be called twice."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def frames_of_kind(frames: tuple[dict[str, Any], ...], kind: str) -> Iterator[dict[str, Any]]:
    """Yields the frames whose `kind` is the given one."""
    return (frame for frame in frames if frame.get("kind") == kind)
