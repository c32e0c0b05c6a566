"""Trees made by hand, and files of them that no check has seen."""

import dataclasses

import numpy as np

from granulearn.balls import forest as forest_module
from granulearn.forest import BallForestClassifier
from granulearn.forest.forest import BallForest
from granulearn.forest.tree import BallTree
from granulearn.models import model_files as files
from granulearn.models import save_model

rng = np.random.default_rng(0)
X = np.column_stack([rng.normal(size=(180, 3)), np.eye(3)[np.arange(180) % 3]])
Y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0)


def forest_of(**changes) -> BallForest:
    """Return a forest of one tree of three balls, with arrays of the tree exchanged."""
    tree = BallTree(
        children=np.array([1, -1, -2], np.int32),
        offsets=np.array([0, 1, 1, 1], np.int32),
        features=np.array([0], np.int32),
        directions=np.array([1.0]),
        thresholds=np.array([0.0, 0.0, 0.0]),
        leaf_proba=np.array([[0.9, 0.05, 0.05], [0.1, 0.5, 0.4]], np.float32),
    )
    shift, tree = np.zeros(X.shape[1]), dataclasses.replace(tree, **changes)
    return BallForest((tree,), shift, 1.0, 3)


def fitted_forest() -> BallForestClassifier:
    """Return a classifier that can be given a forest of one tree."""
    model = BallForestClassifier(n_estimators=40, random_state=0).fit(X, Y)
    model.in_bag_ = model.in_bag_[:1]
    return model


def save_carelessly(model: BallForestClassifier, path, monkeypatch) -> None:
    """Save a model of one tree as an attacker would: unchecked, its arrays as they are."""

    def as_they_are(trees):
        (tree,) = trees
        lengths = {"n_nodes": [len(tree.children)], "n_features": [len(tree.features)]}
        return {name: np.array(length) for name, length in lengths.items()} | vars(tree)

    with monkeypatch.context() as careless:
        careless.setattr(files, "check_loaded", lambda *_: None)
        careless.setattr(forest_module, "pack_trees", as_they_are)
        save_model(model, path)


def chain(n_splits: int) -> dict[str, np.ndarray]:
    """Return arrays of a tree that splits off one leaf at a time, from the left."""
    children = np.empty(2 * n_splits + 1, np.int32)
    children[:-1:2], children[1::2] = np.arange(1, 2 * n_splits, 2), -1 - np.arange(n_splits)
    children[-1] = -1 - n_splits
    return {
        "children": children,
        "offsets": np.minimum(np.arange(1, 2 * n_splits + 3) // 2, n_splits).astype(np.int32),
        "features": np.zeros(n_splits, np.int32),
        "directions": np.ones(n_splits),
        "thresholds": np.full(2 * n_splits + 1, -1e9),
        "leaf_proba": np.full((n_splits + 1, 3), 1 / 3, np.float32),
    }
