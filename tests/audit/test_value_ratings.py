"""Laws of the ratings of numbers; the local spread and the search have slow twins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from granulearn.audit import value_ratings as module
from granulearn.audit.value_ratings import (
    error_probability,
    explained_share,
    local_spread,
    neighbours,
    rate_residuals,
    remoteness,
    usual_size,
    weighted_quantile,
)

distances = arrays(float, st.integers(1, 60), elements=st.floats(0, 1e6, allow_subnormal=False))


def spread_row_by_row(residuals, near, factors):
    """Return what `local_spread` says, one row at a time."""
    sizes = [abs(r) / f for r, f in zip(residuals, factors, strict=True)]
    of_all = np.median(sizes) / stats.norm.ppf(0.75)
    found = []
    for row, factor in enumerate(factors):
        own = np.median([sizes[other] for other in near[row]]) / stats.norm.ppf(0.75)
        found.append(factor * (0.8 * own**2 + 0.2 * of_all**2) ** 0.5)
    return found


@given(st.integers(0, 10**6), st.integers(3, 40), st.integers(1, 5))
def test_the_local_spread_is_that_of_its_slow_twin(seed, n, k):
    rng = np.random.default_rng(seed)
    near = np.array(
        [rng.permutation(np.delete(np.arange(n), i))[: min(k, n - 1)] for i in range(n)]
    )
    residuals, factors = rng.normal(size=n), rng.uniform(1, 3, size=n)
    found = local_spread(residuals, near, factors)
    assert_allclose(found, spread_row_by_row(residuals, near, factors))


@given(st.integers(0, 10**6), st.integers(2, 80), st.integers(1, 4))
def test_neighbours_and_remoteness_are_those_of_looking_at_every_pair(seed, n, d):
    points = np.random.default_rng(seed).normal(size=(n, d))
    apart = np.linalg.norm(points[:, None] - points, axis=2)
    np.fill_diagonal(apart, np.inf)
    near = neighbours(points)
    expected = np.sort(apart, axis=1)[:, : min(50, n - 1)]
    assert_allclose(np.take_along_axis(apart, near, axis=1), expected)
    far = expected[:, :10].mean(axis=1)
    assert_allclose(remoteness(points, near), np.sqrt(np.maximum(far / np.median(far), 1)))


def test_neighbours_of_many_rows_are_sought_among_some(monkeypatch):
    monkeypatch.setattr(module, "MAX_SEARCHED", 60)
    points = np.random.default_rng(0).normal(size=(600, 2))
    near = neighbours(points)
    assert near.shape == (600, 50)
    assert set(np.unique(near)) <= set(range(0, 600, 10))
    assert not (near == np.arange(600)[:, None]).any()


def test_rows_that_are_all_equal_are_not_remote():
    points = np.ones((30, 2))
    assert_array_equal(remoteness(points, neighbours(points)), 1)


def test_spread_follows_the_neighbours():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(600, 1))
    residuals = rng.normal(size=600) * np.where(X[:, 0] > 0, 5, 1)
    spread = rate_residuals(X, np.zeros(600), residuals).spread
    assert 3 < np.median(spread[X[:, 0] > 0.2]) / np.median(spread[X[:, 0] < -0.2]) < 6


@given(distances)
def test_what_is_farther_is_more_probably_wrong(distance):
    proba = error_probability(distance)
    assert ((proba >= 0) & (proba <= 1)).all()
    assert (np.diff(proba[np.argsort(distance)]) >= -1e-12).all()


@pytest.mark.parametrize("share", [0.0, 0.05, 0.2])
def test_where_the_assumptions_hold_probabilities_are_right_or_too_low(share):
    rng = np.random.default_rng(0)
    n = 20_000
    wrong = rng.random(n) < share
    right_ones = stats.t(7).rvs(n, random_state=1)
    distance = np.abs(np.where(wrong, 5 * stats.cauchy.rvs(size=n, random_state=2), right_ones))
    proba = error_probability(distance)
    # Wrong values widen what is taken for usual, so their share is told too low, never too high.
    assert 0.75 * share <= proba.mean() <= share + 0.001
    middle = (proba > 0.3) & (proba < 0.9)
    if share:
        assert wrong[middle].mean() >= proba[middle].mean() - 0.08
        if share < 0.1:
            assert wrong[middle].mean() <= proba[middle].mean() + 0.08
        assert wrong[proba > 0.9].mean() > 0.95
    else:
        assert (proba > 0.5).mean() < 0.002


def test_residuals_that_are_rounding_are_not_far():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2))
    ratings = rate_residuals(X, X[:, 0], 1e-14 * rng.standard_cauchy(100))
    assert ratings.error_proba.max() < 0.1


def test_the_range_holds_nineteen_in_twenty_of_the_right_values():
    rng = np.random.default_rng(0)
    X, residuals = rng.normal(size=(2000, 2)), rng.normal(size=2000)
    residuals[:100] = 30
    ratings = rate_residuals(X, np.zeros(2000), residuals)
    inside = np.abs(residuals) <= ratings.half_width
    assert inside[100:].mean() == pytest.approx(0.95, abs=0.01)
    assert not inside[:100].any()


@given(arrays(float, st.integers(1, 30), elements=st.floats(-1e6, 1e6)))
def test_usual_size_is_the_median_or_where_that_is_zero_the_mean(numbers):
    sizes = np.abs(numbers)
    found = usual_size(numbers)
    if np.median(sizes) / stats.norm.ppf(0.75) > 0:
        assert found == pytest.approx(np.median(sizes) / stats.norm.ppf(0.75))
    else:
        assert found == sizes.mean()


def test_a_weighted_quantile_counts_weights_as_repeated_values():
    values, counts = np.array([3.0, 1.0, 2.0, 9.0]), np.array([2, 5, 3, 0])
    repeated = np.sort(np.repeat(values, counts))
    for share in (0.05, 0.5, 0.55, 0.8, 0.95, 1.0):
        expected = repeated[int(np.ceil(share * len(repeated))) - 1]
        assert weighted_quantile(values, counts.astype(float), share) == expected


def test_explained_share_is_r_squared_and_leaves_out_what_is_not_trusted():
    rng = np.random.default_rng(0)
    values = rng.normal(size=50)
    residuals = 0.1 * rng.normal(size=50)
    expected = 1 - np.mean(residuals**2) / values.var()
    assert explained_share(values, residuals, np.ones(50)) == pytest.approx(expected)
    trust = np.ones(52)
    trust[50:] = 0
    more = [np.append(numbers, [1e6, -1e6]) for numbers in (values, residuals)]
    assert explained_share(*more, trust) == pytest.approx(expected)
