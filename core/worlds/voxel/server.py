"""The server's side of the player: the lagging shadow body, harm, air and food (RULES 1.1f to i, 1.2, 6).

The shadow decides hunger, fire and cactus only; the player's pose never depends on it. Burning and drowning add no
exhaustion here: no recording settles it, and RULES names exhaustion only for cactus and fire contact.
"""

import math

from core.kernels import kernel
from core.worlds.voxel.blocks import WATER, copy_box
from core.worlds.voxel.collide import HALF_WIDTH, X, Y, Z, move
from core.worlds.voxel.grid import id_at
from core.worlds.voxel.liquids import in_water
from core.worlds.voxel.numbers import F32, iceil, ifloor
from core.worlds.voxel.physics import (
    JUMP_MOTION,
    PLAYER_BODY,
    SHADOW_BODY,
    local_id,
    move_body,
    sprint_kick,
    touch_blocks,
)
from core.worlds.voxel.ray import EYE_HEIGHT, eye_height

NOT_BURNING = -20
BURN_TICKS = 160
FULL_AIR, DROWN_AIR = 300, -20
HURT_TICKS, HURT_SHIELD = 20, 10
FIRE_IDS = (51, 10, 11)
ZERO, ONE, TWO, FOUR, SIX = F32(0.0), F32(1.0), F32(2.0), F32(4.0), F32(6.0)
MAX_HEALTH, MAX_EXHAUSTION = F32(20.0), F32(40.0)
HARM_EXHAUSTION = F32(0.1)
JUMP_EXHAUSTION, SPRINT_JUMP_EXHAUSTION = F32(0.05), F32(0.2)
SWIM_EXHAUSTION, SPRINT_EXHAUSTION = F32(0.01), F32(0.1)
CENTI, HUNDRED, HALF = F32(0.01), F32(100.0), F32(0.5)


@kernel
def exhaust(sim, amount):
    """Adds float32 exhaustion, at most 40 in all."""
    p = sim.player[0]
    p.exhaustion = min(F32(p.exhaustion + amount), MAX_EXHAUSTION)


@kernel
def hurt(sim, damage):
    """Takes float32 damage through the hurt gate of RULES 1.1; returns whether it was accepted."""
    p = sim.player[0]
    applied = damage
    if p.hurt_res > HURT_SHIELD:
        if damage <= p.last_damage:
            return False
        applied = F32(damage - p.last_damage)
    else:
        p.hurt_res = HURT_TICKS
    p.last_damage = damage
    p.health = min(max(F32(p.health - applied), ZERO), MAX_HEALTH)
    return True


@kernel
def _hurt_and_tire(sim):
    """One point of cactus or fire damage, which tires if it is accepted."""
    if hurt(sim, ONE):
        exhaust(sim, HARM_EXHAUSTION)


@kernel
def _in_fire(sim, body):
    """Whether the body's box touches fire or lava cells."""
    p, box = sim.player[0], body.box
    for x in range(ifloor(box[0] + 0.001), iceil(box[3] - 0.001)):
        for y in range(ifloor(box[1] + 0.001), iceil(box[4] - 0.001)):
            for z in range(ifloor(box[2] + 0.001), iceil(box[5] - 0.001)):
                if id_at(sim, x + p.ox, y, z + p.oz) in FIRE_IDS:
                    return True
    return False


@kernel
def _touch_fire(sim, body):
    """Harm of fire and lava the shadow stands in; returns whether it does."""
    p = sim.player[0]
    if not _in_fire(sim, body):
        return False
    _hurt_and_tire(sim)
    if not in_water(sim, body):
        p.fire += 1
        if p.fire == 0:
            p.fire = BURN_TICKS
    return True


@kernel
def _centimetres(squared):
    """A distance in whole hundredths, from its float64 square, by float32 steps."""
    return math.floor(float(F32(F32(F32(math.sqrt(float(F32(squared)))) * HUNDRED) + HALF)))


