"""A few rows walk without compiled loops, to the same bits, and only where that was asked for."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from granulearn import TableClassifier, load_model
from granulearn.balls import _walk_kernels, few_rows
from granulearn.balls.few_rows import are_few, leaves_of_few, loops_may_wait
from granulearn.balls.forest import BallForest, grow_forest
from granulearn.balls.forest_rules import rule_of_size
from granulearn.balls.forest_tree import BallTree
from granulearn.datasets import load
from granulearn.estimators import BallForestClassifier

# Without it, this process looks as one that has not loaded compiled loops.
LOOPS = "granulearn.balls._compiled"


def leaves_one_by_one(trees, rows):
    """Walk each row down each tree by itself."""
    return [
        [
            _walk_kernels.find_leaf(
                row, tree.children, tree.offsets, tree.features, tree.directions, tree.thresholds
            )
            for row in rows
        ]
        for tree in trees
    ]


@settings(max_examples=30)
@given(
    seed=st.integers(0, 2**16),
    n=st.integers(2, 60),
    d=st.integers(1, 12),
    n_classes=st.integers(2, 4),
    searched=st.booleans(),
)
def test_few_rows_come_to_the_leaves_they_come_to_alone(seed, n, d, n_classes, searched):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 5, size=(n, d)).astype(float), rng.integers(n_classes, size=n)
    X[:, : d // 2] += rng.normal(size=(n, d // 2))
    rule = rule_of_size(n, d, n_trees=7, searched=searched, seed=seed)
    forest = grow_forest(X, y, n_classes, rule).forest
    rows = forest.rows(np.vstack([X, rng.normal(size=(20, d)) * 3]))
    assert_array_equal(leaves_of_few(forest.trees, rows), leaves_one_by_one(forest.trees, rows))


def test_a_forest_predicts_few_rows_to_the_bits_of_the_loops(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 6)), rng.integers(3, size=300)
    forest = BallForestClassifier(n_trees=20, random_state=0).fit(X, y).forest_
    by_loops = forest.posterior(X)
    monkeypatch.delitem(sys.modules, LOOPS)
    monkeypatch.setattr(BallForest, "_mean_posterior", None)
    with loops_may_wait():
        assert_array_equal(forest.posterior(X), by_loops)
        assert forest.posterior(X[:0]).shape == (0, 3)


def test_loops_wait_only_for_few_rows_and_only_where_it_was_asked_for(monkeypatch):
    monkeypatch.delitem(sys.modules, LOOPS)
    assert not are_few(1)
    with loops_may_wait():
        assert are_few(few_rows.MOST_ROWS)
        assert not are_few(few_rows.MOST_ROWS + 1)
        assert are_few(10, few_rows.MOST_WALKS // 10)
        assert not are_few(10, few_rows.MOST_WALKS // 10 + 1)
    assert not are_few(1)


def test_loops_that_are_loaded_are_used():
    with loops_may_wait():
        assert not are_few(1)


def test_ways_that_are_long_are_left_to_the_loops():
    """A chain of splits: each sends all rows on."""
    n = few_rows.MOST_LOOKS + 1
    children = np.full(2 * n + 1, -1, np.int32)
    splits = [0, *range(1, 2 * n - 2, 2)]
    children[splits] = range(1, 2 * n, 2)
    is_leaf = children < 0
    children[is_leaf] = -1 - np.arange(n + 1)
    offsets = np.concatenate([[0], np.cumsum(~is_leaf)]).astype(np.int32)
    thresholds = np.where(is_leaf, 0.0, 9.0)
    leaves = np.full((n + 1, 2), 0.5, np.float32)
    chain = BallTree(children, offsets, np.zeros(n, np.int32), np.ones(n), thresholds, leaves)
    chain._check_loaded()
    assert leaves_of_few([chain], np.zeros((3, 1))) is None


def test_a_split_of_very_many_features_is_left_to_the_loops_before_one_is_looked_at():
    """Its features are not there, so that to look at one would be an error."""
    n = few_rows.MOST_LOOKS + 1
    split = BallTree(
        np.array([1, -1, -2], np.int32), np.array([0, n, n, n], np.int32),
        np.full(n, 9, np.int32), np.ones(n), np.zeros(3), np.full((2, 2), 0.5, np.float32),
    )  # fmt: skip
    assert leaves_of_few([split], np.zeros((3, 1))) is None


@pytest.mark.slow
def test_a_verb_that_predicts_few_rows_loads_no_loops_and_says_what_they_say(tmp_path):
    """A process of its own: in this one loops are loaded."""
    data = load("iris")
    table, model = tmp_path / "new.csv", tmp_path / "iris.skops"
    TableClassifier(random_state=0).fit(data.X, data.y).save(model)
    data.X.to_csv(table, index=False)
    script = (
        "import sys; from granulearn.cli.application import run_verb; "
        "run_verb(sys.argv[1:]); print('numba' in sys.modules)"
    )
    verb = ["predict", str(model), str(table), "--proba", "-o", str(tmp_path / "out.csv")]
    run = [sys.executable, "-c", script, *verb]
    said = subprocess.run(run, check=True, capture_output=True, text=True).stdout
    assert said.split()[-1] == "False"
    written = pd.read_csv(tmp_path / "out.csv", float_precision="round_trip")
    by_loops = load_model(model).predict_proba(table)
    assert_array_equal(written.drop(columns="prediction"), by_loops)
