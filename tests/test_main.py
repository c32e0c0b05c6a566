"""The command ``python -m granulearn``."""

from tests.cli.commands import COMMAND, in_real_process


def test_the_package_runs_the_command_line():
    assert COMMAND[1:] == ["-m", "granulearn"]
    done = in_real_process("--help")
    assert done.returncode == 0
    assert "Usage: granulearn " in done.stdout
