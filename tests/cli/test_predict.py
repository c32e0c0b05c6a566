"""`granulearn predict` and `export`: cells are read as training read them, answers are equal."""

import numpy as np
import onnxruntime
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.pipeline import make_pipeline

from granulearn import TablePreprocessor
from granulearn.cli import exit_codes
from granulearn.cli.export import UNKNOWN_CATEGORY, probe_rows
from granulearn.models import ColumnCard, ModelCard, load_model, onnx_inputs, save_model
from granulearn.rvfl import RVFLEnsembleRegressor, RVFLRegressor
from granulearn.tables import open_table, read_training_table
from granulearn.training.training import input_cards
from tests.cli.commands import fails, people, read_exactly, succeeds, write_people


@pytest.fixture(name="predict")
def make_predict(fitted, tmp_path):
    """Return a function that writes a table, predicts it, and returns the answers."""

    def predict(frame, *options, name="new.csv"):
        if name.endswith("csv"):
            frame.to_csv(tmp_path / name, index=False)
        else:
            frame.to_parquet(tmp_path / name)
        done = succeeds("predict", fitted[1], tmp_path / name, "-o", tmp_path / "out.csv", *options)
        return pd.read_csv(tmp_path / "out.csv"), done

    return predict


def test_predictions_are_those_of_the_model_in_python(fitted, tmp_path):
    table, model = fitted
    succeeds("predict", model, table, "-o", tmp_path / "out.csv", "--proba")
    answers = read_exactly(tmp_path / "out.csv")
    pipeline = load_model(model).pipeline
    X = read_training_table(open_table(table), "label").X
    assert answers["prediction"].tolist() == pipeline.predict(X).tolist()
    written = answers[["probability_no", "probability_yes"]].to_numpy()
    assert_allclose(written, pipeline.predict_proba(X), rtol=1e-12)


def test_formats_the_order_of_columns_and_further_columns_change_nothing(predict, fitted, tmp_path):
    frame = people(50, seed=2)
    first, _ = predict(frame)
    assert first.equals(predict(frame, name="new.parquet")[0])
    succeeds("predict", fitted[1], tmp_path / "new.csv", "-o", tmp_path / "out.parquet")
    assert first.equals(pd.read_parquet(tmp_path / "out.parquet"))
    shuffled = frame[["label", "città", "age", "income"]].assign(more=1)
    second, done = predict(shuffled, "--json")
    assert first.equals(second)
    assert done.json["ignored_columns"] == ["label", "more"]
    assert done.json["rows"] == sum(done.json["predicted"].values()) == 50


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_the_size_of_chunks_changes_nothing(predict, monkeypatch, suffix):
    frame = people(1000, seed=5)
    whole, _ = predict(frame, "--proba", name=f"new.{suffix}")
    monkeypatch.setattr("granulearn.tables.io.text.CHUNK_BYTES", 2048)
    monkeypatch.setattr("granulearn.models.loaded_model.MAX_ROWS_PER_CHUNK", 64)
    in_chunks, _ = predict(frame, "--proba", name=f"new.{suffix}")
    pd.testing.assert_frame_equal(whole, in_chunks, rtol=1e-12)


def test_columns_can_be_copied_along_but_not_replace_what_is_predicted(predict, fitted, tmp_path):
    frame = people(20).assign(id=[f'row "{i}", of 20' for i in range(20)])
    answers, _ = predict(frame, "--keep", "id", "--keep", "age")
    assert answers["id"].tolist() == frame["id"].tolist()
    assert list(answers.columns) == ["id", "age", "prediction"]
    frame.rename(columns={"label": "probability_yes"}).to_csv(tmp_path / "new.csv", index=False)
    command = ["predict", fitted[1], tmp_path / "new.csv", "-o", tmp_path / "no.csv", "--proba"]
    line = fails(exit_codes.USAGE, *command, "--keep", "probability_yes")
    assert "--keep probability_yes: the output has a column of that name already" in line
    assert not (tmp_path / "no.csv").exists()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("age,city\n1,x\n", "trained on: 'income', 'città'; it has 'city' instead"),
        ("age,income,città\n1,2,Graz\nold,3,Lyon\n", "1 of 2 cells do not: 'old' at line 3"),
    ],
)
def test_files_that_do_not_fit_are_named_by_line_or_column(fitted, tmp_path, text, said):
    (tmp_path / "new.csv").write_text(text, encoding="utf-8")
    command = ["predict", fitted[1], tmp_path / "new.csv", "-o", tmp_path / "out.csv"]
    assert said in fails(exit_codes.BAD_DATA, *command)
    assert [path.name for path in tmp_path.iterdir()] == ["new.csv"]


def dirty(folder, **failures):
    """Write 400 rows, some with a cell that is no number."""
    frame = people(400, seed=4).astype({"age": object, "income": object})
    for name, n_cells in failures.items():
        frame.loc[frame.index[7 : 7 + n_cells], name] = "n.b."
    frame.to_csv(folder / "dirty.csv", index=False)
    return folder / "dirty.csv"


def test_a_few_cells_of_another_form_count_as_missing_and_are_noted(fitted, tmp_path):
    table = dirty(tmp_path, age=3, income=1)
    command = ["predict", fitted[1], table, "--proba", "-o"]
    done = succeeds(*command, tmp_path / "out.csv", "--json")
    assert done.json["failures"] == {"age": 3, "income": 1}
    of_age, of_income = done.err.splitlines()
    assert "column 'age': 3 cells" in of_age
    assert "'n.b.' at line 9, 'n.b.' at line 10, 'n.b.' at line 11" in of_age
    assert "column 'income': 1 cell" in of_income
    table.write_text(table.read_text(encoding="utf-8").replace("n.b.", ""), encoding="utf-8")
    succeeds(*command, tmp_path / "empty.csv")
    assert (tmp_path / "out.csv").read_text() == (tmp_path / "empty.csv").read_text()


