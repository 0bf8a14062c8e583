"""Block edits of the player: seen at once in the window, their consequences in step n of the tick (RULES 1.4)."""

from core.kernels import kernel
from core.worlds.voxel.blocks import FURNACE, GRASS, LIT_FURNACE
from core.worlds.voxel.crafting import break_furnace
from core.worlds.voxel.drops import drop_block_item
from core.worlds.voxel.falling import EDIT_DELAY, schedule_fall
from core.worlds.voxel.fluids import mark_fluid
from core.worlds.voxel.grass import note_grass
from core.worlds.voxel.grid import cell_at, put_cell
from core.worlds.voxel.numbers import I64
from core.worlds.voxel.plants import notify_neighbours, sweep_plants
from core.worlds.voxel.state import EDIT_SLOTS, Sim


@kernel
def queue_edit(sim: Sim, x: int, y: int, z: int, cell: int, item: int, meta: int) -> None:
    """Writes world cell (x, y, z) at once and queues what follows from it for `apply_edits`.

    Args:
        sim: the world.
        x: world cell; so are y and z.
        cell: the new id << 4 | meta.
        item: what the old block drops (one of it), 0 for nothing.
        meta: the drop's meta.
    """
    index = I64(sim.edit_count[0])
    if index < EDIT_SLOTS:
        edit = sim.edits[index]
        edit.cell[0], edit.cell[1], edit.cell[2] = x, y, z
        edit.old, edit.new = cell_at(sim, x, y, z), cell
        edit.drop, edit.drop_meta = item, meta
        sim.edit_count[0] = index + 1
    put_cell(sim, x, y, z, cell)


@kernel
def _is_furnace(block):
    """Whether an id is a furnace, burning or not."""
    return block in (FURNACE, LIT_FURNACE)


@kernel
def _apply(sim, edit):
    """One edit in the order of RULES 1.4: a furnace's contents, cell, falls, fluids, plants, neighbours, drop."""
    x, y, z = I64(edit.cell[0]), I64(edit.cell[1]), I64(edit.cell[2])
    old, new = I64(edit.old) >> 4, I64(edit.new) >> 4
    if _is_furnace(old) and not _is_furnace(new):
        break_furnace(sim, x, y, z)
    put_cell(sim, x, y, z, I64(edit.new))
    if new == GRASS:
        note_grass(sim, x, y, z)
    schedule_fall(sim, x, y, z, EDIT_DELAY)
    mark_fluid(sim, x, y, z)
    sweep_plants(sim, x, y, z)
    notify_neighbours(sim, x, y, z)
    if edit.drop:
        drop_block_item(sim, x, y, z, I64(edit.drop), I64(edit.drop_meta))


@kernel
def apply_edits(sim: Sim) -> None:
    """Applies this tick's edits in order (RULES 1.1n): each sees the world without the ones queued after it."""
    count = I64(sim.edit_count[0])
    for index in range(count - 1, 0, -1):
        cell = sim.edits[index].cell
        put_cell(sim, I64(cell[0]), I64(cell[1]), I64(cell[2]), I64(sim.edits[index].old))
    for index in range(count):
        _apply(sim, sim.edits[index])
    sim.edit_count[0] = 0
