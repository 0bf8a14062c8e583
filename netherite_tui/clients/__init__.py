"""The three kinds of run a screen can show: one that lives here, one that lives elsewhere, one that is over."""
