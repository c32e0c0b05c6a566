"""Laws of packed trees: a forest is the same after a journey, and no arrays are two trees' own."""

import pickle

import joblib
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from granulearn._invariants import InvariantError
from granulearn.forest.forest import BallForest, grow_forest
from granulearn.forest.packed_trees import most_steps, n_packed, pack_trees, unpack_trees
from granulearn.forest.tree import ForestSettings


def grown(n_samples=60, n_trees=7, n_classes=3, seed=0) -> BallForest:
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n_samples)
    X = rng.normal(size=(n_samples, 4)) + y[:, None]
    return grow_forest(X, y, n_classes, ForestSettings(n_trees, seed=seed)).forest


@settings(max_examples=25)
@given(
    n_samples=st.integers(1, 80),
    n_trees=st.integers(1, 9),
    n_classes=st.integers(1, 4),
    seed=st.integers(0, 1000),
)
def test_what_is_packed_comes_back_bit_for_bit(n_samples, n_trees, n_classes, seed):
    forest = grown(n_samples, n_trees, n_classes, seed)
    trees = unpack_trees(forest, pack_trees(forest.trees))
    assert len(trees) == len(forest.trees)
    for found, expected in zip(trees, forest.trees, strict=True):
        found._check_loaded()
        for name, array in vars(expected).items():
            assert_array_equal(vars(found)[name], array)
            assert vars(found)[name].dtype == array.dtype


def test_a_forest_of_another_process_predicts_the_same_bits():
    forest, X = grown(), np.random.default_rng(1).normal(size=(20, 4))
    copy = pickle.loads(pickle.dumps(forest))
    copy._check_loaded()
    assert_array_equal(copy.posterior(X), forest.posterior(X))


def test_a_forest_whose_arrays_are_in_a_file_predicts_the_same_bits(tmp_path):
    forest, X = grown(), np.random.default_rng(1).normal(size=(20, 4))
    joblib.dump(forest, tmp_path / "forest")
    mapped = joblib.load(tmp_path / "forest", mmap_mode="r")
    assert isinstance(mapped.trees[0].children, np.memmap)
    assert_array_equal(mapped.posterior(X), forest.posterior(X))


def test_the_number_of_arrays_does_not_depend_on_the_number_of_trees():
    assert pack_trees(grown(n_trees=2).trees).keys() == pack_trees(grown(n_trees=30).trees).keys()


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("n_nodes", lambda counts: counts + 2),
        ("n_nodes", lambda counts: counts[:-1]),
        ("n_nodes", lambda counts: counts * 0),
        ("n_nodes", lambda counts: np.r_[counts[:-1], -counts[-1]]),
        ("n_nodes", lambda counts: np.r_[counts, counts[-1], -counts[-1]]),
        ("n_nodes", lambda counts: counts.astype(float)),
        ("n_nodes", lambda counts: counts[:0]),
        ("n_nodes", lambda counts: np.int64(3)),
        ("n_nodes", lambda counts: counts.astype(str)),
        ("n_features", lambda counts: counts + 1),
        ("n_features", lambda counts: np.r_[counts, 0]),
        ("n_features", lambda counts: counts - counts.max() - 1),
        ("n_features", lambda counts: np.full_like(counts, 2**62)),
        ("children", lambda array: array[:-1]),
        ("children", lambda array: array[0]),
        ("children", lambda array: array.tolist()),
        ("leaf_proba", lambda array: np.r_[array, array]),
        ("offsets", lambda array: array[1:]),
        ("directions", lambda array: None),
    ],
)
def test_arrays_of_other_lengths_than_they_say_are_refused(name, change):
    forest = grown()
    packed = pack_trees(forest.trees)
    packed[name] = change(packed[name])
    with pytest.raises(InvariantError, match=r"BallForest: \w+"):
        unpack_trees(forest, packed)


@pytest.mark.parametrize("packed", [None, [], {}, {"children": np.zeros(1)}, "trees"])
def test_what_is_no_pack_of_trees_is_refused(packed):
    with pytest.raises(InvariantError, match="not those of a forest"):
        unpack_trees(grown(), packed)


@pytest.mark.parametrize("packed", [None, [], {}, {"n_nodes": 3}, "trees"])
def test_what_is_no_pack_of_trees_has_none(packed):
    assert n_packed(packed) == 0


def test_another_process_may_have_any_number_of_trees():
    many = BallForest((grown(1, 1, 1).trees[0],) * 5001, np.zeros(4), 1.0, 1)
    copy = pickle.loads(pickle.dumps(many))
    copy._check_loaded()
    assert len(copy.trees) == n_packed(pack_trees(many.trees)) == 5001


def steps_by_hand(tree) -> int:
    """Four steps for a split, one for each of its features; four for a leaf, one for each class."""
    steps = [0] * len(tree.children)
    for node, child in enumerate(tree.children):
        if child > 0:
            n_used = tree.offsets[node + 1] - tree.offsets[node]
            steps[child] = steps[child + 1] = steps[node] + 4 + n_used
    return max(steps) + 4 + tree.leaf_proba.shape[1]


@given(n_samples=st.integers(2, 80), n_trees=st.integers(1, 5), seed=st.integers(0, 99))
@settings(max_examples=20, deadline=None)
def test_the_steps_of_each_tree_are_those_of_the_longest_walk_down(n_samples, n_trees, seed):
    trees = grown(n_samples, n_trees, seed=seed).trees
    assert most_steps(trees).tolist() == [steps_by_hand(tree) for tree in trees]
