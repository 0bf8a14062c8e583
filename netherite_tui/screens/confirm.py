"""Questions: what will happen, and a key for each answer."""

from typing import ClassVar, NamedTuple

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from netherite_tui.words import plain


class Choice(NamedTuple):
    """An answer."""

    key: str
    label: str
    value: str  #: what the question returns; empty for "do nothing"


NO = Choice("n", "Cancel", "")


class Confirm(ModalScreen[str]):
    """Asks, and returns the value of the choice taken; empty when it was dismissed."""

    DEFAULT_CSS = """
    Confirm { align: center middle; background: $background 50%; }
    Confirm > Vertical {
        width: auto; min-width: 44; max-width: 90%; height: auto; max-height: 80%; padding: 1 2;
        border: round $accent; border-title-color: $accent; border-title-style: bold; background: $surface;
    }
    Confirm Static { width: auto; max-width: 100%; }
    Confirm #lines { margin-bottom: 1; }
    """
    BINDINGS: ClassVar = [Binding("escape", "answer('')", "Cancel", show=False)]

    def __init__(self, title: str, lines: list[str], choices: tuple[Choice, ...]) -> None:
        super().__init__()
        self.title_text = title
        self.lines = lines
        self.choices = choices

    def compose(self) -> ComposeResult:
        """Shows the lines and the choices."""
        box = Vertical()
        box.border_title = self.title_text
        with box:
            yield Static("\n".join(plain(line) for line in self.lines), markup=False, id="lines")
            for choice in self.choices:
                yield Static(f"[@click=screen.answer('{choice.value}')][b $accent]{choice.key}[/] {choice.label}[/]")

    def on_key(self, event: events.Key) -> None:
        """Takes the choice whose key was pressed; no other key, Enter neither, confirms by accident."""
        for choice in self.choices:
            if event.character == choice.key:
                event.stop()  # the screen below may know the key too
                self.dismiss(choice.value)

    def action_answer(self, value: str) -> None:
        """Takes a choice."""
        self.dismiss(value)
