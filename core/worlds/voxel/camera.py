"""The semantic camera (SPEC 3, RULES 12): one block id, distance and border flag a pixel, bit-exact with the game.

Everything below the eye position is float32. A literal that meets a float32 value is a module constant made with
np.float32, because numba would otherwise promote the whole expression to float64.
"""

import math

import numpy as np
import numpy.typing as npt

from core.kernels import kernel
from core.wire.bolr import CAM_HEIGHT, CAM_WIDTH
from core.worlds.voxel.numbers import DEG, F32, ifloor, mcos, msin
from core.worlds.voxel.state import Sim

EYE_HEIGHT = 1.62  # blocks above the feet, also when sneaking
_ZERO, _ONE, _TWO, _HALF = F32(0), F32(1), F32(2), F32(0.5)
_ROWS, _COLUMNS = F32(CAM_HEIGHT), F32(CAM_WIDTH)
_TAN_Y = F32(0.7002075382097097)
_TAN_X = F32(_TAN_Y * F32(_COLUMNS / _ROWS))
_TINY = F32(1e-12)
_NEVER = F32(1e30)
_REACH = F32(48)
_BORDER, _FAR_BORDER = F32(0.05), F32(_ONE - F32(0.05))
_QUARTERS = F32(4)
_SKY_DEPTH = 255


@kernel
def _crossing(origin: np.float32, direction: np.float32, cell: int) -> tuple[np.float32, np.float32]:
    """Returns (ray length between two borders, ray length to the first border) along one axis."""
    if direction == _ZERO:
        return _NEVER, _NEVER
    between = F32(abs(_ONE / direction))
    if direction > _ZERO:
        return between, F32(F32(F32(cell + 1) - origin) * between)
    return between, F32(F32(origin - F32(cell)) * between)


@kernel
def _near_border(at: np.float32) -> bool:
    """Returns whether a float32 coordinate lies within 0.05 block of a cell border."""
    part = F32(at - F32(math.floor(at)))
    return bool(part < _BORDER or part > _FAR_BORDER)


@kernel
def _cast(
    cells: npt.NDArray[np.uint16],
    start: tuple[int, int, int],
    corner: tuple[int, int, int],
    eye: tuple[np.float32, np.float32, np.float32],
    ray: tuple[np.float32, np.float32, np.float32],
) -> tuple[int, np.float32, int]:
    """Walks one ray from the eye to the first non-air cell.

    Args:
        cells: id << 4 | meta, [nx, ny, nz].
        start: index of the eye's cell in `cells` (may be outside).
        corner: world cell of cells[0, 0, 0].
        eye: world position, float32.
        ray: unit direction, float32.

    Returns:
        block id (0 = sky), distance, 1 if the hit point is near the struck face's border.
    """
    nx, ny, nz = cells.shape
    ix, iy, iz = start
    step_x = 1 if ray[0] > _ZERO else -1
    step_y = 1 if ray[1] > _ZERO else -1
    step_z = 1 if ray[2] > _ZERO else -1
    between_x, next_x = _crossing(eye[0], ray[0], ix + corner[0])
    between_y, next_y = _crossing(eye[1], ray[1], iy + corner[1])
    between_z, next_z = _crossing(eye[2], ray[2], iz + corner[2])
    t = _ZERO
    axis = -1
    while t < _REACH:
        if 0 <= ix < nx and 0 <= iy < ny and 0 <= iz < nz:
            block = int(cells[ix, iy, iz]) >> 4
            if block != 0:
                border = False
                if axis >= 0:
                    border = (
                        (axis != 0 and _near_border(F32(eye[0] + F32(t * ray[0]))))
                        or (axis != 1 and _near_border(F32(eye[1] + F32(t * ray[1]))))
                        or (axis != 2 and _near_border(F32(eye[2] + F32(t * ray[2]))))
                    )
                return block, t, 1 if border else 0
        elif (step_y > 0 and iy >= ny) or (step_y < 0 and iy < 0):
            break  # left the known cells for good: only air ahead
        if next_x < next_y and next_x < next_z:
            axis, t = 0, next_x
            ix += step_x
            next_x = F32(next_x + between_x)
        elif next_y < next_z:
            axis, t = 1, next_y
            iy += step_y
            next_y = F32(next_y + between_y)
        else:
            axis, t = 2, next_z
            iz += step_z
            next_z = F32(next_z + between_z)
    return 0, _ZERO, 0


