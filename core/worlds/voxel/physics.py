"""How a body moves in one tick, and what a move does to the player (RULES 2, 3, 6).

Input, look, acceleration and friction are float32 with the exact literals of RULES; position and motion are float64.
"""

import math

import numpy as np

from core.kernels import kernel
from core.worlds.voxel.blocks import SLIPPERINESS
from core.worlds.voxel.collide import X, Y, Z, is_free, move, sneak_clamp
from core.worlds.voxel.grid import cell_at, id_at
from core.worlds.voxel.liquids import handle_water, in_lava, in_water, liquid_between
from core.worlds.voxel.numbers import DEG, F32, iceil, ifloor, mcos, msin

PLAYER_BODY, SHADOW_BODY = 0, 1

DAMPING = F32(0.98)
DRAG = F32(0.91)
GROUND_BASE = F32(0.16277136)
ONE = F32(1.0)
LIQUID_ACCELERATION = F32(0.02)
AIR_ACCELERATION = F32(0.02)
AIR_ACCELERATION_SPRINT = F32(float(F32(0.02)) + float(F32(0.02)) * 0.3)
GROUND_ACCELERATION = 0.10000000149011612
SPRINT_FACTOR = 1.0 + 0.30000001192092896
SPRINT_KICK = F32(0.2)
INPUT_FLOOR = F32(1.0e-4)
PITCH_LIMIT = F32(89.0)
SPRINT_THRESHOLD = F32(0.8)
MOTION_FLOOR = 0.003
JUMP_MOTION = 0.41999998688697815
LADDER_SPEED = 0.15000000596046448
BELOW_FEET = 0.20000000298023224
SAFE_FALL = F32(3.0)
WHOLE_FALL, HAY_FALL = F32(1.0), F32(0.2)
WEB, LADDER, CACTUS, SOUL_SAND, VINE, SLIME, HAY = 30, 65, 81, 88, 106, 165, 170
TRAPDOORS = (96, 167)


@kernel
def looking(yaw, pitch, dyaw, dpitch):
    """Angles turned by float32 degrees: yaw never wraps, pitch is clamped (RULES 2)."""
    return F32(yaw + dyaw), min(max(F32(pitch + dpitch), -PITCH_LIMIT), PITCH_LIMIT)


@kernel
def update_sprint(sim, forward, sneak, sprint_key):
    """The sprint machine of RULES 3.2; `forward` is the shaped float32 input (after the sneak factor)."""
    p, body = sim.player[0], sim.body[PLAYER_BODY]
    ahead = forward >= SPRINT_THRESHOLD
    fed = p.food > 6
    if p.sprint_toggle_timer > 0:
        p.sprint_toggle_timer -= 1
    fresh = body.on_ground and not p.prev_sneak and not p.prev_move_forward >= SPRINT_THRESHOLD
    if fresh and ahead and not p.sprinting and fed:
        if p.sprint_toggle_timer <= 0 and not sprint_key:
            p.sprint_toggle_timer = 7
        else:
            p.sprinting = 1
    if not p.sprinting and ahead and fed and sprint_key:
        p.sprinting = 1
    if p.sprinting and (not ahead or body.collided_h or not fed):
        p.sprinting = 0
    p.prev_move_forward = forward
    p.prev_sneak = sneak


@kernel
def slipperiness(sim, x, y, z):
    """float32 slipperiness of a cell given in local coordinates."""
    p = sim.player[0]
    return SLIPPERINESS[id_at(sim, x + p.ox, y, z + p.oz)]


@kernel
def local_id(sim, x, y, z):
    """Block id of the cell that holds the local point (x, y, z)."""
    p = sim.player[0]
    return id_at(sim, ifloor(x) + p.ox, ifloor(y), ifloor(z) + p.oz)


@kernel
def sprint_kick(yaw):
    """What a sprint jump adds to the motion in x and z."""
    turn = F32(yaw * DEG)
    return -float(F32(msin(turn) * SPRINT_KICK)), float(F32(mcos(turn) * SPRINT_KICK))


@kernel
def _fly(body, strafe, forward, acceleration):
    """Adds the input, turned by the yaw, to the motion (RULES 3.3 step 10; all float32)."""
    q = F32(F32(strafe * strafe) + F32(forward * forward))
    if not q >= INPUT_FLOOR:
        return
    q = F32(math.sqrt(float(q)))
    if q < ONE:
        q = ONE
    q = F32(acceleration / q)
    strafe, forward = F32(strafe * q), F32(forward * q)
    turn = F32(body.yaw * DEG)
    sn, cs = msin(turn), mcos(turn)
    body.motion[X] += float(F32(F32(strafe * cs) - F32(forward * sn)))
    body.motion[Z] += float(F32(F32(forward * cs) + F32(strafe * sn)))


