"""Frames of the control socket: u32 little-endian length, then one msgpack map with a type under `t`.

The engine's side says `hello`, then streams `views`, `events` and `beat`, answers `reply` and ends with `bye`. A client
says `hello`, `watch` (the lanes whose records it wants) and `do` (a command). Both name PROTOCOL in their hello.
"""

import struct
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

import msgpack

from core.errors import NetheriteError
from core.ladder.events import Event, LaneState, LaneView, Outcome

PROTOCOL = 1
REQUEST_LIMIT = 1 << 16  #: bytes of the largest frame a client may send: 512 lane numbers fit many times
ANSWER_LIMIT = 1 << 26  #: bytes of the largest frame the engine may send: 512 views with two records each fit twice

_LENGTH = struct.Struct("<I")
_VIEW_FIELDS = tuple(one.name for one in fields(LaneView) if one.name not in ("record", "reference"))
_STATE, _OUTCOME = _VIEW_FIELDS.index("state"), _VIEW_FIELDS.index("outcome")


class BadFrame(NetheriteError):
    """Bytes that are not a frame, or a frame whose content makes no sense. The connection cannot go on."""


def pack(kind: str, **content: Any) -> bytes:
    """Returns one frame."""
    body = msgpack.packb({"t": kind, **content})
    return _LENGTH.pack(len(body)) + bytes(body)


class Unpacker:
    """Cuts received bytes into frames, whatever pieces they come in."""

    def __init__(self, limit: int) -> None:
        """Refuses frames above `limit` bytes."""
        self._limit = limit
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[dict[str, Any]]:
        """Yields the frames that are whole once `data` is added.

        Raises:
            BadFrame: the stream is not one of frames, or a frame is too large.
        """
        self._buffer += data
        while len(self._buffer) >= _LENGTH.size:
            (size,) = _LENGTH.unpack_from(self._buffer)
            if size > self._limit:
                raise BadFrame(f"control frame of {size} bytes, expected at most {self._limit}")
            end = _LENGTH.size + size
            if len(self._buffer) < end:
                return
            body = bytes(self._buffer[_LENGTH.size : end])
            del self._buffer[:end]
            yield _content(body)


def _content(body: bytes) -> dict[str, Any]:
    try:
        content = msgpack.unpackb(body)
    except (ValueError, TypeError, msgpack.UnpackException) as error:
        raise BadFrame(f"control frame is not msgpack: {type(error).__name__}") from error
    if not isinstance(content, dict) or not isinstance(content.get("t"), str):
        raise BadFrame("control frame is not a map with a type")
    return content


def lanes_of(content: Mapping[str, Any], count: int) -> list[int]:
    """Returns the lane indices a request names.

    Raises:
        BadFrame: not a list of whole numbers from 0 to count - 1.
    """
    lanes = content.get("lanes")
    if not isinstance(lanes, list) or not all(type(one) is int and 0 <= one < count for one in lanes):
        raise BadFrame(f"control frame names lanes {str(lanes)[:60]}, expected numbers from 0 to {count - 1}")
    return lanes


def view_row(view: LaneView, with_records: bool) -> list[Any]:
    """Returns a view as msgpack values; its two records only on request, they are most of its size."""
    row = [getattr(view, name) for name in _VIEW_FIELDS]
    row[_STATE] = view.state.value
    row[_OUTCOME] = None if view.outcome is None else view.outcome.value
    return [*row, view.record, view.reference] if with_records else row


def view_of(row: list[Any]) -> LaneView:
    """Returns the view `view_row` packed.

    Raises:
        BadFrame: the row has another shape.
    """
    try:
        values = dict(zip((*_VIEW_FIELDS, "record", "reference"), row, strict=False))
        values["state"] = LaneState(values["state"])
        values["outcome"] = None if values["outcome"] is None else Outcome(values["outcome"])
        return LaneView(**values)
    except (TypeError, ValueError, KeyError) as error:
        raise BadFrame(f"control frame holds no lane view: {error}") from error


def event_row(event: Event) -> list[Any]:
    """Returns an event as msgpack values."""
    return [event.n, event.time, event.kind, event.lane, event.text, event.data]


def event_of(row: list[Any]) -> Event:
    """Returns the event `event_row` packed.

    Raises:
        BadFrame: the row has another shape.
    """
    try:
        return Event(*row)
    except TypeError as error:
        raise BadFrame(f"control frame holds no event: {error}") from error
