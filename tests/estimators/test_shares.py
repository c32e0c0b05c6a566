"""Shares of least squared error, and powers of least log-loss."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from sklearn.metrics import log_loss

from granulearn.estimators.shares import (
    best_power,
    best_shares,
    floored,
    mean_squared_error,
    powered,
    shares_of_members,
    within_forest,
    without_small,
)

seeds = st.integers(0, 10**6)


def random_proba(rng, *shape):
    proba = rng.random(shape) + 0.05
    return proba / proba.sum(axis=-1, keepdims=True)


def drawn_classes(rng, proba):
    return (proba.cumsum(axis=1) > rng.random((len(proba), 1))).argmax(axis=1)


@given(seed=seeds, n_members=st.integers(1, 5), prior_samples=st.sampled_from([0.0, 30.0, 1e9]))
def test_shares_are_those_that_a_general_solver_finds(seed, n_members, prior_samples):
    rng = np.random.default_rng(seed)
    members = random_proba(rng, n_members, 40, 3)
    Y, weights = np.eye(3)[rng.integers(3, size=40)], rng.random(40) + 0.1
    prior = random_proba(rng, n_members)
    target = np.einsum("a,ank->nk", prior, members)

    def loss(shares):
        mean = np.einsum("a,ank->nk", shares, members)
        own = weights @ np.square(mean - Y).sum(axis=1)
        leaning = weights @ np.square(mean - target).sum(axis=1) / weights.sum()
        return own + prior_samples * leaning

    found = best_shares(members, Y, weights, prior, prior_samples)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(1)
    solver = minimize(
        loss,
        prior,
        bounds=[(0, 1)] * n_members,
        constraints={"type": "eq", "fun": lambda shares: shares.sum() - 1},
    )
    assert loss(found) <= solver.fun * (1 + 1e-6) + 1e-9
    if prior_samples == 1e9:
        assert_allclose(found, prior, atol=1e-3)


def test_samples_that_a_member_does_not_know_are_left_out():
    rng = np.random.default_rng(0)
    members, Y = random_proba(rng, 2, 30, 2), np.eye(2)[rng.integers(2, size=30)]
    members[1, 7] = np.nan
    known = np.arange(30) != 7
    prior = np.array([0.5, 0.5])
    assert_allclose(
        best_shares(members, Y, np.ones(30), prior),
        best_shares(members[:, known], Y[known], np.ones(29), prior),
    )
    members[1] = np.nan
    assert_array_equal(best_shares(members, Y, np.ones(30), prior), prior)


def test_members_that_say_next_to_nothing_are_left_out():
    assert_allclose(without_small(np.array([0.01, 0.495, 0.0, 0.495])), [0, 0.5, 0, 0.5])


def test_of_members_that_say_the_same_the_shares_stay_on_the_simplex():
    one = random_proba(np.random.default_rng(0), 30, 2)
    shares = best_shares(
        np.stack([one, one]), np.eye(2)[np.arange(30) % 2], np.ones(30), [0.5, 0.5]
    )
    assert shares.sum() == pytest.approx(1)
    assert shares.min() >= 0


@pytest.mark.parametrize("true_power", [0.4, 1.0, 3.0])
def test_the_power_of_probabilities_is_found_again(true_power):
    rng = np.random.default_rng(0)
    proba = random_proba(rng, 20_000, 3)
    codes = drawn_classes(rng, powered(proba, true_power))
    assert best_power(proba, codes, np.ones(len(codes))) == pytest.approx(true_power, rel=0.1)


def test_the_power_of_the_true_class_is_found_from_labels_that_noise_went_over():
    rng = np.random.default_rng(2)
    proba, noise = random_proba(rng, 20_000, 3), np.full((3, 3), 0.1) + 0.7 * np.eye(3)
    codes = drawn_classes(rng, powered(proba, 2.0) @ noise)
    assert best_power(proba, codes, np.ones(len(codes)), noise) == pytest.approx(2.0, rel=0.1)


def test_the_power_has_the_least_log_loss_of_a_grid_and_counts_weights_as_repetitions():
    rng = np.random.default_rng(1)
    proba, codes = random_proba(rng, 200, 3), rng.integers(3, size=200)
    weights = rng.integers(1, 4, 200)
    found = best_power(proba, codes, weights.astype(float))
    losses = {
        power: log_loss(codes, powered(proba, power), sample_weight=weights)
        for power in [found, *np.geomspace(0.15, 7, 60)]
    }
    assert min(losses, key=losses.get) == found
    doubtful = best_power(proba, codes, weights.astype(float), doubt=0.3)
    smooth = 0.7 * np.eye(3)[codes] + 0.3 / 3

    def smooth_loss(power):
        return -weights @ (smooth * np.log(powered(proba, power))).sum(axis=1)

    assert min([doubtful, *np.geomspace(0.15, 7, 60)], key=smooth_loss) == doubtful
    repeated = np.repeat(np.arange(200), weights)
    alone = best_power(proba[repeated], codes[repeated], np.ones(len(repeated)))
    assert found == pytest.approx(alone, rel=1e-4)


def test_who_is_always_right_may_be_sure_but_not_where_labels_are_in_doubt():
    codes = np.arange(100) % 2
    proba = np.where(np.eye(2)[codes] > 0, 0.8, 0.2)
    sure = best_power(proba, codes, np.ones(100))
    doubted = best_power(proba, codes, np.ones(100), doubt=0.04)
    assert sure > 7  # the largest that is looked for
    assert powered(proba, doubted).max() == pytest.approx(0.98, abs=1e-3)


@given(seed=seeds, power=st.floats(0.2, 7))
def test_floor_and_power_keep_the_order_of_classes(seed, power):
    rng = np.random.default_rng(seed)
    scores = random_proba(rng, 30, 4) * 1.4 - 0.1
    proba = powered(floored(scores, 0.01), power)
    assert_allclose(proba.sum(axis=1), 1)
    assert proba.min() > 0
    assert_array_equal(proba.argmax(axis=1), scores.argmax(axis=1))


def test_the_squared_error_is_a_weighted_mean_over_known_rows():
    predictions = np.array([[1.0, 0], [0.5, 0.5], [np.nan, np.nan]])
    Y = np.array([[1, 0], [1, 0], [0, 1]])
    assert mean_squared_error(predictions, Y, np.array([1.0, 3, 9])) == pytest.approx(0.375)
    assert np.isnan(mean_squared_error(predictions[2:], Y[2:], np.ones(1)))


def test_shares_that_are_not_chosen_are_equal_ones_of_first_weighing_and_committee():
    unseen = random_proba(np.random.default_rng(0), 4, 40, 3)
    codes, weights = np.arange(40) % 3, np.ones(40)
    shares = shares_of_members(codes, weights, unseen[:2], list(unseen[2:]), chooses=False)
    assert_array_equal(shares, [0.5, 0, 0.5, 0])
    assert_array_equal(within_forest(shares[:2]), [1, 0])


def test_a_forest_that_says_nothing_still_has_a_weighing():
    assert_array_equal(within_forest(np.zeros(3)), [1, 0, 0])
    assert_allclose(within_forest(np.array([0.1, 0.3])), [0.25, 0.75])
