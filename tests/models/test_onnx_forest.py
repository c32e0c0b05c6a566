"""A forest in ONNX: the same leaf for every row, also on a boundary."""

import numpy as np
import onnxruntime
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from granulearn.balls.forest import BallForest, grow_forest
from granulearn.balls.forest_tree import ForestRule
from granulearn.estimators import BallForestClassifier
from granulearn.models import onnx_inputs, to_onnx
from granulearn.models.onnx_forest import node_table


def grown(X, codes, n_classes, n_trees=7) -> BallForest:
    return grow_forest(X, codes, n_classes, ForestRule(n_trees=n_trees)).forest


def walk(forest: BallForest, X) -> np.ndarray:
    """Return the posterior by the table, the way the ONNX nodes go, one row at a time."""
    table = node_table(forest)
    total = np.zeros((len(X), forest.n_outputs))
    for i, row in enumerate(forest.rows(X)):
        for root in table.roots:
            node = root
            for _ in range(table.depth):
                product = 0.0
                for feature, direction in zip(
                    table.features[node], table.directions[node], strict=True
                ):
                    product += row[feature] * direction
                node = table.children[node] + (product > table.thresholds[node])
            total[i] += table.proba[node]
    return total / total.sum(axis=1, keepdims=True)


@settings(max_examples=30)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_rows=st.integers(1, 60),
    n_features=st.integers(1, 12),
    n_classes=st.integers(1, 4),
)
def test_the_table_walks_as_the_trees_do(seed, n_rows, n_features, n_classes):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (n_rows, n_features)).astype(float)  # many rows on boundaries
    forest = grown(X, rng.integers(0, n_classes, n_rows), n_classes)
    assert_array_equal(walk(forest, X), forest.posterior(X))


def test_every_path_ends_at_a_leaf_after_as_many_steps_as_the_deepest_tree_has_levels():
    rng = np.random.default_rng(0)
    table = node_table(grown(rng.random((200, 3)), rng.integers(0, 2, 200), 2))
    places = set(table.roots.tolist())
    for _ in range(table.depth):
        at_leaf = {node for node in places if table.children[node] == node}
        going = {int(table.children[node]) for node in places - at_leaf}
        places = at_leaf | going | {node + 1 for node in going}
    assert all(table.children[node] == node for node in places)
    assert_array_equal(table.proba[sorted(places)].sum(axis=1).round(6), 1)


@pytest.mark.parametrize("n_rows", [0, 1, 500])
def test_rows_on_a_boundary_go_the_same_way_in_onnx(n_rows):
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 3, (300, 9)).astype(float), rng.integers(0, 3, 300)
    y[X[:, 0] == 1] = 1
    model = BallForestClassifier(random_state=0, n_trees=20).fit(X, y)
    session = onnxruntime.InferenceSession(
        to_onnx(model, X).SerializeToString(), providers=["CPUExecutionProvider"]
    )
    new = rng.integers(0, 3, (n_rows, 9)).astype(float)
    _, probabilities = session.run(None, onnx_inputs(new))
    wanted = model.forest_.posterior(new)
    np.testing.assert_allclose(probabilities, wanted, rtol=0, atol=1e-15)


def test_values_near_the_largest_number_are_scaled_as_in_the_forest():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 3)) * 1e300, rng.integers(0, 2, 80)
    model = BallForestClassifier(random_state=0, n_trees=30).fit(X, y)
    to_onnx(model, X, tolerance=1e-15)
