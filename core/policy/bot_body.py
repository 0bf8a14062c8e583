"""The bot's body: what it remembers, and turning, digging, walking and travelling as scripts.

A script is a generator: every `yield` is one decision, whose nine heads are set before it, and what follows it sees the
next record. What a script returns tells whether it came to its end as wished.
"""

import math
import random
from collections.abc import Generator, Iterable

import numpy as np
import numpy.typing as npt

from core.policy import bot_map
from core.policy.bot_map import AIR, PASSABLE, UNKNOWN
from core.policy.bot_path import ANY, NEVER, find_path
from core.policy.heads import NOOP_HEADS
from core.wire.senses import STATUS_CONTAINER, Senses

LOG, PLANKS, STICK, COBBLE, TABLE_ITEM, WOODEN_PICK, STONE_PICK, COAL, TORCH = range(9)  #: places in `inv_counts`
ITEM_OF = (17, 5, 280, 4, 58, 270, 274, 263, 50)
WATER = (8, 9)
RIM = 12  #: cells at the memory's rim that are not explored
LONG_BREATH = 20  #: decisions under water, of the 75 there is air for, after which nothing matters but the surface

#: Decisions of four ticks that digging takes by hand and with a wooden pickaxe (RULES 7.3), aiming included.
_BY_HAND = {
    2: 6.0,
    3: 5.0,
    12: 5.0,
    13: 6.0,
    17: 17.0,
    162: 17.0,
    18: 3.0,
    161: 3.0,
    5: 17.0,
    58: 20.0,
    82: 6.0,
    79: 5.0,
}
_STONES = {1: 8.0, 4: 10.0, 16: 14.0, 14: 40.0, 15: 40.0, 21: 40.0, 56: 60.0, 73: 40.0}
_FORBIDDEN = (7, 49, 52, 54, 61, 62, 90, 119, 120)

Cell = tuple[int, int, int]
Script = Generator[None, None, bool]


def _dig_costs(with_pick: bool) -> npt.NDArray[np.float64]:
    """Returns the decisions to dig each id, [256]; NEVER for what is better left alone."""
    costs = np.full(256, 14.0)
    for block, decisions in _BY_HAND.items():
        costs[block] = decisions
    for block, decisions in _STONES.items():
        costs[block] = decisions if with_pick else 45.0
    costs[UNKNOWN] = 9.0 if with_pick else 14.0
    costs[list(_FORBIDDEN)] = NEVER
    costs[PASSABLE] = 0.0
    return costs


#: Dig costs without and with a pickaxe.
DIG_COSTS = {False: _dig_costs(False), True: _dig_costs(True)}


def wrap(degrees: float) -> float:
    """Returns the same angle in [-180, 180)."""
    return (degrees + 180.0) % 360.0 - 180.0


