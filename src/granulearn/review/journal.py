"""The journal of a review: decisions, one line each, appended to a file and never changed.

A line is on the disk before `Journal.append` returns. A kill or a full disk can cut off the end of
the file; the cut line is dropped when the file is opened again.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from granulearn.review.decisions import (
    Decision,
    DecisionsError,
    is_journal,
    journal_text,
    last_action,
    lines_text,
    parse_lines,
    without_undone,
)

try:
    import fcntl
except ImportError:  # Windows: a second review of one file is not refused
    fcntl = None  # type: ignore[assignment]

_PACKED = (".gz", ".bz2", ".xz", ".zst", ".zip")
# Binary on Windows, so that line ends are kept.
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)


def default_journal(table: Path | None) -> Path | None:
    """Return the journal of a table, unless the user names one.

    Parameters
    ----------
    table : Path or None
        The file.
    """
    if table is None:
        return None
    name = Path(table.stem).stem if table.suffix in _PACKED else table.stem
    return table.with_name(f"{name}.decisions.csv")


class Journal:
    """Decisions that are kept in a file, or in memory.

    Parameters
    ----------
    path : Path or None, default=None
        A CSV file; it is made if it is missing. None keeps the decisions in memory.

    Attributes
    ----------
    lines : list of Decision
        All decisions in the order in which they were taken, undone ones too.
    dropped : int
        Bytes of an unfinished end that were cut off.

    Raises
    ------
    DecisionsError
        If another review has the journal open, or if the file is no journal.
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
            if journal_text([]).encode().startswith(content):  # empty, or cut in its header
                self._cut(0)
                self._write(journal_text([]))
                _sync_folder(path)
                return
            if not is_journal(content):
                raise DecisionsError(
                    f"{path} is no journal of a review, and lines of one cannot be added to it; "
                    "name another file for the decisions (`granulearn decisions merge` makes a "
                    "journal of any file of decisions)."
                )
            self.lines, end = parse_lines(content, str(path))
            self.dropped = len(content) - end
            self._cut(end)
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
        """Add decisions; when this returns, all of them are on the disk.

        Parameters
        ----------
        decisions : sequence of Decision
            In the order in which they were taken.
        """
        if self._is_closed:
            raise DecisionsError(f"the review of {self.path} is closed; open it again to decide.")
        if self._file >= 0:
            if not self._is_untouched():
                raise DecisionsError(
                    f"{self.path} was changed or moved by another program; start the review again, "
                    "so that its lines are read first."
                )
            self._write(lines_text(decisions))
        self.lines.extend(decisions)

    def _is_untouched(self) -> bool:
        """Return whether no other program has written, moved or removed the file."""
        assert self.path is not None
        here = os.fstat(self._file)
        try:
            return os.path.samestat(here, self.path.stat()) and here.st_size == self._end
        except FileNotFoundError:
            return False

    def _write(self, text: str) -> None:
        content = memoryview(text.encode())
        try:
            written = 0
            while written < len(content):
                written += os.write(self._file, content[written:])
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
        """Let others open the journal; a new one without a decision is removed."""
        self._is_closed = self.path is not None
        if self._file < 0:
            return
        is_unused = self._is_new and not self.lines and self._is_untouched()
        os.close(self._file)
        self._file = -1
        if is_unused and self.path is not None:
            self.path.unlink(missing_ok=True)

    def __enter__(self):
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


def _sync_folder(path: Path) -> None:
    """Put the name of a new file on the disk, too."""
    with suppress(OSError):  # some systems cannot
        folder = os.open(path.resolve().parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


class DecisionLog:
    """The active decisions of a journal, and the next ones.

    Parameters
    ----------
    journal : Journal
        Where every decision is written before it is active.
    is_stale : callable
        Whether a decision is about a label that the row does not have any more; such a row is
        open again.

    Attributes
    ----------
    active : dict of int to Decision
        By row.
    stale : list of Decision
        Decisions about labels that were edited since.
    """

    def __init__(self, journal: Journal, is_stale: Callable[[Decision], bool]):
        self.journal, self._is_stale = journal, is_stale
        self._kept = without_undone(journal.lines)
        self._index()

    def _index(self) -> None:
        latest = {decision.row: decision for decision in self._kept}
        self.stale = [decision for decision in latest.values() if self._is_stale(decision)]
        stale = {decision.row for decision in self.stale}
        self.active = {row: decision for row, decision in latest.items() if row not in stale}

    @property
    def by_row(self) -> list[Decision]:
        """The active decisions, in the order of rows."""
        return [self.active[row] for row in sorted(self.active)]

    @property
    def by_time(self) -> list[Decision]:
        """The active decisions, in the order in which they were taken."""
        return [d for d in self._kept if self.active.get(d.row) is d]

    @property
    def can_undo(self) -> bool:
        """Whether there is an action to undo."""
        return bool(self._kept)

    @property
    def last(self) -> list[Decision]:
        """The action that is undone next: one decision, or all that were taken at once."""
        return last_action(self._kept)

    def add(self, decisions: Sequence[Decision]) -> int:
        """Write decisions to the journal; return how many of them are new.

        A page may send a decision again, to be sure; an active one is not written twice.

        Parameters
        ----------
        decisions : sequence of Decision
            At most one for a row.
        """
        new = _as_batch([d for d in decisions if not self._is_active(d)])
        if new:
            self.journal.append(new)
            self._kept += new
            self.active |= {decision.row: decision for decision in new}
            self.stale = [old for old in self.stale if old.row not in self.active]
        return len(new)

    def undo(self, lines: Sequence[Decision]) -> None:
        """Write to the journal that the last action is undone.

        Parameters
        ----------
        lines : sequence of Decision
            An "undo" for each decision of `last`.
        """
        self.journal.append(_as_batch(lines))
        del self._kept[len(self._kept) - len(lines) :]
        self._index()

    def _is_active(self, new: Decision) -> bool:
        old = self.active.get(new.row)
        return (
            old is not None
            and (old.decision, old.new_label, old.who) == (new.decision, new.new_label, new.who)
            and new.note in ("", old.note)
        )


def _as_batch(decisions: Sequence[Decision]) -> list[Decision]:
    """Return decisions with the name of their batch, if they are several."""
    if len(decisions) < 2:
        return list(decisions)
    batch = f"{secrets.token_hex(4)}/{len(decisions)}"
    return [replace(decision, batch=batch) for decision in decisions]
