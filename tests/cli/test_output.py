"""What is printed and written: JSON, tables, progress, streams; nothing commands a terminal."""

import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import onnx
import pandas as pd
import pytest
from rich.console import Console

from granulearn.cli import exit_codes, output
from granulearn.utils.text import visible
from tests.cli.commands import COMMAND, fails, granulearn, people, run, succeeds
from tests.cli.terminals import in_terminal
from tests.processes import Command

TITLE = "\x1b]0;owned\x07"  # sets the title of the window
TURNED = "\u202egnp.exe\u202c"  # shown from right to left
C1 = "\x9b31m"  # another way to begin a sequence
COMMANDS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def test_json_holds_numpy_numbers_and_unicode_and_null_for_what_json_lacks(capsys):
    odd = [float("nan"), {"high": np.float64("inf")}]
    output.print_json({"città": np.float64(0.5), "counts": np.array([1, 2]), "odd": odd, TITLE: C1})
    written = capsys.readouterr().out
    assert json.loads(written, parse_constant=pytest.fail) == {
        "città": 0.5, "counts": [1, 2], "odd": [None, {"high": None}], TITLE: C1,
    }  # fmt: skip
    assert not COMMANDS.search(written)


def test_a_pipe_gets_wide_tables_with_names_as_they_are(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    output.print_table("[title] :smile:", ("name", "[low]"), [("n" * 50, "[/high]"), (1, TITLE)])
    output.print_saved(None, Path("da[a]ta.csv"))
    shown = capsys.readouterr().out
    for text in ("[title] :smile:", "[low]", "n" * 50, "[/high]", "saved da[a]ta.csv"):
        assert text in shown
    lines = [line.rstrip() for line in shown.splitlines() if "[/high]" in line or "owned" in line]
    assert len({len(line) for line in lines}) == 1  # what is spelt out has its place


@pytest.mark.parametrize("terminal", [True, False])
@pytest.mark.parametrize("hidden", [True, False])
def test_progress_is_shown_on_a_terminal_and_messages_have_lines_of_their_own(
    terminal, hidden, monkeypatch
):
    # As stderr is: a text over bytes, which could be written past the text.
    written = io.BytesIO()
    screen = io.TextIOWrapper(written, encoding="utf-8", write_through=True)
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(
        output, "message_console", lambda: Console(file=screen, force_terminal=terminal, width=80)
    )
    with output.stage_progress(hidden=hidden) as progress:
        progress("reading [a].csv")
        time.sleep(0.3)
        output.note("rows are read")
    with output.row_progress(10, hidden=hidden) as progress:
        progress(4)
        time.sleep(0.3)
    shown = written.getvalue().decode()
    is_shown = terminal and not hidden
    assert ("reading [a].csv" in shown) == ("4/10" in shown) == is_shown
    line = "granulearn: note: rows are read\n"
    assert f"\r\x1b[2K{line}" in shown if is_shown else shown == line


# --- streams


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


def test_streams_give_what_files_give(fitted, tmp_path, temporary, standard_input, capfdbinary):
    table, model = fitted
    succeeds("predict", model, table, "-o", tmp_path / "out.csv", "--proba")
    standard_input(table.read_bytes())
    assert run(["predict", str(model), "-", "-o", "-", "--proba"]) == exit_codes.OK
    done = capfdbinary.readouterr()
    assert done.out == (tmp_path / "out.csv").read_bytes()
    assert done.err.startswith(b"granulearn: note: 120 rows predicted (")
    assert list(temporary.iterdir()) == []
    if os.path.exists("/dev/stdout"):
        words = [*COMMAND, "predict", model, "/dev/stdin", "-o", "/dev/stdout", "--proba"]
        real = subprocess.run(words, input=table.read_bytes(), capture_output=True, check=True)
        assert real.stdout == done.out


def test_errors_name_the_stream_and_not_the_copy(fitted, tmp_path, temporary, standard_input):
    standard_input(b"age,city\n1,x\n")
    line = fails(exit_codes.BAD_DATA, "predict", fitted[1], "-", "-o", tmp_path / "out.csv")
    assert "error: standard input lacks 2 of the 3 columns" in line
    assert list(temporary.iterdir()) == []
    assert not (tmp_path / "out.csv").exists()


def test_verbs_read_standard_input_in_any_format(tmp_path, temporary, standard_input):
    table = tmp_path / "people.parquet"
    people().to_parquet(table, index=False)
    succeeds("audit", table, "-t", "label", "-o", tmp_path / "file.csv")
    standard_input(table.read_bytes())
    succeeds("audit", "-", "-t", "label", "-o", tmp_path / "stream.csv")
    assert (tmp_path / "file.csv").read_text() == (tmp_path / "stream.csv").read_text()
    standard_input(table.read_bytes())
    assert succeeds("check", "-", "--json").json["file"] == "standard input"
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("verb", ["predict", "export", "datasets"])
def test_two_things_are_not_mixed_on_standard_output(fitted, verb):
    table, model = fitted
    inputs = {"predict": [model, table], "export": [model], "datasets": ["export", "iris"]}
    line = fails(exit_codes.USAGE, verb, *inputs[verb], "-o", "-", "--json")
    assert "--json and --output - both write to standard output" in line


def test_a_data_set_and_a_model_can_be_written_to_standard_output(fitted, capfdbinary):
    assert run(["datasets", "export", "iris", "-o", "-"]) == exit_codes.OK
    done = capfdbinary.readouterr()
    assert len(pd.read_csv(io.BytesIO(done.out))) == 150
    assert done.err.startswith(b"granulearn: note: iris: 150 rows")
    assert run(["export", str(fitted[1]), "-o", "-"]) == exit_codes.OK
    assert onnx.load_from_string(capfdbinary.readouterr().out).graph.output


@pytest.mark.skipif(sys.platform == "win32", reason="no such signals")
def test_what_is_stopped_while_it_reads_leaves_no_copy(fitted, tmp_path):
    words = ["predict", fitted[1], "-", "-o", tmp_path / "out.csv"]
    with Command(*words, asked=True, TMPDIR=str(tmp_path)) as process:
        process.stdin.write("age,income\n")
        process.stdin.flush()
        deadline = time.monotonic() + 120
        while not list(tmp_path.glob("granulearn-*/table")):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.send_signal(signal.SIGHUP)
        said = process.stderr.read()
        assert process.wait(timeout=60) == exit_codes.HUNG_UP
    assert said == "granulearn: error: interrupted; no output was written.\n"
    assert list(tmp_path.iterdir()) == []


# --- nothing in a table or a file name commands the terminal


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, ünï, 日本, 👩‍🔬 \t tab\nline", "plain, ünï, 日本, 👩‍🔬 \t tab\nline"),
        (TITLE, r"\x1b]0;owned\x07"),
        (C1, r"\x9b31m"),
        ("\x7f\r\x00\x08", r"\x7f\r\x00\x08"),
        (TURNED, r"\u202egnp.exe\u202c"),
        ("\udcff", r"\udcff"),
    ],
)
def test_control_characters_are_spelt_out_and_all_else_stays(text, shown):
    assert visible(text) == shown
    assert visible(shown) == shown


