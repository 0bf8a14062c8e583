"""A hundred engines killed at random moments: nothing of it shows in the end."""

import json
import subprocess
import sys
from pathlib import Path

from tests.commandline import ROOT, environment, make_toy

KILLS = 100


def test_a_hundred_sigkills_do_not_show(tmp_path: Path) -> None:
    options = [*make_toy(tmp_path, (2, 3, 10)), "--tries=4", "--ep-ticks=80", "--jobs=6"]
    program = ROOT / "tests" / "programs" / "killed_runs.py"
    done = subprocess.run(
        [sys.executable, str(program), str(tmp_path), str(KILLS), "1", *options],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        env=environment(tmp_path),
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["faults"] == []
    assert found["code"] == 0
    assert found["kills"] >= KILLS
    assert found["rounds"] >= 2
