"""Any file is opened by what it holds; the same table has the same cells in every format."""

import errno
import gzip
import io
import json
import os
import pickle
import subprocess
import sys
import tempfile
import threading
import zipfile
from pathlib import Path

import openpyxl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as parquet
import pytest
from hypothesis import given, settings

from granulearn.tables import TableError
from granulearn.tables.io import files
from granulearn.tables.io.files import ReadOptions, open_table
from tests.tables.nasty_tables import rows_of, tables, written

# What XML cannot hold or would normalise is no matter of a reader.
PLAIN = "\",;\t|' aZé€ß=+-@1.0漢\\"


def write_every_format(folder: Path, names, rows) -> dict[str, Path]:
    columns = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    text = written(names, rows)
    (folder / "text.csv").write_text(text, newline="")
    (folder / "no_ending").write_text(written(names, rows, "\t"), newline="")
    (folder / "wide.txt").write_bytes(written(names, rows, ";").encode("utf-16"))
    (folder / "packed.csv.gz").write_bytes(gzip.compress(text.encode()))
    with zipfile.ZipFile(folder / "packed.zip", "w") as archive:
        archive.writestr("inner/table.csv", text)
    lines = [json.dumps(dict(zip(names, row, strict=True))) for row in rows]
    (folder / "lines.jsonl").write_text("\n".join(lines))
    (folder / "lines").write_text("\n".join(lines))
    (folder / "array.json").write_text("[" + ",".join(lines) + "]")
    parquet.write_table(pa.table(columns), folder / "table.parquet", row_group_size=2)
    feather.write_feather(pa.table(columns), folder / "table.feather", chunksize=2)
    (folder / "folder").mkdir()
    parquet.write_table(pa.table(columns), folder / "folder" / "0.parquet")
    book = openpyxl.Workbook()
    for i, row in enumerate([names, *rows], start=1):
        for j, value in enumerate(row, start=1):
            cell = book.active.cell(i, j, value)
            cell.data_type = "s"  # also if it begins with =
    book.save(folder / "book.xlsx")
    return {path.name: path for path in folder.iterdir()}


@settings(max_examples=40)
@given(tables(PLAIN).filter(lambda table: all(all(map(str.strip, row)) for row in table[1])))
def test_a_table_has_the_same_cells_in_every_format_and_by_every_way(table):
    names, rows = table
    separators = {"text.csv": ",", "no_ending": "\t", "wide.txt": ";"}
    with tempfile.TemporaryDirectory() as folder:
        for name, path in write_every_format(Path(folder), names, rows).items():
            separator = separators.get(name, "," if name.startswith("packed") else None)
            # Spreadsheets have no blanks around a text that is not marked to have them.
            expected = [[cell.strip() for cell in row] for row in rows] if "xlsx" in name else rows
            with open_table(path, ReadOptions(separator=separator)) as read:
                found = rows_of(read.batches())
                found = (
                    [[cell.strip() for cell in row] for row in found] if "xlsx" in name else found
                )
                assert (name, read.names, found) == (name, names, expected)
                turned = [
                    row for part in read.parts() for row in rows_of(part.batches(names[::-1]))
                ]
                if "xlsx" not in name:
                    assert turned == [row[::-1] for row in rows]


def test_a_text_under_the_name_of_a_workbook_is_a_text(tmp_path):
    (tmp_path / "t.xls").write_text("a\tb\n1\t2\n")
    assert rows_of(open_table(tmp_path / "t.xls").batches()) == [["1", "2"]]


@pytest.mark.parametrize("header", ["ORC,ID", "PAR1,x", "ID3,GIF8", "RIFF,BZh", "ARROW1,y"])
def test_names_that_read_like_marks_of_formats_are_names(tmp_path, header):
    (tmp_path / "t.csv").write_text(f"{header}\n1,2\n")
    assert open_table(tmp_path / "t.csv").names == header.split(",")


