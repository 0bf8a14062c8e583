"""`bake`: snapshots made with the lane program."""

from pathlib import Path
from typing import Any

import click

from core.errors import BadInput, ExitCode
from netherite_tui.cli.common import warm_up
from netherite_tui.cli.run import ladder_options, resolve_typed


@click.command(short_help="Make snapshots with the lane program.")
@ladder_options
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Where the snapshots go (default: the snapshot folder).",
)
@click.option("--force", is_flag=True, help="Replace files that exist.")
def bake(out: Path | None, force: bool, **parameters: Any) -> int:
    """Make the t0 snapshot of each seed from a fresh spawn of the lane program, and check what was written.

    With --stage K (1 to 4): play each seed with --policy, at most --tries episodes of --ep-ticks, and take the
    snapshot the first time the stage's milestone is held. Ends with 3 when a seed has no snapshot after that.
    """
    from core.ladder.config import ALL_STAGES, GENERATED
    from core.runs.bake import bake_t0
    from core.runs.lane_program import program_of

    config = resolve_typed(parameters, {"backend": "magma"}).config
    if out is None and config.snaps_dir == GENERATED:
        raise BadInput("bake: backend voxel has no snapshot folder; name one with --out")
    if config.stage == ALL_STAGES:
        raise BadInput("bake: stage expected 0 to 4, found all")
    folder = out or Path(config.snaps_dir)
    program = program_of(config)
    warm_up(config)
    if config.stage == 0:
        for baked in bake_t0(program, config.seeds, folder, force=force):
            click.echo(baked.text)
        return ExitCode.OK
    return _climb(program, config, folder, force)


def _climb(program: Any, config: Any, folder: Path, force: bool) -> int:
    from core.policy.controls import controller_factory
    from core.runs.bake import Baked, Climb, bake_stage

    controllers = controller_factory(
        config.policy, network=config.network, checkpoint=config.checkpoint, device=config.device
    )
    climb = Climb(config.stage, controllers, config.tries, config.decisions, config.action_repeat, config.seed)
    missing = 0
    for baked in bake_stage(
        program, config.seeds, folder, climb, force=force, progress=lambda text: click.echo(text, err=True)
    ):
        if isinstance(baked, Baked):
            click.echo(baked.text)
        else:
            missing += 1
            click.echo(baked)
    return ExitCode.LANES_LOST if missing else ExitCode.OK
