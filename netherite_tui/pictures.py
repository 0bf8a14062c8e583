"""Pictures of the dashboard as SVG files: `python -m netherite_tui.pictures RUN FOLDER` (see `--help`).

The screens show a run of the runs folder, live or finished, exactly as `watch` does; nothing is drawn for the picture.
"""

import asyncio
import os
import re
from pathlib import Path

import click

from netherite_tui.cli.common import run_argument, runs_dir_option

#: Picture name -> terminal size, theme, keys pressed.
PICTURES = {
    "run": ((120, 40), "netherite", ()),
    "wide": ((200, 60), "netherite", ()),
    "wall": ((120, 40), "netherite", ("3",)),
    "lane": ((120, 40), "netherite", ("enter",)),
    "light": ((120, 40), "overworld", ()),
    "small": ((80, 24), "netherite", ("2",)),
}
PATIENCE_S = 30.0
#: Rules that would load a font from another host: the pictures stand alone, in whatever fixed-width font there is.
_FONT_RULES = re.compile(r"\s*@font-face \{.*?\}", re.DOTALL)


@click.command()
@run_argument
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@runs_dir_option
@click.option("--lane", type=int, default=0, metavar="N", help="Lane under the cursor, from 0.")
@click.option("--only", multiple=True, type=click.Choice(tuple(PICTURES)), help="Make only these.")
def pictures(run_name: str, folder: Path, runs_dir: Path | None, lane: int, only: tuple[str, ...]) -> None:
    """Write pictures of the dashboard on RUN into FOLDER, one SVG a screen."""
    from core.runs import store

    os.environ.pop("NO_COLOR", None)
    os.environ["TEXTUAL_COLOR_SYSTEM"] = "truecolor"  # whatever this terminal can show; read when textual is imported
    run_folder = store.find_run(store.runs_dir(runs_dir), run_name)
    folder.mkdir(parents=True, exist_ok=True)
    for name in only or PICTURES:
        path = folder / f"{name}.svg"
        path.write_text(asyncio.run(picture(run_folder, name, lane)), encoding="utf-8")
        click.echo(path)


async def picture(run_folder: Path, name: str, lane: int) -> str:
    """Returns one of PICTURES of a run as SVG text."""
    from netherite_tui.app import NetheriteApp
    from netherite_tui.clients.opening import client_of
    from netherite_tui.screens.run import RunScreen
    from netherite_tui.settings import Settings

    size, theme, keys = PICTURES[name]
    client = client_of(run_folder)
    app = NetheriteApp(client, settings=Settings(theme=theme, glyphs="block"), readonly=True)
    async with app.run_test(size=size) as pilot:
        screen = app.screen
        assert isinstance(screen, RunScreen)
        for _ in range(int(PATIENCE_S / 0.1)):
            await pilot.pause(0.1)
            if screen.model.views:
                break
        screen.pane("lanes").move_to(lane)
        await pilot.press(*keys)
        await pilot.pause(1.0)
        svg = app.export_screenshot(title=f"netherite-tui: {name}")
    client.close()
    return _FONT_RULES.sub("", svg)


if __name__ == "__main__":
    pictures()
