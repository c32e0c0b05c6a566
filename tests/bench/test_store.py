"""One SQLite file: rows that stay, files that are refused with a reason."""

import dataclasses
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from granulearn.bench import Outcome, Store, StoreError, expand
from tests.bench.small_studies import small_study
from tests.processes import Code

MACHINE = {"python": "3", "system": "s", "processor": "p", "cores": 2, "packages": {}}


@pytest.fixture
def run(tmp_path):
    return expand(small_study(tmp_path))[0]


def outcome_of(run, **changes) -> Outcome:
    facts = {
        "scores": {"accuracy": 0.1 + 0.2, "log_loss": None},
        "chosen": {"C": 1e-5, "activation": "relu"},
        "fold_scores": [0.25, 1 / 3],
        "fit_seconds": 0.5,
        "predict_seconds": 0.1,
        "n_balls": 12,
        "n_train": 70,
        "n_test": 30,
        "n_disturbed": 7,
        "source": "generated:circles",
        "fingerprint": "abc",
        "notes": ("a note",),
    }
    return Outcome(run.key, run.unit.seed, **{**facts, **changes})


def test_a_row_comes_back_as_it_was_written(tmp_path, run):
    written = outcome_of(run)
    with Store(tmp_path / "a.db") as store:
        store.save(run, written, MACHINE)
    with Store(tmp_path / "a.db", readonly=True) as store:
        row = store.rows()[run.key]
        assert row.outcome == written
        assert store.environments()[row.environment] == MACHINE
        assert store.done_keys() == {run.key}


def test_the_file_is_in_wal_mode_and_leaves_nothing_beside_it(tmp_path, run):
    path = tmp_path / "folder" / "a.db"
    with Store(path) as store:
        store.save(run, outcome_of(run), MACHINE)
        with closing(sqlite3.connect(path)) as other:
            assert other.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    with Store(path, readonly=True) as store:
        store.rows()
    assert [item.name for item in path.parent.iterdir()] == ["a.db"]


def test_a_failure_never_replaces_a_result_but_a_result_replaces_a_failure(tmp_path, run):
    failure = Outcome(run.key, run.unit.seed, reason="RuntimeError: no")
    with Store(tmp_path / "a.db") as store:
        store.save(run, failure, MACHINE)
        assert store.done_keys() == set()
        store.save(run, outcome_of(run), MACHINE)
        assert store.done_keys() == {run.key}
        store.save(run, failure, MACHINE)
        assert store.rows()[run.key].outcome == outcome_of(run)


def test_two_writers_on_one_file_both_keep_their_rows(tmp_path):
    runs = expand(small_study(tmp_path))[:6]
    with Store(tmp_path / "a.db") as first, Store(tmp_path / "a.db") as second:
        for number, run in enumerate(runs):
            (first, second)[number % 2].save(run, outcome_of(run), MACHINE)
        assert first.done_keys() == second.done_keys() == {run.key for run in runs}


@pytest.mark.parametrize("readonly", [False, True])
def test_a_file_that_is_no_store_is_refused_and_left_alone(tmp_path, readonly):
    path = tmp_path / "a.db"
    path.write_bytes(b"this is a letter, not a database\n" * 100)
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"a\.db is damaged or no result file.*--results"):
        Store(path, readonly=readonly)
    assert path.read_bytes() == before


