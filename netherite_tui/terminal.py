"""The terminal under the app: a driver that survives a dead or stalled one, and signals that always end the app."""

import contextlib
import os
import queue
import signal
import sys
import termios
import threading
from collections.abc import Callable, Iterator
from types import FrameType

from textual.drivers.linux_driver import LinuxDriver

#: Seconds a signal may take to end the app in the normal way before it is ended by force.
PATIENCE_S = 12.0
#: Seconds a terminal may take nothing before it counts as stalled.
STALL_S = 2.0
_RESTORE = "\x1b[?1000l\x1b[?1003l\x1b[?1006l\x1b[?1015l\x1b[?2004l\x1b[?1004l\x1b[<u\x1b[?7h\x1b[?1049l\x1b[?25h"


class SturdyDriver(LinuxDriver):
    """Textual's driver, which counts what it sends and never waits for a terminal that is gone."""

    sent_bytes = 0  #: since the start
    stalled = False  #: whether the terminal took nothing any more at the end

    @property
    def backlog(self) -> int:
        """Writes the terminal has not taken yet."""
        return 0 if self._writer_thread is None else self._writer_thread._queue.qsize()

    def write(self, data: str) -> None:
        """Sends data; what a terminal that is gone or takes nothing for `STALL_S` should have shown is dropped."""
        writer = self._writer_thread
        if writer is not None and writer.is_alive():
            self.sent_bytes += len(data)
            with contextlib.suppress(queue.Full):
                writer._queue.put(data, timeout=STALL_S)

    def set_mouse(self, on: bool) -> None:
        """Turns mouse reports on or off, so that the terminal itself can select text."""
        if on:
            self._mouse = True
            self._enable_mouse_support()
        else:
            self._disable_mouse_support()
            self._mouse = False

    def close(self) -> None:
        """Ends the writer; one that a stalled terminal holds is left behind."""
        writer = self._writer_thread
        if writer is not None and writer.is_alive():
            with contextlib.suppress(queue.Full):
                writer._queue.put(None, timeout=STALL_S)
            writer.join(STALL_S)
            self.stalled = writer.is_alive()


@contextlib.contextmanager
def signals_end(begin_exit: Callable[[int], None], last_resort: Callable[[], None]) -> Iterator[None]:
    """While inside, SIGTERM, SIGHUP (unless it was ignored) and SIGINT call `begin_exit(signal number)`.

    The handlers are Python's own, not the event loop's: they run even while the loop waits for a stalled terminal. If
    the app has not ended `PATIENCE_S` later, a thread calls `last_resort`, restores the terminal and ends the process
    with 128 + signal number.
    """
    attributes = _terminal_attributes()
    ended = threading.Event()

    def by_force(number: int) -> None:
        if not ended.wait(PATIENCE_S):
            last_resort()
            _restore_terminal(attributes)
            os._exit(128 + number)

    def handle(number: int, _frame: FrameType | None) -> None:
        threading.Thread(target=by_force, args=(number,), name="last-resort", daemon=True).start()
        begin_exit(number)

    caught = [signal.SIGTERM, signal.SIGINT]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        caught.append(signal.SIGHUP)
    before = {number: signal.signal(number, handle) for number in caught}
    hook, threading.excepthook = threading.excepthook, _quiet_about_dead_terminal(threading.excepthook)
    try:
        yield
    finally:
        ended.set()
        threading.excepthook = hook
        for number, handler in before.items():
            signal.signal(number, handler)


def _quiet_about_dead_terminal(hook: Callable[..., object]) -> Callable[..., object]:
    """Keeps the writer's end on a closed terminal from being told to that terminal."""

    def quiet(args: threading.ExceptHookArgs) -> None:
        if not (
            args.thread is not None and args.thread.name == "textual-output" and isinstance(args.exc_value, OSError)
        ):
            hook(args)

    return quiet


def _terminal_attributes() -> list[object] | None:
    try:
        return termios.tcgetattr(sys.__stdin__.fileno())
    except (termios.error, ValueError, AttributeError, OSError):
        return None


def _restore_terminal(attributes: list[object] | None) -> None:
    with contextlib.suppress(termios.error, OSError, ValueError, AttributeError):
        descriptor = sys.__stderr__.fileno()
        os.set_blocking(descriptor, False)
        os.write(descriptor, _RESTORE.encode())
        os.set_blocking(descriptor, True)
        if attributes is not None:
            termios.tcsetattr(sys.__stdin__.fileno(), termios.TCSANOW, attributes)
