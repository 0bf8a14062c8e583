"""BSNP world snapshots, version 1 (SPEC 11): head, items, cells, coal list."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from core.errors import BadInput
from core.wire.files import Buffer, write_atomically

MAGIC = b"BSNP"
VERSION = 1
COAL_ORE = 16
WORLD_HEIGHT = 256
MAX_WIDTH = 4096  #: cells; magma writes at most 256

#: The first 752 bytes. `pos` and `box` are local to (ox, oz), in blocks; `region_lo` is a world cell.
HEAD = np.dtype(
    [
        ("magic", "S4"),
        ("version", "<u4"),
        ("seed", "<i8"),
        ("tick", "<i8"),
        ("ox", "<i4"),
        ("oz", "<i4"),
        ("pos", "<f8", (3,)),
        ("box", "<f8", (6,)),
        ("yaw", "<f4"),
        ("pitch", "<f4"),
        ("motion", "<f8", (3,)),
        ("on_ground", "<i4"),
        ("collided_h", "<i4"),
        ("collided_v", "<i4"),
        ("is_collided", "<i4"),
        ("fall_distance", "<f4"),
        ("sprinting", "<i4"),
        ("sprint_toggle_timer", "<i4"),
        ("jump_factor_sprint", "<i4"),
        ("jump_ticks", "<i4"),
        ("prev_move_forward", "<f4"),
        ("prev_sneak", "<i4"),
        ("health", "<f4"),
        ("food", "<i4"),
        ("saturation", "<f4"),
        ("exhaustion", "<f4"),
        ("food_timer", "<i4"),
        ("dig_progress", "<f4"),
        ("dig_target", "<i4", (3,)),
        ("dig_hitting", "<i4"),
        ("dig_delay", "<i4"),
        ("atk_prev", "<i4"),
        ("rc_delay", "<i4"),
        ("use_prev", "<i4"),
        ("hurt_vel_reset", "<i4"),
        ("server_motion", "<f8", (2,)),
        ("container", "<i4"),
        ("container_pos", "<i4", (3,)),
        ("world_dirty", "<i4"),
        ("hotbar_sel", "<i4"),
        ("inventory", "<i4", (37, 3)),
        ("n_items", "<u4"),
        ("region_lo", "<i4", (3,)),
        ("region_size", "<i4", (3,)),
    ]
)
assert HEAD.itemsize == 752

#: One item lying in the world, positions in world coordinates.
ITEM = np.dtype(
    [
        ("pos", "<f8", (3,)),
        ("motion", "<f8", (3,)),
        ("item", "<i4"),
        ("count", "<i4"),
        ("meta", "<i4"),
        ("age", "<i4"),
        ("pickup_delay", "<i4"),
        ("lifespan", "<i4"),
        ("on_ground", "<i4"),
    ]
)
assert ITEM.itemsize == 76

_FINITE = ("pos", "box", "yaw", "pitch", "motion", "fall_distance", "health", "saturation", "exhaustion")


@dataclass(frozen=True)
class Snapshot:
    """A world at one moment."""

    head: np.void  #: dtype HEAD; `n_items` and `region_size` follow the arrays when written
    items: npt.NDArray[np.void]  #: [n] ITEM
    cells: npt.NDArray[np.uint16]  #: [rnx, rny, rnz] id << 4 | meta; memory-mapped read-only when read from a file
    coal: npt.NDArray[np.int32]  #: [n, 3] every coal ore cell, world coordinates, ascending

    @property
    def seed(self) -> int:
        """The world seed it was taken from."""
        return int(self.head["seed"])


def read_snapshot(path: Path | str) -> Snapshot:
    """Returns the snapshot in `path`; its cells stay on disk until they are touched.

    Raises:
        BadInput: it cannot be read, or a field is not what SPEC 11 allows; the text names field, expected and found.
    """
    path = Path(path)
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            raw = file.read(HEAD.itemsize)
            head = _checked_head(path, raw)
            items_bytes = int(head["n_items"]) * ITEM.itemsize
            nx, ny, nz = (int(n) for n in head["region_size"])
            cells_at = HEAD.itemsize + items_bytes
            coal_at = cells_at + 2 * nx * ny * nz
            _expect_room(path, size, cells_at, f"{head['n_items']} items")
            _expect_room(path, size, coal_at, f"{nx}x{ny}x{nz} cells")
            _expect_room(path, size, coal_at + 4, "the coal count")
            items = np.frombuffer(file.read(items_bytes), ITEM).copy()
            file.seek(coal_at)
            n_coal = int.from_bytes(file.read(4), "little")
            end = coal_at + 4 + 12 * n_coal
            _expect_room(path, size, end, f"{n_coal} coal cells")
            if size > end:
                raise BadInput(f"{path}: {size - end} trailing bytes after the coal list, expected {end} bytes in all")
            coal = np.frombuffer(file.read(12 * n_coal), "<i4").reshape(-1, 3).copy()
            cells = np.memmap(file, np.dtype("<u2"), "r", cells_at, (nx, ny, nz))
    except OSError as error:
        raise BadInput(f"{path}: snapshot cannot be read: {error.strerror}") from error
    return Snapshot(head, items, cells, coal)


def snapshot_bytes(snapshot: Snapshot) -> list[Buffer]:
    """Returns the file's pieces in order. `n_items`, `region_size`, magic and version follow from the arrays."""
    head = np.array([snapshot.head], HEAD)
    head["magic"], head["version"] = MAGIC, VERSION
    head["n_items"] = len(snapshot.items)
    head["region_size"] = snapshot.cells.shape
    return [
        head.tobytes(),
        np.ascontiguousarray(snapshot.items, ITEM).tobytes(),
        np.ascontiguousarray(snapshot.cells, "<u2").data,
        len(snapshot.coal).to_bytes(4, "little"),
        np.ascontiguousarray(snapshot.coal, "<i4").tobytes(),
    ]


