"""Where the bot may go: a shortest-path search over feet cells that may walk, climb, drop and dig.

Costs are decisions. A cell in the way costs what digging it costs; cells never seen cost what the caller thinks.
"""

import numpy as np
import numpy.typing as npt

from core.kernels import kernel
from core.policy.bot_map import HEIGHT, PASSABLE, SIZE, Memory

NEVER = 1e6  # a dig cost that forbids
ANY = -(1 << 30)  # a goal coordinate that does not matter
WALK, CLIMB, DROP, DIG_DOWN, TURN = 1.3, 3.0, 0.7, 3.0, 3.0
SWIM, WET_DIG = 25.0, 120.0
DEEPEST_DROP = 3
RIM = 3  # cells at the memory's rim that are not entered
WINDOW = 64  # cells along each axis that one search covers
DOWN_MOVE = 12  # after three moves, down, level and up, in each of four directions

_WATER, _LAVA = (8, 9), (10, 11)
_LOOSE = (12, 13)

Costs = npt.NDArray[np.float64]
Cells = npt.NDArray[np.int32]


@kernel
def _is_water(block: int) -> bool:
    return block in _WATER


@kernel
def supports(block: int) -> bool:
    """Returns whether one can stand on `block` (unknown cells are hoped to be ground; water carries a swimmer)."""
    return _is_water(block) or not PASSABLE[block]


@kernel
def clearing(memory: Memory, costs: Costs, x: int, y: int, z: int) -> float:
    """Returns the cost of making the cell free; NEVER if it must not be touched. Indices, not world cells."""
    block = int(memory[x, y, z])
    if block in _LAVA:
        return NEVER
    if PASSABLE[block]:
        return SWIM if _is_water(block) else 0.0
    cost = float(costs[block])
    for dx, dy, dz in ((1, 0, 0), (-1, 0, 0), (0, 0, 1), (0, 0, -1), (0, 1, 0)):
        beside = int(memory[x + dx, y + dy, z + dz])
        if beside in _LAVA:
            return NEVER
        if _is_water(beside):
            cost += WET_DIG
    above = int(memory[x, y + 1, z])
    return cost + costs[above] if above in _LOOSE else cost


@kernel
def _push(ranks: Costs, nodes: Cells, count: int, rank: float, node: int) -> None:
    """Adds a node to a binary heap of `count` nodes."""
    at = count
    while at > 0 and ranks[(at - 1) >> 1] > rank:
        ranks[at], nodes[at] = ranks[(at - 1) >> 1], nodes[(at - 1) >> 1]
        at = (at - 1) >> 1
    ranks[at], nodes[at] = rank, node


@kernel
def _pop(ranks: Costs, nodes: Cells, count: int) -> tuple[float, int]:
    """Takes the node of least rank out of a heap of `count` nodes."""
    top = ranks[0], int(nodes[0])
    rank, node = ranks[count - 1], nodes[count - 1]
    at, child = 0, 1
    while child < count - 1:
        if child + 1 < count - 1 and ranks[child + 1] < ranks[child]:
            child += 1
        if ranks[child] >= rank:
            break
        ranks[at], nodes[at] = ranks[child], nodes[child]
        at, child = child, 2 * child + 1
    ranks[at], nodes[at] = rank, node
    return top


@kernel
def _ahead(goals: Cells, x: int, y: int, z: int) -> int:
    """Returns the least number of cells to any goal, 0 on one."""
    nearest = 1 << 30
    for g in range(len(goals)):
        apart = 0
        for own, wanted in ((x, goals[g, 0]), (y, goals[g, 1]), (z, goals[g, 2])):
            if wanted != ANY:
                apart += abs(own - wanted)
        nearest = min(nearest, apart)
    return nearest


@kernel
def _side_move(memory: Memory, costs: Costs, x: int, y: int, z: int, dx: int, dz: int, rise: int) -> tuple[float, int]:
    """Returns (cost, y of arrival) of moving one column over, level (rise 0), up (1) or digging down (-1)."""
    nx, nz = x + dx, z + dz
    body = clearing(memory, costs, nx, y, nz) + clearing(memory, costs, nx, y + 1, nz)
    if rise == 1:
        if not supports(int(memory[nx, y, nz])) or _is_water(int(memory[nx, y, nz])):
            return NEVER, y
        over = clearing(memory, costs, x, y + 2, z) + clearing(memory, costs, nx, y + 2, nz)
        return CLIMB + over + clearing(memory, costs, nx, y + 1, nz), y + 1
    below = int(memory[nx, y - 1, nz])
    if rise == -1:
        if PASSABLE[below] or not supports(int(memory[nx, y - 2, nz])):
            return NEVER, y
        return WALK + DROP + body + clearing(memory, costs, nx, y - 1, nz), y - 1
    if supports(below):
        return WALK + body, y
    for drop in range(1, DEEPEST_DROP + 1):
        landing = int(memory[nx, y - drop - 1, nz])
        if landing in _LAVA:
            return NEVER, y
        if supports(landing):
            return WALK + DROP * drop + body, y - drop
    return NEVER, y