@kernel
def on_ladder(sim, body):
    """Whether the cell at the body's feet can be climbed (RULES 4.4)."""
    p = sim.player[0]
    x, y, z = ifloor(body.pos[X]) + p.ox, ifloor(body.box[1]), ifloor(body.pos[Z]) + p.oz
    cell = cell_at(sim, x, y, z)
    block = cell >> 4
    if block in (LADDER, VINE):
        return True
    if block in TRAPDOORS and cell & 4:
        below = cell_at(sim, x, y - 1, z)
        return below >> 4 == LADDER and max(2, (below & 15) % 6) == 2 + (cell & 3)
    return False


@kernel
def touch_blocks(sim, body):
    """Effects of the blocks a body stands in: webs, soul sand, cactus (RULES 4.5)."""
    p, box = sim.player[0], body.box
    for x in range(ifloor(box[0] + 0.001), ifloor(box[3] - 0.001) + 1):
        for y in range(ifloor(box[1] + 0.001), ifloor(box[4] - 0.001) + 1):
            for z in range(ifloor(box[2] + 0.001), ifloor(box[5] - 0.001) + 1):
                block = id_at(sim, x + p.ox, y, z + p.oz)
                if block == WEB:
                    body.in_web = 1
                    body.fall_distance = F32(0.0)
                    body.skip_fall = 1
                elif block == SOUL_SAND:
                    body.motion[X] *= 0.4
                    body.motion[Z] *= 0.4
                elif block == CACTUS:
                    body.touched_cactus = 1


@kernel
def _jump(body, sprint, swimming):
    """The jump key: up in a liquid, off the ground otherwise (RULES 3.3 step 5)."""
    if swimming:
        body.motion[Y] += 0.03999999910593033
    elif body.on_ground and body.jump_ticks == 0:
        body.jump_ticks = 10
        body.motion[Y] = JUMP_MOTION
        if sprint:
            kick_x, kick_z = sprint_kick(body.yaw)
            body.motion[X] += kick_x
            body.motion[Z] += kick_z


@kernel
def _swim(sim, body, strafe, forward, wet):
    """The move of a body in water, or in lava if not `wet` (RULES 3.3 step 6)."""
    y0 = body.pos[Y]
    _fly(body, strafe, forward, LIQUID_ACCELERATION)
    move(sim, body, body.motion[X], body.motion[Y], body.motion[Z])
    if not wet and handle_water(sim, body):
        body.fall_distance = F32(0.0)
    motion = body.motion
    drag = 0.800000011920929 if wet else 0.5
    motion[X] *= drag
    motion[Y] *= drag
    motion[Z] *= drag
    motion[Y] -= 0.02
    if body.collided_h:
        rise = ((motion[Y] + 0.6000000238418579) - body.pos[Y]) + y0
        if is_free(sim, body.box, motion[X], rise, motion[Z]) and not liquid_between(
            sim, body.box, motion[X], rise, motion[Z]
        ):
            motion[Y] = 0.30000001192092896


@kernel
def _acceleration(body, friction, sprint):
    """float32 acceleration of the input on the ground or in the air (RULES 3.3 steps 8 and 9)."""
    if not body.on_ground:
        return AIR_ACCELERATION_SPRINT if body.jump_factor_sprint else AIR_ACCELERATION
    base = GROUND_ACCELERATION
    if sprint:
        base *= SPRINT_FACTOR
    grip = F32(GROUND_BASE / F32(F32(friction * friction) * friction))
    return F32(F32(base) * grip)


@kernel
def _climb(body, sneak):
    """Slows a body on a ladder; a sneaking one does not slide down."""
    motion = body.motion
    motion[X] = max(-LADDER_SPEED, min(LADDER_SPEED, motion[X]))
    motion[Z] = max(-LADDER_SPEED, min(LADDER_SPEED, motion[Z]))
    body.fall_distance = F32(0.0)
    body.skip_fall = 1
    if motion[Y] < -0.15:
        motion[Y] = -0.15
    if sneak and motion[Y] < 0.0:
        motion[Y] = 0.0


@kernel
def _bounce(sim, body, requested_y, sneak):
    """A landing on slime (RULES 3.3 step 17)."""
    if not body.collided_v or sneak:
        return
    if local_id(sim, body.pos[X], body.pos[Y] - BELOW_FEET, body.pos[Z]) != SLIME:
        return
    motion = body.motion
    if requested_y < 0.0:
        motion[Y] = -requested_y
        body.fall_distance = F32(0.0)
        body.skip_fall = 1
    if body.on_ground and abs(motion[Y]) < 0.1:
        drag = 0.4 + abs(motion[Y]) * 0.2
        motion[X] *= drag
        motion[Z] *= drag


