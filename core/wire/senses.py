"""What a policy perceives, and how a record says it (SPEC 6). Worlds fill it, policies read it."""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from core.wire.bolr import CAM_HEIGHT, CAM_WIDTH

EYE_HEIGHT = 1.62
COAL_RANGE = 24.0  #: blocks; scal6 says no more about distance beyond it

STATUS_SELECTED, STATUS_HELD, STATUS_CONTAINER = 9, 10, 11  #: places in `status` after the nine inventory counts


class Senses(NamedTuple):
    """What a policy perceives after one decision. The world owns the arrays and its next step reuses them."""

    cam: npt.NDArray[np.uint16]  #: [36, 64] block id a pixel
    depth: npt.NDArray[np.uint8]  #: [36, 64] quarter blocks, 255 sky
    edge: npt.NDArray[np.uint8]  #: [36, 64] 0 or 1
    scal6: npt.NDArray[np.float32]  #: [6] nearest coal and pitch
    pose: npt.NDArray[np.float32]  #: [5] x, y, z (blocks), yaw, pitch (degrees)
    status: npt.NDArray[np.int32]  #: [17] inv_counts, selected slot, its id, container, zeros

    @classmethod
    def empty(cls) -> "Senses":
        """Returns senses with arrays of their own, all zero."""
        pixels = (CAM_HEIGHT, CAM_WIDTH)
        return cls(
            cam=np.zeros(pixels, np.uint16),
            depth=np.zeros(pixels, np.uint8),
            edge=np.zeros(pixels, np.uint8),
            scal6=np.zeros(6, np.float32),
            pose=np.zeros(5, np.float32),
            status=np.zeros(17, np.int32),
        )

    @classmethod
    def over(cls, record: npt.NDArray[np.void]) -> "Senses":
        """Returns senses whose pixel arrays are views of `record` [1], so that `senses_of_record` copies no pixel."""
        fresh = cls.empty()
        return fresh._replace(cam=record["cam"][0], depth=record["depth"][0], edge=record["edge"][0])


def senses_of_record(record: npt.NDArray[np.void], into: Senses) -> None:
    """Fills `into` from a record.

    Args:
        record: shape [1], dtype `core.wire.bolr.RECORD`.
        into: arrays of `Senses.empty()`, or of `Senses.over(record)`.
    """
    row = record[0]
    for name, pixels in (("cam", into.cam), ("depth", into.depth), ("edge", into.edge)):
        source = row[name]
        if not np.may_share_memory(source, pixels):
            pixels[:] = source
    with np.errstate(over="ignore"):  # nonsense of a broken lane process is its own affair, not stderr's
        into.pose[:3] = row["xyz"]
    into.pose[3] = row["yaw"]
    into.pose[4] = row["pitch"]
    selected = min(max(int(row["hotbar_sel"]), 0), 8)
    into.status[:9] = row["inv_counts"]
    into.status[STATUS_SELECTED] = selected
    into.status[STATUS_HELD] = row["hotbar_ids"][selected]
    into.status[STATUS_CONTAINER] = row["container"]
    into.scal6[:] = scal6_of(row["xyz"].tolist(), float(row["yaw"]), float(row["pitch"]), row["coal"])


def scal6_of(
    feet: tuple[float, float, float] | list[float], yaw: float, pitch: float, coal: npt.NDArray[np.int32]
) -> tuple[float, float, float, float, float, float]:
    """Returns where the nearest coal is, seen from the eye (SPEC 6), in double.

    Args:
        feet: x, y, z in blocks. yaw, pitch: degrees.
        coal: [32, 3] cells, ended by a row of zeros.

    Returns:
        sin and cos of the turn towards it, the change of pitch / 90, distance / 24 (at most 1), sin and cos of pitch.
    """
    tilt = math.radians(pitch) if math.isfinite(pitch) else math.nan
    nearest = _nearest(feet, coal)
    if nearest is None:
        return 0.0, 0.0, 0.0, 1.0, math.sin(tilt), math.cos(tilt)
    dx, dy, dz, distance = nearest
    turn = math.radians(wrap180(math.degrees(math.atan2(-dx, dz)) - yaw))
    climb = -math.degrees(math.asin(dy / max(distance, 1e-9))) - pitch
    near = min(distance, COAL_RANGE) / COAL_RANGE
    return math.sin(turn), math.cos(turn), climb / 90.0, near, math.sin(tilt), math.cos(tilt)


def wrap180(degrees: float) -> float:
    """Returns the angle in [-180, 180), or NaN for an infinite one as C does."""
    if math.isinf(degrees):
        return math.nan
    wrapped = math.fmod(degrees + 180.0, 360.0)
    return (wrapped + 360.0 if wrapped < 0.0 else wrapped) - 180.0


def _nearest(
    feet: tuple[float, float, float] | list[float], coal: npt.NDArray[np.int32]
) -> tuple[float, float, float, float] | None:
    """Returns dx, dy, dz and distance from the eye to the centre of the nearest cell; the first minimum wins."""
    eye_x, eye_y, eye_z = feet[0], feet[1] + EYE_HEIGHT, feet[2]
    best: tuple[float, float, float, float] | None = None
    for x, y, z in coal.tolist():
        if x == 0 and y == 0 and z == 0:
            break
        dx, dy, dz = x + 0.5 - eye_x, y + 0.5 - eye_y, z + 0.5 - eye_z
        distance = math.sqrt(dx * dx + dy * dy + dz * dz)
        if best is None or distance < best[3]:
            best = dx, dy, dz, distance
    return best
