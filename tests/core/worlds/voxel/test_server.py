"""Harm, air, hunger and the server's shadow (RULES 1.1f to m, 1.2, 6)."""

import numpy as np
import pytest

from core.worlds.voxel import server
from core.worlds.voxel.state import Sim
from tests.core.worlds.voxel.arena import FLOOR, put, run, stone_floor


@pytest.fixture
def sim() -> Sim:
    return stone_floor()


def full(sim: Sim) -> None:
    """Makes a player that neither heals nor starves."""
    sim.player[0]["food"], sim.player[0]["saturation"] = 17, 0


def test_the_hurt_gate_lets_through_only_what_exceeds_the_last_damage(sim: Sim) -> None:
    p = sim.player[0]
    assert server.hurt(sim, np.float32(2.0))
    assert (p["health"], p["hurt_res"], p["last_damage"]) == (18, 20, 2)
    assert not server.hurt(sim, np.float32(2.0))
    assert server.hurt(sim, np.float32(5.0))
    assert (p["health"], p["last_damage"]) == (15, 5)
    p["hurt_res"] = 10
    assert server.hurt(sim, np.float32(1.0))
    assert p["health"] == 14
    p["hurt_res"] = 0
    assert server.hurt(sim, np.float32(50.0))
    assert p["health"] == 0


def test_drowning_takes_two_points_a_second_after_the_air_is_gone(sim: Sim) -> None:
    full(sim)
    sim.cells[:, FLOOR : FLOOR + 20, :] = 9 << 4
    p = sim.player[0]
    run(sim, 319)
    assert (p["air"], p["health"]) == (-19, 20)
    run(sim, 1)
    assert (p["air"], p["health"]) == (0, 18)
    run(sim, 20)
    assert p["health"] == 16
    sim.cells[:, FLOOR : FLOOR + 20, :] = 0
    run(sim, 1)
    assert p["air"] == 300


def test_a_cactus_hurts_every_ten_ticks_and_tires(sim: Sim) -> None:
    full(sim)
    put(sim, 24, FLOOR, 25, 81)
    run(sim, 10, forward=1)
    healths = []
    for _ in range(40):
        run(sim, 1, forward=1)
        healths.append(float(sim.player[0]["health"]))
    drops = np.flatnonzero(np.diff(healths) < 0)
    assert len(drops) >= 3
    assert set(np.diff(drops)) == {10}
    assert sim.player[0]["exhaustion"] >= np.float32(0.1) * 3


def test_fire_burns_on_after_it_and_water_puts_it_out(sim: Sim) -> None:
    full(sim)
    put(sim, 24, FLOOR, 24, 51)
    run(sim, 25)
    assert sim.player[0]["fire"] > 0
    put(sim, 24, FLOOR, 24, 0)
    health = sim.player[0]["health"]
    run(sim, 45)
    assert sim.player[0]["health"] < health
    sim.cells[:, FLOOR, :] = 9 << 4
    run(sim, 2)
    assert sim.player[0]["fire"] <= 0


def test_saturation_heals_a_point_every_six_tenths_of_its_own(sim: Sim) -> None:
    p = sim.player[0]
    p["health"], p["saturation"] = 10, 6
    run(sim, 10)
    assert p["health"] == 11
    assert p["exhaustion"] == 6
    run(sim, 1)
    assert (p["exhaustion"], p["saturation"]) == (2, 5)


def test_a_full_belly_heals_every_four_seconds_and_hunger_starves_to_one(sim: Sim) -> None:
    p = sim.player[0]
    p["health"], p["food"], p["saturation"] = 10, 18, 0
    run(sim, 79)
    assert p["health"] == 10
    run(sim, 1)
    assert (p["health"], p["exhaustion"]) == (11, 6)
    p["health"], p["food"], p["exhaustion"] = 2, 0, 0
    run(sim, 80 * 3)
    assert p["health"] == 1


def test_exhaustion_eats_saturation_first(sim: Sim) -> None:
    p = sim.player[0]
    p["saturation"] = 1
    for saturation, food in ((0, 20), (0, 19)):
        p["exhaustion"] = 4.5
        run(sim, 1)
        assert (p["saturation"], p["food"], p["exhaustion"]) == (saturation, food, 0.5)


def test_sprinting_tires_and_walking_does_not(sim: Sim) -> None:
    run(sim, 60, forward=1)
    assert sim.player[0]["exhaustion"] == 0
    sim = stone_floor()
    run(sim, 60, forward=1, sprint=1)
    metres = float(sim.body[0]["pos"][2] + sim.player[0]["oz"]) - 24.5
    assert sim.player[0]["exhaustion"] == pytest.approx(metres * 0.1, rel=0.1)


def test_jumps_tire(sim: Sim) -> None:
    run(sim, 1, jump=1)
    run(sim, 30)
    assert sim.player[0]["exhaustion"] == np.float32(0.05)


def test_the_shadow_follows_a_tick_late(sim: Sim) -> None:
    for _ in range(20):
        before = sim.body[0]["pos"].copy()
        run(sim, 1, forward=1)
        if sim.player[0]["pending_moving"]:
            assert sim.player[0]["pending_pos"].tolist() == sim.body[0]["pos"].tolist()
        assert np.abs(sim.body[1]["pos"] - before).max() < 0.04


def test_a_still_player_reports_every_second(sim: Sim) -> None:
    run(sim, 3)
    moving = []
    for _ in range(45):
        run(sim, 1)
        moving.append(bool(sim.player[0]["pending"] and sim.player[0]["pending_moving"]))
    assert np.diff(np.flatnonzero(moving)).tolist() == [20] * (sum(moving) - 1)
    assert sum(moving) >= 2
