"""Rows drawn of a large table in memory."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from granulearn.balls.forest_tree import ForestRule
from granulearn.estimators.row_source import (
    COMMITTEE,
    MAX_JUDGED,
    Job,
    TableSource,
    TreeJob,
    draw_of_classes,
    factors_of_classes,
    job_of_judged,
    judging_weights,
    stratified_draw,
    unseen_by_trees,
)
from granulearn.utils.validation import check_samples
from tests.rvfl.families import overlapping_classes


def source_of(X, y, weights=None):
    return TableSource(check_samples(X, y, sample_weight=weights))


def test_jobs_get_their_rows_and_trees_say_who_saw_whom():
    X, y = overlapping_classes(3, n_samples=500)
    source = source_of(X, y)
    draws = tuple(stratified_draw(source.frame, COMMITTEE, n) for n in (90, 30, None))
    sizes = Job(draws, lambda *rows: [len(each) for each in rows])
    ((found, judged), grown) = source.fit(
        [sizes, job_of_judged(source.frame)], TreeJob(ForestRule(n_trees=3, max_samples=0.2), None)
    )
    assert found == [90, 30, 500]
    assert len(judged) == min(500, MAX_JUDGED)
    assert_array_equal(source.seen(grown, judged), grown.in_bag[:, judged.positions])
    unseen = unseen_by_trees(source, grown, judged)
    assert_array_equal(unseen, grown.out_of_bag(X)[:, judged.positions])
    assert source.fit([]) == ([], None)


def test_smaller_draws_for_one_purpose_are_part_of_larger_ones():
    X, y = overlapping_classes(2, n_samples=400)
    source = source_of(X, y)
    few, many = (source._draw(stratified_draw(source.frame, COMMITTEE, n)) for n in (20, 100))
    assert set(few.positions) <= set(many.positions)
    own = source._draw(draw_of_classes(source.frame, COMMITTEE, np.array([3, 4])))
    assert np.bincount(own.codes).tolist() == [3, 4]


def test_copies_and_single_rows_of_a_class_do_not_judge():
    X, y = overlapping_classes(2, n_samples=100)
    X, y = np.vstack([X, X[:1], [[9.0] * X.shape[1]]]), np.append(y, [y[0], 7])
    source = source_of(X, y)
    ((judged,), _) = source.fit([job_of_judged(source.frame)])
    counts = judging_weights(judged, source.frame, None)[np.argsort(judged.positions)]
    assert counts[[0, 100, 101]].tolist() == [0, 0, 0]
    assert counts[1:100].all()


def test_class_weights_become_factors():
    X, y = overlapping_classes(2, n_samples=100)
    source = source_of(X, y)
    assert factors_of_classes(None, source) is None
    factors = factors_of_classes("balanced", source)
    assert factors @ source.frame.totals == pytest.approx(100)
