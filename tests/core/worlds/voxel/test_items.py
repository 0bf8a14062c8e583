"""Drops and live items: the generators, flight, pickup, overflow (RULES 8)."""

import numpy as np
import pytest

from core.worlds.voxel.drops import drop_block_item, next_m, next_w, seed_cursors, spawn_still_item
from core.worlds.voxel.items import item_pass
from core.worlds.voxel.state import FREE, ITEM_SLOTS, LIVE_ITEM, OVERFLOW_SLOTS, Sim
from tests.core.worlds.voxel.arena import live_items, put, run, stone_floor

FAR_CELL = (40, 5, 40)
MULTIPLIER, INCREMENT, MASK = 0x5DEECE66D, 0xB, (1 << 48) - 1


class Cursor:
    """The 48-bit generator in Python integers, which cannot overflow."""

    def __init__(self, state: int) -> None:
        self.state = state & MASK

    def next(self, bits: int) -> int:
        self.state = (self.state * MULTIPLIER + INCREMENT) & MASK
        return self.state >> (48 - bits)


@pytest.mark.parametrize("seed", [10, -1, 2**40 + 7])
def test_cursors_are_the_48_bit_generator(seed: int) -> None:
    sim = stone_floor(seed)
    w, m = Cursor(seed ^ MULTIPLIER), Cursor(seed ^ 0x9E3779B97F4A ^ MULTIPLIER)
    for bits in (24, 31, 26, 27) * 20:
        assert next_w(sim, bits) == w.next(bits)
        assert next_m(sim, bits) == m.next(bits)


def test_a_block_drop_draws_its_place_and_toss() -> None:
    sim = stone_floor(14)
    w, m = Cursor(14 ^ MULTIPLIER), Cursor(14 ^ 0x9E3779B97F4A ^ MULTIPLIER)
    drop_block_item(sim, 40, 7, -3, 3, 1)
    w.next(24)
    entity = sim.items[0]
    for axis, base in enumerate((40, 7, -3)):
        part = np.float32(np.float32(w.next(24)) / np.float32(1 << 24)) * np.float32(0.5)
        assert entity["pos"][axis] == (base + float(part)) + 0.25
    doubles = [((m.next(26) << 27) + m.next(27)) / 2**53 for _ in range(4)]
    for axis, value in ((0, doubles[2]), (2, doubles[3])):
        assert entity["motion"][axis] == float(np.float32(value * 0.20000000298023224 - 0.10000000149011612))
    assert entity["motion"][1] == 0.20000000298023224
    assert (entity["item"], entity["count"], entity["meta"], entity["pickup_delay"]) == (3, 1, 1, 10)


def test_an_item_comes_to_rest_on_the_floor_and_stays_as_long_as_it_lives() -> None:
    sim = stone_floor()
    drop_block_item(sim, *FAR_CELL, 3, 0)
    for _ in range(60):
        item_pass(sim)
    entity = sim.items[0]
    assert entity["pos"][1] == 5.0
    assert entity["on_ground"] == 1
    assert np.abs(entity["motion"]).max() < 1e-9
    entity["age"] = 5999
    item_pass(sim)
    assert entity["kind"] == FREE


@pytest.mark.parametrize(
    ("block_id", "meta", "height"),
    [
        (44, 0, 5.5),
        (44, 8, 6.0),
        (60, 0, 5.9375),
        (78, 3, 5.375),
        (78, 0, 5.0),
        (37, 0, 6.0),
        (9, 0, 5.0),
        (50, 5, 6.0),
    ],
)
def test_an_item_from_above_rests_where_the_block_below_lets_it(block_id: int, meta: int, height: float) -> None:
    sim = stone_floor()
    put(sim, *FAR_CELL, block_id, meta)
    spawn_still_item(sim, FAR_CELL[0], FAR_CELL[1] + 2, FAR_CELL[2], 3, 1, 0)
    for _ in range(60):
        item_pass(sim)
    assert sim.items[0]["pos"][1] == pytest.approx(height, abs=0.02)


def test_a_wall_stops_an_item() -> None:
    sim = stone_floor()
    put(sim, 41, 5, 40, 1)
    put(sim, 41, 6, 40, 1)
    spawn_still_item(sim, *FAR_CELL, 3, 1, 0)
    sim.items[0]["motion"][0] = 0.4
    for _ in range(20):
        item_pass(sim)
    assert sim.items[0]["pos"][0] == pytest.approx(41 - 0.125)
    assert sim.items[0]["motion"][0] == 0


def test_pickup_waits_ten_ticks_and_needs_reach() -> None:
    sim = stone_floor()
    spawn_still_item(sim, 24, 5, 24, 4, 3, 0)
    spawn_still_item(sim, 26, 5, 24, 4, 1, 0)
    run(sim, 9)
    assert not sim.inventory.any()
    run(sim, 1)
    assert sim.inventory[0].tolist() == [4, 3, 0]
    assert live_items(sim) == [(4, 1, 0)]


def test_what_does_not_fit_stays_on_the_ground() -> None:
    sim = stone_floor()
    sim.inventory[:] = (1, 64, 0)
    sim.inventory[5] = (4, 62, 0)
    spawn_still_item(sim, 24, 5, 24, 4, 3, 0)
    run(sim, 12)
    assert sim.inventory[5, 1] == 64
    assert live_items(sim) == [(4, 1, 0)]


def fill_slots(sim: Sim) -> None:
    """Occupies every slot with items far from the player."""
    for _ in range(ITEM_SLOTS):
        spawn_still_item(sim, *FAR_CELL, 3, 1, 0)


def test_without_a_slot_a_block_drop_vanishes_but_draws() -> None:
    sim, other = stone_floor(), stone_floor()
    fill_slots(sim)
    drop_block_item(sim, *FAR_CELL, 4, 0)
    drop_block_item(other, *FAR_CELL, 4, 0)
    assert (4, 1, 0) not in live_items(sim)
    assert sim.player[0]["rng_w"] == other.player[0]["rng_w"]
    assert sim.player[0]["rng_m"] == other.player[0]["rng_m"]


def test_still_spawns_wait_in_order_for_a_slot() -> None:
    sim = stone_floor()
    fill_slots(sim)
    for item in range(100, 100 + OVERFLOW_SLOTS + 3):
        spawn_still_item(sim, *FAR_CELL, item, 1, 0)
    sim.items[7]["kind"] = FREE
    item_pass(sim)
    assert sim.items[7]["item"] == 100
    assert sim.overflow["kind"].sum() == (OVERFLOW_SLOTS - 1) * LIVE_ITEM
    assert sim.overflow[0]["item"] == 101


def test_seeding_starts_both_cursors_again() -> None:
    sim = stone_floor(27)
    start = (int(sim.player[0]["rng_w"]), int(sim.player[0]["rng_m"]))
    drop_block_item(sim, *FAR_CELL, 4, 0)
    seed_cursors(sim)
    assert (int(sim.player[0]["rng_w"]), int(sim.player[0]["rng_m"])) == start
