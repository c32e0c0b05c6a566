"""What to look at next, what it will yield, and how a person's findings set the scale."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from granulearn.audit import LabelAudit
from granulearn.audit.ratings import FINE, Ratings
from granulearn.audit.review_plan import expected_errors, next_rows, scaled_by_verified
from granulearn.audit.verified import VerifiedLabels
from tests.audit.tables import three_clouds


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


def test_where_nothing_is_open_nothing_is_chosen():
    rows, drawn = next_rows(rated(5, verified=5), 3, 0.5, np.random.RandomState(0))
    assert len(rows) == len(drawn) == 0
    assert expected_errors(rated(5, verified=5)) == {}


def test_the_yield_is_the_sum_of_the_probabilities_of_the_worst_open_rows():
    ratings = rated(50, verified=10, unknown=5)
    open_rows = [row for row in ratings.worst_first.tolist() if not ratings.verified[row]]
    found = expected_errors(ratings, (3, 20))
    for size, amount in found.items():
        each = [ratings.error_proba[row] for row in open_rows[:size]]
        assert amount == pytest.approx(sum(p for p in each if p == p))
    assert list(found) == [3, 20]


def test_the_yield_is_cut_at_the_number_of_open_rows():
    ratings = rated(50, verified=10)
    assert list(expected_errors(ratings, (20, 100, 500))) == [20, 40]
    assert expected_errors(ratings, (500,))[40] == pytest.approx(
        ratings.error_proba[~ratings.verified].sum()
    )


def found_by(ratings, rows, wrong):
    return VerifiedLabels(
        np.asarray(rows), np.asarray(wrong, dtype=int), np.zeros(len(rows), dtype=bool)
    )


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6), n_seen=st.integers(1, 20), share=st.floats(0, 1))
def test_what_was_found_keeps_the_order_of_label_quality(seed, n_seen, share):
    rng = np.random.default_rng(seed)
    ratings = rated(50, seed, unknown=3)
    rows = np.sort(rng.choice(50, n_seen, replace=False))
    scaled = scaled_by_verified(ratings, found_by(ratings, rows, rng.random(n_seen) < share))
    known = ratings.known
    order = np.argsort(ratings.label_quality[known])
    assert (np.diff(scaled.error_proba[known][order]) <= 1e-12).all()
    assert ((scaled.error_proba[known] >= 0) & (scaled.error_proba[known] <= 1)).all()
    assert np.isnan(scaled.error_proba[~known]).all()


def test_probabilities_move_towards_what_was_found():
    ratings = rated(200)
    rows = np.argsort(ratings.label_quality)[:40]
    before = ratings.error_proba[rows].mean()
    more, none = (
        scaled_by_verified(ratings, found_by(ratings, rows, np.full(40, value)))
        for value in (True, False)
    )
    assert none.error_proba[rows].mean() < 0.2 < before < 0.98 < more.error_proba[rows].mean()
    assert (more.error_proba[rows] > none.error_proba[rows]).all()
    few, many = (
        scaled_by_verified(ratings, found_by(ratings, rows[:n], np.ones(n)))
        .error_proba[rows]
        .mean()
        for n in (2, 40)
    )
    assert before < few < many


def test_a_person_who_finds_what_was_said_changes_little():
    ratings = rated(2000)
    # Such odds as a line has: log odds of being wrong are twice those of unlabel_quality, less one.
    doubt = np.log(1 / ratings.label_quality - 1)
    honest = replace(ratings, error_proba=1 / (1 + np.exp(1 - 2 * doubt)))
    rng = np.random.default_rng(1)
    rows = np.sort(rng.choice(2000, 600, replace=False))
    wrong = rng.random(600) < honest.error_proba[rows]
    scaled = scaled_by_verified(honest, found_by(honest, rows, wrong))
    assert_allclose(scaled.error_proba, honest.error_proba, atol=0.06)


def test_the_scale_is_that_of_the_most_probable_line():
    from scipy.optimize import minimize

    ratings = rated(300, seed=4)
    rows = np.arange(0, 300, 6)
    wrong = np.random.default_rng(0).random(50) < 0.5 * ratings.error_proba[rows]
    scaled = scaled_by_verified(ratings, found_by(ratings, rows, wrong))
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
    assert_allclose(scaled.error_proba, expected, atol=1e-5)


def test_rows_that_cannot_be_rated_say_nothing_about_the_scale():
    ratings = rated(30, unknown=5)
    rows = np.flatnonzero(~ratings.known)
    assert scaled_by_verified(ratings, found_by(ratings, rows, np.ones(5))) is ratings


# --- of a whole audit


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


def test_the_audit_expects_what_its_ratings_do(audit):
    assert audit.expected_errors() == expected_errors(audit.ratings_)
    assert audit.expected_errors(7) == expected_errors(audit.ratings_, (7,))


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