@kernel
def _move(
    memory: Memory, costs: Costs, at: tuple[int, int, int], move: int, came: tuple[int, int]
) -> tuple[float, int, int, int]:
    """Returns (cost, x, y, z) of one of the thirteen moves from feet cell `at`; `came` is the last move's direction."""
    x, y, z = at
    if move == DOWN_MOVE:
        if PASSABLE[memory[x, y - 1, z]] or not supports(int(memory[x, y - 2, z])):
            return NEVER, x, y, z
        return DIG_DOWN + clearing(memory, costs, x, y - 1, z), x, y - 1, z
    dx, dz = ((1, 0), (-1, 0), (0, 1), (0, -1))[move // 3]
    cost, ny = _side_move(memory, costs, x, y, z, dx, dz, move % 3 - 1)
    if came != (0, 0) and came != (dx, dz):
        cost += TURN
    return cost, x + dx, ny, z + dz


@kernel
def _unwind(parent: Cells, end: int, corner: tuple[int, int, int]) -> npt.NDArray[np.int32]:
    """Returns the cells from the one after the start to node `end`; none for end -1."""
    steps = 0
    node = end
    while node >= 0 and parent[node] >= 0:
        steps += 1
        node = parent[node]
    path = np.empty((steps, 3), np.int32)
    node = end
    for i in range(steps - 1, -1, -1):
        path[i, 0] = node // WINDOW**2 + corner[0]
        path[i, 1] = node // WINDOW % WINDOW + corner[1]
        path[i, 2] = node % WINDOW + corner[2]
        node = parent[node]
    return path


@kernel
def find_path(
    memory: Memory, costs: Costs, start: tuple[int, int, int], goals: Cells, limit: int
) -> npt.NDArray[np.int32]:
    """Searches the cheapest way from `start` to any goal within WINDOW / 2 cells.

    Args:
        memory: what is known; all cells here are indices into it.
        costs: [256] decisions to dig each id, NEVER if it cannot be.
        start: feet cell; what it stands on is not asked.
        goals: [n, 3] feet cells, ANY for a coordinate that does not matter.
        limit: cells to look at before giving up.

    Returns:
        [steps, 3] feet cells after `start`, the goal last; empty if there is no way (or start is a goal).
    """
    known = np.full(WINDOW**3, np.inf, np.float32)
    parent = np.full(WINDOW**3, -1, np.int32)
    ranks, nodes = np.empty(8 * limit + 16), np.empty(8 * limit + 16, np.int32)
    corner = start[0] - WINDOW // 2, start[1] - WINDOW // 2, start[2] - WINDOW // 2
    first = (WINDOW // 2 * WINDOW + WINDOW // 2) * WINDOW + WINDOW // 2
    known[first] = 0.0
    _push(ranks, nodes, 0, 0.0, first)
    count, end = 1, -1
    for _ in range(limit):
        if count == 0:
            break
        _, node = _pop(ranks, nodes, count)
        count -= 1
        lx, ly, lz = node // WINDOW**2, node // WINDOW % WINDOW, node % WINDOW
        at = lx + corner[0], ly + corner[1], lz + corner[2]
        if _ahead(goals, at[0], at[1], at[2]) == 0:
            end = node
            break
        if min(lx, ly, lz) < DEEPEST_DROP or max(lx, ly, lz) >= WINDOW - 1:
            continue
        if not (min(at[0], at[2]) >= RIM and max(at[0], at[2]) < SIZE - RIM and 6 <= at[1] < HEIGHT - 4):
            continue
        before = parent[node]
        came = (lx - before // WINDOW**2, lz - before % WINDOW) if before >= 0 else (0, 0)
        for move in range(DOWN_MOVE + 1):
            cost, nx, ny, nz = _move(memory, costs, at, move, came)
            there = ((nx - corner[0]) * WINDOW + ny - corner[1]) * WINDOW + nz - corner[2]
            total = float(np.float32(known[node] + cost))
            if cost < NEVER and total < known[there] and count < len(ranks):
                known[there], parent[there] = total, node
                _push(ranks, nodes, count, total + WALK * _ahead(goals, nx, ny, nz), there)
                count += 1
    return _unwind(parent, end, corner)
