"""The share of wrong labels: what it may claim, and that it is right as often as it says."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.stats import binomtest

from granulearn.audit import LabelAudit
from granulearn.audit.noise_rate import (
    NOTHING,
    SURE_REGIONS,
    VERIFIED_LABELS,
    NoiseRate,
    unverified_rate,
    verified_rate,
)
from granulearn.audit.ratings import FINE, Ratings
from granulearn.audit.review_plan import next_rows
from granulearn.audit.verdicts import Evidence, weigh_evidence
from granulearn.audit.verified import VerifiedLabels
from tests.audit.tables import three_clouds

BEFORE = NoiseRate(0.1, 0.05, 0.2, SURE_REGIONS, "judged by the surest rows.", (0.05, 0.1))


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


# --- nobody has looked


@pytest.mark.parametrize("n_classes", [2, 5])
def test_inputs_that_say_nothing_are_told_to_say_nothing(n_classes):
    # A few tables of noise pass for more: one of ten may.
    n_told = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(1_000, 4)), rng.integers(n_classes, size=1_000)
        audit = LabelAudit(n_estimators=30, random_state=0).fit(X, y)
        if audit.noise_.basis != NOTHING:
            continue
        n_told += 1
        assert np.isnan([audit.noise_.rate, audit.noise_.low, audit.noise_.high]).all()
        assert audit.noise_.working_rates == ()
        assert_array_equal(audit.verdict_, "unknown")
        assert_array_equal(audit.predicted_label_, audit.given_label_)
        assert "chance" in audit.noise_.words
    assert n_told >= 9


@pytest.mark.parametrize("seed", range(4))
def test_among_few_rows_that_say_nothing_no_number_is_given_and_verdicts_are_called_weak(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(200, 4)), rng.integers(2, size=200)
    noise = LabelAudit(n_estimators=50, random_state=0).fit(X, y).noise_
    assert noise.basis == NOTHING
    assert np.isnan([noise.rate, noise.low, noise.high]).all()
    assert "verdicts are weak" in noise.words


def test_where_no_label_can_be_rated_nothing_is_claimed():
    nothing = np.full((5, 2), np.nan)
    evidence = weigh_evidence(nothing, np.zeros(5, dtype=int), np.zeros(5, dtype=bool))
    noise = unverified_rate(evidence)
    assert noise.basis == NOTHING
    assert "no label can be rated" in noise.words


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.25])
def test_the_rate_lies_in_its_range_and_so_do_the_rates_to_work_with(rate):
    X, y, _ = three_clouds(300, rate)
    noise = LabelAudit(random_state=0).fit(X, y).noise_
    assert noise.basis == SURE_REGIONS
    assert 0 <= noise.low <= noise.rate <= noise.high < 2 / 3
    assert list(noise.working_rates) == sorted(noise.working_rates)
    assert min(noise.working_rates) >= noise.low
    assert max(noise.working_rates) <= noise.high
    assert noise.low <= rate <= noise.high


def test_the_upper_end_allows_for_all_labels_that_their_likeliest_class_contradicts():
    rng = np.random.default_rng(0)
    proba = rng.dirichlet(np.ones(2), 400)
    given = (rng.random(400) < proba[:, 1]).astype(int)
    evidence = Evidence(proba, proba, given, np.ones(400, dtype=bool), 9.0)
    assert unverified_rate(evidence).high > (proba.argmax(axis=1) != given).mean()


# --- a person has looked


def test_where_every_label_was_checked_at_random_the_rate_is_the_truth():
    ratings, truth = population()
    noise = verified_rate(ratings, checked(truth, np.arange(1000), True), BEFORE)
    assert noise.basis == VERIFIED_LABELS
    assert noise.low == noise.rate == noise.high == pytest.approx(truth.mean())


@pytest.mark.parametrize("before", [BEFORE, NoiseRate(*[np.nan] * 3, NOTHING, "nothing.", ())])
def test_where_every_label_was_checked_worst_first_the_rate_is_the_truth(before):
    ratings, truth = population()
    noise = verified_rate(ratings, checked(truth, np.arange(1000), False), before)
    assert noise.basis == VERIFIED_LABELS
    assert noise.low == noise.rate == noise.high == pytest.approx(truth.mean())


def test_where_every_label_was_checked_one_way_or_the_other_the_rate_is_the_truth():
    ratings, truth = population(300)
    at_random = np.random.default_rng(0).random(300) < 0.4
    noise = verified_rate(ratings, checked(truth, np.arange(300), at_random), BEFORE)
    assert noise.low == noise.rate == noise.high == pytest.approx(truth.mean())


def draws(ratings, truth, n_rows, random_fraction, n_draws=300):
    """Return what many people, who look at other rows each, would say."""
    for seed in range(n_draws):
        rows, drawn = next_rows(ratings, n_rows, random_fraction, np.random.RandomState(seed))
        yield verified_rate(ratings, checked(truth, rows, drawn == "random"), BEFORE)


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


@pytest.mark.parametrize(
    ("share_wrong", "n_rows", "random_fraction"), [(0.2, 30, 1.0), (0.2, 30, 0.5), (0.05, 100, 0.5)]
)
def test_it_is_right_on_average_where_the_wrong_labels_are_just_the_worst_ones(
    share_wrong, n_rows, random_fraction
):
    ratings, truth = population()
    truth = (np.argsort(np.argsort(ratings.label_quality)) < share_wrong * 1000).astype(int)
    rates = [noise.rate for noise in draws(ratings, truth, n_rows, random_fraction)]
    assert np.mean(rates) == pytest.approx(share_wrong, abs=0.006)


def test_more_rows_make_the_range_smaller():
    ratings, truth = population()
    widths = [
        np.mean([noise.high - noise.low for noise in draws(ratings, truth, n_rows, 1.0, 30)])
        for n_rows in (30, 100, 300)
    ]
    assert widths[0] > 1.5 * widths[1] > 2 * widths[2]


def test_a_few_rows_that_look_alike_do_not_make_sure():
    ratings, truth = population(1000, rate=0.0)
    noise = next(draws(ratings, truth, 20, 1.0, 1))
    assert noise.rate == noise.low == 0
    exact = binomtest(0, 20).proportion_ci(method="exact").high
    assert noise.high == pytest.approx(exact, abs=0.01)


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
    few, many = (
        verified_rate(ratings, checked(truths, rows, at_random), BEFORE) for truths in (clean, sick)
    )
    # Fifty more wrong labels are fifty of a thousand, and no more.
    assert many.rate - few.rate == pytest.approx(0.05)
    assert many.low >= 0.05


def test_worst_rows_alone_do_not_raise_the_rate_above_what_was_thought_of_all():
    ratings, truth = population(rate=0.1)
    worst = np.argsort(ratings.label_quality)[:200]
    noise = verified_rate(ratings, checked(truth, worst, False), BEFORE)
    found = truth[worst].sum() / 1000
    assert 0.04 < found < BEFORE.rate
    assert noise.rate == BEFORE.rate
    assert noise.low == max(BEFORE.low, found)
    assert noise.high == BEFORE.high
    assert noise.basis == SURE_REGIONS
    assert "none of them was drawn at random" in noise.words


def test_what_was_seen_bounds_the_range():
    ratings, truth = population()
    everything_wrong = np.ones_like(truth)
    noise = verified_rate(ratings, checked(everything_wrong, np.arange(300), False), BEFORE)
    assert noise.low >= 0.3
    assert noise.rate >= noise.low
    everything_right = np.zeros_like(truth)
    noise = verified_rate(ratings, checked(everything_right, np.arange(950), False), BEFORE)
    assert noise.high == pytest.approx(0.05)
    half = checked(everything_wrong, np.arange(500), True)
    assert verified_rate(ratings, half, BEFORE).low >= 0.5


def test_where_nothing_could_be_judged_chosen_rows_say_no_rate_and_rows_at_random_do():
    before = NoiseRate(*[np.nan] * 3, NOTHING, "nothing can be said.", ())
    ratings, truth = population()
    chosen = verified_rate(ratings, checked(truth, np.arange(20), False), before)
    assert np.isnan(chosen.rate)
    assert chosen.basis == NOTHING
    assert chosen.words.endswith("; nothing can be said.")
    drawn = verified_rate(ratings, checked(truth, np.arange(0, 1000, 5), True), before)
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
    assert verified_rate(ratings, drawn, BEFORE).rate == pytest.approx(1)