@kernel
def _count_movement(sim, body, dx, dy, dz, was_wet):
    """Exhaustion of a movement of the shadow (RULES 1.2, movement stats)."""
    amount, rate = 0, SWIM_EXHAUSTION
    if WATER[local_id(sim, body.pos[X], body.pos[Y] + EYE_HEIGHT, body.pos[Z])]:
        amount = _centimetres(dx * dx + dy * dy + dz * dz)
    elif was_wet:
        amount = _centimetres(dx * dx + dz * dz)
    elif body.on_ground and sim.player[0].server_sprint:
        amount, rate = _centimetres(dx * dx + dz * dz), SPRINT_EXHAUSTION
    if amount > 0:
        exhaust(sim, F32(F32(rate * F32(amount)) * CENTI))


@kernel
def _place(body, x, y, z):
    """Puts a body at (x, y, z) with a fresh box of its old height."""
    box = body.box
    height = box[4] - box[1]
    body.pos[X], body.pos[Y], body.pos[Z] = x, y, z
    box[0], box[1], box[2] = x - HALF_WIDTH, y, z - HALF_WIDTH
    box[3], box[4], box[5] = x + HALF_WIDTH, y + height, z + HALF_WIDTH


@kernel
def _jumped(sim, body):
    """The shadow leaves the ground because the player jumped."""
    p = sim.player[0]
    body.motion[Y] = JUMP_MOTION
    if not p.server_sprint:
        exhaust(sim, JUMP_EXHAUSTION)
        return
    kick_x, kick_z = sprint_kick(body.yaw)
    body.motion[X] += kick_x
    body.motion[Z] += kick_z
    exhaust(sim, SPRINT_JUMP_EXHAUSTION)


@kernel
def consume_packet(sim):
    """The shadow follows the packet the player sent last tick (RULES 1.1f)."""
    p, body = sim.player[0], sim.body[SHADOW_BODY]
    if p.pending_sprint >= 0:
        p.server_sprint = p.pending_sprint
        p.pending_sprint = -1
    if not p.pending:
        return
    p.pending = 0
    old_x, old_y, old_z = body.pos[X], body.pos[Y], body.pos[Z]
    x, y, z = old_x, old_y, old_z
    if p.pending_moving:
        x, y, z = p.pending_pos[X], p.pending_pos[Y], p.pending_pos[Z]
    dx, dy, dz = x - old_x, y - old_y, z - old_z
    if body.on_ground and not p.pending_on_ground and dy > 0.0:
        _jumped(sim, body)
    move(sim, body, dx, dy, dz)
    body.touched_cactus = 0
    touch_blocks(sim, body)
    if body.touched_cactus:
        _hurt_and_tire(sim)
    _touch_fire(sim, body)
    body.on_ground = p.pending_on_ground
    _place(body, x, y, z)
    if p.pending_rotating:
        body.yaw, body.pitch = p.pending_yaw, p.pending_pitch
    _count_movement(sim, body, dx, dy, dz, in_water(sim, body))


@kernel
def tick_shadow(sim):
    """One tick of the shadow's own physics; only its motion and ground flag survive it (RULES 1.1l)."""
    p, body = sim.player[0], sim.body[SHADOW_BODY]
    x, y, z, box = body.pos[X], body.pos[Y], body.pos[Z], body.box.copy()
    was_wet = in_water(sim, body)
    move_body(sim, SHADOW_BODY, ZERO, ZERO, False, False, p.server_sprint)
    if body.touched_cactus:
        _hurt_and_tire(sim)
    _count_movement(sim, body, body.pos[X] - x, body.pos[Y] - y, body.pos[Z] - z, was_wet)
    if not _touch_fire(sim, body) and p.fire <= 0:
        p.fire = NOT_BURNING
    if p.fire > 0 and in_water(sim, body):
        p.fire = NOT_BURNING
    copy_box(box, body.box)
    body.pos[X], body.pos[Y], body.pos[Z] = x, y, z


