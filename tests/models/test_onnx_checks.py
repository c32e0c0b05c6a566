"""A graph refuses the rows that the model refuses, and answers all others as if it did not look."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from onnx import TensorProto
from onnx.helper import make_tensor_value_info
from onnxruntime import GraphOptimizationLevel, InferenceSession, SessionOptions
from onnxruntime.capi.onnxruntime_pybind11_state import InvalidArgument
from sklearn.base import is_regressor
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from granulearn.models import onnx_converters, onnx_front, onnx_inputs, to_onnx
from granulearn.models.onnx_checks import (
    FINITE_AND_FILLED_IN,
    NO_ANSWER,
    NO_INFINITE_INPUT,
)
from granulearn.models.onnx_converters import convertible
from granulearn.rvfl import BallEnsembleClassifier, GBRVFLClassifier, RVFLClassifier, RVFLRegressor
from tests.models.fitted_pipelines import (
    fitted_pipeline,
    fitted_regressor,
)

SETTINGS = {BallEnsembleClassifier: {"estimator": GBRVFLClassifier(n_hidden=5)}}
LEVELS = [
    GraphOptimizationLevel.ORT_DISABLE_ALL,
    GraphOptimizationLevel.ORT_ENABLE_BASIC,
    GraphOptimizationLevel.ORT_ENABLE_EXTENDED,
    GraphOptimizationLevel.ORT_ENABLE_ALL,
]


def session_of(onnx_model, level=GraphOptimizationLevel.ORT_ENABLE_ALL):
    """Return a session that writes no refusal to standard error."""
    options = SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = level
    providers = ["CPUExecutionProvider"]
    return InferenceSession(onnx_model.SerializeToString(), options, providers=providers)


@pytest.fixture
def without_checks(monkeypatch):
    """Return a function that exports without checks: the oracle."""

    def unchecked(graph, cells, message="", output=None):
        return graph.add("Identity", cells, output=output)

    def export(pipeline, rows):
        with monkeypatch.context() as patched:
            patched.setattr(onnx_front, "refuse_infinity", unchecked)
            patched.setattr(onnx_converters, "refuse_all_but_finite", unchecked)
            return to_onnx(pipeline, rows)

    return export


def fitted_to_numbers(kind):
    """Return a pipeline of scaled numbers, and its rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3)) * [1, 1e-3, 1]
    model = kind(random_state=0, **SETTINGS.get(kind, {}))
    y = X[:, 0] if is_regressor(model) else (X[:, 0] + rng.normal(size=80) > 0).astype(int)
    return make_pipeline(StandardScaler(), model).fit(X, y), X


@pytest.mark.parametrize("kind", convertible())
def test_every_kind_of_model_refuses_what_its_pipeline_refuses_and_no_other_row(kind):
    pipeline, X = fitted_to_numbers(kind)
    session = session_of(to_onnx(pipeline, X))
    for cell, message in [
        (np.inf, NO_INFINITE_INPUT),
        (-np.inf, NO_INFINITE_INPUT),
        (np.nan, FINITE_AND_FILLED_IN),
        (1e308, FINITE_AND_FILLED_IN),  # scaled, it is beyond all doubles
        (1e300, None),  # doubles hold it: no input is single precision
    ]:
        rows = X[:3].copy()
        rows[1, 1] = cell
        if message is None:
            assert np.isfinite(session.run(None, {"X": rows})[-1]).all()
            pipeline.predict(rows)
            continue
        with pytest.raises(InvalidArgument, match=f"Name:'{message}"):
            session.run(None, {"X": rows})
        with pytest.raises(ValueError, match=r"NaN|infinity"), np.errstate(over="ignore"):
            pipeline.predict(rows)


@pytest.mark.parametrize("level", LEVELS)
def test_no_optimiser_removes_a_check_or_changes_a_bit(level, without_checks):
    for pipeline, rows in [
        fitted_pipeline(RVFLClassifier, 3),
        fitted_regressor(RVFLRegressor, 2, in_pipeline=True),
        fitted_to_numbers(convertible()[0]),
    ]:
        checked = session_of(to_onnx(pipeline, rows), level)
        unchecked = session_of(without_checks(pipeline, rows), level)
        inputs = onnx_inputs(rows)
        for with_check, without in zip(
            checked.run(None, inputs), unchecked.run(None, inputs), strict=True
        ):
            assert_array_equal(with_check, without)
        name = next(name for name, cells in inputs.items() if cells.dtype.kind == "f")
        inputs[name] = np.where(np.arange(len(rows))[:, None] == 7, np.inf, inputs[name])
        unchecked.run(None, inputs)
        for output in checked.get_outputs():
            with pytest.raises(InvalidArgument, match=NO_INFINITE_INPUT):
                checked.run([output.name], inputs)


