"""Parquet and Arrow: other columns, types, groups of rows and compression stay."""

import tempfile
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from granulearn.tables import TableError, open_table

N_ROWS = 10
TABLE = pa.table(
    {
        "id": pa.array(range(N_ROWS), pa.int16()),
        "nested": pa.array([[i, None] for i in range(N_ROWS)], pa.list_(pa.int8())),
        "label": pa.array([None, *"abcabcabc"], pa.string()),
        "long": pa.array(["x"] * N_ROWS, pa.large_string()),
        "whole": pa.array(range(N_ROWS), pa.int32()),
        "number": pa.array(np.arange(N_ROWS) / 4, pa.float32()),
        "boolean": pa.array([True, False] * 5),
        "day": pa.array([date(2020, 1, 1 + i) for i in range(N_ROWS)]),
        "time": pa.array(np.arange(N_ROWS), pa.timestamp("ns")),
        "class": pa.array(["low", "high"] * 5).dictionary_encode(),
    }
).replace_schema_metadata({"made by": "a test"})
NEW = {
    "label": "new",
    "long": "new",
    "whole": "-7",
    "number": "0.5",
    "boolean": "true",
    "day": "1999-12-31",
    "time": "2001-02-03 04:05:06",
    "class": "middle",
}
SETTINGS = {
    "row_group_size": 4,
    "compression": {"id": "snappy", "nested.list.element": "zstd", "label": "gzip"},
    "use_dictionary": ["label"],
    "write_statistics": ["id", "label"],
}


def write_parquet(table, path):
    parquet.write_table(table, path, **SETTINGS)


def write_file(table, path, compression="lz4"):
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_file(path, table.schema, options=options) as writer:
        writer.write_table(table, 4)


def write_stream(table, path, compression="zstd"):
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with (
        pa.OSFile(str(path), "wb") as file,
        pa.ipc.new_stream(file, table.schema, options=options) as writer,
    ):
        writer.write_table(table, 4)


def read_parquet(path):
    return parquet.ParquetFile(path).read()


def read_arrow(path):
    with pa.memory_map(str(path)) as file:
        is_file = file.read(6) == b"ARROW1"
        file.seek(0)
        return (pa.ipc.open_file if is_file else pa.ipc.open_stream)(file).read_all()


WAYS = {
    "Parquet": (".parquet", write_parquet, read_parquet),
    "Arrow file": (".arrow", write_file, read_arrow),
    "Arrow stream": (".arrow", write_stream, read_arrow),
}


def rewrite(path, temporary, column, cells, drop=()):
    with open_table(path) as table:
        table.rewrite(temporary, column, cells, drop=drop)


def rewritten(table, way, column, cells, drop=()):
    """Return a table as it is read from a file, and from the file that it becomes."""
    ending, write, read = WAYS[way]
    with tempfile.TemporaryDirectory() as folder:
        path, temporary = Path(folder) / f"t{ending}", Path(folder) / f"new{ending}"
        write(table, path)
        rewrite(path, temporary, column, cells, drop=drop)
        return read(path), read(temporary)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("column", NEW)
def test_cells_of_every_type_are_changed_and_nothing_else(way, column):
    cells = {1: NEW[column], 5: NEW[column]}
    table, result = rewritten(TABLE, way, column, cells)
    assert result.schema.equals(table.schema, check_metadata=True)
    assert result.drop_columns(column).equals(table.drop_columns(column))
    before, after = table[column].to_pylist(), result[column].to_pylist()
    kind = TABLE.schema.field(column).type
    value = pa.scalar(NEW[column]).cast(pa.string() if column == "class" else kind).as_py()
    assert after == [value if row in cells else cell for row, cell in enumerate(before)]
    _, back = rewritten(result, way, column, {row: spelt(before[row]) for row in cells})
    assert back[column].to_pylist() == before


def spelt(value):
    return str(value).lower() if isinstance(value, bool) else str(value)


