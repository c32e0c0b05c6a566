"""Options that verbs share: completion, what they say about a table, checks of paths."""

import dataclasses
import logging
import os
import shlex
from contextlib import nullcontext
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from granulearn.cli import exit_codes, options
from granulearn.cli.application import load_verb
from granulearn.cli.exit_codes import UsageError
from granulearn.cli.options import FileOptions, TableOptions, column_names
from granulearn.cli.output import flag, in_flags, option_of, quoted
from granulearn.tables import ColumnOptions, ReadOptions
from granulearn.tables.messages import Message, Setting
from tests.cli.commands import fails, succeeds

FRAME = pd.DataFrame({"age": [1, 2], "agent, name": ["x", "y"], "größe": [3, 4], "label": [0, 1]})


class Unfinished:
    """What typer knows of a command that is still being typed."""

    def __init__(self, table=None, args=()):
        self.params = {"table": table}
        self.args = list(args)


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.xlsx"])
def test_columns_are_completed_from_the_header_of_a_table(tmp_path, name, fitted):
    path = tmp_path / name
    write = {".csv": FRAME.to_csv, ".parquet": FRAME.to_parquet, ".xlsx": FRAME.to_excel}
    write[path.suffix](path, index=False)
    assert column_names(Unfinished(path), "") == list(FRAME)
    assert column_names(Unfinished(path), "ag") == ["age", "agent, name"]
    # Of `predict` the first argument is a model.
    assert column_names(Unfinished(None, [str(fitted[1]), str(path)]), "gr") == ["größe"]


@pytest.mark.parametrize("content", [None, b"", b"\xff\xfe", b"PK\x03\x04", b"PAR1", b"\x1f\x8b"])
def test_completion_is_silent_about_files_it_cannot_read(tmp_path, content):
    path = tmp_path / "t.csv"
    if content is not None:
        path.write_bytes(content)
    assert column_names(Unfinished(path), "") == []
    assert column_names(Unfinished(Path("-")), "") == []


def test_what_was_said_becomes_read_and_column_options():
    assert TableOptions().read_options == ReadOptions()
    assert TableOptions().columns == ColumnOptions()
    said = TableOptions(
        categorical=["c"], ignore=["a", "b"], include=["d"], decimal=",", day_first=False,
        exact_labels=True, sheet="2", separator="tab",
    )  # fmt: skip
    assert said.read_options == ReadOptions(sheet="2", separator="\t")
    assert said.columns == ColumnOptions(("c",), ("a", "b"), ("d",), ",", False, exact_labels=True)


@pytest.mark.parametrize(
    ("verb", "kinds"),
    [(verb, (ReadOptions, ColumnOptions)) for verb in ("check", "fit", "audit", "review", "balls")]
    + [("predict", (ReadOptions,)), ("correct", (ReadOptions,))],
)
def test_every_setting_about_tables_is_an_option_of_every_verb_that_reads_one(verb, kinds):
    known = {option for parameter in load_verb(verb).params for option in parameter.opts}
    said = {option_of(Setting(f.name)) for kind in kinds for f in dataclasses.fields(kind)}
    assert said <= known


@pytest.mark.parametrize(
    ("setting", "text"),
    [
        (Setting("ignore", ("a", "b c")), "--ignore a --ignore 'b c'"),
        (Setting("encoding", "cp1252"), "--encoding cp1252"),
        (Setting("exact_labels", True), "--exact-labels"),
        (Setting("day_first", False), "--month-first"),
        (Setting("ignore", ("größe",)), "--ignore größe"),
        (Setting("separator", ","), "--separator ,"),
        (Setting("test", 0), "--test 0"),
        (Setting("sheet"), "--sheet"),
    ],
)
def test_a_setting_is_said_as_it_is_typed(setting, text):
    assert flag(setting) == text
    assert in_flags(Message("Pass ", setting, ".")) == f"Pass {text}."


@given(st.text(min_size=1, max_size=12))
def test_a_quoted_name_is_one_word_of_a_shell(name):
    assert shlex.split(quoted(name)) == [name]


def test_separator_encoding_and_sheet_can_be_said(tmp_path):
    def names(table, *said):
        facts = succeeds("check", tmp_path / table, "--json", *said).json
        return [column["name"] for column in facts["columns"]]

    (tmp_path / "t.csv").write_bytes("größe\tx;y\n1\t2;3\n2\t3;4\n".encode("cp850"))
    assert names("t.csv", "--encoding", "cp850", "--separator", "\\t") == ["größe", "x;y"]
    with pd.ExcelWriter(tmp_path / "t.xlsx") as book:
        FRAME[["age"]].to_excel(book, sheet_name="first", index=False)
        FRAME[["größe"]].to_excel(book, sheet_name="second", index=False)
    assert names("t.xlsx", "--sheet", "second") == names("t.xlsx", "--sheet", "2") == ["größe"]
    assert "third" in fails(exit_codes.BAD_DATA, "check", tmp_path / "t.xlsx", "--sheet", "third")
    with FileOptions(sheet="second").open(tmp_path / "t.xlsx") as file:
        assert list(file.names) == ["größe"]


