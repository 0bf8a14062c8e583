"""Compiles every kernel of this room by using it once."""

import numpy as np

from core.policy.controls import Net, Random
from core.policy.network import ExactNetwork
from core.wire.bnn1 import TENSORS, Checkpoint
from core.wire.bolr import RECORD
from core.wire.senses import Senses, senses_of_record


def warm() -> None:
    """Decides once by the exact network and once by chance, with arrays as lanes have them."""
    record = np.zeros(1, RECORD)
    senses = Senses.over(record)
    senses_of_record(record, senses)
    tensors = {name: np.zeros(shape, np.float32) for name, shape in TENSORS.items()}
    lane = ExactNetwork(Checkpoint("zeros", tensors, 0)).lane()
    for controller in (Net(lane, ni=0, rng_seed=0, limit=1), Random(seed=0, ni=0)):
        controller.decide(senses, record, 0)
