"""Statistics: what is learnt part by part is what the whole table says."""

from functools import reduce
from itertools import pairwise
from operator import add

import numpy as np
import pandas as pd
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.impute import SimpleImputer

from granulearn.datasets.target_encoding import N_FOLDS
from granulearn.learning.part_statistics import (
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
    classed = ClassedRows(np.array(codes, dtype=int), np.array(folds, dtype=int), 3)
    return CategoryStatistics.of(pa.array(text, pa.string()), classed)


cuts = st.lists(st.integers(0, 40), max_size=4)


@given(numbers, cuts)
def test_numbers_in_parts_have_the_sums_of_the_whole(cells, places):
    values = np.array(cells, dtype=float)
    joined = reduce(add, [NumberStatistics.of(part) for part in cut(values, places)])
    known = values[~np.isnan(values)]
    assert (joined.n, joined.missing) == (len(known), len(values) - len(known))
    if len(known):
        assert (joined.lowest, joined.highest) == (known.min(), known.max())
        scale = np.abs(known).max()
        assert_allclose(joined.mean, known.mean(), atol=1e-12 * scale)
        assert_allclose(joined.squares / joined.n, known.var(), atol=1e-12 * scale**2)
        assert joined.lowest <= joined.median <= joined.highest
        assert_allclose(joined.remembered[:, 1].sum(), len(known))


def test_the_median_is_exact_for_one_part_and_near_for_many():
    values = np.random.default_rng(0).lognormal(size=10_001)
    assert NumberStatistics.of(values).median == np.median(values)
    many = reduce(
        add, [NumberStatistics.of(values[i : i + 500]) for i in range(0, len(values), 500)]
    )
    assert 0.48 < np.mean(values <= many.median) < 0.52


@given(numbers, cuts)
def test_mean_and_variance_are_those_of_numbers_with_the_median_filled_in(cells, places):
    values = np.array(cells, dtype=float)
    joined = reduce(add, [NumberStatistics.of(part) for part in cut(values, places)])
    filled = np.where(np.isnan(values), joined.median, values)
    mean, variance = joined.filled()
    if len(values):
        scale = np.abs(filled).max()
        assert_allclose(mean, filled.mean(), atol=1e-12 * scale)
        assert_allclose(variance, filled.var(), atol=1e-12 * scale**2)


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
    rows = ClassedRows(np.array([0, 1, 1]), np.array([0, 1, 2]), 2)
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
