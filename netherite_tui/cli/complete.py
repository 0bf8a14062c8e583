"""What a shell is offered as the value of a setting: words, seeds, files."""

import re
from collections.abc import Iterator
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from core.ladder.config import ALL_STAGES, DEFAULT_SEEDS, STAGES, Key, LadderConfig

FILES = {"checkpoint": "file", "magma_bin": "file", "blaze_lib": "file", "snaps_dir": "dir"}
_T0 = re.compile(r"s(-?\d+)_t0\.bsnp")


def complete_value(key: Key, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Returns what may follow the option of `key`, given what was typed of its value."""
    if key.name in FILES:
        return [CompletionItem(incomplete, type=FILES[key.name])]
    if key.name == "seeds":
        return list(_seed_lists(ctx, incomplete))
    words = {
        "stage": (*map(str, STAGES), ALL_STAGES),
        "jobs": ("auto", "all"),
        "policy": ("net", "noop", "bot", "random", "random:", "tape:"),
    }.get(key.name, key.words)
    return [CompletionItem(word) for word in words if word.startswith(incomplete)]


def _seed_lists(ctx: click.Context, incomplete: str) -> Iterator[CompletionItem]:
    """Yields the list as typed with one more seed: those with a snapshot, else the usual ones."""
    typed, comma, last = incomplete.rpartition(",")
    before = set(typed.split(","))
    for seed in _known_seeds(Path(ctx.params.get("snaps_dir") or LadderConfig().snaps_dir)):
        if seed.startswith(last) and seed not in before:
            yield CompletionItem(f"{typed}{comma}{seed}")


def _known_seeds(snaps_dir: Path) -> list[str]:
    found = [int(match[1]) for path in snaps_dir.glob("s*_t0.bsnp") if (match := _T0.fullmatch(path.name))]
    return [str(seed) for seed in sorted(found) or DEFAULT_SEEDS]
