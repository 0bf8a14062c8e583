"""tune on the toy lane program: what is the same, what differs, what does not run, and what is remembered."""

import sys
from pathlib import Path

import pytest

from core.errors import NetheriteError
from core.runs import tune
from core.runs.lane_program import LaneProgram

TOY = Path(__file__).parents[2] / "programs" / "toy_lane.py"
PROGRAM = LaneProgram((sys.executable, "-S", "-E", str(TOY)), start_timeout_s=60.0, step_timeout_s=60.0)
STARTS = (tune.Start(3, None), tune.Start(7, None))


def verdict(*arguments: str, ticks: int = 80) -> tune.Verdict:
    (found,) = tune.tune(PROGRAM, STARTS, [arguments], ticks=ticks)
    return found


def test_arguments_that_change_nothing_are_shown_identical() -> None:
    found = verdict("--late-s", "0.5")
    assert found.identical
    assert found.ticks == 160
    assert [trial.start for trial in found.trials] == ["seed 3", "seed 7"]
    assert all(trial.speed_ratio > 0 and trial.rss_ratio > 0 and trial.rss_mib > 1 for trial in found.trials)
    assert found.text.startswith("--late-s 0.5: identical over 160 ticks from 2 starts; ")
    assert found.text.endswith("use --lane-arg=--late-s --lane-arg=0.5")


def test_the_first_field_that_differs_is_named() -> None:
    found = verdict("--off-by-one-at", "30")
    assert not found.identical
    assert found.trials[-1].ticks == 32
    assert found.text == "--off-by-one-at 30: DIFFERENT on seed 3: hotbar_counts at tick 32"


def test_a_difference_at_t0_is_found() -> None:
    assert verdict("--torch-at", "0").text == "--torch-at 0: DIFFERENT on seed 3: inv_counts at t0"


def test_arguments_the_program_refuses_are_told() -> None:
    found = verdict("--no-such-option")
    assert "does not run: no first record: lane process ended: exit code 2" in found.text


def test_arguments_that_end_the_program_are_told() -> None:
    assert (
        "does not run: lane process ended inside a record" in verdict("--misbehave", "die-mid-record", "--at", "9").text
    )


def test_a_program_that_does_not_run_at_all_is_an_error() -> None:
    missing = LaneProgram(("/nowhere/magma_game",))
    with pytest.raises(NetheriteError, match="cannot start /nowhere/magma_game"):
        list(tune.tune(missing, STARTS, [("--a",)], ticks=8))


def test_a_run_says_when_its_arguments_were_not_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tune, "shown_path", lambda: tmp_path / "data" / "tuned.json")
    good, bad = verdict("--late-s", "1"), verdict("--off-by-one-at", "5")

    def note(binary: str, arguments: tuple[str, ...]) -> str:
        return " ".join(tune.lane_arguments_notes(binary, arguments))

    assert note("aa", ()) == ""
    assert "not shown to leave this lane binary's records the same" in note("aa", good.arguments)
    tune.remember("aa", good)
    tune.remember("aa", bad)
    assert note("aa", good.arguments) == ""
    assert note("aa", bad.arguments) == "lane arguments --off-by-one-at 5: shown to change this lane binary's records"
    assert "not shown" in note("bb", good.arguments)
    assert "not shown" in note("aa", good.arguments[:1])
    (tmp_path / "data" / "tuned.json").write_text("[]")
    assert "not shown" in note("aa", good.arguments)
