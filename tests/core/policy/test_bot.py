"""The scripted player in a short game of its own."""

from collections.abc import Iterator

import numpy as np
import pytest

from core.policy.bot import Bot
from core.policy.bot_body import COAL, COBBLE, TORCH
from core.policy.heads import WIDTHS
from core.wire.bolr import RECORD
from core.wire.senses import Senses, senses_of_record
from core.worlds.voxel.lists import emit
from core.worlds.voxel.load import sim_of_snapshot
from core.worlds.voxel.step import run_decision
from core.worlds.voxel.terrain import spawn_snapshot

REPEAT, LIMIT = 4, 1500


def play(bot: Bot, seed: int, limit: int = LIMIT, listed: bool = True) -> Iterator[tuple[list[int], np.ndarray]]:
    """Yields the nine heads and the inventory totals of each decision, up to the first torch."""
    sim, record = sim_of_snapshot(spawn_snapshot(seed), 1), np.zeros(1, RECORD)
    senses = Senses.over(record)
    for decision in range(limit):
        emit(sim, record, cam=True)
        if not listed:
            record["blocks"], record["logs"] = 0, 0
        senses_of_record(record, senses)
        row = bot.decide(senses, record, decision)
        yield bot.heads.tolist(), senses.status[:9].copy()
        if senses.status[TORCH]:
            return
        run_decision(sim, row, REPEAT)


@pytest.mark.parametrize("listed", [True, False], ids=["with lists", "by camera alone"])
def test_it_plays_from_the_spawn_to_a_torch(listed):
    game = list(play(Bot(ni=0, rng_seed=0, limit=LIMIT), seed=2, listed=listed))
    best = np.max([counts for _, counts in game], axis=0)
    assert best[TORCH] >= 1
    assert best[COBBLE] >= 3
    assert best[COAL] >= 1
    assert all(0 <= head < width for heads, _ in game for head, width in zip(heads, WIDTHS, strict=True))


def test_a_try_is_repeatable_and_tries_differ():
    def heads_of(ni: int, rng_seed: int) -> list[list[int]]:
        return [heads for heads, _ in play(Bot(ni=ni, rng_seed=rng_seed, limit=LIMIT), seed=3, limit=40)]

    assert heads_of(0, 0) == heads_of(0, 0)
    assert len({str(heads_of(ni, rng_seed)) for ni in range(3) for rng_seed in range(2)}) >= 4


def test_it_never_stops_deciding_in_a_world_without_anything():
    bot, record = Bot(ni=1, rng_seed=1, limit=LIMIT), np.zeros(1, RECORD)
    record["xyz"] = (8.5, 64.0, 8.5)
    senses = Senses.over(record)
    senses_of_record(record, senses)
    for decision in range(60):
        assert bot.decide(senses, record, decision).shape == (13,)
