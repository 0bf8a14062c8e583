"""A small made-up world for tests: a stone floor with its top at y = 5, the player standing on it, looking south."""

import numpy as np

from core.worlds.voxel.collide import HALF_WIDTH, HEIGHT
from core.worlds.voxel.drops import seed_cursors
from core.worlds.voxel.state import LIVE_ITEM, NO_TARGET, Sim, empty_sim
from core.worlds.voxel.step import step

SIZE, TALL, FLOOR = 48, 32, 5
ORIGIN = 16  # of the window, x and z
MIDDLE = (8.5, float(FLOOR), 8.5)  # the player's feet in the window: world block (24, 5, 24)
STANDING = -0.0784000015258789  # vertical motion left by a tick on the ground
KEYS = (
    "forward", "strafe", "dyaw", "dpitch", "jump", "sneak", "sprint", "attack", "use", "hotbar", "craft", "interact",
    "smelt",
)  # fmt: skip


def stone_floor(seed: int = 10) -> Sim:
    """Returns a world of stone below y = 5 and air above, without grass, so that random ticks change nothing."""
    cells = np.zeros((SIZE, TALL, SIZE), np.uint16)
    cells[:, :FLOOR] = 1 << 4
    sim = empty_sim((0, 0, 0), cells)
    player = sim.player[0]
    player["seed"], player["view_distance"], player["pending_sprint"] = seed, 8, -1
    player["health"], player["food"], player["saturation"], player["air"] = 20, 20, 5, 300
    player["fire"], player["dig_target"] = -20, (NO_TARGET, 0, 0)
    player["ox"] = player["oz"] = ORIGIN
    for body in sim.body:
        x, y, z = body["pos"] = MIDDLE
        body["box"] = (x - HALF_WIDTH, y, z - HALF_WIDTH, x + HALF_WIDTH, y + HEIGHT, z + HALF_WIDTH)
        body["on_ground"], body["motion"][1] = 1, STANDING
    player["reported_pos"], player["reported_on_ground"] = MIDDLE, 1
    seed_cursors(sim)
    return sim


def block(sim: Sim, x: int, y: int, z: int) -> int:
    """Returns the id of a world cell."""
    return int(sim.cells[x, y, z]) >> 4


def put(sim: Sim, x: int, y: int, z: int, block: int, meta: int = 0) -> None:
    """Writes a world cell without any consequence."""
    sim.cells[x, y, z] = block << 4 | meta


def hold(sim: Sim, item: int, count: int = 1, meta: int = 0) -> None:
    """Puts a stack in the player's hand."""
    sim.inventory[int(sim.player[0]["hotbar_sel"])] = (item, count, meta)


def row(**keys: float) -> np.ndarray:
    """Returns an action row of the named keys, the rest as SPEC 1 defaults."""
    values = dict.fromkeys(KEYS, 0.0) | {"hotbar": -1.0, "craft": -1.0} | keys
    return np.array([values[key] for key in KEYS])


def look_down(sim: Sim, pitch: float = 60.0) -> None:
    """Turns the player south and down: at pitch 60 it looks at floor cell (24, 4, 25)."""
    sim.body[0]["yaw"], sim.body[0]["pitch"] = 0.0, pitch


def run(sim: Sim, ticks: int, **keys: float) -> None:
    """Plays the same keys for some ticks."""
    act = row(**keys)
    for _ in range(ticks):
        step(sim, act)


def live_items(sim: Sim) -> list[tuple[int, int, int]]:
    """Returns (item, count, meta) of everything lying in the world."""
    return [
        tuple(int(slot[key]) for key in ("item", "count", "meta")) for slot in sim.items if slot["kind"] == LIVE_ITEM
    ]
