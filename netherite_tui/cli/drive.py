"""Driving a run from the command line, and starting one that drives itself in the background."""

import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.errors import ExitCode, NetheriteError
from netherite_tui.cli.progress import Progress
from netherite_tui.cli.signals import StopSignals

if TYPE_CHECKING:
    from core.runs.session import Session

POLL_S = 0.1
DETACH_PATIENCE_S = 300.0
ANNOUNCE_VARIABLE = "NETHERITE_ANNOUNCE_FD"


def drive(session: "Session") -> int:
    """Runs a session to its end, progress on stderr and the report on stdout; returns the exit code.

    The first Ctrl-C, SIGTERM or SIGHUP ends running lanes, which wait for `--resume`; the second kills at once.
    """
    progress = Progress(session.config.action_repeat)
    with StopSignals() as signals:
        try:
            session.start()
            progress.say(f"run {session.id} in {session.folder}")
            _wait(session, signals, progress)
        finally:
            code = session.finish(hurry=lambda: signals.count > 1)
        progress.clear()
        if session.failure:
            progress.say(f"netherite-tui: {session.failure}")
        elif signals.first is not None or session.is_unfinished():
            progress.say(f"netherite-tui: stopped; go on with: netherite-tui run --resume {session.id}")
        sys.stdout.write(session.report())
        sys.stdout.flush()
    return signals.exit_code(int(code))


def _wait(session: "Session", signals: StopSignals, progress: Progress) -> None:
    stopping = None
    while not session.wait(POLL_S):
        if signals.count and stopping is None:
            progress.say("netherite-tui: ending the running lanes; once more to kill them at once")
            stopping = threading.Thread(target=session.stop, name="stop")
            stopping.start()
        if signals.count > 1:
            session.abort()
        progress.show(session.views())


# ---- in the background ----------------------------------------------------------------------------------------------


def detach(arguments: Sequence[str]) -> str:
    """Starts `run` with the given arguments in a session of its own and returns the run's id once it has started.

    Raises:
        NetheriteError: it did not start; the text is what it said.
    """
    reader, writer = os.pipe()
    command = [sys.executable, "-P", "-m", "netherite_tui", "run", "--headless", *arguments]
    child = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=writer,
        start_new_session=True,
        pass_fds=(writer,),
        env={**os.environ, ANNOUNCE_VARIABLE: str(writer)},
    )
    os.close(writer)
    with os.fdopen(reader, encoding="utf-8", errors="replace") as answer:
        lines = answer.read().splitlines()
    words = next((line.split() for line in lines if line.startswith("started ")), None)
    if words is None:
        code = child.wait(DETACH_PATIENCE_S)
        text = lines[-1].removeprefix("netherite-tui: ") if lines else f"the run ended with code {code} before it began"
        error = NetheriteError(text)
        error.exit_code = ExitCode(code) if code in set(ExitCode) else ExitCode.USAGE
        raise error
    return words[1]


def announce(session: "Session") -> None:
    """In a detached run: points stdout and stderr at the run's log, then tells who started it the run's id."""
    number = os.environ.pop(ANNOUNCE_VARIABLE, "")
    if not number:
        return
    sys.stdout.flush()
    sys.stderr.flush()
    log = os.open(session.folder / "log.txt", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.close(log)
    with contextlib.suppress(OSError), os.fdopen(int(number), "w") as answer:
        answer.write(f"started {session.id}\n")
