"""Predictions of a table in parts: those of one file, in a folder."""

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from granulearn.estimators import RVFLClassifier
from granulearn.models import ColumnCard, LoadedModel, ModelCard, load_model, save_model
from granulearn.tables import ColumnOptions, TableError, open_table, read_training_table
from granulearn.training.cluster_prediction import predict_on_cluster
from granulearn.training.prediction import Predictor
from granulearn.training.training import train
from tests.cli.commands import people, write_people


@pytest.fixture(scope="module")
def loaded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    with open_table(write_people(folder)) as file:
        table = read_training_table(file, "label", ColumnOptions())
    trained = train(table, "rvfl", tune=False, test=0.0, seed=0)
    save_model(trained.pipeline, folder / "m.granulearn", trained.card)
    return load_model(folder / "m.granulearn")


def write_parts(folder, frame, cuts=(50, 50)):
    folder.mkdir()
    edges = [0, *cuts, len(frame)]
    for number in range(len(edges) - 1):
        part = frame[edges[number] : edges[number + 1]]
        part.to_parquet(folder / f"{number}.parquet", index=False)
    return folder


def predicted(loaded, path, output, **settings):
    predictor = Predictor(loaded, **settings)
    with open_table(path) as file:
        n_rows = predict_on_cluster(predictor, file, output, lambda _: None)
    return predictor, n_rows


def test_parts_have_the_predictions_of_the_whole_in_their_order(loaded, tmp_path):
    frame = people()
    parts = write_parts(tmp_path / "parts", frame)
    predictor, n_rows = predicted(loaded, parts, tmp_path / "out", proba=True, keep=("age",))
    assert n_rows == 120
    found = pd.read_parquet(tmp_path / "out")
    expected = loaded.pipeline.predict_proba(frame.drop(columns="label"))
    assert np.array_equal(found["age"].astype(float), frame["age"].astype(float), equal_nan=True)
    np.testing.assert_allclose(found.filter(like="probability_"), expected, atol=1e-9)
    assert sum(predictor.counts.values()) == 120
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "part-00000.parquet",
        "part-00002.parquet",
    ]


def test_what_surprises_workers_is_told_once_with_its_rows(loaded, tmp_path):
    frame = people()
    frame.loc[[10, 110], "città"] = "Atlantis"
    parts = write_parts(tmp_path / "parts", frame)
    predictor, _ = predicted(loaded, parts, tmp_path / "out")
    assert predictor.new_categories() == {"città": {"Atlantis": 2}}
    (line,) = predictor.surprises(lambda row: f"row {row + 1}")
    assert "first 'Atlantis' at row 11" in line


def test_a_part_that_cannot_be_read_leaves_no_folder(loaded, tmp_path):
    parts = write_parts(tmp_path / "parts", people())
    people().assign(città="Atlantis").to_parquet(parts / "9.parquet", index=False)
    with pytest.raises(TableError, match="Atlantis"):
        predicted(loaded, parts, tmp_path / "out", strict=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["parts"]


def test_a_cell_of_another_form_is_told_where_a_model_fills_in_none(tmp_path):
    X = pd.DataFrame({"a": [0.0, 1, 2, 3], "b": [1.0, 0, 1, 0]})
    model = make_pipeline(StandardScaler(), RVFLClassifier(random_state=0)).fit(X, [0, 1, 0, 1])
    columns = tuple(ColumnCard(name, "number") for name in X)
    parts = write_parts(tmp_path / "parts", X.astype(str).replace("3.0", "much"), cuts=(2,))
    with pytest.raises(TableError, match="'a' held numbers in training, but here 1 of 2 cells"):
        predicted(LoadedModel(model, ModelCard(columns=columns)), parts, tmp_path / "out")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["parts"]
