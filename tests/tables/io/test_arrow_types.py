"""Columns of Arrow in the standard types."""

import re
from pathlib import Path

import pyarrow as pa
import pytest

from granulearn.tables import TableError
from granulearn.tables.io.arrow import standard_batch, standard_type

SHOWN = Path("t.parquet")
TEXTS = ["a", None, "é"]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
def test_text_has_one_type(kind):
    assert standard_type(pa.array(TEXTS, kind)).equals(pa.array(TEXTS, pa.string()))


@pytest.mark.parametrize("texts", [["a", "", "é", "longer"], [""] * 4, TEXTS * 2])
@pytest.mark.parametrize("begin", [0, 1, 3, 4])
def test_a_part_of_long_texts_has_its_own_texts(texts, begin):
    column = pa.array(texts, pa.large_string())[begin:]
    found = standard_type(column)
    found.validate(full=True)
    assert found.equals(pa.array(texts[begin:], pa.string()))
    chunks = pa.chunked_array([column, column])
    assert standard_type(chunks).to_pylist() == texts[begin:] * 2


def test_a_dictionary_of_long_texts_stays_one_of_texts():
    column = standard_type(pa.array(TEXTS, pa.large_string()).dictionary_encode())
    assert column.type == pa.dictionary(pa.int32(), pa.string())
    assert column.to_pylist() == TEXTS


@pytest.mark.parametrize("kind", [pa.int8(), pa.bool_(), pa.duration("s"), pa.list_(pa.int64())])
def test_other_types_are_kept(kind):
    column = pa.nulls(2, kind)
    assert standard_type(column) is column


def test_runs_of_equal_cells_are_written_out():
    runs = pa.RunEndEncodedArray.from_arrays([2, 3], pa.array(["a", None], pa.large_string()))
    assert standard_type(runs).equals(pa.array(["a", "a", None]))


def test_a_column_in_pieces_stays_in_pieces():
    column = pa.chunked_array([["a"], ["b"]], pa.large_string())
    assert standard_type(column).equals(pa.chunked_array([["a"], ["b"]], pa.string()))


def test_a_batch_has_the_columns_asked_for_under_their_names():
    batch = pa.RecordBatch.from_pydict({"a": [1], "b": [2], "c": [3]})
    assert standard_batch(SHOWN, batch, [2, 0], ["x", "y"]).to_pydict() == {"x": [3], "y": [1]}
    assert standard_batch(SHOWN, batch, [], []).num_rows == 1


@pytest.mark.parametrize("zone", ["Mars/Phobos", "+99:99"])
def test_times_of_an_unknown_zone_are_refused_by_their_column(zone):
    times = pa.array([0, None], pa.timestamp("ms", tz=zone))
    for column in (times, times.dictionary_encode()):
        batch = pa.RecordBatch.from_pydict({"a": [1, 2], "b": column})
        said = rf"^t.parquet: column 'when' has times of the zone '{re.escape(zone)}', which this"
        with pytest.raises(TableError, match=said):
            standard_batch(SHOWN, batch, [1], ["when"])
        assert standard_batch(SHOWN, batch, [0], ["a"]).to_pydict() == {"a": [1, 2]}


@pytest.mark.parametrize("zone", ["UTC", "Europe/Vienna", "+05:30", None])
def test_times_of_a_known_zone_are_kept(zone):
    batch = pa.RecordBatch.from_pydict({"b": pa.array([0, None], pa.timestamp("ms", tz=zone))})
    assert standard_batch(SHOWN, batch, [0], ["b"]).equals(batch)
