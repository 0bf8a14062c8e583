"""The events of a run, in order, for readers that come when they like."""

import threading
import time
from typing import Any

from core.ladder.events import Event


class EventLog:
    """An append-only list of events. Any thread may add, any thread may read or wait."""

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._grown = threading.Condition()

    def add(self, kind: str, lane: int | None, text: str, **data: Any) -> None:
        """Appends one event; `kind` is a word of `Event.kind`, `data` msgpack-able facts."""
        with self._grown:
            self._events.append(Event(len(self._events), time.time(), kind, lane, text, data))
            self._grown.notify_all()

    def since(self, n: int) -> list[Event]:
        """Returns the events numbered `n` and later."""
        return self._events[n:]

    def wait(self, n: int, timeout_s: float) -> bool:
        """Waits until event `n` exists; returns whether it does."""
        with self._grown:
            return self._grown.wait_for(lambda: len(self._events) > n, timeout_s)
