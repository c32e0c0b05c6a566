"""Which rows get a card, and what it shows."""

from copy import copy
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from granulearn.audit.explanation import Origin
from granulearn.audit.ratings import Issue, Ratings
from granulearn.review import audit_page
from granulearn.review.audit_page import chosen_rows
from granulearn.review.cards import (
    MOST_CLASSES,
    AuditedRows,
    RowFilter,
    class_probabilities,
    confused_pairs,
    pair_key,
    rows_of_pair,
)
from tests.audit.stubs import audited, saying, with_every_verdict

NAMES = ["a", "b", "c", "d"]


@pytest.fixture(scope="module")
def everything():
    X, audit = audited()
    ratings = with_every_verdict(audit.ratings_)
    return X, saying(audit, ratings), ratings


def rows_of(everything, table=None, names=NAMES, **options):
    """Return the audited rows."""
    X, audit, _ = everything
    table = pd.DataFrame(X, columns=NAMES) if table is None else table
    rows = SimpleNamespace(rows=np.arange(len(X)))
    done = SimpleNamespace(
        audit=audit, X=X, origins=list(map(Origin, names)), table=rows, shown_cells=lambda: table
    )
    return AuditedRows(done, **options)


def test_every_suspect_gets_a_card_the_most_probably_wrong_first(everything):
    *_, ratings = everything
    chosen = chosen_rows(ratings)
    assert set(chosen) == set(np.flatnonzero(ratings.is_suspect))
    doubt = ratings.error_proba[chosen]
    assert_array_equal(doubt, np.sort(doubt)[::-1])


def test_of_many_the_worst_are_chosen_and_some_of_every_frequent_pair(everything, monkeypatch):
    *_, ratings = everything
    monkeypatch.setattr(audit_page, "MOST_CARDS", 2)
    monkeypatch.setattr(audit_page, "CARDS_PER_PAIR", 1)
    chosen = chosen_rows(ratings)
    suspects = np.flatnonzero(ratings.is_suspect)
    worst = suspects[np.argsort(-ratings.error_proba[suspects], kind="stable")]
    assert set(worst[:2]) <= set(chosen)
    pairs = {pair["key"] for pair in confused_pairs(ratings)}
    assert {pair_key(ratings.given[at], ratings.second_classes[at]) for at in chosen} == pairs
    assert len(chosen) <= 2 + len(pairs)


def test_pairs_count_wrong_and_suspect_labels_the_most_frequent_first(everything):
    *_, ratings = everything
    pairs = confused_pairs(ratings)
    for pair in pairs:
        own = rows_of_pair(ratings, pair["key"])
        assert pair["wrong"] == (own & (ratings.verdicts == "wrong")).sum()
        assert pair["suspect"] == (own & (ratings.verdicts == "suspect")).sum()
    assert sum(pair["wrong"] for pair in pairs) == (ratings.verdicts == "wrong").sum()
    assert [pair["wrong"] for pair in pairs] == sorted(
        (pair["wrong"] for pair in pairs), reverse=True
    )


def test_a_card_shows_the_row_beside_its_neighbours_columns_that_decide_first(everything):
    X, _, ratings = everything
    at = chosen_rows(ratings)[0]
    (made,) = rows_of(everything).cards([at])
    assert (made.row, made.drawn) == (at + 1, "worst")
    assert made.second_class == ratings.classes[ratings.second_classes[at]]
    decides = [line.decides for line in made.lines]
    assert any(decides)
    assert decides == sorted(decides, reverse=True)
    near = [*made.of_given, *made.of_second]
    assert len(near) == 6
    assert {line.column for line in made.lines} == set(NAMES)
    for line in made.lines:
        place = NAMES.index(line.column)
        assert line.own == f"{X[at, place]:.6g}"
        assert line.others == tuple(f"{X[one.row - 1, place]:.6g}" for one in near)


def test_kept_columns_come_first_and_once(everything):
    *_, ratings = everything
    kept = (NAMES[3], "no such column", NAMES[0])
    (made,) = rows_of(everything, keep=kept).cards(chosen_rows(ratings)[:1])
    assert [line.column for line in made.kept] == [NAMES[3], NAMES[0]]
    assert sorted(line.column for line in (*made.kept, *made.lines)) == sorted(NAMES)