@kernel
def _walk(sim, body, strafe, forward, sneak, sprint):
    """The move of a body outside liquids (RULES 3.3 steps 7 to 20)."""
    motion = body.motion
    friction = DRAG
    if body.on_ground:
        under = slipperiness(sim, ifloor(body.pos[X]), ifloor(body.box[1]) - 1, ifloor(body.pos[Z]))
        friction = F32(under * DRAG)
    _fly(body, strafe, forward, _acceleration(body, friction, sprint))
    if on_ladder(sim, body):
        _climb(body, sneak)
    vx, vy, vz = motion[X], motion[Y], motion[Z]
    if body.in_web:
        body.in_web = 0
        vx, vy, vz = vx * 0.25, vy * 0.05000000074505806, vz * 0.25
        motion[:] = 0.0
    if sneak and body.on_ground:
        vx, vz = sneak_clamp(sim, body, vx, vz)
    move(sim, body, vx, vy, vz)
    if handle_water(sim, body):
        body.fall_distance = F32(0.0)
    if body.collided_h and on_ladder(sim, body):
        motion[Y] = 0.2
    _bounce(sim, body, vy, sneak)
    touch_blocks(sim, body)
    if body.collided_h and on_ladder(sim, body):
        motion[Y] = 0.2
    motion[Y] -= 0.08
    motion[Y] *= 0.9800000190734863
    motion[X] *= float(friction)
    motion[Z] *= float(friction)


@kernel
def move_body(sim, index, strafe, forward, jump, sneak, sprint):
    """Runs the physics of one body for one tick (RULES 3.3).

    Args:
        sim: the world.
        index: PLAYER_BODY or SHADOW_BODY.
        strafe: shaped input, float32, + is left; `forward` likewise, + is ahead.
        jump: held keys as the tick sees them; so are `sneak` and `sprint` (the sprint state, not the key).
    """
    body = sim.body[index]
    body.skip_fall = 0
    body.touched_cactus = 0
    strafe, forward = F32(strafe * DAMPING), F32(forward * DAMPING)
    wet = handle_water(sim, body)
    swimming = wet or in_lava(sim, body)
    motion = body.motion
    for axis in range(3):
        if abs(motion[axis]) < MOTION_FLOOR:
            motion[axis] = 0.0
    if body.jump_ticks > 0:
        body.jump_ticks -= 1
    if jump:
        _jump(body, sprint, swimming)
    if swimming:
        _swim(sim, body, strafe, forward, wet)
    else:
        _walk(sim, body, strafe, forward, sneak, sprint)
    body.jump_factor_sprint = sprint


@kernel
def reset_hurt_motion(sim):
    """Gives the player the server's horizontal motion in the tick after a hurting fall (RULES 6)."""
    p, motion = sim.player[0], sim.body[PLAYER_BODY].motion
    if p.hurt_vel_reset:
        motion[X] = np.trunc(p.server_motion[0] * 8000.0) / 8000.0
        motion[Z] = np.trunc(p.server_motion[1] * 8000.0) / 8000.0
        p.hurt_vel_reset = 0


@kernel
def kick_server_motion(sim):
    """A sprint jump off the ground also kicks the server's idea of the motion."""
    p, body = sim.player[0], sim.body[PLAYER_BODY]
    if body.on_ground and not in_water(sim, body) and not in_lava(sim, body):
        kick_x, kick_z = sprint_kick(body.yaw)
        p.server_motion[0] += kick_x
        p.server_motion[1] += kick_z


@kernel
def _fall_damage(sim, body):
    """Whole hearts halves a landing costs: float32 fall distance beyond 3, a fifth of it on hay."""
    soft = local_id(sim, body.pos[X], body.pos[Y] - BELOW_FEET, body.pos[Z]) == HAY
    return iceil(float(F32(F32(body.fall_distance - SAFE_FALL) * (HAY_FALL if soft else WHOLE_FALL))))


@kernel
def settle_fall(sim, old_y, was_airborne):
    """Adds to the fall or ends it with its damage, then lets the server motion decay (RULES 6)."""
    p, body = sim.player[0], sim.body[PLAYER_BODY]
    hurt = False
    if not body.on_ground:
        drop = old_y - body.box[1]
        if drop > 0.0 and not body.skip_fall:
            body.fall_distance = F32(body.fall_distance + F32(drop))
    elif was_airborne and body.fall_distance > F32(0.0):
        damage = _fall_damage(sim, body)
        if damage > 0:
            p.health = max(F32(p.health - F32(damage)), F32(0.0))
            hurt = True
    if body.on_ground:
        body.fall_distance = F32(0.0)
    if hurt:
        p.hurt_vel_reset = 1
    else:
        _decay_server_motion(sim)


@kernel
def _decay_server_motion(sim):
    """Friction on the server's idea of the player's horizontal motion."""
    p, body = sim.player[0], sim.body[PLAYER_BODY]
    drag = DRAG
    if body.on_ground:
        drag = F32(drag * slipperiness(sim, ifloor(body.pos[X]), ifloor(body.pos[Y]) - 1, ifloor(body.pos[Z])))
    for k in range(2):
        p.server_motion[k] *= float(drag)
        if abs(p.server_motion[k]) < MOTION_FLOOR:
            p.server_motion[k] = 0.0
