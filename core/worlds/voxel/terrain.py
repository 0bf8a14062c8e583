"""Terrain from a seed alone: value-noise hills, oaks, grass, dirt, stone, coal, gravel, sand, water, bedrock.

Everything follows from hashes of the seed and of world or chunk coordinates, so a column is the same from whatever
region it is looked at. This is our own land, not the game's: a run on it needs no recorded snapshot. Two promises hold
for every seed: trees stand within 24 blocks of the spawn, and coal lies within 12 blocks horizontally below it.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from core.wire.bsnp import HEAD, ITEM, Snapshot, coal_cells
from core.worlds.voxel.state import NO_TARGET

AIR, STONE, GRASS, DIRT, BEDROCK, WATER, SAND, GRAVEL, COAL_ORE, LOG, LEAVES = 0, 1, 2, 3, 7, 9, 12, 13, 16, 17, 18
CHUNK = 16
REGION = 128  # blocks along x, y and z, as a recorded snapshot
LOW = -56  # first world x and z, as a recorded snapshot of the spawn
SEA_LEVEL = 62  # highest water cell
HALF_WIDTH, HEIGHT = 0.30000001192092896, 1.7999999523162842  # blocks, of the player's box (RULES 4.1)
SPAWN = 8  # world x and z of the spawn column

_MARGIN = 16  # blocks generated around the region, so that what reaches in from outside is complete
_HOME_FLAT, _HOME_EDGE = 18.0, 42.0  # blocks: inside the first the land is gentle and dry, outside the second untouched
_HOME_HEIGHT = 66.0
_TREES_A_CHUNK = 3  # at most, in the middle of a wood
_TREE_FREE = 4  # blocks around the spawn column
_COAL_VEINS, _COAL_STEPS = 10, 12  # a chunk; steps of a vein's random walk
_GRAVEL_VEINS, _GRAVEL_STEPS = 2, 40

U64 = npt.NDArray[np.uint64]
Heights = npt.NDArray[np.int64]


class Terrain(NamedTuple):
    """A generated region and where a player appears on it."""

    lo: tuple[int, int, int]  #: world cell of cells[0, 0, 0]
    cells: npt.NDArray[np.uint16]  #: id << 4 | meta, [128, 128, 128]
    spawn: tuple[float, float, float]  #: feet, world blocks; facing yaw 180


def _hash(seed: int, purpose: int, *coordinates: npt.ArrayLike) -> U64:
    """Returns 64 well-mixed bits for each element of the broadcast integer coordinates."""
    state = np.array((seed ^ (purpose * 0x9E3779B97F4A7C15)) & 0xFFFFFFFFFFFFFFFF, np.uint64)
    with np.errstate(over="ignore"):
        for coordinate in (0, *coordinates):
            state = state ^ np.asarray(coordinate, np.int64).astype(np.uint64)
            state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            state = state ^ (state >> np.uint64(31))
    return state


def _below(bits: U64, limit: int) -> npt.NDArray[np.int64]:
    """Returns a whole number in [0, limit) for each hash."""
    return ((bits >> np.uint64(32)) * np.uint64(limit) >> np.uint64(32)).astype(np.int64)


def _noise(seed: int, purpose: int, spacing: int, x: Heights, z: Heights) -> npt.NDArray[np.float64]:
    """Returns smooth noise in [-1, 1] with one random value every `spacing` blocks, for x [n, 1] and z [1, m]."""
    cell_x, cell_z = x // spacing, z // spacing
    along_x, along_z = (x - cell_x * spacing) / spacing, (z - cell_z * spacing) / spacing
    along_x, along_z = along_x * along_x * (3 - 2 * along_x), along_z * along_z * (3 - 2 * along_z)

    def corner(dx: int, dz: int) -> npt.NDArray[np.float64]:
        return _below(_hash(seed, purpose, cell_x + dx, cell_z + dz), 1 << 20) / float(1 << 19) - 1.0

    near = corner(0, 0) * (1 - along_x) + corner(1, 0) * along_x
    far = corner(0, 1) * (1 - along_x) + corner(1, 1) * along_x
    return near * (1 - along_z) + far * along_z


def _heights(seed: int, x: Heights, z: Heights) -> Heights:
    """Returns the y of the topmost ground cell of each column; around the spawn it lies above the sea."""
    rough = 3.0 * _noise(seed, 2, 21, x, z) + 1.2 * _noise(seed, 3, 9, x, z)
    wild = 66.0 + 15.0 * _noise(seed, 1, 56, x, z) + 1.6 * rough
    away = np.sqrt((x - SPAWN) ** 2.0 + (z - SPAWN) ** 2.0)
    home = np.clip((_HOME_EDGE - away) / (_HOME_EDGE - _HOME_FLAT), 0.0, 1.0)
    home = home * home * (3 - 2 * home)
    gentle = np.maximum(_HOME_HEIGHT + 0.6 * rough, SEA_LEVEL + 2)
    return np.floor(wild * (1 - home) + gentle * home).astype(np.int64)


def _layers(seed: int, x: Heights, z: Heights, heights: Heights) -> npt.NDArray[np.uint16]:
    """Returns block ids [n, 128, m]: bedrock, stone, soil and water by depth under each column's top."""
    y = np.arange(REGION, dtype=np.int16)[None, :, None]
    top = heights[:, None, :].astype(np.int16)
    soil = 3 + _below(_hash(seed, 4, x, z), 2)[:, None, :].astype(np.int16)
    bottom = _below(_hash(seed, 5, x, z), 4)[:, None, :].astype(np.int16)
    ground = np.where(top < SEA_LEVEL - 5, GRAVEL, np.where(top <= SEA_LEVEL + 1, SAND, DIRT)).astype(np.uint16)
    ids = np.where(y > top - soil, ground, np.uint16(STONE))
    ids[(y == top) & (ground == DIRT)] = GRASS
    ids[y > top] = AIR
    ids[(y > top) & (y <= SEA_LEVEL)] = WATER
    ids[y <= bottom] = BEDROCK
    return ids


