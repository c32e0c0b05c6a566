"""Small files that would take all memory are refused before they do."""

import bz2
import io
import os
import resource
import zipfile

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as parquet
import pytest

from granulearn.tables import ReadOptions, TableError
from granulearn.tables.io import arrow, json_lines, table_file
from granulearn.tables.io.files import open_table
from tests.end_to_end.test_large_files import REPORT_PEAK
from tests.processes import Code
from tests.tables.nasty_tables import rows_of

MOST, PEAK = 2**32, 10**9
LONG = "y" * 10**6


def line(path, ending=b"\n"):
    with pa.CompressedOutputStream(str(path), "zstd") as stream:
        stream.write(b"a,label\n1,")
        for _ in range(2000):
            stream.write(LONG.encode())
        stream.write(ending)


def rows(path):
    with pa.CompressedOutputStream(str(path), "zstd") as stream:
        stream.write(b"a,label\n")
        for _ in range(300):
            stream.write(b"1,x\n" * 2**18)


def objects(path):
    with pa.CompressedOutputStream(str(path), "zstd") as stream:
        stream.write(b'[{"a":[0')
        for _ in range(1000):
            stream.write(b",0" * 2**19)


def one_text(n_rows=4000):
    """Return a column in which one long text is every cell."""
    codes = pa.array(np.zeros(n_rows, np.int32))
    return pa.table({"a": pa.DictionaryArray.from_arrays(codes, [LONG])})


def parquet_dictionary(path):
    parquet.write_table(one_text(), path, compression="zstd", store_schema=False)


def parquet_prefixes(path):
    """Return texts of which each is the one before it."""
    table, kind = pa.table({"a": [LONG] * 500}), {"a": "DELTA_BYTE_ARRAY"}
    with parquet.ParquetWriter(path, table.schema, compression="zstd", column_encoding=kind,
                               use_dictionary=False, write_statistics=False) as writer:  # fmt: skip
        for _ in range(6):
            writer.write_table(table)


def parquet_page(path):
    table = pa.table({"a": [LONG * 400]})
    parquet.write_table(table, path, compression="brotli", use_dictionary=False,
                        write_statistics=False)  # fmt: skip


def parquet_list(path):
    zeros = pa.array(np.zeros(40_000_000, np.int64))
    table = pa.table({"a": pa.ListArray.from_arrays([0, len(zeros), len(zeros)], zeros)})
    parquet.write_table(table, path, compression="zstd")


def arrow_file(path, column, **options):
    table = pa.table({"a": column})
    settings = pa.ipc.IpcWriteOptions(**options)
    with pa.ipc.new_file(str(path), table.schema, options=settings) as writer:
        writer.write_table(table)


def arrow_packed(path):
    arrow_file(path, pa.array([LONG * 400]), compression="zstd")


def arrow_runs(path):
    arrow_file(path, pa.RunEndEncodedArray.from_arrays(pa.array([4000], pa.int32()), [LONG]))


def arrow_views(path):
    (_, view, text) = pa.array([LONG], pa.string_view()).buffers()
    views = pa.py_buffer(view.to_pybytes() * 4000)
    arrow_file(path, pa.Array.from_buffers(pa.string_view(), 4000, [None, views, text]))


def workbook(path, sheet, texts=("a", LONG + LONG)):
    book, buffer = openpyxl.Workbook(), io.BytesIO()
    book.save(buffer)
    strings = "".join(f"<si><t>{text}</t></si>" for text in texts)
    new = {
        "xl/worksheets/sheet1.xml": f"<worksheet><sheetData>{sheet}</sheetData></worksheet>",
        "xl/sharedStrings.xml": f"<sst>{strings}</sst>",
    }
    with (
        zipfile.ZipFile(buffer) as old,
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file,
    ):
        for name in [*old.namelist(), "xl/sharedStrings.xml"]:
            if name in new or name in old.namelist():
                file.writestr(name, new.pop(name) if name in new else old.read(name))


def workbook_text(path):
    names = '<row><c t="s"><v>0</v></c></row>'
    workbook(path, names + '<row><c t="s"><v>1</v></c></row>' * 4000)


def workbook_far(path):
    first = '<row r="1"><c r="A1"><v>1</v></c></row>'
    workbook(path, f'{first}<row r="9000"><c r="XFD9000"><v>1</v></c></row>')


def open_document(path):
    cell = '<table:table-cell office:value-type="string"><text:p>{}</text:p></table:table-cell>'
    row = "<table:table-row {}>" + cell + "</table:table-row>"
    spaces = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for name in ("office", "table", "text")
    )
    body = row.format("", "a") + row.format('table:number-rows-repeated="4000"', LONG)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        file.writestr("META-INF/manifest.xml", "<manifest/>")
        file.writestr(
            "content.xml",
            f"<office:document-content {spaces}><office:body><office:spreadsheet>"
            f'<table:table table:name="s">{body}</table:table>'
            "</office:spreadsheet></office:body></office:document-content>",
        )


