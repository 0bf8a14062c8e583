"""One lane, real lane process against real library: an episode's order, and the native's faults (SPEC 4, 5)."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.host.processes import Processes
from core.ladder import milestones
from core.ladder.config import LadderConfig
from core.ladder.events import LaneResult, Outcome
from core.ladder.lane import Lane
from core.ladder.plan import make_plan
from core.ladder.sides import make_sides
from core.policy.controls import controller_factory
from tests.toys import toy_library, toy_program, toy_snapshot

SEED = 10
LIMIT = 30  #: decisions; the record of step s is that of tick 4 * s


class News:
    """A watch that only remembers."""

    def __init__(self) -> None:
        self.told: list[tuple[str, dict[str, Any]]] = []
        self.decisions: list[int] = []

    def opened(self, lane: Lane) -> None:
        self.decisions.append(-1)

    def decided(self, lane: Lane) -> None:
        self.decisions.append(lane.decisions)

    def news(self, kind: str, text: str, **data: Any) -> None:
        self.told.append((kind, data))


Run = Callable[..., tuple[LaneResult, Lane, News]]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where this module's library is compiled."""
    return tmp_path_factory.mktemp("lane")


@pytest.fixture
def run(built: Path, tmp_path: Path) -> Iterator[Run]:
    """Returns a runner of one lane: the library's snapshot words, the process's arguments, settings."""
    processes = Processes("lane-test")

    def play(words: str = "", *lane_args: str, **settings: Any) -> tuple[LaneResult, Lane, News]:
        toy_snapshot(tmp_path, SEED, words)
        defaults: dict[str, Any] = {"backend": "magma", "transfer": "replay", "policy": "random"}
        config = LadderConfig(
            **defaults | settings,
            seeds=(SEED,),
            tries=1,
            ep_ticks=4 * LIMIT,
            snaps_dir=str(tmp_path),
            magma_bin=str(toy_program(tmp_path)),
            blaze_lib=str(toy_library(built)),
            lane_args=lane_args,
        )
        plan = make_plan(config).lanes[0]
        controller = controller_factory(config.policy).make(ni=plan.ni, rng_seed=plan.rng_seed, limit=config.decisions)
        news = News()
        lane = Lane(config, plan, make_sides(config, plan, processes), controller, news)
        return lane.run(), lane, news

    yield play
    processes.close()


def test_replay_that_matches(run: Run) -> None:
    result, _lane, news = run()
    assert (result.outcome, result.decisions, result.ticks) == (Outcome.MATCH, LIMIT, 4 * (LIMIT + 1))
    assert (result.base, result.mismatch_step, result.magma_record) == (0, -1, None)
    assert news.decisions == [-1, 0, *range(1, LIMIT + 1)]
    assert result.stderr_tail == b"toy: %d ticks\n" % (4 * (LIMIT + 1))


def test_rows_and_heads_are_kept(run: Run) -> None:
    result, _lane, _news = run()
    rows = np.frombuffer(result.rows).reshape(LIMIT, 13)
    heads = np.frombuffer(result.heads, np.int8).reshape(LIMIT, 9)
    assert np.array_equal(rows[:, 2], (heads[:, 0] - 1) * 15.0)
    assert len(set(map(bytes, heads))) > LIMIT // 2


@pytest.mark.parametrize("ending", ["torch-at", "edge-at", "dead-at"])
def test_nothing_is_stepped_after_the_reference_is_done(run: Run, ending: str) -> None:
    """The native's first fault: it ticks magma on and reports a DIVERGE that is none."""
    same = {"torch-at": ("--torch-at", "40"), "dead-at": ("--dead-at", "40"), "edge-at": ()}[ending]
    result, _lane, _news = run(f"{ending} 40", *same)
    assert (result.outcome, result.ticks, result.decisions) == (Outcome.MATCH, 40, 9)
    assert result.stderr_tail == b"toy: 40 ticks\n"
    assert (result.reached == milestones.TORCHES) == (ending == "torch-at")


def test_the_decision_that_ends_the_reference_is_still_compared(run: Run) -> None:
    result, _lane, _news = run("edge-at 40", "--off-by-one-at", "40")
    assert (result.outcome, result.mismatch_step) == (Outcome.DIVERGE, 10)


@pytest.mark.parametrize(("tick", "step"), [(0, 0), (3, 1), (4, 1), (5, 2), (9, 3)])
def test_step_numbers(run: Run, tick: int, step: int) -> None:
    result, _lane, news = run("", "--off-by-one-at", str(tick), policy="noop")
    assert (result.outcome, result.mismatch_step) == (Outcome.DIVERGE, step)
    assert result.mismatch == "hotbar[0] id/count 17/1 vs 0/0"
    assert news.told == [("mismatch", {"step": step, "reason": result.mismatch})]
    assert result.magma_record is not None
    assert result.reference_record is not None
    assert result.magma_record != result.reference_record


