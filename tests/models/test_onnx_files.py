"""Export: checked before it is handed out."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer

from granulearn.estimators import RobustClassifier
from granulearn.models import ModelFileError, OnnxMismatchError, onnx_converters, to_onnx
from granulearn.models.onnx_files import largest_difference
from granulearn.rvfl import RVFLClassifier
from tests.models.fitted_pipelines import fitted_pipeline


def test_a_model_that_predicts_otherwise_is_not_handed_out(monkeypatch):
    X, y = make_blobs(80, centers=3, random_state=0)
    model = RVFLClassifier(random_state=0).fit(X, y)
    right = onnx_converters.FORMS["network"].scores

    def slightly_wrong(graph, model, X):
        return graph.scaled(1.001, right(graph, model, X))

    form = onnx_converters.Form(slightly_wrong)
    monkeypatch.setitem(onnx_converters.FORMS, "network", form)
    with pytest.raises(OnnxMismatchError, match="differ from the pipeline's by up to"):
        to_onnx(model, X)


def test_labels_that_differ_are_infinitely_wrong():
    X, y = make_blobs(80, centers=3, random_state=0)
    model = RVFLClassifier(random_state=0).fit(X, y)
    onnx_model = to_onnx(model, X)
    model.classes_ = np.array([0, 1, 7])
    assert largest_difference(model, onnx_model, X) == np.inf


def test_the_pipeline_itself_is_left_as_it_is():
    pipeline, rows = fitted_pipeline(RVFLClassifier)
    before = pipeline.predict_proba(rows)
    to_onnx(pipeline, rows)
    np.testing.assert_array_equal(pipeline.predict_proba(rows), before)
    assert len(pipeline["prepare"].named_transformers_["categories"]) == 3


@pytest.mark.parametrize(
    "model", [LogisticRegression(), RobustClassifier(forest=LogisticRegression())]
)
def test_another_kind_of_model_is_named(model):
    X, y = make_blobs(60, centers=2, random_state=0)
    with pytest.raises(TypeError, match="LogisticRegression has no form"):
        to_onnx(model.fit(X, y), X)


def test_a_step_without_a_form_in_onnx_is_told_in_one_line():
    X, y = make_blobs(60, centers=2, random_state=0)
    step = QuantileTransformer(n_quantiles=9, output_distribution="normal")
    model = make_pipeline(step, RVFLClassifier(random_state=0)).fit(X, y)
    with pytest.raises(ModelFileError, match=r"cannot be written as ONNX: .*'normal'") as caught:
        to_onnx(model, X)
    assert "\n" not in str(caught.value)
