"""The scripted player: from the spawn to a torch, through the nine heads, from records alone (SPEC 7).

It is the positive control of an evaluation. It knows nothing of the world it plays in but what records say: it
remembers cells it saw (`bot_map`), searches ways through them (`bot_path`), and follows a script written as generators:
every `yield` is one decision, and what follows it sees the next record.
"""

import math
import random
from collections.abc import Generator, Iterable

import numpy as np
import numpy.typing as npt

from core.policy import bot_map
from core.policy.bot_map import AIR, PASSABLE, UNKNOWN
from core.policy.bot_path import ANY, NEVER, find_path
from core.policy.heads import NOOP_HEADS, to_act13
from core.wire.act13 import KEYS
from core.wire.senses import STATUS_CONTAINER, Senses

LOG, PLANKS, STICK, COBBLE, TABLE_ITEM, WOODEN_PICK, STONE_PICK, COAL, TORCH = range(9)  #: places in `inv_counts`
ITEM_OF = (17, 5, 280, 4, 58, 270, 274, 263, 50)
CRAFT_PLANKS, CRAFT_STICKS, CRAFT_TABLE, CRAFT_PICK, CRAFT_TORCH = 1, 2, 3, 4, 6  #: choices of the craft head
STONE, TABLE_BLOCK, LOG_BLOCK, WATER = 1, 58, 17, (8, 9)
LONG_BREATH = 20  #: decisions under water, of the 75 there is air for, after which nothing matters but the surface
ENOUGH_COBBLE = 3
DEEP_ENOUGH = 24  #: blocks; coal is not sought by digging deeper than this
TABLE_RANGE = 4.5  # blocks from feet to table centre at which it is opened
PLANKS_OF_LOG, PLANKS_OF_TABLE, PLANKS_OF_STICKS, PLANKS_OF_PICK, STICKS_OF_PICK = 4, 4, 2, 3, 2

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


