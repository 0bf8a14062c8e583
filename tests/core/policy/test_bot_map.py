"""What the bot learns from records: never anything false, and enough to aim by."""

import gzip

import numpy as np
import pytest

from core.policy import bot_map
from core.policy.bot_map import AIR, UNKNOWN
from core.wire.bolr import RECORD
from tests.paths import DATA

MAGMA = DATA / "magma"
LO = np.array([-56, -56], np.int32)  # the memory covers exactly the snapshot's region


def real_cells(seed: int) -> np.ndarray:
    raw = gzip.decompress((MAGMA / f"s{seed}_t0.bsnp.gz").read_bytes())
    return np.frombuffer(raw, "<u2", 128**3, 752).reshape(128, 128, 128) >> 4


def pose_of(row: np.void) -> np.ndarray:
    return np.array([*row["xyz"], row["yaw"], row["pitch"]], np.float64)


@pytest.mark.parametrize("seed", [10, 14])
def test_next_to_nothing_false_is_learnt_from_a_real_recording(seed):
    truth = real_cells(seed)
    with np.load(MAGMA / f"s{seed}_move400.npz") as file:
        records = file["records"].view(RECORD)[:, 0]
    seen, told = bot_map.blank(), bot_map.blank()
    for row in records[::10]:
        bot_map.see(seen, LO, pose_of(row), row["cam"], row["depth"])
        bot_map.note(told, LO, int(row["xyz"][1]), row["blocks"], row["logs"], row["coal"])
    learnt = seen != UNKNOWN
    assert learnt.sum() > 20_000
    assert (learnt & (seen == AIR) & (truth != AIR)).sum() == 0
    assert (learnt & (seen != truth)).sum() <= 2  # a far pixel may just miss what its depth allows
    water_below = np.isin(told, (8, 9)) & (truth != told)  # below a surface water is only feared
    assert ((told != truth) & (told != UNKNOWN) & ~water_below).sum() == 0


def flat_memory() -> bot_map.Memory:
    memory = bot_map.blank()
    memory[:, :64], memory[:, 64:] = 3, AIR
    return memory


def turned(pose: np.ndarray, yaw_steps: int, pitch_steps: int) -> np.ndarray:
    return pose + np.array([0, 0, 0, 15 * yaw_steps, 10 * pitch_steps])


def struck(memory: bot_map.Memory, pose: np.ndarray) -> tuple[int, int, int] | None:
    """The first cell that is not air along the look, by small samples."""
    eye, look = pose[:3] + np.array([0, bot_map.EYE, 0]), np.array(bot_map.heading(pose[3], pose[4]))
    for t in np.arange(0.0, 5.0, 0.01):
        cell = tuple(int(v) for v in np.floor(eye + t * look))
        if memory[cell[0] - LO[0], cell[1], cell[2] - LO[1]] != AIR:
            return cell
    return None


@pytest.mark.parametrize("target", [(9, 64, 8), (8, 65, 10), (8, 63, 8), (6, 63, 9), (8, 67, 8), (10, 65, 6)])
def test_an_aim_strikes_its_cell(target):
    memory = flat_memory()
    memory[target[0] - LO[0], target[1], target[2] - LO[1]] = 1
    pose = np.array([8.4, 64.0, 8.6, 45.0, -20.0])
    yaw, pitch, found = bot_map.aim(memory, LO, pose, target, False)
    assert found
    assert struck(memory, turned(pose, yaw, pitch)) == target


def test_what_is_behind_something_cannot_be_aimed_at_but_plants_do_not_hide():
    memory = flat_memory()
    memory[10 - LO[0], 64:66, 8 - LO[1]] = 1
    memory[9 - LO[0], 64:66, 7 - LO[1] : 10 - LO[1]] = 17
    pose = np.array([8.5, 64.0, 8.5, 270.0, 0.0])
    assert not bot_map.aim(memory, LO, pose, (10, 64, 8), False)[2]
    memory[9 - LO[0], 64:66, 7 - LO[1] : 10 - LO[1]] = 31
    assert bot_map.aim(memory, LO, pose, (10, 64, 8), False)[2]
    memory[9 - LO[0], 64:66, 7 - LO[1] : 10 - LO[1]] = UNKNOWN
    assert not bot_map.aim(memory, LO, pose, (10, 64, 8), False)[2]
    assert bot_map.aim(memory, LO, pose, (10, 64, 8), True)[2]


def test_a_table_is_placed_beside_the_body_on_known_ground():
    pose = np.array([8.5, 64.0, 8.5, 90.0, 0.0])
    yaw, pitch, found = bot_map.aim_to_place(flat_memory(), LO, pose)
    assert found
    x, y, z = struck(flat_memory(), turned(pose, yaw, pitch))
    assert y == 63
    assert (x, z) != (8, 8)
    assert not bot_map.aim_to_place(bot_map.blank(), LO, pose)[2]
