"""Laws of classes that overlap."""

from dataclasses import replace

import numpy as np
import pytest

from granulearn.audit import LabelAudit
from granulearn.audit.class_overlap import OVERLAP, find_overlaps
from granulearn.audit.ratings import Ratings
from tests.audit.tables import three_clouds


def audited(X, y):
    return LabelAudit(random_state=0).fit(X, y).ratings_


def split_class(y, label, new, seed=0):
    """Return labels of which half of one class have a new name."""
    moved = (y == label) & (np.random.default_rng(seed).random(len(y)) < 0.5)
    return np.where(moved, new, y)


@pytest.mark.parametrize("n", [150, 900])
def test_a_class_that_was_split_at_random_is_found_and_nothing_else(n):
    X, y, _ = three_clouds(n)
    (issue,) = find_overlaps(audited(X, split_class(y, "dog", "puppy")))
    assert issue.kind == OVERLAP
    assert issue.classes == ("dog", "puppy")
    assert issue.rows == ()
    assert issue.score >= 0.5
    assert "dog and puppy" in issue.message


def test_classes_that_are_told_apart_worse_than_by_chance_are_not_given_a_share():
    codes = np.repeat([0, 1, 2], 50)
    proba = np.where((codes < 2)[:, None], [0.4, 0.4, 0.2], [0.1, 0.1, 0.8])
    swap = np.where(codes == 0, -0.01, 0.01)
    proba[:, 0] += swap
    proba[:, 1] -= swap
    nothing, names = np.full(150, np.nan), np.array(["car", "dog", "puppy"])
    ratings = Ratings(names, codes, proba, nothing, nothing, codes, nothing, nothing, nothing)
    (issue,) = find_overlaps(ratings)
    assert "(no better than guessing)" in issue.message


def test_classes_that_are_told_apart_do_not_overlap():
    X, y, _ = three_clouds(400, rate=0.2)
    assert find_overlaps(audited(X, y)) == []


def test_inputs_that_say_nothing_and_two_classes_have_no_overlap():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    assert find_overlaps(audited(X, rng.integers(4, size=400))) == []
    assert find_overlaps(audited(X, rng.integers(2, size=400))) == []


def test_rows_without_probabilities_and_small_classes_are_passed_over():
    X, y, _ = three_clouds(200)
    ratings = audited(X, split_class(y, "dog", "puppy"))
    proba = ratings.proba.copy()
    proba[:10] = np.nan
    assert [issue.classes for issue in find_overlaps(replace(ratings, proba=proba))] == [
        ("dog", "puppy")
    ]
    proba[:] = np.nan
    assert find_overlaps(replace(ratings, proba=proba)) == []
