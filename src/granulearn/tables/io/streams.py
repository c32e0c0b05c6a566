"""Standard input and pipes, copied to a file that can be read more than once."""

from __future__ import annotations

import shutil
import stat
import sys
import tempfile
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import BinaryIO

from granulearn._full_disk import is_disk_full
from granulearn.tables.errors import TableError

STANDARD_INPUT = Path("standard input")


def is_standard_input(path: Path) -> bool:
    """Return whether an input is ``-``, or what that is called in ``/dev``.

    Parameters
    ----------
    path : Path
        As given.
    """
    return str(path) in ("-", "/dev/stdin")


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


class StreamCopy(AbstractContextManager):
    """A stream as a file, which is removed on exit or with the process.

    Parameters
    ----------
    path : Path
        A pipe, or ``-`` for standard input.
    """

    def __init__(self, path: Path):
        if not is_standard_input(path):
            _refuse_device(path)
        self.shown = STANDARD_INPUT if is_standard_input(path) else path
        self._folder = tempfile.TemporaryDirectory(prefix="granulearn-")
        self.path = Path(self._folder.name) / "table"
        try:
            self._copy(path)
        except BaseException:
            self._folder.cleanup()
            raise

    def _copy(self, path: Path) -> None:
        try:
            with _opened(path) as stream, self.path.open("wb") as file:
                shutil.copyfileobj(stream, file, 2**20)
        except OSError as error:
            if not is_disk_full(error):
                raise
            raise OSError(
                f"{self.path.parent.parent} has no room for a copy of {self.shown}; set TMPDIR to "
                "a folder that has, or save the table as a file first."
            ) from error

    def __exit__(self, *raised: object) -> None:
        self._folder.cleanup()


def _refuse_device(path: Path) -> None:
    """Raise an error for what has no end, as /dev/zero: its copy would fill the disk."""
    mode = path.stat().st_mode
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        raise TableError(
            f"{path} is a device, not a table; name a file, or send a table to standard input."
        )


def _opened(path: Path) -> AbstractContextManager[BinaryIO]:
    if not is_standard_input(path):
        return path.open("rb")
    if sys.stdin is None:
        raise OSError("standard input is closed; name a file, or send a table there.")
    return nullcontext(sys.stdin.buffer)  # not ours to close
