"""The scripted player: from the spawn to a torch, through the nine heads, from records alone (SPEC 7).

It is the positive control of an evaluation. It knows nothing of the world it plays in but what records say: it
remembers cells it saw (`bot_map`), searches ways through them (`bot_path`) and travels along them (`bot_body`). Here is
what it wants: the chain from logs to a torch.
"""

import math
import random
from collections.abc import Generator

import numpy as np
import numpy.typing as npt

from core.policy import bot_body
from core.policy.bot_body import COAL, COBBLE, LOG, PLANKS, STICK, TABLE_ITEM, TORCH, Body, Cell, Script, sign
from core.policy.bot_map import AIR
from core.policy.heads import to_act13
from core.wire.act13 import KEYS
from core.wire.senses import Senses

CRAFT_PLANKS, CRAFT_STICKS, CRAFT_TABLE, CRAFT_PICK, CRAFT_TORCH = 1, 2, 3, 4, 6  #: choices of the craft head
STONE, TABLE_BLOCK, LOG_BLOCK = 1, 58, 17
ENOUGH_COBBLE = 3
DEEP_ENOUGH = 24  #: blocks; coal is not sought by digging deeper than this
TABLE_RANGE = 4.5  #: blocks from feet to table centre at which it is opened
PLANKS_OF_LOG, PLANKS_OF_TABLE, PLANKS_OF_STICKS, PLANKS_OF_PICK, STICKS_OF_PICK = 4, 4, 2, 3, 2


