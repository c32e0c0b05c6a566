"""Laws of outliers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from granulearn.audit.embedding import embed_rows
from granulearn.audit.outliers import OUTLIER_FROM, find_outliers, outlier_scores


def scores_of(X, n_threads=1):
    return outlier_scores(embed_rows(X, n_threads))


def normal(n=800, d=6, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


@pytest.mark.parametrize("d", [1, 2, 6, 30, 120])
@pytest.mark.parametrize("n", [60, 300, 3000])
def test_hardly_any_row_of_a_normal_table_is_far(n, d):
    assert (scores_of(normal(n, d)) > OUTLIER_FROM).mean() <= 0.01 + 1 / n


@pytest.mark.parametrize("shape", ["uniform", "heavy", "skewed", "two clusters", "grid"])
def test_few_rows_of_other_tables_are_far(shape):
    rng = np.random.default_rng(1)
    X = {
        "uniform": rng.random((2000, 5)),
        "heavy": rng.standard_t(3, size=(2000, 5)),
        "skewed": np.exp(rng.normal(size=(2000, 5))),
        "two clusters": normal(2000) * rng.choice([0.1, 3.0], size=(2000, 1), p=[0.9, 0.1]),
        "grid": rng.integers(3, size=(2000, 5)).astype(float),
    }[shape]
    assert (scores_of(X) > OUTLIER_FROM).mean() <= 0.015


@pytest.mark.parametrize("d", [1, 2, 8, 40, 120])
def test_rows_far_away_in_one_column_are_far(d):
    X = normal(1000, d)
    rows = np.arange(10) * 97
    X[rows, np.arange(10) % d] += 10 * np.ptp(X, axis=0)[np.arange(10) % d]
    assert (scores_of(X)[rows] > OUTLIER_FROM).all()


def test_a_row_whose_columns_never_go_together_is_far():
    rng = np.random.default_rng(0)
    weight = rng.normal(size=1000)
    X = np.column_stack([weight, weight + 0.1 * rng.normal(size=1000), normal(1000, 3)])
    X[13, :2] = 2, -2
    scores = scores_of(X)
    assert scores.argmax() == 13
    assert scores[13] > OUTLIER_FROM


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), n=st.integers(20, 120), d=st.integers(1, 5))
def test_threads_and_units_change_nothing(seed, n, d):
    rng = np.random.default_rng(seed)
    X = rng.standard_t(2, size=(n, d))
    scores = scores_of(X)
    assert ((scores >= 0) & (scores <= 1)).all()
    assert_array_equal(scores_of(X, n_threads=2), scores)
    assert_allclose(scores_of(X * 1024.0 ** np.arange(d)), scores, atol=1e-5)


def test_few_rows_and_rows_that_are_nearly_all_equal_are_not_judged():
    assert_array_equal(scores_of(np.ones((50, 2))), np.zeros(50))
    assert_array_equal(scores_of(normal(19)), np.zeros(19))
    X = np.ones((50, 2))
    X[7] = 3
    assert scores_of(X).max() <= OUTLIER_FROM


def test_an_issue_names_the_row_and_the_column():
    X = normal(300, 3)
    X[5, 1] = 1000
    (issue,) = find_outliers(X, embed_rows(X), ["age", "weight", "height"], np.arange(300) + 2)
    assert issue.rows == (5,)
    assert issue.columns == ("weight",)
    assert issue.message.startswith("Row 7 is far from all others, most of all in weight;")
