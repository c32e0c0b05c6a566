"""The numbers of a review, and the advice to stop."""

import numpy as np
import pytest

from granulearn.audit.ratings import NoiseRate, Ratings
from granulearn.review import Decision
from granulearn.review.summary import NEXT, summarize

NOISE = NoiseRate(0.1, 0.05, 0.2, "confident rows", "Said.")


def ratings_of(error_proba, verdicts=None):
    n = len(error_proba)
    return Ratings(
        classes=np.array(["cat", "dog"]),
        given=np.zeros(n, dtype=int),
        proba=np.column_stack([1 - error_proba, error_proba]),
        label_quality=1 - error_proba,
        error_proba=error_proba,
        predicted=np.zeros(n, dtype=int),
        verdicts=np.full(n, "fine") if verdicts is None else verdicts,
        verified=np.zeros(n, dtype=bool),
    )


def summary(decisions=(), error_proba=None, verdicts=None):
    error_proba = np.linspace(0.9, 0.01, 100) if error_proba is None else error_proba
    is_open = np.ones(len(error_proba), dtype=bool)
    is_open[[d.row - 1 for d in decisions]] = False
    return summarize(decisions, ratings_of(error_proba, verdicts), NOISE, is_open)


def test_decisions_are_counted_by_kind_person_and_verdict():
    said = [
        Decision(1, "keep", who="ann", verdict="wrong"),
        Decision(2, "change", "dog", who="ben", verdict="wrong"),
        Decision(3, "exclude", who="ann", verdict="fine"),
        Decision(4, "keep", who="ann", verdict="wrong"),
    ]
    numbers = summary(said)
    none = {"keep": 0, "change": 0, "exclude": 0, "unsure": 0}
    assert numbers.counts == {"keep": 2, "change": 1, "exclude": 1}
    assert numbers.n_decided == 4
    assert numbers.by_who == {"ann": none | {"keep": 2, "exclude": 1}, "ben": none | {"change": 1}}
    wrong = none | {"keep": 2, "change": 1}
    assert numbers.by_verdict == {"wrong": wrong, "fine": none | {"exclude": 1}}


def test_the_curve_counts_wrong_labels_against_rows_checked():
    kinds = ["change", "keep", "unsure", "change"]
    said = [Decision(row, kind, "dog") for row, kind in enumerate(kinds, start=1)]
    assert summary(said).found == (1, 1, 2)


def test_the_forecast_is_the_sum_over_the_next_open_rows():
    error_proba = np.linspace(0.9, 0.01, 100)
    numbers = summary([Decision(1, "exclude"), Decision(2, "unsure")], error_proba)
    assert numbers.n_next == NEXT
    assert numbers.expected == pytest.approx(error_proba[2 : 2 + NEXT].sum())


def test_worth_checking_means_wrong_once_in_ten():
    error_proba = np.array([0.9, 0.5, 0.11, 0.09, 0.0])
    assert summary(error_proba=error_proba).worth_checking == 3
    assert summary([Decision(1, "keep")], error_proba).worth_checking == 2
    verdicts = np.array(["fine"] * 4 + ["wrong"])
    assert summary(error_proba=error_proba, verdicts=verdicts).worth_checking == 4


def test_low_yield_is_a_hint_to_stop():
    numbers = summary(error_proba=np.full(100, 0.01))
    assert numbers.advice.startswith(f"Expect about 0.2 wrong labels in the next {NEXT} rows")
    assert summary().advice == ""


def test_a_long_row_of_right_labels_is_a_hint_to_stop():
    right = [Decision(row, "keep") for row in range(1, NEXT + 1)]
    assert "The last 20 labels were all right" in summary(right).advice
    wrong = [*right[:-1], Decision(NEXT, "change", "dog")]
    assert "The last 20" not in summary(wrong).advice


def test_right_labels_at_random_say_nothing_about_the_worst():
    wrong = [Decision(row, "change", "dog") for row in range(1, NEXT + 1)]
    drawn = [Decision(row, "keep", drawn="random") for row in range(NEXT + 1, 2 * NEXT + 1)]
    assert summary([*wrong, *drawn]).advice == ""


def test_only_rows_drawn_at_random_tell_how_many_are_wrong():
    said = [Decision(row, "change", "dog") for row in range(1, NEXT + 1)]
    assert "drawn at random" in summary(said).advice
    drawn = [*said, Decision(50, "keep", drawn="random")]
    assert summary(drawn).at_random == 1
    assert summary(drawn).advice == ""


def test_when_all_is_decided_nothing_is_left_to_say():
    said = [Decision(row, "keep") for row in range(1, 6)]
    numbers = summary(said, np.full(5, 0.5))
    assert numbers.advice == "Every label has been checked."
    assert (numbers.n_next, numbers.expected) == (0, None)


def test_labels_that_cannot_be_rated_have_no_forecast():
    numbers = summary(error_proba=np.full(30, np.nan))
    assert (numbers.expected, numbers.worth_checking) == (None, 0)
