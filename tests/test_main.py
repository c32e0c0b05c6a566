"""The command ``python -m granulearn``."""

import subprocess
import sys


def test_the_package_runs_the_command_line():
    done = subprocess.run(
        [sys.executable, "-m", "granulearn", "--version"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("granulearn ")
