"""Settings of all tests."""

import signal

from hypothesis import settings

# The machine may be busy: a property is not wrong because one example took long.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

# A shell's background jobs ignore SIGINT, and `nohup` SIGHUP; the programs under test would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
