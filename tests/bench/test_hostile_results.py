"""A report on a result file of anybody: a page, or one line and exit code 2 or 5."""

import sqlite3
from contextlib import closing

import pytest

from granulearn.bench import Store, StoreError
from granulearn.cli.exit_codes import NOT_WRITTEN, OK, USAGE
from tests.bench.hostile_results import EVIL, edit, full_results
from tests.cli.commands import granulearn


@pytest.fixture(name="whole", scope="module")
def whole_results(tmp_path_factory):
    return full_results(tmp_path_factory.mktemp("whole"))


def edited(whole, folder, statements):
    """Return a copy of a result file that some statements have changed."""
    path = folder / "edited.db"
    path.write_bytes(whole.read_bytes())
    with closing(sqlite3.connect(path)) as database, database:
        database.executescript(statements)
    return path


@pytest.mark.slow
def test_an_edited_result_file_is_reported_or_refused(whole, tmp_path):
    """`python benchmarks/run.py campaigns` does the same hundreds of times."""
    codes = set()
    for seed in range(12):
        path, page = tmp_path / "edited.db", tmp_path / f"{seed}.html"
        kind = edit(whole, path, seed)
        done = granulearn("report", path, "-o", page)
        codes.add(done.code)
        assert done.code in (OK, USAGE, NOT_WRITTEN), (seed, kind, done.err)
        assert page.exists() == (done.code == OK)
        assert not page.exists() or EVIL not in page.read_text(encoding="utf-8")
    assert codes > {NOT_WRITTEN}


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE runs SET outcome = '{\"key\": 1}'",
        "UPDATE runs SET outcome = CAST(x'fffe' AS TEXT)",
        "UPDATE runs SET finished = x'fffe'",
        "UPDATE facts SET content = '[]' WHERE kind = 'environment'",
        "UPDATE facts SET content = json_set(content, '$.assignment[0]', 100000) "
        "WHERE kind = 'drawing'",
        "UPDATE facts SET content = json_set(content, '$.points[0][0]', 1e300) "
        "WHERE kind = 'drawing'",
        "UPDATE facts SET content = json_remove(content, '$.labels[0]') WHERE kind = 'drawing'",
        "UPDATE facts SET content = '{\"a\":' WHERE kind = 'study'",
    ],
)
def test_a_cell_of_another_form_is_refused_as_damage(whole, tmp_path, statement):
    path = tmp_path / "edited.db"
    path.write_bytes(whole.read_bytes())
    with closing(sqlite3.connect(path)) as database, database:
        assert database.execute(statement).rowcount > 0
    done = granulearn("report", path, "-o", tmp_path / "page.html")
    assert done.code == NOT_WRITTEN
    assert "is damaged or no result file" in done.err
    assert not (tmp_path / "page.html").exists()


@pytest.mark.parametrize(
    "statements",
    [
        "CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM runs; END",
        "CREATE VIEW more AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) "
        "SELECT * FROM n",
        "ALTER TABLE runs ADD COLUMN big GENERATED ALWAYS AS (zeroblob(900000000))",
        "DROP TABLE facts",
    ],
)
def test_a_result_file_with_other_tables_or_views_is_refused(whole, tmp_path, statements):
    path = edited(whole, tmp_path, statements)
    for readonly in (True, False):
        with pytest.raises(StoreError, match="its tables are defined in another way"):
            Store(path, readonly=readonly)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE facts SET content = json_remove(content, '$.packages.granulearn')",
        "UPDATE runs SET outcome = json_remove(outcome, '$.scores.log_loss')",
        "UPDATE runs SET outcome = json_set(outcome, '$.scores', NULL)",
    ],
)
def test_what_a_result_file_lacks_is_left_out(whole, tmp_path, statement):
    path = edited(whole, tmp_path, statement)
    assert granulearn("report", path, "-o", tmp_path / "page.html").code == OK


def test_scores_that_the_study_does_not_name_are_not_shown(whole, tmp_path):
    path = edited(
        whole, tmp_path, "UPDATE runs SET outcome = json_set(outcome, '$.scores.method', 1.0)"
    )
    before, after = tmp_path / "a.csv", tmp_path / "b.csv"
    for own, table in ((whole, before), (path, after)):
        assert granulearn("report", own, "--csv", table).code == OK
    assert before.read_bytes() == after.read_bytes()
