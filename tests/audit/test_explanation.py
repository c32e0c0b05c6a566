"""Reasons against a label: what they say must be true of the data."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from granulearn.audit import LabelAudit
from granulearn.audit.explanation import Explainer, nearest_trusted
from granulearn.audit.ratings import AMBIGUOUS, OUTLIER, UNKNOWN
from tests.audit.stubs import saying
from tests.audit.tables import three_clouds

NAMES = ["length", "width", "noise", "more noise"]


@pytest.fixture(scope="module")
def audited():
    X, y, wrong = three_clouds()
    return X, LabelAudit(random_state=0).fit(X, y), np.flatnonzero(wrong).tolist()


def explained(X, audit, positions, names=NAMES, table=None):
    table = pd.DataFrame(X, columns=names) if table is None else table
    return Explainer(audit, X, table, names).explain(positions)


def with_values(values, where, new):
    values = values.copy()
    values[where] = new
    return values


def test_neighbours_are_the_nearest_trusted_rows_of_both_classes(audited):
    X, audit, wrong = audited
    believed = ~audit.is_label_issue_ & (audit.label_quality_ >= 0.5)
    for found in explained(X, audit, wrong):
        given, suggested = (
            audit.given_label_[found.position],
            audit.predicted_label_[found.position],
        )
        assert found.rival == suggested
        for label, near in ((given, found.of_given), (suggested, found.of_rival)):
            own = believed & (audit.given_label_ == label)
            distances = np.where(own, np.linalg.norm(X - X[found.position], axis=1), np.inf)
            assert_allclose([one.distance for one in near], np.sort(distances)[:3])
            assert all(own[one.position] for one in near)


def test_verified_rows_are_neighbours_whatever_was_said_of_them(audited):
    X, audit, wrong = audited
    ratings = audit.ratings_
    none = replace(ratings, label_quality=np.zeros(len(X)))
    assert nearest_trusted(none, X, wrong[:1], ratings.given) == [()]
    same = np.flatnonzero(ratings.given == ratings.given[wrong[0]])
    verified = replace(none, verified=with_values(ratings.verified, same[:2], True))
    (near,) = nearest_trusted(verified, X, wrong[:1], ratings.given)
    assert {one.position for one in near} == set(same[:2].tolist()) - {wrong[0]}


def test_a_row_is_not_its_own_neighbour(audited):
    X, audit, _ = audited
    ratings = audit.ratings_
    for position, near in enumerate(nearest_trusted(ratings, X, range(20), ratings.given)):
        assert len(near) == 3
        assert position not in [one.position for one in near]


def test_one_sentence_counts_similar_rows_and_names_what_decides(audited):
    X, audit, wrong = audited
    for found in explained(X, audit, wrong):
        given, suggested = (
            audit.given_label_[found.position],
            audit.predicted_label_[found.position],
        )
        match = re.fullmatch(
            rf"Among (\d+) similar rows (\d+) are '{suggested}' and (\d+|none) (is|are) '{given}'; "
            r"what decides: (.*)\.",
            found.words,
        )
        assert match, found.words
        n_similar, n_suggested = int(match[1]), int(match[2])
        assert 0.7 * n_similar < n_suggested <= n_similar
        assert match[5] == ", ".join(found.columns)
        assert 1 <= len(found.columns) <= 3
        assert "noise" not in found.columns[0]


def test_numbers_are_told_with_value_and_side_and_the_side_is_true():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(100, 1))
    y = (X[:, 0] > 0.5).astype(int)
    top, bottom = int(np.argmax(X[:, 0])), int(np.argmin(X[:, 0]))
    y[[top, bottom]] = 0, 1
    audit = LabelAudit(random_state=0).fit(X, y)
    high, low = explained(X, audit, [top, bottom], ["height"])
    assert high.columns == (f"height {X[top, 0]:.6g} (higher)",)
    assert low.columns == (f"height {X[bottom, 0]:.6g} (lower)",)


def test_a_category_column_is_named_once_with_the_cell_of_the_row():
    rng = np.random.default_rng(0)
    cities = np.array(["Graz", "Lyon", "Oslo"])[rng.integers(3, size=200)]
    age = rng.normal(size=200)
    X = np.column_stack([cities == "Graz", cities == "Lyon", cities == "Oslo", age]).astype(float)
    y = (2 * X[:, 0] + X[:, 3] > 0.5).astype(int)
    y[:20] = 1 - y[:20]
    audit = LabelAudit(random_state=0).fit(X, y)
    names = [("city", "Graz"), ("city", "Lyon"), ("city", "Oslo"), "age"]
    table = pd.DataFrame({"city": cities, "age": age})
    doubted = np.flatnonzero(audit.is_label_issue_).tolist()
    told = explained(X, audit, doubted, names, table)
    assert any("city" in words for found in told for words in found.columns)
    for found in told:
        assert [words for words in found.columns if words.startswith("city")] in (
            [],
            [f"city = {cities[found.position]}"],
        )


def test_an_ambiguous_label_is_held_against_the_second_most_probable_class(audited):
    X, audit, _ = audited
    ratings = audit.ratings_
    at = int(np.flatnonzero(~audit.is_label_issue_)[0])
    ratings = replace(ratings, verdicts=with_values(ratings.verdicts, at, AMBIGUOUS))
    (found,) = explained(X, saying(audit, ratings), [at])
    assert found.rival == ratings.classes[ratings.rivals[at]] != audit.given_label_[at]
    assert f"'{found.rival}'" in found.words
    assert len(found.of_given) == len(found.of_rival) == 3


def test_a_strange_row_is_told_by_what_differs_from_the_nearest(audited):
    X, audit, _ = audited
    X = X.copy()
    X[7, 2] = 50.0
    ratings = audit.ratings_
    ratings = replace(ratings, verdicts=with_values(ratings.verdicts, 7, OUTLIER))
    (found,) = explained(X, saying(audit, ratings), [7])
    assert found.columns == ("noise 50 (higher)",)
    assert found.words == (
        "Its cells are unlike those of all other rows; most in: noise 50 (higher)."
    )


def test_what_cannot_be_rated_says_so(audited):
    X, audit, _ = audited
    ratings = audit.ratings_
    unknown = replace(
        ratings,
        verdicts=with_values(ratings.verdicts, 3, UNKNOWN),
        label_quality=with_values(ratings.label_quality, 3, np.nan),
        predicted=with_values(ratings.predicted, 3, ratings.given[3]),
    )
    (found,) = explained(X, saying(audit, unknown), [3])
    assert found.words == "Nothing can rate this label."
    assert found.rival is None
    assert found.columns == found.of_rival == ()
    alone = replace(
        unknown,
        classes=np.array([*ratings.classes, "yak"]),
        given=with_values(ratings.given, 3, 3),
        predicted=with_values(ratings.predicted, 3, 3),
        proba=np.column_stack([ratings.proba, np.zeros(len(X))]),
    )
    (found,) = explained(X, saying(audit, alone), [3])
    assert found.words == "No other row is 'yak'."
    assert found.of_given == ()


def test_nothing_asked_nothing_explained(audited):
    X, audit, _ = audited
    assert explained(X, audit, []) == []
