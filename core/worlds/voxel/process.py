"""The loop of the lane process: lines in, records out (SPEC 1)."""

import sys
from pathlib import Path

import numpy as np

from core.errors import NetheriteError
from core.worlds.voxel.lines import Order, parse
from core.worlds.voxel.options import Options
from core.worlds.voxel.world import VoxelWorld


def run(options: Options) -> int:
    """Answers each line on stdin with a record on stdout until stdin ends; returns the exit code."""
    world = VoxelWorld(options.snapshot_in, options.seed, view_distance=options.view_distance)
    try:
        world.open()
    except NetheriteError as error:
        print(error, file=sys.stderr)
        return 1
    _send(world, options, 0)
    for number, line in enumerate(sys.stdin.buffer, start=1):
        _obey(world, parse(line))
        _send(world, options, number)
    return 0


def _obey(world: VoxelWorld, order: Order) -> None:
    """Does one step: a wanted snapshot first, then the tick."""
    row = np.array(order.row)
    if order.snapshot is not None:
        try:
            world.save(Path(order.snapshot), order.snapshot_r, row)
        except NetheriteError as error:
            print(error, file=sys.stderr)
    world.tick(row, cam=order.cam)


def _send(world: VoxelWorld, options: Options, number: int) -> None:
    """Sends the newest record, after whatever faults have made of it."""
    data = world.record.tobytes()
    for fault in options.fault:
        data = fault.strike(number, world.record, data)
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
