"""Files that are no table to learn from, with the words that the refusal must hold."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import pickle
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pyarrow as pa

from tests.cli.commands import succeeds
from tests.end_to_end.messy_sources import bundled
from tests.end_to_end.odd_files import CELLS, feather, parquet, workbook
from tests.end_to_end.odd_tables import LINES, NO_FILE, REFUSED, TEXT, odd, with_line, zipped

NOISE = bytes(range(256))
TEXT_BYTES = TEXT.encode()
TABLE = pa.table({"size": [1.5, 2.5, 3.5, 4.5] * 10, "label": ["a", "b", "a", "b"] * 10})
ROWS = range(60)


def database(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("create table samples (size real, label text)")
        connection.commit()


def locked_zip() -> bytes:
    data = bytearray(zipped(a_csv=TEXT))
    # Bit 0 of the flags, in the local header and in the directory: the member is encrypted.
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    return bytes(data)


def unreadable(path: Path) -> None:
    path.write_text(TEXT)
    path.chmod(0)


def folder_of_text(path: Path) -> None:
    path.mkdir()
    (path / "a.csv").write_text(TEXT)


def measurements(path: Path) -> None:
    table = bundled("iris", 150)
    table["petal width"] += np.arange(150) / 1000
    table.to_csv(path, index=False)


def own_output(verb: str):
    """Return what writes the output of a command for a good table, and nothing else."""

    def write(path: Path) -> None:
        source, model = path.with_name("source.csv"), path.with_name("model.granulearn")
        source.write_text(TEXT)
        if verb == "audit":
            succeeds("audit", source, "--target", "label", "-o", path)
        else:
            succeeds("fit", source, "--target", "label", "--model", "rvfl", "-o", model)
        if verb == "predict":
            succeeds("predict", model, source, "--proba", "-o", path)
        elif verb == "fit":
            model.rename(path)
        source.unlink()
        model.unlink(missing_ok=True)

    return write


def ragged() -> str:
    lines = [*LINES]
    for number, line in {3: f"{lines[3]},more", 6: "1.5", 18: f"{lines[18]},and,more"}.items():
        lines[number] = line
    return "\n".join(lines)


odd("no file", "absent.csv", lambda path: None, NO_FILE, "absent.csv", "check the path")
if os.geteuid():  # the superuser may read everything
    odd("a file without rights", "locked.csv", unreadable, NO_FILE, "locked.csv", "rights")

# Of other programs, broken, empty, protected.
for file, content, *says in (
    ("zero.csv", b"", "zero.csv", "empty"),
    ("blank.csv", "\n\r\n\n", "blank.csv", "empty"),
    ("mark.csv", b"\xef\xbb\xbf", "mark.csv", "empty"),
    ("header.csv", LINES[0] + "\n", "header.csv", "no data rows"),
    ("photo.csv", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + 40 * NOISE, "photo.csv", "an image"),
    ("paper.csv", b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n" + NOISE, "paper.csv", "PDF"),
    ("page.csv", "<!DOCTYPE html>\n<html><body>Hello</body></html>\n", "page.csv", "HTML"),
    ("pickle.csv", pickle.dumps({"size": [1], "label": ["a"]}), "pickle.csv", "pickle"),
    ("base.csv", database, "base.csv", "SQLite"),
    ("cut.csv.gz", gzip.compress(TEXT_BYTES)[:-20], "cut.csv.gz", "broken"),
    ("noise.csv.gz", b"\x1f\x8b\x08\x00" + NOISE, "noise.csv.gz", "broken"),
    ("cut.csv.bz2", bz2.compress(TEXT_BYTES)[:-20], "cut.csv.bz2", "broken"),
    ("cut.csv.xz", lzma.compress(TEXT_BYTES)[:-20], "cut.csv.xz", "broken"),
    ("cut.csv.zst", pa.compress(TEXT_BYTES, "zstd", asbytes=True)[:-20], "cut.csv.zst", "broken"),
    ("two.zip", zipped(a_csv=TEXT, b_csv=TEXT), "two.zip", "a.csv", "b.csv"),
    ("none.zip", zipped(), "none.zip", "empty"),
    ("cut.zip", zipped(a_csv=TEXT)[:-30], "cut.zip", "broken"),
    ("locked.zip", locked_zip(), "locked.zip", "password"),
    ("cut.xlsx", workbook(CELLS)[:-400], "cut.xlsx"),
    ("blank.xlsx", workbook([], more=[]), "blank.xlsx", "empty"),
    (
        "secret.xlsx",
        bytes.fromhex("d0cf11e0a1b11ae1") + NOISE + "EncryptedPackage".encode("utf-16-le"),
        *("secret.xlsx", "password"),
    ),
    ("cut.parquet", parquet(TABLE)[:-100], "cut.parquet"),
    ("noise.parquet", b"PAR1" + NOISE + b"PAR1", "noise.parquet"),
    ("none.parquet", parquet(TABLE.slice(0, 0)), "none.parquet", "no data rows"),
    (
        "zone.parquet",
        parquet(TABLE.append_column("when", pa.array(range(40), pa.timestamp("s", "Mars/Phobos")))),
        *("zone.parquet", "'when'", "'Mars/Phobos'"),
    ),
    ("cut.feather", feather()[:-60], "cut.feather"),
    ("folder", folder_of_text, "folder", "Parquet"),
    ("list.json", '{"size": 1, "label": }\n', "list.json", "line 1"),
    ("broken.jsonl", '{"size": 1}\n{"size": 2}\n{"size": 3, "lab', "broken.jsonl", "line 3"),
    ("numbers.jsonl", "1\n2\n3\n", "numbers.jsonl", "object"),
    ("fitted.granulearn", own_output("fit"), "fitted.granulearn", "model"),
):
    odd(f"refused: {file}", file, content, REFUSED, *says)

# Rows, text and targets.
for name, content, target, options, *says in (
    ("rows of other lengths", ragged(), "label", (), "t.csv", "line 4", "line 7", "line 19"),
    ("NUL bytes", with_line(2, "1.5,r\0d,a"), "label", (), "t.csv", "NUL", "line 3"),
    ("an open quote", with_line(4, '1.5,"red,a'), "label", (), "t.csv", "line 5"),
    (
        "too many columns",
        "\n".join(",".join([one] * 200_000) + ",label" for one in "c1"),
        *("label", (), "t.csv", "columns"),
    ),
    ("another encoding", with_line(4, "1.5,blüe,a"), "label", ("--encoding", "ascii"), "line 5"),
    ("an unknown encoding", TEXT, "label", ("--encoding", "klingon"), "klingon"),
    ("a misspelt target", TEXT, "lable", (), "t.csv", "lable", "label"),
    ("a target in capitals", TEXT, "Label", (), "t.csv", "Label", "'label'"),
    ("prose", "It was the best of times.\nIt was the worst of times.\n", "label", (), "label"),
    ("a constant target", "size,label\n" + "1,a\n2,a\n" * 15, "label", (), "'label'", "'a'"),
    ("an empty target", "size,label\n" + "1,\n2,\n" * 15, "label", (), "'label'", "empty"),
    ("a measured target", measurements, "petal width", (), "'petal width'", "regressor"),
    (
        "a target of names",
        "size,name\n" + "".join(f"{row % 7},person {row}\n" for row in ROWS),
        *("name", (), "t.csv", "'name'"),
    ),
    ("a target alone", "label\n" + "a\nb\n" * 15, "label", (), "t.csv", "'label'", "target"),
    (
        "nothing to learn from",
        "id,site,label\n"
        + "".join(f"K{7919 * row % 99991},north,{'ab'[row % 2]}\n" for row in ROWS),
        *("label", (), "t.csv", "id", "site"),
    ),
    (
        "a target of long texts",
        "size,label\n" + "".join(f"{row % 7},{'ab'[row % 2] * 1200}\n" for row in ROWS),
        *("label", (), "'label'", "1,200 characters"),
    ),
    ("an audit", own_output("audit"), "given_label", (), "t.csv", "granulearn audit"),
    ("predictions", own_output("predict"), "prediction", (), "t.csv", "granulearn predict"),
    (
        "several problems",
        TEXT,
        "lable",
        ("--ignore", "length", "--categorical", "kolour"),
        *("t.csv", "lable", "length", "kolour"),
    ),
):
    odd(f"refused: {name}", "t.csv", content, REFUSED, *says, target=target, options=options)
odd(
    "refused: a sheet that is not there", "t.xlsx", workbook(CELLS, Legend=[]), REFUSED,
    *("t.xlsx", "Dta", "Sheet", "Legend"), options=("--sheet", "Dta"),
)  # fmt: skip
