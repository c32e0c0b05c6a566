"""Ensemble weights of least squared error, and temperatures of least log-loss."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from sklearn.metrics import log_loss

from granulearn.utils.stacking import (
    best_temperature,
    brier_score,
    clip_proba,
    estimate_noise_rate,
    stacking_weights,
    temperature_scale,
)

seeds = st.integers(0, 10**6)


def random_proba(rng, *shape):
    proba = rng.random(shape) + 0.05
    return proba / proba.sum(axis=-1, keepdims=True)


def drawn_classes(rng, proba):
    return (proba.cumsum(axis=1) > rng.random((len(proba), 1))).argmax(axis=1)


@given(seed=seeds, n_members=st.integers(1, 5), prior_samples=st.sampled_from([0.0, 30.0, 1e9]))
def test_weights_minimise_the_squared_error_as_a_general_solver_does(
    seed, n_members, prior_samples
):
    rng = np.random.default_rng(seed)
    members = random_proba(rng, n_members, 40, 3)
    Y, sample_weight = np.eye(3)[rng.integers(3, size=40)], rng.random(40) + 0.1
    prior = random_proba(rng, n_members)
    target = np.einsum("a,ank->nk", prior, members)

    def loss(weights):
        mean = np.einsum("a,ank->nk", weights, members)
        own = sample_weight @ np.square(mean - Y).sum(axis=1)
        leaning = sample_weight @ np.square(mean - target).sum(axis=1) / sample_weight.sum()
        return own + prior_samples * leaning

    found = stacking_weights(members, Y, sample_weight, prior, prior_samples)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(1)
    solver = minimize(
        loss,
        prior,
        bounds=[(0, 1)] * n_members,
        constraints={"type": "eq", "fun": lambda weights: weights.sum() - 1},
    )
    if found[found > 0].min() > 0.05 and not ((solver.x > 1e-6) & (solver.x < 0.03)).any():
        assert loss(found) <= solver.fun * (1 + 1e-6) + 1e-9
    if prior_samples == 1e9 and prior.min() > 0.03:
        assert_allclose(found, prior, atol=1e-3)


def test_samples_that_a_member_does_not_know_are_ignored():
    rng = np.random.default_rng(0)
    members, Y = random_proba(rng, 2, 30, 2), np.eye(2)[rng.integers(2, size=30)]
    members[1, 7] = np.nan
    known = np.arange(30) != 7
    prior = np.array([0.5, 0.5])
    assert_allclose(
        stacking_weights(members, Y, np.ones(30), prior, 10),
        stacking_weights(members[:, known], Y[known], np.ones(29), prior, 10),
    )
    members[1] = np.nan
    assert_array_equal(stacking_weights(members, Y, np.ones(30), prior, 10), prior)


def test_of_members_that_predict_the_same_the_weights_sum_to_one():
    one = random_proba(np.random.default_rng(0), 30, 2)
    Y, half = np.eye(2)[np.arange(30) % 2], np.array([0.5, 0.5])
    weights = stacking_weights(np.stack([one, one]), Y, np.ones(30), half, 300)
    assert weights.sum() == pytest.approx(1)
    assert weights.min() >= 0


@pytest.mark.parametrize("temperature", [0.4, 1.0, 3.0])
def test_the_temperature_of_probabilities_is_found_again(temperature):
    rng = np.random.default_rng(0)
    proba = random_proba(rng, 20_000, 3)
    codes = drawn_classes(rng, temperature_scale(proba, temperature))
    assert best_temperature(proba, codes) == pytest.approx(temperature, rel=0.15)


def test_the_temperature_of_the_true_class_is_found_from_noisy_labels():
    rng = np.random.default_rng(2)
    proba, noise = random_proba(rng, 20_000, 3), np.full((3, 3), 0.1) + 0.7 * np.eye(3)
    codes = drawn_classes(rng, temperature_scale(proba, 0.5) @ noise)
    assert best_temperature(proba, codes, noise_matrix=noise) == pytest.approx(0.5, rel=0.1)


def test_the_temperature_has_the_least_log_loss_and_counts_weights_as_repetitions():
    rng = np.random.default_rng(1)
    proba, codes = random_proba(rng, 200, 3), rng.integers(3, size=200)
    weights = rng.integers(1, 4, 200)
    found = best_temperature(proba, codes, weights.astype(float))
    grid = np.geomspace(0.15, 7, 60)
    losses = {
        t: log_loss(codes, temperature_scale(proba, t), sample_weight=weights)
        for t in [found, *grid]
    }
    assert losses[found] <= min(losses.values()) + 1e-9
    repeated = np.repeat(np.arange(200), weights)
    alone = best_temperature(proba[repeated], codes[repeated])
    assert found == pytest.approx(alone, rel=1e-4)


def test_smoothing_limits_probabilities_where_the_labels_are_always_right():
    codes = np.arange(100) % 2
    proba = np.where(np.eye(2)[codes] > 0, 0.8, 0.2)
    assert best_temperature(proba, codes) < 1 / 7  # the least that is looked for
    smooth = best_temperature(proba, codes, smoothing=0.04)
    assert temperature_scale(proba, smooth).max() == pytest.approx(0.98, abs=1e-3)


@given(seed=seeds, temperature=st.floats(0.2, 7))
def test_clipping_and_temperature_keep_the_order_of_classes(seed, temperature):
    scores = random_proba(np.random.default_rng(seed), 30, 4) * 1.4 - 0.1
    proba = temperature_scale(clip_proba(scores, 0.01), temperature)
    assert_allclose(proba.sum(axis=1), 1)
    assert proba.min() > 0
    assert_array_equal(proba.argmax(axis=1), scores.argmax(axis=1))


def test_the_brier_score_is_a_weighted_mean_over_known_rows():
    predictions = np.array([[1.0, 0], [0.5, 0.5], [np.nan, np.nan]])
    Y = np.array([[1, 0], [1, 0], [0, 1]])
    assert brier_score(predictions, Y, np.array([1.0, 3, 9])) == pytest.approx(0.375)
    assert np.isnan(brier_score(predictions[2:], Y[2:]))


@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("rate", [0.0, 0.25])
def test_the_estimated_noise_rate_is_rarely_above_the_share_of_wrong_labels(rate, n_classes):
    rng = np.random.default_rng(0)
    found = []
    for _ in range(60):
        codes = rng.integers(n_classes, size=3000)
        wrong = rng.random(3000) < rate
        labels = np.where(wrong, (codes + rng.integers(1, n_classes, 3000)) % n_classes, codes)
        proba = 0.4 * np.eye(n_classes)[codes] + 0.6 * rng.dirichlet(np.ones(n_classes), 3000)
        found.append(estimate_noise_rate(proba, labels))
    assert (np.array(found) > rate).mean() < 0.05
    assert np.mean(found) >= 0.6 * rate


def test_no_noise_is_estimated_where_nothing_predicts_the_labels():
    rng = np.random.default_rng(0)
    for frequency in (0.5, 0.8, 0.95):
        labels = (rng.random(4000) > frequency).astype(int)
        noise = rng.normal(0, 0.01, 4000)
        proba = np.column_stack([frequency + noise, 1 - frequency - noise])
        assert estimate_noise_rate(proba, labels) == 0


def test_an_estimated_noise_rate_never_makes_the_given_labels_say_nothing():
    proba = np.eye(3)[[0, 1, 2] * 4000]
    labels = np.array([0, 1, 2] * 4000)
    order = np.arange(12_000)
    labels[order % 30 < 3] += 1
    labels %= 3
    proba[order % 30 >= 3] = 0.9 * proba[order % 30 >= 3] + 0.1 / 3  # the wrong ones are surest
    assert estimate_noise_rate(proba, labels) == pytest.approx(0.6)
