"""Bodies: input, look, walking, jumping, stepping, sneaking, falling and special blocks (RULES 2, 3, 4, 6)."""

import math

import numpy as np
import pytest

from core.worlds.voxel.state import Sim
from core.worlds.voxel.step import step
from tests.core.worlds.voxel.arena import FLOOR, ORIGIN, put, row, stone_floor

SOUTH = 0.0  # yaw


@pytest.fixture
def sim() -> Sim:
    return stone_floor()


def ticks(sim: Sim, count: int, **keys: float) -> None:
    for _ in range(count):
        step(sim, row(**keys))


def feet(sim: Sim) -> tuple[float, float, float]:
    x, y, z = sim.body[0]["pos"]
    return float(x + sim.player[0]["ox"]), float(y), float(z + sim.player[0]["oz"])


def stand_at(sim: Sim, x: float, y: float, z: float) -> None:
    """Puts the player's feet at world (x, y, z)."""
    dx, dy, dz = np.subtract((x, y, z), feet(sim))
    sim.body[0]["pos"] += (dx, dy, dz)
    sim.body[0]["box"] += (dx, dy, dz, dx, dy, dz)


def drop_from(sim: Sim, height: float) -> None:
    """Lets a player that neither heals nor starves fall onto the floor."""
    stand_at(sim, 24.5, FLOOR + height, 24.5)
    sim.body[0]["motion"], sim.body[0]["on_ground"] = 0.0, 0
    sim.player[0]["food"], sim.player[0]["saturation"] = 17, 0


def wall(sim: Sim, z: int, block: int, meta: int = 0, height: int = 1) -> None:
    """Builds a row of blocks across the player's way south, at world z."""
    for x in range(20, 30):
        for y in range(FLOOR, FLOOR + height):
            put(sim, x, y, z, block, meta)


def test_pitch_is_clamped_and_yaw_never_wraps(sim: Sim) -> None:
    ticks(sim, 1, dyaw=500.0, dpitch=100.0)
    assert (sim.body[0]["yaw"], sim.body[0]["pitch"]) == (500.0, 89.0)
    ticks(sim, 1, dpitch=-300.0)
    assert sim.body[0]["pitch"] == -89.0


def test_look_is_added_in_float32(sim: Sim) -> None:
    ticks(sim, 10, dyaw=0.1)
    total = np.float32(0.0)
    for _ in range(10):
        total = np.float32(total + np.float32(0.1))
    assert sim.body[0]["yaw"] == total


def test_standing_still_keeps_still(sim: Sim) -> None:
    before = feet(sim)
    ticks(sim, 20)
    assert feet(sim) == before
    assert sim.body[0]["on_ground"] == 1
    assert sim.player[0]["tick"] == 20


def test_walking_reaches_the_known_speeds(sim: Sim) -> None:
    """Blocks a tick on plain ground: walking 4.317 blocks a second, sprinting 5.612, sneaking 1.295."""
    for keys, speed in (({}, 4.317), ({"sprint": 1}, 5.612), ({"sneak": 1}, 1.295)):
        sim = stone_floor()
        ticks(sim, 20, forward=1, **keys)
        before = feet(sim)[2]
        ticks(sim, 10, forward=1, **keys)
        assert (feet(sim)[2] - before) * 2 == pytest.approx(speed, abs=0.01)


def test_strafe_right_is_west_when_looking_south(sim: Sim) -> None:
    x, _, z = feet(sim)
    ticks(sim, 5, strafe=1)
    assert feet(sim)[0] < x - 0.3
    assert feet(sim)[2] == pytest.approx(z, abs=1e-6)


def test_a_jump_rises_one_and_a_quarter_and_lands(sim: Sim) -> None:
    ticks(sim, 1, jump=1)
    assert feet(sim)[1] == FLOOR + 0.41999998688697815
    heights = []
    for _ in range(12):
        ticks(sim, 1)
        heights.append(feet(sim)[1])
    assert max(heights) == pytest.approx(FLOOR + 1.2522, abs=1e-4)
    assert heights[-1] == FLOOR
    assert sim.player[0]["health"] == 20


