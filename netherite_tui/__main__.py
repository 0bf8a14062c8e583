"""The console script: runs the command line and turns every failure into one line and a documented exit code."""

import os
import sys


def main() -> None:
    """Runs the command line of this process and exits."""
    _open_standard_streams()
    _look_here_first()
    try:
        from netherite_tui.cli import run_cli

        code = run_cli(sys.argv[1:])
    except KeyboardInterrupt:  # while modules are being imported
        code = 130
    sys.exit(code)


def _look_here_first() -> None:
    """Lets our packages be found where this one was: `python -m` would take a folder `core` of the user's first."""
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def _open_standard_streams() -> None:
    """Opens /dev/null on closed standard descriptors, so that no pipe of a child gets number 0, 1 or 2."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    # The interpreter left these None when it found the descriptors closed.
    sys.stdout = sys.stdout or os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", closefd=False)


if __name__ == "__main__":
    main()
