"""What every block id is: shapes, hardness, opacity and the sets of RULES 5, as tables over the id and two kernels.

Tables have 256 entries, all ids there are: `load` refuses cells with others and no rule makes one. Small tables matter,
for the compiler builds a copy into every kernel that reads one. Shapes are given inside the cell (0..1,
fences and walls 1.5 high); the caller adds the cell's own coordinates in whatever frame it works in. All collision
edges are multiples of 1/32, so that addition is exact in every frame.

Ids 29, 33, 92, 117, 118, 120, 122, 127, 130, 140, 144, 145, 154, 198 and 199 have shapes RULES 5 only calls "vanilla";
no recording meets them and here they collide as full cubes (130 as an unjoined chest).
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from core.kernels import kernel
from core.worlds.voxel.grid import cell_at, id_at, meta_at
from core.worlds.voxel.state import Sim

IDS = 256
MAX_BOXES = 5  #: rows `collision_boxes` needs in its output

AIR, STONE, GRASS, DIRT, COBBLE, PLANKS, SAND, GRAVEL, LOG, LEAVES = 0, 1, 2, 3, 4, 5, 12, 13, 17, 18
COAL_ORE, WEB, TORCH, CHEST, TABLE, FURNACE, LIT_FURNACE, ICE, CACTUS, FENCE = 16, 30, 50, 54, 58, 61, 62, 79, 81, 85
LADDER, SLIME, VINE, HAY, DOUBLE_PLANT, SOUL_SAND = 65, 165, 106, 170, 175, 88

_SLABS = (44, 126, 182, 205)
_FENCES = (85, 113, *range(188, 193))
_GATES = (107, *range(183, 188))
_PANES = (101, 102, 160)
_DOORS = (64, 71, *range(193, 198))
_STAIRS = (53, 67, 108, 109, 114, 128, 134, 135, 136, 156, 163, 164, 180, 203)
_CHESTS = (54, 130, 146)
_TRAPDOORS = (96, 167)
_RAILS = (27, 28, 66, 157)
_PLATES = (70, 72, 147, 148)


def _members(*parts: int | range) -> npt.NDArray[np.bool_]:
    """Returns bool [IDS], true at the given ids and ranges."""
    table = np.zeros(IDS, np.bool_)
    for part in parts:
        table[[part] if isinstance(part, int) else list(part)] = True
    return table


def _filled(dtype: npt.DTypeLike, default: float, values: dict[Any, float]) -> npt.NDArray[Any]:
    """Returns a table [IDS] of `default` with the given {id or ids: value} written over it."""
    table = np.full(IDS, default, dtype)
    for ids, value in values.items():
        table[list(ids) if isinstance(ids, Iterable) else ids] = value
    return table


#: Ids a player walks through unless a shape is listed for them (set P).
PASSABLE = _members(
    0, 6, range(8, 12), 30, 31, 32, range(37, 41), 50, 51, 59, 70, 72, 78, 83, 90, 93, 94, 104, 105, 106, 111, 115, 119,
    131, 132, range(141, 144), range(147, 151), 175,
)  # fmt: skip
SOLID = ~PASSABLE
#: Ids of a solid material, which is not `SOLID` (RULES 11.4, read as vanilla): rails, wires, buttons, carpets and the
#: like are of none though they collide here; webs and plates are, though nothing bumps into them.
SOLID_MATERIAL = SOLID & ~_members(27, 28, 55, 65, 66, 69, 75, 76, 77, 127, 140, 144, 157, 171, 198, 199, 200, 217)
SOLID_MATERIAL[[30, 70, 72, 147, 148]] = True
LIQUID = _members(range(8, 12))
WATER = _members(8, 9)
#: Cells that stop a live item (RULES 8): plants, torches and webs do.
ITEM_SOLID = ~_members(0, range(8, 12), 36, 70, 72, 147, 148)
#: The vanilla full-cube ids (RULES 8), which also decide fence, wall and pane arms.
FULL_CUBE = _members(
    range(1, 6), 7, range(12, 20), range(21, 26), 35, range(41, 44), range(45, 50), 52, range(56, 59), 61, 62, 73, 74,
    79, 80, 82, 84, range(86, 90), 91, range(97, 101), 103, 110, 112, 121, range(123, 126), 129, 133, 137, 152, 153,
    155, 158, 159, 161, 162, 165, 166, range(168, 171), range(172, 175), 179, 181, 201, 202, 204, 206, range(210, 217),
    218,
)  # fmt: skip
PLACE_REPLACEABLE = _members(0, range(8, 12), 31, 32, 51, 78)
FALL_REPLACEABLE = _members(
    0, 6, range(8, 12), 31, 32, range(37, 41), 50, 51, 59, 78, 83, 104, 105, 106, 111, 115, 141, 142, 175
)
#: Air, fire and liquids: what sand and gravel fall through (RULES 11.2).
FALL_THROUGH = _members(0, 51, range(8, 12))
#: Ground friction under a body (RULES 3.3 step 7) and under an item (RULES 8 step 4), float32.
SLIPPERINESS = _filled(np.float32, 0.6, {(79, 174): 0.98, 165: 0.8})
ITEM_SLIPPERINESS = _filled(np.float32, 0.6, {(79, 174, 212): 0.98})

#: float32 hardness; -1 cannot be dug.
HARDNESS = _filled(
    np.float32,
    1.5,
    {
        (7, 90, 119, 120): -1,
        (0, 6, 31, 32, *range(37, 41), 46, 50, 51, 59, 83, 93, 94, 104, 105, 111, 115, 131, 132): 0,
        (140, 141, 142, 149, 150, 165, 175, 198): 0,
        78: 0.1,
        (18, 26, 80, 99, 100, 106, 127, 161): 0.2,
        (20, 89, 95, 102, 169): 0.3,
        (65, 81, 87, 199, 200): 0.4,
        (3, 12, 70, 72, 79, 88, 92, 117, 143, 147, 148, 170, 174): 0.5,
        (2, 13, 19, 60, 82, 110): 0.6,
        (24, 155, 179): 0.8,
        (63, 68, 86, 91, 103): 1.0,
        172: 1.25,
        (4, 5, 17, 43, 44, 45, 48, 53, 67, 85, 107, 108, 109, 112, 113, 114, 118, 125, 126, 128): 2.0,
        (134, 135, 136, 139, 156, 162, 163, 164, *range(180, 193), 203, 204, 205): 2.0,
        (54, 58, 146): 2.5,
        (14, 15, 16, 21, 22, 41, 56, 64, 73, 74, 96, 121, 122, 129, 153, *range(193, 198)): 3.0,
        (61, 62): 3.5,
        30: 4.0,
        (42, 52, 57, 101, 116, 133, 145, 173): 5.0,
        130: 22.5,
        49: 50,
        (8, 9, 10, 11): 100,
    },
)

#: Light lost in a cell (RULES 11.1).
OPACITY = _filled(
    np.uint8,
    255,
    {
        (0, 6, 10, 11, 20, 31, 32, *range(37, 41), 50, 51, 54, 59, 65, 66, 70, 72, 78, 83, 85, 90, 93, 94, 95): 0,
        (101, 102, 104, 105, 106, 111, 113, 115, 118, 119, 131, 132, 139, 141, 142, 143, 146, 147, 148): 0,
        (149, 150, 175, *range(188, 193)): 0,
        (18, 30, 161): 1,
        (8, 9, 79): 3,
    },
)
#: Block light a cell sends out (RULES 11.1).
EMISSION = _filled(np.uint8, 0, {(10, 11, 51, 89): 15, 50: 14, 62: 13})

# How a block collides. LOW is a full footprint of height LOW_HEIGHT.
(
    NO_BOX,
    CUBE,
    LOW,
    SLAB,
    SNOW,
    CACTUS_BOX,
    LILY,
    CHEST_BOX,
    POST,
    GATE,
    PANE,
    WALL,
    LADDER_BOX,
    TRAPDOOR,
    DOOR,
    STAIRS,
) = range(16)
LOW_HEIGHT = _filled(
    np.float64,
    1.0,
    {(60, 208): 0.9375, 88: 0.875, 171: 0.0625, 26: 0.5625, (151, 178): 0.375, 116: 0.75, (93, 94, 149, 150): 0.125},
)
COLLISION = np.where(PASSABLE, NO_BOX, CUBE).astype(np.uint8)
COLLISION[LOW_HEIGHT < 1.0] = LOW
for _kind, _ids in (
    (SLAB, _SLABS),
    (SNOW, (78,)),
    (CACTUS_BOX, (81,)),
    (LILY, (111,)),
    (CHEST_BOX, _CHESTS),
    (POST, _FENCES),
    (GATE, _GATES),
    (PANE, _PANES),
    (WALL, (139,)),
    (LADDER_BOX, (65,)),
    (TRAPDOOR, _TRAPDOORS),
    (DOOR, _DOORS),
    (STAIRS, _STAIRS),
):
    COLLISION[list(_ids)] = _kind

#: Full cubes a fence or wall grows an arm toward; 162 only if its meta has not bit 2 (checked by `_opaque_cube`).
_OPAQUE_CUBE = FULL_CUBE & ~_members(18, 46, 79, 86, 89, 91, 103, 161, 166, 169, 212)

# Faces of RULES: 0 down, 1 up, 2 north, 3 south, 4 west, 5 east.
NORTH, SOUTH, WEST, EAST = 2, 3, 4, 5
FACE_X = np.array([0, 0, 0, 0, -1, 1], np.int64)
FACE_Y = np.array([-1, 1, 0, 0, 0, 0], np.int64)
FACE_Z = np.array([0, 0, -1, 1, 0, 0], np.int64)
_CCW = np.array([0, 0, WEST, EAST, SOUTH, NORTH], np.int64)  # N -> W -> S -> E -> N


@kernel
def copy_box(source, target):
    """Copies a box edge by edge: assigning a whole row compiles numpy's shape errors along with it."""
    for k in range(6):
        target[k] = source[k]


