"""The replay gate: the frozen comparison of two records (SPEC 4). tick, blocks and logs are not gated."""

import math

import numpy as np
import numpy.typing as npt

REASON_CHARS = 79  #: the native keeps the reason in an 80-byte C string

_GATED_HEAD = slice(12, 164)  #: x .. inv_counts
_GATED_TAIL = slice(5028, 14628)  #: coal, cam, depth, edge

RecordArray = npt.NDArray[np.void]


def first_mismatch(magma_record: RecordArray, reference_record: RecordArray) -> str | None:
    """Returns the native's text for the first gated field that differs, or None when the records match.

    Floats compare as C compares them: 0.0 equals -0.0 and a NaN differs from everything.

    Args:
        magma_record: one record, shape [1] or [], dtype `core.wire.bolr.RECORD`; its values are printed first.
        reference_record: the other side's record, same form.
    """
    if _same_bytes(magma_record, reference_record):
        return None
    for field in _FIELDS:
        text = _describe(field, magma_record.reshape(1)[0], reference_record.reshape(1)[0])
        if text is not None:
            return text[:REASON_CHARS]
    return None


def differing_fields(magma_record: RecordArray, reference_record: RecordArray) -> tuple[str, ...]:
    """Returns the names of all gated fields that differ, in the gate's order (arguments as `first_mismatch`)."""
    if _same_bytes(magma_record, reference_record):
        return ()
    magma, reference = magma_record.reshape(1)[0], reference_record.reshape(1)[0]
    return tuple(field for field in _FIELDS if _describe(field, magma, reference) is not None)


def step_reason(step: int, reason: str) -> str:
    """Returns the reason as the native prints it after `step=N `: steps 0 and 1 say what they are."""
    return {0: "t=0 ", 1: "burn-in "}.get(step, "") + reason


_FIELDS = ("dead", "xyz", "yaw/pitch", "container", "hotbar_sel", "inventory", "coal", "cam", "depth", "edge")


def _same_bytes(magma: RecordArray, reference: RecordArray) -> bool:
    """Whether all gated bytes are equal and no gated float is NaN (the quick answer for nearly every decision)."""
    ours, theirs = magma.reshape(1).view(np.uint8), reference.reshape(1).view(np.uint8)
    if not np.array_equal(ours[_GATED_HEAD], theirs[_GATED_HEAD]):
        return False
    if not np.array_equal(ours[_GATED_TAIL], theirs[_GATED_TAIL]):
        return False
    one = magma.reshape(1)[0]
    return not math.isnan(float(one["xyz"].sum()) + float(one["yaw"]) + float(one["pitch"]))


def _describe(field: str, magma: np.void, reference: np.void) -> str | None:
    """Returns the native's whole text for one field, or None when it is equal."""
    match field:
        case "xyz":
            ours, theirs = magma["xyz"].tolist(), reference["xyz"].tolist()
            text = "pose xyz magma=({},{},{}) blaze=({},{},{})"
            return None if _equal(ours, theirs) else text.format(*(_c_float("%.9g", v) for v in (*ours, *theirs)))
        case "yaw/pitch":
            ours = [float(magma["yaw"]), float(magma["pitch"])]
            theirs = [float(reference["yaw"]), float(reference["pitch"])]
            text = "yaw/pitch magma={}/{} blaze={}/{}"
            return None if _equal(ours, theirs) else text.format(*(_c_float("%g", v) for v in (*ours, *theirs)))
        case "inventory":
            return _describe_inventory(magma, reference)
        case "cam":
            pixels = int(np.count_nonzero(magma["cam"] != reference["cam"]))
            return f"cam {pixels} px" if pixels else None
        case "coal" | "depth" | "edge":
            return None if np.array_equal(magma[field], reference[field]) else field
        case _:
            one, other = int(magma[field]), int(reference[field])
            return None if one == other else f"{field} {one} vs {other}"


def _c_float(form: str, value: float) -> str:
    """Formats like C's printf, which shows the sign of a NaN."""
    return "-nan" if math.isnan(value) and math.copysign(1.0, value) < 0 else form % value


def _equal(ours: list[float], theirs: list[float]) -> bool:
    return all(a == b for a, b in zip(ours, theirs, strict=True))


def _describe_inventory(magma: np.void, reference: np.void) -> str | None:
    ours = zip(magma["hotbar_ids"].tolist(), magma["hotbar_counts"].tolist(), magma["inv_counts"].tolist(), strict=True)
    theirs = zip(
        reference["hotbar_ids"].tolist(),
        reference["hotbar_counts"].tolist(),
        reference["inv_counts"].tolist(),
        strict=True,
    )
    for slot, ((item, count, total), (item2, count2, total2)) in enumerate(zip(ours, theirs, strict=True)):
        if (item, count) != (item2, count2):
            return f"hotbar[{slot}] id/count {item}/{count} vs {item2}/{count2}"
        if total != total2:
            return f"inv_counts[{slot}] {total} vs {total2}"
    return None
