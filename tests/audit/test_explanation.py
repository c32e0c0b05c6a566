"""Reasons against a label: what they say must be true of the data."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from granulearn.audit import LabelAudit
from granulearn.audit.explanation import (
    explain,
    nearest_trusted,
    speaking_balls,
    weighed_trees,
)
from tests.audit.tables import three_clouds

NAMES = ["length", "width", "noise", "more noise"]


@pytest.fixture(scope="module")
def audited():
    X, y, wrong = three_clouds()
    return X, LabelAudit(random_state=0).fit(X, y), np.flatnonzero(wrong)


def test_neighbours_are_the_nearest_believed_samples_of_the_suggested_class(audited):
    X, audit, wrong = audited
    for position, found in zip(wrong, nearest_trusted(audit, X, list(wrong)), strict=True):
        believed = (
            (audit.given_ == audit.suggested_[position])
            & ~audit.flagged_
            & (audit.reliability_ >= 0.5)
        )
        distances = np.where(believed, np.linalg.norm(X - X[position], axis=1), np.inf)
        assert_allclose([near.distance for near in found], np.sort(distances)[:3])
        assert all(believed[near.position] for near in found)


def test_trees_that_saw_the_sample_do_not_speak(audited):
    X, audit, wrong = audited
    position, seen = int(wrong[0]), audit.in_bag_.copy()
    unseen = np.flatnonzero(~seen[:, position])
    try:
        audit.in_bag_ = np.ones_like(seen)
        assert speaking_balls(audit, X, [position], NAMES) == [()]
        # Of one tree that may speak, the samples it saw are counted, and no others.
        audit.in_bag_[unseen[0]] = seen[unseen[0]]
        (balls,) = speaking_balls(audit, X, [position], NAMES)
        assert balls
        assert all(ball.n_samples < seen[unseen[0]].sum() for ball in balls)
    finally:
        audit.in_bag_ = seen


@pytest.mark.parametrize("n", [150, 1100])
def test_what_balls_say_adds_up_to_the_probabilities_of_the_audit(n):
    X, y, wrong = three_clouds(n)
    audit = LabelAudit(n_trees=30, random_state=0).fit(X, y)
    trees, rows = weighed_trees(audit, X), audit.forest_.rows(X)
    for at in np.flatnonzero(wrong)[:10]:
        unseen = [trees[number] for number in np.flatnonzero(~audit.in_bag_[:, at])]
        told = [tree.says[tree.path(rows[at])].sum(axis=0) for tree in unseen]
        assert_allclose(np.mean(told, axis=0), audit.proba_[at], atol=1e-6)


def test_balls_speak_for_the_suggested_class_and_say_where_they_are(audited):
    X, audit, wrong = audited
    for explanation in explain(audit, X, wrong[:5].tolist(), NAMES):
        assert len(explanation.balls) == 3
        for ball in explanation.balls:
            assert ball.suggested_share > 0.9
            assert ball.given_share < 0.1
            assert 10 < ball.n_samples < round(0.632 * len(X))
            assert "noise" not in ball.words.split(",")[0]


def test_words_name_the_features_and_the_side_of_a_split():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(100, 1))
    y = (X[:, 0] > 0.5).astype(int)
    y[np.argmax(X[:, 0])] = 0
    audit = LabelAudit(random_state=0).fit(X, y)
    (explanation,) = explain(audit, X, [int(np.argmax(X[:, 0]))], ["height"])
    assert {ball.words for ball in explanation.balls} == {"higher height"}


def test_a_category_is_named_by_its_column_and_what_it_is():
    X = (np.arange(100) % 2).astype(float)[:, None]
    y = X[:, 0].astype(int)
    y[[1, 2]] = [0, 1]
    audit = LabelAudit(random_state=0).fit(X, y)
    with_it, without = explain(audit, X, [1, 2], [("city", "Graz")])
    assert with_it.balls[0].words == "city is Graz"
    assert without.balls[0].words == "city is not Graz"


def test_what_is_said_of_a_category_is_true_of_the_sample_or_a_tendency():
    rng = np.random.default_rng(0)
    X = np.eye(3)[rng.integers(3, size=200)]
    X = np.column_stack([X, rng.normal(size=200)])
    y = (2 * X[:, 0] + X[:, 3] > 0.5).astype(int)
    y[:20] = 1 - y[:20]
    audit = LabelAudit(random_state=0).fit(X, y)
    names = [("city", "Graz"), ("city", "Lyon"), ("city", "Oslo"), "age"]
    for found in explain(audit, X, np.flatnonzero(audit.flagged_).tolist(), names):
        city = names[int(X[found.position, :3].argmax())][1]
        said = [words for ball in found.balls for words in ball.words.split(", ")]
        assert said
        for words in said:
            if " is not " in words:
                assert words != f"city is not {city}"
            elif " is " in words:
                assert words == f"city is {city}"
            else:
                assert " often " in words or words in ("higher age", "lower age")


def test_a_class_without_believed_samples_has_no_neighbours(audited):
    X, audit, wrong = audited
    audit.flagged_ = np.ones_like(audit.flagged_)
    try:
        assert nearest_trusted(audit, X, [int(wrong[0])]) == [()]
    finally:
        audit.flagged_ = audit.suggested_ != audit.given_