@kernel
def _box(out, n, x0, y0, z0, x1, y1, z1):
    """Appends one box as row `n` and returns the new count."""
    out[n, 0], out[n, 1], out[n, 2] = x0, y0, z0
    out[n, 3], out[n, 4], out[n, 5] = x1, y1, z1
    return n + 1


@kernel
def _opaque_cube(cell):
    """Whether a cell is a full cube fences and walls connect to."""
    return _OPAQUE_CUBE[cell >> 4] and not (cell >> 4 == 162 and cell & 2)


@kernel
def _fence_arm(sim, x, y, z, nether):
    """Whether a fence reaches toward the neighbour at (x, y, z)."""
    cell = cell_at(sim, x, y, z)
    kind = COLLISION[cell >> 4]
    if kind == POST:
        return (cell >> 4 == 113) == nether
    return kind == GATE or _opaque_cube(cell)


@kernel
def _wall_arm(sim, x, y, z):
    """Whether a wall widens toward the neighbour at (x, y, z)."""
    cell = cell_at(sim, x, y, z)
    kind = COLLISION[cell >> 4]
    return kind in (WALL, GATE) or _opaque_cube(cell)


@kernel
def _pane_arm(sim, x, y, z):
    """Whether a pane reaches toward the neighbour at (x, y, z)."""
    block = id_at(sim, x, y, z)
    return COLLISION[block] == PANE or block == 20 or block == 95 or block == 60 or FULL_CUBE[block]


