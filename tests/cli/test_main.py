"""Entry point: lazy verbs, one line and an exit code for every failure, signals."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest

import granulearn
from granulearn.bench import StudyError
from granulearn.cli import application, exit_codes
from granulearn.cli.application import VERBS
from granulearn.datasets import DatasetUnavailableError, UnknownDatasetError
from granulearn.models import ModelFileError, OnnxMismatchError
from granulearn.tables import TableError
from tests.cli.commands import COMMAND, fails, fails_with, run, succeeds, write_people
from tests.cli.commands import granulearn as command
from tests.processes import Code

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guide" / "command-line.md"
needs_signals = pytest.mark.skipif(sys.platform == "win32", reason="no such signals")


def test_version_and_help_import_no_verb_and_nothing_heavy():
    code = (
        "import sys; from granulearn.cli.main import run; run(['--help']); run(['--version']); "
        "heavy = ['granulearn.cli.fit', 'granulearn.models', 'pyarrow', 'pandas', 'sklearn'];"
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert all(f"{name} " in done.stdout and VERBS[name] in done.stdout for name in VERBS)
    assert done.stdout.splitlines()[-2:] == [f"granulearn {granulearn.__version__}", "[]"]


@pytest.mark.parametrize("name", VERBS)
def test_each_verb_has_help(name):
    assert f"Usage: granulearn {name}" in succeeds(name, "--help").out


def test_a_verb_whose_packages_are_missing_is_listed_and_says_what_to_install(monkeypatch):
    def import_module(name):
        raise ModuleNotFoundError(name="onnx")

    monkeypatch.setattr(application, "import_module", import_module)
    assert "predict" in succeeds("--help").out
    line = fails(exit_codes.MISSING_PACKAGE, "predict", "a", "b")
    assert 'pip install "granulearn[onnx]"' in line


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["frobnicate"], "No such command 'frobnicate'"),
        (["fit", "x.csv", "--target", "y"], "Missing option '--output'"),
        (["fit", "x.csv", "--target", "y", "-o", "m", "--model", "tree"], "is not one of robust"),
        (["fit", "x.csv", "--target", "y", "-o", "m", "--test", "2"], "0.9"),
        (["predict", "--frob"], "No such option"),
    ],
)
def test_wrong_options_are_one_line_and_2(arguments, said):
    line = fails(exit_codes.USAGE, *arguments)
    assert said in line
    assert "--help" in line


def test_completion_offers_verbs_models_and_the_columns_of_the_table(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.tsv").write_text("age\tmy city\tlabel\n1\ta\tb\n")
    monkeypatch.setenv("_GRANULEARN_COMPLETE", "complete_bash")

    def offered(words):
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", str(len(words.split(" ")) - 1))
        with pytest.raises(SystemExit):
            run([])
        return capsys.readouterr().out.splitlines()

    assert offered("granulearn check t.tsv --target ") == ["age", "my city", "label"]
    assert offered("granulearn fit t.tsv --ignore a") == ["age"]
    assert offered("granulearn fit t.tsv --model g") == ["gb-rvfl", "ge-gbrvfl"]
    monkeypatch.setattr(application, "import_module", None)
    assert set(VERBS) <= set(offered("granulearn "))


# --- failures


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_terminal_that_lacks_letters_shows_escapes(tmp_path, encoding):
    table = write_people(tmp_path)
    for option in ([], ["--json"]):
        line, variables = [*COMMAND, "check", table, *option], {"PYTHONIOENCODING": encoding}
        done = subprocess.run(line, env=os.environ | variables, capture_output=True, check=True)
        if option:
            names = [column["name"] for column in json.loads(done.stdout)["columns"]]
            assert "città" in names
        else:
            assert b"\\u014csaka" in done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_change_no_exit_code_and_no_file(tmp_path, closed):
    table = write_people(tmp_path)
    before = table.read_bytes()
    for words, code in (
        (["check", str(table)], exit_codes.OK),
        (["check", "none.csv"], exit_codes.NOT_WRITTEN),
        (["models", "--unknown"], exit_codes.USAGE),
    ):
        line = f"{shlex.join([*COMMAND, *words])} {closed}"
        assert subprocess.run(["sh", "-c", line], cwd=tmp_path, check=False).returncode == code
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [before]


@pytest.fixture(name="verb_that")
def make_verb_that(monkeypatch):
    """Return a function that makes every verb raise an error, or call a function."""

    def verb_that(action):
        def verb(arguments):
            if isinstance(action, BaseException):
                raise action
            return action()

        monkeypatch.setattr(application, "run_verb", verb)

    return verb_that


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (TableError("x"), exit_codes.BAD_DATA),
        (UnknownDatasetError("x"), exit_codes.BAD_DATA),
        (DatasetUnavailableError("x"), exit_codes.BAD_DATA),
        (MemoryError(), exit_codes.BAD_DATA),
        (ModelFileError("x"), exit_codes.BAD_MODEL),
        (OnnxMismatchError("x"), exit_codes.BAD_MODEL),
        (StudyError("x"), exit_codes.USAGE),
        (PermissionError(13, "Permission denied", "out.csv"), exit_codes.NOT_WRITTEN),
        (exit_codes.UsageError("x"), exit_codes.USAGE),
        (exit_codes.VerbError("x", exit_codes.INTERRUPTED), exit_codes.INTERRUPTED),
        (KeyboardInterrupt(), exit_codes.INTERRUPTED),
        (ModuleNotFoundError(name="onnx.helper"), exit_codes.MISSING_PACKAGE),
        (ZeroDivisionError("over\nnothing"), exit_codes.UNEXPECTED),
    ],
    ids=lambda value: type(value).__name__,
)
def test_each_class_of_failure_has_its_code_and_one_line(verb_that, error, code):
    verb_that(error)
    fails(code, "fit")


def test_developers_can_ask_for_the_stack_trace(verb_that, monkeypatch):
    monkeypatch.setenv("GRANULEARN_DEBUG", "1")
    verb_that(ZeroDivisionError())
    with pytest.raises(ZeroDivisionError):
        command("fit")


def test_each_problem_of_a_table_is_one_line(verb_that):
    verb_that(TableError("The first\nproblem.", "The second."))
    assert fails_with(exit_codes.BAD_DATA, "fit") == [
        "granulearn: error: The first problem.",
        "granulearn: error: The second.",
    ]


def test_warnings_for_users_are_one_line_each_and_others_are_not_shown(verb_that):
    def action():
        for _ in range(3):
            warnings.warn("the data\nis odd", UserWarning, stacklevel=1)
        warnings.warn("an interface will change", DeprecationWarning, stacklevel=1)
        return 0

    verb_that(action)
    assert command("fit").err == "granulearn: warning: the data is odd\n"


def test_every_code_is_documented_in_the_help_and_in_the_guide():
    listed = re.findall(r"^\| (\d+) \| (.+?) \|$", GUIDE.read_text(encoding="utf-8"), re.MULTILINE)
    assert {int(code): meaning for code, meaning in listed} == exit_codes.MEANINGS
    shown = " ".join(succeeds("--help").out.split())
    assert all(f"{code}: " in shown for code in exit_codes.MEANINGS)


@pytest.mark.parametrize(
    "verb",
    [
        ["predict", "none.granulearn", "TABLE"],
        ["export", "none.granulearn"],
        ["check", "none.csv"],
    ],
    ids=" ".join,
)
def test_what_is_not_there_is_5(tmp_path, verb):
    written = [] if verb[0] == "check" else ["-o", tmp_path / "out.csv"]
    assert "none" in fails(exit_codes.NOT_WRITTEN, *verb, *written)
    assert list(tmp_path.iterdir()) == []


def test_what_may_not_be_read_is_5(fitted, tmp_path, monkeypatch):
    table, model = fitted

    def access(name, *arguments, _access=os.access, **options):
        return str(name) != str(model) and _access(name, *arguments, **options)

    monkeypatch.setattr("os.access", access)
    line = fails(exit_codes.NOT_WRITTEN, "predict", model, table, "-o", tmp_path / "out.csv")
    assert str(model) in line
    assert "rights" in line


@pytest.mark.parametrize("arguments", [["models"], ["predict"]])
def test_a_reader_that_has_enough_ends_it_without_a_word(fitted, arguments):
    table, model = fitted
    more = [model, table, "-o", "-"] if arguments == ["predict"] else []
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [*COMMAND, *arguments, *more], stdout=writer, stderr=subprocess.PIPE, check=False
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (exit_codes.NOBODY_READS, b"")


# --- signals

INTERRUPTED = "granulearn: error: interrupted; no output was written.\n"

# A lock of the system is waited for without looking at signals, as long calls into C run.
DEAF = """
import ctypes, sys
from granulearn.cli.main import Stop
from granulearn.utils.files import written_atomically

