"""Statistics: what is learnt part by part is what the whole table says."""

from fractions import Fraction
from functools import reduce
from itertools import pairwise
from operator import add

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.impute import SimpleImputer

from granulearn.datasets.target_encoding import N_FOLDS
from granulearn.training.part_statistics import (
    REMEMBERED,
    CategoryStatistics,
    ClassedRows,
    NumberStatistics,
    card_of,
    join_statistics,
    statistics_of_rows,
)

numbers = st.lists(
    st.one_of(st.just(np.nan), st.floats(-1e6, 1e6, allow_nan=False, width=32)), max_size=40
)


@st.composite
def categories(draw):
    """Draw cells with their fold and class; class 2 may have no row."""
    row = st.tuples(
        st.sampled_from(["b", "a", "", "é", "aa", None]),
        st.integers(0, N_FOLDS - 1),
        st.integers(0, 2),
    )
    return draw(st.lists(row, max_size=40))


def cut(rows, places):
    """Return the stretches between some places, which need not be inside."""
    edges = [0, *sorted(min(place, len(rows)) for place in places), len(rows)]
    return [rows[a:b] for a, b in pairwise(edges)]


def of_categories(rows):
    text, folds, codes = zip(*rows, strict=True) if rows else ((), (), ())
    classed = ClassedRows(
        np.array(codes, dtype=int), np.array(folds, dtype=int), 3, np.arange(len(rows))
    )
    return CategoryStatistics.of(pa.array(text, pa.string()), classed)


cuts = st.lists(st.integers(0, 40), max_size=4)


def of_numbers(values, places=()):
    """Return the statistics of a column that is cut at some places."""
    rows = np.arange(len(values))
    parts = [
        NumberStatistics.of(values[part], ClassedRows(part * 0, part * 0, 1, part))
        for part in cut(rows, places)
    ]
    return reduce(add, parts)


def facts(known):
    return known.n, known.missing, known.lowest, known.highest, known.median, *known.filled()


@given(numbers, cuts)
def test_numbers_in_parts_are_those_of_the_whole_to_the_last_bit(cells, places):
    values = np.array(cells, dtype=float)
    joined = of_numbers(values, places)
    assert facts(joined) == facts(of_numbers(values))
    known = values[~np.isnan(values)]
    assert (joined.n, joined.missing) == (len(known), len(values) - len(known))
    if len(known):
        assert (joined.lowest, joined.highest) == (known.min(), known.max())
        assert joined.median == np.median(known)


def test_the_median_of_many_cells_is_that_of_some_rows_the_same_however_cut():
    values = np.random.default_rng(0).lognormal(size=20_001)
    values[::5] = np.nan
    whole, many = of_numbers(values), of_numbers(values, range(0, len(values), 300))
    assert facts(whole) == facts(many)
    assert len(many.remembered) == REMEMBERED
    # Of so many cells the median is within four standard errors of rank, 0.5 / sqrt(4096) each.
    assert 0.469 < np.mean(values[~np.isnan(values)] <= many.median) < 0.531


@given(numbers, cuts, st.sampled_from([0.0, 1e9]))
def test_mean_and_variance_are_those_of_numbers_with_the_median_filled_in(cells, places, far):
    values = np.array(cells, dtype=float) + far
    joined = of_numbers(values, places)
    filled = [Fraction(x) for x in np.where(np.isnan(values), joined.median, values).tolist()]
    if joined.n:
        mean = sum(filled) / len(filled)
        variance = sum((x - mean) ** 2 for x in filled) / len(filled)
        assert joined.filled()[0] == float(mean)
        # Squares below 1e-308 are rounded; what comes of others is exact, and rounded once.
        assert joined.filled()[1] == pytest.approx(float(variance), rel=1e-15, abs=1e-300)


def test_numbers_too_large_to_be_squared_have_a_mean_and_a_variance():
    values = np.array([1e200, -3e307, 5.0, np.nan])
    mean, variance = of_numbers(values).filled()
    assert np.isfinite([mean, variance]).all()
    assert variance > 0
    assert of_numbers(values, [1]).filled() == (mean, variance)


@given(categories(), cuts)
def test_categories_in_parts_have_the_counts_of_the_whole(rows, places):
    joined = reduce(add, map(of_categories, cut(rows, places)))
    frame = pd.DataFrame(rows, columns=["name", "fold", "code"])
    assert joined.names.tolist() == sorted(frame["name"].dropna().unique())
    counted = frame.groupby(["name", "fold", "code"], dropna=False).size().to_dict()
    found = {
        (name, fold, code): rows
        for name, table in zip(joined.names, joined.counts, strict=True)
        for (fold, code), rows in np.ndenumerate(table)
        if rows
    }
    assert found == {key: rows for key, rows in counted.items() if isinstance(key[0], str)}
    assert joined.missing == frame["name"].isna().sum()
    assert joined.without.shape == (N_FOLDS, 3)


@given(categories())
def test_missing_cells_count_as_the_category_that_an_imputer_fills_in(rows):
    known = of_categories(rows)
    if not len(known.names):
        return
    frame = pd.DataFrame(rows, columns=["name", "fold", "code"])
    cells = frame[["name"]].astype(object).where(frame[["name"]].notna(), np.nan)
    imputed = SimpleImputer(strategy="most_frequent").fit_transform(cells).ravel()
    expected = np.zeros((N_FOLDS, len(known.names), 3), dtype=int)
    places = np.searchsorted(known.names, imputed)
    np.add.at(expected, (frame["fold"], places, frame["code"]), 1)
    assert_array_equal(known.filled(), expected)


def test_a_card_says_what_the_training_rows_hold():
    rows = ClassedRows(np.array([0, 1, 1]), np.array([0, 1, 2]), 2, np.arange(3))
    cells = {
        "n": np.array([3.0, np.nan, -1.5]),
        "none": np.full(3, np.nan),
        "c": pa.array(["v", None, "u"]),
    }
    known = statistics_of_rows(cells, rows)
    twice = join_statistics(known, known)
    number, empty, category = (card_of(name, twice[name]) for name in cells)
    assert (number.name, number.kind, number.missing) == ("n", "number", 2)
    assert (number.lowest, number.highest) == (-1.5, 3.0)
    assert (empty.kind, empty.missing, empty.lowest, empty.highest) == ("number", 6, None, None)
    assert (category.kind, category.missing, category.categories) == ("category", 2, ("u", "v"))
