"""What the balls of a packed tree have and say, against brute force and what leaves predict."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from granulearn.forest.explanation import SeenRows, strongest_balls, weigh_trees
from granulearn.forest.forest import PRIORS, grow_forest
from granulearn.forest.tree import ForestSettings, Prior
from tests.forest import reference

SETTINGS = ForestSettings(n_estimators=15, seed=3)
SEARCHED = replace(
    SETTINGS, n_directions=2, n_axes=8, n_thresholds=8, split_alpha=0.1, priors=PRIORS
)


def noisy_clouds(n=200, d=5, n_classes=3, seed=0, *, binary=False):
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n).astype(np.int32)
    X = rng.normal(size=(n, d)) + 1.5 * y[:, None]
    y[: n // 5] = rng.integers(n_classes, size=n // 5)
    return (X > 1.5).astype(float) if binary else X, y


def weighed(X, y, chosen, shares=None, *, mixed=True):
    """Return the trees of a forest with what their balls say, and the rows they saw."""
    n_classes = int(y.max()) + 1
    grown = grow_forest(X, y, n_classes, chosen)
    shares = [1.0] if shares is None else shares
    forest = grown.mixed(shares) if mixed else grown.forest
    seen = SeenRows(forest.rows(X), y, np.ones(len(y)), grown.in_bag)
    return weigh_trees(forest, seen, chosen.priors, shares), seen, forest


def path_to(tree, ball):
    balls = [ball]
    while tree.parents[balls[-1]] >= 0:
        balls.append(tree.parents[balls[-1]])
    return balls


def brute_force_paths(tree, rows):
    """Return the balls of each row: down the tree, one dot product after the other."""
    paths = []
    for row in rows:
        path = [0]
        while tree.children[path[-1]] > 0:
            node = path[-1]
            part = slice(tree.offsets[node], tree.offsets[node + 1])
            product = 0.0
            for feature, along in zip(tree.features[part], tree.directions[part], strict=True):
                product += row[feature] * along
            path.append(tree.children[node] + int(product > tree.thresholds[node]))
        paths.append(path)
    return paths


def test_counts_are_those_of_the_rows_that_the_tree_saw_in_the_ball():
    X, y = noisy_clouds()
    trees, seen, _ = weighed(X, y, SETTINGS)
    for tree, drawn in zip(trees, seen.in_bag, strict=True):
        expected = np.zeros_like(tree.counts)
        paths = brute_force_paths(tree.tree, seen.rows[drawn])
        for code, path in zip(y[drawn], paths, strict=True):
            expected[path, code] += 1
        assert_array_equal(tree.counts, expected)
        assert (tree.counts.sum(axis=1) > 0).all()
        for row in seen.rows[:5]:
            assert tree.path(row).tolist() == brute_force_paths(tree.tree, [row])[0]


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("prior", [Prior(), Prior(0.1, 0.5), Prior(0.5, 1.0)])
def test_masses_sum_to_one_on_a_path_and_give_back_what_the_leaf_predicts(binary, prior):
    X, y = noisy_clouds(binary=binary)
    trees, _, _ = weighed(X, y, replace(SETTINGS, priors=(prior,)), mixed=False)
    for tree in trees:
        for leaf, node in enumerate(tree.node_of_leaf):
            path = path_to(tree, node)
            assert tree.masses[path].sum() == pytest.approx(1)
            n = tree.counts[path]
            posteriors = (n + prior.alpha) / (n + prior.alpha).sum(axis=1, keepdims=True)
            assert_allclose(tree.contributions[path], tree.masses[path, None] * posteriors)
            assert_allclose(
                tree.contributions[path].sum(axis=0), tree.tree.leaf_proba[leaf], atol=1e-6
            )


@pytest.mark.parametrize("binary", [False, True])
def test_leaves_that_were_joined_speak_for_the_balls_inside(binary):
    """Elsewhere nothing is lost; there, what the balls inside would have said otherwise."""
    X, y = noisy_clouds(400, n_classes=2, binary=binary)
    trees, _, _ = weighed(X, y, replace(SETTINGS, n_estimators=40))
    n_joined = 0
    for tree in trees:
        for leaf, node in enumerate(tree.node_of_leaf):
            path = path_to(tree, node)
            assert tree.masses[path].sum() == pytest.approx(1)
            stopped = tree.tree.thresholds[node]
            n_joined += 0 < stopped < 1
            goes_on = tree.masses[node] * (1 - stopped) if stopped > 0 else 0.0
            error = np.abs(tree.contributions[path].sum(axis=0) - tree.tree.leaf_proba[leaf]).max()
            assert error < goes_on + 1e-5
    assert n_joined > 0


@pytest.mark.parametrize("shares", [[0.2] * 5, [0, 0.3, 0.7, 0, 0], [0, 0, 0, 0, 1]])
def test_several_priors_count_by_their_weights(shares):
    X, y = noisy_clouds(400)
    trees, seen, forest = weighed(X, y, SEARCHED, shares)
    told = [
        np.mean([tree.contributions[tree.path(row)].sum(axis=0) for tree in trees], axis=0)
        for row in seen.rows[:20]
    ]
    assert_allclose(told, forest.posterior(X[:20]), atol=1e-5)


def test_the_strongest_balls_add_most_to_the_probability():
    X, y = noisy_clouds()
    trees, seen, forest = weighed(X, y, SETTINGS, mixed=False)
    proba = forest.posterior(X)
    for at in range(0, 200, 40):
        row, code = seen.rows[at], int(proba[at].argmax())
        adds = np.sort(np.concatenate([t.contributions[t.path(row), code] for t in trees]))[::-1]
        assert adds.sum() / len(trees) == pytest.approx(proba[at, code], abs=1e-6)
        balls = strongest_balls(trees, row, code, range(X.shape[1]))
        told = [len(trees) * ball.weight * ball.probability for ball in balls]
        assert_allclose(told, adds[:3], atol=1e-8)
        for ball in balls:
            assert sum(ball.class_counts) == ball.n_samples


def test_columns_are_those_whose_splits_gain_evidence_and_the_side_is_that_of_the_ball():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = ((X[:, 1] > 0) & (X[:, 3] < 0)).astype(np.int32)
    trees, seen, _ = weighed(X, y, SEARCHED, [1, 0, 0, 0, 0])
    row = seen.rows[np.flatnonzero(y)[np.abs(X[y == 1][:, [1, 3]]).min(axis=1).argmax()]]
    for ball in strongest_balls(trees, row, 1, range(4)):
        assert set(ball.columns[:2]) == {(1, "higher"), (3, "lower")}


def test_gains_are_the_evidence_of_the_parts_against_that_of_the_whole():
    X, y = noisy_clouds()
    trees, _, _ = weighed(X, y, SETTINGS)
    tree = trees[0]
    for node in np.flatnonzero(tree.tree.children > 0):
        left = tree.tree.children[node]
        evidence = [reference.log_evidence(tree.counts[ball]) for ball in (node, left, left + 1)]
        gained = evidence[1] + evidence[2] - evidence[0]
        assert tree.gains[node] == pytest.approx(max(gained, 0), abs=1e-9)
    assert (tree.gains[tree.tree.children < 0] == 0).all()
