"""Options and arguments several commands share."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from core.ladder.config import LadderConfig

Command = TypeVar("Command", bound=Callable[..., Any])


class RunName(click.ParamType):
    """A RUN argument: an id, a unique prefix of one, or `last`."""

    name = "run"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Offers the ids that begin with what was typed, newest first."""
        from core.runs import store

        folder = store.runs_dir(ctx.params.get("runs_dir"))
        names = ["last", *(path.name for path in store.run_folders(folder))]
        return [CompletionItem(name) for name in names if name.startswith(incomplete)]


RUN = RunName()


def run_argument(command: Command) -> Command:
    """Adds the RUN argument, passed as `run_name`."""
    return click.argument("run_name", metavar="RUN", type=RUN)(command)


def runs_dir_option(command: Command) -> Command:
    """Adds `--runs-dir`, passed as `runs_dir` (a path or None)."""
    return click.option(
        "--runs-dir",
        type=click.Path(file_okay=False, path_type=Path),
        metavar="DIR",
        help="Folder of the runs (else NETHERITE_RUNS, else the user data folder).",
    )(command)


def warm_up(config: "LadderConfig") -> None:
    """Compiles the kernels these settings need, if they are not, telling so on stderr.

    Raises:
        WarmUpError: they cannot be compiled.
    """
    from core.ladder.warmup import ensure_warm, rooms_of

    ensure_warm(rooms_of(config), lambda line: click.echo(line, err=True))
