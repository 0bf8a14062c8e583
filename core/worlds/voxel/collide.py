"""A body's box against the blocks around it: candidates, clips, step-up and the sneak clamp (RULES 4).

Boxes are float64 [6] arrays minX, minY, minZ, maxX, maxY, maxZ in the window-local frame: rounding depends on
magnitude, so the frame is part of the rules (RULES 4.6).
"""

import numpy as np

from core.kernels import kernel
from core.worlds.voxel.blocks import COLLISION, MAX_BOXES, NO_BOX, collision_boxes, copy_box
from core.worlds.voxel.grid import id_at
from core.worlds.voxel.numbers import F32, ifloor

HALF_WIDTH = 0.30000001192092896
HEIGHT = 1.7999999523162842
MAX_LIST = 64  #: boxes one query can return; the rest is cut off in scan order
STEP_REACH = 0.6  #: how much higher than the body a query looks
STEP_HEIGHT = float(F32(0.6))  #: how high a body steps up
X, Y, Z = 0, 1, 2


@kernel
def hit(a, b):
    """Whether two boxes overlap; touching faces do not."""
    return a[0] < b[3] and a[3] > b[0] and a[1] < b[4] and a[4] > b[1] and a[2] < b[5] and a[5] > b[2]


@kernel
def shift(box, axis, offset):
    """Moves a box along one axis."""
    box[axis] += offset
    box[axis + 3] += offset


@kernel
def extended(box, x, y, z):
    """A new box that also covers everything `box` sweeps on its way by (x, y, z)."""
    out = box.copy()
    out[0 if x < 0.0 else 3] += x
    out[1 if y < 0.0 else 4] += y
    out[2 if z < 0.0 else 5] += z
    return out


@kernel
def gather(sim, query, out):
    """Writes the block boxes that overlap `query` into `out` [MAX_LIST, 6] and returns how many there are."""
    ox, oz = sim.player[0].ox, sim.player[0].oz
    shape = np.empty((MAX_BOXES, 6))
    n = 0
    for x in range(ifloor(query[0]), ifloor(query[3]) + 1):
        for y in range(max(0, ifloor(query[1]) - 1), min(255, ifloor(query[4])) + 1):
            for z in range(ifloor(query[2]), ifloor(query[5]) + 1):
                if COLLISION[id_at(sim, x + ox, y, z + oz)] == NO_BOX:
                    continue
                for k in range(collision_boxes(sim, x + ox, y, z + oz, shape)):
                    if n == MAX_LIST:
                        return n
                    row = out[n]
                    row[0], row[1], row[2] = x + shape[k, 0], y + shape[k, 1], z + shape[k, 2]
                    row[3], row[4], row[5] = x + shape[k, 3], y + shape[k, 4], z + shape[k, 5]
                    if hit(row, query):
                        n += 1
    return n


@kernel
def _those_hit(boxes, count, region):
    """The first `count` rows of `boxes` that overlap `region`, as a new array."""
    out = np.empty((count, 6))
    n = 0
    for k in range(count):
        if hit(boxes[k], region):
            copy_box(boxes[k], out[n])
            n += 1
    return out[:n]


@kernel
def clip(axis, offset, box, boxes):
    """How far `box` can move along `axis` toward `offset` before it touches one of `boxes`."""
    a, b = (axis + 1) % 3, (axis + 2) % 3
    for k in range(len(boxes)):
        other = boxes[k]
        if other[a] < box[a + 3] and other[a + 3] > box[a] and other[b] < box[b + 3] and other[b + 3] > box[b]:
            if offset > 0.0 and box[axis + 3] <= other[axis]:
                offset = min(offset, other[axis] - box[axis + 3])
            elif offset < 0.0 and box[axis] >= other[axis + 3]:
                offset = max(offset, other[axis + 3] - box[axis])
    return offset


@kernel
def _slid(axis, offset, box, boxes):
    """Clips a move along one axis, carries it out on `box` and returns it."""
    offset = clip(axis, offset, box, boxes)
    shift(box, axis, offset)
    return offset


@kernel
def _stepped(box, probe, ux, uz, boxes):
    """Raises `box` as far as `probe` allows, at most one step, and slides it by (ux, uz): returns up, x, z."""
    up = clip(Y, STEP_HEIGHT, probe, boxes)
    shift(box, Y, up)
    x = _slid(X, ux, box, boxes)
    z = _slid(Z, uz, box, boxes)
    return up, x, z


