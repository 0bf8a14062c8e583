"""Observation packing: what the network sees of a decision (SPEC 6)."""

import numpy as np
import numpy.typing as npt

from core.kernels import kernel
from core.wire.bolr import CAM_HEIGHT, CAM_WIDTH
from core.wire.senses import STATUS_CONTAINER, STATUS_HELD, Senses, senses_of_record

__all__ = ["FRAME_PLANES", "PLANES", "SCALARS", "Packer", "Senses", "senses_of_record"]

Bytes = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float32]

FRAME_PLANES = 9
PLANES = 2 * FRAME_PLANES
SCALARS = 27

HELD_ITEMS = np.array([17, 5, 280, 4, 58, 270, 274, 263, 50], np.int32)
COUNT_CAP = 10

_CAP = np.float32(COUNT_CAP)
_Y_SCALE = np.float32(64.0)


class Packer:
    """Packs one lane's observations; it holds the prior decision's frame and reuses its arrays.

    `pack` must be called once a decision, in order: the frame of each call is the prior frame of the next.
    """

    def __init__(self) -> None:
        self.planes: Bytes = np.zeros((PLANES, CAM_HEIGHT, CAM_WIDTH), np.uint8)
        self.scalars: Floats = np.zeros(SCALARS, np.float32)
        self._has_prior = False

    def pack(self, senses: Senses, decision: int, limit: int) -> tuple[Bytes, Floats]:
        """Returns the network's input for this decision; both arrays are overwritten by the next call.

        Args:
            senses: what the lane perceives now. decision: its index, from 0. limit: decisions in the episode.

        Returns:
            planes u8 [18, 36, 64] (prior frame then this one; this one twice at first) and scalars f32 [27].
        """
        _pack(*senses, decision, limit, self._has_prior, self.planes, self.scalars)
        self._has_prior = True
        return self.planes, self.scalars


@kernel
def _pack(
    cam: npt.NDArray[np.uint16],
    depth: Bytes,
    edge: Bytes,
    scal6: Floats,
    pose: Floats,
    status: npt.NDArray[np.int32],
    decision: int,
    limit: int,
    has_prior: bool,
    planes: Bytes,
    scalars: Floats,
) -> None:
    if has_prior:
        planes[:FRAME_PLANES] = planes[FRAME_PLANES:]
    _frame(cam, depth, edge, planes[FRAME_PLANES:])
    if not has_prior:
        planes[:FRAME_PLANES] = planes[FRAME_PLANES:]
    _scalars(scal6, pose, status, decision, limit, scalars)


@kernel
def _frame(cam: npt.NDArray[np.uint16], depth: Bytes, edge: Bytes, frame: Bytes) -> None:
    """Writes the nine planes [9, 36, 64] of one picture."""
    for y in range(CAM_HEIGHT):
        for x in range(CAM_WIDTH):
            block = cam[y, x]
            frame[0, y, x] = block == 17
            frame[1, y, x] = block == 18
            frame[2, y, x] = block == 16
            frame[3, y, x] = (block == 1) | (block == 4)
            frame[4, y, x] = (block == 2) | (block == 3)
            frame[5, y, x] = block == 58
            frame[6, y, x] = block != 0
            frame[7, y, x] = depth[y, x]
            frame[8, y, x] = edge[y, x]


@kernel
def _scalars(
    scal6: Floats, pose: Floats, status: npt.NDArray[np.int32], decision: int, limit: int, scalars: Floats
) -> None:
    for i in range(6):
        scalars[i] = scal6[i]
    for k in range(9):
        scalars[6 + k] = np.float32(min(status[k], COUNT_CAP)) / _CAP
        scalars[16 + k] = status[STATUS_HELD] == HELD_ITEMS[k]
    scalars[15] = status[STATUS_CONTAINER] > 0
    scalars[25] = pose[1] / _Y_SCALE
    scalars[26] = np.float32(decision) / np.float32(limit)
