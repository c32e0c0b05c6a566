"""Text files: the cells that were written come back, by every way of reading them."""

import bz2
import csv
import gzip
import io
import lzma
import tempfile
import zipfile
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from granulearn.tables import TableError
from granulearn.tables.io import text as text_io
from granulearn.tables.io.table_file import ReadOptions
from granulearn.tables.io.text import TextTable, row_starts
from granulearn.tables.io.text_source import TextSource
from tests.shared_data import shared_data_dir
from tests.tables.nasty_tables import assert_holds, rows_of, tables, written


def zipped(content: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("table.csv", content)
    return file.getvalue()


COMPRESSORS = {
    None: bytes,
    "gzip": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zstd": lambda content: pa.compress(content, "zstd", asbytes=True),
    "zip": zipped,
}


def opened(
    content: bytes | str, folder: Path, compression: str | None = None, **options
) -> TextTable:
    content = content.encode() if isinstance(content, str) else content
    path = folder / "table"
    path.write_bytes(COMPRESSORS[compression](content))
    return TextTable(TextSource(path, Path("t.csv"), compression), ReadOptions(**options))


@given(
    tables(),
    st.sampled_from(",;\t|"),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.booleans(),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "utf-32"]),
    st.sampled_from(list(COMPRESSORS)),
    st.sampled_from([1, 7, 50, 2**20]),
)
def test_cells_are_read_as_they_were_written_by_every_way(
    table, separator, newline, quote_all, encoding, compression, chunk
):
    names, rows = table
    content = written(names, rows, separator, newline, quote_all=quote_all).encode(encoding)
    stated = encoding if encoding == "utf-16-be" else None
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_io, "CHUNK_BYTES", chunk)
        read = opened(content, Path(folder), compression, separator=separator, encoding=stated)
        assert_holds(read, names, rows)
        assert {kind for batch in read.batches() for kind in batch.schema.types} == {pa.string()}
        assert_lines(read, names, rows, separator, newline, quote_all)


def assert_lines(read, names, rows, separator, newline, quote_all):
    """A row begins on the line after all line ends before it."""
    lines = []
    for number in range(len(rows)):
        before = written(names, rows[:number], separator, newline, quote_all=quote_all)
        lines.append(before.replace("\r\n", "\n").replace("\r", "\n").count("\n") + 1)
    assert read.lines().tolist() == lines
    assert read.location(len(rows) - 1) == f"line {lines[-1]}"


@pytest.mark.parametrize("chunk", [4, 30, 2**20])
def test_quotation_marks_inside_of_cells_and_empty_lines_are_no_trouble(
    tmp_path, monkeypatch, chunk
):
    monkeypatch.setattr(text_io, "CHUNK_BYTES", chunk)
    content = '\n\na,b\r\n\n5" pipe,"x\ny"\n\n\r\nit\'s 6",2\nz,"say ""hi"""\n'
    read = opened(content, tmp_path)
    expected = [['5" pipe', "x\ny"], ["it's 6\"", "2"], ["z", 'say "hi"']]
    assert rows_of(read.batches()) == expected
    assert [row for part in read.parts() for row in rows_of(part.batches())] == expected
    assert read.lines().tolist() == [5, 9, 10]
    assert [read.location(row) for row in range(3)] == ["line 5", "line 9", "line 10"]


def test_all_rows_of_another_length_are_listed_with_their_lines(tmp_path):
    rows = ["1,2"] * 30 + ["1,2,3", "", '"a\nb"'] + ["4,5,6"] * 25
    with pytest.raises(TableError) as caught:
        list(opened("a,b\n" + "\n".join(rows), tmp_path).batches())
    said = str(caught.value)
    assert (
        "t.csv: 27 rows have not 2 cells as the header has: line 32 (3 cells), line 34 (1 cell)"
        in said
    )
    assert "line 36 (3 cells)" in said
    assert "and 7 more" in said


def test_bytes_that_do_not_fit_a_stated_encoding_are_named_with_their_line(tmp_path):
    content = "a,b\n1,x\n2,ä\n".encode("cp1252")
    with pytest.raises(TableError, match="line 3: the byte 0xe4 is no text in utf-8"):
        opened(content, tmp_path, encoding="utf-8")
    with pytest.raises(TableError, match="line 2: the byte 0x81 is no text in cp1252"):
        opened(b"a,b\n1,\x81\n", tmp_path, encoding="cp1252")
    with pytest.raises(TableError, match="line 3: the bytes are no text in cp932"):
        opened(b"a,b\n1,x\n2,\x81\x00\n", tmp_path, encoding="cp932")


def test_a_cell_longer_than_a_chunk_is_read(tmp_path):
    long = "x" * (20 * 2**20) + "\n"
    read = opened(f'a,b\n1,"{long}"\n2,y\n', tmp_path)
    assert rows_of(read.batches(["b"])) == [[long], ["y"]]


def test_a_file_that_changed_after_it_was_opened_is_refused(tmp_path):
    read = opened("a,b\n" + "1,2\n" * 100, tmp_path)
    (tmp_path / "table").write_text("a,b\n1,2\n")
    with pytest.raises(TableError, match="changed while it was read"):
        list(read.batches())


@pytest.mark.parametrize(
    ("name", "separator", "encoding"), [("kredit.csv", ";", "cp1252"), ("hmda.tsv", "\t", "ascii")]
)
def test_cells_agree_with_pandas_on_real_files(name, separator, encoding):
    path = shared_data_dir() / "messy" / name
    table = TextTable(TextSource(path, path))
    oracle = pd.read_csv(path, sep=separator, encoding=encoding, dtype=str, keep_default_na=False)
    assert table.names == list(oracle.columns)
    assert rows_of(table.batches()) == oracle.to_numpy().tolist()


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_lines_above_the_header_are_skipped_and_counted(tmp_path, newline):
    content = newline.join(["# one, two", "", "# three", "a,b,c", "1,x,u", "", "2,y,v"])
    read = opened(content, tmp_path)
    assert (read.names, rows_of(read.batches())) == ([*"abc"], [[*"1xu"], [*"2yv"]])
    assert (read.lines().tolist(), read.location(1)) == ([5, 7], "line 7")
    assert "skipped 3 lines above the header ('#" in read.notes[0]


def test_an_open_quotation_mark_does_not_take_all_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(text_io, "LONGEST_ROW", 1000)
    monkeypatch.setattr(text_io, "CHUNK_BYTES", 100)
    with pytest.raises(TableError, match="line 2: the row is too long"):
        opened('a,b\n1,"2\n' + "3,4\n" * 1000, tmp_path)


@given(st.text('a",\n\r', max_size=14))
def test_rows_begin_where_the_csv_module_begins_them(text):
    starts = row_starts(text.encode(), ",")
    lines = io.StringIO(text, newline="").readlines()
    reader = csv.reader(lines, strict=True)
    begins, begin = [], 0
    try:
        for cells in reader:
            begins += [begin] if cells else []
            begin = reader.line_num
    except csv.Error:
        assert starts.misquoted or starts.in_quotes
        begins.append(starts.end_line)
    else:
        assert not starts.misquoted
        assert not starts.in_quotes
    assert starts.lines.tolist() == begins
    assert starts.offsets.tolist() == [sum(map(len, lines[:line])) for line in begins]