def test_holding_jump_bounces_every_ten_ticks_at_most(sim: Sim) -> None:
    """A jump lasts 12 ticks, longer than the 10 of the jump delay; releasing the key does not shorten that delay."""
    ticks(sim, 1, jump=1)
    assert sim.body[0]["jump_ticks"] == 10
    ticks(sim, 5)
    assert sim.body[0]["jump_ticks"] == 5


def test_half_steps_are_climbed_and_whole_blocks_are_not(sim: Sim) -> None:
    wall(sim, 26, 44)
    ticks(sim, 15, forward=1)
    assert feet(sim)[1] == FLOOR + 0.5 or feet(sim)[2] > 27.3
    sim = stone_floor()
    wall(sim, 26, 1)
    ticks(sim, 15, forward=1)
    assert feet(sim) == pytest.approx((24.5, FLOOR, 26 - 0.3), abs=1e-6)
    assert sim.body[0]["collided_h"] == 1


def test_fences_are_too_high_to_jump(sim: Sim) -> None:
    wall(sim, 26, 85)
    ticks(sim, 40, forward=1, jump=1)
    assert feet(sim)[2] < 26.375


def test_sneaking_stops_at_an_edge(sim: Sim) -> None:
    sim.cells[:, FLOOR - 1, 26:] = 0
    ticks(sim, 120, forward=1, sneak=1)
    assert feet(sim)[1] == FLOOR
    assert 26.0 < feet(sim)[2] < 26.3
    assert sim.body[0]["collided_h"] == 0
    ticks(sim, 40, forward=1)
    assert feet(sim)[1] < FLOOR


def test_sprint_by_key_ends_at_a_wall(sim: Sim) -> None:
    wall(sim, 28, 1, height=2)
    ticks(sim, 3, forward=1, sprint=1)
    assert sim.player[0]["sprinting"] == 1
    ticks(sim, 20, forward=1)
    assert sim.player[0]["sprinting"] == 0


def test_a_double_tap_sprints_and_a_slow_one_does_not(sim: Sim) -> None:
    for pause, sprinting in ((3, 1), (7, 0)):
        sim = stone_floor()
        ticks(sim, 1, forward=1)
        ticks(sim, pause)
        ticks(sim, 1, forward=1)
        assert sim.player[0]["sprinting"] == sprinting


@pytest.mark.parametrize(("food", "keys"), [(6, {}), (20, {"sneak": 1})])
def test_hunger_and_sneaking_forbid_sprinting(sim: Sim, food: int, keys: dict[str, float]) -> None:
    sim.player[0]["food"] = food
    ticks(sim, 5, forward=1, sprint=1, **keys)
    assert sim.player[0]["sprinting"] == 0


def fall_of(height: float) -> float:
    """float32 fall distance of a body that drops `height`: every tick's drop but the landing one's."""
    motion, y, total = 0.0, height, np.float32(0.0)
    while True:
        drop = -motion
        if y - drop <= 0.0:
            return float(total)
        if drop > 0.0:
            total = np.float32(total + np.float32(drop))
        y -= drop
        motion = (motion - 0.08) * 0.9800000190734863


@pytest.mark.parametrize("height", [3.0, 5.0, 10.0, 20.0])
def test_falls_hurt_beyond_three_blocks_without_the_landing_tick(sim: Sim, height: float) -> None:
    drop_from(sim, height)
    ticks(sim, 60)
    damage = max(0, math.ceil(np.float32(np.float32(fall_of(height)) - np.float32(3.0))))
    assert feet(sim)[1] == FLOOR
    assert sim.player[0]["health"] == 20 - damage


@pytest.mark.parametrize(("block", "deep"), [(170, False), (9, True)])
def test_hay_and_water_break_a_fall(sim: Sim, block: int, deep: bool) -> None:
    sim.cells[:, FLOOR - (3 if deep else 1) : FLOOR, :] = block << 4
    drop_from(sim, 15.0)
    ticks(sim, 60)
    assert sim.player[0]["health"] == (20 if deep else 20 - math.ceil((fall_of(15.0) - 3.0) * 0.2))


def test_a_deadly_fall_freezes_the_world(sim: Sim) -> None:
    drop_from(sim, 26.0)
    sim.body[0]["fall_distance"] = 10.0
    ticks(sim, 60)
    assert sim.player[0]["dead"] == 1
    assert sim.player[0]["health"] == 0
    tick = sim.player[0]["tick"]
    ticks(sim, 3, forward=1)
    assert sim.player[0]["tick"] == tick


