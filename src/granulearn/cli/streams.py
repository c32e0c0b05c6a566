"""Standard input, standard output, pipes and devices where a verb takes a file."""

from __future__ import annotations

import errno
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import BinaryIO

from granulearn.cli.exit_codes import UsageError
from granulearn.cli.options import check_can_be_written
from granulearn.cli.output import bold, console, note
from granulearn.datasets import TableError
from granulearn.persistence.atomic_files import written_atomically, written_through

_PARQUET_BEGINS = b"PAR1"


def is_standard_input(path: Path) -> bool:
    """Return whether an input is ``-``, or what that is called in ``/dev``.

    Parameters
    ----------
    path : Path
        As given.
    """
    return str(path) in ("-", "/dev/stdin")


def is_standard_output(path: Path) -> bool:
    """Return whether an output is ``-``, or what that is called in ``/dev``.

    Parameters
    ----------
    path : Path
        As given.
    """
    return str(path) in ("-", "/dev/stdout")


def is_pipe_or_device(path: Path) -> bool:
    """Return whether there is something that is neither a file nor a folder.

    Parameters
    ----------
    path : Path
        As given.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def check_is_no_stream(path: Path) -> None:
    """Refuse a table that cannot be read more than once.

    Parameters
    ----------
    path : Path
        As given.
    """
    if is_standard_input(path) or is_pipe_or_device(path):
        raise UsageError(
            f"{path} is a stream, and only `granulearn predict` reads tables from one; save it as "
            "a file first (cat > table.csv)."
        )


@contextmanager
def as_file(path: Path) -> Iterator[Path]:
    """Give a file that can be read more than once: this one, or a copy of a stream.

    A copy is removed at the end, and errors that are raised about it name the stream.

    Parameters
    ----------
    path : Path
        A file, a pipe, or ``-`` for standard input.
    """
    if not is_standard_input(path) and not is_pipe_or_device(path):
        yield path
        return
    name = "standard input" if is_standard_input(path) else str(path)
    with tempfile.TemporaryDirectory(prefix="granulearn-") as folder:
        copy = _copied(path, name, Path(folder))
        try:
            yield copy
        except TableError as error:
            raise TableError(str(error).replace(str(copy), name)) from error


def _copied(path: Path, name: str, folder: Path) -> Path:
    with _opened(path) as stream:
        begins = stream.read(len(_PARQUET_BEGINS))
        copy = folder / ("table.parquet" if begins == _PARQUET_BEGINS else "table.csv")
        try:
            with copy.open("wb") as file:
                file.write(begins)
                shutil.copyfileobj(stream, file)
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            raise OSError(
                f"{folder.parent} has no room for a copy of {name}; set TMPDIR to a folder that "
                "has, or save the table as a file first."
            ) from error
    return copy


def _opened(path: Path) -> AbstractContextManager[BinaryIO]:
    if not is_standard_input(path):
        return path.open("rb")
    if sys.stdin is None:
        raise OSError("standard input is closed; name a file, or send a table there.")
    return nullcontext(sys.stdin.buffer)  # not ours to close


def check_output(path: Path, *suffixes: str, json: bool) -> None:
    """Refuse, before any work is done, an output that could not be written after it.

    Parameters
    ----------
    path : Path
        A file, a pipe, a device, or ``-`` for standard output.
    *suffixes : str
        The endings that a file may have.
    json : bool
        Whether a JSON object goes to standard output.
    """
    if is_standard_output(path):
        if json:
            raise UsageError(
                f"--json and --output {path} both write to standard output; leave out --json, or "
                "name a file."
            )
    elif path.suffix or not is_pipe_or_device(path):
        check_can_be_written(path, *suffixes)


def tell_written(summary: str, path: Path) -> None:
    """Print what was written and where; as a remark if standard output holds the result.

    Parameters
    ----------
    summary : str
        One line.
    path : Path
        The output, as given.
    """
    if is_standard_output(path):
        note(f"{summary}.")
    else:
        console().print(f"{summary}\nsaved", bold(path))


def written_output(path: Path, suffix: str) -> AbstractContextManager[Path]:
    """Give a place to write to; what is written there becomes the output at the end.

    Parameters
    ----------
    path : Path
        A file, a pipe, a device, or ``-`` for standard output.
    suffix : str
        How the name of the place ends if that of the output has no ending.
    """
    if is_standard_output(path):
        return written_through(1, suffix)
    if is_pipe_or_device(path):
        return written_through(path, path.suffix or suffix)
    return written_atomically(path)
