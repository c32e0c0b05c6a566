"""Scores from counts, and the card of a fitted model."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import accuracy_score, balanced_accuracy_score, confusion_matrix, f1_score

from granulearn import GBRVFLClassifier, RVFLClassifier
from granulearn.models import ColumnCard, ModelCard, load_model, save_model
from granulearn.tables import Column, Schema, TableError
from granulearn.tables.parse.dates import DateForm
from granulearn.tables.parse.numbers import NumberForm
from granulearn.training.trained_model import (
    cannot_be_split,
    input_cards,
    make_card,
    scores_of_confusion,
    told_to_users,
)


@pytest.mark.parametrize("seed", range(20))
def test_scores_from_counts_are_scikit_learns_to_the_last_bit(seed):
    rng = np.random.default_rng(seed)
    true = rng.integers(0, 3, 200)
    predicted = np.where(rng.random(200) < 0.7, true, rng.integers(0, 4, 200))
    classes = np.arange(5)  # class 4 does not occur
    scores = scores_of_confusion(confusion_matrix(true, predicted, labels=classes), classes)
    assert scores["rows"] == 200
    assert scores["accuracy"] == accuracy_score(true, predicted)
    assert scores["macro F1"] == f1_score(true, predicted, average="macro")
    with pytest.warns(UserWarning, match="y_pred contains classes not in y_true"):
        assert scores["balanced accuracy"] == balanced_accuracy_score(true, predicted)


def test_the_card_counts_the_rows_of_each_class_in_the_order_of_the_model():
    X, y = load_iris(return_X_y=True)
    model = GBRVFLClassifier(random_state=0).fit(X[5:], y[5:])
    card = make_card("gb-rvfl", model, Counter(map(str, y[5:][::-1])), target="kind", seed=0)
    assert list(card.classes.items()) == [("0", 45), ("1", 50), ("2", 50)]
    assert (card.rows, card.balls, card.chosen) == (145, len(model.balls_), {})
    assert (card.target, card.seed) == ("kind", 0)
    assert card.parameters == model.get_params()


def test_the_card_says_what_the_inputs_of_parsed_columns_hold():
    X, y = load_iris(return_X_y=True)
    model = GBRVFLClassifier(random_state=0).fit(X, y)
    schema = Schema(
        (
            Column("n", "number"),
            Column("price", "number", number=NumberForm(",", "€")),
            Column("paid", "yes/no"),
            Column("day", "date", date=DateForm("dotted", has_clock=True)),
            Column("at", "date", date=DateForm("clock")),
            Column("city", "category"),
            Column("id", "number", dropped="ID"),
        )
    )
    names = [name for column in schema.used for name in column.feature_names]
    cards = tuple(ColumnCard(name, "number") for name in names)
    card = make_card("gb-rvfl", model, Counter(), columns=cards, schema=schema)
    assert {column.name: column.meaning for column in card.columns} == {
        "n": "a number",
        "price": "a number of €",
        "paid": "1 for yes, 0 for no",
        "day: year": "a whole number",
        "day: month": "1 to 12",
        "day: day of year": "1 to 366",
        "day: weekday": "1 for Monday to 7 for Sunday",
        "day: hour": "hours since midnight, with a fraction",
        "day: days since 1970": "days since 1970-01-01 in UTC, with a fraction",
        "at: hour": "hours since midnight, with a fraction",
        "city": "a category",
    }
    assert card.schema == schema


def test_a_value_error_becomes_a_fact_about_the_table():
    said = r"^rvfl cannot be fitted to this table: odd\. Another"
    with pytest.raises(TableError, match=said), told_to_users("rvfl"):
        raise ValueError("odd.")


def test_what_cannot_be_split_says_so_with_the_way_out():
    assert "8 rows cannot be split into 0.9 and 0.1" in str(cannot_be_split(8, 3, 0.1))
    assert "pass test=0." in str(cannot_be_split(8, 3, 0.1))


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


def test_of_many_classes_the_largest_confusions_are_kept_and_fit_into_a_file(tmp_path):
    n = 800
    classes = [f"class {number}" for number in range(n)]
    counts = 50 * np.eye(n, dtype=int)
    counts[3, 5], counts[7, 2] = 2, 9
    scores = scores_of_confusion(counts, classes)
    assert scores["confusion"] == {
        "classes": classes,
        "largest": [
            {"true": "class 7", "predicted": "class 2", "rows": 9},
            {"true": "class 3", "predicted": "class 5", "rows": 2},
        ],
    }
    X = np.arange(2.0 * n)[:, None]
    model = RVFLClassifier(n_hidden=3, random_state=0).fit(X, np.repeat(classes, 2))
    save_model(model, tmp_path / "m.skops", ModelCard(scores={"held_out": scores}))
    assert load_model(tmp_path / "m.skops").card.scores["held_out"] == scores


def test_of_many_classes_a_hundred_confusions_are_kept():
    counts = np.full((101, 101), 3)
    confusion = scores_of_confusion(counts, range(101))["confusion"]
    assert len(confusion["largest"]) == 100
    assert all(one["true"] != one["predicted"] for one in confusion["largest"])
    assert scores_of_confusion(counts[1:, 1:], range(100))["confusion"]["counts"][0] == [3] * 100
