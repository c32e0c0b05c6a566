"""Laws of verdicts: by Bayes' rule, and whatever classes, rows and threads are called."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_blobs
from sklearn.preprocessing import StandardScaler

from granulearn.audit import LabelAudit
from granulearn.audit.ratings import AMBIGUOUS, FINE, OUTLIER, UNKNOWN, VERDICTS, WRONG
from granulearn.audit.verdicts import (
    CLEARLY,
    PLAUSIBLE,
    Evidence,
    error_probability,
    evenly_spread,
    foretelling,
    rate_labels,
    weigh_evidence,
    with_verified,
)
from tests.audit.tables import three_clouds

RATES = st.floats(0.0, 0.45)


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


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_where_no_label_is_wrong_none_is(n_classes):
    assert_array_equal(error_probability(np.linspace(0, 1, 11), 0.0, n_classes), 0)


def evidence_of(own_and_rival):
    """Return evidence of three classes, the first of which is given."""
    proba = np.array([[own, rival, 1 - own - rival] for own, rival in own_and_rival])
    n = len(proba)
    return Evidence(proba, proba, np.zeros(n, dtype=int), np.ones(n, dtype=bool), 9.0)


def test_a_verdict_follows_from_how_much_more_probable_another_class_is():
    wrong_from = CLEARLY * np.sqrt(2)
    ratios = [0.99 * PLAUSIBLE, 1.01 * PLAUSIBLE, 0.99 * wrong_from, 1.01 * wrong_from]
    own = 0.2
    evidence = evidence_of([(own, own * ratio) for ratio in ratios])
    evidence.calibrated[:, 2] = 0  # a third class must not be the rival
    ratings = rate_labels(evidence, np.array(["a", "b", "c"]), (0.1,))
    assert ratings.verdicts.tolist() == [FINE, AMBIGUOUS, AMBIGUOUS, WRONG]
    assert ratings.predicted.tolist() == [0, 0, 1, 1]


def test_strange_rows_are_told_where_their_label_is_not_doubted():
    evidence = evidence_of([(0.8, 0.1), (0.4, 0.3), (0.1, 0.8)])
    everything = np.ones(3, dtype=bool)
    ratings = rate_labels(evidence, np.array(["a", "b", "c"]), (0.1,), everything)
    assert ratings.verdicts.tolist() == [OUTLIER, AMBIGUOUS, WRONG]


def test_without_a_rate_nothing_is_said_and_what_is_unknown_stays_so():
    evidence = evidence_of([(0.8, 0.1), (0.1, 0.8)])
    nothing = rate_labels(evidence, np.array(["a", "b", "c"]), ())
    assert_array_equal(nothing.verdicts, UNKNOWN)
    assert np.isnan(nothing.error_proba).all()
    assert_array_equal(nothing.predicted, nothing.given)
    evidence.known[1] = False
    ratings = rate_labels(evidence, np.array(["a", "b", "c"]), (0.1,))
    assert ratings.verdicts.tolist() == [FINE, UNKNOWN]
    assert np.isnan(ratings.error_proba[1])
    assert ratings.predicted[1] == 0


def test_rates_that_are_as_probable_count_alike():
    evidence = evidence_of([(0.1, 0.8), (0.5, 0.3)])
    both = rate_labels(evidence, np.array(["a", "b", "c"]), (0.05, 0.2))
    each = [error_probability(np.array([0.1, 0.5]), rate, 3) for rate in (0.05, 0.2)]
    assert_allclose(both.error_proba, np.mean(each, axis=0))


def test_a_label_is_rated_alone_as_among_others_to_the_last_bit():
    rates, classes = tuple(np.linspace(0.03, 0.3, 9)), np.array(["a", "b", "c"])
    pairs = [(own, 0.9 * (1 - own)) for own in np.linspace(0.01, 0.99, 200)]
    together = rate_labels(evidence_of(pairs), classes, rates).error_proba
    alone = [rate_labels(evidence_of([pair]), classes, rates).error_proba[0] for pair in pairs]
    assert_array_equal(together, alone)


def test_calibration_keeps_the_order_of_classes_and_lowers_the_loss():
    rng = np.random.default_rng(0)
    given = rng.integers(3, size=500)
    true = np.full((500, 3), 0.1)
    true[np.arange(500), given] = 0.8
    shy = true**0.3 / (true**0.3).sum(axis=1, keepdims=True)
    evidence = weigh_evidence(shy, given, np.ones(500, dtype=bool))
    rows = np.arange(500)
    assert np.log(evidence.calibrated[rows, given]).sum() > np.log(shy[rows, given]).sum()
    assert_array_equal(evidence.calibrated.argsort(axis=1), shy.argsort(axis=1))
    assert_allclose(evidence.calibrated.sum(axis=1), 1)
    assert evidence.can_judge


@pytest.mark.parametrize("n_classes", [2, 5])
def test_probabilities_that_ignore_the_labels_foretell_none(n_classes):
    rng = np.random.default_rng(0)
    scores = [
        foretelling(rng.dirichlet(np.ones(n_classes), 300), rng.integers(n_classes, size=300))
        for _ in range(200)
    ]
    assert np.mean(scores) == pytest.approx(0, abs=0.5)
    assert np.mean(np.array(scores) > 1.64) < 0.12


def test_leaving_a_rows_own_label_out_of_the_count_is_no_foretelling():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=100)
    counts = np.bincount(y, minlength=2)
    proba = (counts - np.eye(2)[y]) / 99  # the share of each class among all other rows
    assert abs(foretelling(proba, y)) < 1e-6 or foretelling(proba, y) == -np.inf
    assert foretelling(proba[:1], y[:1]) == -np.inf


def test_what_a_person_said_stands():
    evidence = evidence_of([(0.1, 0.8), (0.1, 0.8), (0.8, 0.1)])
    ratings = rate_labels(evidence, np.array(["a", "b", "c"]), (0.1,))
    assert with_verified(ratings, np.empty(0, int), np.empty(0, int)) is ratings
    said = with_verified(ratings, np.array([0, 2]), np.array([0, 2]))
    assert said.verdicts.tolist() == [FINE, WRONG, FINE]
    assert said.verified.tolist() == [True, False, True]
    assert said.predicted.tolist() == [0, 1, 2]
    assert said.error_proba[[0, 2]].tolist() == [0, 1]
    assert said.error_proba[1] == ratings.error_proba[1]
    assert not ratings.verified.any()


# --- of a whole audit


@pytest.fixture(scope="module")
def plain():
    X, y, _ = three_clouds(300, rate=0.15)
    return X, y, LabelAudit(random_state=0).fit(X, y)


def assert_same_audit(one, other, order=slice(None)):
    """Compare all that two audits say of each label; rows of the first in another order."""
    for name in (
        "verdict_",
        "is_label_issue_",
        "error_proba_",
        "label_quality_",
        "verified_",
        "out_of_sample_proba_",
    ):
        assert_array_equal(getattr(other, name), getattr(one, name)[order], err_msg=name)
    assert other.noise_ == one.noise_


def test_every_label_has_a_verdict_and_is_flagged_where_it_is_wrong(plain):
    _, _, audit = plain
    assert set(audit.verdict_) <= set(VERDICTS)
    assert_array_equal(audit.is_label_issue_, audit.verdict_ == WRONG)
    assert np.unique(audit.verdict_).size > 1


def test_verdicts_do_not_depend_on_threads(plain):
    X, y, audit = plain
    assert_same_audit(audit, LabelAudit(random_state=0, n_jobs=2).fit(X, y))


def test_probabilities_of_the_own_forest_give_the_plain_audit(plain):
    X, y, audit = plain
    assert_same_audit(audit, LabelAudit(random_state=0).fit(X, y, proba=audit.out_of_sample_proba_))


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
    assert audit.noise_.basis == "sure regions"


def test_many_classes_of_noise_are_no_foretelling():
    n_judged = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(300, 5)), rng.integers(20, size=300)
        n_judged += LabelAudit(n_estimators=40, random_state=0).fit(X, y).noise_.basis != "none"
    assert n_judged == 0


@pytest.mark.parametrize("n_classes", [2, 4])
def test_rows_to_calibrate_by_are_spread_evenly_whatever_their_order(n_classes):
    rng = np.random.default_rng(0)
    proba, given = rng.dirichlet(np.ones(n_classes), 1_000), rng.integers(n_classes, size=1_000)
    own = proba[np.arange(1_000), given]
    at = evenly_spread(proba, given, 100)
    assert_array_equal(
        np.sort(np.argsort(np.argsort(own))[at]), np.linspace(0, 999, 100).astype(int)
    )
    order = rng.permutation(1_000)
    assert_array_equal(order[evenly_spread(proba[order], given[order], 100)], at)
    assert_array_equal(evenly_spread(proba, given, 1_000), np.arange(1_000))
