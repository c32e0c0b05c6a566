"""A loaded model takes rows in every form, and says of each what the command line says."""

import re
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from sklearn.pipeline import make_pipeline

from granulearn import TablePreprocessor
from granulearn.models import (
    ColumnCard,
    LoadedModel,
    ModelCard,
    load_model,
    save_model,
)
from granulearn.rvfl import RVFLClassifier, RVFLRegressor
from granulearn.tables import TableError
from granulearn.tables.schema import TypedRows
from granulearn.training.training import input_cards
from tests.cli.commands import fails_with, read_exactly, succeeds
from tests.models.loaded_models import fitted


@pytest.fixture(name="path", scope="module")
def make_path(table):
    trained, path = fitted(table), table.with_name("people.granulearn")
    save_model(trained.pipeline, path, trained.card)
    return path


@pytest.fixture(name="model", scope="module")
def make_model(path):
    return load_model(path)


@pytest.fixture(name="frame", scope="module")
def make_frame(table):
    return pd.read_csv(table, dtype=str, keep_default_na=False)


def test_rows_of_every_form_get_the_answers_of_the_command_line(model, path, table, frame):
    out = table.with_name("out.csv")
    succeeds("predict", path, table, "--proba", "-o", out)
    written = read_exactly(out)
    rows = frame.to_dict("records")
    forms = [rows, tuple(rows), frame, pl.from_pandas(frame), pa.Table.from_pandas(frame), table]
    forms += [frame.to_dict("list"), pa.RecordBatch.from_pandas(frame)]
    for form in forms:
        assert model.predict(form).tolist() == written["prediction"].tolist()
        found = model.predict_proba(form)
        assert_array_equal(found, written[["probability_no", "probability_yes"]])
    assert model.classes_.tolist() == ["no", "yes"]
    for number in (0, 7):
        assert model.predict(rows[number]).tolist() == [written["prediction"][number]]
        for one in (rows[number], frame.iloc[number]):
            np.testing.assert_allclose(model.predict_proba(one), found[[number]], rtol=1e-12)


@pytest.mark.parametrize("ask", ["predict", "predict_proba", "check"])
def test_a_text_names_no_file(ask, model, table):
    for text in (str(table), "/etc/passwd", "-", ""):
        with pytest.raises(TableError, match=r"^text is no table here; .* as Path\(\.\.\.\)\.$"):
            getattr(model, ask)(text)


def test_numbers_and_dates_may_be_values_of_python(model, frame):
    row = frame.iloc[0].to_dict()
    values = row | {"age": float(row["age"]), "day": pd.Timestamp("2020-01-01"), "member": True}
    assert row["day"] == "01.01.2020"
    assert_array_equal(model.predict_proba(values), model.predict_proba(row))


def test_a_single_row_takes_no_frame(model, frame, monkeypatch):
    monkeypatch.setattr(TypedRows, "to_frame", None)
    assert model.predict_proba(frame.iloc[0].to_dict()).shape == (1, 2)


def test_messages_are_those_of_the_command_line(model, path, table, frame, tmp_path):
    for name, wrong in (
        ("lacking", frame.drop(columns=["income", "price"])),
        ("forms", frame.assign(day="soon", member="perhaps")),
    ):
        file = tmp_path / f"{name}.csv"
        wrong.to_csv(file, index=False)
        lines = fails_with(3, "predict", path, file, "-o", tmp_path / "out.csv")
        with pytest.raises(TableError) as caught:
            model.predict(wrong)
        said = [problem.replace("the table", str(file)) for problem in caught.value.problems]
        places = [re.sub(r"line (\d+)", lambda m: f"row {int(m[1]) - 1}", line) for line in lines]
        assert [line.removeprefix("granulearn: error: ") for line in places] == said
    with pytest.raises(TableError, match="lacks 5 of the 6 columns"):
        model.predict({"age": 1})
    with pytest.raises(TableError, match="is no table"):
        model.predict(3)
    with pytest.raises(TableError, match="no data rows"):
        model.predict(frame.iloc[:0])


def test_surprises_are_warnings_errors_or_nothing_as_is_asked(model, frame):
    row = frame.iloc[0].to_dict() | {"città": "Rom"}
    with pytest.warns(UserWarning, match="first 'Rom' at row 1"):
        model.predict(row)
    assert model.predict(row, warn=False).shape == (1,)
    with pytest.raises(TableError, match="row 1: column 'città' holds 'Rom'"):
        model.predict(row, strict=True)


def test_a_dict_with_any_single_cell_is_one_row(model, frame):
    row = frame.iloc[0].to_dict()
    for nested in ([1], [1, 2], {"a": 1}):
        with pytest.raises(TableError, match="'age' held numbers in training, but here 1 of 1 "):
            model.predict(row | {"age": nested})
        assert_array_equal(model.predict(row | {"tags": nested}), model.predict(row))


def test_a_cell_of_another_form_in_a_single_row_is_an_error(model, frame):
    row = frame.iloc[0].to_dict()
    with pytest.raises(TableError, match="'age' held numbers in training, but here 1 of 1 "):
        model.predict(row | {"age": "old"})
    with pytest.warns(UserWarning, match="'age': 1 cell does not hold numbers"):
        model.predict([row | {"age": "old"}] + [row] * 99)


def test_threads_get_the_answers_of_one(model, frame):
    rows = frame.to_dict("records")
    expected = [model.predict_proba(row) for row in rows]
    odd = rows[0] | {"città": "Rom"}

    def ask(number):
        found = model.check(odd).columns  # another table is read meanwhile
        assert sum(column.n_drifted for column in found) == 1
        return model.predict_proba(rows[number])

    with ThreadPoolExecutor(8) as pool:
        for number, found in enumerate(pool.map(ask, range(len(rows)))):
            assert_array_equal(found, expected[number])


def test_a_model_of_numbers_has_no_probabilities():
    X = pd.DataFrame({"a": np.arange(9.0), "k": pd.Categorical(list("uvw") * 3)})
    pipeline = make_pipeline(TablePreprocessor(), RVFLRegressor(random_state=0)).fit(X, X["a"] ** 2)
    model = LoadedModel(pipeline, ModelCard(columns=input_cards(X)))
    assert_array_equal(model.predict(X), pipeline.predict(X))
    with pytest.raises(AttributeError, match="RVFLRegressor predicts numbers"):
        model.predict_proba(X)


def test_a_model_that_was_fitted_to_an_array_answers_rows_with_names_without_a_warning(tmp_path):
    """Warnings are errors in these tests."""
    X, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]], ["x", "y", "y"]
    model = make_pipeline(TablePreprocessor(), RVFLClassifier(random_state=0)).fit(X, y)
    columns = tuple(ColumnCard(name, "number", lowest=0, highest=2) for name in "ab")
    save_model(model, tmp_path / "m.granulearn", ModelCard(columns=columns))
    rows = [{"b": b, "a": a} for a, b in X]
    assert_array_equal(load_model(tmp_path / "m.granulearn").predict(rows), model.predict(X))
    succeeds("export", tmp_path / "m.granulearn", "-o", tmp_path / "m.onnx")
