"""Between a snapshot and a running world: what BSNP sets, what it does not, and back (RULES 13, SPEC 11)."""

import math
from dataclasses import replace

import numpy as np

from core.errors import BadInput
from core.wire.bsnp import HEAD, Snapshot, coal_cells
from core.wire.bsnp import ITEM as SNAPSHOT_ITEM
from core.worlds.voxel.blocks import IDS
from core.worlds.voxel.collide import HALF_WIDTH, HEIGHT
from core.worlds.voxel.drops import seed_cursors
from core.worlds.voxel.server import FULL_AIR, NOT_BURNING
from core.worlds.voxel.state import FIELDS, ITEM_SLOTS, LIVE_ITEM, Sim, empty_sim

SNAPSHOT_HEIGHT, WORLD_HEIGHT = 128, 256  #: blocks a snapshot holds, and the game's world
VIEW_DISTANCE = 8  #: chunks, the real program's default
SPAWN = 8.5  #: local x and z of a fresh spawn
SPAWN_YAW = 180.0
FARTHEST, LARGEST, FASTEST = 3.0e7, 4.0, 100.0  #: blocks: the game's border; a generous body; beyond any fall

# Header fields named alike in the snapshot and in the state.
_BODY_FIELDS = (
    "pos", "box", "yaw", "pitch", "motion", "on_ground", "collided_h", "collided_v", "is_collided", "fall_distance",
    "jump_factor_sprint", "jump_ticks",
)  # fmt: skip
_PLAYER_FIELDS = (
    "seed", "tick", "ox", "oz", "sprinting", "sprint_toggle_timer", "prev_move_forward", "prev_sneak", "health", "food",
    "saturation", "exhaustion", "food_timer", "dig_progress", "dig_target", "dig_hitting", "dig_delay", "atk_prev",
    "rc_delay", "use_prev", "hurt_vel_reset", "server_motion", "container", "container_pos", "world_dirty",
    "hotbar_sel",
)  # fmt: skip
_ITEM_FIELDS = ("pos", "motion", "item", "count", "meta", "age", "pickup_delay", "lifespan", "on_ground")


def sim_of_snapshot(snapshot: Snapshot, view_distance: int = VIEW_DISTANCE) -> Sim:
    """Returns a running world in the state of a snapshot; the fields a snapshot lacks have their start values.

    Args:
        snapshot: what `core.wire.bsnp.read_snapshot` gives; it is copied.
        view_distance: radius of random block ticks, in chunks.

    Raises:
        BadInput: a cell holds a block id the game does not have, or a body is where or what none can be.
    """
    head = snapshot.head
    cells = np.array(snapshot.cells, np.uint16)
    if (most := int(cells.max()) >> 4) >= IDS:
        raise BadInput(f"snapshot of seed {snapshot.seed}: cells hold block id {most}, expected 0..{IDS - 1}")
    _check_bodies(snapshot)
    x0, y0, z0 = (int(low) for low in head["region_lo"])
    sim = empty_sim((x0, y0, z0), cells)
    body, player = sim.body[0], sim.player[0]
    for name in _BODY_FIELDS:
        body[name] = head[name]
    for name in _PLAYER_FIELDS:
        player[name] = head[name]
    sim.inventory[:] = head["inventory"]
    for slot, source in zip(sim.items, snapshot.items[:ITEM_SLOTS], strict=False):
        slot["kind"] = LIVE_ITEM
        for name in _ITEM_FIELDS:
            slot[name] = source[name]
    _set_unstored(sim, view_distance)
    return sim


def _check_bodies(snapshot: Snapshot) -> None:
    """Refuses bodies so large, far or fast that walking their cells would never end."""
    head, items = snapshot.head, snapshot.items
    size = head["box"][3:] - head["box"][:3]
    for what, values, most in (
        ("player's distance from the origin", head["pos"], FARTHEST),
        ("player's box", size, LARGEST),
        ("player's box's distance from the origin", head["box"], FARTHEST),
        ("player's motion", head["motion"], FASTEST),
        ("player's motion at the server", head["server_motion"], FASTEST),
        ("items' distance from the origin", items["pos"], FARTHEST),
        ("items' motion", items["motion"], FASTEST),
    ):
        worst = float(np.abs(values).max(initial=0.0))
        if not worst <= most:
            raise BadInput(f"snapshot of seed {snapshot.seed}: {what} is {worst:g} blocks, expected at most {most:g}")


