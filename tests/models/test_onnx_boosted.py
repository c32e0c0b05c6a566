"""Boosted trees in ONNX: the same leaf for rows on a threshold, the same codes for bundles."""

import numpy as np
import onnxruntime
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from granulearn.estimators import RobustClassifier
from granulearn.models import to_onnx


def run(model, X):
    session = onnxruntime.InferenceSession(to_onnx(model, X[:5]).SerializeToString())
    labels, proba = session.run(None, {session.get_inputs()[0].name: X})
    return labels, np.asarray(proba)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_whole_numbers_and_categories_go_the_same_way(n_classes):
    """Whole numbers lie on thresholds; rows with two columns on were never seen."""
    rng = np.random.default_rng(0)
    kind, number = rng.integers(5, size=900), rng.integers(6, size=(900, 2))
    other = rng.normal(size=(900, 6))  # so that no row has a copy, and shares can be chosen
    X = np.column_stack([number, kind[:, None] == np.arange(5), other]).astype(float)
    y = (kind > 2) * 1 + (number[:, 0] > 2) + (number[:, 1] > 3) * 2 + (rng.random(900) < 0.1)
    y %= n_classes
    model = RobustClassifier("chosen", boosting=True, n_trees=40, random_state=0).fit(X, y)
    assert model.shares_["boosting"] > 0.05
    assert model.boosters_[0].bundles.n_bundles == 1
    new = np.vstack([X, X + np.eye(13)[rng.integers(2, 7, size=900)]])
    labels, proba = run(model, new)
    assert_allclose(proba, model.predict_proba(new), atol=1e-6)
    assert_array_equal(labels, model.predict(new))
