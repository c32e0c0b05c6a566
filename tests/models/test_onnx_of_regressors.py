"""ONNX predicts the numbers of every regressor."""

import numpy as np
import onnx
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from granulearn.models import OnnxMismatchError, onnx_converters, to_onnx
from granulearn.models.onnx_files import largest_difference
from granulearn.rvfl import (
    EnsembleDeepRVFLRegressor,
    RVFLEnsembleRegressor,
    RVFLRegressor,
    activation_names,
)
from tests.models.fitted_pipelines import SAVED_REGRESSORS, fitted_regressor
from tests.models.test_onnx_converters import run

every_regressor = pytest.mark.parametrize("regressor", SAVED_REGRESSORS)


def assert_onnx_predicts_the_same(model, X, new):
    """Compare target by target: each has a size of its own."""
    (predictions,) = run(to_onnx(model, X), new)
    expected = model.predict(new).reshape(len(new), -1)
    assert predictions.shape == expected.shape
    assert predictions.dtype == np.float64
    for found, wanted in zip(predictions.T, expected.T, strict=True):
        assert_allclose(found, wanted, rtol=0, atol=1e-9 * np.abs(wanted).max())


def wavy_numbers(n_targets=None):
    """Return samples, targets, and new rows, some beyond the range of the samples."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    Y = np.column_stack([np.sin(2 * X[:, 0]) + X[:, 1], X[:, 2] ** 2, 100 + X.sum(axis=1)])
    y = Y[:, 0] if n_targets is None else Y[:, :n_targets]
    return X, y, rng.uniform(-5, 5, (300, 4))


@pytest.mark.parametrize("in_pipeline", [False, True])
@pytest.mark.parametrize("n_targets", [None, 1, 3])
@every_regressor
def test_predictions_equal_ours_alone_and_in_pipelines(regressor, n_targets, in_pipeline):
    model, rows = fitted_regressor(regressor, n_targets, in_pipeline=in_pipeline)
    assert rows.isna().any().any() == in_pipeline
    assert_onnx_predicts_the_same(model, rows, rows)


@pytest.mark.parametrize("activation", activation_names())
@every_regressor
def test_every_activation_equals_ours(regressor, activation):
    X, Y, new = wavy_numbers(n_targets=2)
    model = regressor(activation=activation, n_hidden=30, C=100.0, random_state=0).fit(X, Y)
    assert_onnx_predicts_the_same(model, X[:5], new)


@pytest.mark.parametrize("n_layers", [1, 4])
@pytest.mark.parametrize("regressor", SAVED_REGRESSORS[2:])
def test_any_number_of_layers_equals_ours(regressor, n_layers):
    X, y, new = wavy_numbers()
    assert_onnx_predicts_the_same(regressor(n_layers=n_layers, random_state=0).fit(X, y), X, new)


@pytest.mark.parametrize("n_targets", [None, 1, 2])
def test_the_output_is_called_variable_and_has_a_column_per_target(n_targets):
    X, y, _ = wavy_numbers(n_targets)
    onnx_model = to_onnx(RVFLRegressor(random_state=0).fit(X, y), X)
    onnx.checker.check_model(onnx_model)
    (output,) = onnx_model.graph.output
    assert output.name == "variable"
    assert output.type.tensor_type.elem_type == onnx.TensorProto.DOUBLE
    assert output.type.tensor_type.shape.dim[1].dim_value == (n_targets or 1)


def test_the_output_gives_way_to_a_column_of_its_name():
    X, y, _ = wavy_numbers()
    table = pd.DataFrame(X, columns=["a", "variable", "b", "c"])
    onnx_model = to_onnx(RVFLRegressor(random_state=0).fit(table, y), table)
    assert [value.name for value in onnx_model.graph.input] == list(table.columns)
    assert [value.name for value in onnx_model.graph.output] == ["predicted_variable"]


@settings(max_examples=30, deadline=None)
@given(
    regressor=st.sampled_from([RVFLRegressor, EnsembleDeepRVFLRegressor, RVFLEnsembleRegressor]),
    exponent=st.integers(-40, 100),  # onnxruntime takes an intercept below 1e-45 for zero
    offset=st.sampled_from([0.0, 1.0, -1e6]),
    n_rows=st.integers(1, 20),
)
def test_the_check_takes_targets_of_any_size(regressor, exponent, offset, n_rows):
    X, y, _ = wavy_numbers()
    model = regressor(n_hidden=20, random_state=0).fit(X, (y + offset) * 10.0**exponent)
    # Of an offset of a million times the range, rounding alone is 1e-10 of the range.
    assert largest_difference(model, to_onnx(model, X[:n_rows]), X) < 1e-7


def test_targets_that_are_all_zero_are_compared_as_they_are():
    X, y, _ = wavy_numbers()
    model = RVFLRegressor(random_state=0).fit(X, 0 * y)
    assert largest_difference(model, to_onnx(model, X), X) == 0


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
@every_regressor
def test_a_model_that_predicts_otherwise_is_not_handed_out(regressor, size, monkeypatch):
    X, Y, _ = wavy_numbers(n_targets=3)
    model = regressor(n_hidden=20, random_state=0).fit(X, Y * [size, 1.0, 1.0])
    right = onnx_converters.FORMS[regressor._abilities.onnx].scores

    def first_target_slightly_wrong(graph, model, X):
        return graph.times(right(graph, model, X), graph.constant([1.0001, 1.0, 1.0]))

    monkeypatch.setitem(
        onnx_converters.FORMS,
        regressor._abilities.onnx,
        onnx_converters.Form(first_target_slightly_wrong),
    )
    with pytest.raises(OnnxMismatchError, match="differ from the pipeline's by up to"):
        to_onnx(model, X)


@every_regressor
def test_a_constant_is_told_from_numbers_that_lie_far_from_zero(regressor, monkeypatch):
    X, y, _ = wavy_numbers()
    n_features = X.shape[1]
    model = regressor(n_hidden=20, random_state=0).fit(X, 1e6 + y)

    def always_the_same(graph, model, X):
        nothing = graph.matmul(X, graph.constant(np.zeros((n_features, 1))))
        return graph.plus(nothing, graph.constant(np.array([1e6])))

    monkeypatch.setitem(
        onnx_converters.FORMS, regressor._abilities.onnx, onnx_converters.Form(always_the_same)
    )
    with pytest.raises(OnnxMismatchError, match="differ from the pipeline's by up to"):
        to_onnx(model, X)
