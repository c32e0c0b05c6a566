"""Written tables: the cells come back, and no spreadsheet runs one."""

import csv
import io
import tempfile
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from granulearn.tables.parse.cells import as_text
from granulearn.tables.writing import CsvWriter, guarded, guarded_frame, write_csv
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


def test_null_stays_null_under_the_guard_and_is_an_empty_cell(tmp_path):
    assert guarded(pa.array(["=x", None])).to_pylist() == ["'=x", None]
    write_csv(pa.table({"a": ["x", None]}), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_bytes() == b'a\nx\n""\n'


def test_typed_columns_are_written_as_their_text(tmp_path):
    columns = {"n": [-1, 2], "x": [-0.5, None], "c": pa.array(["=u", "v"]).dictionary_encode()}
    batch = pa.record_batch(columns)
    with CsvWriter(tmp_path / "t.csv", list(columns)) as writer:
        writer.write(batch)
        writer.write(batch.slice(1))
    assert (tmp_path / "t.csv").read_text() == "n,x,c\n-1,-0.5,'=u\n2,,v\n2,,v\n"
    assert as_text(batch.column(0)).to_pylist() == ["-1", "2"]


def test_a_frame_is_guarded_in_its_texts_categories_and_names():
    columns = {"=n": [1, -2], "c": pd.Categorical(["@x", "y"]), "t": ["=1+1", None]}
    found = guarded_frame(pd.DataFrame(columns))
    assert list(found.columns) == ["'=n", "c", "t"]
    assert found.to_csv(index=False) == "'=n,c,t\n1,'@x,'=1+1\n-2,y,\n"


def test_a_frame_without_formulas_is_written_as_it_is():
    frame = pd.DataFrame({"x": [0.1, 1e-9], "t": ["a", "-"], "b": [True, False]})
    assert guarded_frame(frame).to_csv(index=False) == frame.to_csv(index=False)
