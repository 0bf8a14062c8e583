"""Journals: whole, torn and damaged."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.errors import ExitCode
from core.runs.journal import JournalDamaged, JournalWriter, encode_frame, read_journal

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)
FRAMES = st.lists(st.dictionaries(st.text(), VALUES, min_size=1, max_size=4), max_size=8)
REUSE = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)


def _write(path: Path, frames: list[dict]) -> None:
    path.unlink(missing_ok=True)
    writer = JournalWriter(path)
    for frame in frames:
        writer.append(frame)
    writer.sync()
    writer.close()


@REUSE
@given(frames=FRAMES)
def test_round_trip(tmp_path: Path, frames: list[dict]) -> None:
    path = tmp_path / "journal"
    _write(path, frames)
    content = read_journal(path)
    assert list(content.frames) == frames
    assert content.torn_bytes == 0


def test_every_torn_tail_is_cut_and_written_over(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    frames = [{"kind": "event", "n": n, "text": "x" * n} for n in range(4)]
    whole = b"".join(map(encode_frame, frames))
    ends = [len(b"".join(map(encode_frame, frames[:count]))) for count in range(5)]
    for length in range(len(whole) + 1):
        path.write_bytes(whole[:length])
        count = max(index for index, end in enumerate(ends) if end <= length)
        content = read_journal(path)
        assert list(content.frames) == frames[:count]
        assert (content.whole_bytes, content.torn_bytes) == (ends[count], length - ends[count])
        writer = JournalWriter(path)
        writer.append({"kind": "new"})
        writer.close()
        assert list(read_journal(path).frames) == [*frames[:count], {"kind": "new"}]


@pytest.mark.parametrize("tail", [bytes(4096), b"\xff" * 300, b"\x01\x00\x00\x00" * 50], ids=["zeros", "ones", "words"])
def test_a_tail_of_garbage_is_torn(tmp_path: Path, tail: bytes) -> None:
    path = tmp_path / "journal"
    path.write_bytes(encode_frame({"kind": "a"}) + tail)
    content = read_journal(path)
    assert content.frames == ({"kind": "a"},)
    assert content.torn_bytes == len(tail)


def test_every_flipped_byte_before_the_last_frame_is_refused_with_its_offset(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    frames = [encode_frame({"kind": "event", "n": n, "text": "some text"}) for n in range(3)]
    whole = b"".join(frames)
    for position in range(len(frames[0]) + len(frames[1])):
        path.write_bytes(whole[:position] + bytes([whole[position] ^ 0x41]) + whole[position + 1 :])
        start = 0 if position < len(frames[0]) else len(frames[0])
        with pytest.raises(JournalDamaged) as caught:
            read_journal(path)
        assert caught.value.offset == start
        assert f"damaged at byte {start};" in str(caught.value)
        assert caught.value.exit_code == ExitCode.REFUSED
        with pytest.raises(JournalDamaged):
            JournalWriter(path)


def test_an_empty_journal_is_empty(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    path.touch()
    assert read_journal(path).frames == ()


def test_a_payload_too_large_is_refused() -> None:
    with pytest.raises(ValueError, match="expected at most 1048576 bytes"):
        encode_frame({"blob": bytes(1 << 20)})
