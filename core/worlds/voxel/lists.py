"""Lists and inventory totals of a record, and the whole record (SPEC 2, RULES 12).

Lists come from a scan cache: the top non-air cell of each of 33 x 33 columns around the feet, and every log, coal ore,
table and furnace in them. Membership and ids are those of the last rebuild; distances are those of the last tick.
"""

import numpy as np
import numpy.typing as npt

from core.kernels import kernel
from core.worlds.voxel.camera import look
from core.worlds.voxel.numbers import F32, ifloor
from core.worlds.voxel.state import SCAN_SLOTS, Sim

SCAN_RADIUS, SCAN_BELOW, SCAN_ABOVE = 16, 24, 40  # blocks around the feet's cell
LOG, COAL_ORE, TABLE, FURNACE, LIT_FURNACE = 17, 16, 58, 61, 62
#: Item ids of `inv_counts`: log, planks, stick, cobble, table, wooden pick, stone pick, coal, torch.
COUNTED_ITEMS = np.array([17, 5, 280, 4, 58, 270, 274, 263, 50], np.int32)
MAIN_SLOTS = 36

_ANY = 0
# One bucket a whole squared distance up to the farthest entry, 2 * 17^2 + 41^2; the last takes whatever is beyond.
_BUCKETS = 2300


@kernel
def _is_kept(block: int) -> bool:
    """Returns whether a buried block is listed too."""
    return block in (COAL_ORE, LOG, TABLE, FURNACE, LIT_FURNACE)


@kernel
def _feet(sim: Sim) -> tuple[float, float, float]:
    """Returns the world feet as a record shows them: rounded to float32, as float64."""
    pos, player = sim.body[0].pos, sim.player[0]
    return np.float64(F32(pos[0] + player.ox)), np.float64(F32(pos[1])), np.float64(F32(pos[2] + player.oz))


@kernel
def _overlap(middle: int, below: int, above: int, low: int, size: int) -> tuple[int, int]:
    """Returns the index range [first, end) of world cells middle - below .. middle + above along one axis."""
    return max(0, middle - below - low), min(size, middle + above + 1 - low)


@kernel
def _rebuild(sim: Sim, px: int, py: int, pz: int) -> int:
    """Fills the cache around feet cell (px, py, pz) and returns the number of entries."""
    cells, lo = sim.cells, sim.lo
    nx, ny, nz = cells.shape
    x0, x1 = _overlap(px, SCAN_RADIUS, SCAN_RADIUS, lo[0], nx)
    y0, y1 = _overlap(py, SCAN_BELOW, SCAN_ABOVE, lo[1], min(ny, 256 - lo[1]))
    z0, z1 = _overlap(pz, SCAN_RADIUS, SCAN_RADIUS, lo[2], nz)
    count = 0
    for ix in range(x0, x1):
        for iz in range(z0, z1):
            covered = False
            for iy in range(y1 - 1, y0 - 1, -1):
                block = int(cells[ix, iy, iz]) >> 4
                if block == 0 or (covered and not _is_kept(block)):
                    continue
                covered = True
                if count == SCAN_SLOTS:
                    return count
                entry = sim.scan[count]
                entry.id, entry.x, entry.y, entry.z = block, ix + lo[0], iy + lo[1], iz + lo[2]
                count += 1
    return count


@kernel
def _update(sim: Sim, feet: tuple[float, float, float], read: bool) -> None:
    """Rebuilds the cache when due; leaves out a rebuild that nobody reads before the next one."""
    px, py, pz = ifloor(feet[0]), ifloor(feet[1]), ifloor(feet[2])
    player = sim.player[0]
    pc = player.scan_pc
    moved = pc[0] != px or pc[1] != py or pc[2] != pz
    if player.scan_valid != 0 and player.world_dirty <= 0 and not moved:
        return
    if read or player.world_dirty <= 1:
        player.scan_count = _rebuild(sim, px, py, pz)
        player.scan_valid = 1
    pc[0], pc[1], pc[2] = px, py, pz
    if player.world_dirty > 0:
        player.world_dirty -= 1


@kernel
def skip(sim: Sim) -> None:
    """Does the cache's part of an emit whose record nobody reads; every tick emits or skips."""
    _update(sim, _feet(sim), False)


@kernel
def refresh(sim: Sim) -> None:
    """Does the cache's part of an emit: rebuilds it when due and brings every distance up to date."""
    feet = _feet(sim)
    _update(sim, feet, True)
    for i in range(sim.player[0].scan_count):
        entry = sim.scan[i]
        dx, dy, dz = (entry.x + 0.5) - feet[0], (entry.y + 0.5) - feet[1], (entry.z + 0.5) - feet[2]
        entry.d2 = (dx * dx + dy * dy) + dz * dz


