"""Help: every key of the screen it was opened on, with what it does."""

from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static


class Help(ModalScreen[None]):
    """Lists keys by section; the keys are the user's own where they were rebound."""

    DEFAULT_CSS = """
    Help { align: center middle; background: $background 50%; }
    Help > VerticalScroll {
        width: 76; max-width: 96%; height: auto; max-height: 94%; padding: 0 2;
        border: round $accent; border-title-color: $accent; border-title-style: bold; background: $surface;
        scrollbar-size-vertical: 1;
    }
    Help Static { width: 100%; }
    """
    BINDINGS: ClassVar = [Binding("escape,q,question_mark,enter", "dismiss", "Close", show=False)]

    def __init__(self, sections: list[tuple[str, list[tuple[str, str]]]], note: str) -> None:
        super().__init__()
        self.sections = sections
        self.note = note

    def compose(self) -> ComposeResult:
        """Shows the sections."""
        box = VerticalScroll()
        box.border_title = "Keys"
        box.border_subtitle = "Esc closes"
        with box:
            yield Static(self._text())

    def _text(self) -> Text:
        look = self.app.look
        text = Text()
        for title, keys in self.sections:
            text.append(f"{title}\n", look["title"])
            for key, what in keys:
                text.append(f"  {key:<16}", look["key"]).append(f"{what}\n", look["text"])
        return text.append(f"\n{self.note}", look["dim"])
