"""Writing a file whole or not at all."""

import contextlib
import os
import secrets
from collections.abc import Iterable
from pathlib import Path

from core.errors import BadInput

#: What can be written or hashed as bytes.
Buffer = bytes | bytearray | memoryview


def write_atomically(path: Path, chunks: Iterable[Buffer]) -> None:
    """Writes `chunks` to a file beside `path`, then renames it: readers see the old file or the whole new one.

    Raises:
        BadInput: the file cannot be written; the text names it and the reason.
    """
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with unfinished.open("xb") as out:
            for chunk in chunks:
                out.write(chunk)
            out.flush()
            os.fsync(out.fileno())
        unfinished.replace(path)
    except OSError as error:
        raise BadInput(f"{path}: cannot be written: {error.strerror}") from error
    finally:
        with contextlib.suppress(OSError):
            unfinished.unlink(missing_ok=True)
