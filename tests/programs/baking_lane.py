"""The toy lane program with a memory for the `snapshot` key: writes a small made-up region, right or wrong.

`--wrong seed|size|coal|nothing|items` makes the file it writes bad in that way (or leaves it out, or drops an item).
"""

import sys
from pathlib import Path

import numpy as np
import toy_lane

from core.wire import bsnp

WRONG = sys.argv.pop(sys.argv.index("--wrong") + 1) if "--wrong" in sys.argv else ""
if "--wrong" in sys.argv:
    sys.argv.remove("--wrong")


def text(line, key):
    at = line.find(b'"%s":"' % key)
    start = at + len(key) + 4
    return line[start : line.find(b'"', start)].decode() if at >= 0 else None


def write(lane, path, half_width):
    if WRONG == "nothing":
        sys.stderr.write("toy: cannot write a snapshot\n")
        sys.stderr.flush()
        return
    width = 2 * half_width - (WRONG == "size")
    cells = np.zeros((width, 4, width), np.uint16)
    cells[:, 0] = 7 << 4
    cells[5, 1, 6] = cells[9, 2, 3] = bsnp.COAL_ORE << 4
    cells[0, 1, 0] = 9 << 4
    head = np.zeros(1, bsnp.HEAD)[0]
    head["seed"], head["tick"] = lane.options.seed + (WRONG == "seed"), lane.tick
    head["region_lo"] = (8 - half_width, 0, 8 - half_width)
    snapshot = bsnp.Snapshot(head, np.zeros(int(WRONG == "items"), bsnp.ITEM), cells, np.zeros((0, 3), np.int32))
    coal = bsnp.coal_cells(snapshot)[int(WRONG == "coal") :]
    bsnp.write_snapshot(path, bsnp.Snapshot(head, snapshot.items, cells, coal))


class BakingLane(toy_lane.Lane):
    def step(self, line):
        path = text(line, b"snapshot")
        if path is not None:
            write(self, Path(path), int(toy_lane.number(line, b"snapshot_r", 32)))
        super().step(line)


toy_lane.Lane = BakingLane
sys.exit(toy_lane.main())
