"""`watch`: the dashboard on a run that another process drives, or on what a folder holds; and the list of runs."""

from pathlib import Path

import click

from core.errors import BadInput
from netherite_tui.cli.common import RUN, runs_dir_option
from netherite_tui.cli.dashboard import has_terminal, load_settings, show_runs


def open_run_list() -> int:
    """Opens the dashboard on the list of runs, as `netherite-tui` alone does.

    Raises:
        BadInput: there is no terminal.
    """
    _need_terminal()
    from core.runs.store import runs_dir

    return show_runs(runs_dir())


@click.command(short_help="Open the dashboard on a run, here or in another terminal.")
@click.argument("run_name", metavar="[RUN]", type=RUN, required=False)
@click.option("--readonly", is_flag=True, help="Offer nothing that changes a run.")
@click.option("--theme", metavar="NAME", help="netherite, overworld, high-contrast, mono or one of your own.")
@runs_dir_option
def watch(run_name: str | None, readonly: bool, theme: str | None, runs_dir: Path | None) -> int:
    """Watch RUN (an id, a unique prefix, or last): live when its engine runs on this host, else what its folder holds.

    Leaving the dashboard leaves the run running. Without RUN it opens the list of runs.
    """
    _need_terminal()
    from core.runs import store

    folder = store.runs_dir(runs_dir)
    if run_name is None:
        return show_runs(folder, readonly=readonly, theme=theme)
    from netherite_tui.app import run_app
    from netherite_tui.clients.opening import client_of

    client = client_of(store.find_run(folder, run_name))
    return run_app(client, settings=load_settings(theme), readonly=readonly)


def _need_terminal() -> None:
    if not has_terminal():
        raise BadInput("the dashboard needs a terminal; `ls`, `show` and `run --headless` do not")
