"""MagmaWorld: one lane process behind two pipes (SPEC 1)."""

import os
import select
import signal
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from core.host import memory
from core.host.patience import Patience
from core.host.processes import BRISK, GENTLE, Child, Processes, SpawnError
from core.wire.act13 import encode_decision, encode_snapshot
from core.wire.bolr import RECORD, RECORD_BYTES, EndOfStream, ReadDeadline, RecordError, RecordReader, TruncatedRecord
from core.wire.senses import Senses, senses_of_record
from core.worlds.base import Done, WorldDied, WorldError, WorldInterrupted, WorldStartError, WorldTimeout

TORCH = 8  #: place of the torch count in inv_counts
#: How long a process that closed its stdout may take to end by itself before its exit code is given up.
EXIT_PATIENCE_S = 3.0
NOTE_CHARS = 160


def lane_command(program: Sequence[str], snapshot: Path | None, seed: int, extra: Sequence[str] = ()) -> list[str]:
    """Returns the command of one lane process in SPEC 1's order; without a snapshot its option is left out."""
    snapshot_in = [] if snapshot is None else ["--snapshot-in", str(snapshot)]
    fixed = ["--rl-bin", "--render", "off", "--pace", "unlimited", "--mobs", "off"]
    return [*program, *fixed, *snapshot_in, "--seed", str(seed), *extra]


