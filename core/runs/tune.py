"""Which lane arguments make a lane program faster without changing a byte of what it says.

View distance is also the radius of random block ticks (SPEC 1), so equality is never assumed: the program runs with and
without the arguments side by side, on recorded snapshots, with seeded random actions, and every record is compared.
What was shown is kept per lane binary, so that a run can say whether its lane arguments were.
"""

import json
import os
import shlex
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import platformdirs
import psutil

from core.host.memory import MIB
from core.host.processes import Processes
from core.policy.controls import controller_factory
from core.runs.lane_program import LaneProgram
from core.wire.bolr import RECORD
from core.wire.files import write_atomically
from core.worlds.base import WorldError
from core.worlds.magma import MagmaWorld

#: What is tried when nothing else is asked for.
USUAL_ARGUMENTS: tuple[tuple[str, ...], ...] = (
    ("--view-distance", "2"),
    ("--set", "no_prefetch=1"),
    ("--view-distance", "2", "--set", "no_prefetch=1"),
)
_RSS_EVERY = 25  # decisions between two looks at a process's memory


@dataclass(frozen=True, slots=True)
class Start:
    """Where a comparison starts: a snapshot, or a fresh spawn."""

    seed: int
    snapshot: Path | None

    @property
    def name(self) -> str:
        """How results call it."""
        return self.snapshot.name if self.snapshot else f"seed {self.seed}"


@dataclass(frozen=True, slots=True)
class Trial:
    """What one set of lane arguments did to one start."""

    start: str
    ticks: int  #: compared
    difference: (
        str  #: the first field and record that differ, or why it does not run; empty when all bytes were the same
    )
    speed_ratio: float  #: ticks/s with the arguments, over without
    rss_ratio: float  #: peak RSS with the arguments, over without
    ticks_per_s: float  #: with the arguments
    rss_mib: float  #: with the arguments


@dataclass(frozen=True, slots=True)
class Verdict:
    """All trials of one set of lane arguments."""

    arguments: tuple[str, ...]
    trials: tuple[Trial, ...]

    @property
    def identical(self) -> bool:
        """Whether no byte differed."""
        return not any(trial.difference for trial in self.trials)

    @property
    def ticks(self) -> int:
        """Ticks compared."""
        return sum(trial.ticks for trial in self.trials)

    @property
    def option(self) -> str:
        """What to add to `run`."""
        return " ".join(f"--lane-arg={shlex.quote(word)}" for word in self.arguments)

    @property
    def text(self) -> str:
        """One line for people."""
        name = " ".join(self.arguments)
        for trial in self.trials:
            if trial.difference:
                return f"{name}: DIFFERENT on {trial.start}: {trial.difference}"
        speed = _mean(trial.speed_ratio for trial in self.trials)
        rss = _mean(trial.rss_ratio for trial in self.trials)
        return (
            f"{name}: identical over {self.ticks} ticks from {_counted(len(self.trials), 'start')}; "
            f"{speed:.2f} x ticks/s, {rss:.2f} x RSS; use {self.option}"
        )


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _mean(values: Iterable[float]) -> float:
    return float(np.mean(list(values)))