@kernel
def _cross(out, north, east, south, west, lo, height):
    """A centre post from `lo` to 1 - lo with arms to the cell's edge."""
    hi = 1.0 - lo
    n = _box(out, 0, lo, 0.0, lo, hi, height, hi)
    if north:
        n = _box(out, n, lo, 0.0, 0.0, hi, height, lo)
    if east:
        n = _box(out, n, hi, 0.0, lo, 1.0, height, hi)
    if south:
        n = _box(out, n, lo, 0.0, hi, hi, height, 1.0)
    if west:
        n = _box(out, n, 0.0, 0.0, lo, lo, height, hi)
    return n


@kernel
def _fence_boxes(sim, x, y, z, block, out):
    """Post and arms of a fence."""
    nether = block == 113
    return _cross(
        out,
        _fence_arm(sim, x, y, z - 1, nether),
        _fence_arm(sim, x + 1, y, z, nether),
        _fence_arm(sim, x, y, z + 1, nether),
        _fence_arm(sim, x - 1, y, z, nether),
        0.375,
        1.5,
    )


@kernel
def _pane_boxes(sim, x, y, z, out):
    """Post and arms of a pane."""
    return _cross(
        out,
        _pane_arm(sim, x, y, z - 1),
        _pane_arm(sim, x + 1, y, z),
        _pane_arm(sim, x, y, z + 1),
        _pane_arm(sim, x - 1, y, z),
        0.4375,
        1.0,
    )