def test_a_missing_trusted_side_says_why(everything):
    X, audit, ratings = everything
    at = chosen_rows(ratings)[0]
    ratings = replace(ratings, verified=np.zeros(len(X), dtype=bool))
    same = ratings.given == ratings.given[at]
    label = ratings.classes[ratings.given[at]]
    doubted = replace(ratings, verdicts=np.where(same, "suspect", ratings.verdicts))
    (made,) = rows_of((X, saying(audit, doubted), doubted)).cards([at])
    n_others = same.sum() - 1
    assert made.untrusted == (
        f"None of {n_others} other rows of {label} is trusted: {n_others} are doubted, "
        "0 more like other classes.",
    )
    alone = replace(ratings, given=np.where(same, ratings.second_classes, ratings.given))
    alone.given[at] = ratings.given[at]
    alone = replace(alone, predicted=alone.given)
    (made,) = rows_of((X, saying(audit, alone), alone)).cards([at])
    assert made.untrusted == (f"None of 0 other rows of {label} is trusted.",)


def test_long_cells_are_shown_up_to_a_size_that_is_said(everything):
    X, _, ratings = everything
    table = pd.DataFrame({"text": ["no. 7" * 2_000_000] * len(X)})
    shown = rows_of(everything, table, ["text"] * 4, long_cards=True)
    (made,) = shown.cards(chosen_rows(ratings)[:1])
    assert made.lines[0].own.startswith("no. 7" * 1_999)
    assert made.lines[0].own.endswith("… (10,000 of 10,000,000 characters)")
    assert len(made.reason) < 1_000


def test_wide_tables_and_long_cells_are_cut(everything):
    X, _, ratings = everything
    table = pd.DataFrame({f"c{k}": ["long " * 50] * len(X) for k in range(40)})
    shown = rows_of(everything, table, ["c39", "c38", "x", "y"], keep=("c7",))
    (made,) = shown.cards(chosen_rows(ratings)[:1])
    assert (len(made.lines), made.n_columns, len(made.kept)) == (30, 40, 1)
    assert made.lines[0].column in ("c39", "c38")
    assert len(made.lines[0].own) == 120
    assert made.lines[0].own.endswith("…")


def test_classes_come_by_probability_with_keys_by_rank(everything):
    *_, ratings = everything
    at = chosen_rows(ratings)[0]
    found = class_probabilities(ratings, at)
    shares = [one.probability for one in found]
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) == pytest.approx(1)
    names = ratings.classes
    assert [one.label for one in found if one.is_given] == [names[ratings.given[at]]]
    wrong = sum(one.probability for one in found if not one.is_given)
    assert wrong == pytest.approx(ratings.error_proba[at])  # the figure of the queue
    assert [one.label for one in found if one.is_second] == [names[ratings.second_classes[at]]]
    assert [one.key for one in found] == ["1", "2", "3"]


def test_of_many_classes_the_most_probable_and_the_given_are_shown_and_nine_have_a_key(everything):
    *_, ratings = everything
    proba = np.zeros((len(ratings.given), 30))
    proba[:, 5:25] = np.linspace(0.01, 0.09, 20)
    many = replace(
        ratings,
        classes=np.array([f"c{k:02d}" for k in range(30)]),
        proba=proba,
        given=np.full(len(proba), 29),
        predicted=np.full(len(proba), 24),
        error_proba=np.full(len(proba), 0.999),
    )
    found = class_probabilities(many, chosen_rows(ratings)[0])
    assert [one.label for one in found] == [
        *(f"c{k}" for k in range(24, 24 - MOST_CLASSES, -1)), "c29",
    ]  # fmt: skip
    assert [one.key for one in found] == [*"123456789", ""]


def test_classes_of_a_label_that_cannot_be_rated_have_keys_and_no_probability(everything):
    *_, ratings = everything
    nothing = np.full(len(ratings.given), np.nan)
    blind = replace(
        ratings,
        label_quality=nothing,
        error_proba=nothing,
        proba=np.full_like(ratings.proba, np.nan),
    )
    found = class_probabilities(blind, 0)
    assert [(one.key, one.label, one.probability) for one in found] == [
        ("1", "cat", None), ("2", "dog", None), ("3", "emu", None),
    ]  # fmt: skip


def test_classes_of_a_verified_label_have_no_probability(everything):
    *_, ratings = everything
    at = chosen_rows(ratings)[0]
    truth = ratings.second_classes[at]
    verified = replace(
        ratings,
        verified=np.arange(len(ratings.given)) == at,
        predicted=np.where(np.arange(len(ratings.given)) == at, truth, ratings.predicted),
    )
    found = class_probabilities(verified, at)
    assert {one.probability for one in found} == {None}
    proba = [ratings.proba[at][list(ratings.classes).index(one.label)] for one in found]
    assert proba == sorted(proba, reverse=True)  # by similar rows