@kernel
def send_packet(sim):
    """Queues what the player reports of this tick (RULES 1.1m)."""
    p, body = sim.player[0], sim.body[PLAYER_BODY]
    x, y, z = body.pos[X], body.box[1], body.pos[Z]
    dx, dy, dz = x - p.reported_pos[X], y - p.reported_pos[Y], z - p.reported_pos[Z]
    p.ticks_since_report += 1
    moving = dx * dx + dy * dy + dz * dz > 9.0e-4 or p.ticks_since_report >= 20
    rotating = body.yaw != p.reported_yaw or body.pitch != p.reported_pitch
    if moving or rotating or body.on_ground != p.reported_on_ground:
        p.pending, p.pending_moving, p.pending_rotating = 1, moving, rotating
        p.pending_pos[X], p.pending_pos[Y], p.pending_pos[Z] = x, y, z
        p.pending_yaw, p.pending_pitch = body.yaw, body.pitch
        p.pending_on_ground = body.on_ground
    if moving:
        p.reported_pos[X], p.reported_pos[Y], p.reported_pos[Z] = x, y, z
        p.ticks_since_report = 0
    if rotating:
        p.reported_yaw, p.reported_pitch = body.yaw, body.pitch
    p.reported_on_ground = body.on_ground
    if p.sprinting != p.sent_sprint:
        p.pending_sprint = p.sprinting
        p.sent_sprint = p.sprinting


@kernel
def breathe_and_burn(sim):
    """Hurt timer, burning, air and drowning of the player (RULES 1.1g to i)."""
    p, body = sim.player[0], sim.body[PLAYER_BODY]
    hazard = False
    if p.hurt_res > 0:
        p.hurt_res -= 1
    if p.fire > 0:
        if p.fire % 20 == 0:
            before = p.hurt_res
            hurt(sim, ONE)
            hazard = p.hurt_res > before
        p.fire -= 1
    if WATER[local_id(sim, body.pos[X], body.pos[Y] + eye_height(p.prev_sneak), body.pos[Z])]:
        p.air -= 1
        if p.air == DROWN_AIR:
            p.air = 0
            before = p.hurt_res
            hurt(sim, TWO)
            hazard = hazard or p.hurt_res > before
    else:
        p.air = FULL_AIR
    if in_water(sim, body):
        p.fire = 0
    if hazard and p.hurt_res > 0:
        p.hurt_res -= 1


@kernel
def eat(sim):
    """Hunger and healing, once a tick after the shadow (RULES 6, food update)."""
    p = sim.player[0]
    if p.exhaustion > FOUR:
        p.exhaustion = F32(p.exhaustion - FOUR)
        if p.saturation > ZERO:
            p.saturation = max(F32(p.saturation - ONE), ZERO)
        else:
            p.food = max(p.food - 1, 0)
    wounded = ZERO < p.health < MAX_HEALTH
    if p.saturation > ZERO and wounded and p.food >= 20:
        if _timer_reaches(p, 10):
            spent = min(p.saturation, SIX)
            p.health = min(F32(p.health + F32(spent / SIX)), MAX_HEALTH)
            exhaust(sim, spent)
    elif p.food >= 18 and wounded:
        if _timer_reaches(p, 80):
            p.health = min(F32(p.health + ONE), MAX_HEALTH)
            exhaust(sim, SIX)
    elif p.food <= 0:
        if _timer_reaches(p, 80) and p.health > ONE:
            p.health = F32(p.health - ONE)
    else:
        p.food_timer = 0


@kernel
def _timer_reaches(p, ticks):
    """Advances the food timer; true, and back to zero, when it reaches `ticks`."""
    p.food_timer += 1
    if p.food_timer < ticks:
        return False
    p.food_timer = 0
    return True
