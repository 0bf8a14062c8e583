"""The gate against the native's recorded answers."""

import json
from pathlib import Path

import numpy as np
import pytest

from core.ladder.gate import differing_fields, first_mismatch, step_reason
from core.wire.bolr import RECORD

NN = Path(__file__).parents[2] / "data" / "nn"


def _records() -> np.ndarray:
    raw = np.load(NN / "e_fill_policy.npz")["obs_raw"]
    return raw.reshape(-1).view(RECORD)


MUTATIONS = {
    "same": lambda r: None,
    "tick": lambda r: r["tick"].__iadd__(1),
    "dead": lambda r: r["dead"].__ixor__(1),
    "yaw": lambda r: r["yaw"].fill(5.25),
    "pitch": lambda r: r["pitch"].fill(-3.5),
    "container": lambda r: r["container"].fill(2),
    "sel": lambda r: r["hotbar_sel"].fill(7),
    "hb_id": lambda r: r["hotbar_ids"].__setitem__((0, 3), 777),
    "hb_cnt": lambda r: r["hotbar_counts"].__setitem__((0, 8), 7),
    "inv": lambda r: r["inv_counts"].__setitem__((0, 5), 88),
    "coal": lambda r: r["coal"].__setitem__((0, 0, 0), r["coal"][0, 0, 0] + 1),
    "blocks": lambda r: r["blocks"].fill(3),
    "logs": lambda r: r["logs"].fill(3),
    "cam": lambda r: r["cam"].reshape(-1)[:7].__iadd__(1),
    "depth": lambda r: r["depth"].reshape(-1)[:1].__ixor__(1),
    "edge": lambda r: r["edge"].reshape(-1)[:1].__ixor__(1),
}


@pytest.mark.parametrize("case", json.loads((NN / "e2_cmp_gated.json").read_text()), ids=lambda c: c["mut"])
def test_golden_reasons(case: dict) -> None:
    ours = _records()[12:13].copy()
    theirs = ours.copy()
    if case["mut"] == "x":
        theirs["xyz"][0, 0] = np.nextafter(theirs["xyz"][0, 0], np.inf)
        expected = case["why"][: case["why"].index("blaze=")]
        found = first_mismatch(ours, theirs)
        assert found is not None
        assert found.startswith(expected)
        assert len(found) == len(case["why"]) == 79
    else:
        MUTATIONS[case["mut"]](theirs)
        assert (first_mismatch(ours, theirs) or "") == case["why"]
    assert bool(differing_fields(ours, theirs)) == bool(case["rc"])


def test_first_field_in_the_gates_order_wins_and_all_are_named() -> None:
    ours = _records()[3:4].copy()
    theirs = ours.copy()
    theirs["edge"] ^= 1
    theirs["inv_counts"][0, 2] += 1
    theirs["hotbar_counts"][0, 3] += 1
    assert first_mismatch(ours, theirs).startswith("inv_counts[2] ")
    assert differing_fields(ours, theirs) == ("inventory", "edge")


def test_floats_compare_as_in_c() -> None:
    ours = _records()[0:1].copy()
    theirs = ours.copy()
    ours["yaw"], theirs["yaw"] = 0.0, -0.0
    assert first_mismatch(ours, theirs) is None
    ours["yaw"] = theirs["yaw"] = np.float32("nan")
    ours["pitch"] = theirs["pitch"] = 1.5
    assert first_mismatch(ours, theirs) == "yaw/pitch magma=nan/1.5 blaze=nan/1.5"
    theirs["yaw"] = -np.float32("nan")
    assert first_mismatch(ours, theirs) == "yaw/pitch magma=nan/1.5 blaze=-nan/1.5"


def test_early_steps_say_what_they_are() -> None:
    assert step_reason(0, "coal") == "t=0 coal"
    assert step_reason(1, "coal") == "burn-in coal"
    assert step_reason(2, "coal") == "coal"
