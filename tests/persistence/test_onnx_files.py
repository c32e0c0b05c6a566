"""Export: checked before it is handed out, under the names of the table."""

import numpy as np
import onnx
import pytest
from onnxruntime import InferenceSession
from sklearn.datasets import make_blobs
from sklearn.linear_model import LogisticRegression

from granulearn.estimators import RobustClassifier, RVFLClassifier
from granulearn.persistence import OnnxMismatchError, onnx_converters, onnx_inputs, to_onnx
from granulearn.persistence.onnx_files import largest_difference
from tests.persistence.fitted_pipelines import fitted_pipeline


def test_inputs_bear_the_names_of_the_columns_and_outputs_give_way():
    pipeline, rows = fitted_pipeline(RVFLClassifier)
    onnx_model = to_onnx(pipeline, rows)
    onnx.checker.check_model(onnx_model)
    assert [value.name for value in onnx_model.graph.input] == list(rows.columns)
    # The table has a column called "label".
    assert [value.name for value in onnx_model.graph.output] == ["predicted_label", "probabilities"]


def test_missing_text_is_the_empty_text():
    _, rows = fitted_pipeline(RVFLClassifier)
    inputs = onnx_inputs(rows)
    assert (inputs["city"][rows["city"].isna()] == "").all()
    assert np.isnan(inputs["income"][rows["income"].isna()]).all()


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


def test_infinity_is_refused_by_the_model_and_where_inputs_of_the_graph_are_made():
    # A graph of ONNX has no operator that raises, and to take infinity for a missing cell
    # would answer where the model does not. So this is what happens, and the guide says it.
    pipeline, rows = fitted_pipeline(RVFLClassifier)
    session = InferenceSession(to_onnx(pipeline, rows).SerializeToString())
    rows = rows.head(2).copy()
    inputs = onnx_inputs(rows)
    rows.loc[rows.index[0], "income"] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        pipeline.predict(rows)
    with pytest.raises(ValueError, match="column 'income' holds infinity"):
        onnx_inputs(rows)
    inputs["income"] = np.array([[np.inf], *inputs["income"][1:]])
    _, proba = session.run(None, inputs)
    assert not np.isfinite(proba[0]).all()
    np.testing.assert_allclose(proba[1], pipeline.predict_proba(rows[1:])[0], atol=1e-6)


def test_infinity_in_an_array_is_refused_by_its_column():
    assert np.isnan(onnx_inputs([[0.0, np.nan]])["X"][0, 1])
    with pytest.raises(ValueError, match="column 1 holds infinity"):
        onnx_inputs([[0.0, 1.0], [0.0, -np.inf]])
