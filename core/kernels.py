"""The one door to numba: where compiled kernels are cached and how they are compiled.

numba's file cache keeps a caller's stale result when a callee in another file changes. The cache folder therefore
carries a hash of every kernel source, so that an edit anywhere starts a fresh folder. The variable must be set before
numba is first imported, which is why kernels import `kernel` from here and never numba's own decorators.
"""

import hashlib
import os
import platform
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import platformdirs

KERNEL_ROOMS = ("policy", "worlds/voxel")


def source_hash() -> str:
    """Returns 16 hex digits over the names and bytes of every source file that may hold a kernel."""
    core = Path(__file__).parent
    digest = hashlib.sha256(platform.python_version().encode())
    for room in KERNEL_ROOMS:
        for source in sorted((core / room).glob("*.py")):
            digest.update(source.name.encode() + b"\0" + source.read_bytes())
    return digest.hexdigest()[:16]


def cache_dir() -> Path:
    """Returns the folder compiled kernels of exactly these sources live in (it may not exist yet)."""
    return Path(platformdirs.user_cache_dir("netherite-tui", appauthor=False)) / "kernels" / source_hash()


os.environ.setdefault("NUMBA_CACHE_DIR", str(cache_dir()))

from numba import njit  # noqa: E402  (the cache folder must be known first)

Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(function: Function) -> Function:
    """Compiles `function` for the types it is first called with, and caches the result on disk.

    Never fastmath: every kernel here is compared bit for bit with a C program.
    """
    compiled: Function = njit(cache=True, nogil=True, error_model="numpy")(function)
    return compiled
