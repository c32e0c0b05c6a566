"""One line and an exit code for whatever goes wrong; never a stack trace."""

import logging
import os
import subprocess
import sys
import warnings

import pytest

from granulearn.cli import application, exit_codes, main
from granulearn.tables import TableError
from tests.cli.commands import COMMAND, fails, fails_with, granulearn, in_real_process


@pytest.fixture(name="verb_that")
def make_verb_that(monkeypatch):
    """Return a function that makes every verb do something."""

    def verb_that(action):
        monkeypatch.setattr(application, "run_verb", lambda arguments: action())

    return verb_that


def raising(error):
    def action():
        raise error

    return action


def test_an_unexpected_failure_is_one_line_with_the_way_to_report_it(verb_that):
    verb_that(raising(ZeroDivisionError("over\nnothing")))
    line = fails(exit_codes.UNEXPECTED, "fit")
    assert "unexpected ZeroDivisionError: over nothing" in line
    assert "GRANULEARN_DEBUG=1" in line


def test_developers_can_ask_for_the_stack_trace(verb_that, monkeypatch):
    monkeypatch.setenv("GRANULEARN_DEBUG", "1")
    verb_that(raising(ZeroDivisionError))
    with pytest.raises(ZeroDivisionError):
        granulearn("fit")


def test_an_interrupt_is_one_line_and_130(verb_that):
    verb_that(raising(KeyboardInterrupt))
    assert "no output was written" in fails(130, "fit")


def test_warnings_for_users_are_one_line_each_and_others_are_not_shown(verb_that):
    def action():
        for _ in range(3):
            warnings.warn("the data\nis odd", UserWarning, stacklevel=1)
        warnings.warn("an interface will change", DeprecationWarning, stacklevel=1)
        return 0

    verb_that(action)
    done = granulearn("fit")
    assert done.err == "granulearn: warning: the data is odd\n"


def test_each_problem_of_a_table_is_one_line(verb_that):
    verb_that(raising(TableError("The first\nproblem.", "The second.")))
    assert fails_with(exit_codes.BAD_DATA, "fit") == [
        "granulearn: error: The first problem.",
        "granulearn: error: The second.",
    ]


def test_the_module_runs_as_a_process_and_passes_the_code_on(tmp_path):
    done = in_real_process("predict", "no.skops", "no.csv", "-o", "x.csv", cwd=tmp_path)
    assert done.returncode == exit_codes.NOT_WRITTEN
    assert done.stderr == "granulearn: error: no.skops is not a file; check the path.\n"


def test_a_reader_that_has_enough_ends_it_without_a_word():
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [*COMMAND, "models"], stdout=writer, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (exit_codes.NOBODY_READS, "")


@pytest.mark.parametrize("terminal", [True, False])
def test_compiling_is_told_on_a_terminal_and_not_by_other_processes(terminal, monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal, raising=False)
    told = main._Told()
    record = logging.LogRecord("granulearn.loops", logging.INFO, "", 0, "compiling", (), None)
    told.emit(record)
    assert capsys.readouterr().err.count("granulearn: note: compiling") == terminal
    monkeypatch.setattr(main._Told, "process", -1)
    told.emit(record)
    assert capsys.readouterr().err == ""