@pytest.mark.parametrize(
    "verb",
    [
        ["fit", "TABLE", "-t", "label", "--decisions", "DECISIONS", "-o"],
        ["audit", "TABLE", "-t", "label", "--decisions", "DECISIONS", "-o"],
        ["audit", "TABLE", "-t", "label", "--decisions", "DECISIONS", "--report"],
        ["balls", "TABLE", "-t", "label", "-o"],
        ["predict", "MODEL", "TABLE", "-o"],
        ["correct", "TABLE", "--decisions", "DECISIONS", "-o"],
        ["decisions", "merge", "DECISIONS", "-o"],
        ["export", "MODEL", "-o"],
    ],
    ids=lambda verb: f"{verb[0]} {verb[-1]}",
)
def test_every_verb_refuses_an_output_that_cannot_be_written_before_its_work(
    fitted, tmp_path, monkeypatch, verb
):
    monkeypatch.chdir(tmp_path)
    inputs = {"TABLE": "t.csv", "MODEL": "m.granulearn", "DECISIONS": "d.csv"}
    contents = [fitted[0].read_bytes(), fitted[1].read_bytes(), b"row,decision\n1,keep\n"]
    for name, content in zip(inputs.values(), contents, strict=True):
        Path(name).write_bytes(content)
    command = [inputs.get(word, word) for word in verb]
    for name in inputs.values():
        if name in command:
            said = fails(exit_codes.USAGE, *command, name)
            assert "is also an input" in said or "ends in '.granulearn'" in said
    assert "does not exist" in fails(exit_codes.NOT_WRITTEN, *command, "none/x.csv")
    assert [Path(name).read_bytes() for name in inputs.values()] == contents
    assert len(list(tmp_path.iterdir())) == 3


def test_an_output_that_cannot_be_written_is_refused_before_the_work(tmp_path, monkeypatch):
    check, csv = options.check_output, tmp_path / "t.csv"
    check(None, ".csv")
    check(tmp_path / "new.CSV", ".csv", ".parquet", others=(None, csv))
    check(Path(os.devnull), ".csv")
    check(Path("-"), ".csv", json=False)
    for path, others in ((tmp_path / "x" / ".." / "t.csv", [csv]), (csv, (None, csv))):
        with pytest.raises(UsageError, match="is also an input or another output"):
            check(path, others=others)
    with pytest.raises(UsageError, match=r"'.parquet'; use .csv or .tsv"):
        check(tmp_path / "x.parquet", ".csv", ".tsv")
    with pytest.raises(UsageError, match="both write to standard output"):
        check(Path("-"), json=True)
    with pytest.raises(IsADirectoryError, match="name a file in it"):
        check(tmp_path)
    (tmp_path / "link.csv").symlink_to(tmp_path / "none" / "x.csv")
    for path in (tmp_path / "none" / "x.csv", tmp_path / "link.csv"):
        with pytest.raises(FileNotFoundError, match="does not exist; make it first"):
            check(path)
    # Rights of folders mean nothing to the superuser, who may run the tests.
    monkeypatch.setattr(options.os, "access", lambda path, mode: False)
    with pytest.raises(PermissionError, match="cannot be written to"):
        check(tmp_path / "x.csv")


def test_a_cluster_says_nothing_of_its_own(monkeypatch):
    monkeypatch.setattr("granulearn.dask.open_client", lambda *_: nullcontext())
    named = [logging.getLogger(name) for name in ("distributed", "distributed.client")]
    levels = [logger.level for logger in named]
    stages = []
    try:
        for logger in named:
            logger.setLevel(logging.INFO)
        with options.cluster("tcp://10.0.0.1:8786", stages.append):
            for logger in (*named, logging.getLogger("distributed.core")):
                assert not logger.isEnabledFor(logging.ERROR)
    finally:
        for logger, level in zip(named, levels, strict=True):
            logger.setLevel(level)
    assert stages == ["connecting to the cluster"]


def test_directories_and_files_above_a_share_of_memory_are_large(tmp_path, monkeypatch):
    file = tmp_path / "t.xlsx"
    file.write_bytes(b"a,b\n1,2\n")
    assert options.is_large(tmp_path)
    assert not options.is_large(file)
    assert not options.is_large(tmp_path / "absent.csv")
    monkeypatch.setattr(options, "LARGE_SHARE", 1e-15)
    assert not options.is_large(file), "it is small on any machine"
    monkeypatch.setattr(options, "SMALL_BYTES", 1)
    assert options.is_large(file)