def test_ladders_are_climbed_and_hold_a_sneaking_player(sim: Sim) -> None:
    wall(sim, 26, 1, height=8)
    for y in range(FLOOR, FLOOR + 8):
        put(sim, 24, y, 25, 65, 2)
    ticks(sim, 30, forward=1)
    height = feet(sim)[1]
    assert height > FLOOR + 2
    ticks(sim, 5, sneak=1)
    resting = feet(sim)[1]
    ticks(sim, 5, sneak=1)
    assert feet(sim)[1] == resting
    ticks(sim, 5)
    assert feet(sim)[1] == pytest.approx(resting - 5 * 0.15, abs=0.1)


@pytest.mark.parametrize(("meta", "climbed"), [(2, True), (0, True), (8, True), (3, False)])
def test_an_open_trapdoor_over_a_ladder_of_its_facing_is_climbed(sim: Sim, meta: int, climbed: bool) -> None:
    """Ladder metas are six facings over and over, the first two of them north (RULES 5)."""
    stand_at(sim, 24.5, FLOOR + 1.0, 24.5)
    put(sim, 24, FLOOR, 24, 65, meta)
    put(sim, 24, FLOOR + 1, 24, 96, 4)
    sim.body[0]["motion"], sim.body[0]["on_ground"] = (0.0, -1.0, 0.0), 0
    ticks(sim, 1)
    assert (feet(sim)[1] == FLOOR + 1 - 0.15) is climbed


def test_webs_and_soul_sand_slow_and_ice_slides_on(sim: Sim) -> None:
    reached, slid = {}, {}
    for block, level in ((1, FLOOR - 1), (30, FLOOR), (88, FLOOR - 1), (79, FLOOR - 1)):
        sim = stone_floor()
        sim.cells[:, level, :] = block << 4
        ticks(sim, 10, forward=1)
        reached[block] = feet(sim)[2] - 24.5
        ticks(sim, 20)
        slid[block] = feet(sim)[2] - 24.5 - reached[block]
    assert reached[30] < reached[88] / 2 < reached[1] / 3
    assert slid[79] > 2 * slid[1] > slid[88] > slid[30] == 0


def test_slime_throws_back(sim: Sim) -> None:
    sim.cells[:, FLOOR - 1, :] = 165 << 4
    drop_from(sim, 6.0)
    heights = []
    for _ in range(60):
        ticks(sim, 1)
        heights.append(feet(sim)[1])
    landed = int(np.argmin(heights))
    assert max(heights[landed:]) > FLOOR + 3
    assert sim.player[0]["health"] == 20


def test_swimming_up_and_out_of_water(sim: Sim) -> None:
    sim.cells[20:30, FLOOR - 3 : FLOOR, 20:26] = 9 << 4
    ticks(sim, 40)
    assert feet(sim)[1] == FLOOR - 3
    ticks(sim, 40, jump=1, forward=1)
    assert feet(sim)[1] >= FLOOR
    assert feet(sim)[2] > 26


def test_a_current_carries(sim: Sim) -> None:
    for z in range(24, 32):
        put(sim, 24, FLOOR, z, 9 if z == 24 else 8, z - 24)
        for x in (23, 25):
            put(sim, x, FLOOR, z, 1)
    ticks(sim, 30)
    assert feet(sim)[2] > 25


def test_the_window_is_recentred_at_the_start_of_the_next_tick(sim: Sim) -> None:
    stand_at(sim, 31.9, FLOOR, 24.5)
    sim.body[0]["yaw"] = -90.0
    while feet(sim)[0] < 32.0:
        ticks(sim, 1, forward=1)
    assert sim.player[0]["ox"] == ORIGIN
    assert sim.body[0]["pos"][0] >= 16.0
    before = feet(sim)[0]
    ticks(sim, 1)
    assert sim.player[0]["ox"] == ORIGIN + 16
    assert 0.0 <= sim.body[0]["pos"][0] < 1.0
    assert before < feet(sim)[0] < before + 0.3


def test_input_that_is_no_number_is_no_input(sim: Sim) -> None:
    before = feet(sim)
    ticks(sim, 2, forward=math.nan, strafe=math.inf)
    assert feet(sim) == before
