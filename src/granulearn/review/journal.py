"""The journal of a review: decisions, one line each, appended to a file and never changed.

A line is on the disk before `Journal.append` returns. A kill or a full disk can cut off the end of
the file; the cut line is dropped when the file is opened again, and a copy of the file stays.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from io import FileIO
from itertools import count
from pathlib import Path

from granulearn.review.decisions import (
    Decision,
    DecisionsError,
    complete_lines,
    is_journal,
    journal_text,
    lines_text,
    parse_lines,
    without_undone,
)
from granulearn.utils.files import written_atomically

try:
    import fcntl
except ImportError:  # Windows: a second review of one file is not refused
    fcntl = None  # type: ignore[assignment]

_PACKED = (".gz", ".bz2", ".xz", ".zst", ".zip")


def default_journal(table: Path) -> Path:
    """Return the journal of a table, unless the user names one."""
    name = Path(table.stem).stem if table.suffix in _PACKED else table.stem
    return table.with_name(f"{name}.decisions.csv")


def clean_name(table: str) -> str:
    """Return the name of a corrected table, unless the user gives one."""
    stem, point, ending = table.partition(".")
    return f"{stem}.clean{point}{ending}"


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
    copy : Path or None
        The file as it was before its end was cut off.

    Raises
    ------
    DecisionsError
        If another review has the journal open, or if the file is no journal.
    """

    def __init__(self, path: Path | None = None):
        self.path = path
        self.lines: list[Decision] = []
        self.dropped = 0
        self.copy: Path | None = None
        self._is_new = path is not None and not os.path.lexists(path)
        self._file: FileIO | None = None
        if path is not None:
            if not self._is_new and not stat.S_ISREG(os.lstat(path).st_mode):
                raise DecisionsError(
                    f"{path} is a link, a folder, a device or a pipe, and decisions are added to "
                    "a file alone; name a file."
                )
            self._file = FileIO(path, "a+")
            try:
                self._read(self._file, path)
            except BaseException:
                self._file.close()
                raise

    def _read(self, file: FileIO, path: Path) -> None:
        if fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise DecisionsError(
                    f"{path} is open in another review; end that one, or name another file for "
                    "these decisions and join both with `granulearn decisions merge`."
                ) from error
        self._note_state(file)
        file.seek(0)
        content, header = file.readall(), journal_text([])
        if header.encode().startswith(content):  # empty, or cut off in its header
            self._truncate(file, 0)
            self._write(file, header)
            _sync_folder(path)
            return
        if not is_journal(content):
            raise DecisionsError(
                f"{path} is no journal of a review, and lines of one cannot be added to it; "
                "name another file for the decisions (`granulearn decisions merge` makes a "
                "journal of any file of decisions)."
            )
        complete = complete_lines(content, str(path))
        self.lines = parse_lines(complete, str(path))
        self.dropped = len(content) - len(complete)
        if self.dropped:
            self.copy = _copy(content, path)
            self._truncate(file, len(complete))

    def append(self, decisions: Sequence[Decision]) -> None:
        """Add decisions, in the order in which they were taken; they are on the disk afterwards."""
        if self._file is not None:
            if self._file.closed:
                raise DecisionsError(
                    f"the review of {self.path} is closed; open it again to decide."
                )
            if not self._is_untouched(self._file):
                raise DecisionsError(
                    f"{self.path} was changed or moved by another program; start the review again, "
                    "so that its lines are read first."
                )
            self._write(self._file, lines_text(decisions))
        self.lines.extend(decisions)

    def _is_untouched(self, file: FileIO) -> bool:
        """Return whether no other program has written, moved or removed the file."""
        try:
            return _stamp(os.lstat(file.name)) == self._stamp
        except FileNotFoundError:
            return False

    def _write(self, file: FileIO, text: str) -> None:
        content = memoryview(text.encode())
        try:
            written = 0
            while written < len(content):
                written += file.write(content[written:])
            os.fsync(file.fileno())
        except OSError as error:
            self._truncate(file, self._end)  # nothing stays half-written
            raise OSError(error.errno, os.strerror(error.errno or 0), str(file.name)) from error
        self._note_state(file)

    def _truncate(self, file: FileIO, end: int) -> None:
        file.truncate(end)
        self._note_state(file)

    def _note_state(self, file: FileIO) -> None:
        found = os.fstat(file.fileno())
        self._end, self._stamp = found.st_size, _stamp(found)

    def close(self) -> None:
        """Let others open the journal; a new one without a decision is removed."""
        if self._file is None or self._file.closed:
            return
        is_unused = self._is_new and not self.lines and self._is_untouched(self._file)
        self._file.close()
        if is_unused:
            os.unlink(self._file.name)

    def __enter__(self):
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


def _stamp(found: os.stat_result) -> tuple[int, ...]:
    """Return what differs once another program has written or replaced a file."""
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _copy(content: bytes, path: Path) -> Path:
    """Write the content of a file to a new one beside it."""
    names = (path.with_name(f"{path.name}.copy{number}") for number in count(1))
    copy = next(name for name in names if not os.path.lexists(name))
    with written_atomically(copy) as temporary:
        temporary.write_bytes(content)
    return copy


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
        By row, in the order in which they were taken.
    stale : list of Decision
        Decisions about labels that were edited since.
    """

    def __init__(self, journal: Journal, is_stale: Callable[[Decision], bool]):
        self.journal, self._is_stale = journal, is_stale
        self._replay_lines()

    def _replay_lines(self) -> None:
        self._kept = without_undone(self.journal.lines)
        active: dict[int, Decision] = {}
        _activate(self._kept, active)
        self.stale = [decision for decision in active.values() if self._is_stale(decision)]
        for decision in self.stale:
            del active[decision.row]
        self.active = active

    @property
    def last_action(self) -> list[Decision]:
        """The action that is undone next: one decision, or all that were taken at once."""
        first = len(self._kept) - 1
        batch = self._kept[-1].batch if self._kept else ""
        while first > 0 and batch and self._kept[first - 1].batch == batch:
            first -= 1
        return self._kept[max(first, 0) :]

    def add(self, decisions: Sequence[Decision]) -> int:
        """Write decisions, at most one for a row, to the journal; return how many are new.

        A page may send a decision again, to be sure; an active one is not written twice.
        """
        new = [decision for decision in decisions if not self._is_active(decision)]
        if new:
            written = self._write(new)
            self._kept += written
            _activate(written, self.active)
            self.stale = [decision for decision in self.stale if decision.row not in self.active]
        return len(new)

    def undo(self, lines: Sequence[Decision]) -> None:
        """Write that the last action is undone: an "undo" for each of `last_action`."""
        self._write(lines)
        self._replay_lines()

    def _write(self, decisions: Sequence[Decision]) -> Sequence[Decision]:
        """Write decisions and return them; several get the name of a batch."""
        if len(decisions) > 1:
            batch = f"{secrets.token_hex(4)}/{len(decisions)}"
            decisions = [replace(decision, batch=batch) for decision in decisions]
        self.journal.append(decisions)
        return decisions

    def _is_active(self, new: Decision) -> bool:
        old = self.active.get(new.row)
        return (
            old is not None
            and (old.decision, old.new_label, old.who) == (new.decision, new.new_label, new.who)
            and new.note in ("", old.note)
        )


def _activate(decisions: Sequence[Decision], active: dict[int, Decision]) -> None:
    """Add decisions to the active ones; a row that is decided on again moves to the end."""
    for decision in decisions:
        active.pop(decision.row, None)
        active[decision.row] = decision
