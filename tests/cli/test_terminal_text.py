"""Nothing in a table or a file name commands the terminal."""

import csv
import json
import re

import numpy as np
import pytest

from granulearn.cli.output import console
from granulearn.cli.terminal_text import visible, visible_in_json
from tests.cli.commands import granulearn, succeeds

TITLE = "\x1b]0;owned\x07"  # sets the title of the window
TURNED = "\u202egnp.exe\u202c"  # shown from right to left
C1 = "\x9b31m"  # another way to begin a sequence
COMMANDS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


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
def test_what_commands_a_terminal_is_spelt_out_and_all_else_stays(text, shown):
    assert visible(text) == shown
    assert visible(shown) == shown


@pytest.mark.parametrize("text", [TITLE, C1, TURNED, "\x7f", "ünï\n\\"])
def test_json_stays_the_same_value(text):
    written = visible_in_json(json.dumps({text: text}, ensure_ascii=False))
    assert json.loads(written) == {text: text}
    assert not COMMANDS.search(written)


def test_a_cell_of_a_printed_table_keeps_its_place(capsys):
    from granulearn.cli.output import table

    grid = table("a table", "name", "count")
    grid.add_row(TITLE, "1")
    grid.add_row("plain", "2")
    console().print(grid)
    lines = capsys.readouterr().out.splitlines()
    (first,), (second,) = ([line for line in lines if end in line] for end in ("owned", "plain"))
    assert first.index("1", first.index("x07") + 4) == second.index("2")


@pytest.fixture(scope="module")
def evil(tmp_path_factory):
    """Return a table with commands in its name, its columns, its labels and its cells."""
    folder = tmp_path_factory.mktemp(f"folder{C1}")
    path = folder / f"evil{TITLE}{TURNED}.csv"
    rng = np.random.default_rng(0)
    label = rng.integers(2, size=60)
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow([f"size{TITLE}", f"colour{TURNED}", f"same{C1}", f"label{TITLE}"])
        for is_b in label:
            colour = rng.choice([f"red{TITLE}", f"blue{C1}", "green"])
            name = f"b{TURNED}{TITLE}" if is_b else f"a{C1}"
            rows.writerow([rng.normal() + 2 * is_b, colour, f"x{TITLE}", name])
    return path, f"label{TITLE}"


def verbs(table, target, folder):
    model = folder / f"model{TITLE}.skops"
    named = [table, "--target", target]
    suspects = folder / f"suspects{C1}.csv"
    return [
        ["check", *named],
        ["check", *named, "--json"],
        ["check", table, "--target", f"no{TITLE}"],
        ["audit", *named, "-o", suspects],
        ["audit", *named, "--group", f"no{TITLE}"],
        ["audit", *named, "--decisions", table],
        ["fit", *named, "--model", "rvfl", "-o", model],
        ["fit", *named, "--model", "rvfl", "-o", model, "--json"],
        ["fit", *named, "--model", f"rv{TITLE}", "-o", model],
        ["fit", *named, "-o", folder / f"no{TITLE}" / "model.skops"],
        ["predict", model, table, "-o", folder / f"out{TITLE}.csv", "--keep", f"no{C1}"],
        ["predict", model, table, "-o", folder / f"out{TITLE}.csv"],
        ["predict", table, table, "-o", folder / "out.csv"],
        ["balls", *named, "-o", folder / f"balls{TITLE}.csv"],
        ["export", model, "-o", folder / f"model{TITLE}.onnx"],
        ["correct", table, "--decisions", suspects, "-o", folder / f"clean{TITLE}.csv"],
        ["decisions", "merge", suspects, table, "-o", folder / f"merged{C1}.csv"],
        ["datasets", "export", f"crx{TITLE}", "-o", folder / "crx.csv"],
        ["report", table, "-o", folder / "report.html"],
        ["bench", f"study{TITLE}.toml"],
        [f"verb{TITLE}"],
        ["check", f"--option{TITLE}"],
    ]


@pytest.mark.slow
def test_no_verb_passes_commands_on_to_the_terminal(evil, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    codes = []
    for arguments in verbs(*evil, tmp_path):
        done = granulearn(*arguments)
        codes.append(done.code)
        assert not COMMANDS.search(done.out), (arguments[0], done.out)
        assert not COMMANDS.search(done.err), (arguments[0], done.err)
        assert "unexpected" not in done.err, (arguments[0], done.err)
        assert done.out + done.err
    assert 0 in codes


def test_json_gives_the_names_as_they_are(evil):
    table, target = evil
    found = succeeds("check", table, "--target", target, "--json").json
    assert f"size{TITLE}" in [column["name"] for column in found["columns"]]
