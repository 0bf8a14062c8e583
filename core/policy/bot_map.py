"""What the bot remembers of the world: block ids by cell, learnt from the camera and the lists of records alone.

A memory is u8 [SIZE, HEIGHT, SIZE], indexed [x - lo, y, z - lo]; UNKNOWN where nothing was learnt. Directions here are
plain trigonometry in double: the bot aims at the middle of things, it does not predict bits.
"""

import math

import numpy as np
import numpy.typing as npt

from core.kernels import kernel
from core.wire.bolr import CAM_HEIGHT, CAM_WIDTH

SIZE, HEIGHT = 128, 128
AIR, SNOW, UNKNOWN = 0, 78, 255
EYE = 1.62  # blocks above the feet
SCAN_ABOVE = 40  # blocks above the feet that lists look at
REACH = 4.6  # blocks; the game's is 5
YAW_STEP, PITCH_STEP, PITCH_LIMIT = 15, 10, 80  # degrees

_TAN_Y = 0.7002075382097097
_TAN_X = _TAN_Y * CAM_WIDTH / CAM_HEIGHT
_STEPS = 65536 / (2 * math.pi)  # sine table entries a radian
_SEEN = 48.0  # blocks the camera reaches
_SLACK = 1e-3  # blocks; how far rounding may move a hit
_GRAZE = 0.02  # blocks inside a cell below which a ray proves nothing
_CHORD = 0.2  # blocks inside a cell that a ray needs to strike it for sure
_WATER = (8, 9)
_SUPPOSED_DEPTH = 4  # cells; nobody sees below a water's surface, so that deep it is feared
_BURIED_TOO = (16, 17, 58, 61, 62)  # ids that lists hold wherever they lie

Memory = npt.NDArray[np.uint8]

#: Ids the body passes through (RULES 5); liquids are among them.
PASSABLE = np.zeros(256, np.bool_)
PASSABLE[
    [0, 6, 8, 9, 10, 11, 30, 31, 32, 37, 38, 39, 40, 50, 51, 59, 70, 72, 78, 83, 90, 93, 94, 104, 105, 106, 111, 115]
] = True
PASSABLE[[119, 131, 132, 141, 142, 143, 147, 148, 149, 150, 175]] = True

#: Ids the look ray goes through without a hit.
CLEAR = np.zeros(256, np.bool_)
CLEAR[[0, 8, 9, 10, 11, 51]] = True


def blank() -> Memory:
    """Returns a memory in which nothing is known."""
    return np.full((SIZE, HEIGHT, SIZE), UNKNOWN, np.uint8)


@kernel
def recall(memory: Memory, lo: npt.NDArray[np.int32], x: int, y: int, z: int) -> int:
    """Returns the remembered id of world cell (x, y, z); beyond the memory nothing is known, above it is air."""
    if y >= HEIGHT:
        return AIR
    ix, iz = x - lo[0], z - lo[1]
    if ix < 0 or iz < 0 or y < 0 or ix >= SIZE or iz >= SIZE:
        return UNKNOWN
    return int(memory[ix, y, iz])


@kernel
def store(memory: Memory, lo: npt.NDArray[np.int32], x: int, y: int, z: int, block: int) -> None:
    """Remembers that world cell (x, y, z) holds `block`."""
    ix, iz = x - lo[0], z - lo[1]
    if 0 <= ix < SIZE and 0 <= iz < SIZE and 0 <= y < HEIGHT:
        memory[ix, y, iz] = min(block, UNKNOWN - 1) if block != UNKNOWN else UNKNOWN


@kernel
def heading(yaw: float, pitch: float) -> tuple[float, float, float]:
    """Returns the unit vector one looks along; degrees. The game's sine table has _STEPS entries a turn."""
    a, b = int(math.radians(yaw) * _STEPS) / _STEPS, int(math.radians(pitch) * _STEPS) / _STEPS
    return -math.sin(a) * math.cos(b), -math.sin(b), math.cos(a) * math.cos(b)


@kernel
def start_walk(eye: float, direction: float) -> tuple[int, int, float, float]:
    """Returns (cell, step, length to the first border, length between borders) of a ray along one axis."""
    cell = math.floor(eye)
    if direction > 0.0:
        return cell, 1, (cell + 1 - eye) / direction, 1.0 / direction
    if direction < 0.0:
        return cell, -1, (cell - eye) / direction, -1.0 / direction
    return cell, 1, 1e30, 1e30


