import os
import subprocess
import sys
from pathlib import Path

SCRIPT = """
import sys
import numpy as np
from core.policy.controls import controller_factory
from core.policy.warm import warm, warm_bot
from core.wire.bolr import RECORD
from core.wire.senses import Senses, senses_of_record
from tests.paths import DATA

def compiled():
    '''Returns every kernel in use with the types it is ready for.'''
    modules = [module for name, module in sys.modules.items() if name.startswith("core.")]
    kernels = {thing for module in modules for thing in vars(module).values() if hasattr(thing, "py_func")}
    return {(kernel.py_func.__qualname__, types) for kernel in kernels for types in kernel.signatures}

warm()
warm_bot()
before = compiled()
records = np.load(DATA / "magma/s10_walk32.npz")["records"]
for policy in ("net", "random", "noop", "bot"):
    controller = controller_factory(policy, checkpoint="fixture:1").make(ni=1, rng_seed=2, limit=33)
    for decision, raw in enumerate(records):
        record = raw.view(RECORD)
        senses = Senses.empty()
        senses_of_record(record, senses)
        controller.decide(senses, record, decision)
print(len(before) > 5, sorted(compiled() - before))
"""


def test_after_warming_up_no_policy_compiles_anything():
    root = str(Path(__file__).parents[3])
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env=os.environ | {"PYTHONPATH": root},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.stdout == "True []\n", done.stderr
