"""From the command line into the dashboard, and back out with the right words and exit code."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from core.errors import ExitCode

if TYPE_CHECKING:
    from netherite_tui.clients.live import LiveRun
    from netherite_tui.settings import Settings


def has_terminal() -> bool:
    """Returns whether there is somebody to show a dashboard to."""
    return sys.stdin.isatty() and sys.stdout.isatty() and sys.stderr.isatty()


def load_settings(theme: str | None = None) -> "Settings":
    """Returns the dashboard's settings from the config file; a typed theme wins.

    Raises:
        BadInput: the config file cannot be used.
    """
    from dataclasses import replace

    from core.ladder.config import config_path, read_config_file
    from netherite_tui.settings import settings_from

    path = config_path()
    tables = read_config_file(path)
    settings = settings_from(tables, source=f"config file {path}", theme_folder=path.parent / "themes")
    return replace(settings, theme=theme) if theme else settings


def drive_in_dashboard(client: "LiveRun") -> int:
    """Shows a run that lives in this process until it is left; then prints its tables as `run --headless` does.

    Returns:
        130 or 128 + n when it was stopped before its end, else the run's own exit code.

    Raises:
        NetheriteError: the run could not begin, or a setting cannot be used.
    """
    from netherite_tui.app import run_app

    code = run_app(client, settings=load_settings())
    session = client.session
    if session is None:
        return code or ExitCode.INTERRUPTED
    if session.failure:
        print(f"netherite-tui: {session.failure}", file=sys.stderr)
    elif session.is_unfinished():
        print(f"netherite-tui: stopped; go on with: netherite-tui run --resume {session.id}", file=sys.stderr)
    sys.stdout.write(session.report())
    sys.stdout.flush()
    return code or int(session.exit_code())


def show_runs(runs_dir: Path, *, readonly: bool = False, theme: str | None = None) -> int:
    """Opens the dashboard on the list of runs."""
    from netherite_tui.app import run_app

    return run_app(runs_dir=runs_dir, settings=load_settings(theme), readonly=readonly)
