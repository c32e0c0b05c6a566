"""Training: honest scores of the model that is kept."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, balanced_accuracy_score, confusion_matrix, f1_score
from sklearn.model_selection import train_test_split

from granulearn.models import ColumnCard
from granulearn.tables import TableError
from granulearn.training.model_kinds import model_kinds
from granulearn.training.training import input_cards, train
from tests.cli.commands import write_people
from tests.training.small_tables import read, write_labels


@pytest.fixture(name="table")
def people_table(tmp_path):
    return read(write_people(tmp_path))


def test_the_model_kept_is_the_model_scored_and_has_not_seen_the_rows_held_out(table):
    trained = train(table, "gb-rvfl", tune=False, test=0.25, seed=3)
    rows = np.arange(len(table.y))
    _, held_out = train_test_split(rows, test_size=0.25, stratify=table.y, random_state=3)
    predicted = trained.pipeline.predict(table.X.iloc[held_out])
    scores = trained.card.scores["held_out"]
    true = table.y[held_out]
    assert scores["accuracy"] == accuracy_score(true, predicted)
    assert scores["balanced accuracy"] == balanced_accuracy_score(true, predicted)
    assert scores["macro F1"] == f1_score(true, predicted, average="macro")
    expected = confusion_matrix(true, predicted).tolist()
    assert scores["confusion"] == {"classes": ["no", "yes"], "counts": expected}
    assert (
        trained.card.rows
        == len(rows) - len(held_out)
        == len(trained.pipeline[-1].balls_.assignment)
    )


@pytest.mark.parametrize("name", model_kinds())
def test_every_kind_of_model_trains_and_without_a_test_part_uses_every_row(table, name):
    card = train(table, name, tune=False, test=0, seed=0).card
    assert card.model == name
    assert 0 < card.scores["cross_validated"]["accuracy"]["mean"] <= 1
    assert "held_out" not in card.scores
    assert card.rows == len(table.y) == sum(card.classes.values())


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
    assert trained.card.doubted_labels == np.sum(trained.pipeline[-1].label_quality_ < 0.5) > 0


@pytest.mark.parametrize(("name", "shown"), [("rvfl-ensemble", True), ("rvfl", False)])
def test_what_leave_one_out_chose_is_on_the_card(table, name, shown):
    trained = train(table, name, tune=False, test=0, seed=0)
    last = trained.pipeline[-1]
    assert trained.card.chosen == ({"C": last.C_, "activation": last.activation_} if shown else {})
    assert trained.card.doubted_labels is None


def test_tuning_keeps_the_winner_of_the_grid_as_a_plain_pipeline(table, monkeypatch):
    grid = {"model__C": [1e-9, 10.0], "model__n_hidden": [20]}
    monkeypatch.setattr("granulearn.training.training.search_grid", lambda name: grid)
    trained = train(table, "rvfl", tune=True, test=0.3, seed=0)
    assert trained.card.parameters["C"] == 10.0
    assert trained.card.parameters["n_hidden"] == 20
    assert type(trained.pipeline).__name__ == "Pipeline"


@pytest.mark.parametrize(
    ("labels", "settings", "said"),
    [
        ("a" * 20 + "bbb", {"test": 0.3, "tune": True}, "class b has 3 rows.*leave out tune=True"),
        ("a" * 20 + "b", {"test": 0, "tune": True}, "class b has 1 row, and 4 are.*out tune=True"),
        ("abcabcab", {"test": 0.1, "tune": False}, "8 rows cannot be split into 0.9 and 0.1"),
        ("ab", {"test": 0.5, "tune": False}, "2 rows cannot be split .* all 2 classes"),
    ],
)
def test_classes_too_small_for_the_request_are_named(tmp_path, labels, settings, said):
    table = read(write_labels(tmp_path, labels))
    with pytest.raises(TableError, match=said):
        train(table, "rvfl", seed=0, **settings)


@pytest.mark.filterwarnings("ignore:.* is the majority of no ball")
@pytest.mark.parametrize(("name", "seed"), [("robust", 0), ("gb-rvfl", 1), ("gb-rvfl", 2)])
def test_the_only_row_of_a_class_is_learned_from_and_never_held_out(tmp_path, name, seed):
    table = read(write_labels(tmp_path, "ab" * 12 + "c" + "ba" * 12))
    card = train(table, name, tune=False, test=0.3, seed=seed).card
    assert card.classes["c"] == 1
    assert card.scores["held_out"]["rows"] == round(0.3 * 48 + 0.5)
    assert sum(card.scores["held_out"]["confusion"]["counts"][2]) == 0
    assert card.scores["cross_validated"]["folds"] == 5


def test_why_a_model_cannot_be_fitted_is_a_fact_about_the_table(table, monkeypatch):
    def refuse(*arguments):
        raise ValueError("every ball has membership zero; use another membership.")

    monkeypatch.setattr("granulearn.rvfl.RVFLClassifier.fit", refuse)
    with pytest.raises(TableError, match=r"rvfl cannot be fitted to this table: every ball"):
        train(table, "rvfl", tune=False, test=0, seed=0)


@pytest.mark.filterwarnings("ignore:boosted trees are left out")
@pytest.mark.parametrize("name", ["robust", "rvfl"])
def test_classes_of_a_single_row_each_train_without_scores(tmp_path, name):
    table = read(write_labels(tmp_path, "xyz"))
    assert train(table, name, tune=False, test=0, seed=0).card.scores == {}


def test_inputs_are_told_with_their_range_or_categories_and_what_is_missing():
    X = pd.DataFrame(
        {
            "n": [2.5, np.nan, -1.0, 7.0],
            "none": [np.nan] * 4,
            "c": pd.Categorical(["u", None, "é", "u"], categories=["u", "unused", "é"]),
        }
    )
    assert input_cards(X) == (
        ColumnCard("n", "number", missing=1, lowest=-1.0, highest=7.0),
        ColumnCard("none", "number", missing=4),
        ColumnCard("c", "category", missing=1, categories=("u", "é")),
    )


def test_the_card_says_what_the_inputs_of_parsed_columns_hold(tmp_path):
    path = tmp_path / "t.csv"
    rows = "".join(
        f"{n % 7},{n % 9} €,0{n % 9 + 1}.05.2020 0{n % 8}:30,{'ab'[n % 2]}\n" for n in range(40)
    )
    path.write_text("n,price,day,label\n" + rows)
    card = train(read(path), "rvfl", tune=False, test=0, seed=0).card
    meaning = {column.name: column.meaning for column in card.columns}
    assert meaning["n"] == "a number"
    assert meaning["price"] == "a number of €"
    assert meaning["day: weekday"] == "1 for Monday to 7 for Sunday"
