"""Labels as text become cells of any type."""

from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pytest

from granulearn.tables import TableError
from granulearn.tables.relabel.arrow_cells import LabelColumn

SHOWN = SimpleNamespace(path=Path("t.parquet"))


def changed(column, cells, first_row=0):
    return LabelColumn(SHOWN, "label", column.type, cells).of(column, first_row)


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
        (pa.string(), "\ud800"),
    ],
)
def test_a_label_that_is_none_of_the_type_is_named_with_it(kind, label):
    with pytest.raises(TableError) as raised:
        changed(pa.nulls(2, kind), {0: label})
    assert repr(label) in str(raised.value)
    assert str(kind) in str(raised.value)


@pytest.mark.parametrize(
    "kind",
    [pa.list_(pa.int8()), pa.binary(), pa.null(), pa.duration("s"), pa.struct({"a": "int8"})],
)
def test_types_without_a_text_are_refused(kind):
    with pytest.raises(TableError, match="whose cells cannot be changed"):
        changed(pa.nulls(2, kind), {0: "x"})


@pytest.mark.parametrize(
    ("kind", "label"),
    [
        (pa.string_view(), "x"),
        (pa.decimal128(5, 2), "1.25"),
        (pa.float16(), "0.5"),
        (pa.timestamp("s", "UTC"), "2020-01-01 00:00:00Z"),
    ],
)
def test_rarer_types_are_changed_too(kind, label):
    column = changed(pa.nulls(3, kind), {8: label}, first_row=7)
    assert column.type == kind
    assert column.is_null().to_pylist() == [True, False, True]
    assert LabelColumn.texts(column)[1] == label


def test_a_dictionary_keeps_its_order_and_grows_at_the_end():
    codes = pa.array([0, None, 2], pa.int8())
    column = pa.DictionaryArray.from_arrays(codes, ["low", "high", "top"], ordered=True)
    result = changed(column, {0: "new", 1: "high"})
    assert result.type == column.type
    assert result.to_pylist() == ["new", "high", "top"]
    assert result.dictionary.to_pylist() == ["low", "high", "top", "new"]


def test_a_dictionary_without_room_is_told():
    column = pa.DictionaryArray.from_arrays(
        pa.array([0], pa.int8()), [str(number) for number in range(128)]
    )
    with pytest.raises(TableError, match="no room for more different labels"):
        changed(column, {0: "one more"})


def test_extension_types_stay():
    kind = pa.json_() if hasattr(pa, "json_") else pa.string()
    column = pa.array(["1", "2"], pa.string()).cast(kind)
    result = changed(column, {1: "3"})
    assert result.type == kind
    assert LabelColumn.texts(result) == ["1", "3"]


def test_cells_without_a_text_have_none():
    assert LabelColumn.texts(pa.array([[1], None])) == [None, None]
