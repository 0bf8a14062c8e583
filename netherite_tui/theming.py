"""Themes and glyph sets: TOML files that ship with the program, and the user's own beside them."""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from rich.color import Color, ColorParseError
from rich.color_triplet import ColorTriplet
from rich.errors import StyleSyntaxError
from rich.style import Style
from textual.color import Color as CssColor
from textual.color import ColorParseError as CssColorParseError
from textual.theme import Theme

from core.errors import BadInput
from netherite_tui.blocks import KINDS

STYLE_NAMES = (
    *("text", "strong", "dim", "faint", "accent", "key", "head", "title", "match", "diverge", "stuck", "lost"),
    *("running", "paused", "waiting", "done", "bar", "bar-rest", "cursor", "mark", "warning", "differ", "cross"),
)
COLOR_NAMES = (
    *("background", "surface", "panel", "foreground", "primary", "secondary", "accent", "warning", "error"),
    *("success", "border", "border-focus"),
)
INTERFACE_NAMES = ("half", "bar", "bar-rest", "cursor", "mark", "dot", "between", "down", "up")
#: Distance levels of a preview: 0 is within arm's reach, the last is the horizon.
LEVELS = 6
_FOG = (0.0, 0.14, 0.28, 0.42, 0.56, 0.68)


@dataclass(frozen=True, eq=False)
class Palette:
    """A theme: the named styles widgets draw with, the colours of blocks, and Textual's own theme."""

    name: str
    styles: Mapping[str, Style]
    blocks: Mapping[str, ColorTriplet]  #: by kind; empty in a theme without colours
    background: ColorTriplet
    theme: Theme

    def __getitem__(self, name: str) -> Style:
        return self.styles[name]

    def block_color(self, kind: str, level: int) -> ColorTriplet:
        """Returns the kind's colour at a distance level: it fades into the background."""
        color = self.blocks.get(kind) or self.blocks["unknown"]
        return color if kind == "sky" else mix(color, self.background, _FOG[level])


@dataclass(frozen=True)
class Glyphs:
    """A glyph set: a character for each kind of block and for each part of the interface."""

    name: str
    ascii: bool  #: whether the whole screen must stay within ASCII
    camera: Mapping[str, str]
    interface: Mapping[str, str] = field(default_factory=dict)

    def __getitem__(self, name: str) -> str:
        return self.interface[name]


def mix(color: ColorTriplet, other: ColorTriplet, share: float) -> ColorTriplet:
    """Returns `color` with `share` (0..1) of `other` in it."""
    return ColorTriplet(*(round(a + (b - a) * share) for a, b in zip(color, other, strict=True)))


def shipped_folder() -> Path:
    """Returns where the shipped themes are: in the package when installed, at the top of a checkout otherwise."""
    package = Path(__file__).parent / "themes"
    return package if package.is_dir() else Path(__file__).parent.parent / "themes"


def load_palettes(user_folder: Path | None = None) -> tuple[dict[str, Palette], list[str]]:
    """Loads every theme; a user's file of the same name replaces the shipped one.

    Args:
        user_folder: the user's `themes` folder; it need not exist.

    Returns:
        Palettes by name, and one line for each user file that could not be used.

    Raises:
        BadInput: a shipped theme is broken.
    """
    return _load(palette_from, "*.toml", user_folder, lambda palette: palette.name)


def load_glyphs(user_folder: Path | None = None) -> tuple[dict[str, Glyphs], list[str]]:
    """Loads every glyph set, as `load_palettes` does themes; they lie in `glyphs/`."""
    return _load(glyphs_from, "glyphs/*.toml", user_folder, lambda glyphs: glyphs.name)


def _load(parse: Any, pattern: str, user_folder: Path | None, name_of: Any) -> tuple[dict[str, Any], list[str]]:
    found: dict[str, Any] = {}
    complaints: list[str] = []
    for path in sorted(shipped_folder().glob(pattern)):
        item = parse(path)
        found[name_of(item)] = item
    for path in sorted(user_folder.glob(pattern)) if user_folder is not None else ():
        try:
            item = parse(path)
        except BadInput as error:
            complaints.append(str(error))
        else:
            found[name_of(item)] = item
    return found, complaints


def palette_from(path: Path) -> Palette:
    """Reads one theme file.

    Raises:
        BadInput: not TOML, or a name or colour that is missing, unknown or malformed; the text says which.
    """
    data = _read(path, {"name", "dark", "ansi", "colors", "styles", "blocks"})
    colors = _table(path, data, "colors", COLOR_NAMES, complete=True)
    styles = _table(path, data, "styles", STYLE_NAMES, complete=True)
    blocks = _table(path, data, "blocks", KINDS, complete=False)
    ansi = bool(data.get("ansi", False))
    for key, text in colors.items():
        try:
            CssColor.parse(text)
        except CssColorParseError:
            raise BadInput(f"{path}: colors.{key}: expected a colour like #a78bda, found {text!r}") from None
    if not ansi and "unknown" not in blocks:
        raise BadInput(f"{path}: blocks.unknown: expected a colour, found nothing")
    return Palette(
        name=data["name"],
        styles={key: _style(path, key, text) for key, text in styles.items()},
        blocks={key: _triplet(path, key, text) for key, text in blocks.items()},
        background=ColorTriplet(0, 0, 0) if ansi else CssColor.parse(colors["background"]).rich_color.triplet,
        theme=_textual_theme(data["name"], bool(data.get("dark", True)), ansi, colors),
    )


