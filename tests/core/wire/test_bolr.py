"""The record reader over real pipes: splits, garbage, truncation, records of another length, deadlines."""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.wire import bolr
from tests.paths import DATA

SOON_S = 0.2  # a deadline meant to pass
NEVER_S = 60.0  # a deadline meant not to


def records(count: int, length: int = bolr.RECORD_BYTES) -> list[bytes]:
    """Returns records that differ, `length` bytes apart, the golden ones where they reach."""
    golden = np.load(DATA / "magma/s10_walk32.npz")["records"]
    return [(golden[i].tobytes() + b"\xab" * max(0, length - bolr.RECORD_BYTES))[:length] for i in range(count)]


@contextmanager
def stream(pieces: list[bytes], *, close: bool = True) -> Iterator[bolr.RecordReader]:
    """Gives a reader of a pipe into which a thread writes `pieces`, one write each."""
    read_end, write_end = os.pipe()
    stop = threading.Event()

    def write() -> None:
        try:
            for piece in pieces:
                view = memoryview(piece)
                while view:
                    view = view[os.write(write_end, view) :]
            if not close:
                stop.wait(NEVER_S)
        except BrokenPipeError:
            pass
        finally:
            os.close(write_end)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield bolr.RecordReader(read_end)
    finally:
        os.close(read_end)
        stop.set()
        writer.join(NEVER_S)
        assert not writer.is_alive()


def take(reader: bolr.RecordReader, wait_s: float = NEVER_S) -> bytes:
    buf = np.zeros(bolr.RECORD_BYTES, np.uint8)
    reader.read_into(buf, time.monotonic() + wait_s)
    return buf.tobytes()


def take_all(reader: bolr.RecordReader) -> None:
    while True:
        assert take(reader).startswith(bolr.MAGIC)


def test_golden_records_come_back_whole() -> None:
    sent = records(33)
    with stream([b"".join(sent)]) as reader:
        assert [take(reader) for _ in sent] == sent
        with pytest.raises(bolr.EndOfStream):
            take(reader)


