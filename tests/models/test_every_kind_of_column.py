"""`fit`, `predict` and ONNX agree on every kind of column, and a card holds no cells."""

import json
import warnings

import numpy as np
import onnxruntime
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.pipeline import make_pipeline

from granulearn import TableClassifier, TablePreprocessor
from granulearn.models import ModelCard, load_model, save_model
from granulearn.rvfl import RVFLClassifier
from granulearn.tables import open_table
from granulearn.tables.schema import joined_rows
from granulearn.training.training import input_cards
from tests.cli.commands import people, succeeds
from tests.models.damage import parts_of
from tests.models.every_kind_of_column import SECRET, every_kind

MODELS = ["rvfl", "gb-rvfl", "robust"]


@pytest.fixture(name="fitted", scope="module", params=MODELS)
def fitted_by_command(request, tmp_path_factory):
    """Return a folder with a model, its ONNX form, new rows and what is predicted for them."""
    folder = tmp_path_factory.mktemp("every kind")
    every_kind().to_csv(folder / "train.csv", index=False, sep=";", encoding="utf-16")
    new = every_kind(seed=1).drop(columns="label")
    new.loc[0, "città"] = "a city that training did not have"
    new.loc[1, "place"] = "a place that training did not have"
    new.to_csv(folder / "new.csv", index=False)
    model = folder / "m.granulearn"
    options = ["--target", "label", "--model", request.param, "--test", 0]
    succeeds("fit", folder / "train.csv", *options, "-o", model)
    succeeds("predict", model, folder / "new.csv", "--proba", "-o", folder / "out.parquet")
    succeeds("export", model, "-o", folder / "m.onnx")
    return folder


def typed_cells(path, schema):
    with open_table(path) as file:
        names = [column.name for column in schema.used]
        return joined_rows([schema.read(batch) for batch in file.batches(names)]).cells


def test_every_kind_of_column_is_there(fitted):
    schema = load_model(fitted / "m.granulearn").card.schema
    kinds = {column.name: column.type for column in schema.used}
    assert kinds == {
        "number": "number",
        "price (€)": "number",
        "duration": "number",
        "share": "number",
        "paid?": "yes/no",
        "day": "date",
        "moment": "date",
        "at": "date",
        "città": "category",
        "place": "category",
        "sign": "category",
    }
    assert [column.name for column in schema.dropped] == ["id", "constant", "note"]


def test_the_command_and_onnx_predict_the_same(fitted):
    card = load_model(fitted / "m.granulearn").card
    cells = typed_cells(fitted / "new.csv", card.schema)
    session = onnxruntime.InferenceSession(fitted / "m.onnx", providers=["CPUExecutionProvider"])
    inputs = {
        column.name: np.asarray(cells[column.name]).reshape(-1, 1)
        if column.type == "number"
        else np.array([cell or "" for cell in cells[column.name].to_pylist()]).reshape(-1, 1)
        for column in card.columns
    }
    assert [one.name for one in session.get_inputs()] == list(inputs)
    labels, probabilities = session.run(None, inputs)
    written = pd.read_parquet(fitted / "out.parquet")
    expected = written[["probability_bad", "probability_good"]].to_numpy()
    assert_allclose(probabilities, expected, rtol=0, atol=1e-9)
    assert labels.tolist() == written["prediction"].tolist()
    with warnings.catch_warnings(record=True, action="always") as caught:
        in_python = TableClassifier.load(fitted / "m.granulearn").predict_proba(fitted / "new.csv")
    said = " ".join(str(one.message) for one in caught)
    assert "'duration': 1 cell does not hold numbers of min, as in training" in said
    assert "'città': 1 cell holds 1 category that training did not have" in said
    assert_array_equal(in_python, expected)


def test_the_card_says_what_each_input_holds(fitted):
    card = load_model(fitted / "m.granulearn").card
    assert all(column.meaning for column in card.columns)
    meanings = {column.name: column.meaning for column in card.columns}
    assert meanings["price (€)"] == "a number of €"
    assert meanings["duration"] == "a number of min"
    assert meanings["share"] == "a number of %"
    assert meanings["paid?"] == "1 for yes, 0 for no"
    assert meanings["at: hour"] == "hours since midnight, with a fraction"
    assert "day: hour" not in meanings
    assert "1970" in meanings["moment: days since 1970"]


def test_a_model_file_holds_no_cell_but_categories_and_null_tokens(fitted):
    content = (fitted / "m.granulearn").read_bytes()
    card = parts_of(content)[0]["card"]
    assert SECRET.encode() not in content
    assert not any({"examples", "failures", "notes"} & set(column) for column in card["schema"])
    # Numbers and dates are in it by their range alone.
    assert "€ " not in json.dumps(card["schema"], ensure_ascii=False)


@pytest.mark.parametrize("with_card", [True, False])
def test_a_pipeline_saved_without_a_schema_still_predicts(with_card, tmp_path):
    X = people()[["age", "income", "città"]].astype({"città": "category"})
    pipeline = make_pipeline(TablePreprocessor(), RVFLClassifier(random_state=0))
    pipeline.fit(X, people()["label"])
    card = ModelCard(columns=input_cards(X)) if with_card else None
    save_model(pipeline, tmp_path / "m.granulearn", card)
    loaded = load_model(tmp_path / "m.granulearn")
    assert loaded.card.schema is None
    assert_array_equal(loaded.pipeline.predict_proba(X), pipeline.predict_proba(X))
    if with_card:
        people().to_csv(tmp_path / "t.csv", index=False)
        succeeds(
            "predict", tmp_path / "m.granulearn", tmp_path / "t.csv", "-o", tmp_path / "o.parquet"
        )
        found = pd.read_parquet(tmp_path / "o.parquet")
        assert found["prediction"].tolist() == pipeline.predict(X).tolist()
