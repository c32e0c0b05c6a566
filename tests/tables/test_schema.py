"""Cells are read by a schema alone: after a journey as JSON, in any partition, however stored."""

import datetime
import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from granulearn.tables.infer import ColumnOptions, infer_schema
from granulearn.tables.inspection import first_pass
from granulearn.tables.parse.cells import as_text
from granulearn.tables.parse.dates import DateForm
from granulearn.tables.parse.numbers import NumberForm
from granulearn.tables.schema import (
    CATEGORY,
    DATE,
    EMPTY,
    NUMBER,
    YES_NO,
    Cell,
    CellCount,
    Column,
    Schema,
    TypedRows,
)

N_ROWS = 24
POOLS = {
    "amount": ["1.169,00 €", "17 €", "2,5 €", "?", None],
    "count": ["1", "25", "-3", "4.5e3", "(120)", "", "x"],
    "day": ["2024-02-29", "2023-12-31 10:30", "2024-13-01", None, "-"],
    "when": ["10:30", "23:59:59", "25:00"],
    "member": ["ja", "nein", "NEIN", None, "vielleicht"],
    "group": ["a", "b", " a ", "NA", "007", "+", "-"],
}
SCHEMA = Schema(
    (
        Column("amount", NUMBER, number=NumberForm(",", "€")),
        Column("count", NUMBER),
        Column("day", DATE, date=DateForm("year first", has_clock=True)),
        Column("when", DATE, date=DateForm("clock", has_clock=True)),
        Column("member", YES_NO),
        Column("group", CATEGORY, values_like_nulls=("-",)),
        Column("nothing", EMPTY, dropped="empty"),
    )
)

tables = st.fixed_dictionaries(
    {
        name: st.lists(st.sampled_from(pool), min_size=N_ROWS, max_size=N_ROWS)
        for name, pool in POOLS.items()
    }
).map(lambda cells: pa.record_batch({n: pa.array(c, pa.string()) for n, c in cells.items()}))


def assert_same_rows(first: TypedRows, second: TypedRows):
    assert list(first.cells) == list(second.cells)
    for name, cells in first.cells.items():
        if isinstance(cells, np.ndarray):
            np.testing.assert_array_equal(cells, second.cells[name])
        else:
            assert cells == second.cells[name]
    assert first.failures == second.failures


@settings(max_examples=30)
@given(tables)
def test_a_schema_reads_the_same_after_a_journey_as_json(batch):
    copy = Schema.from_json(json.loads(json.dumps(SCHEMA.to_json())))
    assert_same_rows(copy.read(batch), SCHEMA.read(batch))
    decided = infer_schema(first_pass([batch], None).columns)
    copy = Schema.from_json(json.loads(json.dumps(decided.to_json())))
    assert_same_rows(copy.read(batch), decided.read(batch))
    assert json.dumps(copy.to_json()) == json.dumps(decided.to_json())


def test_cells_become_what_the_schema_says():
    cells = {
        "amount": ["1.169,00 €", "17 €", "5 $"],
        "count": ["(120)", "?", "x"],
        "day": ["2024-02-29 12:00", "", "2024-02-30"],
        "when": ["10:30", None, "noon"],
        "member": ["Ja", "nein", "vielleicht"],
        "group": [" a ", "-", "NA"],
    }
    rows = SCHEMA.read({name: pa.array(column) for name, column in cells.items()}, first_row=100)
    found = {name: np.asarray(values).tolist() for name, values in rows.cells.items()}
    nan = pytest.approx(np.nan, nan_ok=True)
    assert found["amount"] == [1169.0, 17.0, nan]
    assert found["count"] == [-120.0, nan, nan]
    assert found["day: year"] == [2024.0, nan, nan]
    assert found["day: hour"] == [12.0, nan, nan]
    assert found["when: hour"] == [10.5, nan, nan]
    assert found["member"] == [1.0, 0.0, nan]
    assert rows.cells["group"].to_pylist() == ["a", "-", None]
    assert rows.failures == {
        "amount": CellCount(1, (Cell(102, "5 $"),)),
        "count": CellCount(1, (Cell(102, "x"),)),
        "day": CellCount(1, (Cell(102, "2024-02-30"),)),
        "when": CellCount(1, (Cell(102, "noon"),)),
        "member": CellCount(1, (Cell(102, "vielleicht"),)),
    }
    assert list(rows.cells) == [name for column in SCHEMA.used for name in column.feature_names]


