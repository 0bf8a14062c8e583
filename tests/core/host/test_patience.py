"""Deadlines that do not count the time the engine was stopped."""

import time

import pytest

from core.host import patience
from core.host.patience import LATE_SLICE_S, SLICE_S, Patience


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock the test sets."""
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setattr(patience.time, "monotonic", lambda: now[0])
    return now


def test_it_runs_out(clock: list[float]) -> None:
    one = Patience(1.0)
    for _ in range(3):
        assert one.slice_s() == SLICE_S
        clock[0] += SLICE_S
        assert not one.is_spent()
    clock[0] += SLICE_S
    assert one.is_spent()
    assert one.slice_s() == 0.0


def test_the_last_slice_is_shorter(clock: list[float]) -> None:
    one = Patience(0.3)
    clock[0] += SLICE_S
    assert not one.is_spent()
    assert one.slice_s() == pytest.approx(0.3 - SLICE_S)


def test_an_hour_asleep_counts_as_one_late_slice(clock: list[float]) -> None:
    one = Patience(2.0)
    clock[0] += 3600.0
    assert not one.is_spent()
    assert one.slice_s() > 0
    clock[0] += LATE_SLICE_S
    assert not one.is_spent()


def test_none_never_runs_out(clock: list[float]) -> None:
    one = Patience(None)
    for _ in range(100):
        clock[0] += 1.0
        assert not one.is_spent()
    assert one.slice_s() == SLICE_S
