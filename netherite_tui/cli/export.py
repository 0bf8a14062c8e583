"""`export`: a run's tables in a format people paste."""

import sys
from pathlib import Path

import click

from core.errors import ExitCode
from core.runs import store
from core.runs.export import FORMATS, export_run, render, write_export
from netherite_tui.cli.common import run_argument, runs_dir_option

STDOUT = "-"


@click.command(short_help="Write a run's tables as md, csv, json or html.")
@run_argument
@runs_dir_option
@click.option("--format", "format", type=click.Choice(tuple(FORMATS)), help="Default: by the file's ending, else md.")
@click.option(
    "-o", "--output", type=click.Path(allow_dash=True), default=STDOUT, metavar="FILE", help="Default: - for stdout."
)
def export(run_name: str, runs_dir: Path | None, format: str | None, output: str) -> int:
    """Write the tables of a run, finished or not. A file is written whole or not at all."""
    run = store.load_run(store.find_run(store.runs_dir(runs_dir), run_name))
    ending = Path(output).suffix.removeprefix(".")
    chosen = format or (ending if ending in FORMATS else "md")
    if output == STDOUT:
        sys.stdout.buffer.write(render(export_run(run), chosen).encode())
    else:
        write_export(export_run(run), chosen, Path(output))
    return ExitCode.OK
