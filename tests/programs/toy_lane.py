"""A lane process for tests: SPEC 1's protocol over a toy world, and a choice of ways to misbehave.

Standard library only, so that `python -S -E toy_lane.py` starts in some 20 ms. `tests/programs/toy_blaze.c` is the same
toy world as a blaze library: the two must agree byte for byte in every gated field.

The toy world: forward and strafe walk 1/8 block a tick, every 16th attack yields a log, craft 0 makes planks of a log.
Options of our own: `--misbehave KIND --at TICK` (see `misbehave`), `--torch-at TICK`, `--dead-at TICK`,
`--off-by-one-at TICK` (from that tick on the hotbar differs from the library's).
"""

import argparse
import os
import signal
import struct
import subprocess
import sys
import time

RECORD_BYTES = 14_628
PIXELS = 64 * 36
CAM, DEPTH = 5412, 10020


def f32(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


def number(line, key, default):
    """Finds a key the way the game does: by substring, then strtod."""
    at = line.find(b'"%s":' % key)
    if at < 0:
        return default
    text = line[at + len(key) + 3 :].lstrip(b" ")
    end = 0
    while end < len(text) and text[end : end + 1] in b"+-.0123456789e":
        end += 1
    try:
        return float(text[:end])
    except ValueError:
        return 0.0


class Lane:
    def __init__(self, options):
        self.options = options
        self.tick = 0
        self.x, self.y, self.z = 8.5, 64.0, 8.5
        self.yaw, self.pitch = 180.0, 0.0
        self.attacks = self.planks = self.dead = 0
        self.pattern = struct.pack(f"<{PIXELS + 64}H", *((k * 31 + options.seed) % 64 for k in range(PIXELS + 64)))
        self.depths = bytes(k * 17 & 255 for k in range(PIXELS + 64))
        self.record = bytearray(RECORD_BYTES)
        self.render()

    def render(self):
        shift = self.tick % 64
        self.record[CAM : CAM + 2 * PIXELS] = self.pattern[2 * shift : 2 * (shift + PIXELS)]
        self.record[DEPTH : DEPTH + PIXELS] = self.depths[shift : shift + PIXELS]

    def step(self, line):
        cam = int(number(line, b"cam", 1))
        if not self.dead:
            self.move(line)
        if cam:
            self.render()

    def move(self, line):
        self.yaw = f32(self.yaw + f32(number(line, b"dyaw", 0)))
        self.pitch = max(-89.0, min(89.0, f32(self.pitch + f32(number(line, b"dpitch", 0)))))
        self.x += number(line, b"forward", 0) * 0.125
        self.z += number(line, b"strafe", 0) * 0.125
        self.attacks += int(number(line, b"attack", 0)) != 0
        if int(number(line, b"craft", -1)) == 0 and self.logs() > 0:
            self.attacks -= 16
            self.planks += 4
        self.tick += 1
        self.dead = int(0 <= self.options.dead_at <= self.tick)

    def logs(self):
        return self.attacks // 16

    def bytes(self):
        torches = int(0 <= self.options.torch_at <= self.tick)
        logs = self.logs() + int(0 <= self.options.off_by_one_at <= self.tick)
        hotbar = [17 if logs else 0, 5 if self.planks else 0] + [0] * 7
        counts = [logs, self.planks] + [0] * 7
        totals = [logs, self.planks, 0, 0, 0, 0, 0, 0, torches]
        head = ("<Iq3d2fi9i9iii9i", 0x524C4F42, self.tick, self.x, self.y, self.z, self.yaw, self.pitch, self.dead)
        struct.pack_into(*head[:1], self.record, 0, *head[1:], *hotbar, *counts, 0, 0, *totals)
        struct.pack_into("<3i", self.record, 5028, 12, 60, 12)  # one coal to look at
        return bytes(self.record)


def write_all(data):
    while data:
        data = data[os.write(1, data) :]


def hang():
    while True:
        time.sleep(3600)


def emit(lane):
    """Writes one record, or does what the lane was told to do at this tick instead."""
    options, data = lane.options, lane.bytes()
    if options.misbehave == "longer":
        data += b"\1" * 12
    if lane.tick == options.at:
        data = misbehave(options.misbehave, data)
    write_all(data)


def misbehave(kind, data):
    if kind == "hang":
        hang()
    elif kind == "stubborn":  # neither SIGTERM nor the end of stdin ends it
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        hang()
    elif kind == "die-mid-record":
        write_all(data[:5000])
        sys.stderr.write("toy: something went wrong\n")
        sys.stderr.flush()
        os._exit(7)
    elif kind == "exit0":
        os._exit(0)
    elif kind == "segfault":
        os.kill(os.getpid(), signal.SIGSEGV)
    elif kind == "flood":
        for _ in range(64):
            os.write(2, b"flood " * 8192)
        os.write(2, b"\nlast words\n")
    elif kind == "fork":  # a grandchild in the same group that keeps every pipe open, then a hang
        subprocess.Popen([sys.executable, "-S", "-E", "-c", "import time; time.sleep(3600)"], close_fds=False)
        hang()
    elif kind == "fork-and-exit":
        subprocess.Popen([sys.executable, "-S", "-E", "-c", "import time; time.sleep(3600)"], close_fds=False)
        os._exit(0)
    elif kind == "late":
        time.sleep(lane_options().late_s)
    elif kind == "garbage":
        return b"\n\n" + data
    elif kind == "close-stdout":
        os.close(1)
        hang()
    return data


def lane_options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rl-bin", action="store_true")
    for text in ("--render", "--pace", "--mobs", "--snapshot-in", "--misbehave"):
        parser.add_argument(text, default="")
    for integer in ("--seed", "--at", "--torch-at", "--dead-at", "--off-by-one-at"):
        parser.add_argument(integer, type=int, default=-1)
    parser.add_argument("--late-s", type=float, default=0.0)
    parser.add_argument("--only-seed", type=int, default=None, help="misbehave only when --seed is this")
    options = parser.parse_args()
    if options.only_seed is not None and options.only_seed != options.seed:
        options.misbehave = ""
    return options


def main():
    options = lane_options()
    if options.snapshot_in and not os.path.exists(options.snapshot_in):
        sys.stderr.write(f"toy: cannot open snapshot {options.snapshot_in}\n")
        return 1
    if options.misbehave == "hang-start":
        hang()
    lane = Lane(options)
    emit(lane)
    for line in sys.stdin.buffer:
        lane.step(line)
        emit(lane)
    sys.stderr.write(f"toy: {lane.tick} ticks\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