def write_snapshot(path: Path | str, snapshot: Snapshot) -> None:
    """Writes the snapshot whole or not at all.

    Raises:
        BadInput: the file cannot be written.
    """
    write_atomically(Path(path), snapshot_bytes(snapshot))


def coal_cells(snapshot: Snapshot) -> npt.NDArray[np.int32]:
    """Returns [n, 3] the world coordinates of every coal ore among the cells, ascending x, y, z."""
    found = np.argwhere(np.asarray(snapshot.cells) >> 4 == COAL_ORE)
    lo: npt.NDArray[np.int32] = snapshot.head["region_lo"]
    return found.astype(np.int32) + lo


def check_coal(path: Path | str, snapshot: Snapshot) -> None:
    """Compares the stored coal list with the cells.

    Raises:
        BadInput: they differ; the text tells the first difference.
    """
    cells = coal_cells(snapshot)
    if len(cells) != len(snapshot.coal):
        raise BadInput(
            f"{path}: coal list has {len(snapshot.coal)} cells, expected {len(cells)} (coal ore in the region)"
        )
    differ = np.flatnonzero((cells != snapshot.coal).any(axis=1))
    if len(differ):
        at = int(differ[0])
        raise BadInput(f"{path}: coal list entry {at} is {_cell(snapshot.coal[at])}, expected {_cell(cells[at])}")


def _cell(cell: npt.NDArray[np.int32]) -> str:
    return f"({cell[0]}, {cell[1]}, {cell[2]})"


def _expect_room(path: Path, size: int, end: int, what: str) -> None:
    if size < end:
        raise BadInput(f"{path}: truncated: {size} bytes, expected at least {end} to hold {what}")


def _checked_head(path: Path, raw: bytes) -> np.void:
    if not raw.startswith(MAGIC):
        raise BadInput(f"{path}: not a snapshot: magic is {raw[:4]!r}, expected {MAGIC!r}")
    version = int.from_bytes(raw[4:8], "little")
    if len(raw) >= 8 and version != VERSION:
        raise BadInput(f"{path}: snapshot version {version}, expected {VERSION}")
    if len(raw) < HEAD.itemsize:
        raise BadInput(f"{path}: truncated: {len(raw)} bytes, expected at least {HEAD.itemsize} to hold the head")
    head: np.void = np.frombuffer(bytearray(raw), HEAD)[0]
    for axis, most in zip("xyz", (MAX_WIDTH, WORLD_HEIGHT, MAX_WIDTH), strict=True):
        n = int(head["region_size"]["xyz".index(axis)])
        if not 1 <= n <= most:
            raise BadInput(f"{path}: region size rn{axis} is {n}, expected 1..{most}")
    for name in _FINITE:
        if not np.isfinite(head[name]).all():
            found = ", ".join(f"{value:g}" for value in np.ravel(head[name]))
            raise BadInput(f"{path}: {name} is {found}, expected finite numbers")
    if not 0 <= head["hotbar_sel"] <= 8:
        raise BadInput(f"{path}: hotbar_sel is {head['hotbar_sel']}, expected 0..8")
    if not 0 <= head["container"] <= 2:
        raise BadInput(f"{path}: container is {head['container']}, expected 0, 1 or 2")
    return head