@kernel
def render(
    cells: npt.NDArray[np.uint16],
    lo: npt.NDArray[np.int32],
    x: float,
    y: float,
    z: float,
    yaw: float,
    pitch: float,
    cam: npt.NDArray[np.uint16],
    depth: npt.NDArray[np.uint8],
    edge: npt.NDArray[np.uint8],
) -> None:
    """Renders the view from feet position (x, y, z) into `cam`, `depth` and `edge`, each [36, 64].

    Args:
        cells: id << 4 | meta, [nx, ny, nz]; outside is air.
        lo: [3] world cell of cells[0, 0, 0].
        x: feet, world blocks, float64 (SPEC 3: exact feet give exact pixels, rounded feet may be off in a few).
        y: feet.
        z: feet.
        yaw: degrees, float32.
        pitch: degrees, float32.
        cam: plain block id, 0 = sky.
        depth: quarter blocks, 255 = sky or farther than 63.75 blocks.
        edge: 1 near the border of the struck face.
    """
    eye = (F32(x), F32(y + EYE_HEIGHT), F32(z))
    corner = (int(lo[0]), int(lo[1]), int(lo[2]))
    start = (
        ifloor(eye[0]) - corner[0],
        ifloor(eye[1]) - corner[1],
        ifloor(eye[2]) - corner[2],
    )
    yaw_r, pitch_r = F32(F32(yaw) * DEG), F32(F32(pitch) * DEG)
    level = mcos(pitch_r)
    look_x, look_y, look_z = F32(F32(-msin(yaw_r)) * level), F32(-msin(pitch_r)), F32(mcos(yaw_r) * level)
    norm = F32(math.sqrt(F32(F32(F32(look_x * look_x) + F32(look_z * look_z)) + _TINY)))
    right_x, right_z = F32(F32(-look_z) / norm), F32(look_x / norm)
    up_x, up_z = F32(F32(-right_z) * look_y), F32(right_x * look_y)
    up_y = F32(F32(right_z * look_x) - F32(right_x * look_z))
    for row in range(CAM_HEIGHT):
        screen_y = F32(F32(_ONE - F32(F32(_TWO * F32(F32(row) + _HALF)) / _ROWS)) * _TAN_Y)
        for column in range(CAM_WIDTH):
            screen_x = F32(F32(F32(F32(_TWO * F32(F32(column) + _HALF)) / _COLUMNS) - _ONE) * _TAN_X)
            ray_x = F32(F32(look_x + F32(screen_x * right_x)) + F32(screen_y * up_x))
            ray_y = F32(look_y + F32(screen_y * up_y))
            ray_z = F32(F32(look_z + F32(screen_x * right_z)) + F32(screen_y * up_z))
            length = F32(math.sqrt(F32(F32(F32(ray_x * ray_x) + F32(ray_y * ray_y)) + F32(ray_z * ray_z))))
            ray = (F32(ray_x / length), F32(ray_y / length), F32(ray_z / length))
            block, t, border = _cast(cells, start, corner, eye, ray)
            cam[row, column] = block
            quarters = int(F32(t * _QUARTERS))
            depth[row, column] = _SKY_DEPTH if block == 0 or quarters > _SKY_DEPTH else quarters
            edge[row, column] = border


@kernel
def look(sim: Sim, cam: npt.NDArray[np.uint16], depth: npt.NDArray[np.uint8], edge: npt.NDArray[np.uint8]) -> None:
    """Renders what the player of `sim` sees into `cam`, `depth` and `edge`, each [36, 64]."""
    body, player = sim.body[0], sim.player[0]
    pos = body.pos
    render(sim.cells, sim.lo, pos[0] + player.ox, pos[1], pos[2] + player.oz, body.yaw, body.pitch, cam, depth, edge)
