"""Rows of parts: the same ones held out every time, the same folds as in the whole table."""

from collections import Counter
from dataclasses import dataclass, replace
from functools import reduce
from itertools import pairwise
from operator import add

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from granulearn.datasets.target_encoding import folds_of_rows
from granulearn.tables.checks import find
from granulearn.tables.column_options import ColumnOptions
from granulearn.tables.inspection import report_first
from granulearn.tables.io.frames import table_of
from granulearn.tables.training_table import as_labels, read_training_table
from granulearn.training.part_rows import (
    Request,
    RowReading,
    examine_part,
    look_at_part,
    read_part,
    rows_before,
)

SPELLINGS = ["yes", "no", "no ", "YES", "?", None, "maybe"]


@dataclass(frozen=True)
class MemoryPart:
    """Rows of a table, in several batches."""

    table: pa.Table
    first_row: int
    rows_of_batch: int = 3

    def batches(self, columns=None):
        chosen = self.table if columns is None else self.table.select(columns)
        return iter(chosen.to_batches(max_chunksize=self.rows_of_batch))


def parts_of(frame, places):
    table = pa.Table.from_pandas(frame, preserve_index=False).combine_chunks()
    edges = [0, *sorted(min(place, len(frame)) for place in places), len(frame)]
    return [MemoryPart(table[a:b], a) for a, b in pairwise(edges)]


def looked_at(frame, parts, request):
    sight = reduce(add, [look_at_part(part, request) for part in parts])
    file = table_of(frame)
    report = report_first(file, sight.look, "label", ColumnOptions())
    assert report.labels is not None
    classes = as_labels(pa.array(report.labels.classes, pa.string()), report.labels)
    return sight, RowReading(request, report.schema, report.labels, np.unique(classes))


def people(labels):
    rng = np.random.default_rng(len(labels))
    return pd.DataFrame(
        {
            "x": rng.normal(size=len(labels)),
            "c": rng.choice(["u", "v"], len(labels)),
            "label": pd.Series(labels, dtype=object),
        }
    )


@given(
    st.lists(st.sampled_from(SPELLINGS), min_size=2, max_size=40),
    st.lists(st.integers(0, 40), max_size=4),
    st.sampled_from([0.0, 0.4]),
)
def test_parts_have_the_rows_labels_and_folds_of_the_whole(labels, places, test):
    frame = people(["yes", "no", *labels])
    parts, request = parts_of(frame, places), Request("label", test, 5)
    sight, reading = looked_at(frame, parts, request)
    rows = [read_part(part, reading) for part in parts]
    y = [part.y(part.training) for part in rows]
    # The first pass foretells how many rows of each class the later ones learn from.
    before = rows_before(sight.training_labels, reading)
    found = [np.searchsorted(reading.classes, labels) for labels in y]
    counts = [np.bincount(codes, minlength=len(reading.classes)) for codes in found]
    assert_array_equal(np.diff(before, axis=0), counts)
    codes = np.concatenate(found)
    folds = [part.classed(starts).folds for part, starts in zip(rows, before[:-1], strict=True)]
    assert_array_equal(np.concatenate(folds), folds_of_rows(codes, before[0]))
    if not test:
        whole = read_training_table(table_of(frame), "label")
        assert_array_equal(np.concatenate(y), whole.y)
        x = [part.features(part.training).cells["x"] for part in rows]
        assert_array_equal(np.concatenate(x), whole.X["x"].to_numpy())


def test_rows_held_out_are_the_same_every_time_and_teach_nothing():
    frame = people(["a", "b"] * 500)
    part = replace(parts_of(frame, [])[0], rows_of_batch=300)
    request = Request("label", 0.3, 0)
    sight, reading = looked_at(frame, [part], request)
    first, again = (read_part(part, reading) for _ in range(2))
    assert_array_equal(first.held_out, again.held_out)
    assert 200 < len(first.held_out) < 400
    assert_array_equal(np.sort(np.concatenate([first.training, first.held_out])), np.arange(1000))
    other = replace(reading, request=replace(request, seed=1))
    assert not np.array_equal(first.held_out, read_part(part, other).held_out)
    starts = rows_before(sight.training_labels, reading)[0]
    known = examine_part(part, reading, starts).statistics["x"]
    assert known.n == len(first.training)
    assert known.filled()[0] == pytest.approx(frame["x"].to_numpy()[first.training].mean())


# A table is cut, read and looked at in each example, which takes a tenth of a second.
@settings(max_examples=30)
@given(st.lists(st.integers(0, 60), max_size=4), st.integers(0, 3))
def test_however_the_table_is_cut_the_same_rows_are_held_out_and_told_of(places, seed):
    frame = people((["a", "b", None] * 20)[:59]).assign(x=np.arange(59.0) / 3)
    frame.loc[::4, "x"] = np.nan
    request = Request("label", 0.3, seed)
    held_out, known = [], []
    for parts in (parts_of(frame, places), parts_of(frame, [])):
        sight, reading = looked_at(frame, parts, request)
        before = rows_before(sight.training_labels, reading)
        rows = [read_part(part, reading) for part in parts]
        found = [part.first_row + own.held_out for part, own in zip(parts, rows, strict=True)]
        held_out.append(np.concatenate(found))
        sights = [examine_part(part, reading, before[at]) for at, part in enumerate(parts)]
        numbers = reduce(add, sights).statistics["x"]
        known.append([numbers.n, numbers.missing, numbers.median, *numbers.filled()])
    assert_array_equal(*held_out)
    assert known[0] == known[1]


def test_what_was_found_in_parts_is_what_is_found_in_the_whole():
    frame = people(["a", "b", "b", "a"] * 20).assign(code=[0, 1, 1, 0] * 20)
    frame.loc[[3, 43], ["x", "c"]] = [7.0, "u"]  # a repeated row
    parts, request = parts_of(frame, [10, 10, 45]), Request("label", 0.5, 0)
    sight, reading = looked_at(frame, parts, request)
    before = rows_before(sight.training_labels, reading)
    sights = [examine_part(part, reading, before[at]) for at, part in enumerate(parts)]
    classes = list(reading.labels.classes)
    findings = find(reduce(add, sights).examination, reading.schema, classes, ())
    assert findings == read_training_table(table_of(frame), "label").report.findings
    assert findings.leaks == ("code",)
    assert findings.duplicates == 1


def test_a_part_without_rows_has_nothing_to_say():
    frame = people(["a", "b"] * 10)
    empty = parts_of(frame[:0].astype({"x": float}), [])[0]
    request = Request("label", 0.2, 0)
    alone = look_at_part(empty, request)
    assert (alone.look, alone.training_labels) == (None, (Counter(),))
    parts = [empty, *parts_of(frame, []), replace(empty, first_row=20)]
    _, reading = looked_at(frame, parts, request)
    rows = read_part(empty, reading)
    assert len(rows.labels) == len(rows.training) == len(rows.held_out) == 0
    assert len(rows.features(rows.training).to_frame()) == 0


def test_too_many_labels_to_be_classes_are_not_counted_part_by_part():
    frame = pd.DataFrame({"x": np.arange(30_000.0), "label": np.arange(30_000.0)})
    part = replace(parts_of(frame, [])[0], rows_of_batch=15_000)
    sight = look_at_part(part, Request("label", 0.0, 0))
    assert sight.training_labels == (Counter(),)
    assert report_first(table_of(frame), sight.look, "label", ColumnOptions()).problems