class Bot:
    """Plays one lane. See `core.policy.controls.Controller`.

    Args:
        ni: noise index of the lane. rng_seed: seed of the run; both together choose the small variations of a try.
        limit: decisions in the episode.
    """

    def __init__(self, *, ni: int, rng_seed: int, limit: int) -> None:
        self._body = Body(random.Random(rng_seed * 1_000_003 + ni))
        self.heads = self._body.heads
        self._row = np.zeros(len(KEYS))
        self._shunned: set[Cell] = set()  # where a plan failed once
        self._script = self._play()

    def decide(self, senses: Senses, record: npt.NDArray[np.void], decision: int) -> npt.NDArray[np.float64]:
        """See `Controller.decide`."""
        self._body.observe(senses, record[0])
        next(self._script)
        to_act13(self.heads, self._row)
        return self._row

    def _play(self) -> Generator[None, None, None]:
        """The whole game, one decision a yield; what to do next follows from what is in hand."""
        yield from self._body.turn(self._body.chance.randint(-3, 3), 0)  # no two tries begin alike
        yield from self._body.wait(self._body.chance.randint(0, 4))
        while True:
            before = self._body.moment
            yield from self._do_next()
            if self._body.moment == before:  # nothing was left to do about it: let time pass
                yield from self._body.wait(1)

    def _do_next(self) -> Script:
        """Does one thing."""
        counts = self._body.counts
        if self._body.at(self._body.feet()) in bot_body.WATER:
            return (yield from self._body.go_ashore())
        if counts[TORCH]:
            return (yield from self._body.wait(1))
        if counts[COAL] and counts[STICK]:
            return (yield from self._craft(CRAFT_TORCH))
        if not self._body.has_pick() or not counts[STICK]:
            return (yield from self._work_wood())
        if counts[COBBLE] < ENOUGH_COBBLE:
            return (yield from self._quarry())
        return (yield from self._mine_coal())

    def _craft(self, recipe: int) -> Script:
        self._body.act(craft=recipe)
        yield
        return True

    def _work_wood(self) -> Script:
        """Does the next thing on the way from logs to a wooden pickaxe and a stick to spare."""
        counts, picked = self._body.counts, self._body.has_pick()
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
        if self._body.container == 1:
            return (yield from self._craft(CRAFT_PICK))
        if table:
            return (yield from self._open(table))
        if not counts[TABLE_ITEM]:
            return (yield from self._craft(CRAFT_TABLE))
        return (yield from self._place_table())

    def _near_table(self) -> Cell | None:
        """Returns a table that can be opened from here."""
        for table in self._body.seen(TABLE_BLOCK, 5):
            if table not in self._shunned and math.dist(self._body.pose[:3], np.array(table) + 0.5) < TABLE_RANGE:
                return table
        return None

    def _open(self, table: Cell) -> Script:
        for _ in range(3):
            self._body.act(interact=True)
            yield
            if self._body.container == 1:
                return True
        self._shunned.add(table)
        return False

    def _place_table(self) -> Script:
        """Puts the table down somewhere beside."""
        refusals = 0
        while refusals < 3:
            yaw, pitch, found = self._body.aim_to_place()
            if not found:
                return (yield from self._body.shake(3))
            here = yaw == 0 and pitch == 0
            refusals += here
            self._body.act(yaw=sign(yaw), pitch=sign(pitch), use=here, item=bot_body.ITEM_OF[TABLE_ITEM])
            yield
            if not self._body.counts[TABLE_ITEM]:
                yield from self._body.wait(1)
                return True
        return (yield from self._body.shake(3))

    def _fell(self, wanted: int) -> Script:
        """Cuts down trees until there are `wanted` logs: walks into the trunk, then digs upward."""
        trunks = self._trunks()
        if not trunks:
            return (yield from self._body.explore())
        if not (yield from self._body.travel(trunks)):
            self._shunned.update(trunks[:1])
            return (yield from self._body.explore())
        x, y, z = self._body.feet()
        for above in range(y + 2, y + 6):
            if self._body.counts[LOG] >= wanted:
                break
            if self._body.at((x, above, z)) != LOG_BLOCK and self._body.at((x, above, z)) != AIR:
                break
            if self._body.at((x, above, z)) == LOG_BLOCK:
                yield from self._body.centre()
                if not (yield from self._body.dig((x, above, z))):
                    break
        yield from self._body.wait(4)
        return True

    def _trunks(self) -> list[Cell]:
        """Returns the lowest log of each trunk, the taller trunks only if there are any."""
        columns: dict[tuple[int, int], list[int]] = {}
        # A side that leaves blocks and logs empty must be searched with the camera.
        for x, y, z in self._body.logs if self._body.tops else self._body.seen(LOG_BLOCK, 40):
            columns.setdefault((x, z), []).append(y)
        tall = {place: ys for place, ys in columns.items() if len(ys) >= 3} or columns
        trunks = [(x, min(ys), z) for (x, z), ys in tall.items() if (x, min(ys), z) not in self._shunned]
        if len(trunks) > 2 and self._body.chance.random() < 0.25:
            trunks.pop(0)  # a try may prefer another tree than the nearest
        return trunks

    def _quarry(self) -> Script:
        """Digs out the nearest stone in sight, or down to some."""
        stones = [stone for stone in self._body.seen(STONE, 6) if stone not in self._shunned]
        if not stones:
            return (yield from self._deeper())
        before = self._body.counts[COBBLE]
        reached = yield from self._body.travel(stones[:24], 12)
        yield from self._body.wait(2)
        if not reached or self._body.counts[COBBLE] == before:
            self._shunned.update(stones[:6])
        return True

    def _mine_coal(self) -> Script:
        """Digs to the nearest coal, or goes where some may come in sight."""
        ores = [ore for ore in self._body.coal if ore not in self._shunned]
        if not ores:
            return (yield from self._seek_coal())
        goals = [(x, y - up, z) for x, y, z in ores[:12] for up in (0, 1)]
        before = self._body.counts[COAL]
        reached = yield from self._body.travel(goals)
        yield from self._body.wait(3)
        if not reached or self._body.counts[COAL] == before:
            x, y, z = self._body.feet()
            close = [ore for ore in ores if ore[0] == x and ore[2] == z and ore[1] in (y, y + 1)] or ores[:1]
            self._shunned.update(close)
        return True

    def _seek_coal(self) -> Script:
        """Digs down while there is depth to win, else goes elsewhere."""
        if self._body.pose[1] > DEEP_ENOUGH:
            return (yield from self._deeper())
        return (yield from self._body.explore())

    def _deeper(self) -> Script:
        """Digs some blocks down, near where one stands."""
        x, y, z = self._body.feet()
        around = range(-2, 3)
        if (yield from self._body.travel([(x + dx, y - 4, z + dz) for dx in around for dz in around], 40)):
            return True
        return (yield from self._body.explore())
