"""Files compressed as another one is, and archives of which one member is written again."""

from __future__ import annotations

import bz2
import copy
import gzip
import lzma
import shutil
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

import pyarrow as pa

from granulearn.tables.errors import TableError
from granulearn.tables.io.text_source import TextSource, is_table

# That of the program gzip: the highest level takes three times as long for a few bytes.
_GZIP_LEVEL = 6
_LONG_MEMBER = 2**30


@contextmanager
def compressed_like(source: TextSource, temporary: Path) -> Iterator[Any]:
    """Give a file to write text to, compressed as the source is.

    No time of writing is stored, so that equal tables give equal files.
    """
    if source.compression == "zip":
        with zipfile.ZipFile(source.path) as archive:
            table = next(filter(is_table, archive.infolist()))
        with changed_member(source.path, temporary, table.filename) as member:
            yield member
        return
    with ExitStack() as opened:
        file: Any = opened.enter_context(temporary.open("wb"))
        if source.compression == "gzip":
            file = opened.enter_context(gzip.GzipFile("", "wb", _GZIP_LEVEL, file, mtime=0))
        elif source.compression == "bz2":
            file = opened.enter_context(bz2.BZ2File(file, "wb"))
        elif source.compression == "xz":
            file = opened.enter_context(lzma.LZMAFile(file, "wb"))
        elif source.compression == "zstd":
            file = opened.enter_context(pa.CompressedOutputStream(pa.PythonFile(file), "zstd"))
        yield file


@contextmanager
def changed_member(path: Path, temporary: Path, changed: str) -> Iterator[BinaryIO]:
    """Give one member of a ZIP archive to be written again; all others are copied."""
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(temporary, "w") as new:
        new.comment = old.comment
        for member in old.infolist():
            is_long = member.file_size > _LONG_MEMBER
            with new.open(copy.copy(member), "w", force_zip64=is_long) as file:
                if member.filename == changed:
                    yield cast(BinaryIO, file)
                    continue
                try:
                    with old.open(member) as content:
                        shutil.copyfileobj(content, file)
                except (NotImplementedError, RuntimeError, zipfile.BadZipFile) as error:
                    raise TableError(
                        f"{path}: its part {member.filename!r} cannot be copied ({error}); open "
                        "it in a spreadsheet program and save it again."
                    ) from error
