"""Camera pictures: every pixel of a real record is where it belongs, at every scale and in every view."""

import numpy as np
import pytest
from textual.strip import Strip

from core.wire.bolr import RECORD
from netherite_tui.blocks import KIND_OF_ID
from netherite_tui.look import Look
from netherite_tui.theming import load_glyphs, load_palettes
from netherite_tui.widgets.preview import PLANE_NAMES, Picture, differing, policy_planes
from netherite_tui.widgets.views import FULL, SCALES, Scale, View, best_scale
from tests.netherite_tui.fake_client import golden_records, with_pixels
from tests.paths import DATA

RECORDS = golden_records("s14_move400")[::80] + golden_records("s10_walk32")[:1]


def look(theme: str = "netherite", glyphs: str = "block", colors: int = 2**24) -> Look:
    return Look(load_palettes()[0][theme], load_glyphs()[0][glyphs], colors=colors)


def cells(strip: Strip) -> list[tuple[str, object]]:
    return [(character, segment.style) for segment in strip for character in segment.text]


@pytest.mark.parametrize("record", RECORDS)
def test_every_pixel_has_its_glyph_and_edges_are_bold(record: bytes) -> None:
    fields = np.frombuffer(record, RECORD)[0]
    one = look()
    lines = Picture(one).draw(record, View.BLOCKS, FULL)
    assert len(lines) == 36
    for row, (_, strip) in enumerate(lines):
        drawn = cells(strip)
        assert len(drawn) == 64
        for column, (glyph, style) in enumerate(drawn):
            assert glyph == one.glyphs.camera[KIND_OF_ID.get(int(fields["cam"][row, column]), "unknown")]
            assert bool(style.bold) == bool(fields["edge"][row, column])


@pytest.mark.parametrize("view", list(View))
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("theme", ["netherite", "mono"])
def test_every_view_fills_every_scale_exactly(view: View, scale: Scale, theme: str) -> None:
    one = look(theme)
    if scale.half and not one.half_blocks:
        assert best_scale(scale.width, scale.height, half_blocks=False) != scale
        return
    lines = Picture(one).draw(RECORDS[0], view, scale)
    assert len(lines) == scale.height
    assert all(strip.cell_length == scale.width for _, strip in lines)


def test_nearer_is_brighter() -> None:
    palette = look().palette
    for kind in ("stone", "grass", "snow", "log"):
        sums = [sum(palette.block_color(kind, level)) for level in range(6)]
        assert sums == sorted(sums, reverse=True)
        assert len(set(sums)) == 6


def test_half_blocks_hold_two_pixels() -> None:
    fields = np.frombuffer(RECORDS[0], RECORD)[0]
    one = look()
    (_, strip), *_ = Picture(one).draw(RECORDS[0], View.IDS, Scale(64, 18, True))
    for column, (glyph, style) in enumerate(cells(strip)):
        kinds = [KIND_OF_ID.get(int(fields["cam"][row, column]), "unknown") for row in (0, 1)]
        assert glyph == "▀"
        assert style.color.triplet == one.palette.block_color(kinds[0], 0)
        assert style.bgcolor.triplet == one.palette.block_color(kinds[1], 0)


def test_the_largest_scale_that_fits_is_chosen() -> None:
    assert best_scale(64, 36, half_blocks=True) == FULL
    assert best_scale(200, 35, half_blocks=True) == Scale(64, 18, True)
    assert best_scale(200, 35, half_blocks=False) == Scale(32, 18)
    assert best_scale(63, 40, half_blocks=True) == Scale(32, 18)
    assert best_scale(40, 10, half_blocks=True) == Scale(32, 9, True)
    assert best_scale(3, 3, half_blocks=True) == Scale(16, 9)


@pytest.mark.parametrize("pixels", [0, 1, 5])
def test_difference_reverses_exactly_what_differs(pixels: int) -> None:
    record = RECORDS[1]
    reference = with_pixels(record, pixels)
    one = look()
    assert int(differing(record, reference).sum()) == pixels
    lines = Picture(one).draw_difference(record, reference, FULL)
    marked = [
        (row, column)
        for row, (_, strip) in enumerate(lines)
        for column, (_, style) in enumerate(cells(strip))
        if style == one["differ"]
    ]
    assert marked == [(18, 30 + i) for i in range(pixels)]


def test_equal_rows_share_a_key_and_other_rows_do_not() -> None:
    picture = Picture(look())
    before = picture.draw(RECORDS[0], View.BLOCKS, FULL)
    again = picture.draw(RECORDS[0], View.BLOCKS, FULL)
    other = picture.draw(with_pixels(RECORDS[0], 2), View.BLOCKS, FULL)
    assert [key for key, _ in before] == [key for key, _ in again]
    assert [row for row in range(36) if before[row][0] != other[row][0]] == [18]


def test_policy_planes_are_the_natives() -> None:
    with np.load(DATA / "nn" / "d_pack_obs.npz") as golden:
        cams, depths, edges, planes = (golden[name] for name in ("cam", "depth", "edge", "planes"))
    for cam, depth, edge, expected in zip(cams, depths, edges, planes, strict=True):
        record = np.zeros(1, RECORD)
        for name, pixels in (("cam", cam), ("depth", depth), ("edge", edge)):
            record[name][0] = pixels.reshape(36, 64)
        assert np.array_equal(policy_planes(record.tobytes()), expected.reshape(18, 36, 64)[9:])
    assert len(PLANE_NAMES) == 9
