"""What a run's lanes depend on, as hashes, and who ran it where.

A lane is a pure function of these values (DESIGN, flow of one decision), so a run may be resumed exactly when all of
them are the same; the first that differs is named to the user.
"""

import hashlib
import json
import os
import platform
import shutil
import socket
import sys
from collections.abc import Iterable, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

import core
from core.errors import BadInput
from core.host.guard import start_mark
from core.ladder.config import LadderConfig, config_to_dict
from core.ladder.plan import LanePlan, Plan

#: Raised whenever the same inputs would give other bytes than before (packing, sampling, gate, burn-in).
PROTOCOL = "1"
MISSING = "missing"

#: Settings whose content has a hash of its own, or that do not change what a lane computes.
OUTSIDE_CONFIG_HASH = {
    "checkpoint", "snaps_dir", "magma_bin", "blaze_lib", "lane_args", "network", "policy", "device", "metallib",
    "metal_max_cells", "jobs", "retries", "stuck", "start_timeout_s", "step_timeout_s", "lane_timeout_s",
}  # fmt: skip


def file_sha256(path: Path, what: str) -> str:
    """Returns the sha256 of a file in hex.

    Raises:
        BadInput: it cannot be read; `what` names the setting that pointed there.
    """
    try:
        if path.exists() and not (path.is_file() or path.is_dir()):  # a pipe or a device may never end
            raise BadInput(f"{what}: expected a regular file, found {path}: not one")
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise BadInput(f"{what}: expected a readable file, found {path}: {error.strerror}") from None


def text_sha256(value: Any) -> str:
    """Returns the sha256 of a JSON value in hex."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def run_hashes(config: LadderConfig, plan: Plan) -> dict[str, str]:
    """Returns everything the run's lanes depend on, by the name people are told when it differs.

    Raises:
        BadInput: a file the run needs is missing or cannot be read.
    """
    settings = {name: value for name, value in config_to_dict(config).items() if name not in OUTSIDE_CONFIG_HASH}
    hashes = {
        "protocol": PROTOCOL,
        "config": text_sha256(settings),
        "policy": _policy_hash(config),
        "network": f"torch {config.device}" if config.network == "torch" else config.network,
        "lane arguments": text_sha256(list(config.lane_args)),
    }
    if config.policy == "net":
        hashes["checkpoint"] = _checkpoint_hash(config)
    if config.has_magma:
        hashes["lane binary"] = lane_binary_hash(config)
        conf = Path("magma.conf")
        hashes["magma.conf"] = file_sha256(conf, "magma.conf") if conf.is_file() else MISSING
    if not config.has_magma or (config.is_replay and config.reference == "blaze"):
        hashes["blaze library"] = file_sha256(Path(config.blaze_lib), "blaze_lib")
    return hashes | _snapshot_hashes(plan)


def lane_binary_hash(config: LadderConfig) -> str:
    """Returns the sha256 of the lane program: the game's file, or the embedded world's sources."""
    if config.backend == "voxel":
        return sources_sha256(("wire", "worlds/voxel"))
    program = shutil.which(config.magma_bin)
    digest = file_sha256(Path(program or config.magma_bin), "magma_bin")
    if program is None:
        raise BadInput(f"magma_bin: expected a program that can be executed, found {config.magma_bin}")
    return digest


def sources_sha256(rooms: Iterable[str]) -> str:
    """Returns the sha256 over names and bytes of the sources in some rooms of `core`."""
    digest = hashlib.sha256()
    home = Path(core.__file__).parent
    for room in rooms:
        for source in sorted((home / room).glob("*.py")):
            digest.update(source.name.encode() + b"\0" + source.read_bytes())
    return digest.hexdigest()


def _policy_hash(config: LadderConfig) -> str:
    word, _, path = config.policy.partition(":")
    return f"tape {file_sha256(Path(path), 'policy')}" if word == "tape" else config.policy


def _checkpoint_hash(config: LadderConfig) -> str:
    if config.checkpoint.startswith("fixture:"):
        return config.checkpoint
    return file_sha256(Path(config.checkpoint), "checkpoint")


def _snapshot_hashes(plan: Plan) -> dict[str, str]:
    hashes = {}
    for lane in plan.lanes:
        path = Path(lane.skip_path) if lane.skip else lane.snapshot
        if path is not None and f"snapshot {path.name}" not in hashes:
            hashes[f"snapshot {path.name}"] = MISSING if lane.skip else file_sha256(path, "snaps_dir")
    return hashes


def lane_key(lane: LanePlan, hashes: Mapping[str, str]) -> str:
    """Returns the hash of all one lane depends on: results are found again by it, never by position."""
    shared = {name: value for name, value in hashes.items() if not name.startswith("snapshot ")}
    snapshot = hashes.get(f"snapshot {lane.snapshot.name}") if lane.snapshot else lane.skip_path
    return text_sha256([shared, lane.stage, lane.seed, lane.attempt, lane.ni, lane.rng_seed, snapshot])


def differences(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Returns one phrase for each value that differs, e.g. `checkpoint (had 0aabb084, now 65605716)`."""
    names = dict.fromkeys([*before, *now])
    return [
        f"{name} (had {_short(before.get(name))}, now {_short(now.get(name))})"
        for name in names
        if before.get(name) != now.get(name)
    ]


def _short(value: str | None) -> str:
    if value is None:
        return "none"
    return value[:8] if len(value) == 64 else value


def versions() -> dict[str, str]:
    """Returns what computed the run: this program, python, the libraries that touch numbers, the system."""
    found = {"netherite-tui": core.__version__, "python": platform.python_version()}
    for library in ("numpy", "numba"):
        found[library] = metadata.version(library)
    return found | {"system": f"{sys.platform} {platform.machine()}"}


def boot_id() -> str:
    """Returns a word that changes when this host starts anew."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        import psutil

        return f"{psutil.boot_time():.0f}"


def this_engine() -> dict[str, Any]:
    """Returns who writes a run: host, boot, process."""
    pid = os.getpid()
    return {"host": socket.gethostname(), "boot_id": boot_id(), "pid": pid, "start": start_mark(pid)}


def is_here(engine: Mapping[str, Any]) -> bool:
    """Whether an engine belongs to this host (whatever its boot)."""
    return engine.get("host") == socket.gethostname()


def is_alive(engine: Mapping[str, Any]) -> bool:
    """Whether an engine of this host still runs: same boot, same process."""
    same_boot = engine.get("boot_id") == boot_id()
    return is_here(engine) and same_boot and bool(engine.get("start")) and _mark(engine) == engine.get("start")


def _mark(engine: Mapping[str, Any]) -> str:
    pid = engine.get("pid")
    return start_mark(pid) if isinstance(pid, int) else ""
