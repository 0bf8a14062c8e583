"""`ls`, `show` and `rm`: the runs that were."""

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from core.errors import ExitCode
from netherite_tui.cli.common import RUN, run_argument, runs_dir_option

if TYPE_CHECKING:
    from core.runs.store import RunSummary, StoredRun


@click.command(short_help="List the runs.")
@runs_dir_option
def ls(runs_dir: Path | None) -> int:
    """List the runs, newest first: id, state, MATCH n/N or best milestone, lanes, age, host, what was run."""
    from core.runs import store

    home = store.runs_dir(runs_dir)
    rows = [_row(store.summarize(folder)) for folder in store.run_folders(home)]
    if not rows:
        click.echo(f"no runs in {home}", err=True)
    head = ("RUN", "STATE", "RESULT", "LANES", "AGE", "HOST", "WHAT")
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    for row in (head, *rows):
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    return ExitCode.OK


def _row(run: "RunSummary") -> tuple[str, ...]:
    lanes = f"{run.ended}/{run.lanes}" if run.lanes else "-"
    age = age_text(time.time() - run.started) if run.started else "-"
    return (
        run.id,
        run.state.value,
        run.headline or "-",
        lanes,
        age,
        run.host or "-",
        run.trouble or f"{run.name} {run.mode}",
    )


def age_text(seconds: float) -> str:
    """Returns an age in its two largest units, e.g. `3d 4h`."""
    left = max(0, int(seconds))
    parts = []
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60), ("s", 1)):
        count, left = divmod(left, size)
        if count or parts or unit == "s":
            parts.append(f"{count}{unit}")
    return " ".join(parts[:2])


@click.command(short_help="Print a run's tables and what is known of it.")
@run_argument
@runs_dir_option
@click.option("--report", "report_only", is_flag=True, help="Only the tables, as `run` prints them.")
def show(run_name: str, runs_dir: Path | None, report_only: bool) -> int:
    """Print a run's tables as far as they are known, and where they come from."""
    from core.runs import store

    run = store.load_run(store.find_run(store.runs_dir(runs_dir), run_name))
    if not report_only:
        for name, value in _facts(run):
            click.echo(f"# {name:<12} {value}")
    click.echo(run.report(), nl=False)
    return ExitCode.OK


def _facts(run: "StoredRun") -> list[tuple[str, str]]:
    started = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(run.started))
    facts = [
        ("run", run.id),
        ("folder", str(run.folder)),
        ("state", f"{run.state.value}, {len(run.results)} of {len(run.plan.lanes)} lanes have ended"),
        ("started", started),
        ("host", f"{run.host} pid {run.engine.get('pid', '-')}"),
        ("command", " ".join(run.manifest.get("argv", []))),
        ("versions", ", ".join(f"{name} {version}" for name, version in run.manifest.get("versions", {}).items())),
    ]
    facts += [(name, value[:16]) for name, value in run.manifest["hashes"].items() if not name.startswith("snapshot ")]
    if run.journal.torn_bytes:
        facts.append(("journal", f"ends in a torn frame of {run.journal.torn_bytes} bytes"))
    return facts


@click.command(short_help="Delete runs (asks first).")
@click.argument("run_names", metavar="RUN...", type=RUN, nargs=-1, required=True)
@click.option("--yes", is_flag=True, help="Do not ask.")
@runs_dir_option
def rm(run_names: tuple[str, ...], yes: bool, runs_dir: Path | None) -> int:
    """Delete runs with all they hold. A run that is being written to is refused."""
    from core.runs import store

    home = store.runs_dir(runs_dir)
    for folder in dict.fromkeys(store.find_run(home, name) for name in run_names):
        run = store.summarize(folder)
        if not yes and not click.confirm(f"Delete run {run.id} ({run.state.value}, {run.headline or 'unreadable'})?"):
            continue
        store.remove_run(folder)
        click.echo(f"deleted {run.id}")
    return ExitCode.OK
