"""Which rows get a card, and what it holds."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from granulearn.audit.explanation import Explainer
from granulearn.review import cards
from granulearn.review.cards import (
    MOST_CLASSES,
    ShownTable,
    chosen_rows,
    confused_pairs,
    make_card,
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


def test_every_doubted_row_gets_a_card_the_most_probably_wrong_first(everything):
    *_, ratings = everything
    chosen = chosen_rows(ratings)
    assert set(chosen) == set(np.flatnonzero(ratings.verdicts != "fine"))
    doubt = np.nan_to_num(ratings.error_proba[chosen], nan=-1)
    assert_array_equal(doubt, np.sort(doubt)[::-1])


def test_of_many_the_worst_are_chosen_and_some_of_every_frequent_pair(everything, monkeypatch):
    *_, ratings = everything
    monkeypatch.setattr(cards, "MOST_CARDS", {"wrong": 2})
    monkeypatch.setattr(cards, "CARDS_PER_PAIR", 1)
    chosen = chosen_rows(ratings)
    wrong = np.flatnonzero(ratings.verdicts == "wrong")
    worst = wrong[np.argsort(ratings.label_quality[wrong], kind="stable")]
    assert set(worst[:2]) <= set(chosen)
    pairs = {pair.key for pair in confused_pairs(ratings) if pair.wrong}
    assert {pair_key(ratings.given[at], ratings.second_classes[at]) for at in chosen} == pairs
    assert len(chosen) <= 2 + len(pairs)


def test_pairs_count_wrong_and_ambiguous_labels_the_most_frequent_first(everything):
    *_, ratings = everything
    pairs = confused_pairs(ratings)
    for pair in pairs:
        own = rows_of_pair(ratings, pair.key)
        assert pair.wrong == (own & (ratings.verdicts == "wrong")).sum()
        assert pair.ambiguous == (own & (ratings.verdicts == "ambiguous")).sum()
    assert sum(pair.wrong for pair in pairs) == (ratings.verdicts == "wrong").sum()
    assert [pair.wrong for pair in pairs] == sorted((pair.wrong for pair in pairs), reverse=True)


def test_without_doubt_there_is_no_pair_and_no_card(everything):
    *_, ratings = everything
    fine = replace(ratings, verdicts=np.full(len(ratings.given), "fine"))
    assert confused_pairs(fine) == []
    assert chosen_rows(fine) == []


def test_a_pair_is_known_by_the_numbers_of_its_classes():
    assert pair_key(3, 12) == "3-12"
    assert pair_key(3, -1) == ""


@pytest.fixture(scope="module")
def doubted(everything):
    """Return a position, why its label is doubted, and the table."""
    X, audit, ratings = everything
    table = pd.DataFrame(X, columns=NAMES)
    at = chosen_rows(ratings)[0]
    (why,) = Explainer(audit, X, table, NAMES).explain([at])
    return at, why, table


def test_a_card_holds_the_row_beside_its_neighbours_columns_that_decide_first(everything, doubted):
    X, _, ratings = everything
    at, why, table = doubted
    made = make_card(ratings, ShownTable(table, range(1, 151)), why)
    assert (made.row, made.second_class, made.drawn) == (at + 1, why.second_class, "worst")
    assert [line.column for line in made.lines if line.decides] == list(why.column_names)
    assert {line.column for line in made.lines} == set(NAMES)
    decides = [line.decides for line in made.lines]
    assert decides == sorted(decides, reverse=True)
    near = [*made.of_given, *made.of_second]
    assert len(near) == 6
    for line in made.lines:
        place = NAMES.index(line.column)
        assert line.own == f"{X[at, place]:.6g}"
        assert line.others == tuple(f"{X[one.row - 1, place]:.6g}" for one in near)


def test_the_columns_that_were_asked_for_come_first_and_once(everything, doubted):
    *_, ratings = everything
    _, why, table = doubted
    asked = (NAMES[3], "no such column", why.column_names[0])
    made = make_card(ratings, ShownTable(table, range(1, 151), keep=asked), why)
    assert [line.column for line in made.kept] == [NAMES[3], why.column_names[0]]
    assert made.kept[1].decides
    assert sorted(line.column for line in (*made.kept, *made.lines)) == sorted(NAMES)


def test_classes_come_by_probability_and_keep_their_keys(everything, doubted):
    *_, ratings = everything
    _, why, table = doubted
    made = make_card(ratings, ShownTable(table, range(1, 151)), why)
    shares = [part.probability for part in made.probabilities]
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) == pytest.approx(1)
    assert {part.label for part in made.probabilities if part.is_given} == {made.given_label}
    assert {part.label for part in made.probabilities if part.is_second} == {made.second_class}
    keys = {part.label: part.key for part in made.probabilities}
    assert keys == {"cat": "1", "dog": "2", "emu": "3"}


def test_of_many_classes_those_that_matter_are_shown_and_nine_have_a_key(everything, doubted):
    *_, ratings = everything
    _, why, table = doubted
    proba = np.zeros((len(ratings.given), 30))
    proba[:, 5:25] = np.linspace(0.01, 0.09, 20)
    given = np.full(len(ratings.given), 29)  # none speaks for it, and it is shown all the same
    many = replace(
        ratings,
        classes=np.array([f"c{k:02d}" for k in range(30)]),
        proba=proba,
        given=given,
        predicted=np.full(len(given), 24),
    )
    made = make_card(many, ShownTable(table, range(1, 151)), why)
    labels = [part.label for part in made.probabilities]
    assert labels == [*(f"c{k}" for k in range(24, 24 - MOST_CLASSES, -1)), "c29"]
    assert [part.key for part in made.probabilities] == [*"123456789", ""]


def test_a_label_that_nothing_can_rate_has_no_probabilities(everything, doubted):
    *_, ratings = everything
    _, why, table = doubted
    blind = replace(ratings, label_quality=np.full(len(ratings.given), np.nan))
    assert make_card(blind, ShownTable(table, range(1, 151)), why).probabilities == ()


def test_wide_tables_and_long_cells_are_cut(everything):
    X, audit, ratings = everything
    table = pd.DataFrame({f"c{k}": ["long " * 50] * len(X) for k in range(40)})
    (at,) = chosen_rows(ratings)[:1]
    (why,) = Explainer(audit, X, table, ["c39", "c38", "x", "y"]).explain([at])
    made = make_card(ratings, ShownTable(table, range(len(X)), keep=("c7",)), why)
    assert len(made.lines) == 30
    assert (made.n_columns, len(made.kept)) == (40, 1)
    assert made.lines[0].column in ("c39", "c38")
    assert len(made.lines[0].own) == 120
    assert made.lines[0].own.endswith("…")