Stop().listen()
with written_atomically(sys.argv[1]) as temporary:
    temporary.write_text("half")
    print("busy", flush=True)
    lock, system = ctypes.create_string_buffer(256), ctypes.CDLL(None)
    for _ in range(2):
        system.pthread_mutex_lock(lock)
"""


@needs_signals
@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_a_verb_that_is_deaf_ends_all_the_same_and_leaves_nothing(tmp_path, number):
    with Code(DEAF, tmp_path / "out.csv") as process:
        assert process.stdout.readline() == "busy\n"
        time.sleep(0.2)
        process.send_signal(number)
        _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (128 + number, INTERRUPTED)
    assert list(tmp_path.iterdir()) == []


AT_A_MOMENT = """
import signal, sys, time
from granulearn.cli import application, main

def verb(arguments):
    signal.raise_signal(signal.SIGTERM)

class Stopped(main.Stop):
    def listen(self):
        super().listen()
        if moment == "before":
            signal.raise_signal(signal.SIGTERM)

moment = sys.argv[1]
main.Stop, application.run_verb = Stopped, verb
main.main()
"""


@needs_signals
@pytest.mark.slow
@pytest.mark.parametrize("moment", ["before", "in the verb"])
def test_a_signal_is_heard_at_every_moment_and_gives_its_own_code(moment):
    with Code(AT_A_MOMENT, moment) as process:
        _, said = process.communicate(timeout=50)
    assert process.returncode == exit_codes.STOPPED
    assert said == ("" if moment == "before" else INTERRUPTED)


@needs_signals
@pytest.mark.slow
def test_signals_that_are_ignored_stay_so():
    script = """
import signal
from granulearn.cli.main import Stop

for number in (signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
Stop().listen()
for number in (signal.SIGINT, signal.SIGHUP):
    signal.raise_signal(number)
print(signal.getsignal(signal.SIGTERM).__class__.__name__)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "Stop\n", "")
