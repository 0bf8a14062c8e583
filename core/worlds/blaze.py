"""BlazeWorld: one environment of the batched simulation, a shared library called in our own process (SPEC 12).

Each lane has a handle of its own with n = 1, so lanes stay independent and may be stepped from different threads. A
library is never unloaded: that crashes with OpenMP, whose idle threads would also spin on the other lanes' cores unless
OMP_NUM_THREADS is 1 before the load.
"""

import ctypes
import os
import threading
from pathlib import Path

import numpy as np
import numpy.typing as npt

from core.errors import BadInput
from core.wire.bolr import RECORD
from core.wire.senses import Senses, senses_of_record
from core.worlds.base import Done, WorldError, WorldInterrupted, WorldStartError

ERROR_BYTES = 512
DEFAULT_SUCCESS_ITEM = 50
MISCOMPILED_REMEDY = "rebuild it with -fno-tree-slp-vectorize"

_Handle = ctypes.c_void_p
_Pointer = ctypes.c_void_p
_int = ctypes.c_int

#: Functions of both ABIs: result, arguments.
_REQUIRED: dict[str, tuple[object, list[object]]] = {
    # The older blaze_create takes two arguments; a third NULL is harmless in the C calling conventions of our machines.
    "blaze_create": (_Handle, [_int, _int, _Pointer]),
    "blaze_load_snapshots": (_int, [_Handle, ctypes.POINTER(ctypes.c_char_p), _int, ctypes.c_char_p, _int]),
    "blaze_assign": (_int, [_Handle, ctypes.POINTER(_int)]),
    "blaze_reset": (_int, [_Handle, _Pointer]),
    "blaze_step_full": (_int, [_Handle, _Pointer, _int, *[_Pointer] * 8]),
    "blaze_emit": (_int, [_Handle, _int, _int, _Pointer]),
    "blaze_destroy": (None, [_Handle]),
}
_NEWER: dict[str, tuple[object, list[object]]] = {"blaze_set_success_item": (_int, [_Handle, _int])}

_libraries: dict[str, "BlazeLibrary"] = {}
_loading = threading.Lock()


class MiscompiledLibrary(WorldStartError):
    """A library whose emitted position is not rounded to float32: every replay would diverge for nothing."""


