"""The journal of a review: decisions, one line each, appended to a file and never changed.

A line is on the disk before `Journal.append` returns. A kill or a full disk can cut off the end of
the file; the cut line is dropped when the file is opened again, and a copy of the file stays.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from io import FileIO
from itertools import count
from pathlib import Path

from granulearn.audit.verified import AT_RANDOM
from granulearn.review.decisions import (
    UNDO,
    Counted,
    Decision,
    DecisionsError,
    complete_lines,
    count_line,
    is_journal,
    journal_text,
    lines_text,
    parse_lines,
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
        By row, in the order in which they were taken; one that counts again comes last.
    stale : dict of int to Decision
        Decisions about labels that were edited since.
    revisions : Counter of int
        Number of lines about each row.
    at_random : set of int
        Rows that were drawn at random when they were decided on.
    """

    def __init__(self, journal: Journal, is_stale: Callable[[Decision], bool]):
        self.journal, self._is_stale = journal, is_stale
        self.active: dict[int, Decision] = {}
        self.stale: dict[int, Decision] = {}
        self.revisions: Counter[int] = Counter()
        self.at_random: set[int] = set()
        self._counted: Counted = {}
        self._actions: dict[str, dict[int, Decision]] = {}
        for line in journal.lines:
            self._follow(line)

    def _follow(self, line: Decision) -> None:
        row, undone = line.row, count_line(line, self._counted)
        self.revisions[row] += 1
        if line.drawn == AT_RANDOM:
            self.at_random.add(row)
        if undone is not None:
            taken = self._actions[action_of(undone)]
            if taken.get(row) is undone:  # a hand may have given two lines about it one name
                del taken[row]
        elif line.decision != UNDO:
            self._actions.setdefault(action_of(line), {})[row] = line
        self.active.pop(row, None)
        self.stale.pop(row, None)
        if self._counted[row]:
            latest = self._counted[row][-1]
            (self.stale if self._is_stale(latest) else self.active)[row] = latest

    @property
    def last_action(self) -> str:
        """Name of the action that is undone next; empty if there is none."""
        return next((name for name in reversed(self._actions) if self._actions[name]), "")

    def undoable(self, action: str) -> list[Decision]:
        """Return the decisions of an action that still count, and that no later one replaced."""
        taken = self._actions.get(action, {}).values()
        return [decision for decision in taken if self._counted[decision.row][-1] is decision]

    def is_taken(self, action: str) -> bool:
        """Return whether an action was taken before, undone or not."""
        return action in self._actions

    def is_active(self, new: Decision) -> bool:
        """Return whether the same is decided already."""
        old = self.active.get(new.row)
        return (
            old is not None
            and (old.decision, old.new_label, old.who) == (new.decision, new.new_label, new.who)
            and new.note in ("", old.note)
        )

    def add(self, decisions: Sequence[Decision], action: str = "") -> int:
        """Write decisions, at most one for a row, to the journal; return how many are new.

        A page may send an action again, to be sure; it is not written twice, nor is a decision
        that is active.
        """
        if self.is_taken(action):
            return 0
        new = [decision for decision in decisions if not self.is_active(decision)]
        self._write(new, action or secrets.token_hex(4))
        return len(new)

    def undo(self, lines: Sequence[Decision]) -> None:
        """Write that decisions are undone: an "undo" for the active one of each row."""
        self._write(lines, secrets.token_hex(4))

    def _write(self, lines: Sequence[Decision], action: str) -> None:
        lines = [replace(line, batch=f"{action}/{len(lines)}") for line in lines]
        if lines:
            self.journal.append(lines)
        for line in lines:
            self._follow(line)


def action_of(decision: Decision) -> str:
    """Return the name of the action that a decision is part of."""
    return decision.batch.partition("/")[0] or f"line-{decision.line}"
