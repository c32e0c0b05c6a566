"""The true class behind noise that is known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from granulearn.ensemble.noise import check_noise_matrix, true_scores


@given(seed=st.integers(0, 10**6), n_classes=st.integers(2, 4))
def test_noise_is_undone_where_it_is_known(seed, n_classes):
    rng = np.random.default_rng(seed)
    true, noise = rng.dirichlet(np.ones(n_classes), 20), 2 * np.eye(n_classes)
    noise += rng.dirichlet(np.ones(n_classes), n_classes)
    noise /= noise.sum(axis=1, keepdims=True)
    assert_allclose(true_scores(true @ noise, noise), true, atol=1e-9)


def test_what_is_surer_than_the_noise_allows_has_scores_below_zero_that_sum_to_one():
    noise = np.array([[0.8, 0.2], [0.2, 0.8]])
    assert_allclose(true_scores(np.array([[0.95, 0.05]]), noise), [[1.25, -0.25]])


def test_a_share_of_wrong_labels_is_spread_over_the_other_classes():
    assert check_noise_matrix(None, 3) is None
    assert_allclose(check_noise_matrix(0.2, 3), [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]])
    assert_allclose(check_noise_matrix(0, 2), np.eye(2))


@pytest.mark.parametrize(
    ("noise", "message"),
    [
        (0.5, "must be below 0.5"),
        (np.eye(3), "2 classes need a matrix of 2 by 2"),
        ([[0.9, 0.2], [0, 1]], "rows that sum to one"),
        ([[1.5, -0.5], [0, 1]], "some are negative"),
        ([[0.5, 0.5], [0.5, 0.5]], "cannot be inverted"),
    ],
)
def test_noise_that_cannot_be_is_refused(noise, message):
    with pytest.raises(ValueError, match=message):
        check_noise_matrix(noise, 2)
