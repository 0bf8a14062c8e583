"""`kill`, `pause`, `resume`, `stop` and `reap`: a live run's lanes from another terminal."""

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from core.errors import BadInput, ExitCode, Refused
from netherite_tui.cli.common import RUN, run_argument, runs_dir_option

if TYPE_CHECKING:
    from core.ladder.events import LaneView
    from core.runs.remote import ControlClient
    from core.runs.store import StoredRun

STOP_PATIENCE_S = 120.0
VIEWS_PATIENCE_S = 10.0
_LANE = re.compile(r"(?:(?P<stage>[0-4])/)?(?P<seed>-?\d+)(?::(?P<attempt>\d+))?")


class LaneName(click.ParamType):
    """A lane of the RUN named before it: `SEED:TRY`, `SEED` for all its tries, `STAGE/SEED:TRY` in a run of stages."""

    name = "lane"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Offers the lanes of the run already typed."""
        from core.errors import NetheriteError

        try:
            run = _find(ctx.params.get("run_name") or "last", ctx.params.get("runs_dir"))
        except NetheriteError:
            return []
        names = dict.fromkeys(lane.name for lane in run.plan.lanes)
        return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def lanes_argument(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the lanes, passed as `lane_names`."""
    return click.argument("lane_names", metavar="[SEED:TRY]...", type=LaneName(), nargs=-1)(command)


def _find(run_name: str, runs_dir: Path | None) -> "StoredRun":
    from core.runs import store

    return store.load_run(store.find_run(store.runs_dir(runs_dir), run_name))


@contextmanager
def _connected(run: "StoredRun") -> "Iterator[ControlClient]":
    from core.runs.remote import client_of

    client = client_of(run)
    client.connect()
    try:
        yield client
    finally:
        client.close()


def indices_of(run: "StoredRun", names: Sequence[str]) -> list[int]:
    """Returns the lanes that were named, ascending.

    Raises:
        BadInput: a name of another form, or of no lane of this run.
    """
    found: set[int] = set()
    for name in names:
        parts = _LANE.fullmatch(name)
        if parts is None:
            raise BadInput(f"lane {name!r}: expected SEED:TRY, SEED or STAGE/SEED:TRY")
        wanted = {key: int(value) for key, value in parts.groupdict().items() if value is not None}
        matching = {
            lane.index for lane in run.plan.lanes if all(getattr(lane, key) == value for key, value in wanted.items())
        }
        if not matching:
            raise BadInput(f"lane {name!r}: run {run.id} has none; its first is {run.plan.lanes[0].name}")
        found |= matching
    return sorted(found)


def _say(done: str, run: "StoredRun", indices: Sequence[int]) -> None:
    names = ", ".join(run.plan.lanes[index].name for index in indices[:8])
    more = f" and {len(indices) - 8} more" if len(indices) > 8 else ""
    click.echo(f"{done} {names}{more} of run {run.id}")


def _views(client: "ControlClient", run: "StoredRun") -> "tuple[LaneView, ...]":
    """Returns the newest view of every lane, once all have come.

    Raises:
        EngineGone: they do not come.
    """
    from core.runs.remote import EngineGone

    give_up = time.monotonic() + VIEWS_PATIENCE_S
    while len(views := client.views()) < len(run.plan.lanes):
        client.wait_change(0.1)
        if not client.alive or time.monotonic() > give_up:
            raise EngineGone(client.ended or f"run {run.id}: its engine does not tell about its lanes")
    return views


def _still_going(client: "ControlClient", run: "StoredRun", indices: Sequence[int]) -> list[int]:
    """Returns the lanes that have not ended, and says so of the others.

    Raises:
        Refused: all of them have ended.
    """
    views = _views(client, run)
    ended = [f"{run.plan.lanes[index].name} ({views[index].outcome})" for index in indices if views[index].outcome]
    if len(ended) == len(indices):
        raise Refused(f"run {run.id}: nothing to do, {', '.join(ended[:8])} ended already")
    if ended:
        click.echo(f"{', '.join(ended[:8])} ended already", err=True)
    return [index for index in indices if not views[index].outcome]


