"""A real terminal for tests: tmux on a socket of its own, keys in, text out, every wait with a deadline."""

import contextlib
import os
import secrets
import shlex
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

PATIENCE_S = 120.0
_LOOK_S = 0.05


class Terminal:
    """One tmux session that runs a shell line and then shows its exit code as `EXIT n`."""

    def __init__(self, words: Sequence[str], environ: Mapping[str, str], *, size: tuple[int, int] = (120, 40)) -> None:
        """Starts `words` in a terminal of `size` cells with exactly this environment."""
        self._socket = f"netherite-test-{os.getpid()}-{secrets.token_hex(4)}"
        variables = [f"{name}={value}" for name, value in environ.items()]
        line = f"stty -a > /dev/null; {shlex.join(['env', '-i', *variables, *words])}; echo EXIT $?; exec cat"
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(size[0]), "-y", str(size[1]), "sh", "-c", line)
        # The terminal itself must take UTF-8 even where the tests' own locale does not.
        self.tmux("set-option", "-g", "remain-on-exit", "on")

    def tmux(self, *words: str) -> str:
        """Runs one tmux command and returns what it prints."""
        done = subprocess.run(
            ["tmux", "-u", "-L", self._socket, *words], capture_output=True, text=True, timeout=PATIENCE_S, check=False
        )
        return done.stdout

    def text(self, *, escapes: bool = False) -> str:
        """Returns what the screen shows, with its escape sequences when asked for."""
        return self.tmux("capture-pane", "-p", *(["-e"] if escapes else []))

    def press(self, *keys: str) -> None:
        """Presses keys by tmux's names."""
        self.tmux("send-keys", *keys)

    def type(self, text: str) -> None:
        """Types text."""
        self.tmux("send-keys", "-l", text)

    def flag(self, name: str) -> str:
        """Returns one of tmux's format variables of the pane, e.g. `alternate_on`."""
        return self.tmux("display-message", "-p", f"#{{{name}}}").strip()

    def wait_for(self, *words: str, patience_s: float = PATIENCE_S) -> str:
        """Waits until the screen shows every word; returns the screen.

        Raises:
            AssertionError: it did not in time; the text is the screen.
        """
        return self.wait_until(lambda text: all(word in text for word in words), " and ".join(words), patience_s)

    def wait_until(self, met: Callable[[str], bool], what: str, patience_s: float = PATIENCE_S) -> str:
        """Waits until the screen is as it should be; returns it.

        Raises:
            AssertionError: it was not in time, or the program ended meanwhile without it.
        """
        deadline = time.monotonic() + patience_s
        had_ended = "\nEXIT " in self.text()
        while not met(text := self.text()):
            if time.monotonic() > deadline or ("\nEXIT " in text and not had_ended):
                raise AssertionError(f"not seen in {patience_s:g} s: {what}\n{text}")
            time.sleep(_LOOK_S)
        return text

    def close(self) -> None:
        """Closes the terminal on whatever still runs in it."""
        self.tmux("kill-server")


@contextlib.contextmanager
def terminal(
    words: Sequence[str], environ: Mapping[str, str], *, size: tuple[int, int] = (120, 40)
) -> Iterator[Terminal]:
    """Gives a terminal that is closed at the end, whatever happened."""
    opened = Terminal(words, environ, size=size)
    try:
        yield opened
    finally:
        opened.close()
