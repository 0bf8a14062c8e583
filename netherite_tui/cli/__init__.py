"""The command line. Commands are imported when they are used, so that `--help` costs little more than bare python."""

import contextlib
import importlib
import os
import sys
from collections.abc import Sequence

import click

from core import __version__
from core.errors import ExitCode, NetheriteError
from netherite_tui.cli.signals import Stopped

#: Command name -> where it lives (module:attribute) and its line in `--help`, in the order people meet them.
COMMANDS = {
    "run": ("netherite_tui.cli.run:run", "Run a ladder and print its tables."),
    "demo": ("netherite_tui.cli.demo:demo", "Run a small replay on the embedded world, faults included."),
    "check": ("netherite_tui.cli.check:check", "Compare two worlds over 32 forward ticks: PASS or FAIL."),
    "watch": ("netherite_tui.cli.watch:watch", "Open the dashboard on a run, here or in another terminal."),
    "ls": ("netherite_tui.cli.runs:ls", "List the runs."),
    "show": ("netherite_tui.cli.runs:show", "Print a run's tables and what is known of it."),
    "rm": ("netherite_tui.cli.runs:rm", "Delete runs (asks first)."),
    "export": ("netherite_tui.cli.export:export", "Write a run's tables as md, csv, json or html."),
    "kill": ("netherite_tui.cli.control:kill", "Kill lanes of a live run."),
    "pause": ("netherite_tui.cli.control:pause", "Pause lanes of a live run."),
    "resume": ("netherite_tui.cli.control:resume", "Let paused lanes of a live run go on."),
    "stop": ("netherite_tui.cli.control:stop", "Stop a live run and keep what it has."),
    "reap": ("netherite_tui.cli.control:reap", "End lane processes whose engine is gone."),
    "tune": ("netherite_tui.cli.tune:tune", "Find faster lane arguments that change no byte."),
    "bake": ("netherite_tui.cli.bake:bake", "Make snapshots with the lane program."),
    "doctor": ("netherite_tui.cli.doctor:doctor", "Check this machine, the game, libraries and snapshots."),
    "config": ("netherite_tui.cli.config:config", "Show paths and settings, and where each came from."),
    "completion": ("netherite_tui.cli.completion:completion", "Print the completion script for a shell."),
}


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports one when it is called or asked for its own help."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Returns the names in the table's order."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Imports one command."""
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the table without importing anything."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


PROGRAM = "netherite-tui"
COMPLETE_VARIABLE = "_NETHERITE_TUI_COMPLETE"  #: set by the shell when it asks for completions
EPILOG = "Exit codes: 0 success, 1 DIVERGE, 2 usage or bad input, 3 lanes lost, 4 refused, 129/130/143 interrupted."


@click.group(
    cls=LazyGroup, invoke_without_command=True, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(__version__, prog_name=PROGRAM)
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Run netherite transfer evaluations, blaze to magma.

    Without a command it opens the dashboard on the list of runs.
    """
    if ctx.invoked_subcommand is None:
        from netherite_tui.cli.watch import open_run_list

        ctx.exit(open_run_list())


def run_cli(arguments: Sequence[str]) -> int:
    """Runs one command line and returns its exit code; every failure is one line on stderr."""
    try:
        code = _invoke(arguments)
        sys.stdout.flush()
        return code
    except NetheriteError as error:
        return _fail(str(error), error.exit_code)
    except Stopped as stopped:
        return _fail("stopped before it began", stopped.exit_code)
    except (click.exceptions.Abort, KeyboardInterrupt):
        return _fail("interrupted", ExitCode.INTERRUPTED)
    except click.UsageError as error:
        return _fail(_usage_text(error), ExitCode.USAGE)
    except click.ClickException as error:
        return _fail(error.format_message(), ExitCode.USAGE)
    except BrokenPipeError:
        _silence_stdout()
        return _fail("standard output was closed", ExitCode.USAGE)
    except OSError as error:
        return _fail(f"{error.filename or 'standard output'}: {error.strerror or error}", ExitCode.USAGE)


def _invoke(arguments: Sequence[str]) -> int:
    """Runs the command line. click's own `main` would end the process on a closed stdout with the code of a DIVERGE."""
    if COMPLETE_VARIABLE in os.environ:
        cli.main(list(arguments), prog_name=PROGRAM, complete_var=COMPLETE_VARIABLE)
    try:
        with cli.make_context(PROGRAM, list(arguments)) as context:
            return int(cli.invoke(context) or ExitCode.OK)
    except click.exceptions.Exit as end:
        return end.exit_code


def _usage_text(error: click.UsageError) -> str:
    command = error.ctx.command_path.removeprefix("netherite-tui").strip() if error.ctx else ""
    text = " ".join(error.format_message().split())
    return f"{f'{command}: ' if command else ''}{text} (see netherite-tui {f'{command} ' if command else ''}--help)"


def _fail(text: str, code: int) -> int:
    # What came from outside may hold escape sequences: shown, never obeyed by the terminal.
    line = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in " ".join(text.splitlines()))
    # A fatal line of the native keeps its own first word, so that what greps for it still finds it.
    with contextlib.suppress(OSError):  # a full disk behind stderr must not change the exit code
        print(line if line.startswith("eval: ") else f"netherite-tui: {line}", file=sys.stderr)
    return int(code)


def _silence_stdout() -> None:
    """Points stdout at /dev/null, so that the interpreter's last flush does not fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
