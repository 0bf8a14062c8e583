"""What the screens remember between two looks, and how often they look."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.ladder.events import LaneState, LaneView, Outcome
from netherite_tui.client import RunFacts
from netherite_tui.model import LOG_LIMIT, RunModel, count_lanes
from netherite_tui.pace import Pace
from netherite_tui.widgets.lanes import COLUMNS, matches, sort_value, visible_columns
from netherite_tui.widgets.matrix import stage_cell, total_word
from netherite_tui.widgets.views import Side
from netherite_tui.words import age, ago, clock, count, matrix_cell, state_style
from tests.netherite_tui.fake_client import ladder

LANE = LaneView(0, 0, 27, 1, False, 0, 1500)
ENDED = replace(LANE, state=LaneState.ENDED)


def test_a_look_tells_what_is_new_once() -> None:
    client = ladder()
    model = RunModel(client)
    first = model.poll()
    assert first.layout
    assert len(first.lanes) == 65
    assert len(first.events) == 7
    client.put(20, decision=1)
    client.say("started", "x", 20)
    second = model.poll()
    assert (second.lanes, second.layout) == (frozenset({20}), False)
    assert [event.text for event in second.events] == ["x"]
    assert model.poll() == model.poll()
    assert not model.poll().lanes


def test_events_of_a_long_run_do_not_pile_up() -> None:
    client = ladder()
    model = RunModel(client)
    for number in range(LOG_LIMIT + 100):
        client.say("warning", str(number))
    model.poll()
    assert len(model.events) == LOG_LIMIT
    assert model.events[-1].text == str(LOG_LIMIT + 99)


@pytest.mark.usefixtures("still_clock")
def test_eta_is_what_is_left_at_the_present_speed() -> None:
    client = ladder()
    model = RunModel(client)
    model.poll()
    left = sum(1500 - view.decision for view in client.views() if view.outcome is None) * 4
    assert model.eta_s() == pytest.approx(left / 1842)
    client.state = replace(client.state, phase="ended")
    model.poll()
    assert model.eta_s() is None


STATES = st.sampled_from([s for s in LaneState if s is not LaneState.ENDED])
VIEWS = st.lists(
    st.one_of(
        STATES.map(lambda s: replace(LANE, state=s)), st.sampled_from(Outcome).map(lambda o: replace(ENDED, outcome=o))
    )
)


@given(VIEWS)
def test_counts_add_up_and_lost_lanes_never_shrink_n(views: list[LaneView]) -> None:
    counts = count_lanes(tuple(views))
    assert counts.ended + counts.running + counts.waiting + counts.paused + counts.stuck == counts.total == len(views)
    assert counts.lost == sum(view.outcome is not None and not view.outcome.is_result for view in views)


@given(VIEWS)
def test_a_matrix_cell_has_five_cells_and_lost_is_drawn_apart(views: list[LaneView]) -> None:
    for view in views:
        assert len(matrix_cell(view)) <= 5
        lost = view.outcome is not None and not view.outcome.is_result
        assert (state_style(view) == "lost") == lost


def test_words_of_cells() -> None:
    diverged = replace(ENDED, outcome=Outcome.DIVERGE, mismatch_step=160)
    assert matrix_cell(diverged) == "D160"
    assert matrix_cell(replace(ENDED, outcome=Outcome.DONE, milestone=1)) == "logs3"
    assert matrix_cell(replace(ENDED, outcome=Outcome.DONE)) == "done"
    assert matrix_cell(replace(LANE, state=LaneState.RUNNING, decision=915)) == " 61%"
    assert matrix_cell(LANE) == "·"


def test_stage_cells_have_the_ladders_letters() -> None:
    def lane(**changes: object) -> LaneView:
        return replace(ENDED, outcome=Outcome.DONE, **changes)

    assert stage_cell([lane(base=0, milestone=3), lane(base=0, milestone=1)]) == ("LPC", "done")
    assert stage_cell([lane(base=3, milestone=5)]) == ("OT", "done")
    assert stage_cell([lane(base=2, milestone=2)]) == (".", "done")
    assert stage_cell([replace(ENDED, outcome=Outcome.SKIP)]) == ("SKIP", "waiting")
    assert stage_cell([lane(base=0, milestone=1), replace(LANE, state=LaneState.STUCK)]) == ("STUCK", "stuck")
    assert stage_cell([lane(base=0, milestone=1), replace(ENDED, outcome=Outcome.CRASHED)]) == ("L", "lost")
    assert total_word([lane(milestone=5), replace(lane(milestone=5), seed=3), replace(lane(), seed=4)], True) == "2T/3"


def test_numbers_are_worded_as_documented() -> None:
    assert [clock(None), clock(2472), clock(360_000)] == ["-", "00:41:12", "100:00:00"]
    assert [age(None), age(0.04), age(34.1), age(99.94), age(99.96), age(250)] == [
        "-",
        "0.0",
        "34.1",
        "99.9",
        "100",
        "250",
    ]
    assert [count(None), count(0), count(13_900.4)] == ["-", "0", "13,900"]
    assert [ago(12), ago(300), ago(7200), ago(200_000)] == ["12 s", "5 min", "2 h", "2 d"]


def test_filter_words() -> None:
    stuck = replace(LANE, state=LaneState.STUCK, note="no record for 30 s", held_out=True)
    for text in ("", "27", "27:1", "stuck", "STATE=stuck", "seed=27 try=1", "record", "held-out"):
        assert matches(stuck, text), text
    for text in ("28", "state=run", "seed=2 ", "try=2", "stuck match", "stage=1"):
        assert matches(stuck, text) == (text == "seed=2 "), text


def test_every_column_sorts_unknown_values_first() -> None:
    model = RunModel(ladder())
    model.poll()
    for column in COLUMNS:
        values = [sort_value(view, column.name, model) for view in model.views]
        assert sorted(values)  # comparable, all of them


@given(st.integers(20, 250))
def test_columns_fit_and_the_needed_ones_stay(width: int) -> None:
    columns = visible_columns(width)
    assert {column.name for column in COLUMNS if column.rank == 0} <= {column.name for column in columns}
    if width >= 44:
        assert 1 + sum(column.width + 1 for column in columns) <= width


@given(st.lists(st.tuples(st.floats(0.01, 5), st.floats(0, 1), st.integers(0, 500_000)), max_size=40))
def test_pace_stays_within_its_bounds(costs: list[tuple[float, float, int]]) -> None:
    pace = Pace(0.15, 0.25, cpu_share=0.05, bytes_per_s=20_000)
    for cost in costs:
        assert 0.15 <= pace.update(*cost) <= 0.25


def test_pace_slows_down_when_dear_and_recovers() -> None:
    pace = Pace(0.3, 2.0, cpu_share=0.05, bytes_per_s=40_000)
    for _ in range(6):
        pace.update(pace.interval_s, 0.0, 48_000)  # a frame of 48 kB each time
    assert pace.interval_s == pytest.approx(1.2, rel=0.35)
    for _ in range(40):
        pace.update(pace.interval_s, 0.0, 100)
    assert pace.interval_s == 0.3


@pytest.mark.parametrize(
    ("facts", "worlds"),
    [
        ({"backend": "magma", "transfer": "replay"}, ("magma", "blaze")),
        ({"backend": "magma", "transfer": "replay", "reference": "voxel"}, ("magma", "voxel")),
        ({"backend": "voxel", "transfer": "replay", "reference": "voxel"}, ("voxel", "reference")),
        ({"backend": "magma", "transfer": "closed"}, ("magma", "")),
        ({"backend": "cuda", "transfer": "closed"}, ("blaze cuda", "")),
    ],
)
def test_worlds_are_called_what_they_are(facts: dict[str, str], worlds: tuple[str, str]) -> None:
    assert RunFacts("run", **facts).worlds == worlds
    assert Side.REFERENCE.title(worlds) == worlds[1]
    assert Side.BOTH.title(worlds) == f"{worlds[0]} and {worlds[1]}"
    assert Side.DIFFERENCE.title(worlds) == "difference"
