"""The right mouse button: when it acts, where a block goes, how it is turned (RULES 9)."""

import numpy as np

from core.kernels import kernel
from core.worlds.voxel.blocks import CHEST, FURNACE, IDS, LADDER, LOG, PLACE_REPLACEABLE, SOLID, TORCH
from core.worlds.voxel.edits import queue_edit
from core.worlds.voxel.grid import id_at
from core.worlds.voxel.inventory import take
from core.worlds.voxel.numbers import I64, ifloor
from core.worlds.voxel.ray import FAR, MISS, cast_from_player, cell_before, eye_height, look_height
from core.worlds.voxel.state import Sim

_REPEAT_DELAY = 4
_DOWN, _UP, _NORTH, _SOUTH, _WEST, _EAST = range(6)
_PUMPKIN, _WOOD_STAIRS = 86, 53

#: Blocks that answer a click themselves: `use` on them is swallowed for the whole tick (RULES 1.1e).
_SWALLOWS = np.zeros(IDS, np.bool_)
_SWALLOWS[
    [
        *range(183, 188),
        58,
        61,
        62,
        54,
        146,
        116,
        120,
        26,
        69,
        77,
        143,
        93,
        94,
        149,
        150,
        151,
        178,
        64,
        *range(193, 198),
        96,
        92,
        107,
    ]
] = True
#: Blocks that take the click without effect when it reaches placing.
_INERT = np.zeros(IDS, np.bool_)
_INERT[[64, 71, 69, 70, 72, 77, 96, 107, 143, 147, 148, 167]] = True

_TORCH_META = np.array([0, 5, 4, 3, 2, 1], np.int64)  # by clicked face
_FACING_META = np.array([2, 5, 3, 4], np.int64)  # furnace and chest, by quadrant of the yaw
_STAIR_META = np.array([2, 1, 3, 0], np.int64)  # 5 - index of the facing, by quadrant of the yaw


@kernel
def use_swallowed(sim: Sim, yaw: float, pitch: float) -> bool:
    """Returns whether a held `use` looks at a block that answers it, so that the flag is 0 this tick (RULES 1.1e).

    Args:
        sim: the world before this tick's player tick; the eye goes by last tick's sneak.
        yaw: float32 degrees, this tick's look already applied; so is pitch, clamped.
        pitch: see `yaw`.
    """
    hit = np.empty(5, np.int64)
    cast_from_player(sim, yaw, pitch, hit)
    return hit[0] != MISS and _SWALLOWS[id_at(sim, hit[1], hit[2], hit[3])]


@kernel
def _quadrant(yaw):
    """The quarter turn a float32 yaw faces: 0 south, 1 west, 2 north, 3 east."""
    turned = np.fmod(np.float64(yaw), 360.0)
    if turned < 0.0:
        turned += 360.0
    return ifloor(turned * 4.0 / 360.0 + 0.5) & 3


@kernel
def _torch_meta(sim, x, y, z, hit):
    """How a torch hangs in a world cell: on the clicked face if solid, else the first solid side; -1 nowhere."""
    face = hit[4]
    if face != _DOWN and SOLID[id_at(sim, hit[1], hit[2], hit[3])]:
        return _TORCH_META[face]
    if SOLID[id_at(sim, x, y, z + 1)]:
        return 4
    if SOLID[id_at(sim, x, y, z - 1)]:
        return 3
    if SOLID[id_at(sim, x + 1, y, z)]:
        return 2
    if SOLID[id_at(sim, x - 1, y, z)]:
        return 1
    return 5 if SOLID[id_at(sim, x, y - 1, z)] else -1


@kernel
def _stair_meta(yaw, face, height):
    """Vanilla stairs: back toward the player's facing, upside down under a block or on the upper half of a side."""
    upside_down = face == _DOWN or (face != _UP and height > 0.5)
    return _STAIR_META[_quadrant(yaw)] | (4 if upside_down else 0)


@kernel
def _placed_meta(sim, block, stack_meta, x, y, z, hit, height):
    """The meta a block gets in world cell (x, y, z), or -1 to refuse; other blocks lose their variant (RULES 9)."""
    yaw, face = sim.body[0].yaw, hit[4]
    if block in (FURNACE, CHEST):
        return _FACING_META[_quadrant(yaw)]
    if block == LOG:
        axis = 0
        if face >= _WEST:
            axis = 4
        elif face >= _NORTH:
            axis = 8
        return (stack_meta & 3) | axis
    if block == TORCH:
        return _torch_meta(sim, x, y, z, hit)
    if block == LADDER:
        return face if face >= _NORTH else 2
    if block == _PUMPKIN:
        return (_quadrant(yaw) + 2) & 3
    if block == _WOOD_STAIRS:
        return _stair_meta(yaw, face, height)
    return 0


@kernel
def _player_in(sim, x, y, z):
    """Whether the player's box, not yet moved this tick, strictly intersects world cell (x, y, z)."""
    p, box = sim.player[0], sim.body[0].box
    lx, lz = x - p.ox, z - p.oz
    return box[0] < lx + 1 and box[3] > lx and box[1] < y + 1 and box[4] > y and box[2] < lz + 1 and box[5] > lz


@kernel
def _place(sim):
    """Places the block in hand in front of what the player looks at, if it may go there."""
    p, body = sim.player[0], sim.body[0]
    hit = np.empty(5, np.int64)
    distance = cast_from_player(sim, body.yaw, body.pitch, hit)
    if hit[0] != FAR or _INERT[id_at(sim, hit[1], hit[2], hit[3])]:
        return
    x, y, z = cell_before(hit)
    slot = I64(p.hotbar_sel)
    block, stack_meta = I64(sim.inventory[slot, 0]), I64(sim.inventory[slot, 2])
    if sim.inventory[slot, 1] <= 0 or not 1 <= block <= 255 or not PLACE_REPLACEABLE[id_at(sim, x, y, z)]:
        return
    if SOLID[block] and _player_in(sim, x, y, z):
        return
    height = body.pos[1] + eye_height(p.prev_sneak) + distance * look_height(body.pitch) - hit[2]
    meta = _placed_meta(sim, block, stack_meta, x, y, z, hit, height)
    if meta < 0:
        return
    queue_edit(sim, x, y, z, block << 4 | meta, 0, 0)
    take(sim.inventory, slot, 1)


@kernel
def use(sim: Sim, held: bool, gate: bool) -> None:
    """One tick of the use button (RULES 1.3 step 6): acts on a press and every fourth held tick, never while digging.

    Args:
        sim: the world; body 0 has not moved yet, its look is this tick's.
        held: whether the button is held, after `use_swallowed`.
        gate: what `digging.dig` returned.
    """
    p = sim.player[0]
    if p.rc_delay > 0:
        p.rc_delay -= 1
    fire = held and (not p.use_prev or p.rc_delay == 0) and not gate
    p.use_prev = held
    if fire:
        p.rc_delay = _REPEAT_DELAY
        _place(sim)
