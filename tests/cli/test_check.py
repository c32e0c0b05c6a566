"""`granulearn check` and the reports about tables: everything is said, nothing is written."""

import os

import pandas as pd
import pytest

from granulearn.cli import check, exit_codes
from granulearn.tables import ColumnOptions, inspect_table, open_table
from tests.cli.commands import granulearn, people, succeeds, write_people
from tests.cli.terminals import in_terminal
from tests.processes import Command

COLUMN_FACTS = {
    "name", "type", "becomes", "dropped", "unit", "missing", "distinct", "examples", "warnings",
    "failures", "n_failures", "options",
}  # fmt: skip
LONG = "a_name_that_is_as_long_as_some_people_make_them_in_their_tables"


@pytest.fixture(name="strange", scope="module")
def write_strange(tmp_path_factory):
    """Return a table with one column of each kind that is treated in a special way."""
    frame = people(200)
    frame["id"] = [f"K{k:05d}" for k in range(200)]
    frame["price"] = [f"{1 + k % 90}.169,00 €" for k in range(200)]
    frame.loc[3, "price"] = "on demand"
    frame["since"] = [f"{1 + k % 28:02d}.03.2021" for k in range(200)]
    frame["either"] = [f"{1 + k % 12:02d}/{1 + k % 11:02d}/2021" for k in range(200)]
    frame["country"] = "AT"
    frame["code"] = frame["label"].map({"yes": 1, "no": 2})
    frame[LONG] = [["[/red]", ":smile:", "?"][k % 3] for k in range(200)]
    frame.loc[5, "label"] = "YES"
    path = tmp_path_factory.mktemp("check") / "strange.csv"
    frame.to_csv(path, index=False)
    return path


def test_each_column_is_told_with_what_it_becomes_and_the_flag_that_changes_it(strange):
    facts = succeeds("check", strange, "-t", "label", "--json").json
    columns = {column["name"]: column for column in facts["columns"]}
    assert all(set(column) == COLUMN_FACTS for column in columns.values())
    found = {name: (c["type"], c["dropped"], c["options"]) for name, c in columns.items()}
    assert found == {
        "age": ("number", "", "--categorical age"),
        "income": ("number", "", "--categorical income"),
        "città": ("category", "", "--ignore città"),
        "id": ("text", "ID", "--include id"),
        "price": ("number", "", "--categorical price"),
        "since": ("date", "", "--ignore since"),
        "either": ("date", "ambiguous date", "--day-first or --month-first"),
        "country": ("category", "constant", "--include country"),
        "code": ("number", "target leakage", "--include code"),
        LONG: ("category", "", f"--ignore {LONG}"),
    }
    assert columns["price"]["unit"] == "€"
    assert columns["price"]["failures"] == [{"row": 4, "location": "line 5", "cell": "on demand"}]
    assert columns["income"]["missing"] == {"": int(people(200)["income"].isna().sum())}
    assert facts["target"]["joined"]["yes"]["YES"] == 1
    assert (facts["rows"], facts["problems"]) == (200, [])
    options = {
        "--include": ["id", "country", "code"],
        "--categorical": ["age", "income", "price"],
        "--ignore": ["città", "since", LONG],
    }
    given = [part for option, names in options.items() for name in names for part in (option, name)]
    after = succeeds("check", strange, "-t", "label", "--json", "--day-first", *given).json
    for old, new in zip(facts["columns"], after["columns"], strict=True):
        assert (old["type"], old["becomes"]) != (new["type"], new["becomes"]), old["name"]


def test_people_are_shown_the_same_and_warned_on_stderr_and_nothing_is_written(strange):
    done = succeeds("check", strange, "-t", "label")
    assert "strange.csv: 200 rows, 11 columns" in done.out
    assert "label, the target: 2 classes: no (" in done.out
    for found in ("dropped: ID", "dropped: constant", "a number of €", "'on demand' at line 5"):
        assert found in done.out
    warnings = done.err.splitlines()
    assert all(line.startswith("granulearn: warning: ") for line in warnings)
    assert any("'yes' = 'yes' (" in line for line in warnings)
    assert any("the target" in line and "code" in line for line in warnings)
    assert list(strange.parent.iterdir()) == [strange]