@given(
    st.sampled_from(list(WAYS)),
    st.sets(st.integers(0, N_ROWS - 1), max_size=N_ROWS - 1),
    st.dictionaries(st.integers(0, N_ROWS - 1), st.text("aé\n").filter(str.strip)),
)
def test_dropped_rows_are_gone_and_the_others_are_equal(way, drop, cells):
    table, result = rewritten(TABLE, way, "label", cells, drop)
    kept = [row for row in range(N_ROWS) if row not in drop]
    labels = [cells.get(row, TABLE["label"][row].as_py()) for row in kept]
    assert result["label"].to_pylist() == labels
    others = [name for name in TABLE.column_names if name not in ("label", "class")]
    assert result.select(others).equals(table.select(others).take(kept))
    assert result["class"].to_pylist() == table["class"].take(kept).to_pylist()


def test_parquet_keeps_row_groups_compression_and_metadata(tmp_path):
    path, temporary = tmp_path / "t.parquet", tmp_path / "new.parquet"
    write_parquet(TABLE, path)
    rewrite(path, temporary, "label", {1: "new"})
    assert _described(temporary) == _described(path)


def _described(path):
    metadata = parquet.ParquetFile(path).metadata
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    return [
        (group.num_rows, one.path_in_schema, one.compression)
        for group in groups
        for one in map(group.column, range(group.num_columns))
    ] + [parquet.read_schema(path).metadata]


def test_parquet_keeps_old_times_and_the_frame_of_pandas(tmp_path):
    path, temporary = tmp_path / "t.parquet", tmp_path / "new.parquet"
    frame = pd.DataFrame(
        {"time": pd.to_datetime(["2020-01-01", "2021-01-01"]), "label": ["a", "b"]}
    )
    frame.index = pd.Index(["first", "second"], name="name")
    frame.to_parquet(path, use_deprecated_int96_timestamps=True, version="1.0")
    rewrite(path, temporary, "label", {1: "c"})
    frame["label"] = ["a", "c"]
    pd.testing.assert_frame_equal(pd.read_parquet(temporary), frame, check_dtype=False)
    assert parquet.ParquetFile(temporary).schema.equals(parquet.ParquetFile(path).schema)


@pytest.mark.parametrize("compression", [None, "lz4", "zstd"])
@pytest.mark.parametrize("write", [write_file, write_stream])
def test_arrow_keeps_kind_batches_and_compression(compression, write, tmp_path):
    path, temporary = tmp_path / "t.arrow", tmp_path / "new.arrow"
    table = pa.table({"x": np.arange(4000.0), "label": ["a", "b"] * 2000})
    write(table, path, compression)
    rewrite(path, temporary, "label", {1: "c"})
    assert temporary.read_bytes()[:6] == path.read_bytes()[:6]
    assert abs(temporary.stat().st_size - path.stat().st_size) < 100
    assert read_arrow(temporary)["x"].num_chunks == read_arrow(path)["x"].num_chunks


@pytest.mark.parametrize(
    ("kind", "label"),
    [
        (pa.int8(), "300"),
        (pa.uint8(), "-1"),
        (pa.int64(), "1.5"),
        (pa.float64(), "1,5"),
        (pa.bool_(), "yes"),
        (pa.bool_(), "1"),
        (pa.date32(), "31.12.1999"),
        (pa.decimal128(3, 1), "123.45"),
        (pa.time32("s"), "12:30:00"),
    ],
)
def test_a_label_that_the_type_cannot_hold_is_named_with_it(kind, label):
    with pytest.raises(TableError) as raised:
        rewritten(pa.table({"label": pa.nulls(2, kind)}), "Arrow file", "label", {0: label})
    assert repr(label) in str(raised.value)
    assert str(kind) in str(raised.value)


@pytest.mark.parametrize("way", WAYS)
def test_a_dictionary_keeps_its_order_and_grows_at_the_end(way):
    codes = pa.array([0, None, 2] * 2, pa.int8())
    column = pa.DictionaryArray.from_arrays(codes, ["low", "high", "top"], ordered=True)
    cells = {0: "new", 1: "high"}
    before, after = rewritten(pa.table({"label": column}), way, "label", cells)
    assert after.schema == before.schema
    assert after["label"].to_pylist() == ["new", "high", "top", "low", None, "top"]
    if way != "Parquet":  # which stores the values that occur
        assert after["label"].chunk(0).dictionary.to_pylist() == ["low", "high", "top", "new"]
