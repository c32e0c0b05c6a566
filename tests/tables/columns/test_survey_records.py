"""Joined surveys of the parts are the survey of the whole, however it is cut."""

from functools import reduce

import pyarrow as pa
import pytest
from hypothesis import example, given, settings

from granulearn.tables.profile import join_columns, profile_batches, survey_column
from tests.tables.columns.surveyed_columns import (
    BIG,
    TYPED,
    batches_of,
    big_column,
    columns,
    content,
    cuts,
    few_are_remembered,
    pieces_of,
    small_sketches,
)


@given(columns, cuts)
@example(["x" * 300] + ["a"] * 5, [1])
@example([f"{n} u{chr(97 + n)}" for n in range(6)] + ["word", "1 ua"], [3, 7])
@example(["1 kg", "2 lb", "1 kg", "3 h", "5 m"], [2])
@example(["9007199254740992", "9007199254740993"], [1])
def test_any_partition_gives_the_same_survey(cells, places):
    column = pa.array(cells, pa.string())
    with few_are_remembered(), small_sketches:
        whole = content(survey_column("c", column))
        in_batches = profile_batches(batches_of(column, places))["c"]
        parts = [survey_column("c", piece, row) for row, piece in pieces_of(column, places)]
        from_the_end = reduce(lambda later, earlier: join_columns(earlier, later), parts[::-1])
        assert content(in_batches) == whole
        assert content(from_the_end) == whole


@pytest.mark.parametrize("kind", TYPED)
@settings(max_examples=10)
@given(places=cuts)
def test_any_partition_of_stored_cells_gives_the_same_survey(kind, places):
    column = TYPED[kind]
    whole = content(survey_column("c", column))
    assert content(profile_batches(batches_of(column, places))["c"]) == whole


@pytest.mark.parametrize("kind", BIG)
@pytest.mark.parametrize("size", [700, 6000])
def test_beyond_all_limits_a_partition_changes_nothing(kind, size):
    column = big_column(kind)
    whole = content(survey_column("c", column))
    places = list(range(size, len(column), size))
    assert content(profile_batches(batches_of(column, places))["c"]) == whole
    parts = [survey_column("c", piece, row) for row, piece in pieces_of(column, places)]
    assert content(reduce(join_columns, parts)) == whole


@pytest.mark.parametrize("kind", TYPED)
def test_columns_of_no_rows_are_surveyed_and_change_nothing(kind):
    column = TYPED[kind]
    nothing = survey_column("c", column[:0])
    own = survey_column("c", column)
    assert (nothing.rows, nothing.known, nothing.distinct) == (0, 0, 0)
    assert content(join_columns(nothing, own)) == content(own)
    assert content(join_columns(own, nothing)) == content(own)
