"""Deep networks as ONNX give the scores of the model."""

import pytest

from granulearn.rvfl import (
    DeepGBRVFLClassifier,
    DeepRVFLClassifier,
    EnsembleDeepGBRVFLClassifier,
    EnsembleDeepRVFLClassifier,
    activation_names,
)
from tests.models.test_onnx_converters import (
    assert_onnx_predicts_the_same,
    blobs_and_new_rows,
)

ONE_RIDGE = [DeepRVFLClassifier, DeepGBRVFLClassifier]
ENSEMBLES = [EnsembleDeepRVFLClassifier, EnsembleDeepGBRVFLClassifier]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("activation", activation_names())
@pytest.mark.parametrize("classifier", [DeepRVFLClassifier, EnsembleDeepRVFLClassifier])
def test_every_activation_of_every_layer_equals_ours(classifier, activation, n_classes):
    X, y, new = blobs_and_new_rows(n_classes)
    model = classifier(n_layers=3, n_hidden=20, activation=activation, random_state=0).fit(X, y)
    assert_onnx_predicts_the_same(model, X, new)


@pytest.mark.parametrize("n_layers", [1, 4])
@pytest.mark.parametrize("classifier", ONE_RIDGE + ENSEMBLES)
def test_any_number_of_layers_and_any_widths_equal_ours(classifier, n_layers):
    X, y, new = blobs_and_new_rows(3)
    widths = [5, 30, 10, 17][:n_layers]
    model = classifier(n_layers=n_layers, n_hidden=widths, random_state=0).fit(X, y)
    assert_onnx_predicts_the_same(model, X, new)


@pytest.mark.parametrize("n_classes", [2, 10])
@pytest.mark.parametrize("classifier", ENSEMBLES)
def test_votes_equal_ours(classifier, n_classes):
    X, y, new = blobs_and_new_rows(n_classes)
    model = classifier(n_layers=4, combine="vote", random_state=0).fit(X, y)
    assert_onnx_predicts_the_same(model, X, new)
