"""All state of one embedded world, as plain arrays: copying them is a snapshot, comparing them is equality.

`Sim` bundles them for numba kernels, which take it as one pointer: a tuple of arrays would go through every call as a
hundred numbers and make compiling several times slower. Scalars live in one-element structured arrays and are reached
as `p = sim.player[0]; p.air -= 1` (a record is a reference). Field names follow SPEC 11 and RULES.
Positions of bodies and items: a body is in the window-local frame (world = local + (ox, 0, oz)), items and cells are in
world coordinates.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from core.kernels import kernel, structref, types

#: One physical body (RULES 3.3): index 0 of `Sim.body` is the player, index 1 the server shadow (RULES 1.2).
BODY = np.dtype(
    [
        ("pos", "f8", (3,)),
        ("box", "f8", (6,)),  # minX, minY, minZ, maxX, maxY, maxZ
        ("motion", "f8", (3,)),
        ("yaw", "f4"),
        ("pitch", "f4"),
        ("on_ground", "i4"),
        ("collided_h", "i4"),
        ("collided_v", "i4"),
        ("is_collided", "i4"),
        ("fall_distance", "f4"),
        ("skip_fall", "i4"),  # this tick does not add to fall_distance
        ("jump_ticks", "i4"),
        ("jump_factor_sprint", "i4"),
        ("in_web", "i4"),
        ("touched_cactus", "i4"),
    ]
)

#: The rest of the player: input history, vitals, digging, using, bookkeeping.
PLAYER = np.dtype(
    [
        ("seed", "i8"),
        ("tick", "i8"),  # completed ticks
        ("ox", "i4"),
        ("oz", "i4"),
        ("dead", "i4"),
        ("sprinting", "i4"),
        ("sprint_toggle_timer", "i4"),
        ("prev_move_forward", "f4"),
        ("prev_sneak", "i4"),
        ("health", "f4"),
        ("food", "i4"),
        ("saturation", "f4"),
        ("exhaustion", "f4"),
        ("food_timer", "i4"),
        ("air", "i4"),
        ("fire", "i4"),
        ("hurt_res", "i4"),
        ("last_damage", "f4"),
        ("dig_progress", "f4"),
        ("dig_target", "i4", (3,)),  # local; (INT32_MIN, 0, 0) = none
        ("dig_hitting", "i4"),
        ("dig_delay", "i4"),
        ("atk_prev", "i4"),
        ("rc_delay", "i4"),
        ("use_prev", "i4"),
        ("hurt_vel_reset", "i4"),
        ("server_motion", "f8", (2,)),  # x, z (RULES 6, hurt velocity)
        ("container", "i4"),  # 0 none, 1 crafting table, 2 furnace
        ("container_pos", "i4", (3,)),  # world
        ("world_dirty", "i4"),
        ("hotbar_sel", "i4"),
        # server link (RULES 1.2)
        ("server_sprint", "i4"),
        ("sent_sprint", "i4"),  # last sprint flag sent
        ("pending_sprint", "i4"),  # -1 none, else the flag on its way
        ("pending", "i4"),  # a movement packet is on its way
        ("pending_moving", "i4"),
        ("pending_rotating", "i4"),
        ("pending_pos", "f8", (3,)),
        ("pending_yaw", "f4"),
        ("pending_pitch", "f4"),
        ("pending_on_ground", "i4"),
        ("reported_pos", "f8", (3,)),
        ("reported_yaw", "f4"),
        ("reported_pitch", "f4"),
        ("reported_on_ground", "i4"),
        ("ticks_since_report", "i4"),
        # generators and clocks
        ("rng_w", "u8"),  # block-drop cursor W (RULES 8)
        ("rng_m", "u8"),  # cursor M
        ("item_tick", "i8"),  # item passes done
        ("falls_waiting", "i4"),  # entries in `falls`
        # scan cache (RULES 12)
        ("scan_valid", "i4"),
        ("scan_pc", "i4", (3,)),  # feet cell at the last rebuild
        ("scan_count", "i4"),
        ("view_distance", "i4"),  # radius of random ticks in chunks (RULES 11.1), default 8
    ]
)

#: Kinds of `ITEM` slots.
FREE, LIVE_ITEM, FALLING = 0, 1, 2

#: A live item or falling block; 48 shared slots (RULES 8, 11.2).
ITEM = np.dtype(
    [
        ("kind", "i4"),  # FREE, LIVE_ITEM or FALLING
        ("pos", "f8", (3,)),
        ("motion", "f8", (3,)),
        ("before", "f8", (3,)),  # position at pass start
        ("item", "i4"),  # item id, or block id of a falling block
        ("count", "i4"),
        ("meta", "i4"),
        ("age", "i4"),
        ("pickup_delay", "i4"),
        ("lifespan", "i4"),
        ("on_ground", "i4"),
        ("cell", "i4", (3,)),  # falling block: the cell it left
        ("was_active", "i4"),  # its kind at pass start
    ]
)

#: A scheduled fall (11.2) or a landing; `due` in item ticks. id 0 = free.
SCHEDULED = np.dtype([("cell", "i4", (3,)), ("id", "i4"), ("meta", "i4"), ("due", "i8")])

#: A block edit of this tick, applied in order at RULES 1.1n: cell (world), old and new u16 (id << 4 | meta),
#: dropped item (0 none; one of it) and its meta.
EDIT = np.dtype([("cell", "i4", (3,)), ("old", "u2"), ("new", "u2"), ("drop", "i4"), ("drop_meta", "i4")])

FURNACE = np.dtype(
    [
        ("used", "i4"),
        ("cell", "i4", (3,)),
        ("slots", "i4", (3, 3)),  # input, fuel, output x (item, count, meta)
        ("burn", "i4"),
        ("cook", "i4"),
    ]
)

#: An active fluid region (11.3), box in world cells, inclusive.
FLUID = np.dtype([("used", "i4"), ("lo", "i4", (3,)), ("hi", "i4", (3,)), ("quiet", "i4"), ("has_water", "i4")])

#: A scan cache entry (RULES 12): the id is the one at rebuild; d2 is the one of the last emit.
SCAN = np.dtype([("id", "i4"), ("x", "i4"), ("y", "i4"), ("z", "i4"), ("d2", "f8")])

ITEM_SLOTS, OVERFLOW_SLOTS, QUEUE_SLOTS, EDIT_SLOTS, FURNACE_SLOTS, FLUID_SLOTS, SCAN_SLOTS = (
    48,
    32,
    512,
    64,
    16,
    4,
    8712,
)
NO_TARGET = np.iinfo(np.int32).min


@structref.register
class SimType(types.StructRef):  # type: ignore[misc]
    """How the compiler sees a `Sim`: one pointer to its arrays."""

    def preprocess_fields(self, fields: Any) -> Any:
        """Drops what the compiler knows of single values: only array types tell worlds apart."""
        return tuple((name, types.unliteral(kind)) for name, kind in fields)

    @property
    def mangling_args(self) -> tuple[str, tuple[int, ...]]:
        """The type as it enters symbol names: in full, with all fields of all records, it makes each 10 kB long."""
        return "Sim", (self._code,)


class Sim(structref.StructRefProxy):  # type: ignore[misc]
    """One world. See the dtypes above; cells are u16 id << 4 | meta, indexed [x - lo.x, y - lo.y, z - lo.z]."""

    body: npt.NDArray[np.void]  #: [2] BODY
    player: npt.NDArray[np.void]  #: [1] PLAYER
    inventory: npt.NDArray[np.int32]  #: [37, 3] item, count, meta; 36 main + offhand
    items: npt.NDArray[np.void]  #: [48] ITEM
    overflow: npt.NDArray[np.void]  #: [32] ITEM, FIFO of spawns that found no slot (kind 0 = free)
    falls: npt.NDArray[np.void]  #: [512] SCHEDULED, sand and gravel to check
    landings: npt.NDArray[np.void]  #: [64] SCHEDULED, written at the next tick's step 1.1c
    edits: npt.NDArray[np.void]  #: [64] EDIT
    edit_count: npt.NDArray[np.int32]  #: [1]
    furnaces: npt.NDArray[np.void]  #: [16] FURNACE
    fluids: npt.NDArray[np.void]  #: [4] FLUID
    scan: npt.NDArray[np.void]  #: [8712] SCAN
    lo: npt.NDArray[np.int32]  #: [3] world cell of cells[0, 0, 0]
    cells: npt.NDArray[np.uint16]  #: [nx, ny, nz]
    #: what is known of grass in each 16-cube section of the world grid that meets `cells` (grass.py); a cache
    grassy: npt.NDArray[np.uint8]

    def __new__(cls, **arrays: npt.NDArray[Any]) -> "Sim":
        """Returns a world of the given arrays, one a field; kernels and Python share them."""
        sim: Sim = _of_arrays(*(arrays[name] for name in FIELDS))
        for name in FIELDS:
            setattr(sim, name, arrays[name])
        return sim

    def copy(self) -> "Sim":
        """Returns a world of its own in the very same state."""
        return Sim(**{name: getattr(self, name).copy() for name in FIELDS})


FIELDS = tuple(Sim.__annotations__)
structref.define_proxy(Sim, SimType, FIELDS)


@kernel
def _of_arrays(*arrays: Any) -> Any:
    """The world of the given arrays, the fields in order."""
    return Sim(*arrays)


def empty_sim(lo: tuple[int, int, int], cells: npt.NDArray[np.uint16]) -> Sim:
    """Returns a Sim of zeros around `cells` (kept, not copied) whose first cell is world cell `lo`."""
    return Sim(
        body=np.zeros(2, BODY),
        player=np.zeros(1, PLAYER),
        inventory=np.zeros((37, 3), np.int32),
        items=np.zeros(ITEM_SLOTS, ITEM),
        overflow=np.zeros(OVERFLOW_SLOTS, ITEM),
        falls=np.zeros(QUEUE_SLOTS, SCHEDULED),
        landings=np.zeros(64, SCHEDULED),
        edits=np.zeros(EDIT_SLOTS, EDIT),
        edit_count=np.zeros(1, np.int32),
        furnaces=np.zeros(FURNACE_SLOTS, FURNACE),
        fluids=np.zeros(FLUID_SLOTS, FLUID),
        scan=np.zeros(SCAN_SLOTS, SCAN),
        lo=np.array(lo, np.int32),
        cells=cells,
        grassy=np.zeros(
            [(low + size - 1) // 16 - low // 16 + 1 for low, size in zip(lo, cells.shape, strict=True)], np.uint8
        ),
    )
