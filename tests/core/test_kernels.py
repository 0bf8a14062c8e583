import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run(script, **environment):
    """Returns what a fresh interpreter prints: the cache folder is chosen when core.kernels is first imported."""
    inherited = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=inherited | {"PYTHONPATH": str(ROOT)} | {name: str(value) for name, value in environment.items()},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


SAY_FOLDER = "from core import kernels; print(kernels.CACHE_DIR); print(kernels.CACHE_NOTE)"
USE_KERNEL = """
from core import kernels
def twice(x):
    return 2 * x
print(kernels.kernel(twice)(21))
"""


@pytest.fixture
def not_a_folder(tmp_path):
    (tmp_path / "file").write_text("")
    return tmp_path / "file" / "cache"


def test_kernels_are_cached_in_the_users_cache_folder_by_source_hash(tmp_path):
    folder, note = run(SAY_FOLDER, XDG_CACHE_HOME=tmp_path)
    assert Path(folder).parent == tmp_path / "netherite-tui" / "kernels"
    assert Path(folder).is_dir()
    assert note == ""


def test_nothing_but_the_door_imports_numba():
    """numba looks for its cache folder when it is first imported: whoever comes earlier than the door spoils it."""
    importing = re.compile(r"^\s*(?:from|import) (?:numba|llvmlite)\b", re.MULTILINE)
    sources = [*(ROOT / "core").rglob("*.py"), *(ROOT / "netherite_tui").rglob("*.py")]
    assert [str(path.relative_to(ROOT)) for path in sources if importing.search(path.read_text())] == [
        "core/kernels.py"
    ]


def test_the_warm_up_uses_the_chosen_folder(tmp_path):
    script = "import core.ladder.warmup; import numba; print(numba.config.CACHE_DIR)"
    (folder,) = run(script, XDG_CACHE_HOME=tmp_path)
    assert Path(folder).parent == tmp_path / "netherite-tui" / "kernels"


def test_a_folder_given_by_the_environment_is_used(tmp_path):
    assert run(SAY_FOLDER, NUMBA_CACHE_DIR=tmp_path / "mine") == [str(tmp_path / "mine"), ""]


def test_an_unwritable_folder_is_replaced_by_a_private_temporary_one(tmp_path, not_a_folder):
    folder, note = run(SAY_FOLDER, XDG_CACHE_HOME=not_a_folder, TMPDIR=tmp_path)
    private = tmp_path / f"netherite-tui-{os.geteuid()}"
    assert Path(folder).parent == private / "kernels"
    assert private.stat().st_mode & 0o777 == 0o700
    assert note.endswith(f"cannot be written: compiled kernels go to {folder}")


def test_a_temporary_folder_others_can_write_is_not_trusted_and_kernels_still_run(tmp_path, not_a_folder):
    private = tmp_path / f"netherite-tui-{os.geteuid()}"
    private.mkdir()
    private.chmod(0o777)
    folder, note = run(SAY_FOLDER, XDG_CACHE_HOME=not_a_folder, TMPDIR=tmp_path)
    assert folder == "None"
    assert note.endswith("cannot be written: every process compiles its kernels anew")
    assert run(USE_KERNEL, XDG_CACHE_HOME=not_a_folder, TMPDIR=tmp_path) == ["42"]
