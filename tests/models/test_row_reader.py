"""Rows are read as in training, and what training did not have is counted and named."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from granulearn.models import ModelCard, ModelFileError
from granulearn.models.row_reader import (
    ModelInputs,
    RowReader,
)
from granulearn.tables import TableError, open_table
from tests.models.loaded_models import location, row_of
from tests.training.small_tables import read


def test_rows_in_pieces_are_typed_as_in_training(loaded, table):
    reader = RowReader(loaded.inputs)
    with open_table(table) as file:
        (batch,) = file.batches(loaded.inputs.names)
    pieces = [reader.read(batch.slice(at, 7), location).to_frame() for at in range(0, 120, 7)]
    found = pd.concat([piece.astype({"città": object}) for piece in pieces], ignore_index=True)
    expected = read(table, ignore=("prediction",)).X.astype({"città": object})
    pd.testing.assert_frame_equal(found, expected)


def test_cells_of_another_form_count_as_missing_and_are_named(loaded, table):
    reader = RowReader(loaded.inputs, first_row=5)
    batch = row_of(table, day=["31.12.2020", "n/a", "31.02.2020"], price=["1,5 €", "2,0 $", "7 €"])
    X = reader.read(batch, location).cells
    assert_array_equal(X["day: month"], [12, np.nan, np.nan])
    assert_array_equal(X["price"], [1.5, np.nan, 7.0])
    assert {name: found.count for name, found in reader.failures.items()} == {"day": 1, "price": 1}
    by_column = {said.split(":")[0]: said for said in reader.warnings(location)}
    assert "1 cell does not hold dates" in by_column["column 'day'"]
    assert "'31.02.2020' at line 9" in by_column["column 'day'"]
    assert "does not hold numbers of €" in by_column["column 'price'"]
    assert "'2,0 $' at line 8" in by_column["column 'price'"]


def test_too_many_cells_of_another_form_are_an_error_that_names_all_columns(loaded, table):
    reader = RowReader(loaded.inputs)
    reader.read(row_of(table, day=["x"] * 3 + ["1.1.2020"] * 97), location)
    reader.read(row_of(table, member=["maybe"] + ["ja"] * 98), location)
    with pytest.raises(TableError) as caught:
        reader.finish("new.csv", location)
    (day,) = caught.value.problems
    assert day.startswith("new.csv: column 'day' held dates in training, but here 3 of 199 cells")
    reader.read(row_of(table, member=["maybe"] * 3), location)
    with pytest.raises(TableError) as caught:
        reader.finish("new.csv", location)
    assert ["yes or no in training" in problem for problem in caught.value.problems] == [
        False,
        True,
    ]


def test_one_cell_of_another_form_among_a_hundred_is_no_error(loaded, table):
    reader = RowReader(loaded.inputs)
    reader.read(row_of(table, day=["x"] + ["1.1.2020"] * 99), location)
    reader.finish("new.csv", location)


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ({"città": ["Graz", "Wien"]}, "line 5: column 'città' holds 'Wien', a category"),
        ({"day": ["1.1.2020", "?", "soon"]}, "line 6: column 'day' held dates in training"),
    ],
)
def test_strict_models_refuse_what_training_did_not_have(loaded, table, cells, said):
    with pytest.raises(TableError, match=said):
        RowReader(loaded.inputs, True, first_row=2).read(row_of(table, **cells), location)


@pytest.mark.parametrize("cell", [b"Graz", ["Graz"], {"name": "Graz"}])
def test_what_is_no_single_value_is_no_category(loaded, table, cell):
    reader = RowReader(loaded.inputs)
    reader.read(row_of(table, città=[cell]), location)
    with pytest.raises(TableError, match="column 'città' held categories in training, but here 1"):
        reader.finish("new.csv", location)


def test_a_model_without_the_columns_of_a_table_is_refused():
    with pytest.raises(ModelFileError, match="without the columns of a table"):
        ModelInputs.of_card(ModelCard())


def test_a_category_that_no_row_has_is_no_surprise(loaded, table):
    """A frame lists the categories that its column may have."""
    cities = pd.Series(["Graz", None], dtype=pd.CategoricalDtype(["Graz", "Atlantis"]))
    reader = RowReader(loaded.inputs, strict=True)
    batch = row_of(table, città=pa.array(cities, from_pandas=True))
    assert reader.read(batch, location).cells["città"][-1].as_py() is None
    assert not reader.unknown
