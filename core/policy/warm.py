"""Compiles the kernels of this room by using each once, with arguments as lanes have them."""

import numpy as np
import numpy.typing as npt

from core.policy.controls import Net, Random
from core.policy.network import ExactNetwork
from core.wire.bnn1 import TENSORS, Checkpoint
from core.wire.bolr import RECORD
from core.wire.senses import Senses, senses_of_record


def warm() -> None:
    """Decides once by the exact network and once by chance."""
    record, senses = _nothing()
    tensors = {name: np.zeros(shape, np.float32) for name, shape in TENSORS.items()}
    lane = ExactNetwork(Checkpoint("zeros", tensors, 0)).lane()
    for controller in (Net(lane, ni=0, rng_seed=0, limit=1), Random(seed=0, ni=0)):
        controller.decide(senses, record, 0)


def warm_bot() -> None:
    """Decides once by the bot, and asks its map what its script asks later on."""
    from core.policy import bot_map
    from core.policy.bot import Bot
    from core.policy.bot_body import DIG_COSTS
    from core.policy.bot_path import find_path

    record, senses = _nothing()
    Bot(ni=0, rng_seed=0, limit=1).decide(senses, record, 0)
    memory, lo, pose, cell = bot_map.blank(), np.zeros(2, np.int32), np.zeros(5), (1, 1, 1)
    bot_map.store(memory, lo, *cell, bot_map.recall(memory, lo, *cell))
    bot_map.aim(memory, lo, pose, cell, True)
    bot_map.aim_to_place(memory, lo, pose)
    find_path(memory, DIG_COSTS[False], cell, np.ones((1, 3), np.int32), 1)


def _nothing() -> tuple[npt.NDArray[np.void], Senses]:
    record = np.zeros(1, RECORD)
    senses = Senses.over(record)
    senses_of_record(record, senses)
    return record, senses