def _veins(
    seed: int, purpose: int, chunks: tuple[Heights, Heights], veins: int, steps: int, highest: int
) -> tuple[Heights, Heights, Heights]:
    """Returns the cells of random walks that start anywhere in their chunk between y 5 and `highest`."""
    chunk_x, chunk_z = (axis[:, None, None] for axis in chunks)
    vein = np.arange(veins)[None, :, None]
    step = np.arange(steps)[None, None, :]
    starts = _hash(seed, purpose, chunk_x, chunk_z, vein)
    moves = _hash(seed, purpose + 1, chunk_x, chunk_z, vein, step)
    axis, way = _below(moves, 3), 2 * (moves & np.uint64(1)).astype(np.int64) - 1

    def walk(which: int, start: Heights) -> Heights:
        return start + np.cumsum(np.where(axis == which, way, 0), axis=2)

    x = walk(0, chunk_x * CHUNK + _below(starts, CHUNK))
    y = walk(1, 5 + _below(_hash(seed, purpose + 2, starts.astype(np.int64)), highest - 5))
    z = walk(2, chunk_z * CHUNK + _below(_hash(seed, purpose + 3, starts.astype(np.int64)), CHUNK))
    return x.ravel(), y.ravel(), z.ravel()


def _home_vein(seed: int, height: int) -> tuple[Heights, Heights, Heights]:
    """Returns the cells of a coal vein at most 12 blocks beside the spawn and 10 to 17 below it."""
    offsets = _below(_hash(seed, 60, np.arange(3)), 8)
    x, z = SPAWN - 4 + int(offsets[0]), SPAWN - 4 + int(offsets[2])
    cells = np.array([(dx, dy, dz) for dx in (0, 1) for dy in (0, 1) for dz in (0, 1, 2)])
    return x + cells[:, 0], height - 10 - int(offsets[1]) + cells[:, 1], z + cells[:, 2]


def _tree_places(seed: int, chunks: tuple[Heights, Heights]) -> list[tuple[int, int, int]]:
    """Returns (x, z, trunk height) of every tree that may grow, the spawn's own first."""
    compass = ((1, 0), (0, 1), (-1, 0), (0, -1))
    turns = _below(_hash(seed, 70, np.arange(8)), 7).tolist()
    places = []
    for k, (ahead_x, ahead_z) in enumerate(compass):
        far, aside = 7 + turns[k], turns[k + 4] - 3
        places.append((SPAWN + ahead_x * far - ahead_z * aside, SPAWN + ahead_z * far + ahead_x * aside))
    chunk_x, chunk_z = chunks[0][:, None], chunks[1][:, None]
    bits = _hash(seed, 71, chunk_x, chunk_z, np.arange(_TREES_A_CHUNK)[None, :])
    wood = _noise(seed, 72, 5, chunks[0][:, None], chunks[1][:, None])
    grows = _below(bits, 1000) < 500 + 450 * wood
    x = chunk_x * CHUNK + (bits & np.uint64(15)).astype(np.int64)
    z = chunk_z * CHUNK + ((bits >> np.uint64(4)) & np.uint64(15)).astype(np.int64)
    places += zip(x[grows].tolist(), z[grows].tolist(), strict=True)
    heights = 4 + _below(_hash(seed, 73, [x for x, _ in places], [z for _, z in places]), 3)
    return [
        (x, z, trunk)
        for (x, z), trunk in zip(places, heights.tolist(), strict=True)
        if max(abs(x - SPAWN), abs(z - SPAWN)) > _TREE_FREE
    ]


