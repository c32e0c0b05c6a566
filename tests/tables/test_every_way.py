"""Any file gives the same cells by every way in."""

import gzip
import io
import json
import tempfile
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.dummy import DummyClassifier

from granulearn.models import LoadedModel, ModelCard
from granulearn.models.row_reader import RowReader
from granulearn.tables import Schema, TableFile, open_table, read_training_table, table_of
from granulearn.tables.inspection import inspect_table
from granulearn.tables.io import table_file
from granulearn.tables.io import text as text_io
from granulearn.training.training import input_cards
from tests.tables.nasty_tables import written

TARGET = "y"
DAY = st.dates(pd.Timestamp("1969-01-01").date(), pd.Timestamp("2068-12-31").date())
DATETIME = st.datetimes(pd.Timestamp("1970-01-01"), pd.Timestamp("2100-12-31"))
WHOLE = st.integers(-(10**7), 10**7)


def _comma(value: int) -> str:
    return f"{value / 100:,.2f}".translate(str.maketrans(",.", ".,"))


KINDS = {
    "plain numbers": WHOLE.map(lambda n: repr(n / 8)),
    "whole numbers": st.integers(0, 40).map(str),
    "thousands": WHOLE.map("{:,}".format),
    "dollars": WHOLE.map("${:,}".format),
    "euros": WHOLE.map(lambda n: f"{_comma(n)} €"),
    "percent": st.integers(0, 1000).map(lambda n: f"{n / 10}%"),
    "exponents": WHOLE.map("{:.3e}".format),
    "accounts": st.integers(1, 9999).map("({})".format),
    "minutes": st.integers(0, 300).map("{} min".format),
    "two units": st.tuples(st.integers(0, 9), st.sampled_from("gm")).map("{0[0]} {0[1]}".format),
    "codes": st.integers(0, 99).map("{:05d}".format),
    "ISO dates": DAY.map(str),
    "dotted dates": DAY.map(lambda d: f"{d.day}.{d.month}.{d.year}"),
    "slashes": DAY.map(lambda d: f"{d.day:02d}/{d.month:02d}/{d.year % 100:02d}"),
    "datetimes": DATETIME.map(lambda m: m.isoformat(sep=" ", timespec="seconds")),
    "clocks": st.times().map(lambda t: f"{t:%H:%M}"),
    "yes or no": st.sampled_from(["yes", "no", "Yes", "NO "]),
    "Booleans": st.sampled_from(["true", "false"]),
    "plus or minus": st.sampled_from(["+", "-"]),
    "words": st.sampled_from(["Wien", " Graz", "Ōsaka", "São Paulo, SP", 'the "Big" one', "a;b|c"]),
    "sentences": st.lists(st.sampled_from(["a", "lazy", "fox,", "or", "two;"]), min_size=4).map(
        " ".join
    ),
    "lines": st.sampled_from(["one\ntwo", "three", "=1+1", "-x", "@y", "'z"]),
    "empty": st.just(""),
}
TOKENS = st.sampled_from(["", "?", "NA", "n/a", "-", "#N/A", "null", "unknown", " "])


@st.composite
def tables(draw):
    """Draw columns of cells as people write them, by name; the last is the target."""
    n_rows = draw(st.sampled_from([7, 23, 41]))
    kinds = draw(st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=4, unique=True))
    columns = {}
    for kind in kinds:
        # Few different cells: the forms matter, not their number.
        pool = draw(st.lists(KINDS[kind], min_size=1, max_size=8))
        if draw(st.booleans()):
            pool += [draw(TOKENS)]
        if draw(st.integers(0, 4)) == 0:
            pool += [draw(KINDS[draw(st.sampled_from(sorted(KINDS)))])]
        seed = draw(st.integers(0, 2**16))
        columns[kind] = np.random.default_rng(seed).choice(pool, n_rows).tolist()
    columns["n"] = [f"{np.sin(row):.6f}" for row in range(n_rows)]
    columns[TARGET] = [["a", "b", "B", "n/a"][row * row % 11 % 4] for row in range(n_rows)]
    return columns


def _text(columns, separator=",", newline="\n") -> str:
    rows = [list(row) for row in zip(*columns.values(), strict=True)]
    return written(list(columns), rows, separator, newline)


