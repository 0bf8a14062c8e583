"""`tune`: lane arguments that make lanes faster and change no byte."""

import shlex
from typing import TYPE_CHECKING, Any

import click

from core.errors import BadInput, ExitCode
from netherite_tui.cli.common import warm_up
from netherite_tui.cli.run import ladder_options, resolve_typed

if TYPE_CHECKING:
    from core.ladder.config import LadderConfig
    from core.runs.tune import Start

MOST_STARTS = 3  #: when no seeds are typed


@click.command(short_help="Find faster lane arguments that change no byte.")
@ladder_options
@click.option(
    "--try", "tried", multiple=True, metavar="'ARG...'", help="Arguments to try together, quoted (repeatable)."
)
@click.option("--ticks", type=click.IntRange(1, 10_000_000), default=2000, show_default=True, help="Ticks a snapshot.")
@click.option(
    "--actions-seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the random actions."
)
def tune(tried: tuple[str, ...], ticks: int, actions_seed: int, **parameters: Any) -> int:
    """Run the lane program with and without lane arguments on some snapshots and compare every byte.

    For each: identical or the first difference, ticks/s and RSS as ratios, and the option to use. What was shown
    identical is kept per lane binary; a run with other lane arguments says so in its report. Ends with 1 when nothing
    tried was identical.
    """
    from core.runs.lane_program import program_of
    from core.runs.provenance import lane_binary_hash
    from core.runs.tune import USUAL_ARGUMENTS, remember
    from core.runs.tune import tune as compare

    config = resolve_typed(parameters, {"backend": "magma"}).config
    argument_sets = [tuple(shlex.split(one)) for one in tried] or list(USUAL_ARGUMENTS)
    starts = _starts(config, MOST_STARTS if parameters["seeds"] is None else len(config.seeds))
    warm_up(config)
    binary = lane_binary_hash(config)
    identical = False
    for verdict in compare(
        program_of(config),
        starts,
        argument_sets,
        ticks=ticks,
        repeat=config.action_repeat,
        actions_seed=actions_seed,
        progress=lambda text: click.echo(f"trying {text}", err=True),
    ):
        click.echo(verdict.text)
        remember(binary, verdict)
        identical |= verdict.identical
    return ExitCode.OK if identical else ExitCode.DIVERGE


def _starts(config: "LadderConfig", most: int) -> "list[Start]":
    from pathlib import Path

    from core.ladder.config import GENERATED
    from core.runs.tune import Start

    if config.snaps_dir == GENERATED:
        return [Start(seed, None) for seed in config.seeds[:most]]
    paths = {seed: Path(config.snaps_dir) / f"s{seed}_t0.bsnp" for seed in config.seeds}
    starts = [Start(seed, path) for seed, path in paths.items() if path.is_file()][:most]
    if not starts:
        raise BadInput(f"snaps_dir {config.snaps_dir}: expected a t0 snapshot of one of the seeds, found none")
    return starts
