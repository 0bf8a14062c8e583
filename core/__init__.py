"""The engine that runs netherite transfer evaluations. Imports no user interface."""