@kernel
def _wall_box(sim, x, y, z, out):
    """The one box of a wall: thick at ends and corners, thinner in a straight run."""
    north, south = _wall_arm(sim, x, y, z - 1), _wall_arm(sim, x, y, z + 1)
    west, east = _wall_arm(sim, x - 1, y, z), _wall_arm(sim, x + 1, y, z)
    x0, x1 = 0.0 if west else 0.25, 1.0 if east else 0.75
    z0, z1 = 0.0 if north else 0.25, 1.0 if south else 0.75
    if north and south and not west and not east:
        x0, x1 = 0.3125, 0.6875
    elif west and east and not north and not south:
        z0, z1 = 0.3125, 0.6875
    return _box(out, 0, x0, 0.0, z0, x1, 1.5, z1)


@kernel
def _chest_box(sim, x, y, z, block, out):
    """A chest, joined to the first neighbour of its own id (130 never joins)."""
    x0, z0, x1, z1 = 0.0625, 0.0625, 0.9375, 0.9375
    if block != 130:
        if id_at(sim, x, y, z - 1) == block:
            z0 = 0.0
        elif id_at(sim, x, y, z + 1) == block:
            z1 = 1.0
        elif id_at(sim, x - 1, y, z) == block:
            x0 = 0.0
        elif id_at(sim, x + 1, y, z) == block:
            x1 = 1.0
    return _box(out, 0, x0, 0.0, z0, x1, 0.875, z1)


@kernel
def _panel(out, side):
    """A panel 3/16 thick on one side of the cell."""
    if side == NORTH:
        return _box(out, 0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.1875)
    if side == SOUTH:
        return _box(out, 0, 0.0, 0.0, 0.8125, 1.0, 1.0, 1.0)
    if side == WEST:
        return _box(out, 0, 0.0, 0.0, 0.0, 0.1875, 1.0, 1.0)
    return _box(out, 0, 0.8125, 0.0, 0.0, 1.0, 1.0, 1.0)


_LADDER_SIDE = np.array([SOUTH, SOUTH, SOUTH, NORTH, EAST, WEST], np.int64)  # by meta % 6
_TRAPDOOR_SIDE = np.array([SOUTH, NORTH, EAST, WEST], np.int64)  # open, by meta & 3
_DOOR_SIDE = np.array(  # by facing: closed, open with a left hinge, open with a right hinge
    [[WEST, NORTH, SOUTH], [NORTH, EAST, WEST], [EAST, SOUTH, NORTH], [SOUTH, WEST, EAST]], np.int64
)


@kernel
def _trapdoor_box(meta, out):
    """A trapdoor: a panel when open, else a plate at the bottom or the top."""
    if meta & 4:
        return _panel(out, _TRAPDOOR_SIDE[meta & 3])
    if meta & 8:
        return _box(out, 0, 0.0, 0.8125, 0.0, 1.0, 1.0, 1.0)
    return _box(out, 0, 0.0, 0.0, 0.0, 1.0, 0.1875, 1.0)


