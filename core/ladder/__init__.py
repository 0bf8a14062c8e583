"""Lanes, the engine that runs them, and the tables they make."""
