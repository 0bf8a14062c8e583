"""Milestones against the native's recorded answers."""

from pathlib import Path

import numpy as np

from core.ladder.milestones import NAMES, milestone_of, stage_of


def test_every_golden_inventory() -> None:
    golden = np.load(Path(__file__).parents[2] / "data" / "nn" / "f_stage_of_best.npz")
    assert len(golden["best9"]) == 2560
    for best9, stage, with_torch in zip(golden["best9"], golden["stage"], golden["inv_stage"], strict=True):
        assert stage_of(best9) == stage
        assert milestone_of(best9) == with_torch
    assert set(golden["inv_stage"]) == set(range(len(NAMES)))
