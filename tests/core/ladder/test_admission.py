"""Who gets a slot: jobs, and memory as measured."""

import resource

import pytest

from core.host.memory import GIB, MIB
from core.ladder.admission import IN_PROCESS_BYTES, PROCESS_BYTES, Admission, cores
from core.ladder.config import ALL_JOBS, AUTO_JOBS


def test_slots(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert Admission(AUTO_JOBS, 8 * GIB).slots == cores() + 1
    assert Admission(7, 8 * GIB).slots == 7
    assert Admission(ALL_JOBS, 8 * GIB).slots == ALL_JOBS
    assert Admission(7, 8 * GIB).starting_limit == cores() + 1


@pytest.mark.parametrize(("limit", "slots"), [(1024, 246), (64, 6), (45, 1), (20, 1), (1 << 20, ALL_JOBS)])
def test_slots_leave_open_files_for_the_rest(monkeypatch: pytest.MonkeyPatch, limit: int, slots: int) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (limit, limit))
    assert Admission(ALL_JOBS, 8 * GIB).slots == slots


def test_room_keeps_the_reserve_free() -> None:
    rule = Admission(AUTO_JOBS, 8 * GIB)
    assert rule.reserve_bytes == GIB
    assert rule.has_room(GIB + PROCESS_BYTES, [PROCESS_BYTES])
    assert not rule.has_room(GIB + PROCESS_BYTES - 1, [PROCESS_BYTES])


def test_what_running_lanes_will_still_grow_is_counted() -> None:
    rule = Admission(AUTO_JOBS, 8 * GIB)
    assert not rule.has_room(GIB + PROCESS_BYTES, [PROCESS_BYTES - MIB])
    assert rule.has_room(GIB + 2 * PROCESS_BYTES, [0])


def test_the_measured_peak_replaces_the_expectation() -> None:
    rule = Admission(AUTO_JOBS, 8 * GIB)
    rule.measured(60 * MIB)
    rule.measured(50 * MIB)
    assert rule.lane_bytes == 60 * MIB
    assert rule.has_room(GIB + 60 * MIB, [60 * MIB])


def test_lanes_without_a_process_need_little() -> None:
    assert Admission(AUTO_JOBS, 8 * GIB, has_processes=False).lane_bytes == IN_PROCESS_BYTES


def test_one_lane_always_fits_and_the_last_is_never_sent_away() -> None:
    rule = Admission(AUTO_JOBS, 8 * GIB)
    assert rule.has_room(0, [])
    assert not rule.must_shed(0, 1)
    assert rule.must_shed(GIB // 2 - 1, 2)
    assert not rule.must_shed(GIB // 2, 2)
