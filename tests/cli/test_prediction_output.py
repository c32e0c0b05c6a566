"""Prediction in chunks equals prediction at once."""

import pandas as pd
import pytest

from granulearn.cli.prediction_output import predict_file
from granulearn.models import load_model, loaded_model
from granulearn.tables import open_table
from granulearn.tables.io import table_file
from granulearn.tables.io import text as text_io
from granulearn.training.prediction import Predictor
from tests.cli.commands import people


def answers(model, path, folder):
    predictor = Predictor(load_model(model), proba=True, keep=(), strict=False)
    told = []
    with open_table(path) as file:
        n_rows = predict_file(predictor, file, folder / "out.csv", told.append)
    assert told[-1] == n_rows
    return pd.read_csv(folder / "out.csv"), len(told)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_the_size_of_chunks_changes_nothing(fitted, tmp_path, suffix, monkeypatch):
    _, model = fitted
    frame, path = people(2000, seed=5), tmp_path / f"new.{suffix}"
    frame.to_csv(path, index=False) if suffix == "csv" else frame.to_parquet(path)
    whole, n_chunks = answers(model, path, tmp_path)
    monkeypatch.setattr(text_io, "CHUNK_BYTES", 2048)
    monkeypatch.setattr(table_file, "_BATCH_ROWS", 150)
    monkeypatch.setattr(loaded_model, "MAX_ROWS_PER_CHUNK", 64)
    in_chunks, n_more = answers(model, path, tmp_path)
    assert n_more > 20 * n_chunks
    pd.testing.assert_frame_equal(whole, in_chunks, rtol=1e-13)
    assert whole["prediction"].equals(in_chunks["prediction"])
