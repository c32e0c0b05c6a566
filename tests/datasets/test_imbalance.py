"""Imbalance: which class is thinned, to how many rows."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from granulearn.datasets import make_imbalanced


@settings(deadline=None)
@given(st.integers(5, 60), st.integers(0, 40), st.floats(0.05, 1), st.integers(0, 999))
def test_the_smallest_class_has_ratio_times_the_largest(n_small, n_more, ratio, seed):
    y = np.random.default_rng(seed).permutation([0] * (n_small + n_more) + [1] * n_small)
    X = np.arange(len(y))[:, None]
    wanted = round(ratio * (n_small + n_more))
    if not 1 <= wanted <= n_small:
        with pytest.raises(ValueError, match="ratio="):
            make_imbalanced(X, y, ratio, seed)
        return
    thinned, labels, kept = make_imbalanced(X, y, ratio, seed)
    assert np.bincount(labels).tolist() == [n_small + n_more, wanted]
    np.testing.assert_array_equal(thinned, X[kept])
    np.testing.assert_array_equal(labels, y[kept])
    assert kept[y == 0].all()


def test_other_classes_stay_whole():
    y = np.repeat(["a", "b", "c"], [50, 20, 30])
    _, labels, _ = make_imbalanced(np.zeros((100, 1)), y, 0.1, 0)
    assert dict(zip(*np.unique(labels, return_counts=True), strict=True)) == {
        "a": 50,
        "b": 5,
        "c": 30,
    }


def test_of_equal_classes_the_last_is_thinned():
    _, labels, _ = make_imbalanced(np.zeros((20, 1)), [0, 1] * 10, 0.5)
    assert np.bincount(labels).tolist() == [10, 5]


def test_every_row_of_the_class_is_as_likely_to_stay():
    y = np.repeat([0, 1], [40, 20])
    hits = np.zeros(60)
    for seed in range(400):
        hits += make_imbalanced(np.zeros((60, 1)), y, 0.25, seed).kept
    assert (np.abs(hits[40:] - 200) < 5 * np.sqrt(400 * 0.25)).all()


def test_tables_stay_tables():
    X = pd.DataFrame({"a": range(10)}, index=list("abcdefghij"))
    y = pd.Series([0, 1] * 5, index=X.index)
    thinned, labels, kept = make_imbalanced(X, y, 0.4, 0)
    assert list(thinned.index) == list(labels.index) == list(X.index[kept])


@pytest.mark.parametrize(
    ("y", "ratio", "message"),
    [
        ([0, 0, 0, 1], 1.0, "asks for 3 rows of class 1, which has 1"),
        ([0, 0, 0, 1], 0.1, "asks for 0 rows of class 1"),
        ([0, 1, 0, 1], 0.0, "ratio=0.0"),
        ([0, 1, 0, 1], 1.2, "ratio=1.2"),
        ([0, 0, 0, 0], 0.5, "1 class"),
    ],
)
def test_what_cannot_be_done_is_refused(y, ratio, message):
    with pytest.raises(ValueError, match=message):
        make_imbalanced(np.zeros((4, 1)), y, ratio)
