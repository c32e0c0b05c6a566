"""The nearest ball in ONNX predicts what it predicts here."""

import numpy as np
import onnxruntime
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from granulearn.balls import GranularBallKNNClassifier
from granulearn.balls.generators import generator_names
from granulearn.models import onnx_inputs, to_onnx
from tests.estimators.families import overlapping_classes


def run(model, example, X):
    session = onnxruntime.InferenceSession(
        to_onnx(model, example).SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return session.run(None, onnx_inputs(X))


@pytest.mark.parametrize("maker", generator_names())
@pytest.mark.parametrize("n_neighbors", [1, 3, 10_000])
def test_probabilities_and_labels_equal_ours(maker, n_neighbors):
    X, y = overlapping_classes(3, 200)
    model = GranularBallKNNClassifier(n_neighbors, maker, random_state=0).fit(X, y)
    new = np.random.RandomState(0).uniform(X.min(), X.max(), (300, 3))
    labels, probabilities = run(model, X[:5], new)
    assert_allclose(probabilities, model.predict_proba(new), rtol=0, atol=1e-12)
    assert_array_equal(labels, model.predict(new))


def test_a_tie_goes_to_the_ball_with_the_smaller_number():
    X = np.repeat([[0.0], [2.0], [4.0]], 3, axis=0)
    model = GranularBallKNNClassifier(random_state=0).fit(X, np.repeat([2, 0, 1], 3))
    between = np.array([[1.0], [3.0]])
    labels, probabilities = run(model, X, between)
    assert_array_equal(labels, model.predict(between))
    assert_array_equal(probabilities, model.predict_proba(between))


def test_single_precision_balls_are_written_in_double():
    X, y = overlapping_classes(2, 100)
    model = GranularBallKNNClassifier(random_state=0).fit(X.astype(np.float32), y)
    _, probabilities = run(model, X[:5], X)
    assert_allclose(probabilities, model.predict_proba(X))
