"""Parquet and Arrow files: typed columns, in row groups and folders."""

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as parquet
import pytest

from granulearn.tables import TableError
from granulearn.tables.io.arrow import ArrowTable, ParquetTable
from tests.tables.nasty_tables import assert_holds, rows_of

TABLE = pa.table(
    {
        "n": range(10),
        "x": [0.5 * i for i in range(9)] + [None],
        "s": pa.array([f"t{i}" for i in range(10)], pa.large_string()),
        "c": pa.array([*"abababab", None, "a"]).dictionary_encode(),
        "d": pa.array([[i] for i in range(10)]),
    }
)
ROWS = [list(row.values()) for row in TABLE.to_pylist()]


def stored(path, kind):
    if kind == "parquet":
        parquet.write_table(TABLE, path, row_group_size=4)
    elif kind == "feather":
        feather.write_feather(TABLE, path, chunksize=4)
    else:
        with pa.ipc.new_stream(path, TABLE.schema) as writer:
            writer.write_table(TABLE, max_chunksize=4)
    return (ParquetTable if kind == "parquet" else ArrowTable)(path, path)


@pytest.mark.parametrize("kind", ["parquet", "feather", "stream"])
def test_rows_columns_and_types_are_those_that_were_written(tmp_path, kind):
    table = stored(tmp_path / "t", kind)
    batches = list(table.batches())
    assert_holds(table, TABLE.column_names, ROWS)
    kinds = {field.name: field.type for field in batches[0].schema}
    assert kinds["s"] == pa.string()
    assert kinds["n"] == pa.int64()
    assert pa.types.is_dictionary(kinds["c"])
    assert sum(batch.num_rows for batch in table.batches([])) == 10
    assert table.lines() is None


def test_a_row_of_parquet_stands_in_a_row_group(tmp_path):
    table = stored(tmp_path / "t", "parquet")
    assert [table.location(row) for row in (0, 3, 4, 9)] == [
        "row group 1, row 1",
        "row group 1, row 4",
        "row group 2, row 1",
        "row group 3, row 2",
    ]
    assert [part.first_row for part in table.parts()] == [0, 4, 8]


def test_names_that_begin_like_others_or_are_repeated_are_told_apart(tmp_path):
    parquet.write_table(pa.table({"a.b": [1], "a": [2]}), tmp_path / "t")
    assert rows_of(ParquetTable(tmp_path / "t", tmp_path).batches(["a"])) == [[2]]
    repeated = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    for kind, write in {
        ParquetTable: parquet.write_table,
        ArrowTable: feather.write_feather,
    }.items():
        if kind is ArrowTable:
            with pa.ipc.new_file(tmp_path / "u", repeated.schema) as writer:
                writer.write_table(repeated)
        else:
            write(repeated, tmp_path / "u")
        table = kind(tmp_path / "u", tmp_path)
        assert table.names == ["a", "a (2)"]
        assert rows_of(table.batches(["a (2)", "a"])) == [[2, 1]]


def test_a_folder_is_its_files_one_after_another(tmp_path):
    (tmp_path / "year=2020").mkdir()
    (tmp_path / "_temporary").mkdir()
    parquet.write_table(pa.table({"b": [1], "a": ["x"], "year": [2020]}), tmp_path / "0.parquet")
    second = tmp_path / "year=2020" / "1.pq"
    parquet.write_table(pa.table({"a": ["y"], "year": [2020], "b": [2]}), second)
    (tmp_path / "_temporary" / "2.parquet").write_bytes(b"unfinished")
    table = ParquetTable(tmp_path, tmp_path)
    assert rows_of(table.batches(["a", "b"])) == [["x", 1], ["y", 2]]
    assert rows_of(table.batches()) == [[1, "x", 2020], [2, "y", 2020]]
    assert table.location(1) == "year=2020/1.pq, row group 1, row 1"


def test_folders_that_would_lose_columns_are_refused(tmp_path):
    with pytest.raises(TableError, match="directory without Parquet files"):
        ParquetTable(tmp_path, tmp_path)
    (tmp_path / "year=2020").mkdir()
    parquet.write_table(pa.table({"a": [1]}), tmp_path / "year=2020" / "1.parquet")
    with pytest.raises(TableError, match="'year' stands only in the name of the folder"):
        ParquetTable(tmp_path, tmp_path)
    parquet.write_table(pa.table({"a": [1], "year": [2]}), tmp_path / "0.parquet")
    with pytest.raises(TableError, match=r"differ in the columns \['year'\]"):
        ParquetTable(tmp_path, tmp_path)