@kernel
def _trace(
    memory: Memory,
    lo: npt.NDArray[np.int32],
    eye: tuple[float, float, float],
    ray: tuple[float, float, float],
    block: int,
    near: float,
    far: float,
) -> None:
    """Learns from one pixel: `block` was struck between lengths `near` and `far`; what came before is air.

    Several cells may begin in that span. Those known to be air are passed over; if another one follows, the pixel does
    not tell which was struck and only the air before them is learnt.
    """
    x, step_x, next_x, between_x = start_walk(eye[0], ray[0])
    y, step_y, next_y, between_y = start_walk(eye[1], ray[1])
    z, step_z, next_z, between_z = start_walk(eye[2], ray[2])
    entered = 0.0
    while entered < far + _SLACK and y >= 0:
        left = min(next_x, next_y, next_z)
        if entered >= near - _SLACK:
            if left >= far + _SLACK:
                if left - entered > _GRAZE:
                    store(memory, lo, x, y, z, block)
                return
            if recall(memory, lo, x, y, z) != AIR:
                return
        elif left - entered > _GRAZE:
            store(memory, lo, x, y, z, AIR)
        entered = left
        if next_x <= left:
            x += step_x
            next_x += between_x
        elif next_y <= left:
            y += step_y
            next_y += between_y
        else:
            z += step_z
            next_z += between_z


@kernel
def see(
    memory: Memory,
    lo: npt.NDArray[np.int32],
    pose: npt.NDArray[np.float64],
    cam: npt.NDArray[np.uint16],
    depth: npt.NDArray[np.uint8],
) -> None:
    """Learns from a camera frame (SPEC 3).

    Args:
        memory: changed. lo: [2] world x and z of its first cells.
        pose: x, y, z of the feet, yaw and pitch in degrees. cam, depth: [36, 64].
    """
    eye = (pose[0], pose[1] + EYE, pose[2])
    look = heading(pose[3], pose[4])
    level = math.sqrt(look[0] * look[0] + look[2] * look[2] + 1e-12)
    right_x, right_z = -look[2] / level, look[0] / level
    up_x, up_y, up_z = -right_z * look[1], right_z * look[0] - right_x * look[2], right_x * look[1]
    for row in range(CAM_HEIGHT):
        v = (1.0 - (2.0 * row + 1.0) / CAM_HEIGHT) * _TAN_Y
        for column in range(CAM_WIDTH):
            h = ((2.0 * column + 1.0) / CAM_WIDTH - 1.0) * _TAN_X
            x, y, z = look[0] + h * right_x + v * up_x, look[1] + v * up_y, look[2] + h * right_z + v * up_z
            length = math.sqrt(x * x + y * y + z * z)
            block, quarters = int(cam[row, column]), int(depth[row, column])
            near = _SEEN if block == 0 or quarters == 255 else quarters / 4.0
            far = -1.0 if block == 0 else near + 0.25
            _trace(memory, lo, eye, (x / length, y / length, z / length), block, near, max(far, near))


@kernel
def note(
    memory: Memory,
    lo: npt.NDArray[np.int32],
    feet_y: int,
    blocks: npt.NDArray[np.int32],
    logs: npt.NDArray[np.int32],
    coal: npt.NDArray[np.int32],
) -> None:
    """Learns from the lists of a record: where blocks are, and that above a column's top there is air."""
    for i in range(len(blocks)):
        block, x, y, z = int(blocks[i, 0]), int(blocks[i, 1]), int(blocks[i, 2]), int(blocks[i, 3])
        if block == 0:
            break
        store(memory, lo, x, y, z, block)
        if block not in _BURIED_TOO:
            for above in range(y + 1, min(HEIGHT, feet_y + SCAN_ABOVE + 1)):
                store(memory, lo, x, above, z, AIR)
        if block in _WATER:
            for below in range(y - 1, y - 1 - _SUPPOSED_DEPTH, -1):
                if recall(memory, lo, x, below, z) == UNKNOWN:
                    store(memory, lo, x, below, z, block)
    for i in range(len(logs)):
        if logs[i, 1] == 0:
            break
        store(memory, lo, int(logs[i, 0]), int(logs[i, 1]), int(logs[i, 2]), 17)
    for i in range(len(coal)):
        if coal[i, 1] == 0:
            break
        store(memory, lo, int(coal[i, 0]), int(coal[i, 1]), int(coal[i, 2]), 16)


@kernel
def _strike(
    memory: Memory,
    lo: npt.NDArray[np.int32],
    eye: tuple[float, float, float],
    ray: tuple[float, float, float],
    target: tuple[int, int, int],
    trusting: bool,
) -> float:
    """Returns how far the ray runs inside the target cell if nothing solid is struck before it, else 0.

    Plants and snow on the way do not count: held attack breaks them at once. Unknown cells count as opaque, or as air
    when `trusting`.
    """
    x, step_x, next_x, between_x = start_walk(eye[0], ray[0])
    y, step_y, next_y, between_y = start_walk(eye[1], ray[1])
    z, step_z, next_z, between_z = start_walk(eye[2], ray[2])
    entered = 0.0
    first = True
    while entered < REACH:
        left = min(next_x, next_y, next_z)
        if x == target[0] and y == target[1] and z == target[2]:
            return left - entered
        block = recall(memory, lo, x, y, z)
        if not first and not PASSABLE[block] and not (trusting and block == UNKNOWN):
            return 0.0
        first = False
        entered = left
        if next_x <= left:
            x += step_x
            next_x += between_x
        elif next_y <= left:
            y += step_y
            next_y += between_y
        else:
            z += step_z
            next_z += between_z
    return 0.0


