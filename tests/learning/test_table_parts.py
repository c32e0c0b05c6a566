"""Tables in parts: together the parts are the table."""

import os
import sys

import numpy as np
import pandas as pd
import pytest

from granulearn.datasets import TableError
from granulearn.learning import table_parts
from granulearn.learning.table_parts import is_large, open_parts
from tests.cli.commands import people


def joined(parts, names):
    """Return the columns of all parts, as text."""
    pieces = [part.read(names) for part in parts.parts]
    return {name: [cell for piece in pieces for cell in piece[name].to_pylist()] for name in names}


@pytest.mark.parametrize("part_bytes", [1, 100, 10**6])
@pytest.mark.parametrize("last_newline", [True, False])
def test_the_parts_of_a_csv_file_are_its_rows(tmp_path, monkeypatch, part_bytes, last_newline):
    monkeypatch.setattr(table_parts, "CSV_PART_BYTES", part_bytes)
    path = tmp_path / "t.csv"
    rows = [f"{number};a {number}" for number in range(40)]
    text = "\ufeff\n number ;text\n" + "\n".join(rows) + ("\n" if last_newline else "")
    path.write_text(text, encoding="utf-8")
    parts = open_parts(path)
    assert parts.names == ["number", "text"]
    assert (len(parts.parts) > 1) == (part_bytes < 10**6)
    assert joined(parts, ["text", "number"]) == {
        "text": [f"a {number}" for number in range(40)],
        "number": [str(number) for number in range(40)],
    }


def test_the_parts_of_a_directory_are_the_row_groups_of_its_files(tmp_path):
    frame = people()
    (tmp_path / "later").mkdir()
    frame[:70].to_parquet(tmp_path / "a.parquet", row_group_size=30)
    frame[70:].to_parquet(tmp_path / "later" / "b.pq")
    (tmp_path / "_metadata.parquet").write_bytes(b"no table")
    for name in ("_temporary", ".cache", "folder.parquet"):
        (tmp_path / name).mkdir()
    (tmp_path / "_temporary" / "c.parquet").write_bytes(b"no table")
    (tmp_path / ".cache" / "d.parquet").write_bytes(b"no table")
    (tmp_path / "read me.txt").write_text("no table")
    parts = open_parts(tmp_path)
    assert len(parts.parts) == 4
    assert joined(parts, ["label"])["label"] == frame["label"].tolist()
    assert open_parts(tmp_path / "a.parquet").parts == parts.parts[:3]


def test_a_directory_may_itself_stand_below_hidden_ones(tmp_path):
    folder = tmp_path / ".hidden" / "year=2020"
    folder.mkdir(parents=True)
    people().to_parquet(folder / "a.parquet")
    assert len(open_parts(folder).parts) == 1


def test_a_column_that_stands_only_in_names_of_folders_is_named(tmp_path):
    people().assign(year=2020).to_parquet(tmp_path, partition_cols=["year"])
    with pytest.raises(TableError, match="column 'year' stands only in the name of the folder"):
        open_parts(tmp_path)
    people().assign(year=2020).to_parquet(next(tmp_path.rglob("*.parquet")))
    assert "year" in open_parts(tmp_path).names


def test_files_of_different_columns_are_named(tmp_path):
    pd.DataFrame({"a": [1], "b": [2]}).to_parquet(tmp_path / "1.parquet")
    pd.DataFrame({"a": [1], "c": [2]}).to_parquet(tmp_path / "2.parquet")
    with pytest.raises(TableError, match=r"2\.parquet and .*1\.parquet differ in the columns \['b"):
        open_parts(tmp_path)


def test_a_directory_without_tables_and_other_endings_are_refused(tmp_path):
    with pytest.raises(TableError, match="a directory without Parquet files"):
        open_parts(tmp_path)
    (tmp_path / "t.xlsx").write_bytes(b"PK")
    with pytest.raises(TableError, match=r"ends in '\.xlsx'"):
        open_parts(tmp_path / "t.xlsx")


def test_a_row_of_another_length_is_told_with_its_place(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n1,2,3\n")
    (part,) = open_parts(path).parts
    with pytest.raises(TableError, match=r"t\.csv, bytes 4 to 14: .*Expected 2 columns, got 3"):
        part.read(["a"])


def test_a_damaged_row_group_is_told_with_its_file(tmp_path):
    path = tmp_path / "t.parquet"
    pd.DataFrame({"a": np.arange(10_000)}).to_parquet(path)
    (part,) = open_parts(path).parts
    content = bytearray(path.read_bytes())
    content[4:3000] = bytes(2996)
    path.write_bytes(content)
    with pytest.raises(TableError, match=r"t\.parquet is damaged"):
        part.read(["a"])


def test_directories_and_files_above_a_share_of_memory_are_large(tmp_path, monkeypatch):
    file = tmp_path / "t.csv"
    file.write_text("a,b\n1,2\n")
    assert is_large(tmp_path)
    assert not is_large(file)
    assert not is_large(tmp_path / "absent.csv")
    monkeypatch.setattr(table_parts, "LARGE_SHARE", 1e-15)
    assert not is_large(file), "it is a single part"
    monkeypatch.setattr(table_parts, "CSV_PART_BYTES", 1)
    assert is_large(file)


def test_without_dask_a_file_is_large_where_the_system_tells_its_memory(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed.system", None)
    monkeypatch.setattr(table_parts, "CSV_PART_BYTES", 1)
    monkeypatch.setattr(table_parts, "LARGE_SHARE", 1e-15)
    file = tmp_path / "t.csv"
    file.write_text("a,b\n1,2\n")
    assert is_large(file) == hasattr(os, "sysconf")
    monkeypatch.delattr(os, "sysconf", raising=False)  # as on Windows
    assert not is_large(file)