class Bot:
    """Plays one lane. See `core.policy.controls.Controller`.

    Args:
        ni: noise index of the lane. rng_seed: seed of the run; both together choose the small variations of a try.
        limit: decisions in the episode.
    """

    def __init__(self, *, ni: int, rng_seed: int, limit: int) -> None:
        self.heads: npt.NDArray[np.int32] = np.array(NOOP_HEADS, np.int32)
        self._row = np.zeros(len(KEYS))
        self._chance = random.Random(rng_seed * 1_000_003 + ni)
        self._memory = bot_map.blank()
        self._lo = np.zeros(2, np.int32)
        self._pose = np.zeros(5)
        self._counts = [0] * 9
        self._container = 0
        self._logs: list[Cell] = []
        self._coal: list[Cell] = []
        self._hotbar: list[int] = []
        self._tops: list[tuple[int, int, int, int]] = []
        self._breathless = 0
        self._shunned: set[Cell] = set()
        self._script = self._play()

    def decide(self, senses: Senses, record: npt.NDArray[np.void], decision: int) -> npt.NDArray[np.float64]:
        """See `Controller.decide`."""
        if decision == 0:
            self._lo[:] = np.floor(senses.pose[[0, 2]]) - bot_map.SIZE // 2
        self._observe(senses, record[0])
        self.heads[:] = NOOP_HEADS
        next(self._script)
        to_act13(self.heads, self._row)
        return self._row

    # ---- perceiving

    def _observe(self, senses: Senses, record: np.void) -> None:
        """Takes in one record."""
        self._pose[:] = senses.pose
        self._counts = senses.status[:9].tolist()
        self._container = int(senses.status[STATUS_CONTAINER])
        self._hotbar = record["hotbar_ids"].tolist()
        blocks, logs, coal = record["blocks"], record["logs"], record["coal"]
        bot_map.note(self._memory, self._lo, int(self._pose[1]), blocks, logs, coal)
        bot_map.see(self._memory, self._lo, self._pose, senses.cam, senses.depth)
        x, y, z = self._feet()
        for body in (y, y + 1):
            if not PASSABLE[self._at((x, body, z))]:
                self._learn((x, body, z), AIR)
        self._logs = [(x, y, z) for x, y, z in logs.tolist() if y]
        self._coal = [(x, y, z) for x, y, z in coal.tolist() if y]
        self._tops = [(block, x, y, z) for block, x, y, z in blocks.tolist() if block]
        head_in_water = senses.depth[18, 32] == 0 and senses.cam[18, 32] in WATER
        self._breathless = self._breathless + 1 if head_in_water else 0

    def _seen(self, block: int, radius: int) -> list[Cell]:
        """Returns the remembered cells of one id at most `radius` cells away along any axis, nearest first."""
        x, y, z = self._feet()
        corner = np.maximum((x - self._lo[0] - radius, y - radius, z - self._lo[1] - radius), 0)
        i, j, k = corner.tolist()
        width = 2 * radius + 1
        near = self._memory[i : i + width, j : j + width, k : k + width]
        found = np.argwhere(near == block) + corner + np.array([self._lo[0], 0, self._lo[1]])
        order = np.argsort(((found + 0.5 - self._pose[:3]) ** 2).sum(axis=1), kind="stable")
        return [(x, y, z) for x, y, z in found[order].tolist()]

    def _feet(self) -> Cell:
        x, y, z = self._pose[:3].tolist()
        return math.floor(x), math.floor(y + 0.3), math.floor(z)

    def _at(self, cell: Cell) -> int:
        return bot_map.recall(self._memory, self._lo, *cell)

    def _learn(self, cell: Cell, block: int) -> None:
        bot_map.store(self._memory, self._lo, *cell, block)

    def _has_pick(self) -> bool:
        return self._counts[WOODEN_PICK] + self._counts[STONE_PICK] > 0

    # ---- acting

    def _act(
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

    def _tool(self) -> int:
        """Returns the item to hold for digging."""
        for place in (STONE_PICK, WOODEN_PICK):
            if self._counts[place]:
                return ITEM_OF[place]
        return 0

    def _wait(self, decisions: int) -> Script:
        for _ in range(decisions):
            self._act()
            yield
        return True

    def _turn(self, yaw_steps: int, pitch_steps: int) -> Script:
        """Turns by whole steps of both axes at once."""
        while yaw_steps or pitch_steps:
            yaw, pitch = _sign(yaw_steps), _sign(pitch_steps)
            self._act(yaw=yaw, pitch=pitch)
            yield
            yaw_steps, pitch_steps = yaw_steps - yaw, pitch_steps - pitch
        return True

    def _dig(self, cell: Cell) -> Script:
        """Digs until the cell is free; false if it cannot be struck from here or does not give way."""
        patience = 12.0 + 1.6 * min(DIG_COSTS[self._has_pick()][self._at(cell)], 60.0)
        trusting = False
        while patience > 0 and self._breathless < LONG_BREATH:
            block = self._at(cell)
            if PASSABLE[block]:
                return True
            yaw, pitch, found = bot_map.aim(self._memory, self._lo, self._pose, cell, trusting)
            if not found:
                if trusting:
                    return False
                trusting = True
                continue
            aimed = yaw == 0 and pitch == 0
            self._act(yaw=_sign(yaw), pitch=_sign(pitch), attack=abs(yaw) <= 1 and abs(pitch) <= 1, item=self._tool())
            if aimed and block == UNKNOWN and patience < 6:
                self._learn(cell, 1)
            patience -= 1
            yield
        return False

    def _clear(self, cells: Iterable[Cell]) -> Script:
        """Digs whatever of `cells` is in the way, in order."""
        for cell in cells:
            if not PASSABLE[self._at(cell)] and not (yield from self._dig(cell)):
                return False
        return True

    def _go(self, cell: Cell) -> Script:
        """Walks, jumps or falls into a neighbouring feet cell; false when it does not get there."""
        best, idle = 1e9, 0
        while idle < 9 and self._breathless < LONG_BREATH:
            x, y, z = self._feet()
            dx, dz = cell[0] + 0.5 - self._pose[0], cell[2] + 0.5 - self._pose[2]
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
        off = wrap(math.degrees(math.atan2(-dx, dz)) - self._pose[3])
        swims = self._at(self._feet()) in WATER
        if away < 0.2:
            self._act(jump=climb or swims)
            return
        behind = abs(off) > 150 and away < 1.3 and not climb
        if behind:
            self._act(forward=-1, jump=swims or stuck)
            return
        turn = _sign(round(off / 15.0))
        ahead = abs(off - 15.0 * turn) <= 24
        self._act(yaw=turn, forward=int(ahead), jump=(ahead and (climb or stuck)) or swims)

    # ---- travelling

    def _travel(self, goals: list[Cell], moves: int = 400) -> Script:
        """Goes to any of the feet cells `goals` (ANY for a free coordinate), digging where that is shorter."""
        failures = 0
        while moves > 0 and failures < 5:
            path = self._path(goals)
            if not len(path):
                return any(_meets(self._feet(), goal) for goal in goals)
            for target in path[:8]:
                moves -= 1
                if not (yield from self._advance(target)):
                    failures += 1
                    yield from self._surface()
                    yield from self._shake(failures)
                    break
        return False

    def _path(self, goals: list[Cell]) -> list[Cell]:
        """Returns the next feet cells on the way to `goals`; empty on a goal or without a way."""
        shift = np.array([self._lo[0], 0, self._lo[1]], np.int64)
        wanted = np.array(goals, np.int64)
        wanted_here: npt.NDArray[np.int32] = np.where(wanted == ANY, ANY, wanted - shift).astype(np.int32)
        x, y, z = self._feet()
        start = (x - int(self._lo[0]), y, z - int(self._lo[1]))
        path = find_path(self._memory, DIG_COSTS[self._has_pick()], start, wanted_here, 40_000)
        return [(x, y, z) for x, y, z in (path + shift).tolist()]

    def _advance(self, target: Cell) -> Script:
        """Does one move of a path: makes room, then goes."""
        x, y, z = self._feet()
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
                self._act(forward=int(swum >= 12), jump=True)
                swum += 1
                yield
            self._act(yaw=self._chance.choice((-1, 1)), forward=1, jump=True)
            yield
        return swum == 0

    def _go_ashore(self) -> Script:
        """Leaves the water for the nearest known land."""
        yield from self._surface()
        known = [(x, y + 1, z) for block, x, y, z in self._tops if not PASSABLE[block]]
        if not known or not (yield from self._travel(known[:60], 30)):
            yield from self._shake(4)
        return True

    def _shake(self, strength: int) -> Script:
        """Moves about at random, to get out of where a plan failed."""
        for _ in range(self._chance.randint(2, 3 + strength)):
            self._act(
                yaw=self._chance.choice((-1, 0, 1)),
                forward=self._chance.choice((-1, 1, 1)),
                jump=self._chance.random() < 0.6,
            )
            yield
        return True

    def _explore(self) -> Script:
        """Goes some way off in a random direction, or looks around first."""
        yield from self._turn(self._chance.choice((-6, 6)), 0)
        x, _, z = self._feet()
        angle = self._chance.random() * 2 * math.pi
        far = self._chance.randint(10, 20)
        goal = x + round(far * math.cos(angle)), ANY, z + round(far * math.sin(angle))
        limit = bot_map.SIZE // 2 - 12
        middle = self._lo + bot_map.SIZE // 2
        inside = int(np.clip(goal[0], middle[0] - limit, middle[0] + limit)), ANY
        return (yield from self._travel([(*inside, int(np.clip(goal[2], middle[1] - limit, middle[1] + limit)))], 40))

    # ---- the chain

    def _play(self) -> Generator[None, None, None]:
        """The whole game, one decision a yield; what to do next follows from what is in hand."""
        yield from self._turn(self._chance.randint(-3, 3), 0)  # no two tries begin alike
        yield from self._wait(self._chance.randint(0, 4))
        while True:
            counts = self._counts
            if self._at(self._feet()) in WATER:
                yield from self._go_ashore()
            elif counts[TORCH]:
                yield from self._wait(1)
            elif counts[COAL] and counts[STICK]:
                yield from self._craft(CRAFT_TORCH)
            elif not self._has_pick() or not counts[STICK]:
                yield from self._work_wood()
            elif counts[COBBLE] < ENOUGH_COBBLE:
                yield from self._quarry()
            else:
                yield from self._mine_coal()

    def _craft(self, recipe: int) -> Script:
        self._act(craft=recipe)
        yield
        return True

    def _work_wood(self) -> Script:
        """Does the next thing on the way from logs to a wooden pickaxe and a stick to spare."""
        counts, picked = self._counts, self._has_pick()
        table = self._near_table()
        needed = 0 if counts[STICK] >= STICKS_OF_PICK else PLANKS_OF_STICKS
        if not picked:
            needed += PLANKS_OF_PICK + (0 if table or counts[TABLE_ITEM] else PLANKS_OF_TABLE)
        if counts[PLANKS] < needed:
            if counts[PLANKS] + PLANKS_OF_LOG * counts[LOG] < needed:
                return (yield from self._fell(-(-(needed - counts[PLANKS]) // PLANKS_OF_LOG)))
            return (yield from self._craft(CRAFT_PLANKS))
        if counts[STICK] < STICKS_OF_PICK:
            return (yield from self._craft(CRAFT_STICKS))
        if self._container == 1:
            return (yield from self._craft(CRAFT_PICK))
        if table:
            return (yield from self._open(table))
        if not counts[TABLE_ITEM]:
            return (yield from self._craft(CRAFT_TABLE))
        return (yield from self._place_table())

    def _near_table(self) -> Cell | None:
        """Returns a table that can be opened from here."""
        for table in self._seen(TABLE_BLOCK, 5):
            if table not in self._shunned and math.dist(self._pose[:3], np.array(table) + 0.5) < TABLE_RANGE:
                return table
        return None

    def _open(self, table: Cell) -> Script:
        for _ in range(3):
            self._act(interact=True)
            yield
            if self._container == 1:
                return True
        self._shunned.add(table)
        return False

    def _place_table(self) -> Script:
        """Puts the table down somewhere beside."""
        refusals = 0
        while refusals < 3:
            yaw, pitch, found = bot_map.aim_to_place(self._memory, self._lo, self._pose)
            if not found:
                return (yield from self._shake(3))
            here = yaw == 0 and pitch == 0
            refusals += here
            self._act(yaw=_sign(yaw), pitch=_sign(pitch), use=here, item=ITEM_OF[TABLE_ITEM])
            yield
            if not self._counts[TABLE_ITEM]:
                yield from self._wait(1)
                return True
        return (yield from self._shake(3))

    def _fell(self, wanted: int) -> Script:
        """Cuts down trees until there are `wanted` logs: walks into the trunk, then digs upward."""
        trunks = self._trunks()
        if not trunks:
            return (yield from self._explore())
        if not (yield from self._travel(trunks)):
            self._shunned.update(trunks[:1])
            return (yield from self._explore())
        x, y, z = self._feet()
        for above in range(y + 2, y + 6):
            if self._counts[LOG] >= wanted:
                break
            if self._at((x, above, z)) != LOG_BLOCK and self._at((x, above, z)) != AIR:
                break
            if self._at((x, above, z)) == LOG_BLOCK:
                yield from self._centre()
                if not (yield from self._dig((x, above, z))):
                    break
        yield from self._wait(4)
        return True

    def _centre(self) -> Script:
        """Steps nearer to the middle of the cell one stands in, if it is far off."""
        x, _, z = self._feet()
        for _ in range(4):
            dx, dz = x + 0.5 - self._pose[0], z + 0.5 - self._pose[2]
            if math.hypot(dx, dz) < 0.4:
                return True
            self._step_towards(dx, dz, climb=False, stuck=False)
            yield
        return False

    def _trunks(self) -> list[Cell]:
        """Returns the lowest log of each trunk, the taller trunks only if there are any."""
        columns: dict[tuple[int, int], list[int]] = {}
        # A side that leaves blocks and logs empty must be searched with the camera.
        for x, y, z in self._logs if self._tops else self._seen(LOG_BLOCK, 40):
            columns.setdefault((x, z), []).append(y)
        tall = {place: ys for place, ys in columns.items() if len(ys) >= 3} or columns
        trunks = [(x, min(ys), z) for (x, z), ys in tall.items() if (x, min(ys), z) not in self._shunned]
        if len(trunks) > 2 and self._chance.random() < 0.25:
            trunks.pop(0)  # a try may prefer another tree than the nearest
        return trunks

    def _quarry(self) -> Script:
        """Digs out the nearest stone in sight, or down to some."""
        stones = [stone for stone in self._seen(STONE, 6) if stone not in self._shunned]
        if not stones:
            return (yield from self._deeper())
        before = self._counts[COBBLE]
        reached = yield from self._travel(stones[:24], 12)
        yield from self._wait(2)
        if not reached or self._counts[COBBLE] == before:
            self._shunned.update(stones[:6])
        return True

    def _mine_coal(self) -> Script:
        """Digs to the nearest coal, or goes where some may come in sight."""
        ores = [ore for ore in self._coal if ore not in self._shunned]
        if not ores:
            return (yield from self._seek_coal())
        goals = [(x, y - up, z) for x, y, z in ores[:12] for up in (0, 1)]
        before = self._counts[COAL]
        reached = yield from self._travel(goals)
        yield from self._wait(3)
        if not reached or self._counts[COAL] == before:
            x, y, z = self._feet()
            close = [ore for ore in ores if ore[0] == x and ore[2] == z and ore[1] in (y, y + 1)] or ores[:1]
            self._shunned.update(close)
        return True

    def _seek_coal(self) -> Script:
        """Digs down while there is depth to win, else goes elsewhere."""
        if self._pose[1] > DEEP_ENOUGH:
            return (yield from self._deeper())
        return (yield from self._explore())

    def _deeper(self) -> Script:
        """Digs some blocks down, near where one stands."""
        x, y, z = self._feet()
        around = range(-2, 3)
        if (yield from self._travel([(x + dx, y - 4, z + dz) for dx in around for dz in around], 40)):
            return True
        return (yield from self._explore())


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)


def _meets(cell: Cell, goal: Cell) -> bool:
    return all(wanted in (ANY, own) for own, wanted in zip(cell, goal, strict=True))
