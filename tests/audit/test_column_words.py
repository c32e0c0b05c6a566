"""Features are told as cells of the columns that they come from."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from granulearn.audit.column_words import ColumnWords, Origin, cell_text, origin_of
from granulearn.audit.table_audit import audit_table
from granulearn.tables import read_training_table, table_of


@pytest.mark.parametrize(
    ("name", "column", "part"),
    [
        ("age", "age", ""),
        (("city", "Graz"), "city", "category"),
        ("day: weekday", "day", "weekday"),
        ("day: days since 1970", "day", "days since 1970"),
        ("share of yes by city", "city", "category"),
        ("share of a by b by home city", "home city", "category"),
        ("day: weekday 2", "day: weekday 2", ""),  # no column of the table: told as it is
        ("note: year", "note: year", ""),
        ("height: year", "height: year", ""),
    ],
)
def test_a_feature_belongs_to_the_column_that_it_was_made_from(name, column, part):
    columns = ["age", "city", "home city", "day", "note: year", "note"]
    assert origin_of(name, columns) == Origin(column, part)


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "–"), (np.nan, "–"), ("  ", "–"), (1 / 3, "0.333333"), (5, "5"), (" a ", " a ")],
)
def test_a_cell_is_told_as_its_reader_sees_it(value, text):
    assert cell_text(value) == text


@pytest.fixture
def words():
    table = pd.DataFrame(
        {
            "age": ["71", None, "30"],
            "colour": ["red", "blue", "green"],
            "day": ["1.2.2020", "2.2.2020", "3.2.2020"],
            "member": ["yes", "no", "no"],
        }
    )
    colours = [("colour", colour) for colour in ("blue", "green", "red")]
    names = ["age", "day: weekday", "day: days since 1970", "member", *colours, "extra"]
    X = np.array(
        [
            [2.0, 6, 1, 1, 0, 0, 1, 0.25],
            [0.0, 7, 2, 0, 1, 0, 0, 0.5],
            [-2.0, 1, 3, 0, 0, 1, 0, 0.75],
        ]
    )
    return ColumnWords(X, names, table)


def test_features_of_a_column_are_added(words):
    assert words.columns == ["age", "day", "member", "colour", "extra"]
    assert_allclose(words.by_column(np.arange(8.0)), [0, 3, 3, 15, 7])


@pytest.mark.parametrize(
    ("position", "most", "told"),
    [
        (0, 0, "age 71 (higher)"),
        (2, 0, "age 30 (lower)"),
        (1, 0, "age is missing"),
        (0, 1, "day 1.2.2020 (later in the week)"),
        (0, 2, "day 1.2.2020 (earlier)"),
        (0, 3, "member = yes"),
        (0, 4, "colour = red"),  # never one category of an encoded column
        (0, 6, "colour = red"),
        (1, 7, "extra 0.5"),  # as usual, and in no column of the table
    ],
)
def test_a_column_is_told_once_with_the_own_cell_of_the_row(words, position, most, told):
    features = (np.arange(8) == most).astype(float)
    usual = np.array([0.5, 4, 1.5, 0.4, 0.3, 0.3, 0.4, 0.5])
    assert words.tell(position, int(words.column_of[most]), features, usual) == told


@pytest.mark.parametrize("mark", ["-", "n/a", "unknown"])
def test_a_mark_in_a_column_of_numbers_is_a_missing_cell(mark):
    X = np.array([[1.0], [2.0], [3.0]])
    words = ColumnWords(X, ["height"], pd.DataFrame({"height": ["10", mark, "30"]}))
    assert words.tell(1, 0, np.ones(1), X[0]) == "height is missing"


def test_a_name_that_ends_in_a_digit_stands_apart_from_the_value():
    X = np.array([[1.0], [2.0], [3.0]])
    words = ColumnWords(X, ["f1"], pd.DataFrame({"f1": ["10", "20", "30"]}))
    assert words.tell(0, 0, np.ones(1), X[1]) == "f1 = 10 (lower)"


def test_every_feature_of_an_encoded_table_finds_its_column():
    n = 200
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "price": [f"{value:.2f} €".replace(".", ",") for value in rng.normal(size=n)],
            "day": pd.Timestamp("2020-01-01 10:00")
            + pd.to_timedelta(rng.integers(0, 90000, n), "m"),
            "city": rng.choice(["Graz", "Lyon", "Oslo"], n),
            "zip by hand": [f"Z{k}" for k in rng.integers(0, 60, n)],
            "label": rng.choice(["a", "b", "c by d"], n),
        }
    )
    done = audit_table(
        read_training_table(table_of(frame), "label", keep_cells=True), n_estimators=30
    )
    words = ColumnWords(done.X, done.names, done.shown_cells())
    assert set(words.columns) == {"price", "day", "city", "zip by hand"}
    assert words.tell(0, words.columns.index("city"), np.ones(len(done.names)), done.X[1]) == (
        f"city = {frame['city'][0]}"
    )
