"""Available memory under control groups of both versions, and the kernel's counter of kills."""

from pathlib import Path

import psutil
import pytest

from core.host.memory import GIB, MIB, available_bytes, oom_kills, reserve_bytes

LIMIT, USAGE, CACHE = 900 * MIB, 500 * MIB, 100 * MIB


def write(folder: Path, **files: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)


def version_2(tmp_path: Path, path: str = "/run/lanes") -> Path:
    membership = tmp_path / "cgroup"
    membership.write_text(f"0::{path}\n")
    return membership


def test_version_2_takes_the_tightest_ancestor(tmp_path: Path) -> None:
    root = tmp_path / "fs"
    write(root / "run/lanes", memory__max="max\n", memory__current="1\n", memory__events="low 0\noom_kill 3\n")
    limits = {"memory__max": f"{LIMIT}\n", "memory__current": f"{USAGE}\n"}
    write(root / "run", **limits, memory__stat=f"anon 5\ninactive_file {CACHE}\n")
    membership = version_2(tmp_path)
    assert available_bytes(membership, root) == min(LIMIT - USAGE + CACHE, psutil.virtual_memory().available)
    assert oom_kills(membership, root) == 3


def test_version_1(tmp_path: Path) -> None:
    root, membership = tmp_path / "fs", tmp_path / "cgroup"
    membership.write_text("5:cpu:/x\n4:memory:/x\n0::/\n")
    write(
        root / "memory/x",
        memory__limit_in_bytes=f"{LIMIT}\n",
        memory__usage_in_bytes=f"{USAGE}\n",
        memory__stat=f"inactive_file 7\ntotal_inactive_file {CACHE}\n",
        memory__oom_control="oom_kill_disable 0\nunder_oom 0\noom_kill 2\n",
    )
    assert available_bytes(membership, root) == LIMIT - USAGE + CACHE
    assert oom_kills(membership, root) == 2


def test_in_a_container_only_the_mounted_root_is_there(tmp_path: Path) -> None:
    root = tmp_path / "fs"
    write(root, memory__max=f"{LIMIT}\n", memory__current=f"{USAGE}\n", memory__events="oom_kill 1\n")
    membership = version_2(tmp_path, "/host/only/path")
    assert available_bytes(membership, root) == LIMIT - USAGE
    assert oom_kills(membership, root) == 1


def test_a_full_group_has_nothing_and_no_group_means_the_machine(tmp_path: Path) -> None:
    root = tmp_path / "fs"
    write(root, memory__max="100\n", memory__current="200\n")
    assert available_bytes(version_2(tmp_path, "/"), root) == 0
    free = available_bytes(tmp_path / "none", root)
    assert free == pytest.approx(psutil.virtual_memory().available, rel=0.5)


def test_reserve() -> None:
    assert reserve_bytes(2 * GIB) == GIB
    assert reserve_bytes(40 * GIB) == 4 * GIB
