"""Trees as long arrays: they come back as they were, and what is no tree is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from granulearn.forest.forest import BallForest, grow_forest
from granulearn.forest.packed_trees import check_packed, most_steps, pack_trees, unpack_trees
from granulearn.forest.tree import ForestSettings
from granulearn.utils.saved import SavedStateError


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
    packed = pack_trees(forest.trees)
    check_packed(packed, 4, 1)
    trees = unpack_trees(packed)
    assert len(trees) == len(forest.trees)
    for found, expected in zip(trees, forest.trees, strict=True):
        for name, array in vars(expected).items():
            assert_array_equal(vars(found)[name], array)
            assert vars(found)[name].dtype == array.dtype


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("n_nodes", lambda counts: counts + 2, "another length"),
        ("n_nodes", lambda counts: counts[:0], "it has 0 trees"),
        ("n_nodes", lambda counts: np.full(6_000, 1), "it has 6000 trees"),
        ("n_features", lambda counts: counts + 1, "another length"),
        ("children", lambda array: array[:-1], "another length"),
        ("children", lambda array: np.where(array == 1, 3, array), "no tree"),
        ("children", lambda array: np.where(array > 0, array + 2, array), "not there|no tree"),
        ("children", lambda array: np.where(array < 0, array - 1, array), "leaves"),
        ("children", lambda array: np.full_like(array, -1), "no tree"),
        ("children", lambda array: np.full_like(array, 0), "no tree"),
        ("offsets", lambda array: array + 1, "outside of features"),
        ("offsets", lambda array: np.zeros_like(array), "outside of features"),
        ("features", lambda array: array + 4, "column that is not there"),
        ("leaf_proba", lambda array: array * 1.01, "sum to one"),
    ],
)
def test_arrays_that_are_no_trees_are_refused(name, change, said):
    packed = pack_trees(grown().trees)
    packed[name] = change(packed[name])
    with pytest.raises(SavedStateError, match=said):
        check_packed(packed, 4, 1)


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
    assert most_steps(pack_trees(trees)) == sum(map(steps_by_hand, trees))
