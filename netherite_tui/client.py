"""The one interface every screen sees of a run, whoever drives it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from core.errors import NetheriteError
from core.ladder.events import Event, LaneResult, LaneView


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What does not change while a run lives."""

    run_id: str
    checkpoint: str = ""  #: file name, or `fixture:N`; empty for policies without one
    policy: str = "net"
    backend: str = ""
    transfer: str = ""
    reference: str = "blaze"  #: the other side of a replay
    stage: str = "0"  #: `0`..`4` or `all`
    jobs: int = 0
    tries: int = 0
    repeat: int = 4  #: ticks a decision
    host: str = ""
    faults: bool = False  #: whether faults were injected

    @property
    def worlds(self) -> tuple[str, str]:
        """What lanes run on and, in replay, what that is compared with; the second is empty in closed transfer."""
        world = self.backend if self.backend in ("magma", "voxel") else f"blaze {self.backend}".strip()
        if self.transfer != "replay":
            return world, ""
        return world, self.reference if self.reference != world else "reference"


@dataclass(frozen=True, slots=True)
class RunStatus:
    """How the run as a whole is doing."""

    phase: str  #: preparing, running, stopping, ended, gone, failed
    detail: str = ""  #: one line: what it prepares, why it ended, what went wrong
    started: float | None = None  #: unix seconds
    ended: float | None = None  #: unix seconds
    age_s: float = 0.0  #: since the engine was last heard of
    rss_mib: float | None = None  #: all lane processes together
    budget_mib: float | None = None  #: what they may take
    cpu_percent: float | None = None  #: lane processes together, and the engine where it is this process


class RunClient(Protocol):
    """A run that can be looked at and, unless `read_only` says why not, steered. Every call returns at once."""

    facts: RunFacts
    owned: bool  #: whether its lanes run in this process and end with it
    read_only: str  #: why nothing can be changed; empty when it can
    error: NetheriteError | None  #: why there is no run to show; None while there is, or may be, one

    def start(self) -> None:
        """Begins to run or to connect, in the background."""

    def status(self) -> RunStatus:
        """Returns the newest status."""

    def views(self) -> tuple[LaneView, ...]:
        """Returns one view a lane, in lane order; empty until they are known."""

    def watch(self, indices: Iterable[int]) -> None:
        """Says whose previews are on the screen; a distant engine sends the records of these lanes only."""

    def events_since(self, n: int) -> Sequence[Event]:
        """Returns the events from number `n` on."""

    def result(self, index: int) -> LaneResult | None:
        """Returns what the lane left behind, None while it runs or when it is not known here."""

    def report(self) -> str:
        """Returns the native tables as far as they are known."""

    def export(self, format: str) -> str:
        """Returns the run in an export format, as text.

        Raises:
            NetheriteError: unknown format, or nothing to export yet.
        """

    def kill(self, indices: Iterable[int]) -> None:
        """Ends lanes; they become KILLED."""

    def kill_stuck(self) -> None:
        """Ends every STUCK lane."""

    def pause(self, indices: Iterable[int]) -> None:
        """Holds lanes before their next decision."""

    def resume(self, indices: Iterable[int]) -> None:
        """Lets paused lanes go on."""

    def retry(self, indices: Iterable[int]) -> None:
        """Runs lost lanes again."""

    def pause_all(self) -> None:
        """Holds every lane."""

    def resume_all(self) -> None:
        """Lets every paused lane go on."""

    def stop(self) -> None:
        """Stops the run and saves it for `--resume`. Returns at once; `status` tells when it is done."""

    def abort(self) -> None:
        """Ends an owned run at once, also while it is stopping; does nothing to any other."""

    def close(self) -> None:
        """Lets go of the run within bounded time. An owned run is stopped and saved, any other goes on."""
