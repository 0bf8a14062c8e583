"""What the panes that show lanes tell their screen."""

from textual.message import Message
from textual.widget import Widget


class LaneMoved(Message):
    """The cursor of a pane is on another lane."""

    def __init__(self, pane: Widget, index: int) -> None:
        super().__init__()
        self.pane = pane
        self.index = index


class LaneOpened(Message):
    """A lane was asked for in full."""

    def __init__(self, index: int) -> None:
        super().__init__()
        self.index = index
