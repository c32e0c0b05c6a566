"""The results: one SQLite file, one row per cell, committed as soon as it is known."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterable
from contextlib import contextmanager
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from granulearn.bench.studies.cells import Cell
from granulearn.bench.studies.evaluation import Outcome

# "grnl": says that a SQLite file is one of ours.
APPLICATION_ID = 0x67726E6C
SCHEMA_VERSION = 1
# Another run may be writing: wait this long for it, then say so.
BUSY_SECONDS = 60
# What SQLite says when the disk is full, a quota is used up, or a file may not grow.
_NO_ROOM = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)
# The advice is for those who write results and for those who only read them.
_ANOTHER_FILE = "name another result file, as `granulearn bench --results FILE` makes it."

_SCHEMA = """
CREATE TABLE studies (
    name TEXT PRIMARY KEY,
    spec TEXT NOT NULL
);
CREATE TABLE environments (
    id TEXT PRIMARY KEY,
    facts TEXT NOT NULL
);
CREATE TABLE cells (
    key TEXT PRIMARY KEY,
    dataset TEXT NOT NULL,
    noise TEXT NOT NULL,
    rate REAL NOT NULL,
    split TEXT NOT NULL,
    method TEXT NOT NULL,
    seed INTEGER NOT NULL,
    reason TEXT NOT NULL,
    scores TEXT,
    chosen TEXT,
    fold_scores TEXT,
    fit_seconds REAL,
    predict_seconds REAL,
    n_balls INTEGER,
    n_train INTEGER,
    n_test INTEGER,
    n_disturbed INTEGER,
    source TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    notes TEXT NOT NULL,
    environment TEXT NOT NULL REFERENCES environments (id),
    finished TEXT NOT NULL
);
CREATE TABLE drawings (
    key TEXT PRIMARY KEY,
    drawing TEXT NOT NULL
);
"""


class StoreError(OSError):
    """The result file cannot be used; the message says why and what to do.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from granulearn.bench.studies import Store, StoreError
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "results.db")
    ...     _ = path.write_text("no results, only text, " * 99)
    ...     try:
    ...         Store(path)
    ...     except StoreError:
    ...         print("refused")
    refused
    """


@dataclass(frozen=True)
class StoredOutcome:
    """A row: the outcome, where it was made and when."""

    outcome: Outcome
    environment: str
    finished: str


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
    >>> from granulearn.bench.studies import Store
    >>> with tempfile.TemporaryDirectory() as folder, Store(Path(folder, "results.db")) as store:
    ...     store.studies()
    {}
    """

    def __init__(self, path: str | os.PathLike, *, readonly: bool = False) -> None:
        self.path = Path(path)
        with _explained(self.path):
            self._database = _open_readonly(self.path) if readonly else _open(self.path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; safe to call twice."""
        self._database.close()

    def save_study(self, name: str, spec: str) -> None:
        """Keep what a study asks for, so that a report needs this file only."""
        self._write("INSERT OR REPLACE INTO studies VALUES (?, ?)", [(name, spec)])

    def studies(self) -> dict[str, str]:
        """Return the studies whose cells are here: name to spec, as JSON."""
        return dict(self._read("SELECT name, spec FROM studies ORDER BY name"))

    def save(self, cell: Cell, outcome: Outcome, environment: dict[str, Any]) -> None:
        """Write the row of a cell; a row that worked is never replaced by a failure."""
        facts = json.dumps(environment, sort_keys=True)
        identity = hashlib.sha256(facts.encode()).hexdigest()[:16]
        row = _row(cell, outcome, identity)
        columns, marks = ", ".join(row), ", ".join("?" * len(row))
        updates = ", ".join(f"{name} = excluded.{name}" for name in row if name != "key")
        with _explained(self.path), self._transaction():
            self._database.execute(
                "INSERT OR IGNORE INTO environments VALUES (?, ?)", (identity, facts)
            )
            self._database.execute(
                f"INSERT INTO cells ({columns}) VALUES ({marks}) ON CONFLICT (key) "
                f"DO UPDATE SET {updates} WHERE cells.reason != '' OR excluded.reason = ''",
                tuple(row.values()),
            )

    def done(self, key: str) -> bool:
        """Return whether a cell was computed and worked."""
        found = self._read("SELECT 1 FROM cells WHERE key = ? AND reason = ''", (key,))
        return bool(found)

    def done_keys(self) -> set[str]:
        """Return the keys of all cells that were computed and worked."""
        return {key for (key,) in self._read("SELECT key FROM cells WHERE reason = ''")}

    def forget(self, keys: Iterable[str]) -> None:
        """Remove rows, all or none."""
        self._write("DELETE FROM cells WHERE key = ?", [(key,) for key in keys])

    def rows(self, keys: Iterable[str] | None = None) -> dict[str, StoredOutcome]:
        """Return rows by key, failures too; all of them if no keys are given."""
        wanted = None if keys is None else set(keys)
        names = (*_OF_OUTCOME, "environment", "finished")
        found = self._read(f"SELECT {', '.join(names)} FROM cells ORDER BY key")
        records = (dict(zip(names, values, strict=True)) for values in found)
        return {
            record["key"]: _stored(record)
            for record in records
            if wanted is None or record["key"] in wanted
        }

    def environments(self) -> dict[str, dict[str, Any]]:
        """Return the facts about each machine and its packages."""
        found = self._read("SELECT id, facts FROM environments ORDER BY id")
        return {identity: json.loads(facts) for identity, facts in found}

    def save_drawing(self, key: str, drawing: dict[str, Any]) -> None:
        """Keep what is needed to draw the balls of a set."""
        self._write("INSERT OR REPLACE INTO drawings VALUES (?, ?)", [(key, json.dumps(drawing))])

    def drawings(self) -> dict[str, dict[str, Any]]:
        """Return the drawings by key."""
        found = self._read("SELECT key, drawing FROM drawings ORDER BY key")
        return {key: json.loads(drawing) for key, drawing in found}

    def _read(self, statement: str, values: tuple = ()) -> list[tuple]:
        with _explained(self.path):
            return self._database.execute(statement, values).fetchall()

    def _write(self, statement: str, rows: list[tuple]) -> None:
        with _explained(self.path), self._transaction():
            self._database.executemany(statement, rows)

    @contextmanager
    def _transaction(self):
        # IMMEDIATE: wait for another writer at the start, where waiting is allowed.
        self._database.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._database.execute("COMMIT")
        except BaseException:
            if self._database.in_transaction:  # on a full disk SQLite has taken it back itself
                self._database.execute("ROLLBACK")
            raise


_OF_OUTCOME = tuple(field.name for field in fields(Outcome))
_AS_JSON = ("scores", "chosen", "fold_scores", "notes")


def _row(cell: Cell, outcome: Outcome, environment: str) -> dict[str, Any]:
    return {
        **{name: getattr(outcome, name) for name in _OF_OUTCOME},
        **{name: json.dumps(getattr(outcome, name)) for name in _AS_JSON},
        "key": cell.key,
        "dataset": cell.unit.dataset,
        "noise": cell.unit.condition.kind,
        "rate": cell.unit.condition.rate,
        "split": str(cell.unit.part),
        "method": cell.method.name,
        "environment": environment,
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _stored(record: dict[str, Any]) -> StoredOutcome:
    environment, finished = record.pop("environment"), record.pop("finished")
    for name in _AS_JSON:
        record[name] = json.loads(record[name])
    record["notes"] = tuple(record["notes"])
    return StoredOutcome(Outcome(**record), environment, finished)


def _open(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    is_new = not path.exists()
    database = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
    try:
        _check_identity(database, path)
        # WAL: readers never wait. FULL: a committed row survives a power cut.
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = FULL")
        database.execute("BEGIN IMMEDIATE")
        if not database.execute("PRAGMA application_id").fetchone()[0]:
            for statement in _SCHEMA.split(";"):
                database.execute(statement)
            database.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            database.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        database.execute("COMMIT")
    except BaseException as error:
        database.close()
        # Where there was no room for the first page, SQLite leaves an empty file.
        no_room = isinstance(error, sqlite3.DatabaseError) and _primary_code(error) in _NO_ROOM
        if is_new and no_room and path.exists() and not path.stat().st_size:
            path.unlink()
        raise
    return database


def _open_readonly(path: Path) -> sqlite3.Connection:
    if not path.is_file():
        raise StoreError(f"{path} does not exist; make it with: granulearn bench --results {path}")
    database = _connect_for_reading(path)
    try:
        _check_identity(database, path)
        if not database.execute("PRAGMA application_id").fetchone()[0]:
            raise StoreError(f"{path} is empty; fill it with: granulearn bench --results {path}")
    except BaseException:
        database.close()
        raise
    return database


def _connect_for_reading(path: Path) -> sqlite3.Connection:
    """Open without changing a row; a file that may not be written is read as it is."""
    place = path.absolute().as_uri()
    # Write access, though unused, lets SQLite tidy up its side files when it closes.
    for way in ("mode=rw", "mode=ro&immutable=1"):
        database = sqlite3.connect(
            f"{place}?{way}", uri=True, timeout=BUSY_SECONDS, isolation_level=None
        )
        try:
            database.execute("PRAGMA query_only = ON")
            database.execute("SELECT count(*) FROM sqlite_master")
        except sqlite3.OperationalError:
            database.close()
            continue
        except sqlite3.DatabaseError:
            database.close()
            raise
        return database
    raise sqlite3.OperationalError("unable to open database file")


def _check_identity(database: sqlite3.Connection, path: Path) -> None:
    identity = database.execute("PRAGMA application_id").fetchone()[0]
    tables = database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if identity != APPLICATION_ID and (identity or tables):
        raise StoreError(f"{path} is a SQLite file of some other program; {_ANOTHER_FILE}")
    if identity:
        found = database.execute("PRAGMA user_version").fetchone()[0]
        if found != SCHEMA_VERSION:
            raise StoreError(
                f"{path} has the form of version {found}, and this granulearn reads version "
                f"{SCHEMA_VERSION}; {_ANOTHER_FILE}"
            )
        state = database.execute("PRAGMA quick_check(1)").fetchone()[0]
        if state != "ok":
            raise sqlite3.DatabaseError(state)


def _primary_code(error: sqlite3.DatabaseError) -> int:
    """Return the kind of an error without its details, which are in the higher bits."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


@contextmanager
def _explained(path: Path):
    """Turn what SQLite and the file system say into a message with a next step."""
    try:
        yield
    except StoreError:
        raise
    except sqlite3.DatabaseError as error:
        said = str(error)
        if "readonly" in said or "unable to open" in said:
            raise StoreError(
                f"{path} cannot be written ({said}); nothing was changed. Check the rights on the "
                f"file and its directory, or {_ANOTHER_FILE}"
            ) from error
        if _primary_code(error) in _NO_ROOM:
            raise StoreError(
                f"{path} cannot be written ({said}): the disk is full, or fails. What is computed "
                "so far is kept; make room, and the same command goes on from there."
            ) from error
        if "locked" in said:
            raise StoreError(
                f"{path} is held by another program since {BUSY_SECONDS} s; try again later."
            ) from error
        raise StoreError(
            f"{path} is damaged or no result file ({said}); it was left as it is. Move it away, "
            f"or {_ANOTHER_FILE}"
        ) from error
    except OSError as error:
        raise StoreError(f"{path} cannot be made ({error}); {_ANOTHER_FILE}") from error
