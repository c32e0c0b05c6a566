"""The columns of a table are the inputs of a graph, however skl2onnx was shown them."""

import numpy as np
import onnx
import pandas as pd
import pytest
import skl2onnx
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler

from granulearn.models import onnx_columns, onnx_inputs, to_onnx
from granulearn.models.onnx_columns import graph_inputs
from granulearn.rvfl import RVFLClassifier
from tests.models.fitted_pipelines import fitted_pipeline, mixed_table
from tests.models.test_onnx_converters import run


@pytest.fixture
def shown(monkeypatch):
    """Return the list of inputs that skl2onnx is shown, filled when it converts."""
    seen, convert = [], skl2onnx.convert_sklearn

    def watched(*arguments, **settings):
        seen.extend(settings["initial_types"])
        return convert(*arguments, **settings)

    monkeypatch.setattr(skl2onnx, "convert_sklearn", watched)
    return seen


@pytest.fixture
def one_by_one(monkeypatch):
    """Return a function that exports with every column shown to skl2onnx by itself: the oracle."""

    def export(pipeline, rows):
        with monkeypatch.context() as patched:
            patched.setattr(onnx_columns, "_parts", lambda *_: None)
            return to_onnx(pipeline, rows)

    return export


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


def test_infinity_is_refused_by_its_column_where_inputs_of_the_graph_are_made():
    _, rows = fitted_pipeline(RVFLClassifier)
    rows.loc[rows.index[0], "income"] = np.inf
    with pytest.raises(ValueError, match="column 'income' holds infinity"):
        onnx_inputs(rows)


def test_infinity_in_an_array_is_refused_by_its_column():
    assert np.isnan(onnx_inputs([[0.0, np.nan]])["X"][0, 1])
    with pytest.raises(ValueError, match="column 1 holds infinity"):
        onnx_inputs([[0.0, 1.0], [0.0, -np.inf]])


def test_skl2onnx_is_shown_one_matrix_for_each_part_of_the_first_step(shown):
    # It looks for each name among all inputs, so that wide tables took minutes.
    pipeline, rows = fitted_pipeline(RVFLClassifier)
    to_onnx(pipeline, rows)
    assert [(name, kind.shape) for name, kind in shown] == [
        ("columns_0", [None, 3]),
        ("columns_1", [None, 2]),
    ]


def test_joined_columns_give_the_inputs_and_predictions_of_columns_one_by_one(one_by_one):
    pipeline, rows = fitted_pipeline(RVFLClassifier, 3)
    joined, separate = to_onnx(pipeline, rows), one_by_one(pipeline, rows)
    assert list(joined.graph.input) == list(separate.graph.input)
    assert list(joined.graph.output) == list(separate.graph.output)
    for ours, theirs in zip(run(joined, rows), run(separate, rows), strict=True):
        assert_array_equal(ours, theirs)


NUMBERS, TEXTS = ["income", "température (°C)"], ["label", "city"]


def column_steps():
    """Return first steps of many kinds, each with whether its columns can be joined."""
    one_hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return {
        "in another order, twice, and some not at all": (True, ColumnTransformer(
            [("a", StandardScaler(), NUMBERS), ("t", one_hot, TEXTS),
             ("b", "passthrough", ["always the same", "income"]), ("c", "drop", ["label"])])),
        "by place": (False, ColumnTransformer(
            [("a", StandardScaler(), [1, 0]), ("t", one_hot, TEXTS)])),
        "by slice": (False, ColumnTransformer(
            [("a", StandardScaler(), NUMBERS), ("b", "passthrough", slice(0, 2))])),
    }  # fmt: skip


@pytest.mark.parametrize("kind", column_steps())
def test_any_first_step_predicts_what_the_pipeline_does(kind):
    X, y = mixed_table()
    X = X.fillna({"income": 50_000, "city": "Graz"})
    joined, step = column_steps()[kind]
    pipeline = make_pipeline(step, RVFLClassifier(random_state=0)).fit(X, y)
    assert (graph_inputs(pipeline, X).matrices is not None) == joined
    assert_allclose(run(to_onnx(pipeline, X), X)[1], pipeline.predict_proba(X), atol=1e-12)


def test_columns_of_two_types_are_not_joined():
    X, _ = mixed_table()
    step = ColumnTransformer([("all", OneHotEncoder(), ["label", "always the same"])]).fit(X)
    inputs = graph_inputs(step, X)
    assert inputs.matrices is None
    assert [name for name, _ in inputs.shown] == list(X.columns)


def test_a_column_may_be_called_as_an_inner_value_is():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 3)), columns=["columns_0", "column 2", "probabilities"])
    prepare = ColumnTransformer([("all", StandardScaler(), list(X.columns))])
    pipeline = make_pipeline(prepare, RVFLClassifier(random_state=0)).fit(X, X["column 2"] > 0)
    assert_allclose(run(to_onnx(pipeline, X), X)[1], pipeline.predict_proba(X), atol=1e-12)


def test_rows_of_any_types_of_numbers_become_doubles():
    rows = pd.DataFrame({"a": [1, 2], "b": [True, False], "c": np.float32([0.5, 2])})
    rows["d"] = pd.array([3, 4], dtype="Int64")
    rows["e"] = pd.Categorical(["x", None])
    inputs = onnx_inputs(rows)
    assert {name: cells.ravel().tolist() for name, cells in inputs.items()} == {
        "a": [1.0, 2.0], "b": [1.0, 0.0], "c": [0.5, 2.0], "d": [3.0, 4.0], "e": ["x", ""],
    }  # fmt: skip
    assert all(cells.dtype == np.float64 for name, cells in inputs.items() if name != "e")
    assert list(inputs) == list(rows.columns)


def test_a_pipeline_inside_of_another_takes_its_columns_by_name():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 4)), columns=list("abcd"))
    parts = [("one", StandardScaler(), ["c", "d"]), ("two", MinMaxScaler(), ["a"])]
    inner = make_pipeline(ColumnTransformer(parts), StandardScaler())
    pipeline = make_pipeline(inner, RVFLClassifier(random_state=0)).fit(X, X["c"] > X["a"])
    names = [value.name for value in to_onnx(pipeline, X).graph.input]  # raises if it differs
    assert names == list("abcd")
