"""Generated sets lie where their definition says."""

import numpy as np
import pytest

from granulearn.datasets.generated import (
    GENERATORS,
    checkerboard,
    circles,
    crossplane,
    spirals,
    two_moons,
)


@pytest.mark.parametrize("name", GENERATORS)
@pytest.mark.parametrize("n_samples", [2, 3, 101])
def test_as_many_points_as_asked_for(name, n_samples):
    X, y = GENERATORS[name](n_samples)
    assert X.shape == (n_samples, 2)
    assert y.shape == (n_samples,)
    assert set(y) <= {0, 1}


@pytest.mark.parametrize("name", GENERATORS)
def test_the_seed_decides_everything(name):
    X, y = GENERATORS[name](50, random_state=3)
    again, labels = GENERATORS[name](50, random_state=3)
    other, _ = GENERATORS[name](50, random_state=4)
    np.testing.assert_array_equal(X, again)
    np.testing.assert_array_equal(y, labels)
    assert not np.array_equal(X, other)


@pytest.mark.parametrize("name", GENERATORS)
def test_noise_moves_points_and_keeps_labels(name):
    X, y = GENERATORS[name](60, noise=0.0, random_state=1)
    moved, labels = GENERATORS[name](60, noise=0.3, random_state=1)
    assert sorted(labels) == sorted(y)
    assert not np.allclose(np.sort(moved, axis=0), np.sort(X, axis=0))


def test_a_checkerboard_changes_class_at_every_field_border():
    X, y = checkerboard(2000, cells=3)
    assert X.min() >= 0
    assert X.max() <= 3
    for (a, b), label in zip(X, y, strict=True):
        assert label == (int(a) + int(b)) % 2


def test_the_crossing_lines_are_the_diagonals():
    X, y = crossplane(300, noise=0.0)
    np.testing.assert_array_equal(X[y == 0, 0], X[y == 0, 1])
    np.testing.assert_array_equal(X[y == 1, 0], -X[y == 1, 1])
    assert np.bincount(y).tolist() == [150, 150]


def test_spiral_arms_are_turned_copies_of_one_curve():
    X, y = spirals(300, arms=3, turns=1.0, noise=0.0)
    distance = np.hypot(*X.T)
    angle = np.arctan2(X[:, 1], X[:, 0])
    expected = 2 * np.pi * (distance + y / 3)
    np.testing.assert_allclose(np.cos(angle - expected), 1, atol=1e-9)
    assert np.bincount(y).tolist() == [100, 100, 100]


def test_rings_have_their_radii():
    X, y = circles(100, factor=0.3, noise=0.0)
    np.testing.assert_allclose(np.hypot(*X[y == 0].T), 1)
    np.testing.assert_allclose(np.hypot(*X[y == 1].T), 0.3)


def test_moons_are_half_circles():
    X, y = two_moons(100, noise=0.0)
    np.testing.assert_allclose(np.hypot(*X[y == 0].T), 1)
    np.testing.assert_allclose(np.hypot(X[y == 1, 0] - 1, X[y == 1, 1] - 0.5), 1)
