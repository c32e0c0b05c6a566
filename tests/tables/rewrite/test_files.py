"""What can be rewritten at all, and what is said of the rest."""

import os
from concurrent.futures import ThreadPoolExecutor

import pandas as pd
import pytest

from granulearn.tables import TableError, open_table
from tests.tables.rewrite.rewritten_tables import rewritten

CONTENT = b"a,b\n1,x\n2,y\n"


@pytest.mark.parametrize(
    ("cells", "drop", "problem"),
    [
        ({2: "z"}, (), r"t\.csv has 2 rows, numbered from 0"),
        ({-1: "z"}, (), r"t\.csv has 2 rows"),
        ({}, {7}, r"t\.csv has 2 rows"),
        ({0: " "}, (), "leave the row out"),
        ({0: "a\0"}, (), r"cannot hold the label 'a\\x00'"),
        ({0: "\ud800"}, (), r"cannot hold the label '\\ud800'"),
        ({}, {0, 1}, "would lose all 2 rows"),
    ],
)
def test_impossible_changes_are_refused(cells, drop, problem):
    with pytest.raises(TableError, match=problem):
        rewritten(CONTENT, "t.csv", "b", cells, drop)


@pytest.mark.parametrize("ending", [".gz", ".xlsx", ".parquet", ".json"])
def test_the_temporary_file_must_end_as_the_format_demands(ending, tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(CONTENT)
    with pytest.raises(TableError, match=f"ends in '.csv' rather than in '{ending}'"):
        open_table(path).rewrite(tmp_path / f"new{ending}", "b", {0: "z"})


def test_a_folder_of_parquet_files_is_refused(tmp_path):
    pd.DataFrame({"a": [1]}).to_parquet(tmp_path / "part.parquet")
    with pytest.raises(TableError, match="name one of its files"):
        open_table(tmp_path).rewrite(tmp_path / "new.parquet", "a", {0: "2"})


def test_what_came_from_a_pipe_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with ThreadPoolExecutor() as pool:
        pool.submit((tmp_path / "pipe").write_bytes, CONTENT)
        with (
            open_table(tmp_path / "pipe") as table,
            pytest.raises(TableError, match="save the table as a file"),
        ):
            table.rewrite(tmp_path / "new.csv", "b", {})
