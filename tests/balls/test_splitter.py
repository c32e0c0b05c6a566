"""The compiled splitter against its slow twin."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from granulearn.balls._ball_set import centers_and_radii
from granulearn.balls._two_means import Splitter
from tests.balls import reference


@pytest.mark.slow
@settings(max_examples=50)
@given(
    shape=st.tuples(st.integers(2, 300), st.integers(1, 7)),
    n_classes=st.integers(2, 5),
    data_seed=st.integers(0, 10**6),
    key=st.integers(0, 2**64 - 1),
    purity=st.sampled_from([0.5, 0.8, 0.985, 1.0]),
    init=st.sampled_from(["k-means++", "class-means"]),
    max_fit=st.sampled_from([3, 20, 150, 1000]),
)
def test_balls_equal_those_of_the_slow_twin(
    shape, n_classes, data_seed, key, purity, init, max_fit
):
    rng = np.random.RandomState(data_seed)
    X = rng.standard_normal(shape)
    y = rng.randint(n_classes, size=shape[0]).astype(np.int32)
    order, sizes = np.arange(len(X)), np.zeros(len(X), np.intp)
    splitter = Splitter(X, y, order, sizes, n_classes, purity, init == "class-means", max_fit)
    splitter.split_all(key)
    expected = reference.reference_balls(X, y, np.arange(len(X)), key, purity, init, max_fit)
    assert_array_equal(sizes[sizes > 0], [len(ball) for ball in expected])
    assert_array_equal(order, np.concatenate(expected))


def test_centers_and_radii_equal_numpy_on_every_ball():
    rng = np.random.RandomState(3)
    rows, order = rng.standard_normal((60, 4)) + 50, rng.permutation(60)
    bounds = np.array([0, 1, 5, 30, 60])
    centers, radii = centers_and_radii(rows, order, bounds)
    for ball, members in enumerate(np.split(order, bounds[1:-1])):
        own = rows[members]
        assert_allclose(centers[ball], own.mean(axis=0), rtol=1e-12)
        distances = np.linalg.norm(own - own.mean(axis=0), axis=1)
        assert_allclose(radii[ball], distances.mean(), rtol=1e-12, atol=1e-12)
