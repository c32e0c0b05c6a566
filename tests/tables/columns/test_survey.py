"""Batches of any size give the same survey, and the same schema."""

import csv
import tempfile
from pathlib import Path
from unittest import mock

import pyarrow as pa
from hypothesis import example, given
from hypothesis import strategies as st

from granulearn.tables import open_table
from granulearn.tables.columns.decisions import decide_schema
from granulearn.tables.columns.survey import survey_batches
from granulearn.tables.columns.survey_records import WORD, join_surveys
from granulearn.tables.io import text
from tests.tables.columns.surveyed_columns import batches_of, columns, cuts


@given(columns, cuts)
def test_any_partition_gives_the_same_schema(cells, places):
    column = pa.array(cells, pa.string())
    whole = decide_schema(survey_batches([pa.record_batch({"c": column})]))
    assert decide_schema(survey_batches(batches_of(column, places))) == whole


def test_a_survey_of_no_batch_is_none_and_of_no_rows_has_columns():
    assert survey_batches([]) is None
    found = survey_batches([pa.record_batch({"a": pa.array([], pa.string()), "b": pa.nulls(0)})])
    assert [(column.name, column.rows) for column in found.columns] == [("a", 0), ("b", 0)]


def test_the_first_batch_is_looked_at_before_the_next_ones_are_read():
    plain: set[str] = set()
    told = []

    def batches():
        yield pa.record_batch({"a": ["1.5"], "b": ["red"]})
        told.append(set(plain))
        yield pa.record_batch({"a": [2.5], "b": ["blue"]})

    assert survey_batches(batches(), plain=plain)["a"].rows == 2
    assert told == [{"a"}]


def test_rows_are_counted_across_batches():
    column = pa.array(["a", "b", "c", "a"])
    batches = batches_of(column, [1, 3])
    found = survey_batches(batches, first_row=10)
    assert found.rows == 4
    assert [cell.row for cell in found["c"].classes[WORD].first] == [10, 11, 12, 13]
    later = survey_batches(batches, first_row=14)
    assert join_surveys(found, later).rows == 8


PLAIN_OR_NOT = st.sampled_from(
    [
        "1.5",
        "-2.25",
        "3",
        "1.525",
        "007",
        "",
        "?",
        "nan",
        "inf",
        "1e200",
        " 4.5",
        "+6",
        "1,5",
        "red",
    ]
)


@given(st.lists(st.tuples(PLAIN_OR_NOT, PLAIN_OR_NOT), min_size=1, max_size=40))
@example([("1.5", "1.5")] * 11 + [("1.5", "1e200")] + [("1.5", "1.5")] * 2 + [("1.5", "1e200")])
@example([("1.5", "1.5")] * 30 + [("1.5", text) for text in ("-9e15", "-1e16", "-1E16")])
def test_reading_plain_numbers_at_once_gives_the_same_schema(rows):
    names = ["a", "b"]
    with tempfile.TemporaryDirectory() as folder, mock.patch.object(text_scan, "CHUNK_BYTES", 24):
        path = Path(folder) / "t.csv"
        with path.open("w", newline="") as file:
            csv.writer(file).writerows([names, *rows])
        table = open_table(path)
        plain: set[str] = set()
        at_once = survey_batches(table.batches_for_survey(plain), plain=plain)
        as_text = survey_batches(table.batches())
    assert at_once.rows == as_text.rows == len(rows)
    decided = [decide_schema(survey) for survey in (at_once, as_text)]
    for name in names:
        first, second = (schema[name] for schema in decided)
        assert first.to_json() == second.to_json()
        assert first.n_misfits == second.n_misfits
