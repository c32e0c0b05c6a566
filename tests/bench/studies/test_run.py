"""Runs: the same rows whatever the jobs, whoever interrupts, however often."""

import json
import os
import platform
import signal
import sqlite3
import time
from contextlib import closing
from importlib.metadata import version
from pathlib import Path

import pytest

from granulearn.bench import Store, expand, load_study, run_study, select, summarize
from granulearn.bench.studies.run import describe_environment
from granulearn.bench.studies.spec import Split
from granulearn.dask import open_client
from tests.bench.studies.small_studies import (
    N_CELLS,
    SMALL,
    small_study,
    use_warm_workers,
    write_study,
)
from tests.cli.commands import succeeds
from tests.warm_processes import Command

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[3]


def rows_of(path: Path) -> dict[str, tuple]:
    """Return all that is stored of each cell but when and how fast it was made."""
    with closing(sqlite3.connect(path)) as database:
        cursor = database.execute("SELECT * FROM cells")
        names = [item[0] for item in cursor.description]
        rows = [dict(zip(names, values, strict=True)) for values in cursor.fetchall()]
    for row in rows:
        for name in ("fit_seconds", "predict_seconds", "finished"):
            row.pop(name)
    return {row["key"]: tuple(row.items()) for row in rows}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The small study, run once in one go."""
    directory = tmp_path_factory.mktemp("whole")
    study = small_study(directory)
    with Store(directory / "whole.db") as store:
        result = run_study(study, expand(study), store)
    return result, directory / "whole.db"


def test_every_cell_is_computed_once_and_recorded(whole):
    result, path = whole
    assert (result.asked, result.computed, result.found, result.failed) == (N_CELLS, N_CELLS, 0, ())
    rows = [dict(row) for row in rows_of(path).values()]
    assert len(rows) == N_CELLS
    for row in rows:
        assert set(json.loads(row["scores"])) == {"accuracy", "log_loss"}
        assert (row["n_balls"] is not None) == (row["method"] == "GB-RVFL")
        assert (row["n_disturbed"] > 0) == (row["rate"] > 0)


def test_two_jobs_give_the_same_rows_as_one(whole, tmp_path, monkeypatch):
    use_warm_workers(monkeypatch)
    study = small_study(tmp_path)
    with Store(tmp_path / "two.db") as store:
        run_study(study, expand(study), store, jobs=2)
    assert rows_of(tmp_path / "two.db") == rows_of(whole[1])


def test_a_second_run_computes_nothing(whole, tmp_path):
    study = small_study(tmp_path)
    heard = []
    with Store(whole[1]) as store:
        result = run_study(
            study, expand(study), store, on_outcome=lambda cell, outcome: heard.append(outcome)
        )
    assert (result.found, result.computed) == (N_CELLS, 0)
    assert heard == [None] * N_CELLS


def test_parts_run_one_after_the_other_are_the_whole(whole, tmp_path):
    study = small_study(tmp_path)
    with Store(tmp_path / "parts.db") as store:
        for only in ("method=tree", "dataset=circles", "dataset=*"):
            run_study(study, select(expand(study), [only]), store)
    assert rows_of(tmp_path / "parts.db") == rows_of(whole[1])


def test_fresh_computes_again_what_was_there(tmp_path):
    study = small_study(tmp_path)
    cells = select(expand(study), ["method=tree"])
    with Store(tmp_path / "a.db") as store:
        run_study(study, cells, store)
        before = rows_of(tmp_path / "a.db")
        result = run_study(study, cells[:2], store, fresh=True)
    assert (result.computed, result.found) == (2, 0)
    assert rows_of(tmp_path / "a.db") == before


ODD = """
[[method]]
name = "odd"
estimator = "tests.bench.studies.odd_classifiers.{kind}"
"""


@pytest.mark.parametrize(
    ("kind", "jobs", "said"),
    [
        ("Failing", 1, "RuntimeError: this classifier never works"),
        ("Killed", 2, "WorkerDiedError: its process ended with code -9"),
    ],
)
def test_cells_that_fail_are_rows_with_a_reason_and_the_run_goes_on(
    whole, tmp_path, kind, jobs, said, monkeypatch
):
    use_warm_workers(monkeypatch)
    first = '[[method]]\nname = "RVFL"'
    study = small_study(tmp_path, (first, ODD.format(kind=kind) + first))
    cells = select(expand(study), ["dataset=circles", "noise=clean"])
    with Store(tmp_path / "a.db") as store:
        result = run_study(study, cells, store, jobs=jobs)
        reasons = {
            row.outcome.reason for row in store.rows().values() if row.outcome.scores is None
        }
    assert (len(result.failed), result.computed) == (2, 6)
    assert len(reasons) == 1
    assert reasons.pop().startswith(said)
    good = {
        key: row for key, row in rows_of(tmp_path / "a.db").items() if dict(row)["reason"] == ""
    }
    assert good.items() <= rows_of(whole[1]).items()


def test_what_failed_is_tried_again(tmp_path, monkeypatch):
    study = small_study(tmp_path)
    cells = select(expand(study), ["method=tree", "dataset=circles"])
    with Store(tmp_path / "a.db") as store:
        monkeypatch.setattr("granulearn.bench.studies.evaluation.prepare", _refuse)
        assert len(run_study(study, cells, store).failed) == 4
        monkeypatch.undo()
        assert run_study(study, cells, store).computed == 4
    assert all(dict(row)["reason"] == "" for row in rows_of(tmp_path / "a.db").values())


def _refuse(*_):
    raise OSError("the disk is away")


def bench(directory: Path, study: Path, *more: str) -> Command:
    return Command("bench", study, "--results", directory / "run.db", *more, cwd=ROOT)


def count_rows(path: Path) -> int:
    """Return the number of rows; 0 while the file is still being set up."""
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as database:
        try:
            return database.execute("SELECT count(*) FROM cells").fetchone()[0]
        except sqlite3.OperationalError:
            return 0


def wait_for_rows(path: Path, run: Command, wanted: int) -> None:
    """Return when a running process has committed some rows."""
    while run.poll() is None:
        if path.exists() and count_rows(path) >= wanted:
            return
        time.sleep(0.01)
    pytest.fail(f"the run ended too early:\n{run.communicate()}")


# Slow enough to be hit in the middle: 24 cells of about a tenth of a second.
SLOW = SMALL.replace(
    'estimator = "sklearn.tree.DecisionTreeClassifier"\nfixed = { max_depth = 4 }',
    'estimator = "sklearn.ensemble.RandomForestClassifier"\nfixed = { n_estimators = 60 }',
).replace('draw = ["two_moons"]', "")


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    """The rows of the slow study, run in one go."""
    directory = tmp_path_factory.mktemp("unbroken")
    study = small_study(directory, (SMALL, SLOW))
    with Store(directory / "unbroken.db") as store:
        run_study(study, expand(study), store)
    return rows_of(directory / "unbroken.db")


# With one job there is nothing that two do not have too, but fewer processes to end.
@pytest.mark.parametrize("stop", [signal.SIGKILL, signal.SIGINT])
def test_a_run_that_is_stopped_resumes_to_the_rows_of_an_unbroken_one(unbroken, tmp_path, stop):
    path = write_study(tmp_path, SLOW)
    run = bench(tmp_path, path, "--jobs", "2")
    wait_for_rows(tmp_path / "run.db", run, 4)
    os.kill(run.pid, stop)
    said = "".join(run.communicate())
    kept = rows_of(tmp_path / "run.db")
    assert 4 <= len(kept) < N_CELLS
    if stop == signal.SIGINT:
        assert run.returncode == 130
        assert f"{len(kept)} of {N_CELLS} cells are kept" in said
    # It goes on in this process, and alone: neither may change a row.
    resumed = succeeds("bench", path, "--results", tmp_path / "run.db", "--jobs", "1")
    assert f"{len(kept)} were there" in resumed.out + resumed.err

    final = rows_of(tmp_path / "run.db")
    assert final == unbroken
    assert kept.items() <= final.items()
    assert {item.name for item in tmp_path.iterdir()} == {path.name, "run.db"}


def test_two_runs_at_once_fill_one_store_without_harm(whole, tmp_path):
    path = write_study(tmp_path)
    runs = [bench(tmp_path, path, "--jobs", "1") for _ in range(2)]
    said = ["".join(run.communicate()) for run in runs]
    assert [run.returncode for run in runs] == [0, 0], said
    assert rows_of(tmp_path / "run.db") == rows_of(whole[1])


def test_a_cluster_gives_the_same_rows_and_a_killed_cell_a_reason(
    whole, mortal_cluster, tmp_path, monkeypatch
):
    monkeypatch.setattr(mortal_cluster.cluster.scheduler, "allowed_failures", 0)
    first = '[[method]]\nname = "RVFL"'
    study = small_study(tmp_path, (first, ODD.format(kind="Killed") + first))
    cells = select(expand(study), ["dataset=circles", "noise=clean"])[:4]  # one of them "odd"
    address = mortal_cluster.scheduler.address
    with open_client(address) as client, Store(tmp_path / "dask.db") as store:
        result = run_study(study, cells, store, client=client)
        again = run_study(study, cells[1:], store, client=client)
    assert (len(result.failed), result.computed) == (1, 3)
    assert all(reason.startswith("TaskLostError: ") for _, reason in result.failed)
    assert (again.found, again.computed) == (3, 0)
    rows = rows_of(tmp_path / "dask.db").items()
    good = {key: row for key, row in rows if dict(row)["reason"] == ""}
    assert good.items() <= rows_of(whole[1]).items()


def test_a_run_on_a_cluster_of_its_own_can_be_stopped_and_leaves_nothing_behind(unbroken, tmp_path):
    path = write_study(tmp_path, SLOW)
    run = bench(tmp_path, path, "--jobs", "2", "--dask", "local")
    wait_for_rows(tmp_path / "run.db", run, 4)
    os.kill(run.pid, signal.SIGINT)
    said = "".join(run.communicate())
    assert run.returncode == 130, said
    kept = rows_of(tmp_path / "run.db")
    assert f"{len(kept)} of {N_CELLS} cells are kept" in said
    assert kept.items() <= unbroken.items()
    while group_is_alive(run.pid):  # what the cluster's processes need to end
        time.sleep(0.05)
    assert {item.name for item in tmp_path.iterdir()} == {path.name, "run.db"}


def group_is_alive(leader: int) -> bool:
    try:
        os.killpg(leader, 0)
    except ProcessLookupError:
        return False
    return True


def test_versions_of_the_environment_are_those_installed_and_the_facts_are_plain():
    facts = describe_environment()
    assert facts["packages"]["numpy"] == version("numpy")
    assert facts["python"] == platform.python_version()
    assert facts["cores"] >= 1
    assert json.loads(json.dumps(facts)) == facts


def test_the_environment_is_the_same_throughout_a_run():
    assert describe_environment() == describe_environment()


def test_neither_host_nor_user_is_named():
    assert platform.node() not in json.dumps(describe_environment()).split('"')


def test_the_study_of_larger_tables_runs_from_end_to_end_on_small_ones(tmp_path):
    changes = {"datasets": ("iris", "two_moons"), "rows": 90, "split": Split(kind="holdout")}
    study = load_study("rivals-large").model_copy(update=changes)
    cells = select(expand(study), ["noise=clean,pair*,boundary*"])
    with Store(tmp_path / "large.db") as store:
        assert run_study(study, cells, store).failed == ()
        rows = store.rows(cell.key for cell in cells)
        summary = summarize(store)
    for cell in cells:
        outcome = rows[cell.key].outcome
        assert outcome.notes == (), cell
        assert outcome.n_train + outcome.n_test == 90
        assert all(value is not None for value in outcome.scores.values()), cell
    assert len(summary["ranking"]) == len(study.method)
    assert all(0 <= line["scores"]["calibration_error"] <= 100 for line in summary["ranking"])
