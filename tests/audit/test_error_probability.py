"""The probability that a label is wrong; counts, ranges, forecasts and verdicts are its sums."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_blobs
from sklearn.preprocessing import StandardScaler

from granulearn.audit import LabelAudit, error_probability
from granulearn.audit.error_probability import (
    CHECK_WEIGHT,
    CLEAN_TABLES,
    COVARIANCE,
    ERRORS_IN_CLEAN_TABLES,
    MEAN,
    expected_errors,
    fit_error_model,
    next_rows,
    prior_model,
    rated_with,
    signal_z_score,
)
from granulearn.audit.ratings import (
    FINE,
    LISTING,
    NOTHING,
    OUTLIER,
    PRIOR,
    SUSPECT,
    UNKNOWN,
    VERIFIED_LABELS,
    WRONG,
    noise_matrix,
)
from granulearn.audit.verified import NO_VERIFIED, VerifiedLabels
from granulearn.datasets import flip_labels
from tests.audit.tables import three_clouds

SEEDS = st.integers(0, 10**6)


def checked(truth, rows, at_random=True):
    rows, at_random = np.asarray(rows, int), np.broadcast_to(at_random, len(rows))
    order = np.argsort(rows)
    return VerifiedLabels(rows[order], truth[rows[order]], at_random[order])


def table_of_the_prior(seed, n=400, n_classes=2):
    """Return model, ratings and true classes of a table that the prior draws."""
    rng = np.random.default_rng(seed)
    given = np.sort(rng.integers(n_classes, size=n))
    proba = rng.dirichlet(np.full(n_classes, 0.5), n)
    own = np.argsort(-proba, axis=1)[:, :1] == given[:, None]  # most labels fit the inputs
    proba = np.where(own | (rng.random((n, 1)) < 0.3), proba, proba[:, ::-1])
    model = prior_model(np.bincount(given, minlength=n_classes))
    ratings = model.rate(np.arange(n_classes), proba, given, np.ones(n, dtype=bool))
    if rng.random() < CLEAN_TABLES:
        p = np.full(n, ERRORS_IN_CLEAN_TABLES)
    else:
        theta = rng.multivariate_normal(MEAN, COVARIANCE)
        p = expit(theta @ np.column_stack(features(ratings)).T)
    truth = np.where(rng.random(n) < p, ratings.second_classes, given)
    return model, ratings, truth


def features(ratings):
    """Return what the log odds of an error are linear in, label by label."""
    found = []
    frequency = np.bincount(ratings.given, minlength=len(ratings.classes))
    for proba, own in zip(ratings.proba, ratings.given, strict=True):
        other = max((k for k in range(len(proba)) if k != own), key=lambda k: proba[k])
        odds = np.log(max(proba[other], 1e-9)) - np.log(max(proba[own], 1e-9))
        odds -= np.log(len(proba) - 1) / 2
        direction = np.sign(frequency[own] - frequency[other]) / 2
        found.append((1.0, np.clip(odds, -6, 6), direction))
    return np.array(found).T


# --- the posterior


@pytest.mark.parametrize("n_checks", [0, 5, 30])
def test_the_grid_equals_a_monte_carlo_posterior(n_checks):
    rng = np.random.default_rng(0)
    model, ratings, truth = table_of_the_prior(3, n=120)
    verified = checked(truth, rng.choice(120, n_checks, replace=False))
    found, summary = rated_with(model, ratings, verified)
    theta = rng.multivariate_normal(MEAN, COVARIANCE, 200_000)
    X = np.column_stack(features(ratings))
    p = expit(theta @ X.T)
    wrong = verified.truth != ratings.given[verified.rows]
    of_rows = p[:, verified.rows]
    likelihood = np.where(wrong, of_rows, 1 - of_rows) ** CHECK_WEIGHT
    weights = likelihood.prod(axis=1)
    e = ERRORS_IN_CLEAN_TABLES
    if_clean = (np.where(wrong, e, 1 - e) ** CHECK_WEIGHT).prod()
    clean = CLEAN_TABLES * if_clean
    clean /= clean + (1 - CLEAN_TABLES) * weights.mean()
    expected = clean * e + (1 - clean) * (weights @ p / weights.sum())
    is_open = ~found.verified
    assert_allclose(found.error_proba[is_open], expected[is_open], atol=0.02)
    assert summary.n_errors == pytest.approx(wrong.sum() + expected[is_open].sum(), rel=0.03)


def test_the_range_holds_the_truth_as_often_as_it_says():
    rng = np.random.default_rng(1)
    for n_checks in (0, 20):
        holds = []
        for seed in range(80):
            model, ratings, truth = table_of_the_prior(seed)
            verified = checked(truth, rng.choice(400, n_checks, replace=False))
            _, summary = rated_with(model, ratings, verified)
            rate = (truth != ratings.given).mean()
            holds.append(summary.low - 1e-9 <= rate <= summary.high + 1e-9)
        assert 0.9 <= np.mean(holds) <= 1.0


def test_probabilities_are_calibrated_over_tables_of_the_prior():
    said, wrong = [], []
    for seed in range(1_000):
        _, ratings, truth = table_of_the_prior(seed, n=30)
        said.append(ratings.error_proba)
        wrong.append(truth != ratings.given)
    said, wrong = np.concatenate(said), np.concatenate(wrong)
    for low in (0.0, 0.1, 0.2, 0.3):
        part = (said >= low) & (said < low + 0.1)
        assert wrong[part].mean() == pytest.approx(said[part].mean(), abs=0.05)


def test_more_random_checks_make_the_expected_range_no_wider():
    rng = np.random.default_rng(2)
    widths = []
    for n_checks in (0, 10, 40, 160):
        found = []
        for seed in range(25):
            model, ratings, truth = table_of_the_prior(seed)
            verified = checked(truth, rng.choice(400, n_checks, replace=False))
            _, summary = rated_with(model, ratings, verified)
            found.append(summary.high - summary.low)
        widths.append(np.mean(found))
    assert widths == sorted(widths, reverse=True)


@settings(max_examples=30, deadline=None)
@given(seed=SEEDS, n_checks=st.integers(0, 60), share_wrong=st.floats(0, 1))
def test_probabilities_rise_with_the_log_odds_whatever_was_found(seed, n_checks, share_wrong):
    rng = np.random.default_rng(seed)
    model, ratings, _ = table_of_the_prior(seed, n=100)
    n_checks = min(n_checks, 100)
    rows = rng.choice(100, n_checks, replace=False)
    truth = np.where(rng.random(100) < share_wrong, 1 - ratings.given, ratings.given)
    found, summary = rated_with(model, ratings, checked(truth, rows, rng.random(n_checks) < 0.5))
    _, odds, direction = features(ratings)
    for way in (-0.5, 0.0, 0.5):
        at = np.flatnonzero((direction == way) & ~found.verified)
        rising = found.error_proba[at[np.argsort(odds[at])]]
        assert (np.diff(rising) >= -1e-9).all()
        assert ((rising >= 0) & (rising <= 1)).all()
    assert 0 <= summary.low <= summary.high <= 1


def test_worst_first_checks_count_as_ten_at_most():
    model, ratings, _ = table_of_the_prior(5)
    doubted = ratings.worst_first[:200]
    few, many = (
        model.with_verified(ratings, checked(1 - ratings.given, doubted[:n], at_random=False))
        for n in (10, 200)
    )
    at_random = model.with_verified(ratings, checked(1 - ratings.given, doubted[:10]))
    assert_allclose(few.weights @ few.nodes, at_random.weights @ at_random.nodes)
    spread = [np.sqrt(m.weights @ (m.nodes - m.weights @ m.nodes) ** 2) for m in (few, many)]
    assert spread[1][0] > 0.5 * spread[0][0]


def test_many_verified_labels_count_by_their_rounded_log_odds_which_changes_next_to_nothing(
    monkeypatch,
):
    model, ratings, truth = table_of_the_prior(0, n=5_000, n_classes=3)
    verified = checked(truth, np.arange(3_000), np.arange(3_000) % 2 == 0)
    _, rounded = rated_with(model, ratings, verified)
    monkeypatch.setattr(error_probability, "_MANY_ROWS", 10_000)
    _, exact = rated_with(model, ratings, verified)
    assert_allclose([rounded.rate, rounded.low, rounded.high],
                    [exact.rate, exact.low, exact.high], rtol=0.01)  # fmt: skip
    assert rounded != exact


def test_right_labels_that_were_chosen_do_not_lower_the_upper_end():
    model, ratings, _ = table_of_the_prior(5)
    _, before = rated_with(model, ratings, NO_VERIFIED)
    worst = checked(ratings.given, ratings.worst_first[:15], at_random=False)
    _, after = rated_with(model, ratings, worst)
    assert after.rate < before.rate
    assert after.high == pytest.approx(before.high, rel=0.1)
    at_random = checked(ratings.given, ratings.worst_first[:15])
    assert rated_with(model, ratings, at_random)[1].high < before.high / 2


# --- sums and cuts


@settings(max_examples=30, deadline=None)
@given(seed=SEEDS, n_checks=st.integers(0, 100), n_classes=st.integers(2, 4))
def test_count_list_forecast_and_matrix_are_sums_of_one_probability(seed, n_checks, n_classes):
    rng = np.random.default_rng(seed)
    model, ratings, truth = table_of_the_prior(seed, 100, n_classes)
    found, summary = rated_with(model, ratings, checked(truth, rng.permutation(100)[:n_checks]))
    P, is_open = found.error_proba, ~found.verified
    assert summary.n_errors == pytest.approx(P.sum())
    assert summary.errors_left == pytest.approx(P[is_open].sum())
    assert summary.rate == pytest.approx(P.mean())
    assert found.is_suspect.sum() == round(P[is_open].sum())
    if found.is_suspect.any() and (is_open & ~found.is_suspect).any():
        assert P[found.is_suspect].min() >= P[is_open & ~found.is_suspect].max()
    assert_array_equal(found.verdicts == WRONG, found.is_suspect & (P >= 0.5))
    for size, expected in summary.expected_errors.items():
        assert expected == pytest.approx(np.sort(P[is_open])[::-1][:size].sum())
    matrix = noise_matrix(found)
    assert_allclose(matrix.sum(axis=1), 1)
    joint = np.zeros((n_classes, n_classes))
    for own, other, p in zip(found.given, found.second_classes, P, strict=True):
        joint[own, own] += 1 - p
        joint[other, own] += p
    filled = joint.sum(axis=1) > 0
    assert_allclose(matrix[filled], (joint / joint.sum(axis=1, keepdims=True))[filled])


def test_a_check_sets_its_own_probability_and_stands():
    model, ratings, _ = table_of_the_prior(7, n=50)
    rows = np.array([0, 20])
    truth = ratings.given.copy()
    truth[20] = 1 - truth[20]
    found, summary = rated_with(model, ratings, checked(truth, rows))
    assert found.error_proba[rows].tolist() == [0, 1]
    assert found.verdicts[rows].tolist() == [FINE, FINE]
    assert found.predicted[rows].tolist() == truth[rows].tolist()
    assert (summary.n_verified, summary.n_found, summary.basis) == (2, 1, VERIFIED_LABELS)
    assert not ratings.verified.any()
    nothing, before = rated_with(model, ratings, NO_VERIFIED)
    assert_array_equal(nothing.error_proba, ratings.error_proba)
    assert before.basis == PRIOR


@settings(max_examples=20, deadline=None)
@given(seed=SEEDS, n_checks=st.integers(0, 50))
def test_other_names_of_the_classes_change_nothing(seed, n_checks):
    rng = np.random.default_rng(seed)
    model, ratings, truth = table_of_the_prior(seed, 100, 4)
    rows = rng.permutation(100)[:n_checks]
    found, summary = rated_with(model, ratings, checked(truth, rows))
    new = rng.permutation(4)
    old = np.argsort(new)
    renamed_model = prior_model(model.frequency[old])
    renamed = renamed_model.rate(
        np.arange(4), ratings.proba[:, old], new[ratings.given], np.ones(100, dtype=bool)
    )
    other, other_summary = rated_with(renamed_model, renamed, checked(new[truth], rows))
    assert_allclose(other.error_proba, found.error_proba)
    assert_array_equal(other.predicted, new[found.predicted])
    assert other_summary.n_errors == pytest.approx(summary.n_errors)
    assert (other_summary.low, other_summary.high) == pytest.approx((summary.low, summary.high))


def test_outliers_are_labels_that_are_not_suspect_and_what_is_unknown_stays_so():
    proba = np.array([[0.9, 0.1], [0.1, 0.9], [0.9, 0.1], [np.nan, np.nan]])
    known = np.array([True, True, True, False])
    given = np.zeros(4, dtype=int)
    outlier = np.array([True, True, False, True])
    ratings = prior_model(np.array([4, 0])).rate(np.arange(2), proba, given, known, outlier)
    assert ratings.verdicts[[0, 2, 3]].tolist() == [OUTLIER, FINE, UNKNOWN]
    assert ratings.verdicts[1] in (WRONG, SUSPECT)
    assert np.isnan(ratings.error_proba).tolist() == [False, False, False, True]
    assert ratings.predicted.tolist() == [0, 1, 0, 0]


@pytest.mark.parametrize("share_wrong", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("at_random", [False, True])
def test_where_every_label_was_checked_the_count_is_the_truth(share_wrong, at_random):
    model, ratings, _ = table_of_the_prior(11, n=60)
    wrong = np.arange(60) < 60 * share_wrong
    truth = np.where(wrong, 1 - ratings.given, ratings.given)
    found, summary = rated_with(model, ratings, checked(truth, np.arange(60), at_random))
    rate = wrong.mean()
    assert (summary.rate, summary.low, summary.high) == pytest.approx((rate, rate, rate))
    assert summary.expected_errors == {}
    assert "All 60 labels that can be rated are verified" in summary.message
    assert not found.is_suspect.any()


def test_a_listing_keeps_its_probabilities_and_claims_no_count():
    _, ratings, truth = table_of_the_prior(5, n=60)
    model = prior_model(np.array([30, 30]), basis=LISTING)
    found, summary = rated_with(model, ratings, checked(truth, np.arange(20)))
    assert_array_equal(found.error_proba[20:], ratings.error_proba[20:])
    assert np.isnan(summary.n_errors)
    assert "larger table" in summary.message
    assert found.is_suspect.sum() == round(ratings.error_proba[20:].sum())


def test_checks_of_labels_that_cannot_be_rated_count_for_themselves():
    proba = np.array([[0.6, 0.4], [np.nan, np.nan], [0.3, 0.7]])
    known = ~np.isnan(proba[:, 0])
    model = prior_model(np.array([3, 0]))
    ratings = model.rate(np.arange(2), proba, np.zeros(3, int), known)
    found, summary = rated_with(model, ratings, checked(np.array([0, 1, 0]), [1]))
    assert found.error_proba[1] == 1
    assert_allclose(found.error_proba[[0, 2]], ratings.error_proba[[0, 2]])
    assert (summary.n_labels, summary.n_found, summary.basis) == (3, 1, PRIOR)


# --- calibration and signal


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


@pytest.mark.parametrize("n_classes", [2, 20])
def test_inputs_without_signal_give_no_count_and_unknown_verdicts(n_classes):
    # A few tables of noise pass for more: one of five may.
    n_told = 0
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(1_000, 4)), rng.integers(n_classes, size=1_000)
        audit = LabelAudit(n_estimators=30, random_state=0).fit(X, y)
        summary = audit.summary()
        if summary.basis != NOTHING:
            continue
        n_told += 1
        assert np.isnan([summary.n_errors, summary.rate, summary.low, summary.high]).all()
        assert_array_equal(audit.verdict_, "unknown")
        assert_array_equal(audit.predicted_label_, audit.given_label_)
        assert summary.expected_errors == {}
        assert "by chance" in summary.message
    assert n_told >= 4


def test_without_signal_ten_checks_at_random_give_a_count():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1_000, 4)), rng.integers(2, size=1_000)
    true = np.where(rng.random(1_000) < 0.3, 1 - y, y)
    before = LabelAudit(n_estimators=30, random_state=0).fit(X, y)
    if before.summary().basis != NOTHING:
        pytest.fail("the table has a signal by chance; draw another")
    verified = pd.DataFrame({"label": true[:60], "drawn": "random"})
    after = LabelAudit(n_estimators=30, random_state=0).fit(X, y, verified=verified).summary()
    assert after.low <= 0.3 <= after.high
    assert after.rate == pytest.approx(0.3, abs=0.15)


def test_where_no_label_can_be_rated_nothing_is_claimed():
    nobody = np.zeros(5, dtype=bool)
    proba, given = np.full((5, 2), np.nan), np.zeros(5, dtype=int)
    model = fit_error_model(proba, given, nobody)
    ratings, summary = rated_with(
        model, model.rate(np.arange(2), proba, given, nobody), NO_VERIFIED
    )
    assert summary.basis == NOTHING
    assert np.isnan(summary.n_errors)
    assert set(ratings.verdicts) == {UNKNOWN}


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
    assert other.summary() == audit.summary()


CLEAN = {
    "iris": load_iris,
    "wine": load_wine,
    "breast cancer": load_breast_cancer,
    "blobs": lambda return_X_y: make_blobs(300, centers=3, random_state=0),
}


@pytest.mark.parametrize("name", CLEAN)
def test_of_clean_labels_hardly_any_is_called_wrong(name):
    X, y = CLEAN[name](return_X_y=True)
    X = StandardScaler().fit_transform(X)
    audit = LabelAudit(random_state=0).fit(X, y)
    assert (audit.verdict_ == WRONG).mean() <= 0.04
    assert audit.summary().low == pytest.approx(0, abs=0.01)
    todo = audit.next_to_review(20, random_fraction=0.5)
    checked = LabelAudit(random_state=0).fit(X, y, verified=todo.assign(label=y[todo.index]))
    assert checked.summary().rate <= 0.02
    assert "None of 20" in checked.summary().message


@pytest.mark.parametrize("rate", [0.1, 0.3])
def test_twenty_checks_bring_the_count_near_the_truth(rate):
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    noisy, wrong = flip_labels(y, rate, random_state=0)
    before = LabelAudit(random_state=0).fit(X, noisy)
    todo = before.next_to_review(20, random_fraction=0.5).assign(label=lambda t: y[t.index])
    after = LabelAudit(random_state=0).fit(X, noisy, verified=todo).summary()
    for summary in (before.summary(), after):
        assert summary.low <= wrong.mean() <= summary.high
    assert after.rate == pytest.approx(wrong.mean(), abs=0.12)


def rated(n=50, seed=0, verified=0, unknown=0):
    """Return ratings of n labels; the first are verified, the last cannot be rated."""
    rng = np.random.default_rng(seed)
    own = rng.random(n)
    proba = np.column_stack([own, 1 - own])
    known = np.arange(n) < n - unknown
    proba[~known] = np.nan
    model, given = prior_model(np.array([n, 0])), np.zeros(n, dtype=int)
    ratings = model.rate(np.arange(2), proba, given, known)
    return rated_with(model, ratings, checked(given, np.arange(verified)))[0]


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
        for row in ratings.worst_first.tolist()
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
    rank = np.argsort(ratings.worst_first)[rows]
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
