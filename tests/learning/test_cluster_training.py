"""Training in parts: the pipeline, the model and the scores of training in memory."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from granulearn.datasets import TableError, make_pipeline_for
from granulearn.learning import table_parts
from granulearn.learning.cluster_training import prepare_from_survey, train_on_cluster
from granulearn.learning.model_kinds import make_model, names_in_parts
from granulearn.learning.table_parts import open_parts
from granulearn.learning.table_survey import make_request, read_rows, survey_part
from granulearn.learning.training import train
from granulearn.learning.training_table import read_training_table
from granulearn.persistence import load_model, save_model
from tests.cli.commands import people, write_people


def in_parts(path, model="rvfl", *, test=0.0, seed=0, **columns):
    parts = open_parts(path)
    asked = make_request(
        parts,
        "label",
        columns.get("categorical", []),
        columns.get("ignore", []),
        test=test,
        seed=seed,
    )
    heard = []
    return train_on_cluster(parts, model, asked, heard.append), heard


def test_the_first_step_learnt_from_a_survey_is_the_one_learnt_from_rows(tmp_path):
    path = write_people(tmp_path)
    table = read_training_table(path, "label")
    expected = make_pipeline_for(table.X).fit(table.X)
    (part,) = open_parts(path).parts
    asked = make_request(open_parts(path), "label", [], [], test=0.0, seed=0)
    prepare = prepare_from_survey(survey_part(part, 0, asked).columns)
    assert_allclose(prepare.transform(table.X), expected.transform(table.X), rtol=1e-12, atol=1e-12)
    assert_array_equal(prepare.get_feature_names_out(), expected[0].get_feature_names_out())


def test_a_constant_and_an_empty_column_are_no_harm(tmp_path):
    frame = people().assign(constant=0.1, empty=np.nan)
    frame.to_csv(tmp_path / "t.csv", index=False)
    trained, _ = in_parts(tmp_path / "t.csv")
    features = trained.pipeline[0].transform(read_training_table(tmp_path / "t.csv", "label").X)
    assert np.isfinite(features).all()
    assert_allclose(features[:, [2, 3]], 0, atol=1e-9)


@pytest.mark.parametrize("model", names_in_parts())
def test_one_part_gives_the_model_of_training_in_memory(tmp_path, model):
    path = write_people(tmp_path)
    table = read_training_table(path, "label")
    trained, _ = in_parts(path, model)
    expected = make_pipeline_for(table.X, make_model(model, 0)).fit(table.X, table.y)
    assert_allclose(
        trained.pipeline.predict_proba(table.X), expected.predict_proba(table.X), atol=1e-6
    )
    assert type(trained.pipeline[-1]) is type(expected[-1])


def test_the_model_is_an_ordinary_file_with_an_honest_card(tmp_path, monkeypatch):
    monkeypatch.setattr(table_parts, "CSV_PART_BYTES", 600)
    path = write_people(tmp_path)
    assert len(open_parts(path).parts) > 3
    trained, heard = in_parts(path, "gb-rvfl", test=0.3, seed=2)
    save_model(trained.pipeline, tmp_path / "m.skops", trained.card)
    loaded = load_model(tmp_path / "m.skops")
    card = loaded.card
    assert card.model == "gb-rvfl"
    assert card.rows + card.scores["held_out"]["rows"] == 120
    assert sum(card.classes.values()) == card.rows
    assert card.balls == len(trained.pipeline[-1].balls_)
    assert card.scores["held_out"]["accuracy"] > 0.7
    assert "cross_validated" not in card.scores
    table = read_training_table(path, "label")
    assert_array_equal(loaded.pipeline.predict(table.X), trained.pipeline.predict(table.X))
    assert [text.split()[0] for text in heard] == ["looking", "fitting", "scoring"]


def test_labels_that_are_whole_numbers_stay_numbers(tmp_path):
    frame = people()
    frame["label"] = (frame["label"] == "yes").astype(int) + 7
    frame.to_parquet(tmp_path / "t.parquet", row_group_size=40)
    trained, _ = in_parts(tmp_path)
    assert_array_equal(trained.pipeline.classes_, [7, 8])
    assert set(trained.card.classes) == {"7", "8"}


def test_what_a_model_cannot_be_fitted_to_is_a_fact_about_the_table(tmp_path):
    pd.DataFrame({"x": [1.0, 2.0], "label": ["a", "a"]}).to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(TableError, match="is 'a' in every row that has one"):
        in_parts(tmp_path / "t.csv")


def test_too_few_rows_to_hold_out_are_the_error_of_training_in_memory(tmp_path):
    path = tmp_path / "t.csv"
    people()[:20].to_csv(path, index=False)
    with pytest.raises(TableError, match="rows cannot be split into") as in_memory:
        train(read_training_table(path, "label"), "rvfl", tune=False, test=0.01, seed=0)
    with pytest.raises(TableError) as parts:
        in_parts(path, test=0.01)
    assert str(parts.value) == str(in_memory.value)


def test_no_row_held_out_by_chance_is_an_error_and_no_score(tmp_path):
    path = tmp_path / "t.csv"
    people()[:20].to_csv(path, index=False)
    table = open_parts(path)
    for seed in range(200):
        asked = make_request(table, "label", [], [], test=0.1, seed=seed)
        if not read_rows(table.parts[0], 0, asked).held_out.any():
            break
    with pytest.raises(TableError, match="20 rows cannot be split into"):
        in_parts(path, test=0.1, seed=seed)


def test_a_column_of_many_categories_gets_in(tmp_path):
    frame = people()
    frame["street"] = [f"street {k % 60}" for k in range(len(frame))]
    frame.to_csv(tmp_path / "t.csv", index=False)
    trained, _ = in_parts(tmp_path / "t.csv")
    table = read_training_table(tmp_path / "t.csv", "label")
    assert trained.pipeline.score(table.X, table.y) > 0.8
