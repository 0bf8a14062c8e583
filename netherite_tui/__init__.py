"""The front ends: command line and dashboard."""
