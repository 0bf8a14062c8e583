"""Random ticks of grass, and the light they ask for (RULES 11.1)."""

from collections import deque

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.worlds.voxel.blocks import EMISSION, OPACITY
from core.worlds.voxel.edits import apply_edits, queue_edit
from core.worlds.voxel.grass import light_reaches, random_ticks
from core.worlds.voxel.state import Sim, empty_sim
from tests.core.worlds.voxel.arena import stone_floor

GRASS, DIRT = 2, 3
MASK = (1 << 64) - 1


def mix(x: int) -> int:
    """H of RULES 11.1 in Python integers."""
    x ^= x >> 30
    x = x * 0xBF58476D1CE4E5B9 & MASK
    x ^= x >> 27
    x = x * 0x94D049BB133111EB & MASK
    return x ^ x >> 31


def hash_at(seed: int, tick: int, x: int, y: int, z: int, purpose: int) -> int:
    """HS of RULES 11.1."""
    h = mix((seed & MASK) ^ (tick * 0x9E3779B97F4A7C15 & MASK))
    keys = (0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93, 0x2545F4914F6CDD1D)
    for value, key in zip((x, y, z, purpose), keys, strict=True):
        h = mix(h ^ ((value & 0xFFFFFFFF) * key & MASK))
    return h


def draw(h: int, bound: int) -> int:
    """B of RULES 11.1."""
    return (mix(h) >> 32) * bound >> 32


def picked_cells(seed: int, tick: int, cx: int, section: int, cz: int) -> list[tuple[int, int, int]]:
    """Returns the three cells a section ticks."""
    cells = []
    for attempt in range(3):
        h = hash_at(seed, tick, cx, section, cz, 0x5254504F ^ attempt)
        x = draw(h, 16)
        h = mix(h + 1 & MASK)
        y = draw(h, 16)
        h = mix(h + 2 & MASK)
        cells.append((cx * 16 + x, section * 16 + y, cz * 16 + draw(h, 16)))
    return cells


def flooded(sim: Sim) -> np.ndarray:
    """Returns light [nx, ny, nz] by plain relaxation over the whole region, sky and blocks together."""
    blocks = sim.cells >> 4
    opacity, light = OPACITY[blocks].astype(int), EMISSION[blocks].astype(int)
    nx, ny, nz = light.shape
    for x in range(nx):
        for z in range(nz):
            level = 15
            for y in range(ny - 1, -1, -1):
                loss = opacity[x, y, z]
                level = max(0, level - (1 if loss == 0 and level != 15 else loss))
                light[x, y, z] = max(light[x, y, z], level)
    queue = deque(np.ndindex(nx, ny, nz))
    while queue:
        x, y, z = queue.popleft()
        for dx, dy, dz in ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)):
            n = x + dx, y + dy, z + dz
            if min(n) < 0 or n[0] >= nx or n[1] >= ny or n[2] >= nz:
                continue
            reached = light[x, y, z] - max(1, opacity[n])
            if reached > light[n]:
                light[n] = reached
                queue.append(n)
    return light


def cave(blocks: np.ndarray) -> Sim:
    """Returns a world of the given ids under and inside a stone shell, so that no light comes from outside."""
    cells = np.full([size + 2 for size in blocks.shape], 1 << 4, np.uint16)
    cells[1:-1, 1:-1, 1:-1] = blocks << 4
    return empty_sim((-5, 3, 40), cells)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.05, 0.3, 0.6]), st.booleans())
def test_light_searched_backward_is_light_flooded_forward(seed: int, walls: float, open_sky: bool) -> None:
    rng = np.random.default_rng(seed)
    blocks = rng.choice(
        np.array([0, 1, 18, 9, 50, 10], np.uint16), (7, 9, 7), p=[0.85 - walls, walls, 0.09, 0.04, 0.01, 0.01]
    )
    sim = cave(blocks)
    if open_sky:
        sim.cells[3:6, -1, 3:6] = 0
    light = flooded(sim)
    for x, y, z in np.ndindex(sim.cells.shape):
        if min(x, z) == 0 or x == sim.cells.shape[0] - 1 or z == sim.cells.shape[2] - 1 or y == sim.cells.shape[1] - 1:
            continue  # the shell meets the open air outside the region, which a flood inside it does not know
        for level in (4, 9):
            assert light_reaches(sim, x - 5, y + 3, z + 40, level) == (light[x, y, z] >= level)


