"""A model predicts batches of a table as its pipeline predicts the whole of it."""

import numpy as np
import pyarrow as pa
import pytest

from granulearn.estimators import RVFLClassifier
from granulearn.learning import prediction
from granulearn.learning.prediction import Predictor
from granulearn.learning.sources import open_source
from granulearn.learning.training import train
from granulearn.learning.training_table import read_training_table
from granulearn.persistence import LoadedModel, ModelCard, ModelFileError
from tests.cli.commands import people


@pytest.fixture(name="table", scope="module")
def make_table(tmp_path_factory):
    path = tmp_path_factory.mktemp("prediction") / "people.csv"
    people().assign(prediction="mine").to_csv(path, index=False)
    return path


@pytest.fixture(name="loaded")
def make_loaded(table):
    data = read_training_table(table, "label", ignore=["prediction"])
    trained = train(data, "rvfl", tune=False, test=0, seed=0)
    return LoadedModel(trained.pipeline, trained.card)


def test_a_batch_gets_what_the_pipeline_gives_and_copied_columns_come_first(loaded, table):
    predictor = Predictor(loaded, proba=True, keep=("prediction", "age"), strict=True)
    source = open_source(table)
    predictor.check_columns(source)
    (batch,) = source.batches(predictor.input_names)
    answers = predictor.predict_batch(batch, source, 0)
    names = ["prediction", "age", "prediction", "probability_no", "probability_yes"]
    assert answers.schema.names == names
    assert set(answers.column(0).to_pylist()) == {"mine"}
    X = read_training_table(table, "label", ignore=["prediction"]).X
    assert answers.column(2).to_pylist() == loaded.pipeline.predict(X).tolist()
    given = np.column_stack([answers.column(3), answers.column(4)])
    np.testing.assert_array_equal(given, loaded.pipeline.predict_proba(X))
    assert predictor.counts.total() == len(X)


def test_unknown_categories_are_counted_by_column(loaded, table):
    predictor = Predictor(loaded, proba=False, keep=(), strict=False)
    cells = {"age": ["30", "40"], "income": ["50", ""], "città": ["Wien", "Graz"]}
    batch = pa.RecordBatch.from_pydict(cells)
    assert predictor.predict_batch(batch, open_source(table), 0).num_rows == 2
    assert predictor.new_categories() == {"città": {"Wien": 1}}
    (said,) = predictor.surprises()
    assert "first 'Wien' at line 2" in said


def test_wide_encodings_get_fewer_rows_at_a_time(loaded):
    predictor = Predictor(loaded, proba=False, keep=(), strict=False)
    assert predictor.rows_per_chunk == prediction.MAX_ROWS_PER_CHUNK
    predictor.pipeline[-1].n_features_in_ = 2**15
    assert predictor.rows_per_chunk == 64


def test_a_model_without_the_columns_of_a_table_is_refused():
    with pytest.raises(ModelFileError, match="without the columns of a table"):
        Predictor(LoadedModel(RVFLClassifier(), ModelCard()), proba=False, keep=(), strict=False)
