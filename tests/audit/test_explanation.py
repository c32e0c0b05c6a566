"""Reasons against a label: what they say must be true of the data."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from granulearn.audit import LabelAudit
from granulearn.audit.explanation import (
    CATEGORY,
    ColumnTexts,
    Explainer,
    ForestReasons,
    Origin,
    cell_text,
    nearest_trusted,
    weighed_trees,
)
from granulearn.audit.ratings import OUTLIER, SUSPECT, UNKNOWN
from granulearn.audit.table_audit import audit_table
from granulearn.tables import read_training_table, table_of
from tests.audit.stubs import saying
from tests.audit.tables import three_clouds

NAMES = ["length", "width", "noise", "more noise"]


@pytest.fixture(scope="module")
def audited():
    X, y, wrong = three_clouds()
    return (
        X,
        LabelAudit(random_state=0, categorical_features=None).fit(X, y),
        np.flatnonzero(wrong).tolist(),
    )


def explained(X, audit, positions, names=NAMES, table=None):
    table = pd.DataFrame(X, columns=names) if table is None else table
    origins = [Origin(*name) if isinstance(name, tuple) else Origin(name) for name in names]
    return Explainer(audit, X, table, origins).explain(positions)


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
        assert found.second_class == suggested
        for label, near in ((given, found.of_given), (suggested, found.of_second)):
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
            found.message,
        )
        assert match, found.message
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
    audit = LabelAudit(random_state=0, categorical_features=None).fit(X, y)
    high, low = explained(X, audit, [top, bottom], ["height"])
    assert high.columns == (f"height {X[top, 0]:.4g} (higher)",)
    assert low.columns == (f"height {X[bottom, 0]:.4g} (lower)",)


def test_a_category_column_is_named_once_with_the_cell_of_the_row():
    rng = np.random.default_rng(0)
    cities = np.array(["Graz", "Lyon", "Oslo"])[rng.integers(3, size=200)]
    age = rng.normal(size=200)
    X = np.column_stack([cities == "Graz", cities == "Lyon", cities == "Oslo", age]).astype(float)
    y = (2 * X[:, 0] + X[:, 3] > 0.5).astype(int)
    y[:20] = 1 - y[:20]
    audit = LabelAudit(random_state=0, categorical_features=None).fit(X, y)
    names = [*[("city", CATEGORY)] * 3, "age"]
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
    ratings = replace(ratings, verdicts=with_values(ratings.verdicts, at, SUSPECT))
    (found,) = explained(X, saying(audit, ratings), [at])
    assert (
        found.second_class == ratings.classes[ratings.second_classes[at]] != audit.given_label_[at]
    )
    assert f"'{found.second_class}'" in found.message
    assert len(found.of_given) == len(found.of_second) == 3


def test_a_strange_row_is_told_by_what_differs_from_the_nearest(audited):
    X, audit, _ = audited
    X = X.copy()
    X[7, 2] = 50.0
    ratings = audit.ratings_
    ratings = replace(ratings, verdicts=with_values(ratings.verdicts, 7, OUTLIER))
    (found,) = explained(X, saying(audit, ratings), [7])
    assert found.columns == ("noise 50 (higher)",)
    assert found.message == (
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
    assert found.message == "Nothing can rate this label."
    assert found.second_class is None
    assert found.columns == found.of_second == ()
    alone = replace(
        unknown,
        classes=np.array([*ratings.classes, "yak"]),
        given=with_values(ratings.given, 3, 3),
        predicted=with_values(ratings.predicted, 3, 3),
        proba=np.column_stack([ratings.proba, np.zeros(len(X))]),
    )
    (found,) = explained(X, saying(audit, alone), [3])
    assert found.message == "No other row is 'yak'."
    assert found.of_given == ()


# --- columns as a reader sees them


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "–"), (np.nan, "–"), ("  ", "–"), (1 / 3, "0.333333"), (5, "5"), (" a ", " a ")],
)
def test_a_cell_is_shown_as_its_reader_sees_it(value, text):
    assert cell_text(value) == text


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ("42.78548743917422", "42.79"),
        ("0.000123456", "0.0001235"),
        ("1234567.891", "1234568"),
        ("1234567", "1234567"),
        ("12.3456 km", "12.3456 km"),
    ],
)
def test_a_number_in_a_sentence_has_four_significant_digits(cell, text):
    X, table = np.array([[0.0], [1.0], [2.0]]), pd.DataFrame({"x": ["0", cell, "9"]})
    shown = ColumnTexts(X, [Origin("x")], table).text(1, 0, np.ones(1), np.zeros(1))
    assert shown == f"x {text} (higher)"


@pytest.fixture
def cells():
    table = pd.DataFrame(
        {
            "age": ["71", None, "30"],
            "colour": ["red", "blue", "green"],
            "day": ["1.2.2020", "2.2.2020", "3.2.2020"],
            "member": ["yes", "no", "no"],
        }
    )
    days = [Origin("day", "weekday"), Origin("day", "days since 1970")]
    colours = [Origin("colour", CATEGORY)] * 3
    origins = [Origin("age"), *days, Origin("member"), *colours, Origin("extra")]
    X = np.array(
        [
            [2.0, 6, 1, 1, 0, 0, 1, 0.25],
            [0.0, 7, 2, 0, 1, 0, 0, 0.5],
            [-2.0, 1, 3, 0, 0, 1, 0, 0.75],
        ]
    )
    return ColumnTexts(X, origins, table)


def test_features_of_a_column_are_added(cells):
    assert cells.columns == ["age", "day", "member", "colour", "extra"]
    assert cells.most_decisive(np.arange(8.0)) == ([3, 4, 1], [3, 4, 1, 2, 0])


@pytest.mark.parametrize(
    ("position", "most", "text"),
    [
        (0, 0, "age 71 (higher)"),
        (2, 0, "age 30 (lower)"),
        (1, 0, "age is missing"),
        (0, 1, "day 1.2.2020 (later in the week)"),
        (0, 2, "day 1.2.2020 (earlier)"),
        (0, 3, "member = yes"),
        (0, 4, "colour = red"),  # never one category of an encoded column
        (0, 6, "colour = red"),
        (1, 7, "extra 0.5"),  # as typical, and in no column of the table
    ],
)
def test_a_column_is_shown_once_with_the_own_cell_of_the_row(cells, position, most, text):
    features = (np.arange(8) == most).astype(float)
    typical = np.array([0.5, 4, 1.5, 0.4, 0.3, 0.3, 0.4, 0.5])
    column = cells.columns.index(text.split()[0])
    assert cells.text(position, column, features, typical) == text


@pytest.mark.parametrize("mark", ["-", "n/a", "unknown"])
def test_a_mark_in_a_column_of_numbers_is_a_missing_cell(mark):
    X = np.array([[1.0], [2.0], [3.0]])
    cells = ColumnTexts(X, [Origin("height")], pd.DataFrame({"height": ["10", mark, "30"]}))
    assert cells.text(1, 0, np.ones(1), X[0]) == "height is missing"


def test_a_name_that_ends_in_a_digit_stands_apart_from_the_value():
    X = np.array([[1.0], [2.0], [3.0]])
    cells = ColumnTexts(X, [Origin("f1")], pd.DataFrame({"f1": ["10", "20", "30"]}))
    assert cells.text(0, 0, np.ones(1), X[1]) == "f1 = 10 (lower)"


def test_every_feature_of_an_encoded_table_finds_its_column():
    n = 200
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "price": [f"{value:.2f} €".replace(".", ",") for value in rng.normal(size=n)],
            "day": pd.Timestamp("2020-01-01 10:00")
            + pd.to_timedelta(rng.integers(0, 90000, n), "m"),
            "city": rng.choice(["Graz", "Lyon", "Oslo"], n),
            "zip by hand": [f"Z{k}" for k in rng.integers(0, 60, n)],
            "label": rng.choice(["a", "b", "c by d"], n),
        }
    )
    done = audit_table(
        read_training_table(table_of(frame), "label", keep_cells=True), n_estimators=30
    )
    cells = ColumnTexts(done.X, done.origins, done.shown_cells())
    assert set(cells.columns) == {"price", "day", "city", "zip by hand"}
    assert cells.text(0, cells.columns.index("city"), np.ones(len(done.origins)), done.X[1]) == (
        f"city = {frame['city'][0]}"
    )


# --- similar rows and contributions


@pytest.fixture(scope="module", params=[150, 1100])
def grown(request):
    X, y, wrong = three_clouds(request.param)
    audit = LabelAudit(n_estimators=30, random_state=0, categorical_features=None).fit(X, y)
    return X, audit, np.flatnonzero(wrong)[:10], audit.ratings_


def reasons_of(grown):
    X, audit, wrong, ratings = grown
    return ForestReasons(audit, X).reasons(wrong, ratings.second_classes[wrong])


def test_predictions_of_balls_add_up_to_the_probabilities_of_the_audit(grown):
    X, audit, wrong, _ = grown
    trees, rows = weighed_trees(audit, X), audit.forest_.rows(X)
    for at in wrong:
        unseen = [trees[number] for number in np.flatnonzero(~audit.in_bag_[:, at])]
        told = [tree.contributions[tree.path(rows[at])].sum(axis=0) for tree in unseen]
        assert_allclose(np.mean(told, axis=0), audit.out_of_sample_proba_[at], atol=1e-6)


def test_contributions_add_up_to_how_far_the_second_class_is_ahead(grown):
    _, audit, wrong, ratings = grown
    for at, why in zip(wrong, reasons_of(grown), strict=True):
        ahead = (
            audit.out_of_sample_proba_[at, ratings.second_classes[at]]
            - audit.out_of_sample_proba_[at, ratings.given[at]]
        )
        assert why.base + why.contributions.sum() == pytest.approx(ahead, abs=1e-6)
        # Only the first two features tell the clouds apart.
        assert why.contributions[:2].sum() > 0.8 * why.contributions.sum()


def similar_by_hand(audit, X, at):
    """Return the weight of every row in what is predicted for one, ball by ball, row by row."""
    rows, weights = audit.forest_.rows(X), np.zeros(len(X))
    for tree, seen in zip(weighed_trees(audit, X), audit.in_bag_, strict=True):
        if seen[at]:
            continue
        paths = {row: set(tree.path(rows[row])) for row in np.flatnonzero(seen)}
        for ball in tree.path(rows[at]):
            inside = [row for row, path in paths.items() if ball in path]
            weights[inside] += tree.masses[ball] / len(inside)
    return weights / weights.sum()


def test_similar_rows_are_those_that_share_balls_with_the_row(grown):
    X, audit, wrong, ratings = grown
    for at, why in zip(wrong[:2], reasons_of(grown), strict=False):
        weights = similar_by_hand(audit, X, at)
        n_worth = round(1 / (weights**2).sum())
        found = np.argsort(-weights.round(12), kind="stable")[:n_worth]
        least = weights.round(12)[found[-1]]
        similar = np.flatnonzero(weights.round(12) >= least)
        counts = np.bincount(ratings.given[similar], minlength=3)
        assert np.abs(why.class_counts - counts).sum() <= 1