def test_the_sign_of_zero_is_kept():
    pipeline, X = fitted_to_numbers(RVFLClassifier)
    onnx_model = to_onnx(pipeline, X)
    checked = next(node for node in onnx_model.graph.node if node.op_type == "Sub").output[0]
    also = make_tensor_value_info(checked, TensorProto.DOUBLE, [None, None])
    onnx_model.graph.output.append(also)
    *_, found = session_of(onnx_model).run(None, {"X": np.array([[-0.0, 0.0, 5e-324]])})
    assert_array_equal(np.signbit(found), [[True, False, False]])
    assert found[0, 2] == 5e-324


@given(
    cells=st.lists(
        st.lists(st.floats(allow_nan=True, allow_infinity=True), min_size=3, max_size=3),
        max_size=5,
    )
)
def test_any_rows_are_refused_if_and_only_if_a_number_is_infinite_or_not_filled_in(cells):
    rows = np.array(cells, dtype=float).reshape(-1, 3)
    expected = not np.isfinite(rows).all()
    try:
        SESSION.run(None, {"X": rows})
    except InvalidArgument:
        assert expected
    else:
        assert not expected


def bare_model():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    return session_of(to_onnx(RVFLClassifier(random_state=0).fit(X, X[:, 0] > 0), X))


SESSION = bare_model()


def test_missing_cells_are_filled_in_where_the_pipeline_does():
    pipeline, rows = fitted_pipeline(RVFLClassifier)
    assert rows["income"].isna().any()
    session_of(to_onnx(pipeline, rows)).run(None, onnx_inputs(rows))


@pytest.mark.parametrize("columns", [["a", "b"], [0, 1]])
def test_infinity_that_a_step_would_take_for_an_unknown_category_is_refused(columns):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.integers(3, size=60) * 1.0, "b": 1.0, "unused": 0.0, "t": "x"})
    one_hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    first = ColumnTransformer([("all", one_hot, columns), ("text", one_hot, ["t"])])
    pipeline = make_pipeline(first, RVFLClassifier(random_state=0)).fit(X, X["a"] > 0)
    session = session_of(to_onnx(pipeline, X))
    inputs = onnx_inputs(X.head(2))
    expected = session.run(None, inputs)
    for name in "ab":
        bad = {**inputs, name: np.array([[0.0], [-np.inf]])}
        with pytest.raises(InvalidArgument, match=NO_INFINITE_INPUT):
            session.run(None, bad)
    # The pipeline does not look at a column that it does not use.
    found = session.run(None, {**inputs, "unused": np.array([[np.inf], [0.0]])})
    assert_array_equal(found[1], expected[1])


def test_no_rows_give_no_predictions():
    pipeline, rows = fitted_pipeline(RVFLClassifier)
    session = session_of(to_onnx(pipeline, rows))
    empty = {name: cells[:0] for name, cells in onnx_inputs(rows).items()}
    assert [len(found) for found in session.run(None, empty)] == [0, 0]


def test_a_check_is_as_many_nodes_for_many_columns_as_for_two():
    counts = []
    for n_columns in (2, 40):
        X = pd.DataFrame(np.random.default_rng(0).normal(size=(30, n_columns))).add_prefix("c")
        model = RVFLClassifier(random_state=0).fit(X, X["c0"] > 0)
        counts.append(len(to_onnx(model, X).graph.node))
    assert counts[0] == counts[1]


@pytest.mark.parametrize("kind", convertible())
def test_what_is_too_large_for_a_model_is_refused_or_answered_with_numbers(kind):
    pipeline, X = fitted_to_numbers(kind)
    model, rows = pipeline[-1], X[:3].copy()
    session = session_of(to_onnx(model, X))
    for cell in (1e155, 1e300, 1.7e308):
        rows[1, 1] = cell
        refusal, answers = "", np.zeros(0)
        try:
            *_, answers = session.run(None, {"X": rows})
        except InvalidArgument as error:
            refusal = str(error)
        assert NO_ANSWER in refusal or not refusal
        assert np.isfinite(answers).all()
