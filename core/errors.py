"""What can go wrong, and the exit code each kind of failure ends the program with."""

from enum import IntEnum


class ExitCode(IntEnum):
    """Documented exit codes of every command. When several apply the highest in DESIGN's order wins.

    The order, highest first: interrupted (130 or 143), refused, lanes lost, usage, DIVERGE, success.
    """

    OK = 0
    DIVERGE = 1
    USAGE = 2
    LANES_LOST = 3
    REFUSED = 4
    HANGUP = 129
    INTERRUPTED = 130
    TERMINATED = 143


class NetheriteError(Exception):
    """A failure the user can act on: its text is one clear line (what, where, expected, found)."""

    exit_code: ExitCode = ExitCode.USAGE


class BadInput(NetheriteError):
    """A file, option or value that cannot be used."""


class Refused(NetheriteError):
    """A request that is understood but must not be carried out (a stale resume, a held lock, a read-only view)."""

    exit_code = ExitCode.REFUSED
