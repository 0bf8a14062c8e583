"""What the screens remember of a run between two looks at it: changes, sums, short histories. No Textual."""

import time
from collections import deque
from dataclasses import dataclass, field

from core.ladder.events import Event, LaneState, LaneView, Outcome
from netherite_tui.client import RunClient, RunStatus

#: Events kept for the log; older ones are in the run folder.
LOG_LIMIT = 5000
#: Seconds of history kept of a lane, one sample a second.
HISTORY_S = 120


@dataclass(frozen=True, slots=True)
class Counts:
    """How many lanes are where."""

    total: int = 0
    match: int = 0
    diverge: int = 0
    done: int = 0
    skip: int = 0
    lost: int = 0
    running: int = 0
    waiting: int = 0
    paused: int = 0
    stuck: int = 0

    @property
    def ended(self) -> int:
        """Lanes that are over, lost ones too."""
        return self.match + self.diverge + self.done + self.skip + self.lost


@dataclass(slots=True)
class Sample:
    """One second of a lane, newest last."""

    rss_mib: deque[float] = field(default_factory=lambda: deque(maxlen=HISTORY_S))
    cpu_percent: deque[float] = field(default_factory=lambda: deque(maxlen=HISTORY_S))
    ticks_per_s: deque[float] = field(default_factory=lambda: deque(maxlen=HISTORY_S))


@dataclass(frozen=True, slots=True)
class Change:
    """What one look found to be new."""

    lanes: frozenset[int]
    events: tuple[Event, ...]
    layout: bool  #: the set of lanes itself is new


class RunModel:
    """Polls a client and keeps what the widgets draw from. Used by the UI thread only."""

    def __init__(self, client: RunClient) -> None:
        self.client = client
        self.facts = client.facts
        self.status: RunStatus = client.status()
        self.views: tuple[LaneView, ...] = ()
        self.counts = Counts()
        self.events: deque[Event] = deque(maxlen=LOG_LIMIT)
        self.ticks_per_s: float | None = None
        self.now = time.monotonic()
        self._samples: dict[int, Sample] = {}
        self._sampled = 0.0
        self._next_event = 0

    def poll(self) -> Change:
        """Looks at the run once and returns what changed since the last look."""
        self.now = time.monotonic()
        self.facts = self.client.facts
        self.status = self.client.status()
        views, before = self.client.views(), self.views
        layout = len(views) != len(before)
        if layout:
            changed = frozenset(range(len(views)))
        else:
            changed = frozenset(i for i, view in enumerate(views) if view is not before[i])
        self.views = views
        if changed:
            self.counts = count_lanes(views)
            self.ticks_per_s = _total_speed(views)
        if self.now - self._sampled >= 1.0:
            self._sampled = self.now
            self._sample()
        return Change(changed, self._new_events(), layout)

    def samples(self, index: int) -> Sample:
        """Returns the lane's history of at most `HISTORY_S` seconds."""
        return self._samples.get(index) or Sample()

    def elapsed_s(self) -> float | None:
        """Returns how long the run has been going, or went."""
        if self.status.started is None:
            return None
        return (self.status.ended or time.time()) - self.status.started

    def eta_s(self) -> float | None:
        """Returns the seconds left at the present speed, None when that cannot be said."""
        if not self.ticks_per_s or self.status.phase not in ("running",):
            return None
        open_lanes = (view for view in self.views if view.outcome is None)
        return sum(view.limit - view.decision for view in open_lanes) * self.facts.repeat / self.ticks_per_s

    def age_s(self, view: LaneView) -> float | None:
        """Returns the seconds since the lane's last record while it should be giving some."""
        if view.last_record_s is None or view.outcome is not None:
            return None
        return self.now - view.last_record_s

    def _new_events(self) -> tuple[Event, ...]:
        fresh = tuple(self.client.events_since(self._next_event))
        if fresh:
            self._next_event = fresh[-1].n + 1
            self.events.extend(fresh)
        return fresh

    def _sample(self) -> None:
        for view in self.views:
            if view.outcome is None and view.pid is not None:
                sample = self._samples.setdefault(view.index, Sample())
                sample.rss_mib.append(view.rss_mib or 0.0)
                sample.cpu_percent.append(view.cpu_percent or 0.0)
                sample.ticks_per_s.append(view.ticks_per_s or 0.0)


def count_lanes(views: tuple[LaneView, ...]) -> Counts:
    """Returns how many lanes are in which state or ended how."""
    ends: dict[str, int] = {}
    for view in views:
        word = _COUNTED_AS[view.state] if view.outcome is None else _counted_end(view.outcome)
        ends[word] = ends.get(word, 0) + 1
    return Counts(total=len(views), **ends)


_COUNTED_AS = {
    LaneState.WAITING: "waiting",
    LaneState.STARTING: "running",
    LaneState.RUNNING: "running",
    LaneState.PAUSED: "paused",
    LaneState.STUCK: "stuck",
    LaneState.ENDED: "lost",
}


def _counted_end(outcome: Outcome) -> str:
    names = {Outcome.MATCH: "match", Outcome.DIVERGE: "diverge", Outcome.DONE: "done", Outcome.SKIP: "skip"}
    return names.get(outcome, "lost")


def _total_speed(views: tuple[LaneView, ...]) -> float | None:
    speeds = [view.ticks_per_s for view in views if view.outcome is None and view.ticks_per_s is not None]
    return sum(speeds) if speeds else None
