"""How often the screen may change: as often as its share of a core and of the terminal's line allows."""


class Pace:
    """Chooses the seconds until the next repaint from what the last ones cost."""

    def __init__(self, fastest_s: float, slowest_s: float, *, cpu_share: float, bytes_per_s: float) -> None:
        """Makes a pace.

        Args:
            fastest_s, slowest_s: bounds of the interval.
            cpu_share: how much of one core the user interface may use, 0..1.
            bytes_per_s: how much it may send to the terminal.
        """
        self.fastest_s, self.slowest_s = fastest_s, slowest_s
        self.cpu_share, self.bytes_per_s = cpu_share, bytes_per_s
        self.interval_s = fastest_s

    def update(self, wall_s: float, cpu_s: float, sent: int) -> float:
        """Returns the next interval after `wall_s` seconds that cost `cpu_s` of CPU and `sent` bytes.

        Too dear slows down at once, in proportion; cheap speeds up by a tenth a step, so that the pace does not swing.
        """
        if wall_s > 0:
            load = max(cpu_s / wall_s / self.cpu_share, sent / wall_s / self.bytes_per_s)
            wanted = self.interval_s * (min(load, 2.0) if load > 1 else 0.9)
            self.interval_s = min(self.slowest_s, max(self.fastest_s, wanted))
        return self.interval_s
