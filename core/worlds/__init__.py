"""Things that tick: the real game in a process, the batched simulation in a library, the embedded world."""