class Body:
    """What one lane's bot remembers and does.

    Args:
        chance: where its few random choices come from.
    """

    def __init__(self, chance: random.Random) -> None:
        self.heads: npt.NDArray[np.int32] = np.array(NOOP_HEADS, np.int32)
        self.chance = chance
        self.pose = np.zeros(5)  #: feet x, y, z, yaw, pitch
        self.counts = [0] * 9  #: as `inv_counts`
        self.container = 0
        self.logs: list[Cell] = []  #: nearest first; empty where the other side leaves that list empty
        self.coal: list[Cell] = []
        self.tops: list[tuple[int, int, int, int]] = []  #: id and cell of the listed blocks
        self.moment = 0  #: records taken in
        self._memory = bot_map.blank()
        self._lo = np.zeros(2, np.int32)
        self._hotbar: list[int] = []
        self._breathless = 0  # decisions with the head in water

    def observe(self, senses: Senses, record: np.void) -> None:
        """Takes in one record; the first one becomes the middle of the memory."""
        if self.moment == 0:
            self._lo[:] = np.floor(senses.pose[[0, 2]]) - bot_map.SIZE // 2
        self.moment += 1
        self.heads[:] = NOOP_HEADS
        self.pose[:] = senses.pose
        self.counts = senses.status[:9].tolist()
        self.container = int(senses.status[STATUS_CONTAINER])
        self._hotbar = record["hotbar_ids"].tolist()
        blocks, logs, coal = record["blocks"], record["logs"], record["coal"]
        bot_map.note(self._memory, self._lo, int(self.pose[1]), blocks, logs, coal)
        bot_map.see(self._memory, self._lo, self.pose, senses.cam, senses.depth)
        x, y, z = self.feet()
        for body in (y, y + 1):
            if not PASSABLE[self.at((x, body, z))]:
                self._learn((x, body, z), AIR)
        self.logs = [(x, y, z) for x, y, z in logs.tolist() if y]
        self.coal = [(x, y, z) for x, y, z in coal.tolist() if y]
        self.tops = [(block, x, y, z) for block, x, y, z in blocks.tolist() if block]
        head_in_water = senses.depth[18, 32] == 0 and senses.cam[18, 32] in WATER
        self._breathless = self._breathless + 1 if head_in_water else 0

    def seen(self, block: int, radius: int) -> list[Cell]:
        """Returns the remembered cells of one id at most `radius` cells away along any axis, nearest first."""
        x, y, z = self.feet()
        corner = np.maximum((x - self._lo[0] - radius, y - radius, z - self._lo[1] - radius), 0)
        i, j, k = corner.tolist()
        width = 2 * radius + 1
        near = self._memory[i : i + width, j : j + width, k : k + width]
        found = np.argwhere(near == block) + corner + np.array([self._lo[0], 0, self._lo[1]])
        order = np.argsort(((found + 0.5 - self.pose[:3]) ** 2).sum(axis=1), kind="stable")
        return [(x, y, z) for x, y, z in found[order].tolist()]

    def feet(self) -> Cell:
        """Returns the cell the feet are in; what is a little sunken or stepped up counts to the cell above."""
        x, y, z = self.pose[:3].tolist()
        return math.floor(x), math.floor(y + 0.3), math.floor(z)

    def at(self, cell: Cell) -> int:
        """Returns the remembered id of a cell."""
        return bot_map.recall(self._memory, self._lo, *cell)

    def aim_to_place(self) -> tuple[int, int, bool]:
        """Returns (yaw steps, pitch steps, found) of the nearest turn after which a block can be placed."""
        return bot_map.aim_to_place(self._memory, self._lo, self.pose)

    def _learn(self, cell: Cell, block: int) -> None:
        bot_map.store(self._memory, self._lo, *cell, block)

    def has_pick(self) -> bool:
        """Returns whether a wooden or stone pickaxe is in hand or pocket."""
        return self.counts[WOODEN_PICK] + self.counts[STONE_PICK] > 0

    def act(
        self,
        yaw: int = 0,
        pitch: int = 0,
        forward: int = 0,
        jump: bool = False,
        attack: bool = False,
        use: bool = False,
        craft: int = 0,
        interact: bool = False,
        item: int = 0,
    ) -> None:
        """Sets the heads of this decision: turns and steps are -1, 0 or 1, `item` is held if it is in the hotbar."""
        slot = self._hotbar.index(item) + 1 if item in self._hotbar and item else 0
        self.heads[:] = yaw + 1, pitch + 1, forward + 1, jump, attack, use, craft, interact, slot

    def _tool(self, block: int) -> int:
        """Returns the item to hold for digging: the pickaxe is spared where it is of no use."""
        picks = [ITEM_OF[place] for place in (STONE_PICK, WOODEN_PICK) if self.counts[place]]
        if picks and (block in _STONES or block == UNKNOWN):
            return picks[0]
        return next((item for item in self._hotbar if item and item not in picks), 0)

    def wait(self, decisions: int) -> Script:
        """Does nothing for some decisions."""
        for _ in range(decisions):
            self.act()
            yield
        return True

    def turn(self, yaw_steps: int, pitch_steps: int) -> Script:
        """Turns by whole steps of both axes at once."""
        while yaw_steps or pitch_steps:
            yaw, pitch = sign(yaw_steps), sign(pitch_steps)
            self.act(yaw=yaw, pitch=pitch)
            yield
            yaw_steps, pitch_steps = yaw_steps - yaw, pitch_steps - pitch
        return True

    def dig(self, cell: Cell) -> Script:
        """Digs until the cell is free; false if it cannot be struck from here or does not give way."""
        patience = 12.0 + 1.6 * min(DIG_COSTS[self.has_pick()][self.at(cell)], 60.0)
        trusting = False
        while patience > 0 and self._breathless < LONG_BREATH:
            block = self.at(cell)
            if PASSABLE[block]:
                return True
            yaw, pitch, found = bot_map.aim(self._memory, self._lo, self.pose, cell, trusting)
            if not found:
                if trusting:
                    return False
                trusting = True
                continue
            aimed = yaw == 0 and pitch == 0
            self.act(yaw=sign(yaw), pitch=sign(pitch), attack=abs(yaw) <= 1 and abs(pitch) <= 1, item=self._tool(block))
            if aimed and block == UNKNOWN and patience < 6:
                self._learn(cell, 1)
            patience -= 1
            yield
        return False

    def _clear(self, cells: Iterable[Cell]) -> Script:
        """Digs whatever of `cells` is in the way, in order."""
        for cell in cells:
            if not PASSABLE[self.at(cell)] and not (yield from self.dig(cell)):
                return False
        return True

    def _go(self, cell: Cell) -> Script:
        """Walks, jumps or falls into a neighbouring feet cell; false when it does not get there."""
        best, idle = 1e9, 0
        while idle < 9 and self._breathless < LONG_BREATH:
            x, y, z = self.feet()
            dx, dz = cell[0] + 0.5 - self.pose[0], cell[2] + 0.5 - self.pose[2]
            away = math.hypot(dx, dz)
            if (x, y, z) == cell and away < 0.5:
                return True
            gap = away + abs(y - cell[1])
            best, idle = (gap, 0) if gap < best - 0.12 else (best, idle + 1)
            self._step_towards(dx, dz, climb=cell[1] > y, stuck=idle >= 5)
            yield
        self._learn(cell, UNKNOWN)
        self._learn((cell[0], cell[1] + 1, cell[2]), UNKNOWN)
        return False

    def _step_towards(self, dx: float, dz: float, climb: bool, stuck: bool) -> None:
        """Turns and steps once towards the point (dx, dz) away."""
        away = math.hypot(dx, dz)
        off = wrap(math.degrees(math.atan2(-dx, dz)) - self.pose[3])
        swims = self.at(self.feet()) in WATER
        if away < 0.2:
            self.act(jump=climb or swims)
            return
        behind = abs(off) > 150 and away < 1.3 and not climb
        if behind:
            self.act(forward=-1, jump=swims or stuck)
            return
        turn = sign(round(off / 15.0))
        ahead = abs(off - 15.0 * turn) <= 24
        self.act(yaw=turn, forward=int(ahead), jump=(ahead and (climb or stuck)) or swims)

    def centre(self) -> Script:
        """Steps nearer to the middle of the cell one stands in, if it is far off."""
        x, _, z = self.feet()
        for _ in range(4):
            dx, dz = x + 0.5 - self.pose[0], z + 0.5 - self.pose[2]
            if math.hypot(dx, dz) < 0.4:
                return True
            self._step_towards(dx, dz, climb=False, stuck=False)
            yield
        return False

    def travel(self, goals: list[Cell], moves: int = 400) -> Script:
        """Goes to any of the feet cells `goals` (ANY for a free coordinate), digging where that is shorter."""
        failures = 0
        while moves > 0 and failures < 5:
            path = self._path(goals)
            if not len(path):
                return any(_meets(self.feet(), goal) for goal in goals)
            for target in path[:8]:
                moves -= 1
                if not (yield from self._advance(target)):
                    failures += 1
                    yield from self._surface()
                    yield from self.shake(failures)
                    break
        return False

    def _path(self, goals: list[Cell]) -> list[Cell]:
        """Returns the next feet cells on the way to `goals`; empty on a goal or without a way."""
        shift = np.array([self._lo[0], 0, self._lo[1]], np.int64)
        wanted = np.array(goals, np.int64)
        wanted_here: npt.NDArray[np.int32] = np.where(wanted == ANY, ANY, wanted - shift).astype(np.int32)
        x, y, z = self.feet()
        start = (x - int(self._lo[0]), y, z - int(self._lo[1]))
        path = find_path(self._memory, DIG_COSTS[self.has_pick()], start, wanted_here, 40_000)
        return [(x, y, z) for x, y, z in (path + shift).tolist()]

    def _advance(self, target: Cell) -> Script:
        """Does one move of a path: makes room, then goes."""
        x, y, z = self.feet()
        tx, ty, tz = target
        if abs(tx - x) + abs(tz - z) > 1:
            return False
        if (tx, tz) == (x, z):
            room = [target]
        elif ty > y:
            room = [(x, y + 2, z), (tx, ty + 1, tz), target]
        else:
            room = [(tx, y + 1, tz), (tx, y, tz), target]
        return (yield from self._clear(room)) and (yield from self._go(target))

    def _surface(self) -> Script:
        """Swims up to the air and on for a bit, if the head is in water."""
        swum = 0
        while self._breathless and swum < 60:
            for _ in range(6):
                self.act(forward=int(swum >= 12), jump=True)
                swum += 1
                yield
            self.act(yaw=self.chance.choice((-1, 1)), forward=1, jump=True)
            yield
        return swum == 0

    def go_ashore(self) -> Script:
        """Leaves the water for the nearest known land."""
        yield from self._surface()
        known = [(x, y + 1, z) for block, x, y, z in self.tops if not PASSABLE[block]]
        if not known or not (yield from self.travel(known[:60], 30)):
            yield from self.shake(4)
        if not self._breathless:
            self._learn(self.feet(), AIR)  # it may have been feared water only
        return True

    def shake(self, strength: int) -> Script:
        """Moves about at random, to get out of where a plan failed."""
        for _ in range(self.chance.randint(2, 3 + strength)):
            self.act(
                yaw=self.chance.choice((-1, 0, 1)),
                forward=self.chance.choice((-1, 1, 1)),
                jump=self.chance.random() < 0.6,
            )
            yield
        return True

    def explore(self) -> Script:
        """Looks behind, then goes some way off in a random direction, not too near to the memory's rim."""
        yield from self.turn(self.chance.choice((-6, 6)), 0)
        x, _, z = self.feet()
        angle, far = self.chance.random() * 2 * math.pi, self.chance.randint(10, 20)
        low, high = self._lo + RIM, self._lo + bot_map.SIZE - RIM
        goal = np.clip((x + round(far * math.cos(angle)), z + round(far * math.sin(angle))), low, high).tolist()
        return (yield from self.travel([(goal[0], ANY, goal[1])], 40))


def sign(value: float) -> int:
    """Returns -1, 0 or 1."""
    return (value > 0) - (value < 0)


def _meets(cell: Cell, goal: Cell) -> bool:
    return all(wanted in (ANY, own) for own, wanted in zip(cell, goal, strict=True))
