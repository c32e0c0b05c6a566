"""What a file is, judged by its first bytes."""

from __future__ import annotations

import re
import zipfile
from enum import Enum
from pathlib import Path

from granulearn.tables.errors import TableError

SNIFFED_BYTES = 2**12


class Format(Enum):
    """How a file must be opened."""

    PARQUET = "Parquet"
    ARROW = "Arrow"
    WORKBOOK = "workbook"
    PACKED = "packed"
    TEXT = "text"


_MARKS = {
    b"PAR1": Format.PARQUET,
    b"ARROW1": Format.ARROW,
    b"\xff\xff\xff\xff": Format.ARROW,
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": Format.WORKBOOK,
    b"\x09\x08": Format.WORKBOOK,
    b"\x1f\x8b": Format.PACKED,
    b"BZh": Format.PACKED,
    b"\xfd7zXZ\x00": Format.PACKED,
    b"\x28\xb5\x2f\xfd": Format.PACKED,
}
_FOREIGN = {
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"GIF8": "a GIF image",
    b"II*\0": "a TIFF image",
    b"MM\0*": "a TIFF image",
    b"BM\0": "a bitmap image",
    b"%PDF": "a PDF document",
    b"%!PS": "a PostScript document",
    b"{\\rtf": "an RTF document",
    b"\x93NUMPY": "an array of NumPy",
    b"\x89HDF": "an HDF5 file",
    b"SQLite format 3": "an SQLite database",
    b"RDX2": "a file of R",
    b"RDX3": "a file of R",
    b"RDA3": "a file of R",
    b"X\n\0\0\0": "a file of R",
    b"$FL2": "a file of SPSS",
    b"$FL3": "a file of SPSS",
    b"<stata_dta>": "a file of Stata",
    b"ORC": "an ORC file",
    b"Obj\x01": "an Avro file",
    b"PARE": "an encrypted Parquet file",
    b"FEA1": "a Feather file of the first version",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"Rar!": "a RAR archive",
    b"\x7fELF": "a program",
    b"MZ\x90": "a program",
    b"RIFF": "a sound, a film or an image",
    b"OggS": "a sound or a film",
    b"ID3": "a sound",
}
_TAR_AT = 257
_MARKUP = {
    b"<!doctype html": "a web page (HTML)",
    b"<html": "a web page (HTML)",
    b"<table": "a web page (HTML)",
    b"<?xml": "an XML document",
    b"<svg": "an image (SVG)",
}
PARQUET_ENDINGS = (".parquet", ".pq")
_NOT_IN_TEXT = re.compile(rb"[\x00-\x08\x0e-\x1a]")
_WAY_OUT = "save the table as CSV, Excel (.xlsx) or Parquet."


def format_of(path: Path, shown: Path, beginning: bytes) -> Format:
    """Return what a file is, or raise a `TableError` that says what it looks like.

    Parameters
    ----------
    path : Path
        The file.
    shown : Path
        As the user named it, for messages.
    beginning : bytes
        Its first `SNIFFED_BYTES`.
    """
    if beginning.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _format_of_archive(path, shown)
    for mark, found in _MARKS.items():
        if _begins(beginning, mark):
            return found
    refuse_foreign(shown, beginning)
    if shown.suffix.lower() in PARQUET_ENDINGS:
        return Format.PARQUET  # whose reader says what is wrong with it
    return Format.TEXT


def _begins(content: bytes, mark: bytes) -> bool:
    """Return whether content is of a kind; a header may well begin with the letters ORC."""
    if not content.startswith(mark):
        return False
    return not mark.isalnum() or bool(_NOT_IN_TEXT.search(content))


def _format_of_archive(path: Path, shown: Path) -> Format:
    """Return whether a ZIP archive is a workbook; most office documents are archives."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, ValueError) as error:
        raise TableError(
            f"{shown} is a broken archive or workbook ({error}); copy or download it again."
        ) from error
    if any(name.startswith("xl/workbook") for name in names):
        return Format.WORKBOOK
    if "content.xml" in names and "mimetype" in names:
        return Format.WORKBOOK
    inside = {
        "word/document.xml": "a Word document",
        "ppt/presentation.xml": "a presentation",
        "Index/Document.iwa": "a document of Numbers, Pages or Keynote",
    }
    for name, what in inside.items():
        if name in names:
            raise _foreign(shown, what)
    if names and all(name.endswith(".npy") for name in names):
        raise _foreign(shown, "an archive of NumPy arrays")
    return Format.PACKED


def refuse_foreign(shown: Path, beginning: bytes) -> None:
    """Raise a `TableError` if bytes begin like something that is not a table.

    Parameters
    ----------
    shown : Path
        The file, for the message.
    beginning : bytes
        The first bytes of a file, or of what was packed in it.
    """
    for mark, what in _FOREIGN.items():
        if _begins(beginning, mark):
            raise _foreign(shown, what)
    if beginning[_TAR_AT : _TAR_AT + 5] == b"ustar":
        raise TableError(f"{shown} is an archive of files (tar); unpack it and name the table.")
    if beginning[:1] == b"\x80" and beginning[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05"):
        raise _foreign(shown, "a pickle of Python")
    text = beginning.removeprefix(b"\xef\xbb\xbf").lstrip()[:20].lower()
    for mark, what in _MARKUP.items():
        if text.startswith(mark):
            raise _foreign(shown, what)


def refuse_packed(shown: Path, beginning: bytes) -> None:
    """Raise a `TableError` if what is packed is not text.

    Parameters
    ----------
    shown : Path
        The file, for the message.
    beginning : bytes
        The first unpacked bytes.
    """
    refuse_foreign(shown, beginning)
    packed = {**_MARKS, b"PK\x03\x04": Format.PACKED}
    if any(_begins(beginning, mark) for mark in packed):
        raise TableError(
            f"{shown} holds a file that is packed itself (a workbook, an archive or a Parquet "
            "file); unpack it and name that file."
        )


def _foreign(shown: Path, what: str) -> TableError:
    return TableError(f"{shown} looks like {what}, not like a table; {_WAY_OUT}")