def test_after_a_divergence_the_reference_goes_on_alone(run: Run) -> None:
    whole, _, _ = run()
    result, _lane, _news = run("", "--off-by-one-at", "9")
    assert (result.outcome, result.decisions, result.reached) == (Outcome.DIVERGE, LIMIT, whole.reached)
    assert result.rows == whole.rows
    assert result.stderr_tail == b"toy: 12 ticks\n"
    assert result.later_mismatches == ()


def test_continue_counts_later_differences_by_field(run: Run) -> None:
    result, _lane, _news = run("", "--off-by-one-at", "9", after_diverge="continue", policy="noop")
    assert (result.outcome, result.mismatch_step, result.decisions) == (Outcome.DIVERGE, 3, LIMIT)
    assert result.later_mismatches == (("inventory", LIMIT + 1 - 3),)
    assert result.stderr_tail == b"toy: %d ticks\n" % (4 * (LIMIT + 1))


def test_death_of_the_process_after_a_divergence_leaves_it_a_divergence(run: Run) -> None:
    args = ("--off-by-one-at", "9", "--misbehave", "segfault", "--at", "50")
    result, _lane, _news = run("", *args, after_diverge="continue")
    assert (result.outcome, result.decisions) == (Outcome.DIVERGE, LIMIT)
    assert result.note == "after the divergence: lane process ended: killed by SIGSEGV"


def test_closed_reads_the_process(run: Run) -> None:
    result, _lane, news = run("", "--torch-at", "22", transfer="closed")
    assert (result.outcome, result.reached, result.decisions) == (Outcome.DONE, milestones.TORCHES, 5)
    assert news.told[-1] == ("milestone", {"milestone": milestones.TORCHES, "decision": 4})
    assert result.milestone_decisions[milestones.TORCHES] == 4
    dead, _lane, _news = run("", "--dead-at", "22", transfer="closed")
    assert (dead.outcome, dead.decisions) == (Outcome.DONE, 5)
    assert dead.reached < milestones.TORCHES


def test_torches_held_at_the_start_are_the_base(run: Run) -> None:
    """The native decides once, sees the torch, and stops: base and reached are both the whole chain."""
    result, _lane, news = run("", "--torch-at", "0", transfer="closed", policy="noop")
    assert (result.base, result.reached, result.decisions) == (milestones.TORCHES, milestones.TORCHES, 1)
    assert news.told == []


def test_library_alone(run: Run) -> None:
    whole, _, _ = run()
    result, lane, _news = run(backend="cpu", transfer="closed")
    assert lane.sides.magma is None
    assert (result.outcome, result.decisions, result.stderr_tail) == (Outcome.DONE, LIMIT, b"")
    assert (result.rows, result.reached) == (whole.rows, whole.reached)


def test_another_success_item_ends_replay_but_not_closed(run: Run) -> None:
    replay, _lane, _news = run(success_item=17)
    assert (replay.outcome, replay.reached) == (Outcome.MATCH, milestones.TORCHES)
    assert replay.decisions < LIMIT
    closed, _lane, _news = run(success_item=17, transfer="closed")
    assert closed.decisions == LIMIT


@pytest.mark.parametrize(
    ("args", "outcome", "note"),
    [
        (("--misbehave", "exit0", "--at", "22"), Outcome.CRASHED, "lane process ended: exit code 0"),
        (
            ("--misbehave", "die-mid-record", "--at", "22"),
            Outcome.CRASHED,
            "lane process ended inside a record (5000 of 14628 bytes): exit code 7: toy: something went wrong",
        ),
        (("--misbehave", "longer"), Outcome.CRASHED, "record is 14640 bytes, expected 14628"),
        (("--misbehave", "exit0", "--at", "0"), Outcome.FAILED, "no first record: lane process ended: exit code 0"),
        (("--no-such-option",), Outcome.FAILED, "no first record: lane process ended: exit code 2: toy_lane.py: "),
    ],
)
@pytest.mark.parametrize("transfer", ["closed", "replay"])
def test_a_process_that_ends_is_lost(
    run: Run, args: tuple[str, ...], outcome: Outcome, note: str, transfer: str
) -> None:
    result, _lane, _news = run("", *args, transfer=transfer)
    assert result.outcome == outcome
    assert result.note.startswith(note)


def test_a_library_that_fails_is_lost(run: Run) -> None:
    result, _lane, _news = run("fail-at 40")
    assert (result.outcome, result.note, result.decisions) == (Outcome.CRASHED, "blaze_step_full failed: -7", 8)


def test_a_bug_ends_its_lane_only(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(milestones, "milestone_of", lambda best9: 1 // 0)
    result, _lane, _news = run()
    assert (result.outcome, result.note) == (
        Outcome.FAILED,
        "internal error: ZeroDivisionError: integer division or modulo by zero",
    )
    assert b"Traceback" in result.stderr_tail
