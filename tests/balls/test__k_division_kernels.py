"""The compiled loops of the k-division maker against a slow twin."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from granulearn.balls import _k_division_kernels
from tests.balls import reference


def reference_divisions(X, y, rows, key, purity, center=None):
    """Return the balls below one ball as a list of row numbers each."""
    counts = np.bincount(y[rows])
    if counts.max() / len(rows) >= purity or len(np.unique(X[rows], axis=0)) == 1:
        return [rows]
    if center is None:
        center = rows[int(reference.uniform(key, len(rows)) * len(rows))]
    draws = np.array([reference.uniform(key, i) for i in range(len(rows))])
    drawn = []
    for label in np.unique(y[rows]):
        if label != y[center]:
            own = np.flatnonzero(y[rows] == label)
            drawn.append(own[draws[own].argmin()])
    centers = [center, *rows[np.sort(drawn)]]
    distances = ((X[rows][:, None, :] - X[centers][None]) ** 2).sum(axis=2)
    part = distances.argmin(axis=1)
    if len(np.unique(part)) == 1:
        ranges = np.ptp(X[rows], axis=0)
        values = X[rows, ranges.argmax()]
        part = (values > values.min() + ranges.max() / 2).astype(int)
        centers = [None, None]
    keys = [reference.mixed(key ^ reference.mixed(k)) for k in range(len(centers))]
    return [
        ball
        for k in np.unique(part)
        for ball in reference_divisions(X, y, rows[part == k], keys[k], purity, centers[k])
    ]


def grown(X, y, n_classes, key, purity):
    perm, sizes = np.empty(len(X), np.int64), np.empty(len(X), np.int64)
    _k_division_kernels.grow_divisions(X, y, np.uint64(key), purity, n_classes, perm, sizes)
    return np.split(perm, np.flatnonzero(sizes)[1:])


@settings(max_examples=100)
@given(
    shape=st.tuples(st.integers(2, 150), st.integers(1, 4)),
    n_classes=st.integers(2, 6),
    data_seed=st.integers(0, 10**6),
    key=st.integers(0, 2**64 - 1),
    purity=st.sampled_from([0.5, 0.8, 1.0]),
    on_grid=st.booleans(),
)
def test_balls_equal_those_of_the_slow_twin(shape, n_classes, data_seed, key, purity, on_grid):
    rng = np.random.RandomState(data_seed)
    X = rng.randint(3, size=shape).astype(float) if on_grid else rng.standard_normal(shape)
    y = rng.randint(n_classes, size=shape[0]).astype(np.int32)
    balls = grown(X, y, n_classes, key, purity)
    expected = reference_divisions(X, y, np.arange(shape[0]), key, purity)
    assert len(balls) == len(expected)
    for ball, twin in zip(balls, expected, strict=True):
        assert_array_equal(ball, twin)


def test_each_other_class_has_one_centre_and_every_sample_the_same_chance():
    y = np.array([0, 0, 1, 1, 1, 2], np.int32)
    centers, drawn = np.empty(4, np.int64), []
    for key in range(3000):
        lowest, place = np.full(3, 2.0), np.zeros(3, np.int64)
        centers[0] = 1
        n_centers = _k_division_kernels.draw_centers(
            y, np.arange(6), 0, 6, np.uint64(key), lowest, place, centers
        )
        assert n_centers == 3
        assert_array_equal(lowest, 2.0)
        drawn.append(centers[:3].copy())
    drawn = np.array(drawn)
    assert (drawn[:, 0] == 1).all()
    assert (drawn[:, 2] == 5).all()
    assert (np.bincount(drawn[:, 1], minlength=6)[2:5] > 900).all()
