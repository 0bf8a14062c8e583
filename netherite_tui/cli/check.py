"""`check`: do two worlds agree while walking straight on? One line."""

from dataclasses import replace
from functools import partial
from typing import Any

import click

from core.errors import ExitCode
from netherite_tui.cli.run import ladder_options, resolve_typed

DEFAULTS = {"backend": "magma"}


@click.command(short_help="Compare two worlds over 32 forward ticks: PASS or FAIL.")
@ladder_options
def check(**parameters: Any) -> int:
    """Walk 32 ticks forward from t0 in the game and in its reference, and compare every record with the replay's gate.

    Prints one PASS or FAIL line. The first seed is used unless --seeds is given.
    """
    from core.ladder.forward_check import FORWARD_TICKS, check_forward

    config = resolve_typed(parameters, DEFAULTS).config
    if parameters["seeds"] is None:
        config = replace(config, seeds=config.seeds[:1])
    names = f"{config.backend} and {config.reference}, seeds {','.join(map(str, config.seeds))}"
    trouble = check_forward(config, partial(click.echo, err=True))
    if trouble is None:
        click.echo(f"PASS {FORWARD_TICKS} forward ticks: {names}")
        return ExitCode.OK
    click.echo(f"FAIL {FORWARD_TICKS} forward ticks: {names}: {trouble.text}")
    return trouble.exit_code