BOMBS = {
    "line.csv.zst": (line, "the row is too long"),
    "rows.csv.zst": (rows, "--max-expansion"),
    "objects.json.zst": (objects, "values"),
    "dictionary.parquet": (parquet_dictionary, "--max-expansion"),
    "prefixes.parquet": (parquet_prefixes, "--max-expansion"),
    "page.parquet": (parquet_page, "--max-expansion"),
    "list.parquet": (parquet_list, "--max-expansion"),
    "packed.arrow": (arrow_packed, "--max-expansion"),
    "runs.arrow": (arrow_runs, "--max-expansion"),
    "views.arrow": (arrow_views, "--max-expansion"),
    "text.xlsx": (workbook_text, "--max-expansion"),
    "far.xlsx": (workbook_far, "--max-expansion"),
    "text.ods": (open_document, "--max-expansion"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", BOMBS)
def test_a_small_file_cannot_take_much_memory(name, tmp_path):
    make, says = BOMBS[name]
    make(tmp_path / name)
    assert (tmp_path / name).stat().st_size < 2**21
    with Code(REPORT_PEAK, "check", tmp_path / name) as command:
        resource.prlimit(command.pid, resource.RLIMIT_AS, (MOST, MOST))
        out, err = command.communicate(timeout=120)
    assert command.returncode == 3, err
    assert int(out) * 1024 < PEAK
    assert says in err


@pytest.mark.parametrize("opening", [bz2.compress, None])
def test_a_ratio_may_be_raised(opening, tmp_path, monkeypatch):
    monkeypatch.setattr(table_file, "LITTLE", 2**16)
    if opening:
        (tmp_path / "t").write_bytes(opening(b"a,b\n" + b"1,2\n" * 100_000))
    else:
        parquet.write_table(pa.table({"a": ["x" * 1000] * 1000}), tmp_path / "t")
    with pytest.raises(TableError, match=r"expands to more than .*max_expansion=1000\)"):
        list(open_table(tmp_path / "t").batches())
    table = open_table(tmp_path / "t", ReadOptions(max_expansion=10_000))
    assert sum(batch.num_rows for batch in table.batches()) == table.n_rows


def test_cells_that_share_long_texts_are_few_in_a_batch(tmp_path, monkeypatch):
    monkeypatch.setattr(arrow, "_BATCH_BYTES", 10_000)
    texts = ["x" * 2000, "y", None, "z"] * 50
    column = pa.array(texts).dictionary_encode()
    runs = pc.run_end_encode(pa.array(texts))
    for name, stored in {"dictionary": column, "runs": runs, "views": pa.array(
        texts, pa.string_view()
    )}.items():  # fmt: skip
        arrow_file(tmp_path / name, stored)
    parquet.write_table(pa.table({"a": pa.array(texts)}), tmp_path / "parquet")
    for path in tmp_path.iterdir():
        batches = list(open_table(path).batches())
        assert max(batch.num_rows for batch in batches) <= 5
        assert rows_of(batches) == [[text] for text in texts]


def test_a_cell_has_a_longest_length_in_arrow_files(tmp_path, monkeypatch):
    monkeypatch.setattr(arrow, "LONGEST_ROW", 5000)
    arrow_file(tmp_path / "t", pa.array(["x" * 5001, "y"]))
    with pytest.raises(TableError, match="has a cell of"):
        list(open_table(tmp_path / "t").batches())


def test_an_array_of_json_is_read_in_pieces_with_the_lines_of_its_rows(tmp_path, monkeypatch):
    rows = [f'{{"a": {number},{os.linesep * (number % 3)} "b": "]"}}' for number in range(50)]
    text = "[" + ",\n".join(rows) + "]"
    (tmp_path / "t.json").write_text(text, newline="")
    whole = open_table(tmp_path / "t.json")
    monkeypatch.setattr(json_lines, "_PIECE", 3)
    read = open_table(tmp_path / "t.json")
    assert rows_of(read.batches()) == rows_of(whole.batches())
    assert read.lines().tolist() == whole.lines().tolist()
    expected = [1 + text[: text.index(row)].count("\n") for row in rows]
    assert read.lines().tolist() == expected
    (tmp_path / "t.json").write_text(text + '\n\n[{"a": 1}]')
    with pytest.raises(TableError, match=rf"line {2 + text.count(chr(10)) + 1}: .* follows the"):
        open_table(tmp_path / "t.json")
