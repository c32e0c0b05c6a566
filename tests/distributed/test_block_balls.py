"""Balls of blocks: those of `generate_balls`, and nothing lost when they are joined."""

from itertools import pairwise

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from granulearn.balls import TwoMeansBalls, generate_balls
from granulearn.distributed.block_balls import (
    BallSettings,
    assignment_of,
    balls_of_block,
    join_assignments,
    join_balls,
    without_assignment,
)
from tests.distributed.chunked import block_of, table

SETTINGS = BallSettings(TwoMeansBalls(0.95), 1, seed=7, n_jobs=None)


def parts_of(X, y, cuts, settings=SETTINGS):
    edges = [0, *cuts, len(X)]
    return [
        balls_of_block(block_of(X[a:b], y[a:b], number), settings, None)
        for number, (a, b) in enumerate(pairwise(edges))
    ]


def test_the_first_block_has_the_seed_of_the_whole_and_others_have_their_own():
    seeds = [SETTINGS.seed_of(number) for number in range(100)]
    assert seeds[0] == SETTINGS.seed
    assert len(set(seeds)) == 100


def test_the_balls_of_a_block_are_those_of_the_engine():
    X, y = table()
    order = np.lexsort((y, *X.T[::-1]))
    (part,) = parts_of(X[order], y[order], [])
    balls = generate_balls(X[order], y[order], purity=0.95, random_state=7)
    assert_array_equal(part.balls.centers, balls.centers)
    assert_array_equal(part.balls.assignment, balls.assignment)


def test_joined_balls_cover_every_sample_once():
    X, y = table()
    labels = np.array(["ox", "ape", "mole"])[y]
    parts = parts_of(X, labels, [100, 100, 350])
    joined = join_balls([without_assignment(part) for part in parts])
    assignment = join_assignments([assignment_of(part) for part in parts])
    balls = joined.balls
    assert len(balls.assignment) == 0
    assert_array_equal(np.bincount(assignment), balls.counts)
    for ball in range(len(balls)):
        assert_allclose(X[assignment == ball].mean(axis=0), balls.centers[ball])
    values, counts = np.unique(labels, return_counts=True)
    assert_array_equal(balls.classes, values)
    assert_array_equal(balls.class_counts.sum(axis=0), counts)
    assert_array_equal(balls.class_counts.argmax(axis=1), balls.labels)
    assert_array_equal(joined.counts, counts)
    assert_allclose(joined.sums, [X[labels == value].sum(axis=0) for value in values])


def test_a_block_of_one_class_is_one_ball():
    X, y = table()
    only = X[y == 1]
    (part,) = parts_of(only, np.ones(len(only), int), [])
    assert len(part.balls) == 1
    assert_allclose(part.balls.centers[0], only.mean(axis=0))


def test_a_block_whose_balls_are_all_too_small_adds_none_and_says_which_classes():
    X, y = table()
    settings = BallSettings(TwoMeansBalls(1.0), 50, seed=7, n_jobs=None)
    parts = parts_of(X, y, [20], settings)
    assert len(parts[0].balls) == 0
    assert_array_equal(parts[0].dropped, np.unique(y[:20]))
    assert_array_equal(parts[0].balls.assignment, np.full(20, -1))


def test_a_block_without_samples_that_count_has_no_balls():
    X, y = table(n_samples=10)
    part = balls_of_block(block_of(X, y, weights=np.zeros(10)), SETTINGS, None)
    assert len(part.balls) == 0
    assert_array_equal(assignment_of(part)[0], np.full(10, -1))
