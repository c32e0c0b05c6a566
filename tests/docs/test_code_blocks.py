"""Code on a page is run, or at least known to be what the package takes."""

import ast
import importlib
import shlex

import pytest
import typer
from typer.core import TyperGroup

from granulearn.cli.application import app
from tests.docs.pages import blocks

PYTHON = [(page, text) for page, text in blocks("python", "py") if ">>> " not in text]
COMMANDS = [
    (page, line.strip().split("granulearn ", 1)[1])
    for page, text in blocks("sh", "bash", "console")
    for line in text.replace("\\\n", " ").splitlines()
    if "granulearn " in line
    and not line.lstrip().startswith(("pip ", "#", "python "))
    and "granulearn --" not in line
]


# Doctests are run by pytest itself (docs/conftest.py). What is left are scripts that need
# a cluster or a server.
@pytest.mark.parametrize(("page", "text"), PYTHON)
def test_a_script_on_a_page_imports_what_there_is(page, text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom):
            module = importlib.import_module(node.module)
            assert [name.name for name in node.names if not hasattr(module, name.name)] == []


def test_few_blocks_are_no_doctests():
    assert len(PYTHON) <= 12


@pytest.mark.parametrize(("page", "command"), COMMANDS)
def test_a_command_on_a_page_is_one_that_the_command_line_takes(page, command):
    words = shlex.split(command.split(" | ")[0].split(" > ")[0], comments=True)
    verb = typer.main.get_command(app)
    while isinstance(verb, TyperGroup):
        verb = verb.get_command(typer.Context(verb), words.pop(0))
        assert verb is not None, f"{page}: {command}"
    known = {option for parameter in verb.params for option in parameter.opts} | {"--help"}
    known |= {option for parameter in verb.params for option in parameter.secondary_opts}
    used = {word.split("=")[0] for word in words if word.startswith("-") and word != "-"}
    assert used <= known, f"{page}: {command}"
