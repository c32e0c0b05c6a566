"""Files as streams: all rows, in order, in the columns asked for."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from granulearn.datasets import TableError
from granulearn.learning import sources
from granulearn.learning.sources import open_source


def rows_of(source, columns):
    return pa.Table.from_batches(list(source.batches(columns))).to_pydict()


def test_csv_columns_in_the_order_asked_for_as_text(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('a; b ;"c"\n1;x;"two\nlines"\n\n2;y;"a ""word"""\n', encoding="utf-8-sig")
    source = open_source(path)
    assert source.names == ["a", "b", "c"]
    assert rows_of(source, ["c", "a"]) == {"c": ["two\nlines", 'a "word"'], "a": ["1", "2"]}
    assert [source.place(0), source.place(1)] == ["line 2", "line 5"]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_many_chunks_hold_every_row_once_in_order(tmp_path, suffix, monkeypatch):
    monkeypatch.setattr(sources, "_CSV_BLOCK", 4096)
    monkeypatch.setattr(sources, "_PARQUET_ROWS", 100)
    frame = pd.DataFrame({"n": np.arange(5000), "even": np.arange(5000) % 2 == 0})
    path = tmp_path / f"t.{suffix}"
    if suffix == "csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_parquet(path, row_group_size=700)
    batches = list(open_source(path).batches(["n"]))
    assert len(batches) > 5
    assert [int(str(n)) for batch in batches for n in batch["n"]] == list(range(5000))


def test_a_row_of_another_length_is_named_with_its_line(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "1,2\n" * 50 + "3,4,5\n")
    with pytest.raises(TableError, match="line 52: 3 cells, but the header has 2"):
        list(open_source(path).batches(["a"]))


def test_parquet_places_are_rows(tmp_path):
    path = tmp_path / "t.parquet"
    parquet.write_table(pa.table({"a": [1]}), path)
    assert open_source(path).place(0) == "row 1"


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("t.parquet", b"PAR1 but no more", "is no readable Parquet file"),
        ("t.xlsx", b"", "ends in '.xlsx'; one of .csv"),
    ],
)
def test_files_that_cannot_be_used_are_named(tmp_path, name, content, said):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(TableError, match=said):
        open_source(path)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_files_that_cannot_be_opened_are_errors_of_the_system(tmp_path, suffix, monkeypatch):
    path = tmp_path / f"t.{suffix}"
    with pytest.raises(FileNotFoundError, match="is not a file"):
        open_source(path)
    path.mkdir()
    with pytest.raises(FileNotFoundError, match="is not a file"):
        open_source(path)
    path.rmdir()
    path.touch()

    def refuse(self, *_):
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr("pathlib.Path.open", refuse)
    with pytest.raises(PermissionError, match="Permission denied"):
        open_source(path)


def test_a_damaged_parquet_file_is_named(tmp_path):
    path = tmp_path / "t.parquet"
    parquet.write_table(pa.table({"a": np.random.default_rng(0).random(10_000)}), path)
    content = bytearray(path.read_bytes())
    content[4:40] = b"\xff" * 36  # the header of the first page
    path.write_bytes(content)
    with pytest.raises(TableError, match="is damaged"):
        list(open_source(path).batches(["a"]))
