"""Helpers that look at a running app as a person would: its rendered text."""

from collections.abc import Callable

from textual.pilot import Pilot

from netherite_tui.app import NetheriteApp


def text_of(app: NetheriteApp) -> str:
    """Returns the screen as lines of text, trailing blanks cut."""
    strips = app.screen._compositor.render_strips()
    lines = ["".join(segment.text for segment in strip) for strip in strips]
    for line_filter in app.get_line_filters():
        if type(line_filter).__name__ == "AsciiOnly":
            lines = [
                "".join(segment.text for segment in line_filter.apply(list(strip), app.screen.background_colors[1]))
                for strip in strips
            ]
    return "\n".join(line.rstrip() for line in lines) + "\n"


async def until(pilot: Pilot[int], met: Callable[[], bool], what: str, turns: int = 200) -> None:
    """Lets the app work until a condition is met.

    Raises:
        AssertionError: it was not met in `turns` turns of 50 ms.
    """
    for _ in range(turns):
        if met():
            return
        await pilot.pause(0.05)
    raise AssertionError(f"not met: {what}\n{text_of(pilot.app)}")


def styles_of(app: NetheriteApp, words: tuple[str, ...]) -> str:
    """Returns how the first appearance of each word is drawn: one line a word, colours and attributes."""
    segments = [segment for strip in app.screen._compositor.render_strips() for segment in strip]
    lines = []
    for word in words:
        found = next(segment for segment in segments if word in segment.text)
        lines.append(f"{word}: {found.style}")
    return "\n".join(lines) + "\n"
