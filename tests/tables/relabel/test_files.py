"""What can be rewritten at all, and what is said of the rest."""

import gzip
import os
import sys
from concurrent.futures import ThreadPoolExecutor

import pandas as pd
import pytest

from granulearn.tables import TableError, open_table
from granulearn.tables.relabel import rewrite_table
from tests.tables.relabel.rewritten_tables import rewritten

CONTENT = b"a,b\n1,x\n2,y\n"


@pytest.mark.parametrize(("cells", "drop"), [({2: "z"}, ()), ({-1: "z"}, ()), ({}, {7})])
def test_a_row_that_the_table_lacks_is_named(cells, drop):
    with pytest.raises(TableError, match=r"t\.csv has no row (2|-1|7); its 2 rows are numbered"):
        rewritten(CONTENT, "t.csv", "b", cells, drop)


def test_an_empty_label_is_refused():
    with pytest.raises(TableError, match="leave the row out"):
        rewritten(CONTENT, "t.csv", "b", {0: " "})


def test_some_row_must_be_left():
    with pytest.raises(TableError, match="all 2 rows would be left out"):
        rewritten(CONTENT, "t.csv", "b", {}, {0, 1})


@pytest.mark.parametrize("ending", [".gz", ".xlsx", ".parquet", ".json"])
def test_the_draft_must_end_as_the_format_demands(ending, tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(CONTENT)
    with pytest.raises(TableError, match=f"ends in '.csv' rather than in '{ending}'"):
        rewrite_table(open_table(path), tmp_path / f"draft{ending}", "b", {0: "z"})


def test_a_folder_of_parquet_files_is_refused(tmp_path):
    pd.DataFrame({"a": [1]}).to_parquet(tmp_path / "part.parquet")
    with pytest.raises(TableError, match="name one of its files"):
        rewrite_table(open_table(tmp_path), tmp_path / "draft.parquet", "a", {0: "2"})


def test_what_came_from_a_pipe_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with ThreadPoolExecutor() as pool:
        pool.submit((tmp_path / "pipe").write_bytes, CONTENT)
        with (
            open_table(tmp_path / "pipe") as table,
            pytest.raises(TableError, match="save the table as a file"),
        ):
            rewrite_table(table, tmp_path / "draft.csv", "b", {})


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.jsonl"])
def test_reading_and_rewriting_open_the_file_three_times(name, tmp_path):
    opens, path = [], tmp_path / name
    content = b'{"a": 1, "b": "x"}\n' if name.endswith("l") else CONTENT
    path.write_bytes(gzip.compress(content) if name.endswith("z") else content)

    def count(event, arguments):
        if event == "open" and str(arguments[0]) == str(path):
            opens.append(event)

    sys.addaudithook(count)
    with open_table(path) as table:
        list(table.batches())
        rewrite_table(table, tmp_path / f"draft{path.suffix}", "b", {0: "z"})
    assert len(opens) == 3
