"""Which rows get a card, and what it holds."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from granulearn.review import cards
from granulearn.audit.explanation import Explainer
from granulearn.review.cards import (
    ShownTable,
    card,
    chosen_rows,
    confused_pairs,
    pair_key,
)
from tests.audit.stubs import audited, saying, with_every_verdict


@pytest.fixture(scope="module")
def everything():
    X, audit = audited()
    ratings = with_every_verdict(audit.ratings_)
    return X, saying(audit, ratings), ratings


def test_every_doubted_row_gets_a_card_the_most_probably_wrong_first(everything):
    *_, ratings = everything
    chosen = chosen_rows(ratings)
    assert set(chosen) == set(np.flatnonzero(ratings.verdicts != "fine"))
    doubt = np.nan_to_num(ratings.wrong_proba[chosen], nan=-1)
    assert_array_equal(doubt, np.sort(doubt)[::-1])


def test_of_many_the_worst_are_chosen_and_some_of_every_frequent_pair(everything, monkeypatch):
    *_, ratings = everything
    monkeypatch.setattr(cards, "MOST_CARDS", {"wrong": 2})
    monkeypatch.setattr(cards, "CARDS_PER_PAIR", 1)
    chosen = chosen_rows(ratings)
    wrong = np.flatnonzero(ratings.verdicts == "wrong")
    worst = wrong[np.argsort(ratings.reliability[wrong], kind="stable")]
    assert set(worst[:2]) <= set(chosen)
    pairs = {(pair.given, pair.rival) for pair in confused_pairs(ratings) if pair.wrong}
    assert {(ratings.given[at], ratings.rivals[at]) for at in chosen} == pairs
    assert len(chosen) <= 2 + len(pairs)


def test_pairs_count_wrong_and_ambiguous_labels_the_most_frequent_first(everything):
    *_, ratings = everything
    pairs = confused_pairs(ratings)
    for pair in pairs:
        own = (ratings.given == pair.given) & (ratings.rivals == pair.rival)
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


def test_a_card_holds_the_row_beside_its_neighbours_columns_that_decide_first(everything):
    X, audit, ratings = everything
    names = ["a", "b", "c", "d"]
    table = pd.DataFrame(X, columns=names)
    (at,) = chosen_rows(ratings)[:1]
    (why,) = Explainer(audit, X, table, names).explain([at])
    made = card(ratings, ShownTable(table, range(1, 151)), why)
    assert made["row"] == at + 1
    assert [line["column"] for line in made["lines"] if line["decides"]] == list(why.column_names)
    assert {line["column"] for line in made["lines"]} == set(names)
    assert [line["decides"] for line in made["lines"]] == sorted(
        (line["decides"] for line in made["lines"]), reverse=True
    )
    near = [*made["of_given"], *made["of_rival"]]
    assert len(near) == 6
    for line in made["lines"]:
        place = names.index(line["column"])
        assert line["own"] == f"{X[at, place]:.6g}"
        assert line["others"] == [f"{X[one['row'] - 1, place]:.6g}" for one in near]
        assert line["own"] in made["search"]


def test_wide_tables_and_long_cells_are_cut(everything):
    X, audit, ratings = everything
    table = pd.DataFrame({f"c{k}": ["long " * 50] * len(X) for k in range(40)})
    (at,) = chosen_rows(ratings)[:1]
    (why,) = Explainer(audit, X, table, ["c39", "c38", "x", "y"]).explain([at])
    made = card(ratings, ShownTable(table, range(len(X))), why)
    assert len(made["lines"]) == 30
    assert made["lines"][0]["column"] in ("c39", "c38")
    assert len(made["lines"][0]["own"]) == 120
    assert made["lines"][0]["own"].endswith("…")
