"""The nine categorical heads and the action row they stand for (SPEC 7)."""

from collections.abc import Sequence
from itertools import accumulate

import numpy as np
import numpy.typing as npt

HEADS = ("yaw", "pitch", "forward", "jump", "attack", "use", "craft", "interact", "hotbar")
WIDTHS = (3, 3, 3, 2, 2, 2, 7, 2, 10)
OFFSETS = tuple(accumulate((0, *WIDTHS[:-1])))  #: where each head's logits begin
LOGITS = sum(WIDTHS)

NOOP_HEADS = (1, 1, 1, 0, 0, 0, 0, 0, 0)  #: stand still; also what burn-in sends

YAW_DEGREES = (-15.0, 0.0, 15.0)
PITCH_DEGREES = (-10.0, 0.0, 10.0)
FORWARD = (-1.0, 0.0, 1.0)

CRAFT_WORDS = ("planks", "sticks", "table", "woodpick", "stonepick", "torch", "furnace", "ironpick")


def to_act13(heads: Sequence[int] | npt.NDArray[np.int32], row_out: npt.NDArray[np.float64]) -> None:
    """Writes the act13 row of nine head choices.

    Args:
        heads: [9] choices in the order of `HEADS`. A yaw, pitch or forward choice out of range acts as the middle one.
        row_out: f64 [13], overwritten (the order of SPEC 1; strafe, sneak, sprint and smelt stay 0).
    """
    yaw, pitch, forward, jump, attack, use, craft, interact, hotbar = (int(choice) for choice in heads)
    row_out[:] = (
        _of_three(FORWARD, forward),
        0.0,
        _of_three(YAW_DEGREES, yaw),
        _of_three(PITCH_DEGREES, pitch),
        jump,
        0.0,
        0.0,
        attack,
        use,
        hotbar - 1,
        craft - 1,
        interact,
        0.0,
    )


def describe_row(row: npt.NDArray[np.float64]) -> str:
    """Returns an act13 row [13] in few words, such as `yaw+15 fwd jump attack`; `-` when it does nothing."""
    forward, strafe, yaw, pitch, jump, sneak, sprint, attack, use, hotbar, craft, interact, smelt = row.tolist()
    words = []
    if yaw:
        words.append(f"yaw{yaw:+g}")
    if pitch:
        words.append(f"pitch{pitch:+g}")
    words += _along(forward, "fwd", "back")
    words += _along(strafe, "right", "left")
    flags = (("jump", jump), ("sneak", sneak), ("sprint", sprint), ("attack", attack), ("use", use))
    words += [word for word, held in flags if held]
    if hotbar >= 0:
        words.append(f"slot{int(hotbar) + 1}")
    if craft >= 0:
        recipe = int(craft)
        words.append(CRAFT_WORDS[recipe] if recipe < len(CRAFT_WORDS) else f"craft{recipe}")
    words += [word for word, wanted in (("interact", interact), ("smelt", smelt)) if wanted]
    return " ".join(words) or "-"


def _of_three(values: tuple[float, float, float], choice: int) -> float:
    return values[choice] if 0 <= choice <= 2 else values[1]


def _along(amount: float, positive: str, negative: str) -> list[str]:
    """Returns the word of a movement axis, with its amount when it is not full speed."""
    if not amount:
        return []
    word = positive if amount > 0 else negative
    return [word if abs(amount) == 1.0 else f"{word}{abs(amount):g}"]
