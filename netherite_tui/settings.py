"""What a user may set for the dashboard: the `[ui]` and `[keys]` tables of the config file."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from core.errors import BadInput


@dataclass(frozen=True)
class Settings:
    """Settings of the dashboard."""

    theme: str = "auto"  #: a theme's name; auto = netherite, high-contrast on 16 colours, mono without
    glyphs: str = "auto"  #: a glyph set's name; auto = block, ascii where the locale is not UTF-8
    mouse: bool = True
    bell: bool = True
    keys: Mapping[str, str] = field(default_factory=dict)  #: binding id to keys, comma separated
    theme_folder: Path | None = None  #: the user's own themes


def settings_from(tables: Mapping[str, Any], *, source: str, theme_folder: Path | None = None) -> Settings:
    """Returns settings from the config file's tables.

    Args:
        tables: the file's `ui` and `keys` tables; other keys are somebody else's.
        source: what to call the file in errors.
        theme_folder: the user's own themes.

    Raises:
        BadInput: an unknown key or a value of the wrong type.
    """
    known = {
        item.name: type(item.default) for item in fields(Settings) if item.name in ("theme", "glyphs", "mouse", "bell")
    }
    values: dict[str, Any] = {}
    for key, value in tables.get("ui", {}).items():
        if key not in known:
            raise BadInput(f"{source}: ui.{key}: unknown key, expected one of {', '.join(known)}")
        if type(value) is not known[key]:
            raise BadInput(f"{source}: ui.{key}: expected {known[key].__name__}, found {value!r}")
        values[key] = value
    keys = tables.get("keys", {})
    for name, value in keys.items():
        if not isinstance(value, str) or not value:
            raise BadInput(f"{source}: keys.{name}: expected a key like 'x' or 'ctrl+k', found {value!r}")
    return Settings(**values, keys=dict(keys), theme_folder=theme_folder)
