"""`run`: a ladder from the command line, with the native eval's options and ours."""

import contextlib
import os
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from core.errors import ExitCode
from core.ladder.config import (
    KEYS,
    Key,
    Resolved,
    config_path,
    dump_config,
    parse_set,
    read_config_file,
    resolve,
)
from netherite_tui.cli.common import RUN, runs_dir_option
from netherite_tui.cli.complete import complete_value
from netherite_tui.cli.dashboard import drive_in_dashboard, has_terminal

if TYPE_CHECKING:
    from core.runs.session import Session

Command = Callable[..., Any]


def ladder_options(command: Command) -> Command:
    """Adds one option for each key of the config, and `--set`; they arrive as texts, None when not typed."""
    for key in reversed(KEYS.values()):
        command = _option(key)(command)
    return click.option(
        "--set", "assignments", multiple=True, metavar="KEY=VALUE", help="Set a key by its name (a typed option wins)."
    )(command)


def _option(key: Key) -> Callable[[Command], Command]:
    return click.option(
        key.option,
        key.name,
        multiple=key.repeatable,
        default=None,
        metavar="VALUE",
        help=_help(key),
        shell_complete=partial(complete_value, key),
    )


def _help(key: Key) -> str:
    words = f": {', '.join(key.words[:-1])} or {key.words[-1]}" if key.words else ""
    return key.help + words + (" (repeatable)." if key.repeatable else ".")


def typed_values(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the keys that were typed as options."""
    return {name: parameters[name] for name in KEYS if parameters.get(name) not in (None, ())}


def resolve_typed(parameters: Mapping[str, Any], below: Mapping[str, Any] | None = None) -> Resolved:
    """Returns the config of the file, `--set` and the typed options.

    Args:
        parameters: click's parameters of a command with `ladder_options`.
        below: defaults of the command itself, weaker than the config file.
    """
    path = config_path()
    return resolve(
        [
            ("command", below or {}),
            (f"config file {path}", read_config_file(path)["run"]),
            ("--set", parse_set(parameters["assignments"])),
            ("flag", typed_values(parameters)),
        ]
    )


@click.command(short_help="Run a ladder and print its tables.")
@ladder_options
@runs_dir_option
@click.option("--resume", "resumed", type=RUN, metavar="RUN", help="Go on with a run: an id, a unique prefix, or last.")
@click.option("--headless", is_flag=True, help="No dashboard, even on a terminal.")
@click.option("--detach", is_flag=True, help="Run in the background of this host and print the run's id.")
@click.option("--dump-config", "dump", is_flag=True, help="Print the settings and stop.")
def run(resumed: str | None, runs_dir: Path | None, headless: bool, detach: bool, dump: bool, **parameters: Any) -> int:
    """Run a ladder: seeds x tries episodes, and print the native eval's tables.

    Settings come from the config file, then --set, then the options typed here; `netherite-tui config` shows every
    default. Progress goes to stderr, the tables to stdout. The first Ctrl-C saves and prints what is there, the second
    kills at once.
    """
    if dump:
        click.echo(dump_config(resolve_typed(parameters).config), nl=False)
        return ExitCode.OK
    if detach:
        from netherite_tui.cli.drive import detach as start_detached

        click.echo(start_detached(_arguments(resumed, runs_dir, parameters)))
        return ExitCode.OK
    if resumed is None:
        resolved = resolve_typed(parameters)
        return run_new(resolved, runs_dir, headless)
    return run_again(resumed, runs_dir, headless, parameters)


def run_new(resolved: Resolved, runs_dir: Path | None, headless: bool) -> int:
    """Runs a new ladder and returns the exit code."""
    from core.runs import store

    if not headless and has_terminal():
        from netherite_tui.clients.opening import new_run

        return drive_in_dashboard(new_run(resolved, store.runs_dir(runs_dir)))
    from core.runs.session import Session

    return _run_session(
        lambda tell: Session.create(resolved, runs_dir=store.runs_dir(runs_dir), argv=sys.argv, on_progress=tell)
    )


def run_again(name: str, runs_dir: Path | None, headless: bool, parameters: Mapping[str, Any]) -> int:
    """Goes on with a run and returns the exit code."""
    from core.runs import store

    changes = {**parse_set(parameters["assignments"]), **typed_values(parameters)}
    folder = store.find_run(store.runs_dir(runs_dir), name).resolve()
    if not headless and has_terminal():
        from netherite_tui.clients.opening import resumed_run

        return drive_in_dashboard(resumed_run(folder, changes))
    from core.runs.session import Session

    manifest = store.read_manifest(folder)
    if "stuck" not in manifest.get("origins", {}):  # nobody is here to be asked, whatever a dashboard did before
        changes.setdefault("stuck", "kill")
    with contextlib.suppress(OSError):  # its relative paths, and magma.conf, belong to where it was first started
        os.chdir(manifest.get("directory", ""))
    return _run_session(lambda tell: Session.reopen(folder, changes, on_progress=tell))


def _run_session(make: Callable[[Callable[[str], None]], "Session"]) -> int:
    from netherite_tui.cli.drive import announce, drive
    from netherite_tui.cli.signals import stop_raises

    with stop_raises():
        session = make(partial(click.echo, err=True))
    announce(session)
    return drive(session)


def _arguments(resumed: str | None, runs_dir: Path | None, parameters: Mapping[str, Any]) -> list[str]:
    """Returns the options of this call as arguments of another one."""
    arguments = []
    for name, value in typed_values(parameters).items():
        for one in value if KEYS[name].repeatable else (value,):
            arguments.append(f"{KEYS[name].option}={one}")
    arguments += [f"--set={assignment}" for assignment in parameters["assignments"]]
    arguments += [f"--runs-dir={runs_dir}"] if runs_dir else []
    return arguments + ([f"--resume={resumed}"] if resumed else [])
