"""One step of the world: the primitives, then the game tick, in the order of RULES 1."""

import numpy as np
import numpy.typing as npt

from core.kernels import kernel
from core.worlds.voxel import lists
from core.worlds.voxel.collide import X, Z
from core.worlds.voxel.crafting import check_container, craft, furnace_ticks, interact, smelt
from core.worlds.voxel.digging import dig
from core.worlds.voxel.edits import apply_edits
from core.worlds.voxel.falling import falling_block_in_way, write_landings
from core.worlds.voxel.fluids import fluid_tick
from core.worlds.voxel.grass import random_ticks
from core.worlds.voxel.items import item_pass
from core.worlds.voxel.liquids import in_water
from core.worlds.voxel.numbers import F32, ifloor
from core.worlds.voxel.physics import (
    PLAYER_BODY,
    kick_server_motion,
    looking,
    move_body,
    reset_hurt_motion,
    settle_fall,
    update_sprint,
)
from core.worlds.voxel.placing import use, use_swallowed
from core.worlds.voxel.server import breathe_and_burn, consume_packet, eat, send_packet, tick_shadow
from core.worlds.voxel.state import Sim

# Places in an action row (core.wire.act13.KEYS; the layers keep this room's kernels free of wire).
FORWARD, STRAFE, DYAW, DPITCH, JUMP, SNEAK, SPRINT, ATTACK, USE, HOTBAR, CRAFT, INTERACT, SMELT = range(13)
DIRTY_TICKS = 40  #: emits for which the scan cache is rebuilt after an attack or use
CHUNK = 16


@kernel
def _input(value):
    """A movement input as float32; what is not finite counts as no input (RULES leave it open)."""
    narrow = F32(value)
    return narrow if np.isfinite(narrow) else F32(0.0)


@kernel
def _recenter_axis(sim, axis, shift):
    """Moves everything local by -shift blocks along x or z (RULES 1.1a)."""
    p = sim.player[0]
    for body in sim.body:
        body.pos[axis] -= shift
        body.box[axis] -= shift
        body.box[axis + 3] -= shift
    p.reported_pos[axis] -= shift
    p.pending_pos[axis] -= shift


@kernel
def _recenter(sim):
    """Re-centres the window on the player's chunk."""
    p, pos = sim.player[0], sim.body[PLAYER_BODY].pos
    nx = CHUNK * (ifloor(pos[X] + p.ox) // CHUNK)
    nz = CHUNK * (ifloor(pos[Z] + p.oz) // CHUNK)
    if nx != p.ox:
        _recenter_axis(sim, X, float(nx - p.ox))
        p.ox = nx
    if nz != p.oz:
        _recenter_axis(sim, Z, float(nz - p.oz))
        p.oz = nz


@kernel
def _player_tick(sim, act, yaw, pitch, using, attack_blocked):
    """The player's own tick (RULES 1.3): input, look, hands, then the move."""
    p, body = sim.player[0], sim.body[PLAYER_BODY]
    if 0 <= int(act[HOTBAR]) <= 8:
        p.hotbar_sel = int(act[HOTBAR])
    jump, sneak = int(act[JUMP]) != 0, int(act[SNEAK]) != 0
    forward, strafe = _input(act[FORWARD]), _input(-act[STRAFE])
    if sneak:
        forward, strafe = F32(float(forward) * 0.3), F32(float(strafe) * 0.3)
    body.yaw, body.pitch = yaw, pitch
    update_sprint(sim, forward, sneak, int(act[SPRINT]) != 0)
    reset_hurt_motion(sim)
    use(sim, using, dig(sim, int(act[ATTACK]) != 0, attack_blocked))
    if in_water(sim, body):
        body.fall_distance = F32(0.0)
    if jump and p.sprinting:
        kick_server_motion(sim)
    old_y, was_airborne = body.box[1], not body.on_ground
    move_body(sim, PLAYER_BODY, strafe, forward, jump, sneak, p.sprinting)
    settle_fall(sim, old_y, was_airborne)


@kernel
def _act(sim, act):
    """What comes before the game tick, for the dead as well: the scan cache's mark, crafting, opening, smelting."""
    if int(act[ATTACK]) != 0 or int(act[USE]) != 0:
        sim.player[0].world_dirty = DIRTY_TICKS
    if int(act[CRAFT]) >= 0:
        craft(sim, int(act[CRAFT]))
    if int(act[INTERACT]) != 0:
        interact(sim)
    if int(act[SMELT]) != 0:
        smelt(sim)


@kernel
def step(sim: Sim, act: npt.NDArray[np.float64]) -> None:
    """One step in the order of RULES 1 and 1.1, all but its record.

    Args:
        sim: the world.
        act: float64 [13], an action row (SPEC 1).
    """
    _act(sim, act)
    p, body = sim.player[0], sim.body[PLAYER_BODY]
    if p.dead:
        return
    _recenter(sim)
    check_container(sim)
    write_landings(sim)
    yaw, pitch = looking(body.yaw, body.pitch, F32(act[DYAW]), F32(act[DPITCH]))
    using = int(act[USE]) != 0 and not use_swallowed(sim, yaw, pitch)
    consume_packet(sim)
    breathe_and_burn(sim)
    attack_blocked = int(act[ATTACK]) != 0 and falling_block_in_way(sim)
    _player_tick(sim, act, yaw, pitch, using, attack_blocked)
    tick_shadow(sim)
    eat(sim)
    send_packet(sim)
    apply_edits(sim)
    fluid_tick(sim)
    random_ticks(sim)
    item_pass(sim)
    furnace_ticks(sim)
    if p.health <= F32(0.0):
        p.dead = 1
    p.tick += 1


@kernel
def run_decision(sim: Sim, row: npt.NDArray[np.float64], repeat: int) -> None:
    """Runs the ticks of one decision; the record of the last one is for the caller to emit.

    Args:
        sim: the world.
        row: float64 [13]; only the first tick turns, crafts, interacts and smelts (SPEC 1).
        repeat: ticks of the decision.
    """
    act = row.copy()
    for tick in range(repeat):
        if tick > 0:
            lists.skip(sim)
        step(sim, act)
        act[DYAW], act[DPITCH], act[CRAFT], act[INTERACT], act[SMELT] = 0.0, 0.0, -1.0, 0.0, 0.0
