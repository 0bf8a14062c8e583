import fcntl
import os
import subprocess
import sys
import threading
import time
import types
from pathlib import Path

import pytest

from core import kernels
from core.errors import ExitCode
from core.ladder import warmup

ROOT = Path(__file__).parents[3]
DEADLINE_S = 300
LONG_AGO = time.time() - 100 * 86400


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A cache folder of its own, with another version's folder that is in use and one that is forgotten beside it."""
    folder = tmp_path / "kernels" / "this"
    for name in ("this", "other", "forgotten"):
        (folder.parent / name).mkdir(parents=True)
    os.utime(folder.parent / "forgotten", (LONG_AGO, LONG_AGO))
    monkeypatch.setattr(kernels, "CACHE_DIR", folder)
    monkeypatch.setattr(kernels, "cache_dir", lambda: folder)
    return folder


@pytest.fixture
def compiled(monkeypatch):
    """A room `tiny` that only counts how often it is compiled."""
    calls = []
    module = types.ModuleType("tiny_room")
    module.warm = lambda: calls.append("tiny")
    monkeypatch.setitem(sys.modules, "tiny_room", module)
    monkeypatch.setitem(warmup.ROOMS, "tiny", "tiny_room:warm")
    return calls


def test_a_room_is_compiled_once_and_progress_goes_to_stderr(cache, compiled, capfd):
    assert warmup.main(["tiny"]) == ExitCode.OK
    said = capfd.readouterr()
    assert said.out == ""
    assert said.err.startswith("compiling tiny kernels (once for this version)\ntiny kernels compiled in ")
    assert warmup.main(["tiny"]) == ExitCode.OK
    assert capfd.readouterr().err == ""
    assert compiled == ["tiny"]


def test_forgotten_folders_of_other_versions_are_pruned(cache, compiled):
    warmup.main(["tiny"])
    assert sorted(folder.name for folder in cache.parent.iterdir()) == ["other", "this"]


def test_nothing_is_pruned_beside_a_folder_somebody_chose(cache, compiled, monkeypatch):
    monkeypatch.setattr(kernels, "cache_dir", lambda: cache.parent / "usual")
    warmup.main(["tiny"])
    assert (cache.parent / "forgotten").is_dir()


def test_a_touched_source_needs_compiling_again(cache, monkeypatch, tmp_path):
    before = warmup.marker(cache, "policy")
    assert warmup.marker(cache, "policy") == before
    (tmp_path / "core" / "policy").mkdir(parents=True)
    source = tmp_path / "core" / "policy" / "forward.py"
    source.write_text("")
    monkeypatch.setattr(warmup, "CORE", tmp_path / "core")
    first = warmup.marker(cache, "policy")
    os.utime(source, (LONG_AGO, LONG_AGO))
    assert len({before, first, warmup.marker(cache, "policy")}) == 3


def test_an_unknown_room_is_refused(cache, capfd):
    assert warmup.main(["cellar"]) == ExitCode.USAGE
    assert capfd.readouterr().err == "warm-up: expected rooms out of policy, bot, voxel, found cellar\n"


def test_warm_kernels_start_no_process(cache, monkeypatch):
    warmup.marker(cache, "policy").touch()
    monkeypatch.setattr(warmup, "_warm_in_a_process", lambda *_: pytest.fail("a process was started"))
    os.utime(cache, (LONG_AGO, LONG_AGO))
    warmup.ensure_warm(["policy"], lambda line: pytest.fail(line))
    assert cache.stat().st_mtime > LONG_AGO + 1, "use keeps a folder from being pruned"


def test_without_a_folder_the_run_is_told_and_goes_on(monkeypatch):
    monkeypatch.setattr(kernels, "CACHE_DIR", None)
    monkeypatch.setattr(kernels, "CACHE_NOTE", "kernel cache /x cannot be written")
    said = []
    warmup.ensure_warm(["policy"], said.append)
    assert said == ["kernel cache /x cannot be written"]


def test_a_failed_warm_up_says_its_last_line(cache):
    with pytest.raises(warmup.WarmUpError, match=r"ended with 2\): warm-up: expected rooms out of .* found cellar"):
        warmup.ensure_warm(["cellar"], lambda line: None)


def test_policy_kernels_are_compiled_by_one_process_while_another_waits(tmp_path):
    """The real thing: a cold cache, the lock held by somebody else, then compiled, then nothing left to do."""
    script = (
        "from core.ladder.warmup import ensure_warm\n"
        "ensure_warm(['policy'], lambda line: print(line, flush=True)); print('warm', flush=True)\n"
        "ensure_warm(['policy'], lambda line: print(line, flush=True)); print('still warm', flush=True)\n"
    )
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    with (tmp_path / "warm.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, env=environment)
        deadline = threading.Timer(DEADLINE_S, process.kill)
        deadline.start()
        try:
            assert process.stdout.readline() == "another process is compiling kernels: waiting for it\n"
            fcntl.flock(lock, fcntl.LOCK_UN)
            said, _ = process.communicate()
        finally:
            deadline.cancel()
            process.kill()
            process.wait()
    lines = said.splitlines()
    assert lines[0] == "compiling policy kernels (once for this version)"
    assert lines[1].startswith("policy kernels compiled in ")
    assert lines[2:] == ["warm", "still warm"]
    assert len(list(tmp_path.rglob("forward.forward-*.nbc"))) == 1
