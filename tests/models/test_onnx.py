"""The graph predicts as the model does, refuses what the model refuses, and says what it takes."""

import json

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from onnx import TensorProto
from onnxruntime.capi.onnxruntime_pybind11_state import InvalidArgument
from sklearn.base import is_regressor
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline

from granulearn import TablePreprocessor, balls, ensemble, forest, rvfl
from granulearn.balls import GranularBallKNNClassifier
from granulearn.ensemble import BoostedTreesClassifier, RobustClassifier
from granulearn.forest import BallForestClassifier
from granulearn.models import ModelFileError, OnnxMismatchError, onnx_inputs, to_onnx
from granulearn.models.onnx import export, models
from granulearn.models.onnx.graph import FINITE_AND_FILLED_IN, NO_ANSWER, NO_INFINITE_INPUT, Graph
from granulearn.models.onnx.networks import ACTIVATIONS, complex_activation
from granulearn.preprocess.table_preprocessor import DATE_PARTS
from granulearn.rvfl import (
    BallEnsembleClassifier,
    CRVFLClassifier,
    DeepRVFLClassifier,
    EnsembleDeepGBRVFLClassifier,
    EnsembleDeepRVFLClassifier,
    GBRVFLClassifier,
    RVFLClassifier,
    RVFLEnsembleClassifier,
    RVFLRegressor,
    activate,
    activation_names,
    complex_activation_names,
)
from granulearn.tables import inspect_table, table_of

EVERY_MODEL = [
    vars(room)[name]
    for room in (balls, rvfl, forest, ensemble)
    for name in room.__all__
    if name.endswith(("Classifier", "Regressor"))
]
LEVELS = onnxruntime.GraphOptimizationLevel.__members__.values()


def new(kind, **settings):
    """Return a model, not fitted, small if it is made of others."""
    if kind is BallEnsembleClassifier:
        settings = {"estimator": GBRVFLClassifier(n_hidden=5), **settings}
    return kind(random_state=0, **settings)


