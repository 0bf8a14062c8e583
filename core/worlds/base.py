"""What every world is: it opens on a snapshot, steps by decisions, shows a record, and closes."""

from enum import IntEnum
from typing import Protocol

import numpy as np
import numpy.typing as npt

from core.errors import NetheriteError
from core.wire.senses import Senses

__all__ = [
    "Done",
    "Senses",
    "World",
    "WorldDied",
    "WorldError",
    "WorldInterrupted",
    "WorldStartError",
    "WorldTimeout",
]


class Done(IntEnum):
    """Why a world says a lane is over after a decision (SPEC 12)."""

    RUNNING = 0
    SUCCESS = 1
    DEATH = 2
    BOUNDARY = 3


class World(Protocol):
    """One side of a lane. A world is used by one thread at a time; `interrupt` alone may come from another."""

    def open(self) -> None:
        """Loads the snapshot and leaves the t0 record in `record`.

        Raises:
            WorldError: the world cannot start (its subclasses tell how).
        """

    @property
    def record(self) -> npt.NDArray[np.void]:
        """The newest record, shape [1], dtype `core.wire.bolr.RECORD`; the buffer is reused by the next step."""

    @property
    def senses(self) -> Senses:
        """What the policy sees of the newest record."""

    @property
    def done(self) -> Done:
        """Whether the lane is over on this side (after the newest step)."""

    def step(self, row: npt.NDArray[np.float64], repeat: int) -> None:
        """Runs one decision: `repeat` ticks of act13 `row` [13] (SPEC 1).

        Raises:
            WorldDied: the process ended. WorldTimeout: no answer before the deadline. WorldError: anything else.
        """

    def interrupt(self) -> None:
        """Makes a step that is in progress in another thread fail soon; safe at any time, also after close."""

    def close(self) -> None:
        """Ends the world within bounded time. May be called twice, in any state."""


class WorldError(NetheriteError):
    """A world that cannot go on. The text is one line."""


class WorldStartError(WorldError):
    """A world that gave no first record: outcome FAILED."""


class WorldDied(WorldError):
    """A lane process that ended by itself: outcome CRASHED."""

    def __init__(self, text: str, *, returncode: int | None = None, oom: bool = False) -> None:
        super().__init__(text)
        self.returncode = returncode  #: exit code, or minus the signal number; None when unknown
        self.oom = oom  #: the kernel's counter says it was killed for memory


class WorldTimeout(WorldError):
    """A step past its deadline. The world is poisoned: it is killed and never read again."""


class WorldInterrupted(WorldError):
    """A step ended because `interrupt` was called."""
