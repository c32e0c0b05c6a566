"""Standard input, standard output and pipes stand where files do."""

import io
import os
import pty
import signal
import stat
import subprocess
import sys
import time
import tty
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import onnx
import pandas as pd
import pytest

from granulearn.cli import exit_codes
from granulearn.cli.main import run
from granulearn.cli.streams import is_terminal, written_output
from tests.cli.commands import COMMAND, fails, people, succeeds
from tests.cli.terminals import in_terminal
from tests.warm_processes import Command

needs_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")


@pytest.fixture(name="temporary")
def temporary_folder(tmp_path, monkeypatch):
    """Return the folder in which this process makes its temporary files."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


@pytest.fixture(name="standard_input")
def make_standard_input(monkeypatch):
    """Return a function that sets what standard input holds."""

    def standard_input(content):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))

    return standard_input


def piped(*arguments, content=b"", **options):
    """Run a command in a process of its own with something on its standard input."""
    command = [*COMMAND, *map(str, arguments)]
    return subprocess.run(command, input=content, capture_output=True, check=False, **options)


def test_a_pipeline_gives_what_files_give(fitted, tmp_path):
    if not os.path.exists("/dev/stdout"):
        pytest.skip("this system has no /dev/stdout")
    table, model = fitted
    succeeds("predict", model, table, "-o", tmp_path / "out.csv", "--proba")
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    done = piped(
        "predict", model, "/dev/stdin", "-o", "/dev/stdout", "--proba",
        content=table.read_bytes(), env=environment, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout == (tmp_path / "out.csv").read_bytes()
    assert done.stderr.startswith(b"granulearn: note: 120 rows predicted (")
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]


def test_a_dash_stands_for_the_stream(fitted, tmp_path, temporary, standard_input, capfdbinary):
    table, model = fitted
    succeeds("predict", model, table, "-o", tmp_path / "out.csv", "--proba")
    standard_input(table.read_bytes())
    assert run(["predict", str(model), "-", "-o", "-", "--proba"]) == exit_codes.OK
    done = capfdbinary.readouterr()
    assert done.out == (tmp_path / "out.csv").read_bytes()
    assert done.err.startswith(b"granulearn: note: 120 rows predicted (")
    assert list(temporary.iterdir()) == []


def test_parquet_on_standard_input_is_known_by_its_first_bytes(
    fitted, tmp_path, temporary, standard_input
):
    table, model = fitted
    content = io.BytesIO()
    people().to_parquet(content)
    standard_input(content.getvalue())
    succeeds("predict", model, "-", "-o", tmp_path / "piped.csv")
    succeeds("predict", model, table, "-o", tmp_path / "out.csv")
    assert (tmp_path / "piped.csv").read_text() == (tmp_path / "out.csv").read_text()
    assert list(temporary.iterdir()) == []


@needs_pipes
def test_named_pipes_are_read_and_written(fitted, tmp_path):
    table, model = fitted
    for name in ("in", "out"):
        os.mkfifo(tmp_path / name)
    with ThreadPoolExecutor(2) as others:
        others.submit((tmp_path / "in").write_bytes, table.read_bytes())
        answers = others.submit(pd.read_csv, tmp_path / "out")
        succeeds("predict", model, tmp_path / "in", "-o", tmp_path / "out")
        assert list(answers.result(timeout=60).columns) == ["prediction"]
    assert all(stat.S_ISFIFO(path.stat().st_mode) for path in tmp_path.iterdir())


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "error: standard input is empty"),
        (b"age,city\n1,x\n", "error: standard input lacks 2 of the 3 columns"),
        ("age,income,città\nold,3,Lyon\n".encode(), "error: standard input: column 'age' held"),
        (b"PAR1\x15\x04 but no more", "error: standard input is no readable Parquet file"),
    ],
)
def test_errors_name_the_stream_and_not_the_copy(
    fitted, tmp_path, temporary, standard_input, content, said
):
    _, model = fitted
    standard_input(content)
    line = fails(exit_codes.BAD_DATA, "predict", model, "-", "-o", tmp_path / "out.csv")
    assert said in line
    assert str(temporary) not in line
    assert list(temporary.iterdir()) == []
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize(
    ("verb", "kind"),
    [("fit", "csv"), ("balls", "csv"), ("audit", "csv"), ("audit", "parquet"), ("audit", "xlsx")],
)
def test_every_verb_reads_standard_input_and_writes_what_the_file_gives(
    tmp_path, temporary, standard_input, verb, kind
):
    frame, content = people(), io.BytesIO()
    write = {"csv": frame.to_csv, "parquet": frame.to_parquet, "xlsx": frame.to_excel}[kind]
    write(content, index=False)
    table = tmp_path / f"people.{kind}"
    table.write_bytes(content.getvalue())
    options = ["-t", "label", *(["-m", "rvfl"] if verb == "fit" else [])]
    succeeds(verb, table, *options, "-o", tmp_path / "file.csv")
    standard_input(content.getvalue())
    shown = succeeds(verb, "-", *options, "-o", tmp_path / "stream.csv").out
    assert str(temporary) not in shown
    if verb == "fit":
        for name in ("file", "stream"):
            model, answers = tmp_path / f"{name}.csv", tmp_path / f"{name} answers.csv"
            succeeds("predict", model, table, "-o", answers, "--proba")
        read = [(tmp_path / f"{name} answers.csv").read_text() for name in ("file", "stream")]
    else:
        read = [(tmp_path / f"{name}.csv").read_text() for name in ("file", "stream")]
    assert read[0] == read[1]
    assert list(temporary.iterdir()) == []


def test_a_stream_is_checked_and_never_called_by_its_copy(tmp_path, temporary, standard_input):
    standard_input(people().to_csv(index=False).encode())
    facts = succeeds("check", "-", "--json").json
    assert facts["file"] == "standard input"
    assert facts["rows"] == 120
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("verb", ["predict", "export", "datasets"])
def test_two_things_are_not_mixed_on_standard_output(fitted, verb):
    table, model = fitted
    inputs = {"predict": [model, table], "export": [model], "datasets": ["export", "iris"]}
    line = fails(exit_codes.USAGE, verb, *inputs[verb], "-o", "-", "--json")
    assert "--json and --output - both write to standard output" in line


def test_a_data_set_and_a_model_can_be_written_to_standard_output(fitted, capfdbinary):
    _, model = fitted
    assert run(["datasets", "export", "iris", "-o", "-"]) == exit_codes.OK
    done = capfdbinary.readouterr()
    assert len(pd.read_csv(io.BytesIO(done.out))) == 150
    assert done.err.startswith(b"granulearn: note: iris: 150 rows")
    assert run(["export", str(model), "-o", "-"]) == exit_codes.OK
    done = capfdbinary.readouterr()
    assert onnx.load_from_string(done.out).graph.output
    assert done.err.startswith(b"granulearn: note: 500 rows compared")


@pytest.mark.parametrize("arguments", [["predict"], ["models", "--json"]], ids=lambda a: a[0])
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


@pytest.mark.skipif(sys.platform == "win32", reason="no such signals")
@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGHUP])
def test_what_is_stopped_while_it_reads_leaves_no_copy(fitted, tmp_path, stop):
    _, model = fitted
    words = ["predict", model, "-", "-o", tmp_path / "out.csv"]
    with Command(*words, asked=True, TMPDIR=str(tmp_path)) as process:
        process.stdin.write("age,income\n")
        process.stdin.flush()
        deadline = time.monotonic() + 120
        while not list(tmp_path.glob("granulearn-*/table")):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.send_signal(stop)  # for Ctrl-C see tests/end_to_end
        said = process.stderr.read()
        assert process.wait(timeout=60) == 128 + stop
    assert said == "granulearn: error: interrupted; no output was written.\n"
    assert list(tmp_path.iterdir()) == []


def test_on_a_terminal_answers_have_no_commands_and_no_bar_in_them(fitted, tmp_path):
    _, model = fitted
    evil = tmp_path / "evil.csv"
    people(3).assign(note="\x1b]0;evil\x07").to_csv(evil, index=False)
    shown = in_terminal(100, "predict", model, evil, "-o", "-", "--keep", "note")
    assert shown[0] == "note,prediction"
    assert [line.partition(",")[0] for line in shown[1:4]] == [r"\x1b]0;evil\x07"] * 3
    assert shown[4].startswith("granulearn: note: 3 rows predicted")
    assert shown[5:] == [""]


def test_what_a_terminal_gets_is_spelt_out_and_what_a_pipe_gets_is_not(tmp_path):
    ours, theirs = pty.openpty()
    tty.setraw(theirs)  # or the terminal would change ends of lines
    terminal, content = Path(os.ttyname(theirs)), "a\x9b,é\r\n\rb\n".encode() + b"\xff\n"
    assert is_terminal(terminal)
    with written_output(terminal, ".csv") as draft:
        draft.write_bytes(content)
    assert os.read(ours, 1000).decode() == "a\\x9b,é\n\\rb\n\\xff\n"
    os.close(ours)
    os.close(theirs)
    os.mkfifo(tmp_path / "pipe")
    assert not is_terminal(tmp_path / "pipe")
    with ThreadPoolExecutor(1) as others:
        read = others.submit((tmp_path / "pipe").read_bytes)
        with written_output(tmp_path / "pipe", ".csv") as draft:
            draft.write_bytes(content)
        assert read.result(timeout=60) == content