def _set_unstored(sim: Sim, view_distance: int) -> None:
    """Gives start values to what a snapshot does not hold (RULES 13)."""
    player = sim.player[0]
    player["air"], player["fire"] = FULL_AIR, NOT_BURNING
    player["pending_sprint"] = -1
    player["view_distance"] = view_distance
    seed_cursors(sim)
    shadow = sim.body[1]
    spawn = (SPAWN, _spawn_height(sim), SPAWN)
    _place(shadow, spawn)
    shadow["yaw"] = SPAWN_YAW
    player["reported_pos"], player["reported_yaw"] = spawn, SPAWN_YAW


def _spawn_height(sim: Sim) -> float:
    """Height of a fresh spawn: two above the topmost cell of world column (8, 8).

    The real program looks at the land as its seed makes it; here the region is all there is, so a column that was dug
    or built on since, or lies outside, gives another height (outside: the player's own).
    """
    ix, iz = int(SPAWN) - int(sim.lo[0]), int(SPAWN) - int(sim.lo[2])
    nx, _, nz = sim.cells.shape
    if not (0 <= ix < nx and 0 <= iz < nz):
        return float(sim.body[0]["pos"][1])
    filled = np.flatnonzero(sim.cells[ix, :, iz] >> 4)
    return float(sim.lo[1] + filled[-1] + 2) if len(filled) else float(sim.body[0]["pos"][1])


def _place(body: np.void, feet: tuple[float, float, float]) -> None:
    """Puts a body at local `feet` with a fresh box."""
    x, y, z = feet
    body["pos"] = feet
    body["box"] = (x - HALF_WIDTH, y, z - HALF_WIDTH, x + HALF_WIDTH, y + HEIGHT, z + HALF_WIDTH)


def raise_roof(sim: Sim) -> Sim:
    """Returns the same world, sharing all but its cells, with air above its region up to the game's height.

    What the seed holds up there is unknown (RULES 13): air is right for all but the highest mountains.
    """
    missing = WORLD_HEIGHT - (int(sim.lo[1]) + sim.cells.shape[1])
    sections = WORLD_HEIGHT // 16 - int(sim.lo[1]) // 16 - sim.grassy.shape[1]
    arrays = {name: getattr(sim, name) for name in FIELDS}
    for name, more in (("cells", missing), ("grassy", sections)):
        arrays[name] = np.pad(arrays[name], ((0, 0), (0, more), (0, 0)))
    return Sim(**arrays)


def snapshot_of_sim(sim: Sim, half_width: int) -> Snapshot:
    """Returns everything BSNP has a field for, and the cells around the player.

    Args:
        sim: a running world; cells are copied.
        half_width: blocks around the player's cell along x and z; cut off where the world's region ends.
    """
    head = np.zeros(1, HEAD)[0]
    for name in _BODY_FIELDS:
        head[name] = sim.body[0][name]
    for name in _PLAYER_FIELDS:
        head[name] = sim.player[0][name]
    head["inventory"] = sim.inventory
    live = sim.items[sim.items["kind"] == LIVE_ITEM]
    items = np.zeros(len(live), SNAPSHOT_ITEM)
    for name in _ITEM_FIELDS:
        items[name] = live[name]
    (x0, x1), (z0, z1) = (_around(sim, axis, half_width) for axis in (0, 2))
    cells = sim.cells[x0:x1, : max(1, SNAPSHOT_HEIGHT - int(sim.lo[1])), z0:z1].copy()
    head["region_lo"] = sim.lo + np.array([x0, 0, z0])
    bare = Snapshot(head, items, cells, np.zeros((0, 3), np.int32))
    return replace(bare, coal=coal_cells(bare))


def _around(sim: Sim, axis: int, half_width: int) -> tuple[int, int]:
    """Returns the index range of cells within `half_width` of the player's cell, inside the region."""
    origin = sim.player[0]["ox" if axis == 0 else "oz"]
    middle = math.floor(sim.body[0]["pos"][axis]) + int(origin) - int(sim.lo[axis])
    size = sim.cells.shape[axis]
    return min(max(middle - half_width, 0), size - 1), max(min(middle + half_width, size), 1)
