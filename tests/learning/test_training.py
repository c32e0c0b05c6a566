"""Training: honest scores of the model that is kept."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, confusion_matrix
from sklearn.model_selection import train_test_split

from granulearn.datasets import TableError
from granulearn.learning.model_kinds import model_kinds
from granulearn.learning.training import train
from granulearn.learning.training_table import read_training_table
from tests.cli.commands import people, write_people


@pytest.fixture(name="table")
def people_table(tmp_path):
    return read_training_table(write_people(tmp_path), "label")


def test_the_model_kept_is_the_model_scored_and_has_not_seen_the_rows_held_out(table):
    trained = train(table, "gb-rvfl", tune=False, test=0.25, seed=3)
    rows = np.arange(len(table.y))
    _, held_out = train_test_split(rows, test_size=0.25, stratify=table.y, random_state=3)
    predicted = trained.pipeline.predict(table.X.iloc[held_out])
    scores = trained.card.scores["held_out"]
    assert scores["accuracy"] == accuracy_score(table.y[held_out], predicted)
    expected = confusion_matrix(table.y[held_out], predicted).tolist()
    assert scores["confusion"] == {"classes": ["no", "yes"], "counts": expected}
    assert (
        trained.card.rows
        == len(rows) - len(held_out)
        == len(trained.pipeline[-1].balls_.assignment)
    )


def test_without_a_test_part_every_row_is_used(table):
    card = train(table, "rvfl", tune=False, test=0, seed=0).card
    assert card.rows == len(table.y)
    assert "held_out" not in card.scores
    assert card.balls is None
    assert sum(card.classes.values()) == len(table.y)


@pytest.mark.parametrize("name", model_kinds())
def test_every_kind_of_model_trains(table, name):
    card = train(table, name, tune=False, test=0.3, seed=0).card
    assert card.model == name
    assert 0 < card.scores["cross_validated"]["accuracy"]["mean"] <= 1


def test_the_same_seed_is_the_same_model(table):
    first, second = (train(table, "robust", tune=False, test=0.3, seed=5) for _ in range(2))
    assert first.card == second.card
    np.testing.assert_array_equal(
        first.pipeline.predict_proba(table.X), second.pipeline.predict_proba(table.X)
    )


@pytest.mark.parametrize("name", ["robust", "ball-forest"])
def test_doubted_labels_are_those_with_a_more_probable_one(table, name):
    trained = train(table, name, tune=False, test=0, seed=0)
    # With two classes, the other one is more probable where this one is below one half.
    assert trained.card.doubted_labels == np.sum(trained.pipeline[-1].reliability_ < 0.5) > 0


@pytest.mark.parametrize(("name", "shown"), [("rvfl-committee", True), ("rvfl", False)])
def test_what_leave_one_out_chose_is_on_the_card(table, name, shown):
    trained = train(table, name, tune=False, test=0, seed=0)
    last = trained.pipeline[-1]
    assert trained.card.chosen == ({"C": last.C_, "activation": last.activation_} if shown else {})
    assert trained.card.doubted_labels is None


def test_tuning_keeps_the_winner_of_the_grid_as_a_plain_pipeline(table, monkeypatch):
    grid = {"model__C": [1e-9, 10.0], "model__n_hidden": [20]}
    monkeypatch.setattr("granulearn.learning.training.search_grid", lambda name: grid)
    trained = train(table, "rvfl", tune=True, test=0.3, seed=0)
    assert trained.card.parameters["C"] == 10.0
    assert trained.card.parameters["n_hidden"] == 20
    assert type(trained.pipeline).__name__ == "Pipeline"


@pytest.mark.parametrize(
    ("labels", "settings", "said"),
    [
        ("a" * 20 + "b", {"test": 0.3, "tune": False}, "class b has 1 row.*--test 0"),
        ("a" * 20 + "bbb", {"test": 0.3, "tune": True}, "class b has 3 row.*leave out --tune"),
        ("abcabcab", {"test": 0.1, "tune": False}, "8 rows cannot be split into 0.9 and 0.1"),
    ],
)
def test_classes_too_small_for_the_request_are_named(tmp_path, labels, settings, said):
    rows = "".join(f"{i},{label}\n" for i, label in enumerate(labels))
    (tmp_path / "t.csv").write_text("a,label\n" + rows)
    table = read_training_table(tmp_path / "t.csv", "label")
    with pytest.raises(TableError, match=said):
        train(table, "rvfl", seed=0, **settings)


def test_why_a_model_cannot_be_fitted_is_a_fact_about_the_table(table, monkeypatch):
    def refuse(*arguments):
        raise ValueError("every ball has membership zero; use another membership.")

    monkeypatch.setattr("granulearn.estimators.RVFLClassifier.fit", refuse)
    with pytest.raises(TableError, match=r"rvfl cannot be fitted to this table: every ball"):
        train(table, "rvfl", tune=False, test=0, seed=0)


@pytest.mark.parametrize("name", ["robust", "rvfl"])
def test_a_single_row_of_a_class_trains_without_cross_validation(tmp_path, name):
    (tmp_path / "t.csv").write_text("a,label\n1,x\n2,x\n3,x\n9,y\n")
    table = read_training_table(tmp_path / "t.csv", "label")
    assert train(table, name, tune=False, test=0, seed=0).card.scores == {}


def test_labels_can_be_learnt_at_all():
    frame = people(400)
    assert 0.3 < (frame["label"] == "yes").mean() < 0.7
