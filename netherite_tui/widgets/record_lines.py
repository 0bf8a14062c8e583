"""A record in words: pose, hands, inventory, pixels. Lines of pieces, each a text and a palette name."""

import numpy as np

from core.ladder.events import LaneView
from core.wire.bolr import RECORD
from netherite_tui.blocks import CONTAINERS, INVENTORY, KIND_OF_ID, KINDS, block_name, item_name
from netherite_tui.look import Look
from netherite_tui.widgets.preview import arrays_of, differing
from netherite_tui.widgets.views import Side
from netherite_tui.words import UNKNOWN, fit, plain

Pieces = list[tuple[str, str]]
#: Differing pixels listed at most.
_LISTED = 12


def record_lines(
    lane: LaneView, side: Side, cross: tuple[int, int], worlds: tuple[str, str], look: Look
) -> list[Pieces]:
    """Returns the lines under a lane's picture.

    Args:
        lane: the lane, with a record.
        side: whose picture is shown.
        cross: row and column of the crosshair, pixels.
        worlds: names of the two sides.
        look: theme and glyphs.
    """
    record = lane.reference if side is Side.REFERENCE else lane.record
    fields = np.frombuffer(record or b"", RECORD)[0]
    lines = [_pose_line(fields), _hotbar_line(fields, look)]
    if side is Side.DIFFERENCE:
        lines += _difference_lines(lane, cross, worlds)
    else:
        lines.append(_cross_line(lane, side, cross, worlds))
    lines += [[(" act ", "dim"), (plain(lane.action or UNKNOWN), "text")], *_inventory_lines(fields)]
    lines.append(_legend_line(fields, look))
    return lines


def _pose_line(fields: np.void) -> Pieces:
    x, y, z = (float(v) for v in fields["xyz"])
    pose = [(" x ", "dim"), (f"{x:.1f}", "text"), (" y ", "dim"), (f"{y:.1f}", "text"), (" z ", "dim")]
    pose += [(f"{z:.1f}", "text"), ("  yaw ", "dim"), (f"{fields['yaw']:.0f}", "text"), ("  pitch ", "dim")]
    pose += [(f"{fields['pitch']:.0f}", "text"), ("  tick ", "dim"), (f"{fields['tick']}", "text")]
    return [*pose, ("  DEAD", "stuck")] if fields["dead"] else pose


def _hotbar_line(fields: np.void, look: Look) -> Pieces:
    pieces = [(" hotbar ", "dim")]
    slots = zip(fields["hotbar_ids"].tolist(), fields["hotbar_counts"].tolist(), strict=True)
    for slot, (item, count) in enumerate(slots):
        held = slot == int(fields["hotbar_sel"])
        text = f"{item_name(item)} {count}" if item else look.glyphs["dot"]
        pieces.append((f"[{text}]" if held else f" {text} ", "strong" if held else "text" if item else "faint"))
    return pieces


def _inventory_lines(fields: np.void) -> list[Pieces]:
    held = [f"{name} {n}" for name, n in zip(INVENTORY, fields["inv_counts"].tolist(), strict=True) if n]
    container = CONTAINERS.get(int(fields["container"]), f"{fields['container']}")
    return [
        [(" has ", "dim"), (", ".join(held) or "nothing", "text")],
        [(" open ", "dim"), (container, "text")],
    ]


def _cross_line(lane: LaneView, side: Side, cross: tuple[int, int], worlds: tuple[str, str]) -> Pieces:
    row, column = cross
    pieces = [(f" at {row:2d} {column:2d}  ", "dim")]
    if side is not Side.REFERENCE and lane.record is not None:
        pieces.append((pixel_words(lane.record, row, column), "text"))
    if side is not Side.MAGMA and lane.reference is not None:
        before = f"  {worlds[1]} " if side is Side.BOTH else ""
        pieces += [(before, "dim"), (pixel_words(lane.reference, row, column), "text")]
    return pieces


def _difference_lines(lane: LaneView, cross: tuple[int, int], worlds: tuple[str, str]) -> list[Pieces]:
    assert lane.record is not None
    assert lane.reference is not None
    row, column = cross
    lines = [_pair_line(lane, (row, column), worlds, "accent")]
    spots = np.argwhere(differing(lane.record, lane.reference))
    lines.append([(f" {len(spots)} px differ", "diverge" if len(spots) else "match"), (" row col", "dim")])
    lines += [_pair_line(lane, (int(r), int(c)), worlds, "text") for r, c in spots[:_LISTED]]
    return lines


def _pair_line(lane: LaneView, spot: tuple[int, int], worlds: tuple[str, str], style: str) -> Pieces:
    row, column = spot
    ours, theirs = pixel_words(lane.record or b"", row, column), pixel_words(lane.reference or b"", row, column)
    return [
        (f" {row:3d} {column:3d}  ", "dim"),
        (f"{worlds[0]} ", "dim"),
        (fit(ours, 16), style),
        (f"{worlds[1]} ", "dim"),
        (theirs, style),
    ]


def _legend_line(fields: np.void, look: Look) -> Pieces:
    """Names the glyphs in the picture, the most frequent first."""
    ids, counts = np.unique(fields["cam"], return_counts=True)
    pieces: Pieces = [(" ", "dim")]
    for block in ids[np.argsort(-counts, kind="stable")].tolist():
        if block:
            kind = KIND_OF_ID.get(block, KINDS[-1])
            pieces += [(look.glyphs.camera[kind], "accent"), (f" {block_name(block)}  ", "dim")]
    return pieces


def pixel_words(record: bytes, row: int, column: int) -> str:
    """Returns a pixel as `stone 3.25 edge`, or `air -` for sky."""
    cam, depth, edge = arrays_of(record)
    block = int(cam[row, column])
    if block == 0:
        return "air -"
    return f"{block_name(block)} {depth[row, column] / 4:.2f}{' edge' if edge[row, column] else ''}"