def test_answers_on_a_terminal_are_spelt_out(tmp_path, fitted):
    evil = tmp_path / "evil.csv"
    people(3).assign(note=TITLE).to_csv(evil, index=False)
    shown = in_terminal(100, "predict", fitted[1], evil, "-o", "-", "--keep", "note")
    assert [line.partition(",")[0] for line in shown[:4]] == ["note", *[visible(TITLE)] * 3]
    assert shown[4].startswith("granulearn: note: 3 rows predicted")


def evil_table(folder):
    """Write a table with commands in its name, its columns, its labels and its cells."""
    path = folder / f"evil{TITLE}{TURNED}.csv"
    rng = np.random.default_rng(0)
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow([f"size{TITLE}", f"colour{TURNED}", f"same{C1}", f"label{TITLE}"])
        for is_b in rng.integers(2, size=60):
            colour = rng.choice([f"red{TITLE}", f"blue{C1}", "green"])
            name = f"b{TURNED}{TITLE}" if is_b else f"a{C1}"
            rows.writerow([rng.normal() + 2 * is_b, colour, f"x{TITLE}", name])
    return path, f"label{TITLE}"


@pytest.mark.slow
def test_no_verb_passes_commands_on_to_the_terminal(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table, target = evil_table(tmp_path)
    model, named = tmp_path / f"model{TITLE}.granulearn", [table, "--target", target]
    suspects = tmp_path / f"suspects{C1}.csv"
    codes = []
    for arguments in [
        ["check", *named],
        ["check", *named, "--json"],
        ["check", table, "--target", f"no{TITLE}"],
        ["audit", *named, "-o", suspects],
        ["audit", *named, "--decisions", table],
        ["fit", *named, "--model", "rvfl", "-o", model],
        ["fit", *named, "--model", f"rv{TITLE}", "-o", model],
        ["predict", model, table, "-o", tmp_path / f"out{TITLE}.csv", "--keep", f"no{C1}"],
        ["predict", model, table, "-o", tmp_path / f"out{TITLE}.csv"],
        ["predict", table, table, "-o", tmp_path / "out.csv"],
        ["balls", *named, "-o", tmp_path / f"balls{TITLE}.csv"],
        ["export", model, "-o", tmp_path / f"model{TITLE}.onnx"],
        ["correct", table, "--decisions", suspects, "-o", tmp_path / f"clean{TITLE}.csv"],
        ["decisions", "merge", suspects, table, "-o", tmp_path / f"merged{C1}.csv"],
        ["datasets", "export", f"crx{TITLE}", "-o", tmp_path / "crx.csv"],
        ["report", table, "-o", tmp_path / "report.html"],
        ["bench", f"study{TITLE}.toml"],
        [f"verb{TITLE}"],
    ]:
        done = granulearn(*arguments)
        codes.append(done.code)
        assert not COMMANDS.search(done.out + done.err), (arguments[0], done.out, done.err)
        assert "unexpected" not in done.err, (arguments[0], done.err)
        assert done.out + done.err
    assert codes.count(0) > 5
