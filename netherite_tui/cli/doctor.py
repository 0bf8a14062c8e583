"""`doctor`: what a run needs on this machine, one line each."""

from pathlib import Path
from typing import Any

import click

from core.errors import ExitCode
from netherite_tui.cli.common import runs_dir_option, warm_up
from netherite_tui.cli.run import ladder_options, resolve_typed


@click.command(short_help="Check this machine, the game, libraries and snapshots.")
@ladder_options
@runs_dir_option
def doctor(runs_dir: Path | None, **parameters: Any) -> int:
    """Check everything a run with these settings needs: one line each, and what to do when it is bad.

    Ends with 0, or with 3 when something is bad. Without --backend the game (magma) is checked.
    """
    from core.runs import store
    from core.runs.doctor import Level, Patient, examine

    config = resolve_typed(parameters, {"backend": "magma"}).config
    patient = Patient(config, store.runs_dir(runs_dir))
    warm_up(config)
    bad = 0
    for finding in examine(patient):
        click.echo(finding.line)
        bad += finding.level is Level.BAD
    return ExitCode.LANES_LOST if bad else ExitCode.OK
