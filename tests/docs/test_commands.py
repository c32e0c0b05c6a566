"""The commands of README and start pages run, word for word, and print what the page shows."""

import doctest
import os
import re
import sys
from pathlib import Path

import pytest

from release.newcomer import commands_of, is_install, run, use_server

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
PAGES = ["README.md", "docs/index.md", *(f"docs/start/{name}.md" for name in ("install", "csv"))]
OUTPUT = re.compile(r"^```sh\n([^`]*)^```\n\n```text\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def printed_by(tmp_path_factory):
    """Return a function that runs a command once, in one folder, and returns what it prints."""
    folder, printed = tmp_path_factory.mktemp("reader"), {}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    variables = os.environ | {"PATH": path, "BROWSER": "true"}
    variables.pop("GRANULEARN_DATA", None)

    def printed_once(command: str) -> str:
        if command not in printed:
            served = command.startswith("granulearn review ")
            printed[command] = (use_server if served else run)(command, folder, variables)
        return printed[command]

    return printed_once


@pytest.mark.parametrize("page", PAGES)
def test_commands_run_and_print_what_the_page_shows(page, printed_by):
    text = (ROOT / page).read_text(encoding="utf-8")
    commands = [command for command in commands_of(text)[0] if not is_install(command)]
    assert commands
    for command in commands:
        printed_by(command)
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    for block, shown in OUTPUT.findall(text):
        printed = printed_by(block.splitlines()[-1])
        assert doctest.OutputChecker().check_output(shown, printed, options), printed
