"""A terminal that is the same everywhere: true colours, UTF-8, no NO_COLOR, a clock that stands still."""

import time
from types import SimpleNamespace

import pytest
from textual import constants

from netherite_tui import model
from netherite_tui.widgets import log
from tests.netherite_tui import fake_client


@pytest.fixture(autouse=True)
def steady_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fixes what a screen would otherwise take from the machine."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in (("LC_ALL", "C.UTF-8"), ("TERM", "xterm-256color"), ("COLORTERM", "truecolor")):
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(constants, "COLOR_SYSTEM", "truecolor")
    monkeypatch.setattr(log, "time", SimpleNamespace(strftime=time.strftime, localtime=time.gmtime))


@pytest.fixture
def still_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stops the model's clock, so that ages in pictures do not move."""
    frozen = SimpleNamespace(monotonic=lambda: 5000.0, time=lambda: fake_client.START + 2472)
    monkeypatch.setattr(model, "time", frozen)
    monkeypatch.setattr(fake_client, "time", frozen)
