"""The results: one SQLite file, one row per run, committed as soon as it is known."""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Self, TypedDict, TypeVar

import msgspec
from msgspec import Meta

from granulearn.bench.runs import Run

# "grnl": says that a SQLite file is one of ours.
APPLICATION_ID = 0x67726E6C
SCHEMA_VERSION = 2
# Another run may be writing: wait this long for it, then say so.
BUSY_SECONDS = 60
_ANOTHER_FILE = "name another result file, as `granulearn bench --results FILE` makes it."
_NOT_WRITTEN = (
    f"cannot be written ({{}}); check the rights on it and its folder, or {_ANOTHER_FILE}"
)
_NO_ROOM = (
    "cannot be written ({}): the disk is full, or fails. What is computed so far is kept; "
    "make room, and the same command goes on from there."
)
_DAMAGED = (
    f"is damaged or no result file ({{}}); it was left as it is. Move it away, or {_ANOTHER_FILE}"
)
_MESSAGES = {
    sqlite3.SQLITE_READONLY: _NOT_WRITTEN,
    sqlite3.SQLITE_CANTOPEN: _NOT_WRITTEN,
    sqlite3.SQLITE_FULL: _NO_ROOM,
    sqlite3.SQLITE_IOERR: _NO_ROOM,  # a quota is used up, or a file may not grow
    sqlite3.SQLITE_BUSY: "is held by another program ({}); try again later.",
}

_T = TypeVar("_T")
# Anyone may have written a file: what is drawn and counted must be in range.
_Number = Annotated[float, Meta(ge=-1e100, le=1e100)]
_Count = Annotated[int, Meta(ge=0, le=2**53)]

_SCHEMA = f"""
PRAGMA journal_mode = WAL;
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS facts (
    kind TEXT NOT NULL, key TEXT NOT NULL, content TEXT NOT NULL, PRIMARY KEY (kind, key)
);
CREATE TABLE IF NOT EXISTS runs (
    key TEXT PRIMARY KEY, dataset TEXT NOT NULL, noise TEXT NOT NULL, split TEXT NOT NULL,
    method TEXT NOT NULL, reason TEXT NOT NULL, outcome TEXT NOT NULL,
    environment TEXT NOT NULL, finished TEXT NOT NULL
);
PRAGMA user_version = {SCHEMA_VERSION};
PRAGMA application_id = {APPLICATION_ID};
COMMIT;
"""


class StoreError(OSError):
    """The result file cannot be used; the message says why and what to do.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from granulearn.bench import Store, StoreError
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "results.db")
    ...     _ = path.write_text("no results, only text, " * 99)
    ...     try:
    ...         Store(path)
    ...     except StoreError:
    ...         print("refused")
    refused
    """


class Outcome(msgspec.Struct, frozen=True):
    """The result of a run; ``reason`` says why it failed, and is empty if it worked.

    Examples
    --------
    >>> from granulearn.bench import Outcome
    >>> Outcome(key="a1", seed=0, scores={"accuracy": 0.9}).reason == ""
    True
    """

    key: str
    seed: int
    reason: str = ""
    scores: dict[str, _Number | None] | None = None
    chosen: dict[str, Any] | None = None
    """Parameters that tuning chose; empty if nothing was tuned."""
    fold_scores: list[_Number] | None = None
    """Tuning score of the chosen parameters in each fold of the training part."""
    fit_seconds: _Number | None = None
    """Tuning and the final fit together."""
    predict_seconds: _Number | None = None
    n_balls: _Count | None = None
    n_train: _Count | None = None
    n_test: _Count | None = None
    n_disturbed: _Count | None = None
    source: str = ""
    fingerprint: str = ""
    notes: tuple[str, ...] = ()
    """Warnings, and scores that could not be given."""


class StoredOutcome(msgspec.Struct, frozen=True):
    """A row: the outcome, its environment and its time."""

    outcome: Outcome
    environment: str
    finished: str


class Environment(TypedDict):
    """A machine and its packages."""

    python: str
    system: str
    processor: str
    cores: int | None
    packages: dict[str, str]


