"""A model predicts batches of a table as its pipeline predicts the whole of it."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from granulearn.models import LoadedModel, ModelCard
from granulearn.models.prediction import Predictor
from granulearn.rvfl import RVFLClassifier, RVFLRegressor
from granulearn.tables import TableError, open_table
from granulearn.training.training import input_cards
from tests.models.loaded_models import location
from tests.training.small_tables import read


def test_a_batch_gets_what_the_pipeline_gives_and_copied_columns_come_first(loaded, table):
    predictor = Predictor(loaded, proba=True, keep=("prediction", "age"), strict=True)
    with open_table(table) as file:
        predictor.check_columns(file.path, file.names)
        (batch,) = file.batches(predictor.input_names)
    answers = predictor.predict_batch(batch, location)
    names = ["prediction", "age", "prediction", "probability_no", "probability_yes"]
    assert answers.schema.names == names
    assert set(answers.column(0).to_pylist()) == {"mine"}
    X = read(table, ignore=("prediction",)).X
    assert answers.column(2).to_pylist() == loaded.pipeline.predict(X).tolist()
    given = np.column_stack([answers.column(3), answers.column(4)])
    assert_array_equal(given, loaded.pipeline.predict_proba(X))
    assert predictor.counts.total() == len(X)
    assert list(predictor.reader.warnings(location)) == []


def test_only_columns_that_are_used_need_to_be_there(loaded, table):
    predictor = Predictor(loaded)
    used = [column.name for column in loaded.card.schema.used]
    assert predictor.input_names == used
    assert "prediction" not in used
    predictor.check_columns(table, [*used[::-1], "another"])
    assert predictor.ignored_columns([*used, "another", "label"]) == ["another", "label"]


def test_all_columns_that_are_not_there_are_named_at_once(loaded):
    predictor = Predictor(loaded, keep=("Prices",))
    with pytest.raises(TableError) as caught:
        predictor.check_columns("new.csv", ["age", "città", "day", "member", "Preis", "nr"])
    first, second = caught.value.problems
    assert "new.csv lacks 2 of the 6 columns" in first
    assert "'income', 'price'; it has 'Preis', 'nr' instead" in first
    assert "no column 'Prices' (keep=...); did you mean one of ['Preis']" in second


def test_a_model_that_fills_in_nothing_refuses_missing_cells():
    X = pd.DataFrame({"a": [1.0, 2.0, 4.0], "b": [1.0, 5.0, 2.0]})
    model = RVFLClassifier(random_state=0).fit(X, ["u", "v", "u"])
    predictor = Predictor(LoadedModel(model, ModelCard(columns=input_cards(X))))
    batch = pa.RecordBatch.from_pydict({"a": ["1", "2"], "b": ["3", ""]})
    with pytest.raises(TableError, match=r"cannot predict these rows .*NaN.*fill in missing cells"):
        predictor.predict_batch(batch, location)


@pytest.mark.parametrize("n_targets", [1, 2])
def test_a_regressor_predicts_each_of_its_numbers(n_targets):
    X = pd.DataFrame({"a": np.arange(9.0)})
    Y = np.column_stack([X["a"] ** 2, -X["a"]])[:, :n_targets]
    model = RVFLRegressor(random_state=0).fit(X, Y if n_targets > 1 else Y[:, 0])
    predictor = Predictor(LoadedModel(model, ModelCard(columns=input_cards(X))))
    batch = pa.RecordBatch.from_pydict({"a": [str(value) for value in X["a"]]})
    answers = predictor.predict_batch(batch, location)
    names = ["prediction"] if n_targets == 1 else ["prediction_1", "prediction_2"]
    assert answers.schema.names == names
    found = np.column_stack([np.asarray(column) for column in answers.columns])
    assert_array_equal(found, model.predict(X).reshape(9, -1))
