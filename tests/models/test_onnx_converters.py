"""ONNX predictions equal ours: every classifier, activation and number of classes."""

import numpy as np
import onnxruntime
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_blobs

from granulearn.estimators import BallForestClassifier, RobustClassifier
from granulearn.models import onnx_inputs, to_onnx
from granulearn.models.onnx_converters import convertible
from granulearn.rvfl import (
    BallEnsembleClassifier,
    EnsembleDeepGBRVFLClassifier,
    RVFLClassifier,
    RVFLEnsembleClassifier,
    activation_names,
    complex_activation_names,
)
from tests.estimators.families import ALL_CLASSIFIERS
from tests.models.fitted_pipelines import SAVED_CLASSIFIERS, SAVED_REGRESSORS, fitted_pipeline


def activations_of(classifier):
    complex_valued = classifier.__name__ in ("CRVFLClassifier", "ACRVFLClassifier")
    return complex_activation_names() if complex_valued else activation_names()


# What becomes of an activation and of the number of classes is decided apart: every activation
# with three classes, every number of classes with the default.
EVERY_SETTING = [
    (classifier(activation=activation), 3)
    for classifier in ALL_CLASSIFIERS
    for activation in activations_of(classifier)
] + [(classifier(), n_classes) for classifier in ALL_CLASSIFIERS for n_classes in (2, 10)]


def run(onnx_model, X):
    session = onnxruntime.InferenceSession(
        onnx_model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return session.run(None, onnx_inputs(X))


def test_every_model_that_can_be_saved_can_be_converted():
    assert set(convertible()) == {*SAVED_CLASSIFIERS, *SAVED_REGRESSORS}


def blobs_and_new_rows(n_classes):
    """Return samples, their classes, and new rows, some beyond the range of the samples."""
    X, y = make_blobs(300, n_features=5, centers=n_classes, cluster_std=3.0, random_state=0)
    return X / 5, y, np.random.default_rng(1).uniform(-4, 4, (500, 5))


def assert_onnx_predicts_the_same(model, X, new):
    labels, probabilities = run(to_onnx(model, X[:5]), new)
    # ONNX's operator for trees adds up in single precision.
    tolerance = 1e-7 if getattr(model, "boosters_", ()) else 1e-9
    assert_allclose(probabilities, model.predict_proba(new), rtol=0, atol=tolerance)
    assert_array_equal(labels, model.predict(new))


@pytest.mark.parametrize(("model", "n_classes"), EVERY_SETTING, ids=str)
def test_probabilities_and_labels_equal_ours(model, n_classes):
    X, y, new = blobs_and_new_rows(n_classes)
    fitted = clone(model).set_params(random_state=0, C=100, n_hidden=40).fit(X, y)
    assert_onnx_predicts_the_same(fitted, X, new)


OF_SEVERAL = [
    BallForestClassifier(),
    RVFLEnsembleClassifier(n_layers=1),
    RobustClassifier(),
    BallEnsembleClassifier(n_partitions=3),
]
IN_OTHER_WAYS = [
    BallForestClassifier(n_trees=40, max_samples=0.2),
    *(RVFLEnsembleClassifier(activation=name) for name in activation_names()),
    RobustClassifier(shares="chosen", boosting=True),
    RobustClassifier(noise=0.2),
    RobustClassifier(forest=RVFLClassifier(C=0.1)),
    BallEnsembleClassifier(EnsembleDeepGBRVFLClassifier(n_layers=2), n_partitions=2),
]


@pytest.mark.parametrize(
    ("model", "n_classes"),
    [(model, n_classes) for model in OF_SEVERAL for n_classes in (2, 3, 10)]
    + [(model, 3) for model in IN_OTHER_WAYS],
    ids=str,
)
def test_models_made_of_several_equal_ours(model, n_classes):
    X, y, new = blobs_and_new_rows(n_classes)
    assert_onnx_predicts_the_same(clone(model).set_params(random_state=0).fit(X, y), X, new)


@pytest.mark.parametrize("classifier", SAVED_CLASSIFIERS)
def test_pipelines_with_categories_and_missing_cells_equal_ours(classifier):
    pipeline, rows = fitted_pipeline(classifier, n_classes=2)
    labels, probabilities = run(to_onnx(pipeline, rows), rows)
    assert rows.isna().any().any()
    assert_allclose(probabilities, pipeline.predict_proba(rows), rtol=0, atol=1e-9)
    assert_array_equal(labels, pipeline.predict(rows))


@pytest.mark.parametrize("classifier", [RVFLClassifier, RobustClassifier])
def test_a_classifier_alone_reads_the_columns_of_a_table(classifier):
    X, y, new = blobs_and_new_rows(3)
    table, new_table = (
        pd.DataFrame(X, columns=list("abcde")),
        pd.DataFrame(new, columns=list("abcde")),
    )
    assert_onnx_predicts_the_same(classifier(random_state=0).fit(table, y), table, new_table)


@pytest.mark.parametrize("kind", [bool, np.int32, float])
def test_labels_that_are_whole_numbers_stay_numbers(kind):
    X, y = make_blobs(60, centers=2, random_state=0)
    model = ALL_CLASSIFIERS[0](random_state=0).fit(X, y.astype(kind))
    labels, _ = run(to_onnx(model, X), X)
    assert labels.dtype == np.int64
    assert_array_equal(labels, model.predict(X))


def test_labels_that_onnx_cannot_hold_are_named():
    X, y = make_blobs(60, centers=2, random_state=0)
    model = ALL_CLASSIFIERS[0](random_state=0).fit(X, y)
    for labels in ([0.5, 1.5], [0, 2**64 - 1], [0.0, np.inf]):
        model.classes_ = np.array(labels)
        with pytest.raises(TypeError, match="neither text nor whole numbers"):
            to_onnx(model, X)
    for labels in ([0, 1], [0.0, 1.0], [False, True], ["a", "b"], [-(2**63), 2**63 - 1]):
        model.classes_ = np.array(labels, dtype=object)
        to_onnx(model, X)