@click.command(short_help="Kill lanes of a live run.")
@run_argument
@lanes_argument
@click.option("--stuck", is_flag=True, help="Every lane past its step deadline.")
@click.option("--all", "everything", is_flag=True, help="Every lane; the run then ends.")
@runs_dir_option
def kill(run_name: str, lane_names: tuple[str, ...], stuck: bool, everything: bool, runs_dir: Path | None) -> int:
    """Kill lanes: they end as KILLED and their places go to the next ones."""
    if bool(lane_names) + stuck + everything != 1:
        raise click.UsageError("expected lanes (SEED:TRY), or --stuck, or --all")
    run = _find(run_name, runs_dir)
    indices = [lane.index for lane in run.plan.lanes if not lane.skip] if everything else indices_of(run, lane_names)
    with _connected(run) as client:
        if stuck:
            indices = [view.index for view in _views(client, run) if view.state == "STUCK"]
            client.command("kill_stuck")
        else:
            indices = _still_going(client, run, indices)
            client.command("kill", indices)
    if indices:
        _say("killed", run, indices)
    else:
        click.echo(f"no lane of run {run.id} is stuck")
    return ExitCode.OK


@click.command(short_help="Pause lanes of a live run.")
@run_argument
@lanes_argument
@runs_dir_option
def pause(run_name: str, lane_names: tuple[str, ...], runs_dir: Path | None) -> int:
    """Hold lanes before their next decision; all of them when none is named.

    They keep their places, and their deadlines stand still."""
    return _hold_or_go("pause", "paused", run_name, lane_names, runs_dir)


@click.command(short_help="Let paused lanes of a live run go on.")
@run_argument
@lanes_argument
@runs_dir_option
def resume(run_name: str, lane_names: tuple[str, ...], runs_dir: Path | None) -> int:
    """Let paused lanes go on; all of them when none is named. (A run that has ended goes on with `run --resume`.)"""
    return _hold_or_go("resume", "resumed", run_name, lane_names, runs_dir)


def _hold_or_go(command: str, done: str, run_name: str, lane_names: tuple[str, ...], runs_dir: Path | None) -> int:
    run = _find(run_name, runs_dir)
    indices = indices_of(run, lane_names)
    with _connected(run) as client:
        if indices:
            indices = _still_going(client, run, indices)
            client.command(command, indices)
            _say(done, run, indices)
        else:
            client.command(f"{command}_all")
            click.echo(f"{done} all lanes of run {run.id}")
    return ExitCode.OK


@click.command(short_help="Stop a live run and keep what it has.")
@run_argument
@runs_dir_option
def stop(run_name: str, runs_dir: Path | None) -> int:
    """Stop a live run: running lanes wait again, everything is saved, and the engine ends."""
    run = _find(run_name, runs_dir)
    with _connected(run) as client:
        client.command("stop", timeout_s=STOP_PATIENCE_S)
        if not client.wait_end(STOP_PATIENCE_S):
            raise Refused(f"run {run.id} has not ended within {STOP_PATIENCE_S:g} s")
    click.echo(f"stopped run {run.id}; go on with: netherite-tui run --resume {run.id}")
    return ExitCode.OK


@click.command(short_help="End lane processes whose engine is gone.")
@click.argument("run_names", metavar="[RUN]...", type=RUN, nargs=-1)
@runs_dir_option
def reap(run_names: tuple[str, ...], runs_dir: Path | None) -> int:
    """End what is left of runs whose engine is gone; of every such run when none is named.

    Processes are found by the run id in their environment, never by name.
    """
    from core.host.processes import end_leftovers, leftovers
    from core.runs import store

    home = store.runs_dir(runs_dir)
    states = {path.name: store.summarize(path).state for path in store.run_folders(home)}
    wanted = {store.find_run(home, name).name for name in run_names} if run_names else set(states)
    for name in sorted(wanted if run_names else ()):
        if states[name] is store.RunState.RUNNING:
            raise Refused(f"run {name} is alive: use kill or stop")
    ended = 0
    for one in (found := leftovers()):
        if one.run_id not in states and not run_names:
            click.echo(f"left alone: pid {one.pid} of run {one.run_id}, which is not in {home}")
    mine = [one for one in found if one.run_id in wanted and states[one.run_id] is not store.RunState.RUNNING]
    for pid in end_leftovers(mine):
        click.echo(f"ended pid {pid}")
        ended += 1
    click.echo(f"{ended} processes ended" if mine else "nothing to reap")
    return ExitCode.OK if ended == len(mine) else ExitCode.LANES_LOST
