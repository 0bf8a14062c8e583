"""Compiles every kernel of this room by using it once."""

import numpy as np

from core.policy import bot_map
from core.policy.bot import DIG_COSTS
from core.policy.bot_path import find_path
from core.policy.controls import Net, Random
from core.policy.network import ExactNetwork
from core.wire.bnn1 import TENSORS, Checkpoint
from core.wire.bolr import RECORD
from core.wire.senses import Senses, senses_of_record


def warm() -> None:
    """Decides once by the exact network and once by chance, with arrays as lanes have them, and thinks as the bot."""
    record = np.zeros(1, RECORD)
    senses = Senses.over(record)
    senses_of_record(record, senses)
    tensors = {name: np.zeros(shape, np.float32) for name, shape in TENSORS.items()}
    lane = ExactNetwork(Checkpoint("zeros", tensors, 0)).lane()
    for controller in (Net(lane, ni=0, rng_seed=0, limit=1), Random(seed=0, ni=0)):
        controller.decide(senses, record, 0)
    _warm_bot(senses, record[0])


def _warm_bot(senses: Senses, row: np.void) -> None:
    """Looks, aims and searches once in a world of which nothing is known."""
    memory, lo, pose = bot_map.blank(), np.zeros(2, np.int32), np.zeros(5)
    bot_map.note(memory, lo, 64, row["blocks"], row["logs"], row["coal"])
    bot_map.see(memory, lo, pose, senses.cam, senses.depth)
    bot_map.aim(memory, lo, pose, (0, 0, 0), False)
    bot_map.aim_to_place(memory, lo, pose)
    find_path(memory, DIG_COSTS[False], (64, 64, 64), np.zeros((1, 3), np.int32), 1)
