"""`config`: where things are, and every setting with where it came from."""

import os
from pathlib import Path
from typing import Any

import click

from core.errors import ExitCode
from netherite_tui.cli.common import runs_dir_option
from netherite_tui.cli.run import ladder_options, resolve_typed


@click.command(short_help="Show paths and settings, and where each came from.")
@ladder_options
@runs_dir_option
def config(runs_dir: Path | None, **parameters: Any) -> int:
    """Show the paths this program uses and the value of every setting, with where each came from."""
    from core import kernels
    from core.ladder.config import KEYS, config_path, value_text
    from core.runs import store
    from core.runs.tune import shown_path
    from netherite_tui.theming import shipped_folder

    resolved = resolve_typed(parameters)
    for name, path, origin in (
        ("config file", config_path(), _origin("NETHERITE_CONFIG")),
        ("runs", store.runs_dir(runs_dir), "--runs-dir" if runs_dir else _origin("NETHERITE_RUNS")),
        ("themes", config_path().parent / "themes", "beside the config file"),
        ("shipped themes", shipped_folder(), "to copy from"),
        ("tuned", shown_path(), "default"),
        ("kernels", kernels.CACHE_DIR, _cache_origin()),
    ):
        missing = "" if path is None or path.exists() else ", does not exist yet"
        click.echo(f"{name:<16} {path or kernels.CACHE_NOTE!s:<42} {origin}{missing}")
    click.echo()
    for name in KEYS:
        click.echo(f"{name:<16} = {value_text(resolved.config, name) or '(none)':<40} {resolved.origins[name]}")
    return ExitCode.OK


def _origin(variable: str) -> str:
    return f"environment {variable}" if os.environ.get(variable) else "default"


def _cache_origin() -> str:
    """Says where the kernels' folder came from; by now the variable is always set, for the lane processes."""
    from core import kernels

    if kernels.CACHE_NOTE:
        return "the usual folder cannot be written"
    return "default" if kernels.cache_dir() == kernels.CACHE_DIR else f"environment {kernels.CACHE_VARIABLE}"
