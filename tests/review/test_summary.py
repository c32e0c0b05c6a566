"""The numbers of a review: the audit's record, what was decided, and a hint to stop."""

from dataclasses import replace

import numpy as np
import pytest

from granulearn import Review
from granulearn.audit.ratings import AuditSummary
from granulearn.review import Decision
from granulearn.review.summary import ReviewSummary
from tests.review.tables import animals

RECORD = AuditSummary(100, 12.0, 0.05, 0.2, "verified labels", 20, 10, 4, {20: 6.2})


def summary(decisions=(), record=RECORD, n_fitted=0, moved=(0, 0)):
    return ReviewSummary(record, 8, n_fitted, moved, tuple(decisions))


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
    assert numbers.counts_by("who") == {
        "ann": none | {"keep": 2, "exclude": 1},
        "ben": none | {"change": 1},
    }
    wrong = none | {"keep": 2, "change": 1}
    assert numbers.counts_by("verdict") == {"wrong": wrong, "fine": none | {"exclude": 1}}


def test_the_curve_counts_wrong_labels_against_rows_checked():
    kinds = ["change", "keep", "unsure", "change"]
    said = [Decision(row, kind, "dog") for row, kind in enumerate(kinds, start=1)]
    assert summary(said).found == (1, 1, 2)


def test_the_advice_is_the_forecast_of_the_record_and_to_stop_where_it_is_low():
    assert summary().advice == "Expect about 6 wrong among the 20 most doubtful."
    low = replace(RECORD, expected_errors={20: 0.24})
    end = "about 0.2 wrong among the 20 most doubtful; going on hardly pays."
    assert summary(record=low).advice.endswith(end)
    # Without checks, a low forecast is a guess.
    assert "hardly pays" not in summary(record=replace(low, n_verified=0)).advice
    nothing = replace(RECORD, basis="none", expected_errors={})
    assert summary(record=nothing).advice == nothing.message


def test_the_figures_say_what_changed_them():
    reasons = {n_fitted: summary(n_fitted=n_fitted).reason for n_fitted in (0, 17, 20)}
    assert reasons == {
        0: "The audit was fitted without verified labels; 20 labels verified since.",
        17: "The audit was fitted with 17 verified labels; 3 labels verified since.",
        20: "The audit was fitted with 20 verified labels.",
    }
    assert summary(n_fitted=17, moved=(104, 82)).reason == (
        "The audit was fitted with 17 verified labels, which moved the labels left to check from "
        "104 to 82; 3 labels verified since."
    )


def test_rows_at_random_are_wanted_after_ten_doubtful_ones():
    def wants(n_verified, n_at_random, n_suspects=8):
        record = replace(RECORD, n_verified=n_verified, n_at_random=n_at_random)
        return ReviewSummary(record, n_suspects, 0, (8, 8), ()).wants_random

    assert [wants(9, 0), wants(10, 0), wants(19, 9), wants(20, 10)] == [False, True, True, False]
    assert wants(0, 0, n_suspects=0)


# --- with an audit


@pytest.fixture
def review():
    with Review(animals()[0], "kind", refit_every=1000) as opened:
        yield opened


def figures(review):
    """Return all figures of a review that do not count decisions."""
    numbers = review.summary()
    return numbers.audit, review.ratings.error_proba.tolist(), numbers.reason, numbers.advice


def test_a_decision_moves_the_probability_of_its_row_to_zero_or_one(review):
    kept, changed = review.next(), review.card(int(review.rows()[1]))
    review.decide(kept, "keep")
    review.decide(changed, "change")
    assert review.rated(kept.row).error_probability == 0
    assert review.rated(changed.row).error_probability == 1
    assert (review.summary().audit.n_verified, review.summary().audit.n_found) == (2, 1)


def test_no_figure_moves_without_a_verified_label(review):
    before = figures(review)
    review.next("random"), review.rows(), review.summary()
    assert figures(review) == before
    for decision in ("exclude", "unsure"):
        review.decide(review.next(), decision)
        assert figures(review) == before
    review.decide(review.next(), "keep")
    assert figures(review) != before
    review.undo()
    assert figures(review) == before


def test_there_are_as_many_suspects_as_mistakes_are_left(review):
    frame, truth = animals()
    for number in range(12):
        card = review.next("random" if number % 2 else "worst")
        right = truth[card.row - 1]
        review.decide(card, "change", right)  # the given label keeps it
        numbers = review.summary()
        n_open = sum(review.open_by_verdict()[verdict] for verdict in ("wrong", "suspect"))
        assert numbers.n_suspects == n_open == round(numbers.audit.errors_left)
        p = review.ratings.error_proba
        assert numbers.audit.n_errors == pytest.approx(np.nansum(p))
        doubtful = np.sort(p[~review.ratings.verified])[::-1]
        assert numbers.audit.expected_errors[20] == pytest.approx(doubtful[:20].sum())
    assert review.summary().counts["change"] == (frame["kind"] != review.corrected()["kind"]).sum()
    before = review.summary().n_suspects
    review.refit()
    numbers = review.summary()
    assert numbers.suspects_moved == (before, numbers.n_suspects)
    assert numbers.reason.startswith("The audit was fitted with 12 verified labels")
