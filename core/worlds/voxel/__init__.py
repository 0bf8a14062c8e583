"""The embedded world: RULES.md in numba, one file a concern."""
