"""Files of regressors, made in Python, on the command line."""

import numpy as np
import onnxruntime
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from granulearn.cli import exit_codes
from granulearn.datasets import make_pipeline_for
from granulearn.estimators import RVFLCommitteeRegressor, RVFLRegressor
from granulearn.models import (
    ModelCard,
    ModelFileError,
    load_model,
    model_files,
    onnx_inputs,
    save_model,
)
from granulearn.tables import open_table, read_training_table
from granulearn.training.trained_model import input_cards
from tests.cli.commands import fails, people, read_exactly, succeeds, write_people

NUMBERS = ["age", "income"]


def spending(X, n_targets):
    """Return one number per person as a vector, or several as a matrix."""
    base = X["age"] * 100 + X["income"].fillna(50)
    Y = np.column_stack([base, np.sqrt(base), -base])
    return Y[:, 0] if n_targets is None else Y[:, :n_targets]


@pytest.fixture(name="saved")
def make_saved(tmp_path):
    """Return a function that fits and saves a regressor: of all columns, or of numbers only."""
    table = write_people(tmp_path)
    data = read_training_table(open_table(table), "label")

    def saved(n_targets=None, *, numbers_only=None):
        path = tmp_path / "spending.skops"
        X = data.X if numbers_only is None else data.X[NUMBERS].fillna(50)
        cards = input_cards(X)
        model = RVFLCommitteeRegressor(n_layers=2, n_hidden=20, random_state=0)
        whole = make_pipeline_for(X, model) if numbers_only is None else numbers_only
        whole.fit(X, spending(X, n_targets))
        save_model(whole, path, ModelCard(model="rvfl-committee", columns=cards, rows=len(X)))
        return table, path, whole.predict(X)

    return saved


@pytest.mark.parametrize("n_targets", [None, 1, 3])
def test_numbers_are_predicted_as_in_python(saved, n_targets, tmp_path):
    table, model, expected = saved(n_targets)
    done = succeeds("predict", model, table, "-o", tmp_path / "out.csv", "--keep", "age")
    assert done.err == ""
    assert done.out.replace("\n", "") == f"120 rows predictedsaved {tmp_path / 'out.csv'}"
    answers = read_exactly(tmp_path / "out.csv")
    names = (
        ["prediction"] if n_targets is None else [f"prediction_{k + 1}" for k in range(n_targets)]
    )
    assert list(answers.columns) == ["age", *names]
    assert_allclose(answers[names].to_numpy(), expected.reshape(120, -1), rtol=1e-12)


def test_parquet_keeps_numbers_to_the_last_bit(saved, tmp_path):
    table, model, expected = saved()
    report = succeeds("predict", model, table, "-o", tmp_path / "out.parquet", "--json").json
    assert report["rows"] == 120
    assert report["predicted"] == {}
    assert_array_equal(pd.read_parquet(tmp_path / "out.parquet")["prediction"], expected)


def test_probabilities_of_numbers_are_refused(saved, tmp_path):
    table, model, _ = saved()
    line = fails(exit_codes.USAGE, "predict", model, table, "-o", tmp_path / "out.csv", "--proba")
    assert line == (
        "granulearn: error: --proba needs a model of classes, and RVFLCommitteeRegressor predicts "
        "numbers; leave out --proba."
    )
    assert not (tmp_path / "out.csv").exists()


ON_NUMBERS = [RVFLRegressor(random_state=0), make_pipeline(StandardScaler(), RVFLRegressor())]


@pytest.mark.parametrize("model", ON_NUMBERS, ids=["alone", "scaled"])
def test_a_model_without_an_imputer_predicts_complete_rows_and_names_missing_cells(
    saved, model, tmp_path
):
    _, file, expected = saved(numbers_only=model)
    complete, output = tmp_path / "complete.csv", tmp_path / "out.csv"
    people(120).fillna({"income": 50}).to_csv(complete, index=False)
    succeeds("predict", file, complete, "-o", output)
    assert_allclose(pd.read_csv(output)["prediction"], expected, rtol=1e-12)
    incomplete = people(20).assign(income=1.0)
    incomplete.loc[7, "income"] = np.nan
    incomplete.to_csv(tmp_path / "incomplete.csv", index=False)
    line = fails(
        exit_codes.BAD_DATA, "predict", file, tmp_path / "incomplete.csv", "-o", tmp_path / "no.csv"
    )
    assert "line 9: column 'income' has a missing cell, and the model fills in none" in line
    assert not (tmp_path / "no.csv").exists()


@pytest.mark.parametrize("verb", ["predict", "export"])
def test_a_card_with_other_columns_than_the_model_is_a_wrong_model(
    saved, verb, tmp_path, monkeypatch
):
    table, model, _ = saved(numbers_only=RVFLRegressor(random_state=0))
    loaded = load_model(model)
    card = ModelCard(columns=loaded.card.columns[:1])
    with pytest.raises(ModelFileError, match="save it with a card of the columns"):
        save_model(loaded.pipeline, model, card)
    with monkeypatch.context() as careless:
        careless.setattr(model_files, "check_card", lambda *_: None)
        save_model(loaded.pipeline, model, card)
    inputs = [table] if verb == "predict" else []
    line = fails(exit_codes.BAD_MODEL, verb, model, *inputs, "-o", tmp_path / "out.csv")
    assert "the columns of the card are not those that the model takes" in line
    assert "save it with a card of the columns that it was fitted to" in line


@pytest.mark.parametrize("n_targets", [None, 3])
def test_the_exported_file_predicts_the_numbers_of_the_model(saved, n_targets, tmp_path):
    _, model, _ = saved(n_targets)
    done = succeeds("export", model, "-o", tmp_path / "m.onnx")
    assert done.err == ""
    assert "500 rows compared with onnxruntime: predictions differ by at most" in done.out
    session = onnxruntime.InferenceSession(tmp_path / "m.onnx", providers=["CPUExecutionProvider"])
    X = people(200, seed=9).drop(columns="label")
    (predictions,) = session.run(None, onnx_inputs(X))
    expected = load_model(model).pipeline.predict(X)
    assert_allclose(predictions, expected.reshape(200, -1), rtol=1e-9)


@pytest.mark.parametrize("model", ON_NUMBERS, ids=["alone", "scaled"])
def test_a_model_without_an_imputer_is_compared_on_complete_rows(saved, model, tmp_path):
    _, file, _ = saved(numbers_only=model)
    report = succeeds("export", file, "-o", tmp_path / "m.onnx", "--json").json
    assert report["rows_compared"] == 500
    assert report["largest_difference"] <= 1e-9
    assert report["inputs"] == NUMBERS
    assert report["outputs"] == ["variable"]
