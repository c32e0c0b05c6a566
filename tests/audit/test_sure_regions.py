"""How many labels are wrong, judged by the surest rows: a likelihood, and what it recovers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.special import expit, logit
from sklearn.datasets import make_blobs

from granulearn.audit import LabelAudit
from granulearn.audit.sure_regions import (
    SURE_SHARE,
    _binned,
    _profile,
    _rates,
    guess_noise,
    surest_miss,
)
from granulearn.datasets import flip_labels


def given_labels(n_classes, rate, n=600, seed=0):
    """Return probabilities of a shy model, and labels of which a share is wrong at random."""
    rng = np.random.default_rng(seed)
    true = rng.dirichlet(np.full(n_classes, 0.2), n)
    y = np.array([rng.choice(n_classes, p=row) for row in true])
    labels, _ = flip_labels(y, rate, random_state=seed) if rate else (y, None)
    seen = (1 - rate) * true + rate / (n_classes - 1) * (1 - true)
    shy = seen**0.8
    return shy / shy.sum(axis=1, keepdims=True), labels


def likelihood_by_hand(theta, z, hits, sizes, rate, n_classes):
    share = expit(theta[2] + 3) if n_classes > 2 else 1.0
    floor = rate / (n_classes - 1) * share
    total = 0.0
    for at, hit, size in zip(z, hits, sizes, strict=True):
        p = floor + (1 - rate - floor) * expit(theta[0] + np.exp(theta[1]) * at)
        p = min(max(p, 1e-9), 1 - 1e-9)
        total += hit * np.log(p) + (size - hit) * np.log(1 - p)
    spread = np.array([1.0, 1.0, 2.0])[: len(theta)]
    return total - ((theta / spread) ** 2).sum() / 2


@pytest.mark.parametrize("n_classes", [2, 3, 6])
@pytest.mark.parametrize("rate", [0.0, 0.15])
def test_the_profile_of_each_rate_is_its_best_fit(n_classes, rate):
    bins = _binned(*given_labels(n_classes, rate))
    rates = _rates(n_classes)[::6]
    found = _profile(*bins, rates, n_classes)
    for value, at in zip(found, rates, strict=True):
        best = max(
            -minimize(
                lambda theta, at=at: -likelihood_by_hand(theta, *bins, at, n_classes),
                np.full(2 if n_classes == 2 else 3, begin),
                method="L-BFGS-B",
                options={"ftol": 1e-13, "gtol": 1e-8},
            ).fun
            for begin in (0.0, 0.5)
        )
        # What is e^20 times less probable need not be known as well.
        assert value == pytest.approx(best, abs=1e-3 if best > found.max() - 20 else 0.02)


@settings(max_examples=30)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 200), n_classes=st.integers(2, 4))
def test_bins_hold_every_pair_of_row_and_class_once_and_do_not_depend_on_row_order(
    seed, n, n_classes
):
    rng = np.random.default_rng(seed)
    # Few values, so that there are ties.
    proba = rng.integers(1, 4, size=(n, n_classes)).astype(float)
    proba /= proba.sum(axis=1, keepdims=True)
    y = rng.integers(n_classes, size=n)
    z, hits, sizes = _binned(proba, y)
    twice = 2 if n_classes == 2 else 1
    assert twice * sizes.sum() == n * n_classes
    assert twice * hits.sum() == n
    assert (np.diff(z) >= -1e-9).all()
    assert_allclose(twice * (z * sizes).sum(), logit(proba).sum(), atol=1e-6)
    order = rng.permutation(n)
    for one, other in zip(_binned(proba[order], y[order]), (z, hits, sizes), strict=True):
        assert_allclose(one, other, atol=1e-9)


def test_the_surest_miss_is_that_of_the_surest_rows_of_each_predicted_class():
    rng = np.random.default_rng(0)
    proba = rng.dirichlet(np.full(3, 0.5), 300)
    expected = 0.0
    for k in range(3):
        own = sorted(row.max() for row in proba if row.argmax() == k)
        surest = own[-int(np.ceil(SURE_SHARE * len(own))) :]
        expected += len(own) / 300 * (1 - np.mean(surest))
    assert surest_miss(proba) == pytest.approx(expected)


@pytest.mark.parametrize("rate", [0.05, 0.1, 0.2, 0.3])
@pytest.mark.parametrize("n_classes", [5, 10])
def test_noise_at_random_is_recovered_where_many_classes_are_far_apart(n_classes, rate):
    X, y = make_blobs(1000, 4, centers=n_classes, cluster_std=0.4, random_state=3)
    labels, _ = flip_labels(y, rate, random_state=1)
    noise = LabelAudit(n_estimators=50, random_state=0).fit(X, labels).noise_
    assert noise.rate == pytest.approx(rate, abs=0.02)
    assert noise.low <= rate <= noise.high


@pytest.mark.parametrize("n_classes", [2, 5, 10])
def test_clean_classes_that_are_far_apart_have_no_noise(n_classes):
    X, y = make_blobs(1000, 4, centers=n_classes, cluster_std=0.4, random_state=3)
    noise = LabelAudit(n_estimators=50, random_state=0).fit(X, y).noise_
    assert noise.rate < 0.001
    assert noise.low == 0
    assert noise.high < 0.02


@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_guess_rises_with_the_noise_and_lies_in_its_range(n_classes):
    rates = []
    for rate in (0.0, 0.1, 0.25):
        proba, labels = given_labels(n_classes, rate, n=1500)
        calibrated = proba**1.25 / (proba**1.25).sum(axis=1, keepdims=True)
        guess = guess_noise(proba, calibrated, labels)
        assert 0 <= guess.low <= guess.rate <= guess.high < 1
        rates.append(guess.rate)
    assert rates[0] < 0.01 < rates[1] < 0.11 < rates[2] < 0.27
