"""Command line of the lane process: magma_game's flags (SPEC 1), plus `--fault`."""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from core.errors import BadInput
from core.worlds.voxel.faults import Fault


class Options(argparse.Namespace):
    """What the lane process was told."""

    snapshot_in: Path | None  #: None = land generated from the seed
    seed: int | None  #: None = the snapshot's
    view_distance: int  #: chunks
    fault: list[Fault]


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Says one line, unlike argparse, and ends with the code for bad options."""
        self.exit(2, f"{self.prog}: {message}\n")


def _whole(low: int, high: int) -> Callable[[str], int]:
    def convert(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = low - 1
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(f"expected a whole number {low}..{high}, found {text!r}")
        return value

    return convert


def _setting(text: str) -> str:
    if not text.partition("=")[1] or text.startswith("="):
        raise argparse.ArgumentTypeError(f"expected key=value, found {text!r}")
    return text


def _fault(text: str) -> Fault:
    try:
        return Fault.parse(text)
    except BadInput as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def parse_options(arguments: Sequence[str]) -> Options:
    """Returns the options in `arguments`; says one line on stderr and exits with code 2 if they are wrong."""
    parser = _Parser("core.worlds.voxel", description="The embedded world as a lane process.", allow_abbrev=False)
    parser.add_argument("--rl-bin", action="store_true", required=True, help="speak BOLR records on stdout")
    parser.add_argument("--render", choices=["off"], default="off")
    parser.add_argument("--pace", choices=["unlimited"], default="unlimited")
    parser.add_argument("--mobs", choices=["off"], default="off")
    parser.add_argument("--snapshot-in", type=Path, metavar="PATH", help="default: land generated from the seed")
    parser.add_argument("--seed", type=_whole(-(2**63), 2**63 - 1), help="must be the snapshot's")
    parser.add_argument("--view-distance", type=_whole(1, 32), default=8, help="radius of random block ticks, chunks")
    parser.add_argument(
        "--set", type=_setting, action="append", help="key=value of the game; nothing here depends on it"
    )
    parser.add_argument("--fault", type=_fault, action="append", default=[], help="KIND:key=value, see faults.py")
    options = parser.parse_args(arguments, Options())
    if options.snapshot_in is None and options.seed is None:
        parser.error("--seed or --snapshot-in is required")
    return options