@settings(max_examples=60)
@given(data=st.data(), count=st.integers(1, 4))
def test_any_split_into_writes_gives_the_same_records(data: st.DataObject, count: int) -> None:
    sent = records(count)
    whole = b"".join(sent)
    cuts = sorted(data.draw(st.sets(st.integers(1, len(whole) - 1), max_size=12)))
    pieces = [whole[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    with stream(pieces) as reader:
        assert [take(reader) for _ in sent] == sent


@settings(max_examples=60)
@given(st.binary(max_size=70_000).filter(lambda text: bolr.MAGIC not in text), st.integers(1, 5))
def test_garbage_before_the_first_record_is_skipped(garbage: bytes, piece: int) -> None:
    sent = records(2)
    head = garbage + sent[0][:8]
    if (garbage + bolr.MAGIC).find(bolr.MAGIC) != len(garbage):
        return
    pieces = [head[: len(head) // piece], head[len(head) // piece :], sent[0][8:], sent[1]]
    with stream(pieces) as reader:
        assert [take(reader), take(reader)] == sent


@pytest.mark.parametrize("half", [b"B", b"BO", b"BOL", b"BOLBO", b"BBOL"])
def test_half_a_magic_in_the_garbage_does_not_confuse(half: bytes) -> None:
    sent = records(1)[0]
    with stream([half, sent[:2], sent[2:]]) as reader:
        assert take(reader) == sent


@settings(max_examples=60)
@given(st.integers(1, bolr.RECORD_BYTES - 1), st.integers(0, 2))
def test_an_end_inside_a_record_tells_how_far_it_came(got: int, before: int) -> None:
    sent = records(before + 1)
    with stream([b"".join(sent[:before]), sent[before][:got]]) as reader:
        for _ in range(before):
            take(reader)
        with pytest.raises(bolr.TruncatedRecord, match=f"{got} bytes, expected 14628") as caught:
            take(reader)
        assert caught.value.got == got


@pytest.mark.parametrize("length", [14_629, 14_632, 15_000, 20_000, 100_000, 5, 9_000, 14_627])
def test_records_of_another_length_are_measured(length: int) -> None:
    with stream(records(6, length)) as reader, pytest.raises(bolr.WrongRecordLength) as caught:
        take_all(reader)
    assert caught.value.found == length
    assert str(caught.value) == f"record is {length} bytes, expected 14628"


@pytest.mark.parametrize("length", [14_629, 14_700, 80_000])
def test_a_longer_last_record_is_measured_to_the_end(length: int) -> None:
    with stream(records(1, length)) as reader:
        take(reader)
        with pytest.raises(bolr.WrongRecordLength) as caught:
            take(reader)
    assert caught.value.found == length


def test_a_longer_record_in_lock_step_is_told_before_the_next_one() -> None:
    with stream(records(1, 15_000), close=False) as reader:
        take(reader)
        with pytest.raises(bolr.WrongRecordLength, match="longer than expected 14628 bytes"):
            take(reader, SOON_S)


def test_two_short_records_are_measured_at_the_deadline() -> None:
    with stream(records(2, 6_000), close=False) as reader, pytest.raises(bolr.WrongRecordLength) as caught:
        take(reader, SOON_S)
    assert caught.value.found == 6_000


def test_a_stream_that_is_no_record_stream_is_told_so() -> None:
    with stream([b"usage: game [options]\n"]) as reader, pytest.raises(bolr.WrongRecordLength, match="22 bytes"):
        take(reader)


def test_endless_garbage_is_given_up() -> None:
    with (
        stream([b"x" * (bolr.SCAN_LIMIT + 100_000)]) as reader,
        pytest.raises(bolr.WrongRecordLength, match=f"no record in the first {bolr.SCAN_LIMIT} bytes"),
    ):
        take(reader)


def test_nothing_at_all_is_an_end() -> None:
    with stream([]) as reader, pytest.raises(bolr.EndOfStream):
        take(reader)


def test_a_deadline_passes_in_time_and_the_same_record_can_be_read_on() -> None:
    sent = records(1)[0]
    read_end, write_end = os.pipe()
    reader = bolr.RecordReader(read_end)
    buf = np.zeros(bolr.RECORD_BYTES, np.uint8)
    try:
        os.write(write_end, sent[:5_000])
        started = time.monotonic()
        with pytest.raises(bolr.ReadDeadline, match="5000 of 14628 bytes") as caught:
            reader.read_into(buf, started + SOON_S)
        assert caught.value.got == 5_000
        assert time.monotonic() - started >= SOON_S
        os.write(write_end, sent[5_000:])
        reader.read_into(buf, time.monotonic() + NEVER_S)
        assert buf.tobytes() == sent
    finally:
        os.close(read_end)
        os.close(write_end)


def test_a_deadline_in_the_past_still_takes_what_is_there() -> None:
    sent = records(1)
    read_end, write_end = os.pipe()
    try:
        os.write(write_end, sent[0])
        assert take(bolr.RecordReader(read_end), -1.0) == sent[0]
    finally:
        os.close(read_end)
        os.close(write_end)


def test_a_reader_never_reads_past_its_record() -> None:
    sent = records(2)
    with stream([b"".join(sent)], close=False) as reader:
        take(reader)
        rest = np.zeros(bolr.RECORD_BYTES, np.uint8)
        bolr.RecordReader(reader._fd).read_into(rest, time.monotonic() + NEVER_S)
        assert rest.tobytes() == sent[1]


def test_a_buffer_of_another_size_is_a_mistake_of_the_caller() -> None:
    with stream([]) as reader, pytest.raises(ValueError, match="10 bytes, expected 14628"):
        reader.read_into(np.zeros(10, np.uint8))


@settings(max_examples=150)
@given(st.data())
def test_any_damage_ends_in_a_record_or_a_named_error(data: st.DataObject) -> None:
    blob = bytearray(b"".join(records(3)))
    for _ in range(data.draw(st.integers(0, 4))):
        start = data.draw(st.integers(0, len(blob) - 1))
        if data.draw(st.booleans()):
            del blob[start : start + data.draw(st.integers(0, 20_000))]
        else:
            blob[start:start] = data.draw(st.binary(max_size=200))
        if not blob:
            break
    with stream([bytes(blob)]) as reader, pytest.raises(bolr.RecordError):
        take_all(reader)
