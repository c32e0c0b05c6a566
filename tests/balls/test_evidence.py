"""Laws of the evidence maker."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.datasets import make_blobs

from granulearn._sklearn_compat import InvalidParameterError
from granulearn.balls import EvidenceBalls, generate_balls
from granulearn.balls.evidence import (
    EvidenceRule,
    best_covering,
    grow_tree,
)
from granulearn.balls.evidence_table import evidence_table
from tests.balls.test__evidence_kernels import coverings, log_evidence


def rule_for(n, n_classes, odds=1.0, n_tries=3):
    return EvidenceRule(n_classes, n_tries, float(np.log(odds)), evidence_table(n, n_classes, 0.5))


@settings(max_examples=60)
@given(
    n=st.integers(2, 16),
    seed=st.integers(0, 10**6),
    odds=st.sampled_from([1.0, 0.5, 0.1]),
    bucket_rows=st.sampled_from([3, 100]),
)
def test_the_covering_is_the_heaviest_of_all_by_balls_of_the_tree(n, seed, odds, bucket_rows):
    rng = np.random.RandomState(seed)
    X, y = rng.standard_normal((n, 2)), rng.randint(3, size=n).astype(np.int32)
    rule = rule_for(n, 3, odds)
    groups = best_covering(X, y, rule, seed, 1, bucket_rows)
    tree = grow_tree(X, y, np.uint64(seed), rule, 0)

    def weight(balls):
        counts = [np.bincount(y[rows], minlength=3) for rows in balls]
        return sum(log_evidence(own, 0.5) for own in counts) + np.log(odds) * (len(balls) - 1)

    balls_of = [
        [tree.order[slice(*tree.bounds[i])] for i in c] for c in coverings(tree.children, 0)
    ]
    mine = [np.flatnonzero(groups == ball) for ball in range(groups.max() + 1)]
    assert weight(mine) == pytest.approx(max(map(weight, balls_of)))
    assert {frozenset(rows) for rows in mine} in [
        {frozenset(rows) for rows in balls} for balls in balls_of
    ]


@pytest.mark.parametrize("odds", [1.0, 0.1])
def test_buckets_change_nothing(odds):
    rng = np.random.RandomState(0)
    X, y = rng.standard_normal((3000, 4)), rng.randint(3, size=3000).astype(np.int32)
    y[X[:, 0] > 0] = 0
    rule = rule_for(3000, 3, odds)
    whole = best_covering(X, y, rule, 5, 1, bucket_rows=3000)
    buckets = best_covering(X, y, rule, 5, 2, bucket_rows=100)
    assert len(np.unique(whole)) > 2
    assert_array_equal(buckets, whole)


def test_labels_of_pure_noise_are_one_ball():
    rng = np.random.RandomState(0)
    X, y = rng.standard_normal((2000, 5)), rng.randint(2, size=2000)
    noise = [len(generate_balls(X, y, balls=EvidenceBalls(), random_state=s)) for s in range(5)]
    assert np.mean(noise) < 2000 / 50
    assert len(generate_balls(X, y, balls="two-means", random_state=0)) > 2000 / 4


def test_wrong_labels_stay_inside_the_balls_around_them():
    rng = np.random.RandomState(0)
    truth = np.repeat([0, 1], 500)
    X = rng.standard_normal((1000, 3)) + 6 * truth[:, None]
    y = truth.copy()
    wrong = rng.choice(1000, 200, replace=False)
    y[wrong] = 1 - y[wrong]
    balls = generate_balls(X, y, balls=EvidenceBalls(), random_state=0)
    assert np.mean(balls.labels[balls.assignment] == truth) > 0.97
    assert np.mean(balls.counts == 1) < 0.1


def test_two_splits_that_pay_only_together_are_found():
    """Four heaps, opposite ones of one class: no single split between heaps has evidence."""
    rng = np.random.RandomState(0)
    corner = np.arange(400) % 4
    X = np.stack([corner % 2, corner // 2], axis=1) * 10 + rng.standard_normal((400, 2))
    y = (corner == 1) | (corner == 2)
    balls = generate_balls(X, y, balls=EvidenceBalls(), random_state=0)
    assert_array_equal(balls.purities, 1)
    assert len(balls) <= 8


def test_lower_odds_make_no_more_balls():
    rng = np.random.RandomState(1)
    X, y = rng.standard_normal((500, 2)), rng.randint(2, size=500)
    numbers = [
        len(generate_balls(X, y, balls=EvidenceBalls(split_odds=odds), random_state=0))
        for odds in (1.0, 0.5, 0.1, 0.001)
    ]
    assert numbers == sorted(numbers, reverse=True)
    assert numbers[0] > numbers[-1]


def test_a_ball_of_two_samples_is_split_where_the_odds_allow_it():
    """One sample of each of two classes: evidence 1/8 for one ball, 1/4 for two."""
    for odds, n_balls in ((1.0, 2), (0.6, 2), (0.4, 1)):
        balls = generate_balls([[0.0], [1.0]], [0, 1], balls=EvidenceBalls(split_odds=odds))
        assert len(balls) == n_balls


def test_many_classes_far_apart_have_one_ball_each():
    X, y = make_blobs(4000, centers=200, n_features=5, random_state=0, cluster_std=0.05)
    balls = generate_balls(X, y, balls=EvidenceBalls(), random_state=0)
    assert len(np.unique(balls.labels)) == 200
    assert len(balls) < 220
    # With a half for each class, the prior outweighs twenty samples.
    assert len(generate_balls(X, y, balls=EvidenceBalls(alpha=0.5), random_state=0)) < 150


def test_for_two_classes_the_prior_is_that_of_the_ball_forest():
    rng = np.random.RandomState(0)
    X, y = rng.standard_normal((300, 2)), rng.randint(2, size=300)
    y[X[:, 0] > 0.5] = 1
    default, half = (
        generate_balls(X, y, balls=EvidenceBalls(alpha=alpha), random_state=0).assignment
        for alpha in (None, 0.5)
    )
    assert_array_equal(default, half)


@pytest.mark.parametrize(
    "settings", [{"alpha": 0}, {"split_odds": 0}, {"split_odds": 1.5}, {"n_tries": 0}]
)
def test_settings_out_of_range_are_named(settings):
    (name,) = settings
    with pytest.raises(InvalidParameterError, match=f"'{name}' parameter of EvidenceBalls"):
        generate_balls([[0.0], [1.0]], [0, 1], balls=EvidenceBalls(**settings))
