"""`completion`: the script a shell sources to complete our commands."""

import click

from core.errors import ExitCode

HOW = {
    "bash": '# add to ~/.bashrc:  eval "$(netherite-tui completion bash)"',
    "zsh": '# add to ~/.zshrc:  eval "$(netherite-tui completion zsh)"',
    "fish": "# save as ~/.config/fish/completions/netherite-tui.fish",
}


@click.command(short_help="Print the completion script for a shell.")
@click.argument("shell", type=click.Choice(tuple(HOW)))
def completion(shell: str) -> int:
    """Print the completion script of a shell: commands, options, run ids, seeds, formats, files."""
    from click.shell_completion import get_completion_class

    from netherite_tui.cli import COMPLETE_VARIABLE, PROGRAM, cli

    found = get_completion_class(shell)
    assert found is not None  # the choice knows only shells that click knows
    click.echo(f"{HOW[shell]}\n{found(cli, {}, PROGRAM, COMPLETE_VARIABLE).source()}")
    return ExitCode.OK
