"""Deadlines of running lanes: which are STUCK, and what becomes of them."""

import time
from collections.abc import Callable, Iterable

from core.ladder.config import LadderConfig
from core.ladder.entry import Attempt, Ending
from core.ladder.eventlog import EventLog
from core.ladder.events import LaneState, Outcome
from core.ladder.lane import Awaited

#: With `--stuck ask`: how long a STUCK lane may wait for an answer from people before it is killed.
ASK_PATIENCE_S = 300.0
#: How long a lane that is being ended may take, its close ladder included, before the engine goes on without it.
ENDING_PATIENCE_S = 12.0
#: The same for a lane inside a call in our own process, which no interruption reaches before it returns.
NATIVE_PATIENCE_S = 2.0


class Deadlines:
    """Watches the clocks of running lanes. Used by the conductor's thread."""

    def __init__(self, config: LadderConfig, events: EventLog, abandon: Callable[[Attempt], None]) -> None:
        self._config = config
        self._events = events
        self._abandon = abandon

    def look(self, attempts: Iterable[Attempt]) -> None:
        """Marks, kills or abandons what is past its deadline."""
        for attempt in attempts:
            if attempt.ending is not None:
                if self.is_beyond_ending(attempt):
                    self._abandon(attempt)
                continue
            lane = attempt.lane
            attempt.clock.look(lane.answers if lane is not None else 0, is_paused=not attempt.entry.go.is_set())
            self._judge(attempt)

    def is_beyond_ending(self, attempt: Attempt) -> bool:
        """Returns whether a lane that is being ended has had its time."""
        patience_s = ENDING_PATIENCE_S if attempt.can_be_interrupted else NATIVE_PATIENCE_S
        return time.monotonic() - attempt.ending_since_s > patience_s

    def _judge(self, attempt: Attempt) -> None:
        clock, limit_s = attempt.clock, self._limit_s(attempt)
        whole_s = self._config.lane_timeout_s
        if whole_s is not None and clock.total_s > whole_s:
            attempt.end(Ending(Outcome.TIMEOUT, f"lane took more than {whole_s:g} s"))
        elif clock.waited_s > limit_s:
            if not attempt.is_stuck:
                self._mark_stuck(attempt, limit_s)
            if self._config.stuck == "kill" or clock.waited_s > limit_s + ASK_PATIENCE_S:
                attempt.end(Ending(Outcome.TIMEOUT, self._complaint(attempt, limit_s)))

    def _limit_s(self, attempt: Attempt) -> float:
        lane = attempt.lane
        is_starting = lane is None or lane.awaited is Awaited.START
        return self._config.start_timeout_s if is_starting else self._config.step_timeout_s

    def _mark_stuck(self, attempt: Attempt, limit_s: float) -> None:
        attempt.is_stuck = True
        text = self._complaint(attempt, limit_s)
        attempt.entry.update_from(attempt, state=LaneState.STUCK, note=text)
        self._events.add("stuck", attempt.entry.index, f"{attempt.entry.name}  {text}: STUCK", pid=attempt.pid)

    def _complaint(self, attempt: Attempt, limit_s: float) -> str:
        lane = attempt.lane
        pid = f" (pid {attempt.pid})" if attempt.pid is not None else ""
        match lane.awaited if lane is not None else Awaited.START:
            case Awaited.START:
                return f"no first record for {limit_s:g} s{pid}"
            case Awaited.REFERENCE:
                return f"a call into {self._config.reference} did not return for {limit_s:g} s"
            case Awaited.POLICY:
                return f"the policy did not decide for {limit_s:g} s"
            case _:
                return f"no record for {limit_s:g} s{pid}"