# --- filters


CLASSES = np.array(["Cat", "dog"])
CELLS = {
    "name": ["Anna", "ben", "Ännchen", None, "x\ty"],
    "size": ["1.5", "2", "30", "4", "5"],
}


ISSUES = [
    Issue("near duplicates", 0.9, (0, 2), ""),
    Issue("near duplicates", 0.8, (2, 3), ""),
    Issue("outlier", 0.7, (4,), ""),
    Issue("overlapping classes", 0.6, (), ""),
]


@pytest.fixture(scope="module")
def rows():
    """Return five rows that can be filtered; no card is made of them."""
    label_quality = np.array([0.1, 0.9, 0.4, 0.2, np.nan])
    verdicts = np.array(["wrong", "fine", "suspect", "wrong", "unknown"])
    given_codes = np.array([0, 0, 1, 1, 0])
    proba = np.where(given_codes == 0, label_quality, 1 - label_quality)
    ratings = Ratings(
        classes=CLASSES,
        given=given_codes,
        proba=np.column_stack([proba, 1 - proba]),
        label_quality=label_quality,
        error_proba=1 - label_quality,
        predicted=np.where(verdicts == "wrong", 1 - given_codes, given_codes),
        verdicts=verdicts,
        verified=np.zeros(5, dtype=bool),
        outlier=np.zeros(5, dtype=bool),
    )
    done = SimpleNamespace(
        audit=SimpleNamespace(ratings_=ratings, forest_=None, issues_=ISSUES),
        X=np.zeros((5, 1)),
        origins=[Origin("size")],
        table=SimpleNamespace(rows=np.array([1, 2, 4, 6, 10])),
        shown_cells=lambda: pd.DataFrame(CELLS),
    )
    return AuditedRows(done)


@pytest.mark.parametrize(
    ("asked", "numbers"),
    [
        ({}, [2, 3, 5, 7, 11]),
        ({"verdict": "wrong"}, [2, 7]),
        ({"verdict": "fine,unknown"}, [3, 11]),
        ({"pair": "0-1"}, [2, 3]),
        ({"pair": "1-0"}, [5, 7]),
        ({"pair": "7-9"}, []),
        ({"pair": "nonsense"}, []),
        ({"find": "ANNA"}, [2]),
        ({"find": "änn"}, [5]),
        ({"find": "cat 1.5"}, [2]),
        ({"find": "dog 4"}, [7]),
        ({"find": "#7"}, [7]),
        ({"find": "#7 anna"}, []),
        ({"find": "#" + "7" * 5000}, []),
        ({"column": "size", "value": "30"}, [5]),
        ({"column": "name", "value": ""}, [7]),  # missing
        ({"column": "name", "value": "30"}, []),
        ({"issue": "near duplicates"}, [2, 5, 7]),
        ({"issue": "near duplicates 0"}, [2, 5]),
        ({"issue": "outlier 4", "verdict": "unknown"}, [11]),
        ({"issue": "overlapping classes"}, []),
        ({"find": "a1"}, []),  # a word does not go from one cell into the next
        ({"find": ".*"}, []),  # no pattern
        ({"find": "dog", "verdict": "wrong", "pair": "1-0"}, [7]),
    ],
)
def test_rows_fit_a_filter_of_verdicts_pair_and_words(rows, asked, numbers):
    assert rows.numbers[rows.matching(RowFilter(**asked))].tolist() == numbers


def test_values_are_counted_and_long_ones_left_out(rows):
    assert rows.values("size") == {"1.5": 1, "2": 1, "30": 1, "4": 1, "5": 1}
    long = pd.DataFrame({"name": ["a", "b", "b", None, "x" * 101], "size": CELLS["size"]})
    rows = copy(rows)
    rows.table = long
    assert list(rows.values("name").items()) == [("b", 2), ("a", 1), ("", 1)]


@given(st.text())
def test_any_text_can_be_searched_for(rows, text):
    found = rows.matching(RowFilter(find=text))[0]
    # The second class can be found, too.
    cells = ["anna", "1.5", "cat", "dog"]
    words = text.lower().split()
    assert found == all(any(word in cell for cell in cells) or word == "#2" for word in words)
