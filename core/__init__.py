"""The engine that runs netherite transfer evaluations. Imports no user interface."""

__version__ = "0.1.0"
