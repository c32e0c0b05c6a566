"""Open any file as a table: its content decides which reader does; pipes are copied to a file."""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
import zipfile
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

from granulearn._extras import check_installed
from granulearn.tables.io.table_file import AS_FOUND, ReadOptions, TableFile
from granulearn.tables.io.text_source import BLOCK, COMPRESSIONS, TextSource
from granulearn.tables.messages import TableError

__all__ = ["ReadOptions", "TableFile", "open_table"]

PARQUET_ENDINGS = (".parquet", ".pq")
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_ARROW = (b"ARROW1", b"\xff\xff\xff\xff")
_OLD_WORKBOOK = (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"\x09\x08")
_FOREIGN = {
    "an image": (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"II*\0", b"MM\0*", b"BM\0"),
    "a PDF document": (b"%PDF",),
    "a PostScript or RTF document": (b"%!PS", b"{\\rtf"),
    "an array of NumPy": (b"\x93NUMPY",),
    "a pickle of Python": (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"),
    "an HDF5 file": (b"\x89HDF",),
    "an SQLite database": (b"SQLite format 3",),
    "a file of R": (b"RDX2", b"RDX3", b"RDA3", b"X\n\0\0\0"),
    "a file of SPSS": (b"$FL2", b"$FL3"),
    "a file of Stata": (b"<stata_dta>",),
    "an ORC or Avro file": (b"ORC", b"Obj\x01"),
    "an encrypted Parquet file": (b"PARE",),
    "a Feather file of the first version": (b"FEA1",),
    "a 7z or RAR archive": (b"7z\xbc\xaf\x27\x1c", b"Rar!"),
    "a program": (b"\x7fELF", b"MZ\x90"),
    "a sound, a film or an image": (b"RIFF", b"OggS", b"ID3"),
}
_MARKUP = {
    "a web page (HTML)": (b"<!doctype html", b"<html", b"<table"),
    "an XML document": (b"<?xml",),
    "an image (SVG)": (b"<svg",),
}
_DOCUMENTS = {
    "word/document.xml": "a Word document",
    "ppt/presentation.xml": "a presentation",
    "Index/Document.iwa": "a document of Numbers, Pages or Keynote",
}
_NOT_IN_TEXT = re.compile(rb"[\x00-\x08\x0e-\x1a]")


def open_table(path: str | os.PathLike[str], options: ReadOptions | None = None) -> TableFile:
    """Open a table in a file; the content decides on the format, not the name.

    Text with separators (also compressed as .gz, .bz2, .xz, .zst or .zip), Parquet and folders
    of it, Feather and other files of Arrow, workbooks (.xlsx, .xls, .xlsb, .ods) and JSON
    objects are tables.

    Parameters
    ----------
    path : str or path
        A file, a folder of Parquet files, a pipe, or ``-`` for standard input.
    options : ReadOptions, default=None
        Options for reading the file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pandas as pd
    >>> from granulearn.tables import open_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "orders.csv")
    ...     pd.DataFrame({"price": ["10,5", "99,0"], "late": ["no", "yes"]}).to_csv(path, sep=";")
    ...     open_table(path).names
    ['column 1', 'price', 'late']
    """
    path, options = Path(path), options or AS_FOUND
    is_stdin = str(path) in ("-", "/dev/stdin")
    if not is_stdin and (path.is_file() or path.is_dir() or not path.exists()):
        # A part may be read in another process, which need not be in the same folder.
        return _opened(path.absolute(), path, options)
    shown = Path("standard input") if is_stdin else path
    with ExitStack() as stack:
        folder = tempfile.TemporaryDirectory(prefix="granulearn-")
        copy = Path(stack.enter_context(folder)) / "table"
        _copy_stream(None if is_stdin else path, copy)
        table = _opened(copy, shown, options)
        table.hold(stack.pop_all())
    return table


def _copy_stream(path: Path | None, copy: Path) -> None:
    """Copy a pipe, or standard input, to a file, which can be read more than once."""
    if path is None and sys.stdin is None:
        raise OSError("standard input is closed; name a file, or send a table there.")
    if path is not None and path.is_char_device():  # /dev/zero has no end
        raise TableError(f"{path} is a device, not a table; name a file.")
    opened = nullcontext(sys.stdin.buffer) if path is None else path.open("rb")
    with opened as stream, copy.open("wb") as file:
        shutil.copyfileobj(stream, file, 2**20)


def _opened(path: Path, shown: Path, options: ReadOptions) -> TableFile:
    # Imported when needed: most files need one reader.
    if path.is_dir():
        from granulearn.tables.io.arrow import ParquetTable

        return ParquetTable(path, shown, options)
    if not path.is_file():
        raise FileNotFoundError(f"{shown} is not a file; check the path.")
    with path.open("rb", BLOCK) as file:
        return _opened_file(file, path, shown, options)


def _opened_file(file: Any, path: Path, shown: Path, options: ReadOptions) -> TableFile:
    beginning = file.peek(2**12)[: 2**12]
    if not beginning:
        raise TableError(f"{shown} is empty; it needs a header line and data rows.")
    is_workbook = beginning.startswith(_ZIP) and _is_workbook(file, shown)
    if is_workbook or _begins(beginning, *_OLD_WORKBOOK):
        check_installed("python_calamine")
        from granulearn.tables.io.workbook import WorkbookTable

        return WorkbookTable(path, shown, options)
    if _begins(beginning, *_ARROW):
        from granulearn.tables.io.arrow import ArrowTable

        return ArrowTable(path, shown, options)
    compression = next((COMPRESSIONS[m] for m in COMPRESSIONS if _begins(beginning, m)), None)
    is_parquet = _begins(beginning, b"PAR1")
    if compression is None and not is_parquet:
        _refuse_foreign(shown, beginning)
    if is_parquet or (compression is None and shown.suffix.lower() in PARQUET_ENDINGS):
        from granulearn.tables.io.arrow import ParquetTable

        return ParquetTable(path, shown, options)
    file.seek(0)
    source = TextSource(path, shown, compression, options=options)
    return _opened_text(replace(source, stream=source.decompress(file)), options)


def _opened_text(source: TextSource, options: ReadOptions) -> TableFile:
    from granulearn.tables.io.json_lines import JsonTable, looks_like_json
    from granulearn.tables.io.text import TextTable

    beginning = source.beginning
    if source.compression:
        _refuse_foreign(source.shown, beginning)
        if _begins(beginning, *COMPRESSIONS, *_ARROW, *_OLD_WORKBOOK, b"PAR1"):
            raise TableError(
                f"{source.shown} holds another compressed file (a workbook, an archive or a "
                "Parquet file); unpack it and name that file."
            )
    endings = {suffix.lower() for suffix in source.shown.suffixes[-2:]}
    if endings & {".json", ".jsonl", ".ndjson"} or looks_like_json(beginning):
        return JsonTable(source, options)
    return TextTable(source, options)


def _begins(content: bytes, *magic: bytes) -> bool:
    """Return whether a file begins with magic bytes; letters, as in ORC, may begin a header."""
    found = next((one for one in magic if content.startswith(one)), None)
    if found is None:
        return False
    return not found.isalnum() or bool(_NOT_IN_TEXT.search(content[: 2**12]))


def _is_workbook(file: BinaryIO, shown: Path) -> bool:
    """Return whether a ZIP archive is a workbook; most office documents are archives."""
    try:
        names = zipfile.ZipFile(file).namelist()
    except (zipfile.BadZipFile, ValueError) as error:
        raise TableError(
            f"{shown} is a broken archive or workbook ({error}); copy or download it again."
        ) from error
    for name, what in _DOCUMENTS.items():
        if name in names:
            raise _foreign(shown, what)
    if names and all(name.endswith(".npy") for name in names):
        raise _foreign(shown, "an archive of NumPy arrays")
    is_excel = any(name.startswith("xl/workbook") for name in names)
    return is_excel or ("content.xml" in names and "mimetype" in names)


def _refuse_foreign(shown: Path, beginning: bytes) -> None:
    for what, magic in _FOREIGN.items():
        if _begins(beginning, *magic):
            raise _foreign(shown, what)
    if beginning[4:9] == b"\0\0\0\0{":
        raise _foreign(shown, "a model file")
    if beginning[257:262] == b"ustar":
        raise TableError(f"{shown} is an archive of files (tar); unpack it and name the table.")
    text = beginning.removeprefix(b"\xef\xbb\xbf").lstrip()[:20].lower()
    for what, tags in _MARKUP.items():
        if text.startswith(tags):
            raise _foreign(shown, what)


def _foreign(shown: Path, what: str) -> TableError:
    way_out = "save the table as CSV, Excel (.xlsx) or Parquet."
    return TableError(f"{shown} looks like {what}, not like a table; {way_out}")
