"""`granulearn export`."""

import numpy as np
import onnx
import onnxruntime
import pytest
from numpy.testing import assert_allclose

from granulearn.cli import exit_codes
from granulearn.cli.export import UNKNOWN_CATEGORY, probe_rows
from granulearn.models import (
    ColumnCard,
    ModelCard,
    ModelFileError,
    load_model,
    onnx_inputs,
    save_model,
)
from tests.cli.commands import fails, people, succeeds


def test_the_file_predicts_what_the_model_predicts(fitted, tmp_path):
    _, model = fitted
    report = succeeds("export", model, "-o", tmp_path / "m.onnx", "--json").json
    assert report["largest_difference"] <= 1e-5
    assert report["inputs"] == ["age", "income", "città"]
    session = onnxruntime.InferenceSession(tmp_path / "m.onnx", providers=["CPUExecutionProvider"])
    X = people(200, seed=9).drop(columns="label")
    labels, probabilities = session.run(None, onnx_inputs(X))
    pipeline = load_model(model).pipeline
    assert_allclose(probabilities, pipeline.predict_proba(X), atol=1e-9)
    assert labels.tolist() == pipeline.predict(X).tolist()
    onnx.checker.check_model(str(tmp_path / "m.onnx"))


def test_people_are_told_how_well_it_agrees(fitted, tmp_path):
    _, model = fitted
    assert "500 rows compared" in succeeds("export", model, "-o", tmp_path / "m.onnx").out


def test_a_model_that_would_not_predict_the_same_is_not_written(fitted, tmp_path, monkeypatch):
    _, model = fitted
    monkeypatch.setattr("granulearn.models.onnx_files.largest_difference", lambda *_: 0.1)
    line = fails(exit_codes.BAD_MODEL, "export", model, "-o", tmp_path / "m.onnx")
    assert "differ from the pipeline's by up to 0.1" in line
    assert list(tmp_path.iterdir()) == []


def test_probe_rows_reach_beyond_training_and_have_missing_cells():
    card = ModelCard(
        columns=(
            ColumnCard("n", "number", lowest=10.0, highest=20.0),
            ColumnCard("empty", "number", missing=5),
            ColumnCard("c", "category", categories=("x", "y")),
        )
    )
    rows = probe_rows(card)
    assert rows["n"].min() < 10
    assert rows["n"].max() > 20
    assert rows.isna().any().all()
    assert set(rows["c"].dropna()) == {"x", "y", UNKNOWN_CATEGORY}
    assert np.isfinite(rows["empty"].dropna()).all()
    assert rows.equals(probe_rows(card))


def test_the_widest_range_has_probe_rows():
    card = ModelCard(columns=(ColumnCard("n", "number", lowest=-1.7e308, highest=1.7e308),))
    assert np.isfinite(probe_rows(card, 0.0)).all(axis=None)


def test_of_thousands_of_columns_a_hundred_rows_are_compared():
    few = ModelCard(columns=(ColumnCard("n", "number", lowest=0.0, highest=1.0),))
    assert [len(probe_rows(few, n_made=n)) for n in (9, 8000, 30_000)] == [500, 250, 100]
    columns = [ColumnCard(f"n{k}", "number", lowest=0.0, highest=1.0) for k in range(30_000)]
    assert [len(probe_rows(ModelCard(columns=tuple(columns[:n])))) for n in (9, 8000, 30_000)] == [
        500,
        250,
        100,
    ]


def test_a_model_without_the_columns_of_a_table_is_refused(fitted, tmp_path):
    _, model = fitted
    save_model(load_model(model).pipeline, tmp_path / "m.skops")
    with pytest.raises(ModelFileError, match="without the columns"):
        probe_rows(load_model(tmp_path / "m.skops").card)
    fails(exit_codes.BAD_MODEL, "export", tmp_path / "m.skops", "-o", tmp_path / "m.onnx")
