"""Batches of any size give the same survey, and the same schema."""

import pyarrow as pa
from hypothesis import given

from granulearn.tables.infer import infer_schema
from granulearn.tables.profile import WORD, join_profiles, profile_batches
from tests.tables.columns.surveyed_columns import batches_of, columns, cuts


@given(columns, cuts)
def test_any_partition_gives_the_same_schema(cells, places):
    column = pa.array(cells, pa.string())
    whole = infer_schema(profile_batches([pa.record_batch({"c": column})]))
    assert infer_schema(profile_batches(batches_of(column, places))) == whole


def test_a_survey_of_no_batch_is_none_and_of_no_rows_has_columns():
    assert profile_batches([]) is None
    found = profile_batches([pa.record_batch({"a": pa.array([], pa.string()), "b": pa.nulls(0)})])
    assert [(column.name, column.rows) for column in found.columns] == [("a", 0), ("b", 0)]


def test_the_first_batch_is_looked_at_before_the_next_ones_are_read():
    plain: set[str] = set()
    told = []

    def batches():
        yield pa.record_batch({"a": ["1.5"], "b": ["red"]})
        told.append(set(plain))
        yield pa.record_batch({"a": [2.5], "b": ["blue"]})

    assert profile_batches(batches(), plain=plain)["a"].rows == 2
    assert told == [{"a"}]


def test_rows_are_counted_across_batches():
    column = pa.array(["a", "b", "c", "a"])
    batches = batches_of(column, [1, 3])
    found = profile_batches(batches, first_row=10)
    assert found.rows == 4
    assert [cell.row for cell in found["c"].classes[WORD].first] == [10, 11, 12, 13]
    later = profile_batches(batches, first_row=14)
    assert join_profiles(found, later).rows == 8