@kernel
def _door_box(sim, x, y, z, meta, out):
    """A door half: facing and open come from the lower half, the hinge from the upper."""
    if meta & 8:
        lower, upper = meta_at(sim, x, y - 1, z), meta
    else:
        lower, upper = meta, meta_at(sim, x, y + 1, z)
    state = 0
    if lower & 4:
        state = 2 if upper & 1 else 1
    return _panel(out, _DOOR_SIDE[lower & 3, state])


@kernel
def _gate_box(meta, height, out):
    """A closed gate's bar across the cell."""
    if meta & 1:
        return _box(out, 0, 0.375, 0.0, 0.0, 0.625, height, 1.0)
    return _box(out, 0, 0.0, 0.0, 0.375, 1.0, height, 0.625)


@kernel
def _stair_facing(sim, x, y, z, face, top):
    """The facing of the stair next to (x, y, z) at `face` if it is a stair of the same half, else -1."""
    cell = cell_at(sim, x + FACE_X[face], y, z + FACE_Z[face])
    if COLLISION[cell >> 4] != STAIRS or (cell & 4) != top:
        return -1
    return 5 - (cell & 3)


@kernel
def _stair_quarter(direction, y0, out, n):
    """A quarter-footprint box of half height, placed by RULES 5's quarter direction."""
    x0 = 0.0 if direction in (NORTH, WEST) else 0.5
    z0 = 0.0 if direction in (NORTH, EAST) else 0.5
    return _box(out, n, x0, y0, z0, x0 + 0.5, y0 + 0.5, z0 + 0.5)


@kernel
def _stair_side(face, y0, out, n):
    """A half-footprint box of half height on side `face`."""
    if face == NORTH:
        return _box(out, n, 0.0, y0, 0.0, 1.0, y0 + 0.5, 0.5)
    if face == SOUTH:
        return _box(out, n, 0.0, y0, 0.5, 1.0, y0 + 0.5, 1.0)
    if face == WEST:
        return _box(out, n, 0.0, y0, 0.0, 0.5, y0 + 0.5, 1.0)
    return _box(out, n, 0.5, y0, 0.0, 1.0, y0 + 0.5, 1.0)


@kernel
def _stair_boxes(sim, x, y, z, meta, out):
    """Slab half plus the straight, outer or inner part a stair shows to its neighbours."""
    face, top = 5 - (meta & 3), meta & 4
    left, right, back = _CCW[face], _CCW[face] ^ 1, face ^ 1
    base, rest = (0.5, 0.0) if top else (0.0, 0.5)
    n = _box(out, 0, 0.0, base, 0.0, 1.0, base + 0.5, 1.0)
    g = _stair_facing(sim, x, y, z, face, top)
    if g in (left, right) and _stair_facing(sim, x, y, z, g ^ 1, top) != face:
        return _stair_quarter(face if g == left else right, rest, out, n)
    n = _stair_side(face, rest, out, n)
    g = _stair_facing(sim, x, y, z, back, top)
    if g in (left, right) and _stair_facing(sim, x, y, z, g, top) != face:
        n = _stair_quarter(left if g == left else back, rest, out, n)
    return n


