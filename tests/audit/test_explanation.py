"""Reasons against a label: what they say must be true of the data."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from granulearn.audit import LabelAudit
from granulearn.audit.explanation import explain, nearest_trusted, typical_tree
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


def test_the_path_belongs_to_a_tree_that_did_not_see_the_sample(audited):
    X, audit, wrong = audited
    rows = audit.forest_.rows(X)
    for position in wrong[:5]:
        tree = typical_tree(audit, rows, position)
        assert not audit.in_bag_[tree, position]


def test_the_path_goes_from_all_samples_to_balls_of_the_suggested_class(audited):
    X, audit, wrong = audited
    for explanation in explain(audit, X, list(wrong[:5]), NAMES):
        sizes = [step.n_samples for step in explanation.path]
        assert sizes[0] == round(0.632 * len(X))
        assert (np.diff(sizes) < 0).all()
        assert explanation.path[0].words == ""
        assert explanation.path[-1].suggested_share > 0.9
        assert explanation.path[-1].given_share < 0.1


def test_words_name_the_features_and_the_side_of_a_split():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(100, 1))
    y = (X[:, 0] > 0.5).astype(int)
    y[np.argmax(X[:, 0])] = 0
    audit = LabelAudit(random_state=0).fit(X, y)
    (explanation,) = explain(audit, X, [int(np.argmax(X[:, 0]))], ["height"])
    assert explanation.path[1].words == "higher height"


def test_a_category_is_named_by_its_column_and_what_it_is():
    X = (np.arange(100) % 2).astype(float)[:, None]
    y = X[:, 0].astype(int)
    y[[1, 2]] = [0, 1]
    audit = LabelAudit(random_state=0).fit(X, y)
    with_it, without = explain(audit, X, [1, 2], [("city", "Graz")])
    assert with_it.path[1].words == "city is Graz"
    assert without.path[1].words == "city is not Graz"


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
        for words in [step.words for step in found.path if "," not in step.words]:
            if " is " in words:
                assert (words == f"city is {city}") == ("not" not in words)
                assert words != f"city is not {city}"


def test_a_class_without_believed_samples_has_no_neighbours(audited):
    X, audit, wrong = audited
    audit.flagged_ = np.ones_like(audit.flagged_)
    try:
        assert nearest_trusted(audit, X, [int(wrong[0])]) == [()]
    finally:
        audit.flagged_ = audit.suggested_ != audit.given_
