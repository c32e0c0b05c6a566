"""Files of other formats than text that are odd: JSON, Parquet, Feather, workbooks."""

from __future__ import annotations

import datetime
import decimal
import io
import json
import zipfile

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq

from tests.end_to_end.odd_tables import EITHER, LINES, OK, REFUSED, TEXT, flipped, odd, zipped

RECORDS = [dict(zip(LINES[0].split(","), line.split(","), strict=True)) for line in LINES[1:]]
SIZES, LABELS = [float(one["size"]) for one in RECORDS], [one["label"] for one in RECORDS]


# JSON.
JSON = json.dumps(RECORDS)
JSON_LINES = "\n".join(map(json.dumps, RECORDS))
for name, text, code in (
    ("a list of objects", JSON, OK),
    ("lines with commas", JSON_LINES.replace("\n", ",\n"), REFUSED),
    ("an object around the list", json.dumps({"data": RECORDS}), REFUSED),
    ("an empty object", "{}", REFUSED),
    ("null", "null", REFUSED),
    ("a list of nulls", "[null, null]", REFUSED),
    ("a comma too many", JSON[:-1] + ",]", OK),
    ("an end too early", JSON[:-20], REFUSED),
    ("text behind", JSON + " x", REFUSED),
    ("brackets 100,000 deep", "[" * 100_000, REFUSED),
    ("a cell 5,000 deep", f'{{"size": {"[" * 5000}{"]" * 5000}, "label": "a"}}\n' * 10, REFUSED),
    ("a key twice", JSON_LINES.replace('"size":', '"size": 1, "size":'), OK),
    ("infinity", JSON_LINES.replace('"1.5"', "Infinity"), OK),
    ("a number of 400 digits", JSON_LINES.replace('"1.5"', "1" * 400), OK),
    ("a number beyond all", JSON_LINES.replace('"1.5"', "1e999"), OK),
    ("half a surrogate", JSON_LINES.replace("blue", "\\ud800"), REFUSED),
    ("escape sequences", JSON_LINES.replace("blue", "\\u001b[31m"), OK),
    ("an object in a cell", JSON_LINES.replace('"blue"', '{"a": 1}'), OK),
    ("a label that is a list", JSON_LINES.replace('"a"', '["a"]'), OK),
    ("labels of truth values", JSON_LINES.replace('"a"', "true").replace('"b"', "false"), OK),
    ("labels that are null", JSON_LINES.replace('"a"', "null"), REFUSED),
    ("a key for every row", "\n".join(f'{{"k{i}": 1, "label": "ab"}}' for i in range(99)), REFUSED),
):  # fmt: skip
    odd(f"JSON: {name}", "t.jsonl", text, code)
odd(
    "JSON: bytes of no character", "t.jsonl", JSON_LINES.encode().replace(b"blue", b"\xff"), REFUSED
)
odd("JSON: a mark of byte order", "t.json", b"\xef\xbb\xbf" + JSON.encode(), OK)
odd("JSON: in utf-16", "t.json", JSON.encode("utf-16"), OK)


# Parquet.
def parquet(table: pa.Table, **options) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(table, buffer, **options)
    return buffer.getvalue()


def beside(column, kind=None, name: str = "odd") -> bytes:
    """Return a Parquet file with a column beside the size and the label."""
    return parquet(pa.table({"size": SIZES, name: pa.array(column, kind), "label": LABELS}))


ROWS = range(40)
for name, column, kind, code in (
    ("lists", [[1, 2]] * 40, None, OK),
    ("lists of two", [[1, 2]] * 40, pa.list_(pa.int64(), 2), OK),
    ("bytes", [bytes([i]) for i in ROWS], pa.binary(), OK),
    ("nulls", [None] * 40, pa.null(), OK),
    ("half precision", np.arange(40, dtype=np.float16), pa.float16(), OK),
    ("the largest integers", [2**64 - 1 - i for i in ROWS], pa.uint64(), OK),
    ("infinity", [np.inf, 1.0] * 20, None, OK),
    ("huge numbers", [1e308, -1e308] * 20, None, OK),
    ("decimals", [decimal.Decimal(f"{i}.5") for i in ROWS], pa.decimal128(10, 2), OK),
    ("dates", [datetime.date(2020, 1, 1 + i % 28) for i in ROWS], None, OK),
    ("moments with a zone", list(ROWS), pa.timestamp("us", "Europe/Vienna"), OK),
    ("moments before all", [-(2**62)] * 40, pa.timestamp("us"), OK),
    ("durations", list(ROWS), pa.duration("s"), OK),
    ("categories", pa.array(["x", "y"] * 20).dictionary_encode(), None, OK),
    ("large text", ["x", "y"] * 20, pa.large_string(), OK),
    ("views of text", ["x", "y"] * 20, pa.string_view(), OK),
    ("text of escape sequences", ["\x1b[31m", "y"] * 20, None, OK),
):
    nested = pa.types.is_nested(pa.array(column, kind).type) or "bytes" in name
    says = ["dropped: nested"] * nested
    odd(f"Parquet: {name}", "t.parquet", beside(column, kind), code, *says)
for name, labels, kind in (
    ("lists", [["a"], ["b"]] * 20, None),
    ("bytes", [b"a", b"b"] * 20, None),
    ("nulls", [None] * 40, None),
):
    table = pa.table({"size": SIZES, "label": pa.array(labels, kind)})
    odd(f"Parquet: labels that are {name}", "t.parquet", parquet(table), REFUSED, "'label'")