def test_a_damaged_store_is_refused_and_left_alone(tmp_path, run):
    path = tmp_path / "a.db"
    with Store(path) as store:
        for number in range(300):
            other = dataclasses.replace(run, scores=(f"score {number}",))
            store.save(other, outcome_of(other), MACHINE)
    content = bytearray(path.read_bytes())
    content[len(content) // 2 : len(content) // 2 + 4096] = bytes(4096)
    path.write_bytes(content)
    with pytest.raises(StoreError, match="is damaged"):
        Store(path)
    assert path.read_bytes() == content


def test_a_database_of_another_program_or_version_is_refused(tmp_path):
    other, newer = tmp_path / "other.db", tmp_path / "newer.db"
    Store(newer).close()
    commands = {other: "CREATE TABLE songs (title)", newer: "PRAGMA user_version = 99"}
    for path, said in ((other, "some other program"), (newer, "version 99")):
        with closing(sqlite3.connect(path)) as database, database:
            database.execute(commands[path])
        with pytest.raises(StoreError, match=said):
            Store(path)


def test_reading_needs_a_file_with_something_in_it(tmp_path):
    with pytest.raises(StoreError, match="does not exist"):
        Store(tmp_path / "none.db", readonly=True)
    (tmp_path / "empty.db").touch()
    with pytest.raises(StoreError, match="is empty"):
        Store(tmp_path / "empty.db", readonly=True)


READ_AND_WRITE = """
import os, sys
from granulearn.bench.store import Store, StoreError
os.setgid(65534); os.setuid(65534)
with Store(sys.argv[1], readonly=True) as store:
    print(len(store.rows()))
try:
    Store(sys.argv[1])
except StoreError as error:
    print(error)
"""


def test_a_read_only_store_can_be_read_but_not_written(tmp_path, run):
    folder = tmp_path / "locked"
    with Store(folder / "a.db") as store:
        store.save(run, outcome_of(run), MACHINE)
    (folder / "a.db").chmod(0o444)
    folder.chmod(0o555)
    if os.geteuid() == 0:
        # Root may write anywhere: ask as somebody else, where that one can come.
        code, said = _as_nobody(folder)
    else:
        program = READ_AND_WRITE.replace("os.setgid(65534); os.setuid(65534)", "")
        code, said = _run(program, folder / "a.db")
    folder.chmod(0o755)
    assert code == 0, said
    rows, message = said.splitlines()
    assert rows == "1"
    assert "cannot be written" in message
    assert "--results" in message


def _as_nobody(folder: Path) -> tuple[int, str]:
    public = Path("/var/tmp") / f"granulearn-test-{os.getpid()}"
    shutil.copytree(folder, public)
    try:
        return _run(READ_AND_WRITE, public / "a.db")
    finally:
        shutil.rmtree(public)


def _run(code: str, *words) -> tuple[int, str]:
    """Return how a process ends, and what it says."""
    process = Code(code, *words)
    out, err = process.communicate()
    return process.returncode, out + err


def test_a_full_disk_is_called_so_and_the_rows_before_are_kept(tmp_path):
    runs = expand(small_study(tmp_path))
    path = tmp_path / "a.db"
    with Store(path) as store:
        store.save(runs[0], outcome_of(runs[0]), MACHINE)
        pages = store._database.execute("PRAGMA page_count").fetchone()[0]
        store._database.execute(f"PRAGMA max_page_count = {pages}")  # as if the disk ended here
        long = outcome_of(runs[1], source="x" * 100_000)
        with pytest.raises(StoreError, match=r"disk is full.*same command goes on") as caught:
            store.save(runs[1], long, MACHINE)
        assert "damaged" not in str(caught.value)
        store._database.execute("PRAGMA max_page_count = 100000")
        store.save(runs[1], long, MACHINE)
        assert store.done_keys() == {runs[0].key, runs[1].key}


def test_a_store_that_another_process_makes_meanwhile_is_taken(tmp_path, monkeypatch):
    path, connect, seen = tmp_path / "run.db", sqlite3.connect, []

    def connect_and_be_overtaken(*args, **options):
        monkeypatch.undo()
        database = connect(*args, **options)

        def count(statement):
            seen.append(statement)
            if len(seen) == 2:
                Store(path).close()

        database.set_trace_callback(count)
        return database

    monkeypatch.setattr(sqlite3, "connect", connect_and_be_overtaken)
    Store(path).close()
    assert len(seen) > 2