@kernel
def collision_boxes(sim: Sim, x: int, y: int, z: int, out: npt.NDArray[np.float64]) -> int:
    """Writes what a body collides with in world cell (x, y, z) (RULES 5).

    Args:
        sim: the world.
        x: world cell; so are y and z.
        out: float64 [MAX_BOXES, 6], rows minX, minY, minZ, maxX, maxY, maxZ inside the cell (0..1; fences to 1.5).

    Returns:
        The number of rows written, in the order RULES lists them.
    """
    cell = cell_at(sim, x, y, z)
    block, meta = cell >> 4, cell & 15
    kind = COLLISION[block]
    if kind == NO_BOX:
        return 0
    if kind == CUBE:
        return _box(out, 0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0)
    if kind == LOW:
        return _box(out, 0, 0.0, 0.0, 0.0, 1.0, LOW_HEIGHT[block], 1.0)
    if kind == SLAB:
        base = 0.5 if meta & 8 else 0.0
        return _box(out, 0, 0.0, base, 0.0, 1.0, base + 0.5, 1.0)
    if kind == SNOW:
        return _box(out, 0, 0.0, 0.0, 0.0, 1.0, (meta & 7) * 0.125, 1.0) if meta & 7 else 0
    if kind == CACTUS_BOX:
        return _box(out, 0, 0.0625, 0.0, 0.0625, 0.9375, 0.9375, 0.9375)
    if kind == LILY:
        return _box(out, 0, 0.0625, 0.0, 0.0625, 0.9375, 0.09375, 0.9375)
    if kind == CHEST_BOX:
        return _chest_box(sim, x, y, z, block, out)
    if kind == POST:
        return _fence_boxes(sim, x, y, z, block, out)
    if kind == GATE:
        return 0 if meta & 4 else _gate_box(meta, 1.5, out)
    if kind == PANE:
        return _pane_boxes(sim, x, y, z, out)
    if kind == WALL:
        return _wall_box(sim, x, y, z, out)
    if kind == LADDER_BOX:
        return _panel(out, _LADDER_SIDE[meta % 6])
    if kind == TRAPDOOR:
        return _trapdoor_box(meta, out)
    if kind == DOOR:
        return _door_box(sim, x, y, z, meta, out)
    return _stair_boxes(sim, x, y, z, meta, out)


# Where the ray's box is not the collision box (RULES 5, selection).
SELECT_NONE, SELECT_CUBE, SELECT_FIXED, SELECT_COLLISION, SELECT_SNOW, SELECT_TORCH = range(6)
SELECT_VINE, SELECT_FENCE, SELECT_PANE, SELECT_GATE, SELECT_CROP = range(6, 11)
SELECTION = np.full(IDS, SELECT_CUBE, np.uint8)
FIXED_SELECTION = np.tile(np.array([0.0, 0.0, 0.0, 1.0, 1.0, 1.0]), (IDS, 1))


def _widened(*edges: float) -> npt.NDArray[np.float64]:
    """Returns box edges as the nearest float32 values, widened exactly."""
    return np.array(edges, np.float32).astype(np.float64)


for _ids, _edges in (
    ((6, 31, 32), _widened(0.1, 0, 0.1, 0.9, 0.8, 0.9)),
    ((37, 38), _widened(0.3, 0, 0.3, 0.7, 0.6, 0.7)),
    ((39, 40), _widened(0.3, 0, 0.3, 0.7, 0.4, 0.7)),
    ((83,), _widened(0.125, 0, 0.125, 0.875, 1, 0.875)),
    ((81,), _widened(0.0625, 0, 0.0625, 0.9375, 1, 0.9375)),
    (_RAILS, _widened(0, 0, 0, 1, 0.125, 1)),
    (_CHESTS, _widened(0.0625, 0, 0.0625, 0.9375, 0.875, 0.9375)),
    (_PLATES, _widened(0.0625, 0, 0.0625, 0.9375, 0.0625, 0.9375)),
):
    SELECTION[list(_ids)] = SELECT_FIXED
    FIXED_SELECTION[list(_ids)] = _edges
for _kind, _ids in (
    (SELECT_NONE, (0, 8, 9, 10, 11, 51)),
    (SELECT_COLLISION, (111, *_SLABS, 60, 88, 171, 26, 116, 65, *_TRAPDOORS, *_DOORS)),
    (SELECT_SNOW, (78,)),
    (SELECT_TORCH, (50,)),
    (SELECT_VINE, (106,)),
    (SELECT_FENCE, _FENCES),
    (SELECT_PANE, _PANES),
    (SELECT_GATE, _GATES),
    (SELECT_CROP, (59, 141, 142)),
):
    SELECTION[list(_ids)] = _kind