# --- models of numbers, made in Python


@pytest.fixture(name="saved")
def make_saved(tmp_path):
    """Return a function that fits and saves a regressor: of all columns, or of numbers only."""
    table = write_people(tmp_path)
    data = read_training_table(open_table(table), "label")

    def saved(n_targets=None, *, alone=None):
        X = data.X if alone is None else data.X[["age", "income"]].fillna(50)
        base = X["age"] * 100 + X["income"].fillna(50)
        y = base if n_targets is None else np.column_stack([base, np.sqrt(base), -base])
        model = RVFLEnsembleRegressor(n_estimators=2, n_hidden=20, random_state=0)
        in_pipeline = make_pipeline(TablePreprocessor(), model)
        whole = (in_pipeline if alone is None else alone).fit(X, y)
        card = ModelCard(model="rvfl-ensemble", columns=input_cards(X), rows=len(X))
        save_model(whole, tmp_path / "spending.granulearn", card)
        return table, tmp_path / "spending.granulearn", whole.predict(X)

    return saved


def test_numbers_are_predicted_as_in_python(saved, tmp_path):
    table, model, expected = saved(3)
    done = succeeds("predict", model, table, "-o", tmp_path / "out.csv", "--keep", "age")
    assert (done.err, done.out.splitlines()[0]) == ("", "120 rows predicted")
    answers = read_exactly(tmp_path / "out.csv")
    names = ["prediction_1", "prediction_2", "prediction_3"]
    assert list(answers.columns) == ["age", *names]
    assert_allclose(answers[names].to_numpy(), expected, rtol=1e-12)
    succeeds("predict", model, table, "-o", tmp_path / "out.parquet")
    exact = pd.read_parquet(tmp_path / "out.parquet")[names].to_numpy()
    assert_array_equal(exact, expected)
    line = fails(exit_codes.USAGE, "predict", model, table, "-o", tmp_path / "no.csv", "--proba")
    assert "RVFLEnsembleRegressor predicts numbers; leave out --proba" in line


def test_a_model_without_an_imputer_takes_complete_rows_alone(saved, tmp_path):
    _, file, expected = saved(alone=RVFLRegressor(random_state=0))
    complete, output = tmp_path / "complete.csv", tmp_path / "out.csv"
    people(120).fillna({"income": 50}).to_csv(complete, index=False)
    succeeds("predict", file, complete, "-o", output)
    assert_allclose(pd.read_csv(output)["prediction"], expected, rtol=1e-12)
    incomplete = people(20).assign(income=1.0)
    incomplete.loc[7, "income"] = np.nan
    incomplete.to_csv(complete, index=False)
    line = fails(exit_codes.BAD_DATA, "predict", file, complete, "-o", tmp_path / "no.csv")
    assert "cannot predict these rows (Input X contains NaN); fill in missing cells" in line
    report = succeeds("export", file, "-o", tmp_path / "m.onnx", "--json").json
    assert (report["rows_compared"], report["inputs"]) == (500, ["age", "income"])
    assert report["largest_difference"] <= 1e-9


# --- export


def onnx_answers(path, X):
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    return session.run(None, onnx_inputs(X, session))


def test_the_exported_file_predicts_what_the_model_predicts(fitted, saved, tmp_path):
    report = succeeds("export", fitted[1], "-o", tmp_path / "m.onnx", "--json").json
    assert report["largest_difference"] <= 1e-5
    assert report["inputs"] == ["age", "income", "città"]
    X = people(200, seed=9).drop(columns="label")
    labels, probabilities = onnx_answers(tmp_path / "m.onnx", X)
    pipeline = load_model(fitted[1]).pipeline
    assert_allclose(probabilities, pipeline.predict_proba(X), atol=1e-9)
    assert labels.tolist() == pipeline.predict(X).tolist()
    _, model, _ = saved(3)
    assert "500 rows compared" in succeeds("export", model, "-o", tmp_path / "n.onnx").out
    (numbers,) = onnx_answers(tmp_path / "n.onnx", X)
    assert_allclose(numbers, load_model(model).pipeline.predict(X), rtol=1e-9)


def test_a_model_that_would_not_predict_the_same_is_not_written(fitted, tmp_path, monkeypatch):
    monkeypatch.setattr("granulearn.models.onnx.export.largest_difference", lambda *_: 0.1)
    line = fails(exit_codes.BAD_MODEL, "export", fitted[1], "-o", tmp_path / "m.onnx")
    assert "differ from the pipeline's by up to 0.1" in line
    assert list(tmp_path.iterdir()) == []


def test_probe_rows_reach_beyond_training_and_have_missing_cells():
    columns = (
        ColumnCard("n", "number", lowest=10.0, highest=20.0),
        ColumnCard("empty", "number", missing=5),
        ColumnCard("c", "category", categories=("x", "y")),
    )
    rows = probe_rows(ModelCard(columns=columns))
    assert rows["n"].min() < 10
    assert rows["n"].max() > 20
    assert rows.isna().any().all()
    assert set(rows["c"].dropna()) == {"x", "y", UNKNOWN_CATEGORY}
    assert np.isfinite(rows["empty"].dropna()).all()
    widest = ModelCard(columns=(ColumnCard("n", "number", lowest=-1.7e308, highest=1.7e308),))
    assert np.isfinite(probe_rows(widest, 0.0)).all(axis=None)
    assert [len(probe_rows(widest, n_made=n)) for n in (9, 8000, 30_000)] == [500, 250, 100]