class Drawing(msgspec.Struct, frozen=True):
    """The balls of a training part in a plane."""

    dataset: str
    condition: str
    points: Annotated[list[tuple[_Number, _Number]], Meta(min_length=1)]
    labels: list[str]
    assignment: list[_Count]
    """Number of the ball of each point."""
    shares: tuple[_Number, _Number]
    """Fractions of the variance along both axes."""

    def __post_init__(self) -> None:
        n_points = len(self.points)
        if not n_points == len(self.labels) == len(self.assignment) > max(self.assignment):
            raise ValueError("points, labels and balls of a drawing do not fit together")


class Store:
    """A result file, open for one process.

    Every call that writes is one transaction: a process killed at any moment
    leaves the rows that were written before, and a file that can be opened.

    Parameters
    ----------
    path : path
        The file; made if it is not there, unless ``readonly``.
    readonly : bool, default=False
        Whether to refuse every write.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from granulearn.bench import Store
    >>> with tempfile.TemporaryDirectory() as folder, Store(Path(folder, "results.db")) as store:
    ...     store.studies()
    {}
    """

    def __init__(self, path: str | os.PathLike, *, readonly: bool = False) -> None:
        self.path = Path(path)
        if readonly and not self.path.is_file():
            raise StoreError(
                f"{path} does not exist; make it with: granulearn bench --results {path}"
            )
        with _explained(self.path):
            self._database = _open(self.path, readonly=readonly)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; safe to call twice."""
        self._database.close()

    def save_study(self, name: str, text: str) -> None:
        """Keep a study as JSON, so that a report needs this file only."""
        self._save_fact("study", name, text)

    def studies(self) -> dict[str, str]:
        """Return the studies whose runs are here: name to JSON."""
        return self._facts("study")

    def save(self, run: Run, outcome: Outcome, environment: Environment) -> None:
        """Write the row of a run; a row that worked is never replaced by a failure."""
        facts = msgspec.json.encode(environment, order="sorted").decode()
        identity = hashlib.sha256(facts.encode()).hexdigest()[:16]
        row = (
            run.key, run.unit.dataset, str(run.unit.condition), str(run.unit.part),
            run.method.name, outcome.reason, msgspec.json.encode(outcome).decode(), identity,
            datetime.now(UTC).isoformat(timespec="seconds"),
        )  # fmt: skip
        if identity not in self.environments():
            self._save_fact("environment", identity, facts)
        self._write(
            "INSERT OR REPLACE INTO runs SELECT ?, ?, ?, ?, ?, ?, ?, ?, ? WHERE ? = '' "
            "OR NOT EXISTS (SELECT 1 FROM runs WHERE key = ? AND reason = '')",
            [(*row, outcome.reason, run.key)],
        )

    def done_keys(self) -> set[str]:
        """Return the keys of all runs that were computed and worked."""
        return {key for (key,) in self._read("SELECT key FROM runs WHERE reason = ''")}

    def forget(self, keys: Iterable[str]) -> None:
        """Remove rows, all or none."""
        self._write("DELETE FROM runs WHERE key = ?", [(key,) for key in keys])

    def rows(self, keys: Iterable[str] | None = None) -> dict[str, StoredOutcome]:
        """Return rows by key, failures too; all of them if no keys are given."""
        wanted = None if keys is None else set(keys)
        found = self._read("SELECT key, outcome, environment, finished FROM runs ORDER BY key")
        return {
            key: StoredOutcome(self.decoded(Outcome, outcome), environment, finished)
            for key, outcome, environment, finished in found
            if wanted is None or key in wanted
        }

    def environments(self) -> dict[str, Environment]:
        """Return the facts about each machine and its packages."""
        known = self._facts("environment").items()
        return {key: self.decoded(Environment, text) for key, text in known}

    def save_drawing(self, key: str, drawing: Drawing) -> None:
        """Keep the balls of a set in a plane, to be drawn in a report."""
        self._save_fact("drawing", key, msgspec.json.encode(drawing).decode())

    def drawings(self) -> dict[str, Drawing]:
        """Return the drawings by key."""
        return {key: self.decoded(Drawing, text) for key, text in self._facts("drawing").items()}

    def decoded(self, kind: type[_T], text: str) -> _T:
        """Return the record that a cell holds as JSON; refuse the file if it holds none."""
        try:
            return msgspec.json.decode(text, type=kind)
        except (msgspec.MsgspecError, RecursionError) as error:
            raise StoreError(f"{self.path} {_DAMAGED.format(error)}") from error

    def _save_fact(self, kind: str, key: str, content: str) -> None:
        self._write("INSERT OR REPLACE INTO facts VALUES (?, ?, ?)", [(kind, key, content)])

    def _facts(self, kind: str) -> dict[str, str]:
        return dict(
            self._read("SELECT key, content FROM facts WHERE kind = ? ORDER BY key", (kind,))
        )

    def _read(self, statement: str, values: tuple = ()) -> list[tuple]:
        with _explained(self.path):
            rows = self._database.execute(statement, values).fetchall()
            if not all(isinstance(cell, str) for row in rows for cell in row):
                raise sqlite3.DatabaseError("a cell holds no text")
            return rows

    def _write(self, statement: str, rows: list[tuple]) -> None:
        with _explained(self.path):
            # IMMEDIATE: wait for another writer at the start, where waiting is allowed.
            self._database.execute("BEGIN IMMEDIATE")
            with self._database:
                self._database.executemany(statement, rows)


def _open(path: Path, *, readonly: bool) -> sqlite3.Connection:
    mode = "mode=rwc"
    if readonly:
        # Write access, though unused, lets SQLite tidy up its side files when it closes.
        can_write = os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
        mode = "mode=rw" if can_write else "mode=ro&immutable=1"
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
    is_new, wal = not path.exists(), path.with_name(f"{path.name}-wal")
    place = f"{path.absolute().as_uri()}?{mode}"
    database = sqlite3.connect(place, uri=True, timeout=BUSY_SECONDS, isolation_level=None)
    try:
        _check_identity(database, path, readonly=readonly)
        if readonly:
            database.execute("PRAGMA query_only = ON")
        else:
            # WAL: readers never wait. FULL: a committed row survives a power cut.
            database.execute("PRAGMA synchronous = FULL")
            database.executescript(_SCHEMA)
    except BaseException:
        database.close()
        # Nothing was written, by another process neither: an empty file is no result.
        if is_new and path.exists() and not path.stat().st_size and not wal.exists():
            path.unlink()
        raise
    return database


def _check_identity(database: sqlite3.Connection, path: Path, *, readonly: bool) -> None:
    """Refuse files of other programs and versions, damaged ones, and empty ones to be read."""
    # Tables are counted first: another process may make the store between two statements.
    tables = _definitions(database)
    identity = database.execute("PRAGMA application_id").fetchone()[0]
    found = database.execute("PRAGMA user_version").fetchone()[0]
    if not (identity or tables):
        if readonly:
            raise StoreError(f"{path} is empty; fill it with: granulearn bench --results {path}")
    elif identity != APPLICATION_ID:
        raise StoreError(f"{path} is a SQLite file of some other program; {_ANOTHER_FILE}")
    elif found != SCHEMA_VERSION:
        raise StoreError(
            f"{path} has the form of version {found}, and this granulearn reads version "
            f"{SCHEMA_VERSION}; {_ANOTHER_FILE}"
        )
    else:
        with closing(sqlite3.connect(":memory:")) as ours:
            ours.executescript(_SCHEMA)
            # A view or a trigger could compute without end.
            if _definitions(database) != _definitions(ours):
                raise sqlite3.DatabaseError("its tables are defined in another way")
    state = database.execute("PRAGMA quick_check(1)").fetchone()[0]
    if state != "ok":
        raise sqlite3.DatabaseError(state)


def _definitions(database: sqlite3.Connection) -> set[str]:
    """Return the definitions of all tables, views and triggers."""
    found = database.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")
    return {" ".join(str(sql).split()) for (sql,) in found}


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turn errors of SQLite and of the file system into a message with a next step."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # without its details
        raise StoreError(f"{path} {_MESSAGES.get(code, _DAMAGED).format(error)}") from error
