"""What rows hold that training did not is counted, column by column."""

import json

import numpy as np
import pandas as pd
import pytest

from granulearn.models import ColumnCheck, RowsCheck


def test_training_rows_are_as_in_training(loaded, table):
    found = loaded.check(table)
    assert found.rows == 120
    assert found.drifted == ()
    assert str(found) == "120 rows: all cells are as in training."
    assert [column.name for column in found.columns] == list(loaded.inputs.names)
    by_name = {column.name: column for column in found.columns}
    assert by_name["città"].missing_in_training == by_name["città"].missing


def test_every_kind_of_drift_is_counted_in_its_column(loaded, table):
    rows = pd.read_csv(table, dtype=str, keep_default_na=False).iloc[:10].copy()
    rows["age"] = ["-1", "2", "999", "1e6", "", "soon", *["30"] * 4]
    rows["città"] = ["Rom", "Rom", "Wien", "", *["Graz"] * 6]
    rows["day"] = ["31.12.2019", "31.02.2020", *["01.02.2020"] * 7, "01.01.2031"]
    found = {column.name: column for column in loaded.check(rows).columns}
    age = found["age"]
    low, high = loaded.card.columns[0].lowest, loaded.card.columns[0].highest
    assert loaded.card.columns[0].name == "age"
    values = pd.to_numeric(rows["age"], errors="coerce")
    assert (age.below, age.above) == (int((values < low).sum()), int((values > high).sum()))
    assert (age.missing, age.failures) == (1, 1)
    assert found["città"] == ColumnCheck(
        "città",
        10,
        missing=1,
        unknown={"Rom": 2, "Wien": 1},
        missing_in_training=found["città"].missing_in_training,
        rows_in_training=120,
    )
    day = found["day"]
    assert (day.below, day.above, day.failures, day.n_drifted) == (1, 1, 1, 3)
    assert found["income"].n_drifted == 0


def test_the_worst_column_comes_first_and_json_holds_all_of_it(loaded, table):
    rows = pd.read_csv(table, dtype=str, keep_default_na=False).iloc[:3]
    found = loaded.check(rows.assign(città=["A", "B", "C"], age=["1e9", "30", "30"]))
    assert [column.name for column in found.drifted] == ["città", "age"]
    first, second = str(found).splitlines()
    assert first == "column 'città': 3 of unknown categories ('A', 'B', 'C'), of 3 cells"
    assert second == "column 'age': 1 above the range of training, of 3 cells"
    assert json.loads(json.dumps(found.to_json()))["columns"][0]["rows"] == 3


def test_a_column_that_the_feed_lost_has_drifted(loaded, table):
    rows = pd.read_csv(table, dtype=str, keep_default_na=False)
    found = loaded.check(rows.assign(price=None, **{"città": None}))
    assert {column.name for column in found.drifted} == {"price", "città"}
    by_name = {column.name: column for column in found.columns}
    in_training = int((rows["città"] == "").sum())
    assert in_training > 0
    assert str(by_name["price"]) == ("column 'price': 120 missing (none in training), of 120 cells")
    assert str(by_name["città"]) == (
        f"column 'città': 120 missing ({in_training} of 120 in training), of 120 cells"
    )
    assert str(found).count("missing") == 2
    told = {column["name"]: column for column in json.loads(json.dumps(found.to_json()))["columns"]}
    assert (told["price"]["more_missing"], told["price"]["n_drifted"]) == (True, 120)
    assert (told["age"]["more_missing"], told["age"]["n_drifted"]) == (False, 0)


def test_one_missing_cell_is_told_where_training_had_none():
    one = ColumnCheck("a", 690, missing=1, rows_in_training=690)
    assert one.n_drifted == 1
    assert str(RowsCheck(690, (one,))) == ("column 'a': 1 missing (none in training), of 690 cells")
    unknown = ColumnCheck("a", 3, missing=1)  # of a card without rows, which tells of none either
    assert unknown.more_missing


@pytest.mark.parametrize("in_training", [1, 24, 60])
@pytest.mark.parametrize("rows", [1, 5, 100])
def test_missing_cells_beyond_chance_are_those_that_shuffled_rows_hardly_have(in_training, rows):
    # The oracle deals the empty cells out to training and new rows at random, many times.
    dealt = np.random.default_rng(0).permuted(np.tile(np.arange(120 + rows), (4000, 1)), axis=1)
    for missing in range(1, rows + 1):
        column = ColumnCheck("a", rows, missing, 0, 0, 0, {}, in_training, 120)
        at_least = (dealt[:, :rows] < in_training + missing).sum(axis=1) >= missing
        share = at_least.mean()
        if share > 0.004 or share == 0:  # nearer to one in a thousand the oracle is too coarse
            assert column.more_missing == (share == 0), (missing, share)