def _grow(ids: npt.NDArray[np.uint16], x: int, ground: int, z: int, trunk: int) -> None:
    """Writes one oak on the grass cell (x, ground, z) of `ids`; x and z are indices with room for the crown."""
    for layer, reach in ((trunk - 2, 2), (trunk - 1, 2), (trunk, 1), (trunk + 1, 1)):
        y = ground + layer
        for dx in range(-reach, reach + 1):
            for dz in range(-reach, reach + 1):
                corner = abs(dx) == reach and abs(dz) == reach
                if ids[x + dx, y, z + dz] == AIR and not (corner and (layer != trunk - 2)):
                    ids[x + dx, y, z + dz] = LEAVES
    ids[x, ground + 1 : ground + trunk + 1, z] = LOG
    ids[x, ground, z] = DIRT


def _replace(ids: npt.NDArray[np.uint16], low: int, places: tuple[Heights, Heights, Heights], block: int) -> None:
    """Writes `block` into every stone cell of `places` (world) that lies in the padded region starting at `low`."""
    x, y, z = places[0] - low, places[1], places[2] - low
    inside = (x >= 0) & (x < ids.shape[0]) & (y >= 0) & (y < REGION) & (z >= 0) & (z < ids.shape[2])
    x, y, z = x[inside], y[inside], z[inside]
    stone = ids[x, y, z] == STONE
    ids[x[stone], y[stone], z[stone]] = block


def generate(seed: int) -> Terrain:
    """Returns the land around the spawn, the same for the same seed on every machine.

    Args:
        seed: any 64-bit integer.

    Returns:
        a region of 128 x 128 x 128 cells whose corner is (-56, 0, -56), and the spawn (RULES 13: column (8, 8), two
        above the topmost cell).
    """
    low, size = LOW - _MARGIN, REGION + 2 * _MARGIN
    along = np.arange(low, low + size)
    x, z = along[:, None], along[None, :]
    heights = _heights(seed, x, z)
    ids = _layers(seed, x, z, heights)
    span = np.arange(low // CHUNK, (low + size - 1) // CHUNK + 1)
    chunks = np.repeat(span, len(span)), np.tile(span, len(span))
    home = int(heights[SPAWN - low, SPAWN - low])
    _replace(ids, low, _home_vein(seed, home), COAL_ORE)
    _replace(ids, low, _veins(seed, 40, chunks, _GRAVEL_VEINS, _GRAVEL_STEPS, 60), GRAVEL)
    _replace(ids, low, _veins(seed, 50, chunks, _COAL_VEINS, _COAL_STEPS, 75), COAL_ORE)
    for tree_x, tree_z, trunk in _tree_places(seed, chunks):
        at_x, at_z = tree_x - low, tree_z - low
        if 2 <= at_x < size - 2 and 2 <= at_z < size - 2:
            ground = int(heights[at_x, at_z])
            if ids[at_x, ground, at_z] == GRASS and ids[at_x, ground + 1, at_z] != LOG:
                _grow(ids, at_x, ground, at_z, trunk)
    inner = slice(_MARGIN, _MARGIN + REGION)
    cells = (ids[inner, :, inner] << np.uint16(4)).astype(np.uint16, order="C")
    return Terrain((LOW, 0, LOW), cells, (SPAWN + 0.5, home + 2.0, SPAWN + 0.5))


def spawn_snapshot(seed: int) -> Snapshot:
    """Returns generated land with a player just spawned on it, as a t0 snapshot holds it (RULES 13).

    Args:
        seed: any 64-bit integer.
    """
    land = generate(seed)
    head = np.zeros(1, HEAD)[0]
    x, y, z = land.spawn
    head["seed"], head["pos"], head["yaw"] = seed, land.spawn, 180.0
    head["box"] = x - HALF_WIDTH, y, z - HALF_WIDTH, x + HALF_WIDTH, y + HEIGHT, z + HALF_WIDTH
    head["health"], head["food"], head["saturation"] = 20.0, 20, 5.0
    head["dig_target"] = NO_TARGET, 0, 0
    head["region_lo"], head["region_size"] = land.lo, land.cells.shape
    bare = Snapshot(head, np.zeros(0, ITEM), land.cells, np.zeros((0, 3), np.int32))
    return replace(bare, coal=coal_cells(bare))