def session_of(onnx_model, level=onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4  # refusals are raised, too
    options.graph_optimization_level = level
    providers = ["CPUExecutionProvider"]
    return onnxruntime.InferenceSession(onnx_model.SerializeToString(), options, providers)


def assert_predicts_the_same(model, X, rows):
    """Export by a few rows, and compare predictions of others."""
    onnx_model = to_onnx(model, X[:5])
    onnx.checker.check_model(onnx_model)
    found = session_of(onnx_model).run(None, onnx_inputs(rows, onnx_model))
    expected = model.predict(rows)
    if is_regressor(model):
        expected = expected.reshape(len(rows), -1)
        sizes = np.abs(expected).max(axis=0)  # each target has a size of its own
        assert_allclose(found[0] / sizes, expected / sizes, rtol=0, atol=1e-9)
        return
    labels, probabilities = found
    # ONNX's operator for boosted trees adds up in single precision.
    last = model[-1] if isinstance(model, Pipeline) else model
    boosted = isinstance(last, BoostedTreesClassifier | RobustClassifier)
    tolerance = 1e-7 if boosted else 1e-9
    assert_allclose(probabilities, model.predict_proba(rows), rtol=0, atol=tolerance)
    assert_array_equal(labels, expected)


def numbers(n_outputs, kind):
    """Return inputs, labels or targets, and new rows, some beyond the range of the inputs."""
    X, y = make_blobs(300, n_features=5, centers=max(n_outputs, 2), cluster_std=3, random_state=0)
    X, rows = X / 5, np.random.default_rng(1).uniform(-4, 4, (500, 5))
    if is_regressor(kind()):
        Y = np.column_stack([1e6 * np.sin(X[:, 0]), 1e-6 * X[:, 1] ** 2, 40 + X.sum(axis=1)])
        y = Y[:, 0] if n_outputs == 1 else Y[:, :n_outputs]
    return X, y, rows


def table(n_rows=240, seed=0):
    """Return numbers, few and many categories, dates, missing cells, and labels."""
    rng = np.random.default_rng(seed)
    size = rng.normal(size=n_rows)
    X = pd.DataFrame(
        {
            "température (°C)": size,
            "seconds": 1.7e9 + rng.uniform(0, 60, n_rows),
            "paid": rng.random(n_rows) < 0.5,
            "always the same": 1.0,
            "never there": np.nan,
            "city": rng.choice(np.array(["Graz", "Lyon", "Ōsaka"], dtype=object), n_rows),
            "label": rng.choice(np.array(["u", "v, w"], dtype=object), n_rows),
            "street": [f"Straße {number}" for number in rng.integers(0, 60, n_rows)],
            "code": rng.integers(0, 5, n_rows),
            "day": pd.Timestamp("2019-03-01") + pd.to_timedelta(rng.integers(0, 900, n_rows), "D"),
        }
    )
    for name in ("température (°C)", "city", "street", "day"):
        X.loc[rng.random(n_rows) < 0.1, name] = None
    y = np.digitize(size + (X["city"] == "Graz") + rng.normal(scale=0.3, size=n_rows), [-0.3, 0.8])
    return X, y


def new_rows():
    X, _ = table(seed=1)
    X.loc[3, "city"], X.loc[4, "street"], X.loc[5, "label"] = "Rome", "nowhere", None
    X.loc[6, "code"] = 9
    return X


def fitted_to_table(kind, n_classes=3):
    X, y = table()
    model = new(kind)
    numeric = is_regressor(model)
    y = y + 0.5 * X["paid"] if numeric else np.array(["no", "yes", "or"])[y % n_classes]
    types, target_type = {"code": "category"}, "continuous" if numeric else "auto"
    preprocessor = TablePreprocessor(types, target_type=target_type)
    return Pipeline([("preprocess", preprocessor), ("model", model)]).fit(X, y)


# ---- the graph predicts as the model does


@pytest.mark.parametrize(
    ("kind", "n_outputs"),
    [(k, n) for k in EVERY_MODEL for n in ((1, 3) if is_regressor(k()) else (2, 3, 10))],
)
def test_every_model_on_numbers(kind, n_outputs):
    X, y, rows = numbers(n_outputs, kind)
    assert_predicts_the_same(new(kind).fit(X, y), X, rows)


@pytest.mark.parametrize("kind", EVERY_MODEL)
def test_every_model_on_a_table(kind):
    assert_predicts_the_same(fitted_to_table(kind), new_rows(), new_rows())


SETTINGS = [
    *(RVFLClassifier(activation=name, C=100) for name in activation_names()),
    *(CRVFLClassifier(activation=name) for name in complex_activation_names()),
    *(DeepRVFLClassifier(n_layers=3, n_hidden=[5, 30, 10], activation=n) for n in ["selu", "sine"]),
    EnsembleDeepRVFLClassifier(n_layers=1),
    EnsembleDeepRVFLClassifier(n_layers=4, combine="vote"),
    EnsembleDeepGBRVFLClassifier(n_layers=4, combine="vote"),
    RVFLEnsembleClassifier(n_estimators=1),
    BallForestClassifier(n_estimators=40, max_samples=0.2),
    GranularBallKNNClassifier(3),
    GranularBallKNNClassifier(10_000),
    BoostedTreesClassifier(),
    RobustClassifier(noise_matrix=0.2),
    RobustClassifier(class_cost={0: 5.0, 2: 0.2}),
    BallForestClassifier(n_estimators=20, class_cost="balanced"),
    RobustClassifier(forest=RVFLClassifier(C=0.1)),
    BallEnsembleClassifier(EnsembleDeepGBRVFLClassifier(n_layers=2), n_estimators=2),
]


@pytest.mark.parametrize("model", SETTINGS, ids=str)
def test_every_setting_that_changes_what_is_computed(model):
    X, y, rows = numbers(3, type(model))
    assert_predicts_the_same(model.set_params(random_state=0).fit(X, y), X, rows)


def graph_values(inputs, write):
    """Return what nodes make of some inputs."""
    graph = Graph(inputs)
    outputs = write(*(graph.input(name) for name in inputs))
    for number, value in enumerate(outputs):
        graph.output(f"y{number}", value, TensorProto.DOUBLE, [None, 1])
    given = {name: values.reshape(-1, 1) for name, values in inputs.items()}
    return [found[:, 0] for found in session_of(graph.model("", {})).run(None, given)]


@pytest.mark.parametrize("name", activation_names())
def test_real_activations_far_out(name):
    z = np.concatenate([np.linspace(-5, 5, 1001), [-1e6, -700, -40, 1e-9, -1e-9, 0.0, 40, 1e6]])
    (found,) = graph_values({"z": z}, lambda value: [ACTIVATIONS[name](value)])
    assert_allclose(found, activate(name, z.copy()), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", complex_activation_names())
def test_complex_activations_far_out_and_at_the_branch_points(name):
    rng = np.random.default_rng(0)
    z = 10.0 ** rng.uniform(-8, 4, 4000) * np.exp(2j * np.pi * rng.random(4000))
    near = 10.0 ** rng.uniform(-12, -1, 4000) * np.exp(2j * np.pi * rng.random(4000))
    z = np.concatenate([z, 1 + near, -1 + near, 1j + near, -1j + near, [0, 0.5, 2, 1, -1]])
    found = graph_values({"x": z.real, "y": z.imag}, lambda *z: complex_activation(name, z))
    wanted = {"acos": np.arccos, "asin": np.arcsin, "asinh": np.arcsinh}[name](z + 0j)
    assert_allclose(found, [wanted.real, wanted.imag], rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("n_rows", [0, 1, 500])
def test_rows_on_a_boundary_go_the_same_way(n_rows):
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 3, (300, 9)).astype(float), rng.integers(0, 3, 300)
    y[X[:, 0] == 1] = 1
    model = BallForestClassifier(random_state=0, n_estimators=20).fit(X, y)
    rows = rng.integers(0, 3, (n_rows, 9)).astype(float)
    _, probabilities = session_of(to_onnx(model, X)).run(None, {"X": rows})
    wanted = model.predict_proba(rows) if n_rows else np.empty((0, 3))
    assert_allclose(probabilities, wanted, rtol=0, atol=1e-15)


# ---- bad cells


def scaled(kind):
    """Return a model of scaled numbers, and its rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3)) * [1, 1e-3, 1]
    model = new(kind)
    y = X[:, 0] if is_regressor(model) else (X[:, 0] + rng.normal(size=80) > 0).astype(int)
    return make_pipeline(TablePreprocessor(), model).fit(X, y), X


@pytest.mark.parametrize("kind", EVERY_MODEL)
def test_a_graph_refuses_what_the_model_refuses(kind):
    pipeline, X = scaled(kind)
    session, alone = session_of(to_onnx(pipeline, X)), session_of(to_onnx(pipeline[-1], X))
    takes_missing_cells = hasattr(kind, "preprocessor_")
    for graph, cell, message in [
        (session, np.inf, NO_INFINITE_INPUT),
        (session, -np.inf, NO_INFINITE_INPUT),
        (session, 1e308, FINITE_AND_FILLED_IN),  # scaled, it is beyond all doubles
        (session, 1e300, None),  # doubles hold it: no input is single precision
        (session, np.nan, None),  # filled in
        (alone, np.nan, None if takes_missing_cells else FINITE_AND_FILLED_IN),
    ]:
        rows = X[:3].copy()
        rows[1, 1] = cell
        if message is None:
            assert np.isfinite(graph.run(None, {"X": rows})[-1]).all()
            continue
        with pytest.raises(InvalidArgument, match=f"Name:'{message}"):
            graph.run(None, {"X": rows})


@pytest.mark.parametrize("kind", EVERY_MODEL)
def test_what_is_too_large_for_a_model_is_refused_or_answered_with_numbers(kind):
    pipeline, X = scaled(kind)
    session, rows = session_of(to_onnx(pipeline[-1], X)), X[:3].copy()
    for cell in (1e155, 1e300, 1.7e308):
        rows[1, 1] = cell
        refusal, answers = "", np.zeros(0)
        try:
            *_, answers = session.run(None, {"X": rows})
        except InvalidArgument as error:
            refusal = str(error)
        assert NO_ANSWER in refusal or not refusal
        assert np.isfinite(answers).all()


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("kind", [RVFLClassifier, RVFLRegressor, CRVFLClassifier])
def test_no_optimiser_removes_a_check(level, kind):
    pipeline, rows = fitted_to_table(kind), new_rows()
    onnx_model = to_onnx(pipeline, rows)
    session, inputs = session_of(onnx_model, level), onnx_inputs(rows, onnx_model)
    expected = pipeline.predict(rows) if is_regressor(pipeline) else pipeline.predict_proba(rows)
    found = session.run(None, inputs)[-1].reshape(expected.shape)
    assert_allclose(found, expected, rtol=0, atol=1e-9)
    inputs["seconds"] = np.where(np.arange(len(rows))[:, None] == 7, np.inf, inputs["seconds"])
    for output in session.get_outputs():
        with pytest.raises(InvalidArgument, match=NO_INFINITE_INPUT):
            session.run([output.name], inputs)


def test_no_rows_give_no_predictions():
    onnx_model = to_onnx(fitted_to_table(RVFLClassifier), new_rows())
    empty = {name: cells[:0] for name, cells in onnx_inputs(new_rows(), onnx_model).items()}
    assert [len(found) for found in session_of(onnx_model).run(None, empty)] == [0, 0]


# ---- what a graph says of itself, and rows as its inputs


def test_metadata_names_version_classes_and_inputs():
    onnx_model = to_onnx(fitted_to_table(RVFLClassifier), new_rows())
    for found in (
        {entry.key: entry.value for entry in onnx_model.metadata_props},
        session_of(onnx_model).get_modelmeta().custom_metadata_map,
    ):
        assert json.loads(found["granulearn_version"]) == onnx_model.producer_version
        assert json.loads(found["model"]) == "RVFLClassifier"
        assert json.loads(found["classes"]) == ["no", "or", "yes"]
        types = {column["name"]: column["type"] for column in json.loads(found["inputs"])}
        assert list(types) == list(new_rows().columns)
        assert types["seconds"] == types["paid"] == "number"
        assert types["city"] == types["code"] == "category"
        assert types["day"] == "date"


def test_inputs_bear_the_names_of_the_columns_and_outputs_give_way():
    graph = to_onnx(fitted_to_table(RVFLClassifier), new_rows()).graph
    names = [value.name for value in graph.input]
    assert [name for name in names if not name.startswith("day: ")] == list(new_rows().columns[:-1])
    assert names[-6:] == [f"day: {part}" for part in DATE_PARTS]
    # The table has a column called "label".
    assert [value.name for value in graph.output] == ["predicted_label", "probabilities"]


def test_columns_may_be_called_as_any_inner_value_is():
    # A forest walks in a loop, whose nodes use values of the graph around it by name.
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"])
    model = BallForestClassifier(n_estimators=20, random_state=0)
    plain = to_onnx(model.fit(X, X["a"] > 0), X).graph
    (loop,) = [node for node in plain.node if node.op_type == "Loop"]
    body = loop.attribute[0].g
    nodes = [*plain.node, *body.node]
    names = [*(name for node in nodes for name in node.output), *(v.name for v in body.input)]
    names += [tensor.name for tensor in plain.initializer]
    wide = pd.DataFrame(rng.normal(size=(60, len(names))), columns=names)
    onnx_model = to_onnx(model.fit(wide, wide[names[0]] > 0), wide)
    onnx.checker.check_model(onnx_model)
    assert [value.name for value in onnx_model.graph.input] == names


def test_rows_become_doubles_texts_and_parts_of_dates():
    X = new_rows().iloc[:3]
    X = X.assign(paid=pd.array([True, None, False], dtype="boolean"), unused=1)
    X["city"] = pd.Categorical(["Graz", None, "Lyon"])
    X["day"] = pd.to_datetime(["2024-02-29", None, "1969-12-31"])
    onnx_model = to_onnx(fitted_to_table(RVFLClassifier), new_rows())
    inputs = onnx_inputs(X[X.columns[::-1]], onnx_model)
    assert set(inputs) == {value.name for value in onnx_model.graph.input}
    assert inputs["city"].ravel().tolist() == ["Graz", "", "Lyon"]
    assert inputs["code"].ravel().tolist() == X["code"].astype(str).tolist()
    assert_array_equal(inputs["paid"].ravel(), [1, np.nan, 0])
    assert_array_equal(inputs["day: day of year"].ravel(), [60, np.nan, 365])
    assert_array_equal(inputs["day: days since 1970"].ravel(), [19782, np.nan, -1])


def test_raw_rows_are_read_by_the_schema_of_the_graph():
    days = pd.date_range("2021-01-01", periods=60)
    raw = {
        "price": [f"{number},50 €" for number in range(60)],
        "day": days.strftime("%d.%m.%Y").tolist(),
        "city": ["Graz", "Lyon", "n/a"] * 20,
    }
    schema = inspect_table(table_of(raw)).schema
    (batch,) = table_of(raw).batches()
    frame = schema.read(batch).to_frame()
    pipeline = make_pipeline(TablePreprocessor(), RVFLClassifier(random_state=0))
    pipeline.fit(frame, ["yes", "no", "no"] * 20)
    onnx_model = to_onnx(pipeline, frame, schema=schema)
    rows = [{"price": "1.169,00 €", "day": "24.12.2021", "city": None}, *frame_rows(raw)[:3]]
    inputs = onnx_inputs(rows, session_of(onnx_model))
    assert inputs["price"].ravel().tolist() == [1169, 0.5, 1.5, 2.5]
    assert inputs["day: month"].ravel().tolist() == [12, 1, 1, 1]
    assert inputs["city"].ravel().tolist() == ["", "Graz", "Lyon", ""]
    found = session_of(onnx_model).run(None, inputs)[1]
    assert_allclose(found[1:], pipeline.predict_proba(frame[:3]), atol=1e-12)
    with pytest.raises(ValueError, match="'price' held numbers of € in training, but here 1 of 1"):
        onnx_inputs([{**rows[0], "price": "dear"}], onnx_model)
    with pytest.raises(ValueError, match=r"lacks 2 of the 3 columns .*: 'day', 'city'"):
        onnx_inputs([{"price": "1,00 €"}], onnx_model)
    with pytest.raises(ValueError, match="text is no table"):
        onnx_inputs("rows.csv", onnx_model)


def frame_rows(columns):
    return pd.DataFrame(columns).to_dict("records")


def test_infinity_is_refused_by_its_column_where_inputs_are_made():
    onnx_model = to_onnx(fitted_to_table(RVFLClassifier), new_rows())
    with pytest.raises(ValueError, match="column 'seconds' holds infinity"):
        onnx_inputs(new_rows().assign(seconds=np.inf), onnx_model)
    pipeline, X = scaled(RVFLClassifier)
    onnx_model = to_onnx(pipeline, X)
    assert np.isnan(onnx_inputs([[0.0, np.nan, 1.0]], onnx_model)["X"][0, 1])
    with pytest.raises(ValueError, match="column 1 holds infinity"):
        onnx_inputs([[0.0, -np.inf, 1.0]], onnx_model)


def test_rows_that_a_graph_cannot_take_are_told():
    onnx_model = to_onnx(fitted_to_table(RVFLClassifier), new_rows())
    with pytest.raises(KeyError, match="'city'"):
        onnx_inputs(new_rows().drop(columns="city"), onnx_model)
    del onnx_model.metadata_props[:]
    with pytest.raises(ValueError, match="does not name its inputs"):
        onnx_inputs(new_rows(), onnx_model)


@pytest.mark.parametrize("kind", [bool, np.int32, float])
def test_labels_that_are_whole_numbers_stay_numbers(kind):
    X, y = make_blobs(60, centers=2, random_state=0)
    model = RVFLClassifier(random_state=0).fit(X, y.astype(kind))
    labels, _ = session_of(to_onnx(model, X)).run(None, {"X": X})
    assert labels.dtype == np.int64
    assert_array_equal(labels, model.predict(X))


@pytest.mark.parametrize("n_targets", [None, 1, 2])
def test_the_output_of_a_regressor_has_a_column_per_target(n_targets):
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 2)), columns=["a", "variable"])
    y = X["a"] if n_targets is None else X.to_numpy()[:, :n_targets]
    (output,) = to_onnx(RVFLRegressor(random_state=0).fit(X, y), X).graph.output
    assert output.name == "predicted_variable"
    assert output.type.tensor_type.elem_type == TensorProto.DOUBLE
    assert output.type.tensor_type.shape.dim[1].dim_value == (n_targets or 1)


def test_a_model_that_was_fitted_to_an_array_takes_the_columns_of_a_frame():
    pipeline, X = scaled(RVFLClassifier)
    graph = to_onnx(pipeline, pd.DataFrame(X, columns=["a", "b", "c"])).graph  # warns of nothing
    assert [value.name for value in graph.input] == ["a", "b", "c"]


def test_a_graph_grows_with_the_categories_and_not_with_their_square():
    X = pd.DataFrame({"street": [f"Straße {number}" for number in range(1000)] * 2})
    pipeline = make_pipeline(TablePreprocessor(max_one_hot=None), RVFLClassifier(n_hidden=5))
    pipeline.set_params(rvflclassifier__random_state=0).fit(X, np.arange(2000) % 3)
    # Names, places, weights of 5 nodes and 3 classes: a few dozen bytes each, not 1000 numbers.
    assert to_onnx(pipeline, X[:50]).ByteSize() < 200 * 1000


# ---- refusals


@pytest.mark.parametrize(
    "model", [LogisticRegression(), RobustClassifier(forest=LogisticRegression())]
)
def test_another_kind_of_model_is_named(model):
    X, y = make_blobs(60, centers=2, random_state=0)
    with pytest.raises(ModelFileError, match="LogisticRegression has no form in ONNX"):
        to_onnx(model.fit(X, y), X)


@pytest.mark.parametrize(
    "steps", [[PCA()], [TablePreprocessor(), PCA()], [TablePreprocessor()] * 2]
)
def test_a_foreign_step_is_told_in_one_line(steps):
    X, y = make_blobs(60, centers=2, random_state=0)
    model = make_pipeline(*steps, RVFLClassifier(random_state=0)).fit(X, y)
    step = type(steps[-1]).__name__
    with pytest.raises(ModelFileError, match=f"{step} and a model cannot be written as ONNX"):
        to_onnx(model, X)


def test_labels_that_onnx_cannot_hold_are_named():
    X, y = make_blobs(60, centers=2, random_state=0)
    model = RVFLClassifier(random_state=0).fit(X, y)
    for labels in ([0.5, 1.5], [0, 2**64 - 1], [0.0, np.inf]):
        model.classes_ = np.array(labels)
        with pytest.raises(ModelFileError, match="neither text nor whole numbers"):
            to_onnx(model, X)


def test_empty_text_as_a_category_is_refused():
    X = pd.DataFrame({"city": ["Graz", ""] * 20})
    pipeline = make_pipeline(TablePreprocessor(), RVFLClassifier(random_state=0))
    with pytest.raises(ModelFileError, match="'city' has the empty text as a category"):
        to_onnx(pipeline.fit(X, [0, 1] * 20), X)


@pytest.mark.parametrize("size", [1e-9, 1e9])
@pytest.mark.parametrize("kind", [RVFLClassifier, RVFLRegressor, BallForestClassifier])
def test_a_model_that_predicts_otherwise_is_not_handed_out(kind, size, monkeypatch):
    X, y, _ = numbers(3, kind)
    model = new(kind).fit(X, y * np.array([size, 1, 1]) if is_regressor(kind()) else y)
    right = models.scores_of
    factors = np.array([1.001, 1.0, 1.0])
    monkeypatch.setattr(models, "scores_of", lambda model, X: right(model, X) * factors)
    with pytest.raises(OnnxMismatchError, match="differ from the pipeline's by up to"):
        to_onnx(model, X)


def test_labels_that_differ_are_infinitely_wrong():
    X, y = make_blobs(80, centers=3, random_state=0)
    model = RVFLClassifier(random_state=0).fit(X, y)
    onnx_model = to_onnx(model, X)
    model.classes_ = np.array([0, 1, 7])
    assert export.largest_difference(model, onnx_model, X) == np.inf


def test_a_constant_is_told_from_numbers_that_lie_far_from_zero(monkeypatch):
    X, y, _ = numbers(1, RVFLRegressor)
    model = RVFLRegressor(random_state=0).fit(X, 1e6 + y / 1e6)
    monkeypatch.setattr(models, "scores_of", lambda model, X: X @ np.zeros((5, 1)) + 1e6)
    with pytest.raises(OnnxMismatchError):
        to_onnx(model, X)


@given(
    exponent=st.integers(-40, 100),  # onnxruntime takes an intercept below 1e-45 for zero
    offset=st.sampled_from([0.0, 1.0, -1e6]),
    n_rows=st.integers(1, 20),
)
def test_the_check_takes_targets_of_any_size(exponent, offset, n_rows):
    X, y, _ = numbers(1, RVFLRegressor)
    model = RVFLRegressor(n_hidden=20, random_state=0).fit(X, (y / 1e6 + offset) * 10.0**exponent)
    # Of an offset of a million times the range, rounding alone is 1e-10 of the range.
    assert export.largest_difference(model, to_onnx(model, X[:n_rows]), X) < 1e-7
