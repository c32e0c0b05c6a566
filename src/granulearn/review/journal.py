"""The journal of a review: decisions, one line each, added to a file and never changed there.

A line is on the disk before `Journal.append` returns. What a kill or a full disk cuts short is
known by its missing end, and dropped when the file is opened again.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from granulearn.review.decision_files import (
    COLUMNS,
    end_of_whole_lines,
    is_journal,
    parse_lines,
)
from granulearn.review.decisions import Decision, DecisionsError

try:
    import fcntl
except ImportError:  # a system without locks on files: nobody is kept from opening a file twice
    fcntl = None  # type: ignore[assignment]


_PACKED = (".gz", ".bz2", ".xz", ".zst", ".zip")
_MUST_BE_QUOTED = re.compile(r'[",\r\n]')
# Binary, where systems tell that apart: a line ends as it is written.
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)


class Journal:
    """Decisions that are kept in a file, or in memory.

    Parameters
    ----------
    path : Path or None, default=None
        A CSV file; it is made if it is not there. None keeps the decisions in memory.

    Attributes
    ----------
    lines : list of Decision
        All decisions in the order in which they were taken, undone ones too.
    dropped : int
        Bytes of an unfinished end that were cut off.

    Raises
    ------
    DecisionsError
        If somebody else has the journal open, or if the file is none.
    """

    def __init__(self, path: Path | None = None):
        self.path = path
        self.lines: list[Decision] = []
        self.dropped = 0
        self._file = -1
        self._end = 0
        self._is_new = self._is_closed = False
        if path is not None:
            self._open(path)

    def _open(self, path: Path) -> None:
        self._is_new = not path.exists()
        self._file = os.open(path, _FLAGS, 0o666)
        try:
            self._lock(path)
            content = path.read_bytes()
            if not content or (",".join(COLUMNS) + "\n").encode().startswith(content):
                self._cut(0)
                self._write(_text([list(COLUMNS)]))
                _sync_folder(path)
                return
            if not is_journal(content):
                raise DecisionsError(
                    f"{path} is no journal of a review, and lines of one cannot be added to it; "
                    "name another file for the decisions (`granulearn decisions merge` makes a "
                    "journal of any file of decisions)."
                )
            self.lines = parse_lines(content, str(path))
            whole = end_of_whole_lines(content)
            self.dropped = len(content) - whole
            self._cut(whole)
        except BaseException:
            os.close(self._file)
            self._file = -1
            raise

    def _lock(self, path: Path) -> None:
        if fcntl is None:
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise DecisionsError(
                f"{path} is open in another review; end that one, or name another file for these "
                "decisions and join both with `granulearn decisions merge`."
            ) from error

    def append(self, decisions: Sequence[Decision]) -> None:
        """Add decisions; when this returns they are on the disk, all of them.

        Parameters
        ----------
        decisions : sequence of Decision
            In the order in which they were taken.
        """
        if self._is_closed:
            raise DecisionsError(f"the review of {self.path} is closed; open it again to decide.")
        if self._file >= 0:
            self._check_untouched()
            self._write(_text([_cells(decision) for decision in decisions]))
        self.lines.extend(decisions)

    def _check_untouched(self) -> None:
        """Refuse to write if another program has written, moved or removed the file."""
        if not self._is_as_we_left_it():
            raise DecisionsError(
                f"{self.path} was changed or moved by another program; start the review again, so "
                "that what stands there is read first."
            )

    def _is_as_we_left_it(self) -> bool:
        assert self.path is not None
        here = os.fstat(self._file)
        try:
            return os.path.samestat(here, self.path.stat()) and here.st_size == self._end
        except FileNotFoundError:
            return False

    def _write(self, text: str) -> None:
        content = memoryview(text.encode())
        try:
            done = 0
            while done < len(content):
                done += os.write(self._file, content[done:])
            os.fsync(self._file)
        except OSError as error:
            self._cut(self._end)  # nothing stays half-written
            raise OSError(error.errno, os.strerror(error.errno or 0), str(self.path)) from error
        self._end += len(content)

    def _cut(self, end: int) -> None:
        if os.fstat(self._file).st_size != end:
            os.ftruncate(self._file, end)
            os.fsync(self._file)
        self._end = end

    def close(self) -> None:
        """Let others open the journal; one that was made in vain is removed."""
        self._is_closed = self.path is not None
        if self._file < 0:
            return
        in_vain = self._is_new and not self.lines and self._is_as_we_left_it()
        os.close(self._file)
        self._file = -1
        if in_vain and self.path is not None:
            self.path.unlink(missing_ok=True)

    def __enter__(self):
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


def journal_text(decisions: Sequence[Decision]) -> str:
    """Return a journal that holds some decisions.

    Parameters
    ----------
    decisions : sequence of Decision
        In the order in which they were taken.
    """
    return _text([list(COLUMNS), *(_cells(decision) for decision in decisions)])


def _cells(decision: Decision) -> list[str]:
    return [str(getattr(decision, field)) for field in COLUMNS.values()]


def _text(rows: Sequence[Sequence[str]]) -> str:
    return "".join(f"{','.join(map(_quoted, row))}\n" for row in rows)


def _quoted(cell: str) -> str:
    # Not by Python's writer: before version 3.13 it leaves a carriage return without quotes.
    return '"{}"'.format(cell.replace('"', '""')) if _MUST_BE_QUOTED.search(cell) else cell


def _sync_folder(path: Path) -> None:
    """Put the name of a new file on the disk, too."""
    with suppress(OSError):  # some systems cannot
        folder = os.open(path.resolve().parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def default_journal(table: Path | None) -> Path | None:
    """Return where the decisions about a table are kept unless said otherwise.

    Parameters
    ----------
    table : Path or None
        The file.
    """
    if table is None:
        return None
    name = Path(table.stem).stem if table.suffix in _PACKED else table.stem
    return table.with_name(f"{name}.decisions.csv")
