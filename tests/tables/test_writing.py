"""Written tables: the cells come back, and no spreadsheet runs one."""

import csv
import io
import tempfile
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from granulearn.tables.writing import CsvWriter, guarded
from tests.tables.nasty_tables import tables


def harmless(text: str) -> str:
    """What a cell becomes, by the rule as it is documented."""
    return guarded(pa.array([text])).to_pylist()[0]


@given(tables(), st.sampled_from(",;\t|"), st.integers(1, 5))
def test_cells_are_read_back_as_they_were_but_for_the_guard(table, separator, step):
    names, rows = table
    columns = [pa.array(list(column), pa.string()) for column in zip(*rows, strict=True)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "t.csv")
        with CsvWriter(path, names, separator) as writer:
            for batch in pa.table(columns, names=names).to_batches(step):
                writer.write(batch)
        text = io.StringIO(path.read_bytes().decode(), newline="")
    read = [row for row in csv.reader(text, delimiter=separator, strict=True) if row]
    assert read == [[harmless(cell) for cell in row] for row in [names, *rows]]


@pytest.mark.parametrize(
    "cell", ["=1+1", "@SUM(A1)", "+cmd|x", "-2+3+cmd|' /C calc'!A0", "\t=1", "\r=1", "-a", "+1+A1"]
)
def test_what_a_spreadsheet_would_run_has_an_apostrophe(cell):
    assert harmless(cell) == "'" + cell


@pytest.mark.parametrize(
    "cell",
    ["-3.5", "+4", "-3.5e4", "-", "--", "-1.169,00 €", "+49 170 1234", "-5%", "a=b", "", "1-2"],
)
def test_numbers_and_plain_texts_stay_as_they_are(cell):
    assert harmless(cell) == cell
