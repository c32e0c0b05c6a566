"""Archives, files of foreign formats and paths that are odd."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
from pathlib import Path

import numpy as np
import pyarrow as pa

from tests.end_to_end.odd_files import JSON_LINES, PARQUET, parquet
from tests.end_to_end.odd_tables import LINES, NO_FILE, OK, REFUSED, TEXT, flipped, odd, zipped


def tarred() -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        entry = tarfile.TarInfo("t.csv")
        entry.size = len(TEXT)
        archive.addfile(entry, io.BytesIO(TEXT.encode()))
    return buffer.getvalue()


GZIP = gzip.compress(TEXT.encode())
ZSTD = pa.compress(TEXT.encode(), codec="zstd", asbytes=True)
for name, file, data, code in (
    ("gzip of nothing", "t.csv.gz", gzip.compress(b""), REFUSED),
    ("gzip with a wrong sum", "t.csv.gz", GZIP[:-8] + b"\0\0\0\0" + GZIP[-4:], REFUSED),
    ("gzip with a wrong length", "t.csv.gz", GZIP[:-4] + b"\0\0\0\0", REFUSED),
    ("gzip with text behind", "t.csv.gz", GZIP + b"and more", REFUSED),
    ("gzip with zeros behind", "t.csv.gz", GZIP + bytes(512), OK),
    ("gzip of two parts", "t.csv.gz", GZIP + gzip.compress(b"1.5,red,a"), OK),
    ("gzip of gzip", "t.csv.gz.gz", gzip.compress(GZIP), REFUSED),
    ("gzip of 20 MB of zeros", "t.csv.gz", gzip.compress(bytes(20 * 2**20)), REFUSED),
    ("gzip of a picture", "t.csv.gz", gzip.compress(b"\x89PNG\r\n\x1a\n" + bytes(100)), REFUSED),
    ("gzip of Parquet", "t.parquet.gz", gzip.compress(PARQUET), REFUSED),
    ("gzip under another name", "t.csv", GZIP, OK),
    ("text that says to be gzip", "t.csv.gz", TEXT, OK),
    ("the first bytes of gzip", "t.csv.gz", b"\x1f\x8b", REFUSED),
    ("bzip2 of nothing", "t.csv.bz2", bz2.compress(b""), REFUSED),
    ("bzip2", "t.csv.bz2", bz2.compress(TEXT.encode()), OK),
    ("bzip2 damaged", "t.csv.bz2", flipped(bz2.compress(TEXT.encode()), 1), REFUSED),
    ("xz damaged", "t.csv.xz", flipped(lzma.compress(TEXT.encode()), 1), REFUSED),
    ("xz that would need memory", "t.csv.xz", lzma.compress(TEXT.encode(), preset=9), OK),
    ("zstandard damaged", "t.csv.zst", flipped(ZSTD, 1), REFUSED),
    ("zip", "t.zip", zipped(t_csv=TEXT), OK),
    ("zip of a folder", "t.zip", zipped(a__t_csv=TEXT), OK),
    ("zip that leads away", "t.zip", zipped(**{"..__..__t_csv": TEXT}), OK),
    ("zip of zip", "t.zip", zipped(t_zip=zipped(t_csv=TEXT)), REFUSED),
    ("zip of nothing in a member", "t.zip", zipped(t_csv=""), REFUSED),
    ("zip of a picture", "t.zip", zipped(t_png=b"\x89PNG\r\n\x1a\n" + bytes(100)), REFUSED),
    ("zip with a wrong sum", "t.zip", zipped(t_csv=TEXT).replace(b"size,", b"Size,"), OK),
    ("zip damaged", "t.zip", flipped(zipped(t_csv=TEXT), 2), REFUSED),
    ("zip of 20 MB of zeros", "t.zip", zipped(t_csv=bytes(20 * 2**20)), REFUSED),
    ("zip without members", "t.zip", b"PK\x05\x06" + bytes(18), REFUSED),
    ("tar", "t.tar", tarred(), REFUSED),
    ("tar in gzip", "t.tar.gz", gzip.compress(tarred()), REFUSED),
    ("7z", "t.7z", b"7z\xbc\xaf\x27\x1c" + bytes(100), REFUSED),
    ("rar", "t.rar", b"Rar!\x1a\x07\x01\x00" + bytes(100), REFUSED),
):  # fmt: skip
    odd(f"archive: {name}", file, data, code)

# Foreign formats.
for name, file, data in (
    ("a program", "t.csv", b"\x7fELF\x02\x01\x01" + bytes(500)),
    ("another program", "t.csv", b"MZ\x90\x00" + bytes(500)),
    ("a picture", "t.csv", b"\xff\xd8\xff\xe0\x00\x10JFIF" + bytes(range(256))),
    ("a moving picture", "t.csv", b"GIF89a" + bytes(range(256))),
    ("a sound", "t.csv", b"RIFF\x24\x00\x00\x00WAVEfmt " + bytes(200)),
    ("arrays", "t.csv", b"\x93NUMPY\x01\x00v\x00{'descr': '<f8'}" + bytes(200)),
    ("HDF5", "t.h5", b"\x89HDF\r\n\x1a\n" + bytes(500)),
    ("Stata", "t.dta", b"<stata_dta><header><release>118</release>" + bytes(300)),
    ("SPSS", "t.sav", b"$FL2@(#) SPSS DATA FILE" + bytes(300)),
    ("ORC", "t.orc", b"ORC" + bytes(300)),
    ("Avro", "t.avro", b"Obj\x01\x04\x14avro.codec\x08null" + bytes(300)),
    ("XML", "t.xml", b"<?xml version='1.0'?><rows><row size='1' label='a'/></rows>"),
    ("a page", "t.csv", b"<html><body><table><tr><td>size</td></tr></table></body></html>"),
    ("YAML", "t.yaml", b"- size: 1\n  label: a\n- size: 2\n  label: b\n"),
    ("ARFF", "t.arff", b"@relation t\n@attribute label {a,b}\n@data\na\n"),
    ("SQL", "t.sql", b"CREATE TABLE t (size real);\nINSERT INTO t VALUES (1);\n"),
    ("a letter", "t.rtf", b"{\\rtf1\\ansi size, label}"),
    ("noise", "t.csv", np.random.default_rng(0).bytes(5000)),
    ("noise of text", "t.csv", bytes(np.random.default_rng(1).integers(32, 127, 5000).tolist())),
):  # fmt: skip
    odd(f"format: {name}", file, data, REFUSED)

# Paths.
odd("path: a folder", "t.csv", Path.mkdir, REFUSED)
odd(
    "path: a folder of broken Parquet",
    "t",
    lambda path: (path.mkdir(), (path / "a.parquet").write_bytes(b"PAR1")),
    REFUSED,
)
odd(
    "path: a folder of two kinds",
    "t",
    lambda path: (
        path.mkdir(),
        (path / "a.parquet").write_bytes(PARQUET),
        (path / "b.parquet").write_bytes(parquet(pa.table({"other": [1, 2]}))),
    ),
    REFUSED,
)
odd("path: nothing", "t.csv", lambda path: None, NO_FILE)
odd("path: a link to nothing", "t.csv", lambda path: path.symlink_to("absent.csv"), NO_FILE)
odd("path: a link to itself", "t.csv", lambda path: path.symlink_to(path), NO_FILE)
odd("path: a file as a folder", "t.csv/t.csv", lambda path: path.parent.write_text("x"), NO_FILE)
odd("path: a long name", "t" * 300 + ".csv", lambda path: None, NO_FILE)
odd("path: nothing to read", "t.csv", lambda path: path.symlink_to("/dev/null"), REFUSED)
odd("path: escape sequences", "\x1b]0;x\x07.csv", TEXT, OK)
odd("path: escape sequences of nothing", "\x1b[31m.csv", lambda path: None, NO_FILE)
odd("path: a line end", "t\nt.csv", LINES[0], REFUSED)
odd("path: spaces", "  t t  .csv", TEXT, OK)
odd("path: no ending", "t", TEXT, OK)
odd("path: another ending", "t.exe", TEXT, OK)
odd("path: text as Parquet", "t.parquet", TEXT, REFUSED)
odd("path: text as JSON", "t.json", TEXT, REFUSED)
odd("path: text as Feather", "t.feather", TEXT, OK)
odd("path: Parquet as text", "t.csv", PARQUET, OK)
odd("path: JSON as text", "t.csv", JSON_LINES, OK)
odd("path: letters of all scripts", "таблица 表 🙂.csv", TEXT, OK)
