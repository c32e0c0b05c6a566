"""What a user can say about a table: the same options in every verb, columns completed."""

import gzip
import inspect
import io
from pathlib import Path

import pandas as pd
import pytest

from granulearn.cli import exit_codes
from granulearn.cli.table_options import (
    AskedTable,
    column_names,
    takes_file_options,
    takes_table_options,
)
from granulearn.tables import ColumnOptions, ReadOptions
from tests.cli.commands import fails, succeeds

ABOUT_FILES = ["encoding", "sheet", "separator"]
ABOUT_COLUMNS = ["categorical", "ignore", "include", "decimal", "day_first", "exact_labels"]
FRAME = pd.DataFrame({"age": [1, 2], "agent, name": ["x", "y"], "größe": [3, 4], "label": [0, 1]})


class Unfinished:
    """What typer knows of a command that is still being typed."""

    def __init__(self, table=None, args=()):
        self.params = {"table": table}
        self.args = list(args)


def _text(separator=",", encoding="utf-8"):
    return FRAME.to_csv(index=False, sep=separator).encode(encoding)


def _in_memory(write, **options):
    content = io.BytesIO()
    write(content, **options)
    return content.getvalue()


FORMATS = {
    "t.csv": _text(),
    "excel.csv": _text(";", "utf-8-sig"),
    "t.tsv": _text("\t"),
    "bars.txt": _text("|"),
    "old.csv": _text(";", "cp1252"),
    "wide.csv": _text("\t", "utf-16"),
    "t.csv.gz": gzip.compress(_text()),
    "t.parquet": _in_memory(FRAME.to_parquet),
    "t.feather": _in_memory(FRAME.to_feather),
    "t.xlsx": _in_memory(FRAME.to_excel, index=False),
    "t.ods": _in_memory(FRAME.to_excel, index=False, engine="odf"),
    "t.jsonl": FRAME.to_json(orient="records", lines=True, force_ascii=False).encode(),
}