def glyphs_from(path: Path) -> Glyphs:
    """Reads one glyph set.

    Raises:
        BadInput: as `palette_from`; also a glyph that is not one single-width character.
    """
    data = _read(path, {"name", "ascii", "camera", "interface"})
    camera = _table(path, data, "camera", KINDS, complete=True)
    interface = _table(path, data, "interface", INTERFACE_NAMES, complete=True)
    for key, glyph in (camera | interface).items():
        if len(glyph) != 1 and not (key == "half" and glyph == ""):
            raise BadInput(f"{path}: {key}: expected one character, found {glyph!r}")
        if data.get("ascii") and not glyph.isascii():
            raise BadInput(f"{path}: {key}: expected an ASCII character, found {glyph!r}")
    return Glyphs(data["name"], bool(data.get("ascii", False)), camera, interface)


def _read(path: Path, known: set[str]) -> dict[str, Any]:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadInput(f"{path}: not a theme: {error}") from None
    for key in data:
        if key not in known:
            raise BadInput(f"{path}: unknown key {key!r}, expected one of {', '.join(sorted(known))}")
    if not isinstance(data.get("name"), str):
        raise BadInput(f"{path}: name: expected a text, found {data.get('name')!r}")
    return data


def _table(path: Path, data: dict[str, Any], table: str, names: tuple[str, ...], *, complete: bool) -> dict[str, str]:
    values = data.get(table, {})
    for key, value in values.items():
        if key not in names:
            raise BadInput(f"{path}: {table}.{key}: unknown, expected one of {', '.join(names)}")
        if not isinstance(value, str):
            raise BadInput(f"{path}: {table}.{key}: expected a text, found {value!r}")
    for key in names if complete else ():
        if key not in values:
            raise BadInput(f"{path}: {table}.{key}: expected a text, found nothing")
    return dict(values)


def _style(path: Path, key: str, text: str) -> Style:
    try:
        return Style.parse(text)
    except StyleSyntaxError as error:
        raise BadInput(f"{path}: styles.{key}: {error}") from None


def _triplet(path: Path, key: str, text: str) -> ColorTriplet:
    try:
        return Color.parse(text).get_truecolor()
    except ColorParseError:
        raise BadInput(f"{path}: blocks.{key}: expected a colour like #8c8c90, found {text!r}") from None


def _textual_theme(name: str, dark: bool, ansi: bool, colors: Mapping[str, str]) -> Theme:
    own = {key: value for key, value in colors.items() if not key.startswith("border")}
    variables = {
        "border": colors["border-focus"],
        "border-blurred": colors["border"],
        "pane-border": colors["border"],
        "pane-border-focus": colors["border-focus"],
        "block-cursor-background": colors["accent"],
        "block-cursor-foreground": colors["background"],
        "scrollbar": colors["border"],
        "scrollbar-hover": colors["secondary"],
        "scrollbar-active": colors["accent"],
        "scrollbar-background": colors["background"],
        "scrollbar-background-hover": colors["background"],
        "scrollbar-background-active": colors["background"],
        "scrollbar-corner-color": colors["background"],
        "input-cursor-text-style": "reverse",
    }
    if ansi:
        variables |= {"block-cursor-background": "ansi_white", "block-cursor-foreground": "ansi_black"}
        variables |= {"ansi-background": "ansi_black", "ansi-foreground": "ansi_white"}
    return Theme(name=name, dark=dark, ansi=ansi, variables=variables, luminosity_spread=0.1, text_alpha=1.0, **own)


def terminal_is_ascii(environ: Mapping[str, str] = os.environ) -> bool:
    """Returns whether the locale promises nothing beyond ASCII.

    Python replaces a C locale by C.UTF-8 in LC_CTYPE at start, so that value alone proves nothing about the terminal.
    """
    if environ.get("LC_ALL"):
        chosen = environ["LC_ALL"]
    else:
        ctype = environ.get("LC_CTYPE", "")
        coerced = ctype in ("C.UTF-8", "C.utf8", "UTF-8") and environ.get("LANG", "") in ("", "C", "POSIX")
        chosen = environ.get("LANG", "") if coerced or not ctype else ctype
    return "utf8" not in chosen.lower().replace("-", "")


@lru_cache(maxsize=16_384)
def two_colors(foreground: ColorTriplet, background: ColorTriplet | None, bold: bool = False) -> Style:
    """Returns a style of a foreground over an optional background."""
    behind = None if background is None else Color.from_triplet(background)
    return Style(color=Color.from_triplet(foreground), bgcolor=behind, bold=bold or None)


_TO_ASCII = str.maketrans(
    {
        **dict.fromkeys("─━╌═▔▁", "-"),
        **dict.fromkeys("│┃▏▕┊║", "|"),
        **dict.fromkeys("╭╮╰╯┌┐└┘├┤┬┴┼╔╗╚╝", "+"),
        **dict.fromkeys("▸▶›→", ">"),
        **dict.fromkeys("◂‹←", "<"),
        **dict.fromkeys("·•…", "."),
        **dict.fromkeys("▾↓", "v"),
        **dict.fromkeys("▴↑", "^"),
        "⇄": "/",
        "×": "x",
        **dict.fromkeys("█▉▊▋▌▍▎▄▀▅▆▇", "#"),
        **dict.fromkeys("▂▃", "_"),
    }
)


def to_ascii(text: str) -> str:
    """Returns the text with every character replaced by an ASCII one of the same width."""
    if text.isascii():
        return text
    translated = text.translate(_TO_ASCII)
    return translated if translated.isascii() else translated.encode("ascii", "replace").decode("ascii")
