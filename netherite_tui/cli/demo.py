"""`demo`: a small replay on the embedded world that shows everything a run can do, mishaps included."""

from pathlib import Path
from typing import Any

import click

from netherite_tui.cli.common import runs_dir_option
from netherite_tui.cli.run import ladder_options, resolve_typed, run_new

#: Two cameras that lie and one process that stops answering, for a matrix with every kind of cell.
SETTINGS = {
    "backend": "voxel",
    "transfer": "replay",
    "policy": "bot",
    "tries": 1,
    "ep_ticks": 2000,
    "faults": ("10:0:cam:step=40:px=2", "27:0:cam:step=160:px=5", "33:0:hang:step=60"),
    "step_timeout_s": 15,
    "retries": 0,
}


@click.command(short_help="Run a small replay on the embedded world, faults included.")
@ladder_options
@runs_dir_option
@click.option("--headless", is_flag=True, help="No dashboard, even on a terminal.")
def demo(runs_dir: Path | None, headless: bool, **parameters: Any) -> int:
    """Run 13 seeds as a replay on the embedded world: no game, library, checkpoint or snapshot is needed.

    Two of the worlds are told to show wrong pixels and one to stop answering, so that a DIVERGE and a lost lane can be
    seen; the tables say so. Any option of `run` changes it.
    """
    return run_new(resolve_typed(parameters, SETTINGS), runs_dir, headless)