def _workbook(columns) -> bytes:
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet()

    def cell(text):
        made = openpyxl.cell.WriteOnlyCell(sheet, text or None)
        if text:
            made.data_type = "s"  # or = would begin a formula
        return made

    for row in [list(columns), *zip(*columns.values(), strict=True)]:
        sheet.append([cell(text) for text in row])
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


def _lines_of_json(columns) -> bytes:
    rows = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def _by_arrow(write):
    def content(columns) -> bytes:
        sink = io.BytesIO()
        write(pa.table(columns), sink)
        return sink.getvalue()

    return content


FORMATS = {
    "t.csv": lambda columns: _text(columns).encode(),
    "semicolons.csv": lambda columns: _text(columns, ";").encode("utf-8-sig"),
    "t.tsv": lambda columns: _text(columns, "\t", "\r\n").encode("utf-16"),
    "t.csv.gz": lambda columns: gzip.compress(_text(columns).encode(), 1),
    "t.xlsx": _workbook,
    "t.jsonl": _lines_of_json,
    "t.parquet": _by_arrow(lambda table, sink: parquet.write_table(table, sink, row_group_size=9)),
    "t.feather": _by_arrow(lambda table, sink: feather.write_feather(table, sink, chunksize=9)),
}


def cells_of(typed) -> dict:
    """Return typed cells as lists that can be compared: NaN is None."""
    return {
        name: [None if value != value else value for value in cells.tolist()]
        if isinstance(cells, np.ndarray)
        else cells.to_pylist()
        for name, cells in typed.cells.items()
    }


def facts(schema: Schema) -> list:
    """Return what was decided, with what is said about it."""
    return [(column.to_json(), column.notes, column.failures) for column in schema.columns]


@contextmanager
def small_pieces(rows: int):
    """Make every reader give pieces of a few rows."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table_file, "_BATCH_ROWS", rows)
        patch.setattr(text_io, "CHUNK_BYTES", 32 * rows)
        patch.setattr(text_io, "_CHUNKS_OF_PART", 2)
        yield


def predicted_cells(file: TableFile, schema: Schema, X: pd.DataFrame) -> dict:
    """Return the cells of all rows as `predict` reads them from a saved model."""
    stored = Schema.from_json(json.loads(json.dumps(schema.to_json())))
    pipeline = DummyClassifier().fit([[0.0], [0.0]], [0, 1])
    loaded = LoadedModel(pipeline, ModelCard(columns=input_cards(X), schema=stored))
    reader = RowReader(loaded.inputs)
    found = {name: [] for name in schema.feature_types}
    for batch in file.batches(loaded.inputs.names):
        for name, cells in cells_of(reader.read(batch, file.location)).items():
            found[name] += cells
    return found


def check_every_way(file: TableFile, columns: dict) -> None:
    """Demand that a file gives what the columns in memory give."""
    expected = read_training_table(table_of(columns), TARGET)
    cells, decided = cells_of(expected.typed), facts(expected.schema)
    said, labels = expected.report.warnings, expected.y.tolist()
    all_rows = cells_of(expected.schema.read(pa.table(columns).to_batches()[0]))
    assert file.names == list(columns)
    for keep in (False, True):
        data = read_training_table(file, TARGET, keep_cells=keep)
        assert facts(data.schema) == decided
        assert cells_of(data.typed) == cells
        assert (data.y.tolist(), data.rows.tolist()) == (labels, expected.rows.tolist())
        assert data.report.warnings == said
    assert predicted_cells(file, data.schema, data.X) == all_rows


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=6)
@given(columns=tables(), piece=st.sampled_from([5, 9, 16, 100]))
def test_any_file_gives_the_same_cells_by_every_way_in(name, columns, piece):
    with tempfile.TemporaryDirectory() as folder, small_pieces(piece):
        path = Path(folder, name)
        path.write_bytes(FORMATS[name](columns))
        with open_table(path) as file:
            check_every_way(file, columns)


@settings(max_examples=15)
@given(columns=tables())
def test_a_report_in_constant_memory_is_that_of_the_whole_table(columns):
    expected = read_training_table(table_of(columns), TARGET).report
    with small_pieces(6):
        found = inspect_table(table_of(columns), TARGET)
    assert facts(found.schema) == facts(expected.schema)
    assert found.warnings == expected.warnings
    assert (found.labels, found.findings) == (expected.labels, expected.findings)