@kernel
def comes_before(scan: npt.NDArray[np.void], a: int, b: int) -> bool:
    """Returns whether entry a comes before entry b: by distance, then x, y, z."""
    p, q = scan[a], scan[b]
    return bool((p.d2, p.x, p.y, p.z) < (q.d2, q.x, q.y, q.z))


@kernel
def _bucket(d2: float) -> int:
    """Returns the bucket of a squared distance."""
    return int(min(d2, _BUCKETS - 1.0))


@kernel
def nearest(scan: npt.NDArray[np.void], count: int, only: int, into: npt.NDArray[np.int32]) -> int:
    """Writes the indices of the nearest entries, in order, and returns how many there are.

    Distances are counted in whole-number buckets first, so that only about `len(into)` entries are ever ordered: the
    buckets put them in place up to neighbours, an insertion sort does the rest.

    Args:
        scan: entries with fresh distances.
        count: entries in use.
        only: block id wanted, 0 = any.
        into: [wanted] indices into `scan`.
    """
    starts = np.zeros(_BUCKETS + 1, np.int32)
    for i in range(count):
        if only == _ANY or scan[i].id == only:
            starts[_bucket(scan[i].d2) + 1] += 1
    last = 0  # one past the farthest bucket that can matter
    while last < _BUCKETS and starts[last] < len(into):
        last += 1
        starts[last] += starts[last - 1]
    order = np.empty(starts[last], np.int32)
    for i in range(count):
        if only == _ANY or scan[i].id == only:
            bucket = _bucket(scan[i].d2)
            if bucket < last:
                order[starts[bucket]] = i
                starts[bucket] += 1
    for i in range(1, len(order)):
        index, hole = order[i], i
        while hole > 0 and comes_before(scan, index, order[hole - 1]):
            order[hole] = order[hole - 1]
            hole -= 1
        order[hole] = index
    found = min(len(order), len(into))
    into[:found] = order[:found]
    return found


@kernel
def _fill_cells(scan: npt.NDArray[np.void], count: int, only: int, rows: npt.NDArray[np.int32]) -> None:
    """Writes the nearest cells of one id into `rows` [n, 3], zero padded."""
    order = np.empty(len(rows), np.int32)
    found = nearest(scan, count, only, order)
    rows[found:] = 0
    for k in range(found):
        entry = scan[order[k]]
        rows[k, 0], rows[k, 1], rows[k, 2] = entry.x, entry.y, entry.z


@kernel
def _fill(
    sim: Sim,
    inv_counts: npt.NDArray[np.int32],
    blocks: npt.NDArray[np.int32],
    logs: npt.NDArray[np.int32],
    coal: npt.NDArray[np.int32],
) -> None:
    """Writes the lists of the refreshed cache and the inventory totals."""
    scan, count = sim.scan, sim.player[0].scan_count
    order = np.empty(len(blocks), np.int32)
    found = nearest(scan, count, _ANY, order)
    blocks[found:] = 0
    for k in range(found):
        entry = scan[order[k]]
        blocks[k, 0], blocks[k, 1], blocks[k, 2], blocks[k, 3] = entry.id, entry.x, entry.y, entry.z
    _fill_cells(scan, count, LOG, logs)
    _fill_cells(scan, count, COAL_ORE, coal)
    for k in range(len(COUNTED_ITEMS)):
        total = 0
        for slot in range(MAIN_SLOTS):
            if sim.inventory[slot, 0] == COUNTED_ITEMS[k]:
                total += sim.inventory[slot, 1]
        inv_counts[k] = total


def emit(sim: Sim, record: npt.NDArray[np.void], cam: bool) -> None:
    """Writes the record of the tick just done (RULES 1, step 7).

    Args:
        sim: the world; its scan cache is refreshed.
        record: [1] of `core.wire.bolr.RECORD`, wholly overwritten, the camera only if `cam`.
        cam: render the camera; otherwise its last bytes stay.
    """
    refresh(sim)
    row = record[0]
    _fill(sim, row["inv_counts"], row["blocks"], row["logs"], row["coal"])
    if cam:
        look(sim, row["cam"], row["depth"], row["edge"])
    body, player = sim.body[0], sim.player[0]
    ox, oz = player["ox"], player["oz"]
    x, y, z = body["pos"]
    row["magic"] = 0x524C4F42
    row["tick"] = player["tick"]
    row["xyz"] = F32(x + ox), F32(y), F32(z + oz)
    row["yaw"], row["pitch"], row["dead"] = body["yaw"], body["pitch"], player["dead"]
    row["hotbar_ids"], row["hotbar_counts"] = sim.inventory[:9, 0], sim.inventory[:9, 1]
    row["hotbar_sel"], row["container"] = player["hotbar_sel"], player["container"]
