"""What a forest bases its doubt on: it adds up to what the audit says."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from granulearn.audit import LabelAudit, similar_rows
from granulearn.audit.similar_rows import ReasonFinder, weighed_trees
from tests.audit.tables import three_clouds


@pytest.fixture(scope="module", params=[150, 1100])
def audited(request):
    X, y, wrong = three_clouds(request.param)
    audit = LabelAudit(n_estimators=30, random_state=0).fit(X, y)
    return X, audit, np.flatnonzero(wrong)[:10], audit.ratings_


def reasons_of(audited):
    X, audit, wrong, ratings = audited
    return ReasonFinder(audit, X).reasons(wrong, ratings.rivals[wrong])


def test_what_balls_say_adds_up_to_the_probabilities_of_the_audit(audited):
    X, audit, wrong, _ = audited
    trees, rows = weighed_trees(audit, X), audit.forest_.rows(X)
    for at in wrong:
        unseen = [trees[number] for number in np.flatnonzero(~audit.in_bag_[:, at])]
        told = [tree.says[tree.path(rows[at])].sum(axis=0) for tree in unseen]
        assert_allclose(np.mean(told, axis=0), audit.out_of_sample_proba_[at], atol=1e-6)


def test_what_features_push_adds_up_to_how_far_the_rival_is_ahead(audited):
    _, audit, wrong, ratings = audited
    for at, why in zip(wrong, reasons_of(audited), strict=True):
        ahead = (
            audit.out_of_sample_proba_[at, ratings.rivals[at]]
            - audit.out_of_sample_proba_[at, ratings.given[at]]
        )
        assert why.start + why.pushes.sum() == pytest.approx(ahead, abs=1e-6)
        # Only the first two features tell the clouds apart.
        assert why.pushes[:2].sum() > 0.8 * why.pushes.sum()


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


def test_similar_rows_are_those_that_share_balls_with_the_row(audited):
    X, audit, wrong, ratings = audited
    for at, why in zip(wrong[:2], reasons_of(audited), strict=False):
        weights = similar_by_hand(audit, X, at)
        n_worth = round(1 / (weights**2).sum())
        found = np.argsort(-weights.round(12), kind="stable")[:n_worth]
        least = weights.round(12)[found[-1]]
        similar = np.flatnonzero(weights.round(12) >= least)
        counts = np.bincount(ratings.given[similar], minlength=3)
        assert np.abs(why.class_counts - counts).sum() <= 1


def test_most_similar_rows_have_the_class_that_is_suggested(audited):
    _, _, wrong, ratings = audited
    for at, why in zip(wrong, reasons_of(audited), strict=True):
        assert why.class_counts.argmax() == ratings.rivals[at]
        assert why.class_counts[ratings.rivals[at]] > 0.7 * why.class_counts.sum()


def test_trees_that_saw_the_row_do_not_speak(audited):
    X, audit, wrong, ratings = audited
    seen, at = audit.in_bag_, wrong[:1]
    unseen = np.flatnonzero(~seen[:, at[0]])[0]
    try:
        audit.in_bag_ = np.ones_like(seen)
        (why,) = ReasonFinder(audit, X).reasons(at, ratings.rivals[at])
        assert why.class_counts.sum() == 0
        assert_array_equal(why.pushes, 0)
        audit.in_bag_[unseen] = seen[unseen]
        (why,) = ReasonFinder(audit, X).reasons(at, ratings.rivals[at])
        assert 0 < why.class_counts.sum() <= seen[unseen].sum()
    finally:
        audit.in_bag_ = seen


def test_how_many_rows_are_looked_at_at_once_changes_nothing(audited, monkeypatch):
    expected = reasons_of(audited)
    monkeypatch.setattr(similar_rows, "_CELLS_AT_ONCE", 1)
    for one, other in zip(reasons_of(audited), expected, strict=True):
        assert_array_equal(one.class_counts, other.class_counts)
        assert_array_equal(one.pushes, other.pushes)


def test_nothing_asked_nothing_found(audited):
    X, audit, _, _ = audited
    assert ReasonFinder(audit, X).reasons([], np.array([])) == []