@pytest.mark.parametrize("name", FORMATS)
def test_columns_are_completed_from_the_header_of_any_format(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(FORMATS[name])
    assert column_names(Unfinished(path), "") == list(FRAME)
    assert column_names(Unfinished(path), "ag") == ["age", "agent, name"]
    assert column_names(Unfinished(None, [str(path)]), "gr") == ["größe"]


@pytest.mark.parametrize("content", [None, b"", b"\xff\xfe", b"PK\x03\x04", b"PAR1", b"\x1f\x8b"])
def test_completion_is_silent_about_files_it_cannot_read(tmp_path, content):
    path = tmp_path / "t.csv"
    if content is not None:
        path.write_bytes(content)
    assert column_names(Unfinished(path), "") == []


def test_completion_does_not_wait_for_standard_input_or_for_a_table(tmp_path):
    assert column_names(Unfinished(Path("-")), "") == []
    assert column_names(Unfinished(), "") == []


def test_a_model_before_the_table_is_no_table(tmp_path, fitted):
    table, model = fitted
    arguments = [str(model), str(table)]
    assert column_names(Unfinished(None, arguments), "") == ["age", "income", "città", "label"]


def test_verbs_get_the_options_and_hand_on_what_was_said():
    @takes_table_options
    def learn(table: Path, *, asked: AskedTable):
        return table, asked.reading, asked.options

    @takes_file_options
    def read(table: Path, *, asked: AskedTable):
        return table, asked.reading

    assert list(inspect.signature(learn).parameters) == ["table", *ABOUT_COLUMNS, *ABOUT_FILES]
    assert list(inspect.signature(read).parameters) == ["table", *ABOUT_FILES]
    unsaid = dict.fromkeys(ABOUT_FILES)
    assert read(Path("t"), **unsaid) == (Path("t"), ReadOptions())
    said = dict.fromkeys([*ABOUT_COLUMNS, *ABOUT_FILES]) | {"exact_labels": False}
    assert learn(Path("t"), **said)[1:] == (ReadOptions(), ColumnOptions())
    said |= {"ignore": ["a", "b"], "day_first": False, "decimal": ",", "separator": "tab"}
    said |= {"categorical": ["c"], "include": ["d"], "exact_labels": True, "sheet": "2"}
    _, reading, options = learn(Path("t"), **said)
    assert reading == ReadOptions(sheet="2", separator="\t")
    assert options == ColumnOptions(("c",), ("a", "b"), ("d",), ",", False, exact_labels=True)


@pytest.mark.parametrize("verb", ["check", "fit", "audit", "balls", "predict"])
def test_help_lists_the_options_of_tables_together(verb):
    shown = succeeds(verb, "--help").out
    names = ABOUT_FILES + (ABOUT_COLUMNS if verb != "predict" else [])
    panel = shown[shown.index("How the table is read") :]
    for name in names:
        assert f"--{name.replace('_', '-')}" in panel


def test_a_sign_of_decimals_is_a_point_or_a_comma(tmp_path):
    line = fails(exit_codes.USAGE, "check", "t.csv", "--decimal", ";")
    assert "';' is neither . nor , ." in line


@pytest.mark.parametrize(
    ("cells", "option", "becomes"),
    [
        (["1,525", "2,250", "3,100"], ["--decimal", ","], "a number"),
        (["01/02/2020", "03/04/2021", "05/06/2022"], ["--month-first"], "year, month"),
        (["1", "2", "1"], ["--categorical", "x"], "a category"),
    ],
)
def test_what_cells_leave_open_can_be_said(tmp_path, cells, option, becomes):
    rows = "".join(f"{cell};{k % 7};{k % 2}\n" for k, cell in enumerate(cells * 10))
    (tmp_path / "t.csv").write_text(f"x;other;label\n{rows}")
    command = ["check", tmp_path / "t.csv", "-t", "label", "--json"]
    before = succeeds(*command).json["columns"][0]
    after = succeeds(*command, *option).json["columns"][0]
    assert after["becomes"].startswith(becomes)
    assert before != after


def test_where_all_columns_are_left_out_the_flag_that_helps_is_named(tmp_path):
    rows = "".join(f"{1 + k % 12:02d}/{1 + k % 11:02d}/2021;{k % 2}\n" for k in range(40))
    (tmp_path / "t.csv").write_text(f"when;label\n{rows}")
    options = ["-t", "label", "-m", "rvfl", "-o", tmp_path / "m.skops"]
    line = fails(exit_codes.BAD_DATA, "fit", tmp_path / "t.csv", *options)
    assert "'when' (ambiguous date); pass --day-first or --month-first, or add columns" in line
    succeeds("fit", tmp_path / "t.csv", *options, "--day-first")


@pytest.mark.parametrize(
    ("content", "option"),
    [
        ("größe#label\n1#a\n2#b\n", ["--separator", "#"]),
        ("größe\tx;y\tlabel\n1\t2;3\ta\n2\t3;4\tb\n", ["--separator", "\\t"]),
        ("größe\tx;y\tlabel\n1\t2;3\ta\n2\t3;4\tb\n", ["--separator", "tab"]),
    ],
)
def test_the_separator_can_be_said(tmp_path, content, option):
    (tmp_path / "t.csv").write_text(content, encoding="utf-8")
    facts = succeeds("check", tmp_path / "t.csv", "-t", "label", "--json", *option).json
    header = content.splitlines()[0].split("#" if "#" in content else "\t")
    assert [column["name"] for column in facts["columns"]] == header[:-1]


def test_the_encoding_and_the_sheet_can_be_said(tmp_path):
    (tmp_path / "t.csv").write_bytes("größe,label\n1,a\n2,b\n".encode("cp850"))
    facts = succeeds("check", tmp_path / "t.csv", "--encoding", "cp850", "--json").json
    assert facts["columns"][0]["name"] == "größe"
    with pd.ExcelWriter(tmp_path / "t.xlsx") as book:
        FRAME[["age"]].to_excel(book, sheet_name="first", index=False)
        FRAME[["größe"]].to_excel(book, sheet_name="second", index=False)
    for sheet in ("second", "2"):
        facts = succeeds("check", tmp_path / "t.xlsx", "--sheet", sheet, "--json").json
        assert [column["name"] for column in facts["columns"]] == ["größe"]
    assert "third" in fails(exit_codes.BAD_DATA, "check", tmp_path / "t.xlsx", "--sheet", "third")
