"""Verdicts, the share of wrong labels and the plan of a review."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.special import expit, logit
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_blobs
from sklearn.preprocessing import StandardScaler

from granulearn.audit import LabelAudit, embedding
from granulearn.audit.error_probability import (
    CLEARLY,
    PLAUSIBLE,
    ErrorModel,
    _binned,
    _profile,
    _scaled_by_verified,
    error_probability,
    expected_errors,
    fit_error_model,
    next_rows,
    signal_z_score,
    unknown_rate,
    with_verified,
)
from granulearn.audit.ratings import (
    AMBIGUOUS,
    CONFIDENT_ROWS,
    FINE,
    NOTHING,
    OUTLIER,
    UNKNOWN,
    VERIFIED_LABELS,
    WRONG,
    NoiseRate,
    Ratings,
)
from granulearn.audit.verified import VerifiedLabels
from granulearn.datasets import flip_labels
from tests.audit.tables import three_clouds

BEFORE = NoiseRate(0.1, 0.05, 0.2, CONFIDENT_ROWS, "Estimated.")
RATES = st.floats(0.0, 0.45)


def population(n=1000, rate=0.1, seed=1):
    """Return ratings of labels that are all of the first class, and the true classes.

    The less reliable a label is, the more probably it is wrong.
    """
    rng = np.random.default_rng(seed)
    label_quality = rng.beta(4, 1, n)
    doubt = (1 - label_quality) ** 2
    truth = (rng.random(n) < rate * doubt / doubt.mean()).astype(int)
    given = np.zeros(n, dtype=int)
    ratings = Ratings(
        classes=np.array(["a", "b"]),
        given=given,
        proba=np.column_stack([label_quality, 1 - label_quality]),
        label_quality=label_quality,
        error_proba=1 - label_quality,
        predicted=given,
        verdicts=np.full(n, FINE),
        verified=np.zeros(n, dtype=bool),
    )
    return ratings, truth


def checked(truth, rows, at_random):
    rows, at_random = np.asarray(rows), np.broadcast_to(at_random, len(rows))
    order = np.argsort(rows)
    return VerifiedLabels(rows[order], truth[rows[order]], at_random[order])


def rate_with(verified, ratings, before=BEFORE):
    """Return the share of wrong labels with verified ones."""
    return with_verified(ratings, before, verified)[1]


# --- from class probabilities to verdicts


def bayes_by_hand(true, rate):
    """Return the probability that each class is wrong where it is given, class by class.

    Parameters
    ----------
    true : ndarray of shape (K,)
        Probability that each class is the true one.
    rate : float
        Share of wrong labels.
    """
    n_classes = len(true)
    T = np.full((n_classes, n_classes), rate / (n_classes - 1))
    np.fill_diagonal(T, 1 - rate)
    joint = true[:, None] * T  # true class, given class
    return [1 - joint[k, k] / joint[:, k].sum() for k in range(n_classes)], true @ T


@given(seed=st.integers(0, 10**6), n_classes=st.integers(2, 6), rate=st.floats(0.001, 0.45))
def test_the_probability_of_a_wrong_label_is_that_of_bayes_with_all_classes(seed, n_classes, rate):
    true = np.random.default_rng(seed).dirichlet(np.full(n_classes, 0.5))
    expected, given_proba = bayes_by_hand(true, rate)
    assert_allclose(error_probability(given_proba, rate, n_classes), expected, atol=1e-8)


@given(rate=RATES, n_classes=st.integers(2, 6))
def test_it_falls_as_label_quality_rises_and_stays_a_probability(rate, n_classes):
    found = error_probability(np.linspace(0, 1, 101), rate, n_classes)
    assert (np.diff(found) <= 1e-12).all()
    assert ((found >= 0) & (found <= 1)).all()


def rated_pairs(pairs, rates=(0.1,), known=True, outlier=None):
    """Return ratings of three classes; the first is given, pairs are of the first and second."""
    proba = np.array([[own, second, 1 - own - second] for own, second in pairs])
    known = np.broadcast_to(known, len(proba))
    model = ErrorModel(BEFORE, rates, 1.0)
    return model.rate(np.array(["a", "b", "c"]), proba, np.zeros(len(proba), int), known, outlier)


def test_a_verdict_follows_from_how_much_more_probable_another_class_is():
    wrong_from = CLEARLY * np.sqrt(2)
    ratios = [0.99 * PLAUSIBLE, 1.01 * PLAUSIBLE, 0.99 * wrong_from, 1.01 * wrong_from]
    ratings = rated_pairs([(1 / (1 + ratio), ratio / (1 + ratio)) for ratio in ratios])
    assert ratings.verdicts.tolist() == [FINE, AMBIGUOUS, AMBIGUOUS, WRONG]
    assert ratings.predicted.tolist() == [0, 0, 1, 1]


def test_outliers_are_those_whose_label_is_not_doubted():
    everything = np.ones(3, dtype=bool)
    ratings = rated_pairs([(0.8, 0.1), (0.4, 0.3), (0.1, 0.8)], outlier=everything)
    assert ratings.verdicts.tolist() == [OUTLIER, AMBIGUOUS, WRONG]


def test_without_a_rate_nothing_is_judged_and_what_is_unknown_stays_so():
    pairs = [(0.8, 0.1), (0.1, 0.8)]
    nothing = rated_pairs(pairs, rates=())
    assert_array_equal(nothing.verdicts, UNKNOWN)
    assert np.isnan(nothing.error_proba).all()
    assert_array_equal(nothing.predicted, nothing.given)
    ratings = rated_pairs(pairs, known=[True, False])
    assert ratings.verdicts.tolist() == [FINE, UNKNOWN]
    assert np.isnan(ratings.error_proba[1])
    assert ratings.predicted[1] == 0


def test_calibration_keeps_the_order_of_classes_and_lowers_the_loss():
    rng = np.random.default_rng(0)
    given = rng.integers(3, size=500)
    true = np.full((500, 3), 0.1)
    true[np.arange(500), given] = 0.8
    shy = true**0.3 / (true**0.3).sum(axis=1, keepdims=True)
    known = np.ones(500, dtype=bool)
    ratings = fit_error_model(shy, given, known).rate(np.arange(3), shy, given, known)
    assert np.log(ratings.label_quality).sum() > np.log(shy[np.arange(500), given]).sum()
    assert_array_equal(ratings.proba.argsort(axis=1), shy.argsort(axis=1))
    assert_allclose(ratings.proba.sum(axis=1), 1)


@pytest.mark.parametrize("n_classes", [2, 5])
def test_probabilities_that_ignore_the_labels_have_no_signal(n_classes):
    rng = np.random.default_rng(0)
    scores = [
        signal_z_score(rng.dirichlet(np.ones(n_classes), 300), rng.integers(n_classes, size=300))
        for _ in range(200)
    ]
    assert np.mean(scores) == pytest.approx(0, abs=0.5)
    assert np.mean(np.array(scores) > 1.64) < 0.12


def test_leaving_a_rows_own_label_out_of_the_count_is_no_signal():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=100)
    counts = np.bincount(y, minlength=2)
    proba = (counts - np.eye(2)[y]) / 99  # the share of each class among all other rows
    assert abs(signal_z_score(proba, y)) < 1e-6 or signal_z_score(proba, y) == -np.inf
    assert signal_z_score(proba[:1], y[:1]) == -np.inf


@pytest.fixture(scope="module")
def plain():
    X, y, _ = three_clouds(300, rate=0.15)
    return X, y, LabelAudit(random_state=0).fit(X, y)


@pytest.mark.parametrize("way", ["two threads", "its own probabilities"])
def test_threads_and_its_own_probabilities_give_the_same_audit(plain, way):
    X, y, audit = plain
    proba = audit.out_of_sample_proba_ if way == "its own probabilities" else None
    other = LabelAudit(random_state=0, n_jobs=2).fit(X, y, proba=proba)
    pd.testing.assert_frame_equal(other.to_frame(), audit.to_frame())
    assert other.noise_ == audit.noise_


def clean_sets():
    iris, wine, cancer = (
        load(return_X_y=True) for load in (load_iris, load_wine, load_breast_cancer)
    )
    blobs = make_blobs(600, 3, centers=5, cluster_std=0.5, random_state=2)
    return {
        "one iris": (iris[0], iris[1] == 0),
        "wine": wine,
        "blobs": blobs,
        "breast cancer": cancer,
    }


@pytest.mark.parametrize(
    ("name", "most"), [("one iris", 0.02), ("wine", 0.04), ("blobs", 0.02), ("breast cancer", 0.03)]
)
def test_of_clean_labels_hardly_any_is_called_wrong(name, most):
    X, y = clean_sets()[name]
    audit = LabelAudit(random_state=0).fit(StandardScaler().fit_transform(X), y)
    assert audit.is_label_issue_.mean() <= most
    assert audit.noise_.basis == "confident rows"


# --- the noise rate without verified labels


@pytest.mark.parametrize("n_classes", [2, 20])
def test_inputs_without_signal_give_no_rate_and_unknown_verdicts(n_classes):
    # A few tables of noise pass for more: one of five may.
    n_told = 0
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(1_000, 4)), rng.integers(n_classes, size=1_000)
        audit = LabelAudit(n_estimators=30, random_state=0).fit(X, y)
        if audit.noise_.basis != NOTHING:
            continue
        n_told += 1
        assert np.isnan([audit.noise_.rate, audit.noise_.low, audit.noise_.high]).all()
        assert_array_equal(audit.verdict_, "unknown")
        assert_array_equal(audit.predicted_label_, audit.given_label_)
        assert "chance" in audit.noise_.message
    assert n_told >= 4


@pytest.mark.parametrize("seed", range(2))
def test_few_rows_without_signal_give_no_rate_and_weak_verdicts(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(200, 4)), rng.integers(2, size=200)
    noise = LabelAudit(n_estimators=50, random_state=0).fit(X, y).noise_
    assert noise.basis == NOTHING
    assert np.isnan([noise.rate, noise.low, noise.high]).all()
    assert "verdicts are weak" in noise.message


def test_where_no_label_can_be_rated_nothing_is_claimed():
    nobody = np.zeros(5, dtype=bool)
    model = fit_error_model(np.full((5, 2), np.nan), np.zeros(5, dtype=int), nobody)
    assert model.noise.basis == NOTHING
    assert "No label can be rated" in model.noise.message
    assert model.rates == ()


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.25])
def test_the_true_rate_lies_in_the_range(rate):
    X, y, _ = three_clouds(300, rate)
    noise = LabelAudit(random_state=0).fit(X, y).noise_
    assert noise.basis == CONFIDENT_ROWS
    assert 0 <= noise.low <= noise.rate <= noise.high < 2 / 3
    assert noise.low <= rate <= noise.high


def test_the_upper_end_allows_for_all_labels_that_their_most_probable_class_contradicts():
    rng = np.random.default_rng(0)
    proba = rng.dirichlet(np.ones(2), 400)
    given = (rng.random(400) < proba[:, 1]).astype(int)
    noise = fit_error_model(proba, given, np.ones(400, dtype=bool)).noise
    assert noise.high > (proba.argmax(axis=1) != given).mean()


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
    rates = np.array([0.0, 0.03, 0.1, 0.2, 0.35])
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
def test_bins_hold_every_pair_of_row_and_class_once(seed, n, n_classes):
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


@pytest.mark.parametrize("rate", [0.05, 0.25])
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


def test_a_large_table_is_judged_by_a_sample(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 4))
    wrong = rng.random(4000) < 0.1
    y = (X[:, 0] + X[:, 1] > 0) ^ wrong
    whole = LabelAudit(random_state=0).fit(X, y)
    monkeypatch.setattr(embedding, "MOST_ROWS", 2000)
    sampled = LabelAudit(random_state=0).fit(X, y)
    assert abs(sampled.noise_.rate - whole.noise_.rate) < 0.02
    assert (sampled.verdict_ == whole.verdict_).mean() > 0.95
    assert wrong[sampled.is_label_issue_].mean() > 0.8


# --- the share of wrong labels, when a person has looked


@pytest.mark.parametrize("share_random", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("before", [BEFORE, unknown_rate("Nothing.")])
def test_where_every_label_was_checked_the_rate_is_the_truth(share_random, before):
    ratings, truth = population()
    at_random = np.random.default_rng(0).random(1000) < share_random
    noise = rate_with(checked(truth, np.arange(1000), at_random), ratings, before)
    assert noise.basis == VERIFIED_LABELS
    assert noise.low == noise.rate == noise.high == pytest.approx(truth.mean())


def draws(ratings, truth, n_rows, random_fraction, n_draws=200):
    """Return what many people, who look at other rows each, would say."""
    for seed in range(n_draws):
        rows, drawn = next_rows(ratings, n_rows, random_fraction, np.random.RandomState(seed))
        yield rate_with(checked(truth, rows, drawn == "random"), ratings)


@pytest.mark.parametrize(
    ("n", "rate", "n_rows", "random_fraction"),
    [(1000, 0.1, 100, 1.0), (1000, 0.1, 30, 1.0), (1000, 0.2, 40, 0.5), (2000, 0.02, 100, 0.5)],
)
def test_the_rate_is_right_on_average_and_its_range_holds_the_truth_as_often_as_it_says(
    n, rate, n_rows, random_fraction
):
    ratings, truth = population(n, rate)
    found = list(draws(ratings, truth, n_rows, random_fraction))
    rates = np.array([noise.rate for noise in found])
    assert abs(rates.mean() - truth.mean()) < 3 * rates.std() / np.sqrt(len(rates))
    covered = [noise.low <= truth.mean() <= noise.high for noise in found]
    assert np.mean(covered) >= 0.93


def test_more_rows_make_the_range_smaller():
    ratings, truth = population()
    widths = [
        np.mean([noise.high - noise.low for noise in draws(ratings, truth, n_rows, 1.0, 30)])
        for n_rows in (30, 100, 300)
    ]
    assert widths[0] > 1.5 * widths[1] > 2 * widths[2]


def test_chosen_rows_count_for_themselves_only():
    ratings, truth = population()
    worst = np.argsort(ratings.label_quality)[:50]
    rest = np.setdiff1d(np.arange(1000), worst)
    drawn = np.random.default_rng(0).choice(rest, 100, replace=False)
    clean = truth.copy()
    clean[worst] = 0
    sick = truth.copy()
    sick[worst] = 1
    rows, at_random = np.concatenate([worst, drawn]), np.arange(150) >= 50
    few, many = (rate_with(checked(truths, rows, at_random), ratings) for truths in (clean, sick))
    # Fifty more wrong labels are fifty of a thousand, and no more.
    assert many.rate - few.rate == pytest.approx(0.05)
    assert many.low >= 0.05


def test_worst_rows_alone_do_not_raise_the_rate_above_what_was_thought_of_all():
    ratings, truth = population(rate=0.1)
    worst = np.argsort(ratings.label_quality)[:200]
    noise = rate_with(checked(truth, worst, False), ratings)
    found = truth[worst].sum() / 1000
    assert 0.04 < found < BEFORE.rate
    assert noise.rate == BEFORE.rate
    assert noise.low == max(BEFORE.low, found)
    assert noise.high == BEFORE.high
    assert noise.basis == CONFIDENT_ROWS
    assert "no row was drawn at random" in noise.message


def test_what_was_seen_bounds_the_range():
    ratings, truth = population()
    everything_wrong = np.ones_like(truth)
    noise = rate_with(checked(everything_wrong, np.arange(300), False), ratings)
    assert noise.low >= 0.3
    assert noise.rate >= noise.low
    everything_right = np.zeros_like(truth)
    noise = rate_with(checked(everything_right, np.arange(950), False), ratings)
    assert noise.high == pytest.approx(0.05)
    half = checked(everything_wrong, np.arange(500), True)
    assert rate_with(half, ratings).low >= 0.5


def test_where_nothing_could_be_judged_chosen_rows_say_no_rate_and_rows_at_random_do():
    before = unknown_rate("Nothing can be said.")
    ratings, truth = population()
    chosen = rate_with(checked(truth, np.arange(20), False), ratings, before)
    assert np.isnan(chosen.rate)
    assert chosen.basis == NOTHING
    assert chosen.message.endswith("Nothing can be said.")
    drawn = rate_with(checked(truth, np.arange(0, 1000, 5), True), ratings, before)
    assert drawn.basis == VERIFIED_LABELS
    assert drawn.low <= truth.mean() <= drawn.high


def test_equal_label_quality_and_labels_that_cannot_be_rated_are_counted_too():
    ratings, truth = population()
    ratings.label_quality[:] = np.where(np.arange(1000) < 100, np.nan, 0.7)
    found = np.array([noise.rate for noise in draws(ratings, truth, 60, 1.0)])
    assert abs(found.mean() - truth.mean()) < 3 * found.std() / np.sqrt(len(found))


def test_rows_beyond_equal_drawn_ones_are_counted_like_the_others():
    ratings, truth = population(200)
    ratings.label_quality[:] = np.where(np.arange(200) < 100, 0.7, 0.9)
    drawn = checked(np.ones_like(truth), np.arange(20), True)
    assert rate_with(drawn, ratings).rate == pytest.approx(1)


# --- probabilities of being wrong, when a person has looked


def rated(n=50, seed=0, verified=0, unknown=0):
    """Return ratings of two classes; the first one is given everywhere."""
    rng = np.random.default_rng(seed)
    label_quality = rng.random(n)
    label_quality[rng.permutation(n)[:unknown]] = np.nan
    given = np.zeros(n, dtype=int)
    return Ratings(
        classes=np.array(["a", "b"]),
        given=given,
        proba=np.column_stack([label_quality, 1 - label_quality]),
        label_quality=label_quality,
        error_proba=(1 - label_quality) ** 2,
        predicted=given,
        verdicts=np.full(n, FINE),
        verified=np.isin(np.arange(n), rng.permutation(n)[:verified]),
    )


def scaled(ratings, rows, wrong):
    """Return probabilities of being wrong, scaled by what a person found in some rows."""
    truth, worst_first = np.asarray(wrong, dtype=int), np.zeros(len(rows), dtype=bool)
    return _scaled_by_verified(ratings, VerifiedLabels(np.asarray(rows), truth, worst_first))


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6), n_seen=st.integers(1, 20), share=st.floats(0, 1))
def test_what_was_found_keeps_the_order_of_label_quality(seed, n_seen, share):
    rng = np.random.default_rng(seed)
    ratings = rated(50, seed, unknown=3)
    rows = np.sort(rng.choice(50, n_seen, replace=False))
    found = scaled(ratings, rows, rng.random(n_seen) < share)
    known = ratings.known
    order = np.argsort(ratings.label_quality[known])
    assert (np.diff(found[known][order]) <= 1e-12).all()
    assert ((found[known] >= 0) & (found[known] <= 1)).all()
    assert np.isnan(found[~known]).all()


def test_probabilities_move_towards_what_was_found():
    ratings = rated(200)
    rows = np.argsort(ratings.label_quality)[:40]
    before = ratings.error_proba[rows].mean()
    more, none = (scaled(ratings, rows, np.full(40, value)) for value in (True, False))
    assert none[rows].mean() < 0.2 < before < 0.98 < more[rows].mean()
    assert (more[rows] > none[rows]).all()
    few, many = (scaled(ratings, rows[:n], np.ones(n))[rows].mean() for n in (2, 40))
    assert before < few < many


def test_the_scale_is_that_of_the_most_probable_line():
    from scipy.optimize import minimize

    ratings = rated(300, seed=4)
    rows = np.arange(0, 300, 6)
    wrong = np.random.default_rng(0).random(50) < 0.5 * ratings.error_proba[rows]
    found = scaled(ratings, rows, wrong)
    inner = np.clip(ratings.label_quality, 0.001, 0.999)
    doubt = np.log((1 - inner) / inner)
    said = np.clip(ratings.error_proba, 0.001, 0.999)
    slope, shift = np.polyfit(doubt, np.log(said / (1 - said)), 1)

    def loss(line):
        odds = line[0] + line[1] * doubt[rows]
        prior = ((line[0] - shift) / 3.0) ** 2 / 2 + (line[1] - slope) ** 2 / 2
        return np.logaddexp(0, odds).sum() - (wrong * odds).sum() + prior

    best = minimize(loss, [shift, slope], tol=1e-12).x
    expected = 1 / (1 + np.exp(-best[0] - best[1] * doubt))
    assert_allclose(found, expected, atol=1e-5)


def test_what_a_person_found_stands():
    ratings = rated_pairs([(0.1, 0.8), (0.1, 0.8), (0.8, 0.1)])
    nobody = VerifiedLabels(np.empty(0, int), np.empty(0, int), np.empty(0, bool))
    assert with_verified(ratings, BEFORE, nobody) == (ratings, BEFORE)
    rows = np.array([0, 2])
    found, _ = with_verified(ratings, BEFORE, VerifiedLabels(rows, rows, rows < 0))
    assert found.verdicts.tolist() == [FINE, WRONG, FINE]
    assert found.verified.tolist() == [True, False, True]
    assert found.predicted.tolist() == [0, 1, 2]
    assert found.error_proba[rows].tolist() == [0, 1]
    assert not ratings.verified.any()


# --- the plan of a review


@settings(max_examples=80)
@given(
    n=st.integers(1, 30),
    asked=st.integers(1, 40),
    share=st.floats(0, 1),
    verified=st.integers(0, 30),
    seed=st.integers(0, 1000),
)
def test_no_row_is_chosen_twice_nor_a_verified_one_and_as_many_as_asked(
    n, asked, share, verified, seed
):
    ratings = rated(n, seed, min(verified, n))
    rows, drawn = next_rows(ratings, asked, share, np.random.RandomState(seed))
    n_open = int((~ratings.verified).sum())
    assert len(rows) == len(drawn) == min(asked, n_open)
    assert len(set(rows.tolist())) == len(rows)
    assert not ratings.verified[rows].any()
    assert (drawn == "random").sum() == round(share * min(asked, n_open))


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_the_worst_of_the_others_come_first(share):
    ratings = rated(60, verified=10)
    rows, drawn = next_rows(ratings, 20, share, np.random.RandomState(0))
    worst = rows[drawn == "worst"]
    at_random = set(rows[drawn == "random"].tolist())
    order = [
        row
        for row in np.argsort(ratings.label_quality).tolist()
        if not ratings.verified[row] and row not in at_random
    ]
    assert worst.tolist() == order[: len(worst)]
    assert len(worst) == round(20 * (1 - share))
    assert drawn.tolist() == sorted(drawn, reverse=True)


@pytest.mark.parametrize("n_rows", [10, 20])
def test_every_open_row_is_equally_likely_to_be_drawn_at_random(n_rows):
    ratings = rated(40, verified=7, unknown=3)
    n_draws, n_open = 3000, 33
    counts = np.zeros(40)
    for seed in range(n_draws):
        rows, drawn = next_rows(ratings, n_rows, 1.0, np.random.RandomState(seed))
        assert (drawn == "random").all()
        counts[rows] += 1
    assert_array_equal(counts[ratings.verified], 0)
    share = n_rows / n_open
    expected, deviation = n_draws * share, np.sqrt(n_draws * share * (1 - share))
    assert (np.abs(counts[~ratings.verified] - expected) < 4.5 * deviation).all()


def test_rows_at_random_come_from_all_along_the_order():
    ratings = rated(100)
    rows, _ = next_rows(ratings, 10, 1.0, np.random.RandomState(0))
    rank = np.argsort(np.argsort(ratings.label_quality))[rows]
    assert_array_equal(np.sort(rank) // 10, np.arange(10))


def test_the_forecast_is_the_sum_of_the_probabilities_of_the_worst_open_rows():
    ratings = rated(50, verified=10, unknown=5)
    open_rows = [row for row in ratings.worst_first.tolist() if not ratings.verified[row]]
    forecast = expected_errors(ratings, (3, 20, 100, 500))
    assert list(forecast) == [3, 20, len(open_rows)]
    for size, amount in forecast.items():
        assert amount == pytest.approx(np.nansum(ratings.error_proba[open_rows[:size]]))


@pytest.fixture(scope="module")
def audit():
    X, y, _ = three_clouds(200, rate=0.15)
    return LabelAudit(random_state=0).fit(X, y)


def test_next_to_review_tells_what_the_audit_says_of_the_rows(audit):
    names = [f"case {k}" for k in range(200)]
    todo = audit.next_to_review(20, random_fraction=0.25, index=names)
    assert list(todo.columns) == [
        "given_label",
        "predicted_label",
        "verdict",
        "error_probability",
        "drawn",
    ]
    assert (todo["drawn"] == "random").sum() == 5
    whole = audit.to_frame(names).loc[todo.index]
    for name in ("given_label", "predicted_label", "verdict", "error_probability"):
        assert_array_equal(whole[name], todo[name])
    assert len(audit.next_to_review(1000)) == 200
    assert audit.next_to_review(5).index.tolist() == audit.ratings_.worst_first[:5].tolist()


def test_the_same_seed_asks_for_the_same_rows_until_something_is_verified(audit):
    first, again = (audit.next_to_review(20, random_fraction=1.0) for _ in range(2))
    assert first.equals(again)
    X, y, _ = three_clouds(200, rate=0.15)
    later = LabelAudit(random_state=0).fit(X, y, verified={int(first.index[0]): "cat"})
    other = later.next_to_review(20, random_fraction=1.0)
    assert first.index[0] not in other.index
    assert set(other.index) != set(first.index)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n": 0}, "n=0: ask for one row or more"),
        ({"n": 5, "random_fraction": 1.5}, "random_fraction=1.5 must lie between 0 and 1"),
        ({"n": 5, "random_fraction": -0.1}, "random_fraction=-0.1"),
    ],
)
def test_what_cannot_be_asked_for_is_an_error(audit, settings, message):
    with pytest.raises(ValueError, match=message):
        audit.next_to_review(**settings)
