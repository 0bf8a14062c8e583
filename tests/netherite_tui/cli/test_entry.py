"""The console script: quick help, one line for every mistake."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from core import __version__


def _run(*arguments: str, **settings: object) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "netherite_tui", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, **settings)


def test_version_and_help() -> None:
    assert _run("--version").stdout == f"netherite-tui, version {__version__}\n"
    shown = _run("--help").stdout
    for word in ("run", "demo", "watch", "doctor", "Exit codes: 0 success, 1 DIVERGE"):
        assert word in shown


def test_the_help_of_run_names_the_words_an_option_takes_and_what_may_be_repeated() -> None:
    shown = " ".join(_run("run", "--help").stdout.split())
    assert "what runs the lanes: cpu, cuda, metal, magma or voxel." in shown
    assert "one more argument for every lane process (repeatable)." in shown


def test_a_folder_called_core_where_it_is_started_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "core").mkdir()
    (tmp_path / "core" / "__init__.py").write_text("raise SystemExit('the wrong core')\n")
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[3])}
    assert _run("--version", cwd=tmp_path, env=environment).stdout == f"netherite-tui, version {__version__}\n"


def test_help_imports_nothing_heavy() -> None:
    probe = (
        "import sys, netherite_tui.cli as c; c.run_cli(['--help']);"
        "heavy = {'numpy', 'numba', 'textual', 'torch', 'psutil', 'msgpack', 'core.ladder', 'core.runs'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, timeout=60, check=True)
    assert found.stdout.splitlines()[-1] == "[]"


def test_help_costs_little_more_than_bare_python() -> None:
    def best_s(*command: str) -> float:
        """Processor seconds, the best of seven: other programs' work does not count."""
        times = []
        for _ in range(7):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([sys.executable, *command], stdout=subprocess.DEVNULL, check=True, timeout=60)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        return min(times)

    assert best_s("-m", "netherite_tui", "--help") - best_s("-c", "pass") < 0.1


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["runn"], "netherite-tui: No such command 'runn'."),
        (["--nope"], "netherite-tui: No such option"),
    ],
)
def test_a_usage_mistake_is_one_line(arguments: list[str], text: str) -> None:
    done = _run(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith(text)
    assert done.stderr.count("\n") == 1


def test_closed_stdout_is_one_line() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "netherite_tui", "--help"], stdout=writer, stderr=subprocess.PIPE, text=True, timeout=60
    )
    os.close(writer)
    assert done.returncode == 2
    assert done.stderr == "netherite-tui: standard output was closed\n"


def test_a_full_stderr_does_not_change_the_exit_code() -> None:
    command = [sys.executable, "-m", "netherite_tui", "no-such-command"]
    with Path("/dev/full").open("w") as full:
        assert subprocess.run(command, stderr=full, timeout=120, check=False).returncode == 2


def test_an_interrupt_while_modules_are_imported_is_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text("raise KeyboardInterrupt\n")
    (tmp_path / "main.py").write_text(
        "import netherite_tui.__main__ as main, sys\n"
        f"sys.path.insert(0, {str(tmp_path)!r})\n"
        "main._look_here_first = lambda: None\n"
        "main.main()\n"
    )
    root = Path(__file__).parents[3]
    done = subprocess.run(
        [sys.executable, tmp_path / "main.py"],
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (130, "")