class MagmaWorld:
    """The game, or any program that speaks SPEC 1, as a World.

    Deadlines count only the time the engine was awake; None means the caller watches the clock and interrupts.
    """

    def __init__(
        self,
        processes: Processes,
        command: Sequence[str],
        *,
        environment: Mapping[str, str] | None = None,
        start_timeout_s: float | None = 120.0,
        step_timeout_s: float | None = 30.0,
    ) -> None:
        self._processes = processes
        self._command = list(command)
        self._environment = environment
        self._start_timeout_s = start_timeout_s
        self._step_timeout_s = step_timeout_s
        self._record = np.zeros(1, RECORD)
        self._buffer = self._record.view(np.uint8)
        self._senses = Senses.over(self._record)
        self._senses_are_fresh = False
        self._child: Child | None = None
        self._oom_kills: int | None = None
        self._interrupted = False
        self._poisoned = False
        self._tail = b""

    @property
    def pid(self) -> int | None:
        """The lane process, while there is one."""
        child = self._child
        return child.pid if child is not None and child.returncode is None else None

    @property
    def record(self) -> npt.NDArray[np.void]:
        """The newest record, shape [1]; the next step overwrites it."""
        return self._record

    @property
    def senses(self) -> Senses:
        """What the policy sees of the newest record."""
        if not self._senses_are_fresh:
            senses_of_record(self._record, self._senses)
            self._senses_are_fresh = True
        return self._senses

    @property
    def done(self) -> Done:
        """Closed transfer (SPEC 5): death before success, no region boundary, always the torch."""
        row = self._record[0]
        if row["dead"]:
            return Done.DEATH
        return Done.SUCCESS if row["inv_counts"][TORCH] >= 1 else Done.RUNNING

    def open(self) -> None:
        """Starts the process and reads its t0 record.

        Raises:
            WorldStartError: it cannot be started, or ended or babbled before a first record.
            WorldTimeout: no record within the start deadline.
            WorldInterrupted: `interrupt` was called.
        """
        self._raise_if_interrupted()
        self._oom_kills = memory.oom_kills()
        try:
            self._child = self._processes.spawn(self._command, self._environment)
        except SpawnError as error:
            raise WorldStartError(str(error)) from None
        self._reader = RecordReader(self._child.stdout_fd)
        self._writable = select.poll()
        self._writable.register(self._child.stdin_fd, select.POLLOUT)
        try:
            self._read_record(Patience(self._start_timeout_s), "first record")
        except WorldDied as error:
            if error.oom:
                raise
            raise WorldStartError(f"no first record: {error}") from None
        except RecordError as error:
            raise WorldStartError(str(error)) from None

    def step(self, row: npt.NDArray[np.float64], repeat: int) -> None:
        """Runs one decision; see `World.step`."""
        self.send(row, repeat)
        self.receive(repeat)

    def send(self, row: npt.NDArray[np.float64], repeat: int) -> None:
        """Writes all lines of one decision at once; the process works on them while the caller does something else.

        Raises:
            BadInput: the row cannot be sent (SPEC 1). The others: as `step`.
        """
        self._write(encode_decision(row, repeat))

    def save_snapshot(self, path: Path, half_width: int) -> None:
        """Makes the process write its present state to `path` (`half_width` blocks around it), then runs a no-op tick.

        Raises:
            BadInput: the path cannot be sent (SPEC 1). The others: as `step`. Whether a file was written is not told.
        """
        self._write(encode_snapshot(os.fspath(path), half_width))
        self.receive(1)

    def _write(self, unsent: bytes) -> None:
        child = self._usable_child()
        self._step_patience = Patience(self._step_timeout_s)
        while unsent:
            try:
                unsent = unsent[os.write(child.stdin_fd, unsent) :]
            except BlockingIOError:
                if not self._writable.poll(self._step_patience.slice_s() * 1000):
                    self._check_patience(self._step_patience, "process does not read its input")
            except OSError:  # a broken pipe: reading tells how it ended
                return

    def receive(self, repeat: int) -> None:
        """Reads the `repeat` records of the decision sent; the last one stays in `record`. Raises as `step`."""
        self._usable_child()
        try:
            for _ in range(repeat):
                self._read_record(self._step_patience, "record")
        except RecordError as error:
            raise WorldError(str(error)) from None

    def interrupt(self) -> None:
        """Makes a step in progress fail within a quarter of a second."""
        self._interrupted = True

    def close(self) -> None:
        """Ends the process by the close ladder, more briskly when it is not worth waiting for."""
        child = self._child
        if child is not None:
            child.close(BRISK if self._poisoned or self._interrupted else GENTLE)
            self._tail = child.stderr_tail()

    def kill(self) -> None:
        """Sends SIGKILL to the process; safe from any thread, and `close` is still needed."""
        child = self._child
        if child is not None:
            child.kill()

    def stderr_tail(self) -> bytes:
        """Returns the last bytes of the process's stderr (complete after `close`)."""
        child = self._child
        return self._tail or (child.stderr_tail() if child is not None else b"")

    def _usable_child(self) -> Child:
        self._raise_if_interrupted()
        if self._child is None or self._poisoned:
            raise WorldError("lane process is not usable: not open, or past a deadline")
        return self._child

    def _read_record(self, patience: Patience, awaited: str) -> None:
        """Reads the next record; whatever it raises, the process is not read again."""
        self._senses_are_fresh = False
        while True:
            try:
                self._reader.read_into(self._buffer, time.monotonic() + patience.slice_s())
                return
            except ReadDeadline as late:
                self._check_patience(patience, f"no {awaited} ({late.got} of {RECORD_BYTES} bytes came)")
            except (EndOfStream, TruncatedRecord) as error:
                raise self._death(error) from None
            except RecordError:
                self._poisoned = True
                raise

    def _death(self, error: RecordError) -> WorldError:
        """Returns what to say of a process whose records have ended: how it ended, and its last words."""
        self._raise_if_interrupted()
        self._poisoned = True
        assert self._child is not None
        code = self._child.wait(EXIT_PATIENCE_S)
        where = f" inside a record ({error.got} of {RECORD_BYTES} bytes)" if isinstance(error, TruncatedRecord) else ""
        if code is None:
            return WorldDied(f"lane process closed its output{where} but did not end (pid {self.pid})")
        now = memory.oom_kills()
        before = self._oom_kills
        oom = code == -signal.SIGKILL and now is not None and before is not None and now > before
        ending = "killed by the kernel for lack of memory" if oom else ending_of(code)
        self._child.close()
        words = last_line(self._child.stderr_tail())
        text = f"lane process ended{where}: {ending}" + (f": {words}" if words else "")
        return WorldDied(text, returncode=code, oom=oom)

    def _check_patience(self, patience: Patience, complaint: str) -> None:
        self._raise_if_interrupted()
        if patience.is_spent():
            self._poisoned = True
            raise WorldTimeout(f"{complaint} before the deadline (pid {self.pid})")

    def _raise_if_interrupted(self) -> None:
        if self._interrupted:
            self._poisoned = True
            raise WorldInterrupted("interrupted")


def ending_of(returncode: int) -> str:
    """Returns an exit code, or minus a signal number, in words."""
    if returncode >= 0:
        return f"exit code {returncode}"
    try:
        return f"killed by {signal.Signals(-returncode).name}"
    except ValueError:
        return f"killed by signal {-returncode}"


def last_line(stderr: bytes) -> str:
    """Returns the last line with anything on it, made printable and short."""
    lines = stderr.decode("utf-8", "replace").strip().splitlines()
    text = "".join(char if char.isprintable() else " " for char in lines[-1]).strip() if lines else ""
    return text if len(text) <= NOTE_CHARS else text[: NOTE_CHARS - 3] + "..."
