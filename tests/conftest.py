"""Settings of all tests."""

from hypothesis import settings

# The machine may be busy: a property is not wrong because one example took long.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
