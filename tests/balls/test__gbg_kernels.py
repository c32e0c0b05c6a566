"""The compiled loops of the GBG++ maker against a slow twin."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from granulearn.balls import _gbg_kernels
from tests.balls import reference


def reference_parts(X, y, rows):
    """Cut parts out of a ball; return them, and the rows that are left over."""
    parts = []
    while len(rows) > len(np.unique(y[rows])):
        own = X[rows[y[rows] == np.bincount(y[rows]).argmax()]]
        center = own.mean(axis=0)
        radius = np.linalg.norm(own - center, axis=1).mean()
        inside = np.linalg.norm(X[rows] - center, axis=1) <= radius * (1 + 2**-20)
        parts.append(rows[inside])
        rows = rows[~inside]
    return parts, rows


def halves(X, y, rows):
    """Divide a ball by two means, from the means of the majority class and of the rest."""
    means = reference.class_means(X[rows], y[rows], np.bincount(y[rows]).argmax())
    means = reference.two_means(X[rows], means)
    distances = ((X[rows][:, None, :] - means[None]) ** 2).sum(axis=2)
    right = distances[:, 1] < distances[:, 0]
    if right.all() or not right.any():
        ranges = np.ptp(X[rows], axis=0)
        values = X[rows, ranges.argmax()]
        right = values > values.min() + ranges.max() / 2
    return [rows[~right], rows[right]]


def reference_balls(X, y, rows, purity):
    """Return the balls below one ball, and the outliers, as row numbers."""
    if np.bincount(y[rows]).max() / len(rows) >= purity:
        return [rows], []
    parts, left_over = reference_parts(X, y, rows)
    if len(parts) == 1 and len(left_over) == 0:
        if len(np.unique(X[rows], axis=0)) == 1:
            return [rows], []
        parts = halves(X, y, rows)
    balls, outliers = [], list(left_over)
    for part in parts:
        if len(part) == 1:
            outliers.extend(part)
            continue
        below, more = reference_balls(X, y, part, purity)
        balls += below
        outliers += more
    return balls, outliers


@settings(max_examples=100)
@given(
    shape=st.tuples(st.integers(2, 150), st.integers(1, 4)),
    n_classes=st.integers(2, 4),
    data_seed=st.integers(0, 10**6),
    purity=st.sampled_from([0.5, 0.8, 1.0]),
    noise=st.floats(0, 1),
)
def test_balls_and_outliers_equal_those_of_the_slow_twin(
    shape, n_classes, data_seed, purity, noise
):
    rng = np.random.RandomState(data_seed)
    X = rng.standard_normal(shape)
    y = (X[:, 0] > 0).astype(np.int32)
    y = np.where(rng.uniform(size=shape[0]) < noise, rng.randint(n_classes, size=shape[0]), y)
    n = shape[0]
    perm, sizes, is_outlier = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.uint8)
    _gbg_kernels.grow_majority_balls(
        X, y.astype(np.int32), purity, 500, n_classes, perm, sizes, is_outlier
    )
    balls, outliers = reference_balls(X, y, np.arange(n), purity)
    assert_array_equal(np.sort(perm), np.arange(n))
    assert sorted(perm[is_outlier == 1]) == sorted(outliers)
    mine = [perm[start : start + sizes[start]] for start in np.flatnonzero(sizes)]
    assert {frozenset(ball) for ball in mine} == {frozenset(ball) for ball in balls}
    assert not is_outlier[np.flatnonzero(sizes)].any()


def test_what_is_within_the_mean_distance_does_not_depend_on_rounding():
    """Two samples are as far from their mean as they are on average, whatever sqrt says."""
    for seed in range(200):
        rows = np.random.RandomState(seed).standard_normal((2, 3))
        mean, distances, part = np.empty(3), np.empty(2), np.empty(2, np.uint8)
        _gbg_kernels.within_mean_distance(
            rows, np.zeros(2, np.int32), np.arange(2), 0, 2, 0, mean, distances, part
        )
        assert_array_equal(part, 0)
        assert_allclose(distances[0], distances[1])


@given(y=st.lists(st.integers(0, 4), min_size=1, max_size=30))
def test_classes_are_counted(y):
    codes, tally = np.array(y, dtype=np.int32), np.zeros(5, np.int64)
    assert _gbg_kernels.count_classes(codes, np.arange(len(y)), 0, len(y), tally) == len(set(y))
    assert not tally.any()
