"""The one door to numba: where compiled kernels are cached and how they are compiled.

numba's file cache keeps a caller's stale result when a callee in another file changes. The cache folder therefore
carries a hash of every kernel source, so that an edit anywhere starts a fresh folder. The variable must be set before
numba is first imported, which is why kernels import `kernel` from here and never numba's own decorators.
"""

import hashlib
import os
import platform
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import platformdirs

KERNEL_ROOMS = ("policy", "worlds/voxel")
CACHE_VARIABLE = "NUMBA_CACHE_DIR"


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


def _choose_cache_dir() -> tuple[Path | None, str]:
    """Returns the first of the given, the user's and a temporary folder that can be written, and what to say of it."""
    given = os.environ.get(CACHE_VARIABLE)
    wanted = Path(given) if given else cache_dir()
    if _can_write(wanted):
        return wanted, ""
    spare = _temporary_dir()
    if spare is not None and _can_write(spare):
        return spare, f"kernel cache {wanted} cannot be written: compiled kernels go to {spare}"
    return None, f"kernel cache {wanted} cannot be written: every process compiles its kernels anew"


def _can_write(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK | os.X_OK)


def _temporary_dir() -> Path | None:
    """Returns a folder under the temporary one that nobody else can write: what lies in it is run as code."""
    try:
        private = Path(tempfile.gettempdir()) / f"netherite-tui-{os.geteuid()}"
        private.mkdir(mode=0o700, exist_ok=True)
        found = private.lstat()
    except OSError:
        return None
    is_ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o022
    return private / "kernels" / source_hash() if is_ours else None


#: Where compiled kernels are kept (None: nowhere can be written), and one line to tell when it is not the usual place.
CACHE_DIR, CACHE_NOTE = _choose_cache_dir()
if CACHE_DIR is not None:
    os.environ[CACHE_VARIABLE] = str(CACHE_DIR)  # lane processes inherit it

import llvmlite.binding  # noqa: E402  (the cache folder must be known first)
import numba  # noqa: E402
from numba import njit, types  # noqa: E402
from numba.experimental import structref  # noqa: E402

__all__ = [
    "CACHE_DIR",
    "CACHE_NOTE",
    "CACHE_VARIABLE",
    "KERNEL_ROOMS",
    "cache_dir",
    "compiler",
    "kernel",
    "structref",
    "types",
]


def compiler() -> str:
    """Returns what compiled kernels depend on beside their sources: numba's version and the processor's model."""
    return f"numba {numba.__version__} for {llvmlite.binding.get_host_cpu_name()}"


Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(function: Function) -> Function:
    """Compiles `function` for the types it is first called with, and caches the result on disk.

    Never fastmath: every kernel here is compared bit for bit with a C program. A constant argument is an argument like
    any other: numba would compile one copy of the callee for each constant its callers pass.
    """
    compiled: Any = njit(cache=CACHE_DIR is not None, nogil=True, error_model="numpy", no_cfunc_wrapper=True)(function)
    resolve = compiled.get_call_template
    compiled.get_call_template = lambda args, kws: resolve(tuple(types.unliteral(arg) for arg in args), kws)
    return cast(Function, compiled)
