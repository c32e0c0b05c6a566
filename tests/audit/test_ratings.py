"""What an audit says about each label, and what follows from it."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from granulearn.audit import LabelAudit
from granulearn.audit.ratings import (
    FINE,
    MOST_OF_A_KIND,
    NOTHING,
    PRIOR,
    SUSPECT,
    UNKNOWN,
    VERIFIED_LABELS,
    AuditSummary,
    Issue,
    Ratings,
    most_probable_other,
    named_rows,
    worst_first,
)
from tests.audit.tables import three_clouds


@pytest.fixture(scope="module")
def audit():
    X, y, _ = three_clouds()
    return LabelAudit(random_state=0).fit(X, y)


def test_the_second_class_is_the_predicted_one_or_the_most_probable_other(audit):
    ratings = audit.ratings_
    assert (ratings.second_classes != ratings.given).all()
    doubted = ratings.predicted != ratings.given
    assert_array_equal(ratings.second_classes[doubted], ratings.predicted[doubted])
    for at in np.flatnonzero(~doubted):
        others = [code for code in range(3) if code != ratings.given[at]]
        assert ratings.proba[at, ratings.second_classes[at]] == ratings.proba[at, others].max()


def test_what_cannot_be_rated_has_no_second_class_and_is_not_trusted():
    X, y, _ = three_clouds()
    y = y.astype(object)
    y[4] = "once"
    with pytest.warns(UserWarning, match="1 of 150 labels"):
        ratings = LabelAudit(random_state=0).fit(X, y).ratings_
    assert_array_equal(np.flatnonzero(~ratings.known), [4])
    assert ratings.verdicts[4] == UNKNOWN
    assert ratings.second_classes[4] == -1
    assert not ratings.trusted[4]
    assert ratings.worst_first[-1] == 4


def test_only_labels_that_are_fine_and_reliable_are_trusted_unverified(audit):
    ratings = audit.ratings_
    assert_array_equal(ratings.trusted, (ratings.verdicts == FINE) & (audit.label_quality_ >= 0.5))
    assert ratings.trusted.any()
    assert not replace(ratings, verdicts=np.full(150, SUSPECT)).trusted.any()


def test_open_labels_come_by_error_probability_then_verified_ones_then_unknown_ones():
    nothing = np.zeros(7)
    ratings = Ratings(
        classes=np.array(["a", "b"]),
        given=nothing.astype(int),
        proba=np.full((7, 2), 0.5),
        label_quality=np.array([0.9, 0.1, np.nan, 0.1, 0.0, 0.5, 0.4]),
        error_proba=np.array([0.0, 0.2, np.nan, 0.2, 1.0, 0.1, 0.1]),
        predicted=nothing.astype(int),
        verdicts=np.full(7, FINE),
        verified=np.arange(7) == 4,
        outlier=nothing > 0,
    )
    assert ratings.worst_first.tolist() == [1, 3, 6, 5, 0, 4, 2]
    assert ratings.open_rows.tolist() == [1, 3, 6, 5, 0, 2]


def test_one_class_has_no_second_class():
    one, zeros = np.ones((3, 1)), np.zeros(3, dtype=int)
    nothing = zeros > 0
    ratings = Ratings(
        np.array(["a"]), zeros, one, one[:, 0], one[:, 0], zeros, np.full(3, FINE), nothing, nothing
    )
    assert_array_equal(ratings.second_classes, -1)


@pytest.mark.parametrize(
    ("summary", "words"),
    [
        ((1669, 113.4, 0, 0.39, PRIOR, 0, 0, 0), "About 113 of 1,669 labels (7 %) may be wrong"),
        ((1669, 113.4, 0, 0.39, PRIOR, 0, 0, 0), "anything from 0 % to 39 % fits"),
        ((100, 9, 0.05, 0.2, VERIFIED_LABELS, 20, 10, 6), "6 of 20 verified labels were wrong"),
        ((100, 9, 0.05, 0.2, VERIFIED_LABELS, 20, 0, 6), "Verify some rows drawn at random too"),
        ((100, 1, 0, 0.04, VERIFIED_LABELS, 20, 10, 0), "probably under 4 % (4 labels) are"),
        (
            (10, 3, 0.3, 0.3, VERIFIED_LABELS, 10, 10, 3),
            "that can be rated are verified: 3 were wrong",
        ),
        ((10, np.nan, np.nan, np.nan, NOTHING, 1, 1, 1), "1 of 1 verified labels was wrong"),
    ],
)
def test_the_message_has_the_count_beside_the_percentage_and_its_basis(summary, words):
    found = AuditSummary(*summary, {})
    assert words in found.message
    assert found.to_dict()["message"] == found.message


@given(seed=st.integers(0, 10**6), n_classes=st.integers(2, 5))
def test_the_most_probable_other_class_is_never_the_given_one_and_none_is_more_probable(
    seed, n_classes
):
    rng = np.random.default_rng(seed)
    # Few values, so that there are ties and impossible classes.
    proba = rng.integers(0, 3, size=(20, n_classes)) / 4
    codes = rng.integers(n_classes, size=20)
    best, amount = most_probable_other(proba, codes)
    for row in range(20):
        others = [proba[row, k] for k in range(n_classes) if k != codes[row]]
        assert best[row] != codes[row]
        assert amount[row] == proba[row, best[row]] == max(others)
    assert_array_equal(most_probable_other(np.full((1, n_classes), np.nan), codes[:1])[1], 0)


# --- issues


def some(n):
    return [Issue("odd", 1 - i / 100, (i,), "odd") for i in range(n)]


def test_the_worst_come_first_and_the_others_share_a_line():
    shown = worst_first(some(30)[::-1], "{n} more")
    assert [issue.rows[0] for issue in shown[:-1]] == list(range(MOST_OF_A_KIND))
    assert shown[-1].rows == tuple(range(MOST_OF_A_KIND, 30))
    assert shown[-1].message == "10 more"
    assert worst_first(some(3), "{n} more") == some(3)
    assert worst_first([], "{n} more") == []


def test_rows_are_named_by_the_numbers_a_reader_knows():
    assert named_rows([0, 2], np.array([10, 11, 12])) == "rows 10 and 12"
    assert named_rows([1], None) == "row 1"
    assert named_rows(list(range(7)), None) == "rows 0, 1, 2, 3, 4 and 2 more"