def tune(
    program: LaneProgram,
    starts: Sequence[Start],
    argument_sets: Sequence[tuple[str, ...]] = USUAL_ARGUMENTS,
    *,
    ticks: int = 2000,
    repeat: int = 4,
    actions_seed: int = 0,
    progress: Callable[[str], None] = lambda text: None,
) -> Iterator[Verdict]:
    """Yields the verdict on each argument set.

    Args:
        program: the lane program.
        starts: where to compare; at least one.
        argument_sets: the sets of lane arguments to try.
        ticks: how long, from each start.
        repeat: ticks a decision.
        actions_seed: seed of the random actions.
        progress: told what is being tried.

    Raises:
        NetheriteError: the program does not run without the arguments.
    """
    processes = Processes(f"tune-{os.getpid()}")
    try:
        for arguments in argument_sets:
            trials = []
            for start in starts:
                progress(f"{' '.join(arguments)} on {start.name}")
                trials.append(_compare(processes, program, start, arguments, ticks // repeat, repeat, actions_seed))
                if trials[-1].difference:
                    break
            yield Verdict(arguments, tuple(trials))
    finally:
        processes.close()


def _compare(
    processes: Processes,
    program: LaneProgram,
    start: Start,
    arguments: tuple[str, ...],
    decisions: int,
    repeat: int,
    actions_seed: int,
) -> Trial:
    controller = controller_factory(f"random:{actions_seed}").make(ni=0, rng_seed=0, limit=decisions)
    plain = _Runner(program.world(processes, start.snapshot, start.seed))
    tried = _Runner(program.world(processes, start.snapshot, start.seed, arguments))
    done = 0
    with plain, tried:
        plain.open()
        try:
            tried.open()
            difference = _different(plain, tried, "t0")
            while not difference and done < decisions:
                row = controller.decide(plain.world.senses, plain.world.record, done)
                plain.step(row, repeat)
                tried.step(row, repeat)
                done += 1
                difference = _different(plain, tried, f"tick {done * repeat}")
        except WorldError as error:
            if not tried.failed:
                raise
            difference = f"does not run: {error}"
        return _trial(start, done * repeat, difference, plain, tried)


def _trial(start: Start, ticks: int, difference: str, plain: "_Runner", tried: "_Runner") -> Trial:
    for runner in (plain, tried):
        runner.look_at_memory()
    return Trial(
        start=start.name,
        ticks=ticks,
        difference=difference,
        speed_ratio=plain.seconds / max(tried.seconds, 1e-9),
        rss_ratio=tried.rss_bytes / max(plain.rss_bytes, 1),
        ticks_per_s=ticks / max(tried.seconds, 1e-9),
        rss_mib=tried.rss_bytes / MIB,
    )


class _Runner:
    """A lane process with a stopwatch and an eye on its memory."""

    def __init__(self, world: MagmaWorld) -> None:
        self.world = world
        self.seconds = 0.0
        self.rss_bytes = 0
        self.failed = False
        self._steps = 0
        self._process: psutil.Process | None = None

    def __enter__(self) -> "_Runner":
        return self

    def __exit__(self, *exc: object) -> None:
        self.world.close()

    def open(self) -> None:
        with self._watching():
            self.world.open()
        with suppress(psutil.Error):
            self._process = psutil.Process(self.world.pid)

    def step(self, row: npt.NDArray[np.float64], repeat: int) -> None:
        started = time.perf_counter()
        with self._watching():
            self.world.step(row, repeat)
        self.seconds += time.perf_counter() - started
        self._steps += 1
        if self._steps % _RSS_EVERY == 1:
            self.look_at_memory()

    def look_at_memory(self) -> None:
        with suppress(psutil.Error):  # it has just ended: the next step tells
            if self._process is not None:
                self.rss_bytes = max(self.rss_bytes, self._process.memory_info().rss)

    @contextmanager
    def _watching(self) -> Iterator[None]:
        try:
            yield
        except WorldError:
            self.failed = True
            raise


def _different(plain: _Runner, tried: _Runner, where: str) -> str:
    """Returns the first field in which two records differ, with its place in the stream; empty when none does."""
    one, other = plain.world.record, tried.world.record
    if one.tobytes() == other.tobytes():
        return ""
    names = RECORD.names or ()
    field = next(name for name in names if one[name].tobytes() != other[name].tobytes())
    return f"{field} at {where}"


# ---- what was shown, per binary -------------------------------------------------------------------------------------


def shown_path() -> Path:
    """Returns the file that keeps what was shown on this machine."""
    return platformdirs.user_data_path("netherite-tui", appauthor=False) / "tuned.json"


def remember(binary_hash: str, verdict: Verdict) -> None:
    """Keeps a verdict for the lane binary of that sha256.

    Raises:
        BadInput: the file cannot be written.
    """
    known = _shown()
    known.setdefault(binary_hash, {})[json.dumps(verdict.arguments)] = {
        "identical": verdict.identical,
        "ticks": verdict.ticks,
        "starts": [trial.start for trial in verdict.trials],
    }
    path = shown_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, [json.dumps(known, indent=1).encode() + b"\n"])


def lane_arguments_notes(binary_hash: str, arguments: Sequence[str]) -> list[str]:
    """Returns the report line (without `# `) for lane arguments that were not shown to change nothing, else none."""
    if not arguments:
        return []
    found = _shown().get(binary_hash, {}).get(json.dumps(list(arguments)))
    words = " ".join(arguments)
    if found is None:
        return [f"lane arguments {words}: not shown to leave this lane binary's records the same (see tune)"]
    if not found.get("identical"):
        return [f"lane arguments {words}: shown to change this lane binary's records"]
    return []


def _shown() -> dict[str, dict[str, Mapping[str, Any]]]:
    try:
        known = json.loads(shown_path().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}