def zip_of(**members: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def parquet_bytes() -> bytes:
    sink = io.BytesIO()
    parquet.write_table(pa.table({"a": [1]}), sink)
    return sink.getvalue()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"a,b\n", "has a header but no data rows"),
        (b"\x89PNG\r\n\x1a\n\0\0", "looks like an image"),
        (pickle.dumps({"a": 1}), "looks like a pickle of Python"),
        (b"<!DOCTYPE html>\n<html>", "looks like a web page"),
        (b"%PDF-1.7\n", "looks like a PDF document"),
        (gzip.compress(b"a,b\n1,2\n" * 99, mtime=0)[:-12], "is a broken gzip archive"),
        (b"PK\x03\x04 and no more", "is a broken archive or workbook"),
        (zip_of(a=b"x\n1\n", b=b"y\n1\n"), "holds 2 files: 'a', 'b'"),
        (zip_of(), "empty archive"),
        (gzip.compress(parquet_bytes(), mtime=0), "holds a file that is packed itself"),
        (zip_of(**{"word/document.xml": b""}), "looks like a Word document"),
        (bytes(range(256)) * 9, "NUL byte"),
    ],
)
def test_what_is_no_table_is_refused_with_what_it_looks_like(tmp_path, content, said):
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(TableError, match=said):
        open_table(tmp_path / "t.csv")


def test_a_file_under_the_name_of_parquet_is_refused_as_such(tmp_path):
    (tmp_path / "t.parquet").write_bytes(b"a,b\n1,2\n")
    with pytest.raises(TableError, match="is no readable Parquet file"):
        open_table(tmp_path / "t.parquet")


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere\.csv is not a file"):
        open_table(tmp_path / "nowhere.csv")


@pytest.mark.parametrize(
    "content", [b"a,b\n1,2\n", gzip.compress(b"a,b\n1,2\n", mtime=0), b'{"a":1,"b":2}']
)
def test_a_pipe_is_read_by_what_it_holds_and_its_copy_is_removed(tmp_path, content):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(content,))
    writer.start()
    with open_table(pipe) as table:
        copies = table.parts()
        assert table.path == pipe
        assert rows_of(table.batches()) == rows_of(table.batches()) == [["1", "2"]]
        assert rows_of(copies[0].batches()) == [["1", "2"]]
    writer.join()
    with pytest.raises(FileNotFoundError):
        list(copies[0].batches())


def test_standard_input_is_named_in_messages_and_leaves_nothing_behind(tmp_path):
    code = (
        "from granulearn.tables.io.files import open_table\n"
        "print(open_table('-').names)\n"
        "try: open_table('/dev/stdin')\n"
        "except ValueError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=b"a;b\n1;2\n",
        capture_output=True,
        env=os.environ | {"TMPDIR": str(tmp_path)},
        check=True,
    )
    assert done.stdout.decode().splitlines()[0] == "['a', 'b']"
    assert "standard input is empty" in done.stdout.decode()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"\xff\xd8\xff\xe0", "an image"),
        (b"SQLite format 3\0", "an SQLite database"),
        (b"\xef\xbb\xbf\n <HTML>", "a web page"),
        (b"<?xml version", "an XML document"),
        (b"a" * 257 + b"ustar", "tar"),
    ],
)
def test_what_looks_like_something_else_is_named_packed_or_not(tmp_path, content, what):
    for path, raw in {"t.csv": content, "t.csv.gz": gzip.compress(content)}.items():
        (tmp_path / path).write_bytes(raw)
        with pytest.raises(TableError, match=what):
            open_table(tmp_path / path)


def test_a_closed_standard_input_is_said(monkeypatch):
    monkeypatch.setattr(files.sys, "stdin", None)
    with pytest.raises(OSError, match="standard input is closed"):
        open_table("-")


@pytest.mark.parametrize("device", ["/dev/null", "/dev/zero"])
def test_a_device_is_never_copied(device, tmp_path, monkeypatch):
    monkeypatch.setattr(files.shutil, "copyfileobj", None)  # /dev/zero would fill the disk
    (tmp_path / "t.csv").symlink_to(device)
    for path in (Path(device), tmp_path / "t.csv"):
        with pytest.raises(TableError, match=f"{path} is a device"):
            open_table(path)


def test_no_room_for_a_copy_is_said(monkeypatch, tmp_path):
    def full(*_):
        raise OSError(errno.ENOSPC, "no space")

    monkeypatch.setattr(files.shutil, "copyfileobj", full)
    monkeypatch.setattr(files.sys, "stdin", io.TextIOWrapper(io.BytesIO()))
    with pytest.raises(OSError, match=r"no room for a copy of standard input; set TMPDIR"):
        open_table("-")