@kernel
def _step_up(start, ux, uz, boxes, count):
    """Tries to climb a step from box `start`: returns the moved box and its x, y (the way back down) and z."""
    near = _those_hit(boxes, count, extended(start, ux, STEP_HEIGHT, uz))
    wide, narrow = start.copy(), start.copy()
    up, x, z = _stepped(wide, extended(start, ux, 0.0, uz), ux, uz, near)
    up_b, x_b, z_b = _stepped(narrow, start, ux, uz, near)
    box = wide
    if not x * x + z * z > x_b * x_b + z_b * z_b:
        box, up, x, z = narrow, up_b, x_b, z_b
    y = _slid(Y, -up, box, near)
    return box, x, y, z


@kernel
def move(sim, body, ux, uy, uz):
    """Moves a body by (ux, uy, uz) as far as blocks let it, steps included (RULES 4.2).

    Sets box, pos, the collision flags and on_ground, and zeroes the motion of every axis that was stopped.
    """
    start = body.box.copy()
    query = extended(start, ux, uy, uz)
    query[4] = max(query[4], start[4] + STEP_REACH)
    found = np.empty((MAX_LIST, 6))
    count = gather(sim, query, found)
    near = _those_hit(found, count, extended(start, ux, uy, uz))
    box, x, y, z = start.copy(), ux, uy, uz
    if y != 0.0:
        y = _slid(Y, y, box, near)
    if x != 0.0:
        x = _slid(X, x, box, near)
    if z != 0.0:
        z = _slid(Z, z, box, near)
    if (body.on_ground or (uy != y and uy < 0.0)) and (ux != x or uz != z):
        high, hx, hy, hz = _step_up(start, ux, uz, found, count)
        if not x * x + z * z >= hx * hx + hz * hz:
            box, x, y, z = high, hx, hy, hz
    _settle(body, box, ux != x, uy != y, uz != z, uy < 0.0)


@kernel
def _settle(body, box, stopped_x, stopped_y, stopped_z, downward):
    """Stores the outcome of a move in the body."""
    copy_box(box, body.box)
    place_at_box(body)
    body.collided_h = stopped_x or stopped_z
    body.collided_v = stopped_y
    body.is_collided = stopped_x or stopped_y or stopped_z
    body.on_ground = stopped_y and downward
    if stopped_x:
        body.motion[X] = 0.0
    if stopped_y:
        body.motion[Y] = 0.0
    if stopped_z:
        body.motion[Z] = 0.0


@kernel
def place_at_box(body):
    """Derives the position from the box: its middle in x and z, its bottom in y."""
    pos, box = body.pos, body.box
    pos[X] = (box[0] + box[3]) / 2.0
    pos[Y] = box[1]
    pos[Z] = (box[2] + box[5]) / 2.0


@kernel
def overlaps(boxes, count, box, dx, dy, dz):
    """Whether `box` moved by (dx, dy, dz) overlaps one of `boxes`."""
    moved = box.copy()
    shift(moved, X, dx)
    shift(moved, Y, dy)
    shift(moved, Z, dz)
    return len(_those_hit(boxes, count, moved)) > 0


@kernel
def _shortened(q):
    """One step of the sneak clamp: `q` brought 0.05 closer to zero."""
    if -0.05 <= q < 0.05:
        return 0.0
    return q - 0.05 if q > 0.0 else q + 0.05


@kernel
def sneak_clamp(sim, body, mx, mz):
    """Shortens a sneaking body's move (mx, mz) until there is ground to stand on (RULES 4.3)."""
    box = body.box
    found = np.empty((MAX_LIST, 6))
    count = gather(sim, extended(box, mx, -STEP_REACH, mz), found)
    while mx != 0.0 and not overlaps(found, count, box, mx, -STEP_REACH, 0.0):
        mx = _shortened(mx)
    while mz != 0.0 and not overlaps(found, count, box, 0.0, -STEP_REACH, mz):
        mz = _shortened(mz)
    while mx != 0.0 and mz != 0.0 and not overlaps(found, count, box, mx, -STEP_REACH, mz):
        mx, mz = _shortened(mx), _shortened(mz)
    return mx, mz


@kernel
def is_free(sim, box, dx, dy, dz):
    """Whether no block overlaps `box` moved by (dx, dy, dz)."""
    moved = box.copy()
    shift(moved, X, dx)
    shift(moved, Y, dy)
    shift(moved, Z, dz)
    found = np.empty((MAX_LIST, 6))
    return gather(sim, moved, found) == 0
