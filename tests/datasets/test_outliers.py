"""Outliers: how many rows, how far."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from granulearn.datasets import add_outliers


def standard_distance(X, reference):
    return np.linalg.norm((X - reference.mean(axis=0)) / reference.std(axis=0), axis=1)


@settings(deadline=None)
@given(
    st.integers(3, 40), st.integers(1, 6), st.floats(0, 1), st.floats(1.1, 20), st.integers(0, 999)
)
def test_exactly_round_rate_n_rows_land_at_scale_times_the_farthest(n, d, rate, scale, seed):
    X = np.random.default_rng(seed).normal(size=(n, d)) * np.arange(1, d + 1) + 7
    before = X.copy()
    moved, mask = add_outliers(X, rate, scale, random_state=seed)
    np.testing.assert_array_equal(X, before)
    assert mask.sum() == round(rate * n)
    np.testing.assert_array_equal(moved[~mask], X[~mask])
    farthest = standard_distance(X, X).max()
    np.testing.assert_allclose(standard_distance(moved[mask], X), scale * farthest)


def test_directions_are_spread_around():
    X = np.random.default_rng(0).normal(size=(4000, 2))
    moved, mask = add_outliers(X, 1.0, random_state=0)
    quarters = np.bincount((moved[mask] > 0) @ [1, 2], minlength=4)
    assert (np.abs(quarters - 1000) < 5 * np.sqrt(1000 * 0.75)).all()


def test_a_table_keeps_its_form_and_its_other_columns():
    frame = pd.DataFrame(
        {"a": [1, 2, 3, 4], "kind": list("xyxy"), "b": [4.0, 3.0, 2.0, 1.5]}, index=list("pqrs")
    )
    moved, mask = add_outliers(frame, 0.5, random_state=0)
    assert list(moved.columns) == ["a", "kind", "b"]
    assert list(moved.index) == list("pqrs")
    assert moved["kind"].tolist() == list("xyxy")
    assert (moved.loc[~mask, ["a", "b"]] == frame.loc[~mask, ["a", "b"]]).all(axis=None)
    assert (moved.loc[mask, "a"] != frame.loc[mask, "a"]).all()


def test_a_column_that_does_not_vary_stays():
    X = np.column_stack([np.ones(10), np.arange(10.0)])
    moved, mask = add_outliers(X, 0.3, random_state=0)
    assert (moved[:, 0] == 1).all()
    assert (np.abs(moved[mask, 1] - 4.5) > 4.5).all()


@pytest.mark.parametrize(
    ("X", "arguments", "message"),
    [
        (np.eye(3), {"rate": -0.1}, "rate=-0.1"),
        (np.eye(3), {"rate": 0.1, "scale": 1.0}, "scale=1.0"),
        (np.ones((3, 2)), {"rate": 0.1}, "does not vary"),
        (pd.DataFrame({"a": list("xyz")}), {"rate": 0.1}, "no numeric column"),
        (np.array([[np.nan], [1.0]]), {"rate": 0.1}, "NaN"),
    ],
)
def test_what_makes_no_sense_is_refused(X, arguments, message):
    with pytest.raises(ValueError, match=message):
        add_outliers(X, **arguments)
