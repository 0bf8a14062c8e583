"""Themes and glyph sets: what ships is whole, what users write is checked, and ASCII means ASCII."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import BadInput
from netherite_tui.app import NetheriteApp
from netherite_tui.settings import Settings, settings_from
from netherite_tui.theming import (
    glyphs_from,
    load_glyphs,
    load_palettes,
    palette_from,
    shipped_folder,
    terminal_is_ascii,
    to_ascii,
)
from netherite_tui.words import plain

THEME = (shipped_folder() / "netherite.toml").read_text()


def luminance(color: tuple[int, int, int]) -> float:
    parts = [c / 255 / 12.92 if c / 255 <= 0.03928 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in color]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(one: tuple[int, int, int], other: tuple[int, int, int]) -> float:
    bright, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def test_four_themes_and_two_glyph_sets_ship() -> None:
    palettes, complaints = load_palettes()
    glyphs, more = load_glyphs()
    assert set(palettes) == {"netherite", "overworld", "high-contrast", "mono"}
    assert set(glyphs) == {"ascii", "block"}
    assert complaints == more == []


@pytest.mark.parametrize("name", ["netherite", "overworld", "high-contrast"])
def test_states_can_be_read_and_told_apart_by_any_colour_sight(name: str) -> None:
    palette = load_palettes()[0][name]
    for style in ("text", "match", "diverge", "accent", "dim"):
        drawn = palette[style]
        behind = drawn.bgcolor.get_truecolor() if drawn.bgcolor is not None else palette.background
        assert contrast(drawn.color.get_truecolor(), behind) >= 4.0, style
    match, diverge = palette["match"].color.get_truecolor(), palette["diverge"]
    shown = (diverge.bgcolor or diverge.color).get_truecolor()
    assert match.blue > match.red  # blue against orange: the pair that all colour sights keep apart
    assert shown.red > shown.blue


def test_mono_has_no_colour_and_words_differ_by_weight() -> None:
    palette = load_palettes()[0]["mono"]
    assert all(style.color is None and style.bgcolor is None for style in palette.styles.values())
    looks = [str(palette[name]) for name in ("match", "diverge", "stuck", "lost", "waiting")]
    assert len(set(looks)) == len(looks)


def test_the_ascii_set_is_ascii() -> None:
    glyphs = load_glyphs()[0]["ascii"]
    assert "".join([*glyphs.camera.values(), *glyphs.interface.values()]).isascii()


@given(st.text())
def test_to_ascii_keeps_the_length_and_leaves_nothing_else(text: str) -> None:
    assert to_ascii(text).isascii()
    assert len(to_ascii(text)) == len(text)


@given(st.text())
def test_plain_text_is_printable_and_of_one_cell_a_character(text: str) -> None:
    from rich.cells import cell_len

    shown = plain(text)
    assert shown.isprintable() or shown == ""
    assert cell_len(shown) == len(shown) == len(text)


def test_a_users_theme_replaces_and_adds(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(
        THEME.replace('name = "netherite"', 'name = "mine"').replace("#57b2e0", "#00aaff")
    )
    palettes, complaints = load_palettes(tmp_path)
    assert complaints == []
    assert set(palettes) >= {"mine", "netherite"}
    assert palettes["mine"]["match"].color.get_truecolor() == (0, 170, 255)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("match = ", "matsch = "), "styles.matsch: unknown"),
        (('match = "#57b2e0"', ""), "styles.match: expected a text, found nothing"),
        (('match = "#57b2e0"', 'match = "no such colour"'), "styles.match"),
        (('background = "#141216"', 'background = "dark"'), "colors.background: expected a colour"),
        (('stone = "#8c8c90"', "stone = 5"), "blocks.stone: expected a text, found 5"),
        (('stone = "#8c8c90"', 'granite = "#8c8c90"'), "blocks.granite: unknown"),
        (("dark = true", "dark = "), "not a theme"),
        (('name = "netherite"', "name = 1"), "name: expected a text, found 1"),
        (("dark = true", "night = true"), "unknown key 'night'"),
    ],
)
def test_a_users_broken_theme_is_one_clear_line_and_no_harm(tmp_path: Path, change: tuple[str, str], says: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(THEME.replace(*change))
    with pytest.raises(BadInput, match=r"mine\.toml") as raised:
        palette_from(path)
    assert says in str(raised.value)
    assert "\n" not in str(raised.value)
    palettes, complaints = load_palettes(tmp_path)
    assert "netherite" in palettes
    assert complaints == [str(raised.value)]


def test_a_glyph_set_refuses_wide_and_foreign_characters(tmp_path: Path) -> None:
    text = (shipped_folder() / "glyphs" / "ascii.toml").read_text()
    for wrong in ("##", "█"):
        path = tmp_path / "mine.toml"
        path.write_text(text.replace('stone = "#"', f'stone = "{wrong}"'))
        with pytest.raises(BadInput, match="stone"):
            glyphs_from(path)


@pytest.mark.parametrize(
    ("environ", "is_ascii"),
    [
        ({"LANG": "en_US.UTF-8"}, False),
        ({"LANG": "C.utf8"}, False),
        ({"LC_ALL": "C", "LANG": "en_US.UTF-8"}, True),
        ({"LC_ALL": "C.UTF-8", "LANG": "C"}, False),
        ({"LC_CTYPE": "C.UTF-8", "LANG": "C"}, True),  # what python makes of LANG=C
        ({"LC_CTYPE": "de_DE.UTF-8", "LANG": "C"}, False),
        ({"LANG": "de_DE.ISO-8859-1"}, True),
        ({}, True),
    ],
)
def test_the_locale_decides_about_ascii(environ: dict[str, str], is_ascii: bool) -> None:
    assert terminal_is_ascii(environ) is is_ascii


def test_settings_name_what_is_wrong() -> None:
    assert settings_from({"ui": {"theme": "mono", "bell": False}, "keys": {"kill": "k"}}, source="file") == Settings(
        theme="mono", bell=False, keys={"kill": "k"}
    )
    for tables, says in (
        ({"ui": {"colour": "red"}}, "ui.colour: unknown key"),
        ({"ui": {"bell": 1}}, "ui.bell: expected bool, found 1"),
        ({"keys": {"kill": 7}}, "keys.kill: expected a key"),
    ):
        with pytest.raises(BadInput, match="file") as raised:
            settings_from(tables, source="file")
        assert says in str(raised.value)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        (Settings(theme="nether"), "theme: expected one of"),
        (Settings(glyphs="runes"), "glyphs: expected one of"),
        (Settings(keys={"explode": "x"}), "keys.explode: unknown"),
    ],
)
def test_the_app_refuses_settings_that_name_nothing(settings: Settings, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        NetheriteApp(settings=settings)