PARQUET = beside(list(ROWS))
FOOTER = int.from_bytes(PARQUET[-8:-4], "little")
for name, data, code in (
    ("no columns", parquet(pa.table({})), REFUSED),
    ("no rows", parquet(pa.table({"size": SIZES, "label": LABELS}).slice(0, 0)), REFUSED),
    ("an empty name", beside(list(ROWS), name=""), OK),
    ("a name with escape sequences", beside([[1]] * 40, name="\x1b[31mred"), OK),
    ("only its name", b"PAR1", REFUSED),
    ("a footer beyond the file", PARQUET[:-8] + b"\xff\xff\xff\x7fPAR1", REFUSED),
    ("a footer of no length", PARQUET[:-8] + b"\0\0\0\0PAR1", REFUSED),
    ("a footer of nothing", PARQUET[:-8 - FOOTER] + bytes(FOOTER) + PARQUET[-8:], REFUSED),
    ("pages of nothing", PARQUET[:4] + b"\0" * 200 + PARQUET[204:], REFUSED),
    ("a password", b"PARE" + PARQUET[4:-4] + b"PARE", REFUSED),
):  # fmt: skip
    odd(f"Parquet: {name}", "t.parquet", data, code)
for seed in range(8):
    odd(f"Parquet: damage {seed}", "t.parquet", flipped(PARQUET, seed), EITHER)


# Arrow's other files.
def feather(**options) -> bytes:
    buffer = io.BytesIO()
    pyarrow.feather.write_feather(pa.table({"size": SIZES, "label": LABELS}), buffer, **options)
    return buffer.getvalue()


def stream() -> bytes:
    buffer, table = io.BytesIO(), pa.table({"size": SIZES, "label": LABELS})
    with pa.ipc.new_stream(buffer, table.schema) as writer:
        writer.write_table(table)
    return buffer.getvalue()


for name, data, code in (
    ("packed", feather(compression="zstd"), OK),
    ("of the first version", b"FEA1" + bytes(500) + b"FEA1", REFUSED),
    ("a stream", stream(), OK),
    ("only its name", b"ARROW1", REFUSED),
):
    odd(f"Feather: {name}", "t.feather", data, code)
for seed in range(4):
    odd(f"Feather: damage {seed}", "t.feather", flipped(feather(), seed), EITHER)


# Workbooks.
def workbook(rows, **sheets) -> bytes:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    for name, content in sheets.items():
        sheet = book.create_sheet(name)
        for row in content:
            sheet.append(row)
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


CELLS = [
    LINES[0].split(","),
    *([float(one["size"]), one["colour"], one["label"]] for one in RECORDS),
]
XLSX = workbook(CELLS)
BOMB = b'<!DOCTYPE a [<!ENTITY b "bb"><!ENTITY c "&b;&b;">]><a>&c;</a>'


def sheet(*places: str) -> bytes:
    """Return a sheet with a number in each of some cells, a row for each."""
    rows = [f'<row><c r="{place}><v>99999</v></c></row>' for place in places]
    return f"<worksheet><sheetData>{''.join(rows)}</sheetData></worksheet>".encode()


def without(data: bytes, *parts: str, **replaced: bytes) -> bytes:
    """Return a workbook without some of its parts, or with other content in them."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(buffer, "w") as new:
        for name in old.namelist():
            short = name.rsplit("/", 1)[-1].partition(".")[0]
            if short not in parts:
                new.writestr(name, replaced.get(short, old.read(name)))
    return buffer.getvalue()


for name, data, code in (
    ("errors in cells", workbook([*CELLS[:5], ["#DIV/0!", "#N/A", "a"], *CELLS[5:]]), OK),
    ("rows of several lengths", workbook([*CELLS, [1, "red", "a", "more"]]), OK),
    ("an empty sheet first", workbook([], data=CELLS), OK),
    ("no list of sheets", without(XLSX, "workbook"), REFUSED),
    ("no sheet", without(XLSX, "sheet1"), REFUSED),
    ("a sheet of nothing", without(XLSX, sheet1=b""), REFUSED),
    ("a sheet that is no XML", without(XLSX, sheet1=b"size,label"), REFUSED),
    ("entities of a bomb", without(XLSX, sheet1=BOMB), REFUSED),
    ("a cell far away", without(XLSX, sheet1=sheet('A1"', 'XFD1048576"')), REFUSED),
    ("a cell outside", without(XLSX, sheet1=sheet('ZZZZZZ99999999999"')), REFUSED),
    ("text that is not there", without(XLSX, sheet1=sheet('A1" t="s"')), REFUSED),
    ("an old one of nothing", bytes.fromhex("d0cf11e0a1b11ae1") + bytes(2000), REFUSED),
    ("an empty archive", zipped(), REFUSED),
):  # fmt: skip
    odd(f"workbook: {name}", "t.xlsx", data, code)
for seed in range(6):
    odd(f"workbook: damage {seed}", "t.xlsx", flipped(XLSX, seed), EITHER)
odd("workbook: as text", "t.csv", XLSX, OK)
odd("workbook: as an old one", "t.xls", XLSX, REFUSED)
odd("workbook: text as an old one", "t.xls", TEXT, OK)
odd("workbook: of another office", "t.ods", XLSX, REFUSED)