@kernel
def aim(
    memory: Memory,
    lo: npt.NDArray[np.int32],
    pose: npt.NDArray[np.float64],
    target: tuple[int, int, int],
    trusting: bool,
) -> tuple[int, int, bool]:
    """Returns (yaw steps, pitch steps, found): the nearest turn after which the look ray strikes the target cell.

    Args:
        memory, lo: what is known. pose: feet x, y, z, yaw, pitch. target: world cell.
        trusting: take unknown cells for air.
    """
    eye = (pose[0], pose[1] + EYE, pose[2])
    best_yaw, best_pitch, best = 0, 0, 1e9
    middle = (target[0] + 0.5 - eye[0], target[1] + 0.5 - eye[1], target[2] + 0.5 - eye[2])
    away = math.sqrt(middle[0] ** 2 + middle[1] ** 2 + middle[2] ** 2)
    for yaw_steps in range(-12, 12):
        for pitch_steps in range(-17, 18):
            pitch = pose[4] + PITCH_STEP * pitch_steps
            turns = max(abs(yaw_steps), abs(pitch_steps)) + 0.05 * (abs(yaw_steps) + abs(pitch_steps))
            if abs(pitch) > PITCH_LIMIT or turns >= best:
                continue
            ray = heading(pose[3] + YAW_STEP * yaw_steps, pitch)
            if ray[0] * middle[0] + ray[1] * middle[1] + ray[2] * middle[2] < away - 0.9:
                continue  # points too far off to touch the cell
            if _strike(memory, lo, eye, ray, target, trusting) >= _CHORD:
                best_yaw, best_pitch, best = yaw_steps, pitch_steps, turns
    return best_yaw, best_pitch, best < 1e9


@kernel
def _landing(
    memory: Memory,
    lo: npt.NDArray[np.int32],
    pose: npt.NDArray[np.float64],
    ray: tuple[float, float, float],
) -> bool:
    """Returns whether a block used along `ray` lands in a free cell beside the body, on something known to be solid."""
    eye = (pose[0], pose[1] + EYE, pose[2])
    x, step_x, next_x, between_x = start_walk(eye[0], ray[0])
    y, step_y, next_y, between_y = start_walk(eye[1], ray[1])
    z, step_z, next_z, between_z = start_walk(eye[2], ray[2])
    entered, chord, cells = 0.0, 0.0, 0
    free = (x, y, z)
    while entered < REACH - 0.4:
        left = min(next_x, next_y, next_z)
        block = recall(memory, lo, x, y, z)
        if cells > 0 and (block == UNKNOWN or not CLEAR[block]):
            aside = max(abs(free[0] + 0.5 - pose[0]), abs(free[2] + 0.5 - pose[2]))
            beside = aside > 0.95 or free[1] > pose[1] + 1.9 or free[1] + 1 < pose[1]
            firm = not PASSABLE[block] or (block == SNOW and free[1] > y)
            return cells > 1 and chord >= _CHORD and block != UNKNOWN and firm and beside
        free, chord = (x, y, z), left - entered
        cells += 1
        entered = left
        if next_x <= left:
            x += step_x
            next_x += between_x
        elif next_y <= left:
            y += step_y
            next_y += between_y
        else:
            z += step_z
            next_z += between_z
    return False


@kernel
def aim_to_place(memory: Memory, lo: npt.NDArray[np.int32], pose: npt.NDArray[np.float64]) -> tuple[int, int, bool]:
    """Returns (yaw steps, pitch steps, found): the nearest turn after which a block can be placed near the body."""
    best_yaw, best_pitch, best = 0, 0, 1e9
    for yaw_steps in range(-12, 12):
        for pitch_steps in range(-17, 18):
            pitch = pose[4] + PITCH_STEP * pitch_steps
            turns = max(abs(yaw_steps), abs(pitch_steps)) + 0.05 * (abs(yaw_steps) + abs(pitch_steps))
            if abs(pitch) > PITCH_LIMIT or turns >= best:
                continue
            if _landing(memory, lo, pose, heading(pose[3] + YAW_STEP * yaw_steps, pitch)):
                best_yaw, best_pitch, best = yaw_steps, pitch_steps, turns
    return best_yaw, best_pitch, best < 1e9