class BlazeLibrary:
    """A loaded library with every function looked up. Use `load_library`: there is one a file, for good."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._library = ctypes.CDLL(os.fspath(path.absolute()))
        except OSError as error:
            raise BadInput(f"blaze library {path} cannot be loaded: {_reason(path, error)}") from None
        for name, signature in _REQUIRED.items():
            if not self._declare(name, *signature):
                raise BadInput(f"blaze library {path} has no function {name}")
        #: whether it has blaze_set_success_item, which came with the three-argument blaze_create
        self.is_newer_abi = all(self._declare(name, *signature) for name, signature in _NEWER.items())

    def _declare(self, name: str, result: object, arguments: list[object]) -> bool:
        function = getattr(self._library, name, None)
        if function is None:
            return False
        function.restype, function.argtypes = result, arguments
        setattr(self, name.removeprefix("blaze_"), function)
        return True

    def __getattr__(self, name: str) -> "ctypes._NamedFuncPointer":
        raise AttributeError(f"blaze library {self.path} has no function blaze_{name}")


def load_library(path: Path) -> BlazeLibrary:
    """Returns the library at `path`, loading it the first time.

    Raises:
        BadInput: the file is missing or no library, or a function is missing (the text names it).
    """
    key = os.path.realpath(path)
    with _loading:
        if key not in _libraries:
            os.environ["OMP_NUM_THREADS"] = "1"
            _libraries[key] = BlazeLibrary(path)
        return _libraries[key]


class BlazeWorld:
    """One lane in the batched simulation. `senses` come from the step itself, `record` from emit when it is asked for.

    A call into the library cannot be interrupted: one that is late is given up with its thread.
    """

    def __init__(
        self, library: Path, snapshot: Path, *, device: int = 0, success_item: int = DEFAULT_SUCCESS_ITEM
    ) -> None:
        """Loads the library, not the snapshot.

        Raises:
            BadInput: see `load_library`; or an older library is asked for another success item than the torch.
        """
        self._library = load_library(library)
        if not self._library.is_newer_abi and success_item != DEFAULT_SUCCESS_ITEM:
            raise BadInput(
                f"blaze library {library} has no function blaze_set_success_item: "
                f"success_item expected {DEFAULT_SUCCESS_ITEM}, found {success_item}"
            )
        self._snapshot = snapshot
        self._device = device
        self._success_item = success_item
        self._handle: int | None = None
        self._interrupted = False
        self._action = np.zeros((1, 13))
        self._record = np.zeros(1, RECORD)
        self._record_is_fresh = False
        self._senses = Senses.empty()
        self._reward = np.zeros(1, np.float32)
        self._done = np.zeros(1, np.uint8)
        self._outputs = [
            array.ctypes.data
            for array in (
                self._senses.cam,
                self._senses.depth,
                self._senses.edge,
                self._senses.scal6,
                self._reward,
                self._done,
                self._senses.pose,
                self._senses.status,
            )
        ]

    def open(self) -> None:
        """Creates a handle, loads the snapshot and emits the t0 record.

        Raises:
            WorldStartError: the library refuses; the text is its own where it gives one.
            MiscompiledLibrary: the emitted position is not rounded to float32.
        """
        self._raise_if_interrupted()
        library = self._library
        handle = library.create(self._device, 1, None)
        if not handle:
            raise WorldStartError(f"blaze_create failed (device {self._device})")
        self._handle = handle
        self._load_snapshot(handle)
        self._check("blaze_assign", library.assign(handle, (ctypes.c_int * 1)(0)))
        if library.is_newer_abi:
            self._check("blaze_set_success_item", library.set_success_item(handle, self._success_item))
        self._check("blaze_reset", library.reset(handle, None))
        senses_of_record(self.record, self._senses)

    def _load_snapshot(self, handle: int) -> None:
        paths = (ctypes.c_char_p * 1)(os.fsencode(self._snapshot))
        said = ctypes.create_string_buffer(ERROR_BYTES)
        if self._library.load_snapshots(handle, paths, 1, said, ERROR_BYTES) < 0:
            words = said.value.decode("utf-8", "replace").strip() or "no reason given"
            raise WorldStartError(f"blaze cannot load {self._snapshot}: {words}")

    @property
    def record(self) -> npt.NDArray[np.void]:
        """The newest record, shape [1], emitted once a step when first asked for; blocks and logs are zeros.

        Raises:
            WorldError: emit failed. MiscompiledLibrary: see `open`.
        """
        if not self._record_is_fresh and self._handle is not None:
            self._check("blaze_emit", self._library.emit(self._handle, 0, 1, self._record.ctypes.data))
            self._record_is_fresh = True
            self._check_rounding()
        return self._record

    def _check_rounding(self) -> None:
        xyz = self._record["xyz"][0]
        if not np.array_equal(xyz, xyz.astype(np.float32), equal_nan=True):
            axis = int(np.flatnonzero(xyz != xyz.astype(np.float32))[0])
            raise MiscompiledLibrary(
                f"blaze library {self._library.path} is miscompiled: emitted {'xyz'[axis]} {float(xyz[axis])!r} is not "
                f"rounded to float32; {MISCOMPILED_REMEDY}"
            )

    @property
    def senses(self) -> Senses:
        """What the policy sees: step_full's own outputs (before the first step, what the t0 record says)."""
        return self._senses

    @property
    def done(self) -> Done:
        """The library's done byte; older libraries call the region boundary a death."""
        return Done(int(self._done[0]))

    def step(self, row: npt.NDArray[np.float64], repeat: int) -> None:
        """Runs one decision in the calling thread, without the interpreter lock.

        Raises:
            WorldInterrupted: `interrupt` was called before or meanwhile. WorldError: the library refused.
        """
        self._raise_if_interrupted()
        if self._handle is None:
            raise WorldError("blaze world is not open")
        self._action[0] = row
        self._record_is_fresh = False
        result = self._library.step_full(self._handle, self._action.ctypes.data, repeat, *self._outputs)
        self._check("blaze_step_full", result)
        if self._done[0] > Done.BOUNDARY:
            raise WorldError(f"blaze_step_full: done expected 0..3, found {self._done[0]}")
        self._raise_if_interrupted()

    def interrupt(self) -> None:
        """Makes the next return from the library the last one."""
        self._interrupted = True

    def close(self) -> None:
        """Destroys the handle. Only for the thread that steps: a handle in use must not be destroyed."""
        handle, self._handle = self._handle, None
        if handle is not None:
            self._library.destroy(handle)

    def _check(self, name: str, result: int) -> None:
        if result < 0:
            raise WorldError(f"{name} failed: {result}")

    def _raise_if_interrupted(self) -> None:
        if self._interrupted:
            raise WorldInterrupted("interrupted")


def _reason(path: Path, error: OSError) -> str:
    if not path.exists():
        return "no such file"
    return str(error).removeprefix(f"{path.absolute()}: ")