def meadow(ground: int, seed: int = 10) -> Sim:
    """Returns a floor whose surface (y = 4) is one block."""
    sim = stone_floor(seed)
    sim.cells[:, 4, :] = ground << 4
    return sim


def tick(sim: Sim, times: int) -> None:
    """Runs random ticks alone."""
    for _ in range(times):
        random_ticks(sim)
        sim.player[0]["tick"] += 1


def test_covered_grass_dies_at_exactly_the_cells_the_hash_picks() -> None:
    sim = meadow(GRASS, seed=-77)
    sim.cells[:, 5, :] = 1 << 4
    expected = sim.cells.copy()
    for now in range(40):
        for cx in range(3):
            for cz in range(3):
                for x, y, z in picked_cells(-77, now, cx, 0, cz):
                    if y == 4:
                        expected[x, y, z] = DIRT << 4
    tick(sim, 40)
    assert np.array_equal(sim.cells, expected)
    assert (sim.cells >> 4 == DIRT).any()


def test_dug_out_dirt_beside_grass_greens_again() -> None:
    sim = meadow(GRASS)
    sim.cells[20:24, 4, 20:24] = DIRT << 4
    tick(sim, 30000)
    assert (sim.cells[20:24, 4, 20:24] == GRASS << 4).all()
    assert (sim.cells[:, 3, :] == 1 << 4).all()


def test_grass_reaches_three_down_and_one_up_but_not_coarse_dirt() -> None:
    sim = meadow(1)
    sim.cells[24, 10, 24] = GRASS << 4
    for dy in (-5, -4, -3, -2, -1, 0, 1, 2):
        sim.cells[25, 10 + dy, 24] = 0
    sim.cells[25, 7, 24], sim.cells[23, 11, 24] = DIRT << 4, DIRT << 4
    sim.cells[25, 6, 25], sim.cells[23, 12, 25] = DIRT << 4, DIRT << 4
    sim.cells[24, 10, 25] = DIRT << 4 | 1
    random = np.random.default_rng(3)
    for _ in range(60000):
        sim.player[0]["tick"] = random.integers(1 << 40)
        random_ticks(sim)
    assert sim.cells[25, 7, 24] >> 4 == GRASS
    assert sim.cells[23, 11, 24] >> 4 == GRASS
    assert sim.cells[24, 10, 25] == DIRT << 4 | 1


@pytest.mark.parametrize(("torch", "grows"), [(False, False), (True, True)])
def test_grass_in_a_cave_needs_light_of_nine_to_spread(torch: bool, grows: bool) -> None:
    sim = meadow(1)
    sim.cells[:, 8, :] = 1 << 4
    sim.cells[0, 5:8, :] = sim.cells[-1, 5:8, :] = sim.cells[:, 5:8, 0] = sim.cells[:, 5:8, -1] = 1 << 4
    sim.cells[20:28, 4, 20:28] = DIRT << 4
    sim.cells[24, 4, 24] = GRASS << 4
    if torch:
        sim.cells[24, 5, 27] = 50 << 4 | 5
    tick(sim, 4000)
    assert ((sim.cells[20:28, 4, 20:28] >> 4 == GRASS).sum() > 5) == grows


def test_placed_grass_is_noticed_in_a_section_that_had_none() -> None:
    sim = meadow(DIRT)
    tick(sim, 2)
    assert (sim.cells[:, 4, :] >> 4 == DIRT).all()
    queue_edit(sim, 24, 4, 24, GRASS << 4, 0, 0)
    apply_edits(sim)
    tick(sim, 4000)
    assert (sim.cells[:, 4, :] >> 4 == GRASS).sum() > 5


def test_only_chunks_within_the_view_distance_tick() -> None:
    sim = meadow(GRASS)
    sim.cells[:, 5, :] = 1 << 4
    sim.player[0]["view_distance"] = 0
    tick(sim, 600)
    changed = np.argwhere(sim.cells[:, 4, :] >> 4 == DIRT)
    assert len(changed) > 50
    assert changed.min() >= 16
    assert changed.max() < 32