STORED = {
    "integers": pa.array([1, None, -5, 2**40]),
    "unsigned": pa.array([0, 2**63, None], pa.uint64()),
    "floats": pa.array([0.1, None, -0.0, 1e-7, 1e17, 123456.789]),
    "missing floats": pa.array([float("nan"), 1.5, None]),
    "too large": pa.array([float("inf"), 1e200, 3.5]),
    "decimals": pa.array(["1.50", None, "-20.25"]).cast(pa.decimal128(10, 2)),
    "durations": pa.array([1500, None, 1], pa.duration("ms")),
    "dates": pa.array([datetime.date(1999, 12, 31), None, datetime.date(2024, 2, 29)]),
    "timestamps": pa.array([1, None, -(10**15) + 7], pa.timestamp("us")),
    "zoned": pa.array([0, None, 1_700_000_000], pa.timestamp("s", "Asia/Kolkata")),
    "times": pa.array([datetime.time(10, 30, 5, 250_000), None]),
    "truths": pa.array([True, None, False]),
    "categories": pa.array(["a", None, "b"]).dictionary_encode(),
    "categories of numbers": pa.array([2.0, None, 1.0]).dictionary_encode(),
}
KIND_OF = {
    "dates": DATE, "timestamps": DATE, "zoned": DATE, "times": DATE, "truths": YES_NO,
    "categories": CATEGORY, "categories of numbers": CATEGORY,
}  # fmt: skip


@pytest.mark.parametrize("name", STORED)
def test_cells_typed_from_text_are_those_typed_from_what_a_file_stores(name):
    column = STORED[name]
    schema = infer_schema(
        first_pass([pa.record_batch({"c": column})], None).columns, ColumnOptions(include=("c",))
    )
    if name != "too large":  # of three cells two are no numbers that can be used
        assert schema["c"].type == KIND_OF.get(name, NUMBER)
    else:
        schema = Schema((Column("c", NUMBER),))
    assert_same_rows(schema.read({"c": as_text(column)}), schema.read({"c": column}))


@pytest.mark.parametrize(
    "content",
    [None, 5, "x", [5], ["x"], [{}], [{"type": "number"}], [{"name": "c", "type": "nonsense"}],
     [{"name": "c", "type": "number", "number": {"decimal": ";"}}],
     [{"name": "c", "type": "number", "number": {"comma": ";"}}],
     [{"name": "c", "type": "number", "number": 5}],
     [{"name": "c", "type": "date", "date": {"family": "stardate"}}],
     [{"name": "c", "type": "number", "more": 1}], [None]],
)  # fmt: skip
def test_anything_else_than_a_schema_raises_type_error(content):
    with pytest.raises(TypeError):
        Schema.from_json(content)


def test_a_model_file_keeps_no_cell():
    column = Column(
        "c", NUMBER, examples=("SECRET",), failures=CellCount(1, (Cell(3, "SECRET"),)),
        notes=("'SECRET' is odd",), missing={"?": 2}, distinct=9,
    )  # fmt: skip
    content = column.to_json()
    assert "SECRET" not in json.dumps(content)
    assert (content["missing"], content["distinct"]) == ({"?": 2}, 9)


def test_warnings_name_the_places_of_failures_and_what_becomes_of_them():
    def location(row: int) -> str:
        return f"line {row + 2}"

    column = Column("c", NUMBER, notes=("It is odd",), failures=CellCount(1, (Cell(5, "x"),)))
    said = "1 cell differs from the others and counts as missing: 'x' at line 7"
    assert column.warnings(location) == ["It is odd", said]
    category = Column("c", CATEGORY, failures=CellCount(9, (Cell(5, "x"), Cell(6, "y"))))
    assert category.warnings(location) == [
        "9 cells differ from the others: 'x' at line 7, 'y' at line 8, ..."
    ]
    assert Column("c", NUMBER).warnings(location) == []
