"""The run folder and what is made from it."""
