"""The embedded world as a lane process that speaks SPEC 1 on stdin and stdout."""

import signal
import sys

from core.worlds.voxel.options import parse_options


def main() -> int:
    """Runs the process and returns its exit code: 0 at the end of stdin, 1 if the world cannot start, 2 bad options."""
    for number in (signal.SIGPIPE, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)  # end as quietly as a C program does
    options = parse_options(sys.argv[1:])
    from core.worlds.voxel.process import run  # a wrong option is told before anything heavy is loaded

    return run(options)


if __name__ == "__main__":
    sys.exit(main())
