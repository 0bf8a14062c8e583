"""Kills the engine of a small run at random moments, resumes it, and checks that nothing shows in the end.

`python killed_runs.py FOLDER KILLS SEED OPTION...` with `run`'s options of a toy run. Everything is imported once and
each engine is a fork, so that a hundred of them take no longer than their lanes. Prints one JSON object.
"""

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

from core.host.processes import leftovers
from core.ladder.config import resolve
from core.policy.warm import warm
from core.runs import store
from core.runs.session import Session

ORPHAN_PATIENCE_S = 10.0


def fork_engine(runs: Path, options: dict[str, str]) -> int:
    """Starts an engine that makes a run, or goes on with the one that is there, and exits 0 when it has finished."""
    pid = os.fork()
    if pid:
        return pid
    code = 70
    try:
        folders = store.run_folders(runs)
        session = Session.reopen(folders[0]) if folders else Session.create(resolve([("flag", options)]), runs_dir=runs)
        session.start()
        session.wait(120.0)
        code = int(session.finish())
    finally:
        os._exit(code)


def killed_at(pid: int, delay_s: float) -> int:
    """Kills an engine after a delay unless it has ended; returns its exit code, or minus the signal's number."""
    deadline = time.monotonic() + delay_s
    while time.monotonic() < deadline:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.kill(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def orphans(runs: Path) -> list[int]:
    """Returns lane processes that are still there when the guard has had its time."""
    ids = {path.name for path in runs.iterdir()} if runs.exists() else set()
    deadline = time.monotonic() + ORPHAN_PATIENCE_S
    while True:
        left = [one.pid for one in leftovers() if one.run_id in ids]
        if not left or time.monotonic() > deadline:
            return left
        time.sleep(0.01)


def main() -> None:
    folder, kills, seed = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    words = [option.removeprefix("--").partition("=") for option in sys.argv[4:]]
    options = {name.replace("-", "_"): value for name, _, value in words}
    chance = random.Random(seed)

    warm()
    Session.create(resolve([("flag", options)]), runs_dir=folder / "unused").finish()  # imports what forks will need
    begun = time.monotonic()
    _, status = os.waitpid(fork_engine(folder / "whole", options), 0)
    whole_s = time.monotonic() - begun
    (whole,) = store.run_folders(folder / "whole")
    expected = (whole / store.REPORT).read_bytes()
    heads = [store.load_run(whole).full_result(index).comparable() for index in store.load_run(whole).results]

    done = {"whole_s": whole_s, "code": os.waitstatus_to_exitcode(status), "kills": 0, "rounds": 0, "torn": 0}
    faults = []
    while done["kills"] < kills:
        runs = folder / f"round{done['rounds']}"
        done["rounds"] += 1
        while (status := killed_at(fork_engine(runs, options), chance.uniform(0.0, 0.6 * whole_s))) == -signal.SIGKILL:
            done["kills"] += 1
            if left := orphans(runs):
                faults.append(f"round {done['rounds']}: lanes outlived their engine: {left}")
            for path in store.run_folders(runs):
                done["torn"] += store.load_run(path).journal.torn_bytes > 0
        (path,) = store.run_folders(runs)
        if (path / store.REPORT).read_bytes() != expected or status != done["code"]:
            faults.append(f"round {done['rounds']}: another report or exit code")
        run = store.load_run(path)
        if [run.full_result(index).comparable() for index in run.results] != heads:
            faults.append(f"round {done['rounds']}: other decisions")
    print(json.dumps({**done, "faults": faults}))


if __name__ == "__main__":
    main()
