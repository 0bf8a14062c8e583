"""What a body looks at: the look direction (RULES 0) and the sampled block ray (RULES 7.1)."""

import numpy as np
import numpy.typing as npt

from core.kernels import kernel
from core.worlds.voxel.blocks import FACE_X, FACE_Y, FACE_Z, selection_box
from core.worlds.voxel.numbers import DEG, F32, I64, ifloor, mcos, msin
from core.worlds.voxel.state import Sim

REACH = 5.0
EYE_HEIGHT = 1.62
SNEAK_EYE_HEIGHT = float(F32(F32(1.62) - F32(0.08)))
_PI = F32(3.1415927)
_STEP = 0.05
_PARALLEL = 1e-12

#: Result codes of `cast` in `hit[0]`: nothing hit; the first cell after the eye's own was hit; a later one was.
MISS, NEAR, FAR = -1, 0, 1


@kernel
def look_height(pitch: float) -> float:
    """Returns the y component of the look direction of a float32 pitch in degrees."""
    return np.float64(msin(F32(F32(-pitch) * DEG)))


@kernel
def look_vector(yaw: float, pitch: float, out: npt.NDArray[np.float64]) -> None:
    """Writes the unit look direction of float32 angles in degrees to `out` [3] (RULES 0; the camera has its own)."""
    a = F32(F32(F32(-yaw) * DEG) - _PI)
    p = F32(F32(-pitch) * DEG)
    q = F32(-mcos(p))
    out[0] = np.float64(F32(msin(a) * q))
    out[1] = look_height(pitch)
    out[2] = np.float64(F32(mcos(a) * q))


@kernel
def eye_height(sneaking: int) -> float:
    """Returns the eye's height above the feet in blocks."""
    return SNEAK_EYE_HEIGHT if sneaking else EYE_HEIGHT


@kernel
def _enter(eye, direction, lo, hi, face):
    """Slab test of one box. Writes the struck face to face[0] and returns the distance, or -1 for a miss."""
    nearest, farthest = -np.inf, np.inf
    entry, leave = 0, 0
    for axis in range(3):
        d = direction[axis]
        if abs(d) < _PARALLEL:
            if eye[axis] < lo[axis] or eye[axis] > hi[axis]:
                return -1.0
            continue
        t0, t1 = (lo[axis] - eye[axis]) / d, (hi[axis] - eye[axis]) / d
        positive = 1 if d > 0.0 else 0
        if t0 > t1:
            t0, t1 = t1, t0
        base = (axis + 2) % 3 * 2  # faces 4/5 for x, 0/1 for y, 2/3 for z
        if t0 > nearest:
            nearest, entry = t0, base + 1 - positive
        if t1 < farthest:
            farthest, leave = t1, base + positive
        if nearest > farthest:
            return -1.0
    face[0] = entry
    if nearest < 0.0:
        face[0] = leave
        return farthest
    return nearest


@kernel
def cast(
    sim: Sim, eye: npt.NDArray[np.float64], direction: npt.NDArray[np.float64], hit: npt.NDArray[np.int64]
) -> float:
    """Casts the dig, place and use ray: samples every 0.05 block, each new cell's selection box tested (RULES 7.1).

    Cells crossed between two samples are missed, as in the game. RULES leave open in which frame the slab test rounds;
    here it is the window's, like every other sum with the player's position.

    Args:
        sim: the world.
        eye: float64 [3], window-local.
        direction: float64 [3], from `look_vector`.
        hit: int64 [5], out: MISS, NEAR or FAR; then the WORLD cell x, y, z and the struck face (0..5). The cell in
            front of the struck face is the place target.

    Returns:
        The distance to the hit point in blocks, or -1.
    """
    ox, oz = I64(sim.player[0].ox), I64(sim.player[0].oz)
    box, lo, hi, face = np.empty(6), np.empty(3), np.empty(3), np.zeros(1, np.int64)
    lx, ly, lz = ifloor(eye[0]), ifloor(eye[1]), ifloor(eye[2])
    hit[0] = MISS
    code = NEAR
    t = _STEP
    while t <= REACH:
        x = ifloor(eye[0] + direction[0] * t)
        y = ifloor(eye[1] + direction[1] * t)
        z = ifloor(eye[2] + direction[2] * t)
        t = t + _STEP
        if x == lx and y == ly and z == lz:
            continue
        if selection_box(sim, x + ox, y, z + oz, box):
            lo[0], lo[1], lo[2] = x + box[0], y + box[1], z + box[2]
            hi[0], hi[1], hi[2] = x + box[3], y + box[4], z + box[5]
            distance = _enter(eye, direction, lo, hi, face)
            if 0.0 <= distance <= REACH:
                hit[0], hit[1], hit[2], hit[3], hit[4] = code, x + ox, y, z + oz, face[0]
                return distance
        lx, ly, lz = x, y, z
        code = FAR
    return -1.0


@kernel
def cast_from_player(sim: Sim, yaw: float, pitch: float, hit: npt.NDArray[np.int64]) -> float:
    """Casts the ray from the player's eye along float32 angles; eye height by `prev_sneak`. See `cast`."""
    body = sim.body[0]
    eye, direction = np.empty(3), np.empty(3)
    eye[0], eye[1], eye[2] = body.pos[0], body.pos[1] + eye_height(sim.player[0].prev_sneak), body.pos[2]
    look_vector(yaw, pitch, direction)
    return cast(sim, eye, direction, hit)


@kernel
def cell_before(hit: npt.NDArray[np.int64]) -> tuple[int, int, int]:
    """Returns the world cell in front of the struck face of a `cast` result."""
    return hit[1] + FACE_X[hit[4]], hit[2] + FACE_Y[hit[4]], hit[3] + FACE_Z[hit[4]]
