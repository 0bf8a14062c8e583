"""From a run folder, or from settings, to the client that shows the run."""

import contextlib
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.errors import Refused
from netherite_tui.client import RunClient
from netherite_tui.clients.attached import AttachedRun
from netherite_tui.clients.facts import facts_of, host_of, lanes_at_once
from netherite_tui.clients.finished import FinishedRun
from netherite_tui.clients.live import LiveRun

if TYPE_CHECKING:
    from core.ladder.config import LadderConfig, Resolved
    from core.runs.session import Session


def client_of(folder: Path) -> RunClient:
    """Returns the client of a run: attached while its engine lives on this host, else what its folder holds.

    Raises:
        Refused: it is unfinished and of another host; the text has the line that opens it there.
        BadInput: the folder cannot be read.
    """
    from core.ladder.config import config_from_dict
    from core.runs import store

    run = store.load_run(folder)
    config = config_from_dict(run.manifest["config"])
    jobs = lanes_at_once(config, len(run.plan.lanes))
    facts = facts_of(run.id, config, host=host_of(run.manifest), jobs=jobs)
    if run.state is store.RunState.ELSEWHERE:
        raise Refused(
            f"run {run.id} belongs to host {run.host}: ssh -t {run.host} netherite-tui watch {run.id}"
            f"{'' if 'NETHERITE_RUNS' not in os.environ else f' --runs-dir {folder.parent}'}"
        )
    if run.state is store.RunState.RUNNING:
        return AttachedRun(folder, run.manifest, facts)
    return FinishedRun(folder, facts, gone=run.state is store.RunState.GONE)


def new_run(resolved: "Resolved", runs_dir: Path, argv: list[str] | None = None) -> LiveRun:
    """Returns a client that makes and drives a new run; STUCK lanes ask unless the settings say otherwise."""
    config = resolved.config
    if resolved.origins.get("stuck", "default") == "default":
        resolved = replace(resolved, config=replace(config, stuck="ask"))
    return LiveRun(_maker(resolved, runs_dir, argv or sys.argv), _facts(config))


def resumed_run(folder: Path, changes: Mapping[str, Any] | None = None) -> LiveRun:
    """Returns a client that goes on with a run, in the directory it was first started in.

    Raises:
        BadInput: its manifest cannot be read.
    """
    from core.ladder.config import config_from_dict
    from core.runs import store

    manifest = store.read_manifest(folder)
    asking = dict(changes or {})
    if "stuck" not in manifest.get("origins", {}):
        asking.setdefault("stuck", "ask")

    def make(tell: Callable[[str], None]) -> "Session":
        from core.runs.session import Session

        with contextlib.suppress(OSError):  # its relative paths and magma.conf belong there
            os.chdir(manifest.get("directory", ""))
        return Session.reopen(folder.resolve(), asking, on_progress=tell)

    return LiveRun(make, _facts(config_from_dict(manifest["config"])))


def _maker(resolved: "Resolved", runs_dir: Path, argv: list[str]) -> Callable[[Callable[[str], None]], "Session"]:
    def make(tell: Callable[[str], None]) -> "Session":
        from core.runs.session import Session

        return Session.create(resolved, runs_dir=runs_dir, argv=argv, on_progress=tell)

    return make


def _facts(config: "LadderConfig") -> Any:
    import socket

    lanes = len(config.seeds) * config.tries * len(config.stages)
    return facts_of("", config, host=socket.gethostname(), jobs=lanes_at_once(config, lanes))
