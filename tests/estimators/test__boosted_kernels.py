"""The walk down boosted trees, by hand."""

import numpy as np
from numpy.testing import assert_allclose

from granulearn.estimators import _boosted_kernels


def test_a_row_at_the_threshold_goes_left_and_trees_add_to_their_output():
    """Two trees of one split each: on feature 1 at 0.5, and a leaf alone."""
    raw = np.zeros((3, 2))
    _boosted_kernels.add_leaf_values(
        np.array([[9.0, 0.4], [9.0, 0.5], [9.0, 0.6]]),
        np.array([0, 3], np.int32), np.array([0, 1], np.int32),
        np.array([1, 0, 0, 0], np.int32), np.array([2, 0, 0, 0], np.int32),
        np.array([1, -1, -1, -1], np.int32), np.array([0.5, 0, 0, 0]),
        np.array([0, -1, 2, 7], np.float32), raw,
    )  # fmt: skip
    assert_allclose(raw, [[-1, 7], [-1, 7], [2, 7]])


def test_a_walk_ends_in_arrays_that_are_no_tree():
    again, raw = np.zeros(2, np.int32), np.zeros((1, 1))
    _boosted_kernels.add_leaf_values(
        np.zeros((1, 1)), np.zeros(1, np.int32), np.zeros(1, np.int32), again, again,
        np.zeros(2, np.int32), np.zeros(2), np.zeros(2, np.float32), raw,
    )  # fmt: skip
    assert raw.tolist() == [[0]]