def test_a_narrow_terminal_gets_lines_that_fit_and_nothing_is_cut(strange):
    lines = in_terminal(80, "check", strange, "-t", "label")
    ours = [line for line in lines if not line.startswith("granulearn: ")]
    start = next(k for k, line in enumerate(lines) if line.startswith("strange.csv"))
    assert max(map(len, ours[start : start + 20])) <= 80
    text = " ".join(" ".join(lines).split())
    for whole in ("--categorical", "--include", "--month-first", "1.169,00 €", "[/red], :smile:"):
        assert whole in text
    assert "id: text; dropped: ID (--include)" in lines


def test_all_problems_are_named_after_the_report_and_the_exit_code_is_3(tmp_path):
    table = write_people(tmp_path)
    wrong = ["-t", "lable", "--ignore", "agee", "--include", "cittá"]
    done = granulearn("check", table, *wrong)
    assert done.code == exit_codes.BAD_DATA
    assert "people.csv: 120 rows, 4 columns" in done.out
    names = ("'lable' (--target)", "'agee' (--ig", "'cittá' (--in")
    for line, name in zip(done.err.splitlines(), names, strict=True):
        assert line.startswith(f"granulearn: error: {table}: There is no column {name}")
    as_json = granulearn("check", table, *wrong, "--json")
    assert as_json.code == exit_codes.BAD_DATA
    assert len(as_json.json["problems"]) == 3


def test_of_a_wide_table_odd_columns_are_shown_and_the_others_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(check, "SHOWN_COLUMNS", 30)
    cells = {f"c{p}": [(k * 7 + p * 13) % 50 / 10 for k in range(12)] for p in range(39)}
    frame = pd.DataFrame({**cells, "c39": 7, "label": list("ab" * 6)})
    path = tmp_path / "wide.csv"
    frame.to_csv(path, index=False)
    out = succeeds("check", path, "-t", "label").out
    assert "and 10 more columns; --json has them all" in out
    assert "c39 " in out
    assert "c38 " not in out
    assert len(succeeds("check", path, "-t", "label", "--json").json["columns"]) == 40


# --- the short form


def short_lines(capsys, path, **options):
    """Return the lines that other verbs print about a table."""
    with open_table(path) as file:
        check.show_short(inspect_table(file, "label", ColumnOptions(**options)), file.location)
    return capsys.readouterr().out.splitlines()


def test_the_short_form_has_a_line_for_what_was_left_out_parsed_odd_and_missing(strange, capsys):
    lines = short_lines(capsys, strange)
    assert lines[0].startswith("dropped: id (ID), either (ambiguous date), country (constant)")
    assert "; to use one anyway: --include NAME" in " ".join(line.strip() for line in lines[:2])
    assert "read as: price (numbers of €, decimal comma), since (date)" in lines
    text = "\n".join(lines)
    assert "price: 1 cell " in text
    assert "'on demand' at line 5" in text
    assert "--day-first or --month-first says which" in text
    assert lines[-1].startswith("missing: ")
    ignored = short_lines(capsys, strange, ignore=("id", "either", "country", "code"))
    assert not any("dropped" in line for line in ignored)


def test_the_short_form_of_a_plain_table_is_empty(tmp_path, capsys):
    rows = "".join(f"{k * 7 % 31},{k % 2}\n" for k in range(60))
    (tmp_path / "plain.csv").write_text("x,label\n" + rows)
    assert short_lines(capsys, tmp_path / "plain.csv") == []


def test_the_short_form_stays_short(tmp_path, capsys):
    odd = {f"x{k}": ["n.b.", f"{k}", f"{k + 1}"] * 20 for k in range(60)}
    constant = dict.fromkeys([f"c{k}" for k in range(60)], 1)
    frame = pd.DataFrame({**odd, **constant, "label": [0, 1] * 30})
    frame.to_csv(tmp_path / "wide.csv", index=False)
    lines = short_lines(capsys, tmp_path / "wide.csv")
    assert "and 50 more; to use one anyway: --include" in " ".join(lines)
    assert any("more warnings; granulearn check lists them" in line for line in lines)
    assert len(lines) < 25


def test_a_pipe_is_waited_for_in_words(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with Command("check", tmp_path / "pipe", "-t", "label") as command:
        assert command.stderr.readline().startswith("granulearn: note: waiting for a table")
        (tmp_path / "pipe").write_text(people().to_csv(index=False))
        out, err = command.communicate(timeout=60)
    assert command.returncode == 0, err
    assert "120 rows" in out
