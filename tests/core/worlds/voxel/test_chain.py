"""From bare hands to torches with nothing but an agent's keys: every room of the hands at work in one play."""

from core.worlds.voxel.lists import refresh
from core.worlds.voxel.state import Sim
from tests.core.worlds.voxel.arena import block, look_down, put, run, stone_floor

PLANKS, STICK, TABLE, WOODEN_PICK, TORCH = 0, 1, 2, 3, 5  # recipes
COAL = 263
AHEAD = (24, 4, 25)  # the floor cell `look_down` looks at


def held(sim: Sim, item: int) -> int:
    """Returns how many of an item the player has."""
    return int(sim.inventory[sim.inventory[:, 0] == item, 1].sum())


def select(sim: Sim, item: int) -> None:
    """Takes an item in hand by its hotbar key."""
    run(sim, 1, hotbar=int((sim.inventory[:9, 0] == item).argmax()))


def break_ahead(sim: Sim, ticks: int) -> None:
    """Breaks the block ahead in the floor and walks into the hole for its drop."""
    run(sim, ticks, attack=1)
    assert block(sim, *AHEAD) == 0
    run(sim, 20, forward=1)


def rewind(sim: Sim, fresh: Sim) -> None:
    """Puts the player back where it started, hands full as they are."""
    sim.body[:] = fresh.body
    sim.player[0]["dig_delay"] = 0
    look_down(sim)


def test_from_a_log_to_torches() -> None:
    sim, start = stone_floor(), stone_floor()
    look_down(sim)
    for logs in range(1, 4):
        put(sim, *AHEAD, 17)
        break_ahead(sim, 61)
        assert held(sim, 17) == logs
        rewind(sim, start)
    for _ in range(3):
        run(sim, 1, craft=PLANKS)
    run(sim, 1, craft=STICK)
    run(sim, 1, craft=TABLE)
    assert (held(sim, 5), held(sim, 280), held(sim, 58)) == (6, 4, 1)

    run(sim, 1, craft=WOODEN_PICK)
    assert held(sim, 270) == 0  # no table is open yet
    put(sim, *AHEAD, 1)
    select(sim, 58)
    sim.body[0]["pitch"] = 40.0
    run(sim, 1, use=1)
    assert held(sim, 58) == 0
    assert (sim.cells >> 4 == 58).sum() == 1
    refresh(sim)
    run(sim, 1, interact=1)
    assert sim.player[0]["container"] == 1
    run(sim, 1, craft=WOODEN_PICK)
    assert (held(sim, 270), held(sim, 5), held(sim, 280)) == (1, 3, 2)

    select(sim, 270)
    for stones in range(1, 4):
        rewind(sim, start)
        put(sim, *AHEAD, 1)
        break_ahead(sim, 23)
        assert held(sim, 4) == stones
    rewind(sim, start)
    put(sim, *AHEAD, 16)
    break_ahead(sim, 45)
    assert held(sim, COAL) == 1

    run(sim, 1, craft=TORCH)
    assert (held(sim, 50), held(sim, COAL), held(sim, 280)) == (4, 0, 1)
    assert int(sim.inventory[sim.inventory[:, 0] == 270, 2][0]) == 4  # four blocks of wear
