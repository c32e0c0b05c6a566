"""Files of which the bytes are wrong: no table, broken archives, locked workbooks, odd text."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import pickle
import sqlite3
import zipfile
from pathlib import Path

import openpyxl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq

from tests.end_to_end.bad_tables import PLAIN, bad, holding

PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x02\x00\x00\x00"
TABLE = pa.table({"size": [1.5, 2.5, 3.5, 4.5] * 10, "label": ["a", "b", "a", "b"] * 10})


@bad("absent.csv", "check the path", code=5)
def missing_file(folder: Path) -> Path:
    return folder / "absent.csv"


@bad("locked.csv", "rights", code=5)
def unreadable_file(folder: Path) -> Path:
    path = holding(folder, "locked.csv", PLAIN)
    path.chmod(0)
    return path


@bad("zero.csv", "empty")
def empty_file(folder: Path) -> Path:
    return holding(folder, "zero.csv", b"")


@bad("blank.csv", "empty")
def blank_lines_only(folder: Path) -> Path:
    return holding(folder, "blank.csv", "\n\r\n\n")


@bad("mark.csv", "empty")
def byte_order_mark_only(folder: Path) -> Path:
    return holding(folder, "mark.csv", b"\xef\xbb\xbf")


@bad("header.csv", "no data rows")
def header_only(folder: Path) -> Path:
    return holding(folder, "header.csv", "size,colour,label\n")


@bad("photo.csv", "an image")
def image(folder: Path) -> Path:
    return holding(folder, "photo.csv", PNG + bytes(range(256)) * 40)


@bad("paper.csv", "PDF")
def pdf(folder: Path) -> Path:
    return holding(folder, "paper.csv", b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n" + bytes(range(256)))


@bad("page.csv", "HTML")
def web_page(folder: Path) -> Path:
    page = "<!DOCTYPE html>\n<html><head><title>Sign in</title></head>\n<body>Hello</body></html>\n"
    return holding(folder, "page.csv", page)


@bad("data.csv", "pickle")
def pickled(folder: Path) -> Path:
    return holding(folder, "data.csv", pickle.dumps({"size": [1, 2], "label": ["a", "b"]}))


@bad("data.csv", "SQLite")
def database(folder: Path) -> Path:
    path = folder / "data.csv"
    connection = sqlite3.connect(path)
    connection.execute("create table samples (size real, label text)")
    connection.commit()
    connection.close()
    return path


@bad("cut.csv.gz")
def cut_gzip(folder: Path) -> Path:
    return holding(folder, "cut.csv.gz", gzip.compress(PLAIN.encode())[:-20])


@bad("noise.csv.gz")
def gzip_of_noise(folder: Path) -> Path:
    return holding(folder, "noise.csv.gz", b"\x1f\x8b\x08\x00" + bytes(range(256)))


@bad("cut.csv.bz2")
def cut_bzip2(folder: Path) -> Path:
    return holding(folder, "cut.csv.bz2", bz2.compress(PLAIN.encode())[:-20])


@bad("cut.csv.xz")
def cut_xz(folder: Path) -> Path:
    return holding(folder, "cut.csv.xz", lzma.compress(PLAIN.encode())[:-20])


@bad("cut.csv.zst")
def cut_zstandard(folder: Path) -> Path:
    packed = pa.compress(PLAIN.encode(), codec="zstd", asbytes=True)
    return holding(folder, "cut.csv.zst", packed[:-20])


def zipped(**members: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in members.items():
            archive.writestr(name.replace("_", "."), text)
    return buffer.getvalue()


@bad("two.zip", "a.csv", "b.csv")
def zip_of_two(folder: Path) -> Path:
    return holding(folder, "two.zip", zipped(a_csv=PLAIN, b_csv=PLAIN))


@bad("none.zip", "empty")
def zip_of_none(folder: Path) -> Path:
    return holding(folder, "none.zip", zipped())


@bad("cut.zip")
def cut_zip(folder: Path) -> Path:
    return holding(folder, "cut.zip", zipped(a_csv=PLAIN)[:-30])


@bad("locked.zip", "password")
def locked_zip(folder: Path) -> Path:
    data = bytearray(zipped(a_csv=PLAIN))
    # Bit 0 of the flags, in the local header and in the directory: the member is encrypted.
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    return holding(folder, "locked.zip", bytes(data))


def workbook(rows: list[list], *names: str) -> bytes:
    book = openpyxl.Workbook()
    book.active.title = names[0]
    for row in rows:
        book.active.append(row)
    for name in names[1:]:
        book.create_sheet(name)
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


ROWS = [line.split(",") for line in PLAIN.splitlines()]


@bad("cut.xlsx")
def cut_workbook(folder: Path) -> Path:
    return holding(folder, "cut.xlsx", workbook(ROWS, "Data")[:-400])


@bad("blank.xlsx", "empty")
def blank_workbook(folder: Path) -> Path:
    return holding(folder, "blank.xlsx", workbook([], "Data", "More"))


@bad("book.xlsx", "Dta", "Data", "Legend", options=("--sheet", "Dta"))
def absent_sheet(folder: Path) -> Path:
    return holding(folder, "book.xlsx", workbook(ROWS, "Data", "Legend"))


@bad("secret.xlsx", "password")
def locked_workbook(folder: Path) -> Path:
    return holding(folder, "secret.xlsx", encrypted_package())


def encrypted_package() -> bytes:
    """Return an OLE2 container with the streams of a workbook that has a password."""
    free, end = 0xFFFFFFFF, 0xFFFFFFFE
    sector = 512
    header = bytearray(sector)
    header[:8] = bytes.fromhex("d0cf11e0a1b11ae1")
    for offset, value, size in [
        (24, 0x3E, 2), (26, 3, 2), (28, 0xFFFE, 2), (30, 9, 2), (32, 6, 2), (44, 1, 4),
        (48, 1, 4), (56, 4096, 4), (60, end, 4), (64, 0, 4), (68, end, 4), (72, 0, 4), (76, 0, 4),
    ]:  # fmt: skip
        header[offset : offset + size] = value.to_bytes(size, "little")
    header[80:] = free.to_bytes(4, "little") * ((sector - 80) // 4)
    # Sector 0 is the allocation table, 1 the directory, 2 to 9 and 10 to 17 the streams.
    chains = [0xFFFFFFFD, end, *range(3, 10), end, *range(11, 18), end]
    chains += [free] * (128 - len(chains))
    table = b"".join(value.to_bytes(4, "little") for value in chains)
    entries = [
        ("Root Entry", 5, 1, end, 0),
        ("EncryptedPackage", 2, free, 2, 4096),
        ("EncryptionInfo", 2, free, 10, 4096),
        ("", 0, free, 0, 0),
    ]
    directory = b""
    for number, (name, kind, child, start, size) in enumerate(entries):
        text = name.encode("utf-16-le")
        entry = bytearray(128)
        entry[: len(text)] = text
        entry[64:66] = (len(text) + 2 if name else 0).to_bytes(2, "little")
        entry[66:68] = bytes([kind, 1])
        right = 2 if number == 1 else free
        for offset, value in ((68, free), (72, right), (76, child), (116, start), (120, size)):
            entry[offset : offset + 4] = value.to_bytes(4, "little")
        directory += bytes(entry)
    return bytes(header) + table + directory + bytes(range(256)) * 32


def as_parquet(table: pa.Table) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(table, buffer)
    return buffer.getvalue()


@bad("cut.parquet")
def cut_parquet(folder: Path) -> Path:
    return holding(folder, "cut.parquet", as_parquet(TABLE)[:-100])


@bad("noise.parquet")
def parquet_of_noise(folder: Path) -> Path:
    return holding(folder, "noise.parquet", b"PAR1" + bytes(range(256)) + b"PAR1")


@bad("none.parquet", "no data rows")
def parquet_without_rows(folder: Path) -> Path:
    return holding(folder, "none.parquet", as_parquet(TABLE.slice(0, 0)))


@bad("zone.parquet", "'when'", "'Mars/Phobos'")
def times_of_an_unknown_zone(folder: Path) -> Path:
    times = pa.array(range(TABLE.num_rows), pa.timestamp("s", tz="Mars/Phobos"))
    return holding(folder, "zone.parquet", as_parquet(TABLE.append_column("when", times)))


@bad("cut.feather")
def cut_feather(folder: Path) -> Path:
    buffer = io.BytesIO()
    pyarrow.feather.write_feather(TABLE, buffer)
    return holding(folder, "cut.feather", buffer.getvalue()[:-60])


@bad("folder", "Parquet")
def folder_without_parquet(folder: Path) -> Path:
    path = folder / "folder"
    path.mkdir()
    holding(path, "a.csv", PLAIN)
    return path


@bad("list.json", "line 1")
def json_garbage(folder: Path) -> Path:
    return holding(folder, "list.json", '{"size": 1, "label": }\n')


@bad("broken.jsonl", "line 3")
def json_broken_line(folder: Path) -> Path:
    lines = ['{"size": 1, "label": "a"}', '{"size": 2, "label": "b"}', '{"size": 3, "lab']
    return holding(folder, "broken.jsonl", "\n".join(lines))


@bad("numbers.jsonl", "object")
def json_of_numbers(folder: Path) -> Path:
    return holding(folder, "numbers.jsonl", "1\n2\n3\n")