_TORCH_BOX = np.tile(_widened(0.4, 0, 0.4, 0.6, 0.6, 0.6), (16, 1))
_TORCH_BOX[1] = _widened(0, 0.2, 0.35, 0.3, 0.8, 0.65)
_TORCH_BOX[2] = _widened(0.7, 0.2, 0.35, 1, 0.8, 0.65)
_TORCH_BOX[3] = _widened(0.35, 0.2, 0, 0.65, 0.8, 0.3)
_TORCH_BOX[4] = _widened(0.35, 0.2, 0.7, 0.65, 0.8, 1)


def _vine_boxes() -> npt.NDArray[np.float64]:
    """Returns the selection box of a vine for each meta [16, 6]: the union of its sides."""
    boxes = np.empty((16, 6))
    boxes[0] = (0, 0.9375, 0, 1, 1, 1)
    sides = {
        1: (0, 0, 0.9375, 1, 1, 1),
        2: (0, 0, 0, 0.0625, 1, 1),
        4: (0, 0, 0, 1, 1, 0.0625),
        8: (0.9375, 0, 0, 1, 1, 1),
    }
    for meta in range(1, 16):
        chosen = np.array([side for bit, side in sides.items() if meta & bit], np.float64)
        boxes[meta, :3], boxes[meta, 3:] = chosen[:, :3].min(axis=0), chosen[:, 3:].max(axis=0)
    return boxes


_VINE_BOX = _vine_boxes()


@kernel
def _bar_reaches(sim, x, y, z, pane):
    """Whether the selection box of a fence or pane reaches toward the neighbour at (x, y, z)."""
    block = id_at(sim, x, y, z)
    if pane:
        return COLLISION[block] == PANE or block == 20 or block == 95 or SOLID[block]
    return COLLISION[block] == POST or COLLISION[block] == GATE or SOLID[block]


@kernel
def _select_bar(sim, x, y, z, pane, out):
    """Selection box of a fence or pane: the post, drawn out to the edges it connects to."""
    lo = 0.4375 if pane else 0.375
    out[0] = 0.0 if _bar_reaches(sim, x - 1, y, z, pane) else lo
    out[1] = 0.0
    out[2] = 0.0 if _bar_reaches(sim, x, y, z - 1, pane) else lo
    out[3] = 1.0 if _bar_reaches(sim, x + 1, y, z, pane) else 1.0 - lo
    out[4] = 1.0
    out[5] = 1.0 if _bar_reaches(sim, x, y, z + 1, pane) else 1.0 - lo


@kernel
def selection_box(sim: Sim, x: int, y: int, z: int, out: npt.NDArray[np.float64]) -> bool:
    """Writes the box a ray hits in world cell (x, y, z) (RULES 5, 7.1).

    Args:
        sim: the world.
        x: world cell; so are y and z.
        out: float64 [6], minX, minY, minZ, maxX, maxY, maxZ inside the cell (0..1).

    Returns:
        False if nothing can be hit there (air, liquids, fire).
    """
    cell = cell_at(sim, x, y, z)
    block, meta = cell >> 4, cell & 15
    kind = SELECTION[block]
    if kind == SELECT_NONE:
        return False
    if kind in (SELECT_CUBE, SELECT_FIXED):
        copy_box(FIXED_SELECTION[block], out)
    elif kind == SELECT_TORCH:
        copy_box(_TORCH_BOX[meta], out)
    elif kind == SELECT_VINE:
        copy_box(_VINE_BOX[meta], out)
    elif kind in (SELECT_FENCE, SELECT_PANE):
        _select_bar(sim, x, y, z, kind == SELECT_PANE, out)
    elif kind in (SELECT_SNOW, SELECT_CROP):
        copy_box(FIXED_SELECTION[0], out)
        out[4] = ((meta & 7) + 1) * 0.125
    else:
        boxes = np.empty((MAX_BOXES, 6))
        if kind == SELECT_GATE:
            _gate_box(meta, 1.0, boxes)
        else:
            collision_boxes(sim, x, y, z, boxes)
        copy_box(boxes[0], out)
    return True
