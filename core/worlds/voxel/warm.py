"""Compiles every kernel of this room by using it once."""

from core.wire.act13 import NOOP_ROW
from core.worlds.voxel.world import VoxelWorld


def warm() -> None:
    """Plays one decision and one tick on generated land."""
    world = VoxelWorld(None, 0)
    world.open()
    world.step(NOOP_ROW, 2)
    world.tick(NOOP_ROW)
    world.close()
