"""Runs: the same rows whatever the jobs, whoever interrupts, however often."""

import dataclasses
import json
import os
import platform
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import accuracy_score

from granulearn import generate_balls
from granulearn.bench import Store, evaluate, expand, load_study, run_study, select
from granulearn.bench.data import prepare
from granulearn.bench.figures import balls_of_drawing
from granulearn.bench.methods import build_search
from granulearn.bench.running import (
    WorkerDiedError,
    describe_environment,
    draw,
    run_in_processes,
)
from granulearn.bench.runs import Condition
from granulearn.bench.study import Method
from granulearn.dask import open_client
from tests.bench.odd_classifiers import Recorder
from tests.bench.small_studies import (
    N_RUNS,
    SMALL,
    small_study,
    use_warm_workers,
    write_study,
)
from tests.cli.commands import succeeds
from tests.processes import Code, Command

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]


def rows_of(path: Path) -> dict[str, dict]:
    """Return all that is stored of each run but when and how fast it was made."""
    with closing(sqlite3.connect(path)) as database:
        rows = [json.loads(outcome) for (outcome,) in database.execute("SELECT outcome FROM runs")]
    for row in rows:
        del row["fit_seconds"], row["predict_seconds"]
    return {row["key"]: row for row in rows}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The small study, run once in one go."""
    directory = tmp_path_factory.mktemp("whole")
    study = small_study(directory)
    with Store(directory / "whole.db") as store:
        result = run_study(study, expand(study), store)
    return result, directory / "whole.db"


def test_every_run_is_computed_once_and_recorded(whole):
    result, path = whole
    assert (result.asked, result.computed, result.found, result.failed) == (N_RUNS, N_RUNS, 0, ())
    runs = {run.key: run for run in expand(load_study(path.parent / "small.toml"))}
    with Store(path, readonly=True) as store:
        outcomes = {key: row.outcome for key, row in store.rows().items()}
    assert outcomes.keys() == runs.keys()
    for key, outcome in outcomes.items():
        assert set(outcome.scores) == {"accuracy", "log_loss"}
        assert (outcome.n_balls is not None) == (runs[key].method.name == "GB-RVFL")
        assert (outcome.n_disturbed > 0) == (runs[key].unit.condition.rate > 0)


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
            study, expand(study), store, on_outcome=lambda run, outcome: heard.append(outcome)
        )
    assert (result.found, result.computed) == (N_RUNS, 0)
    assert heard == [None] * N_RUNS


def test_fresh_computes_again_what_was_there(tmp_path):
    study = small_study(tmp_path)
    runs = select(expand(study), ["method=tree"])
    with Store(tmp_path / "a.db") as store:
        run_study(study, runs, store)
        before = rows_of(tmp_path / "a.db")
        result = run_study(study, runs[:2], store, fresh=True)
    assert (result.computed, result.found) == (2, 0)
    assert rows_of(tmp_path / "a.db") == before


ODD = """
[[method]]
name = "odd"
estimator = "tests.bench.odd_classifiers.{kind}"
"""


@pytest.mark.parametrize(
    ("kind", "jobs", "said"),
    [
        ("Failing", 1, "RuntimeError: this classifier never works"),
        ("Killed", 2, "WorkerDiedError: its process ended with code -9"),
    ],
)
def test_runs_that_fail_are_rows_with_a_reason_and_the_run_goes_on(
    whole, tmp_path, kind, jobs, said, monkeypatch
):
    use_warm_workers(monkeypatch)
    first = '[[method]]\nname = "RVFL"'
    study = small_study(tmp_path, (first, ODD.format(kind=kind) + first))
    runs = select(expand(study), ["dataset=circles", "noise=clean"])
    with Store(tmp_path / "a.db") as store:
        result = run_study(study, runs, store, jobs=jobs)
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
    runs = select(expand(study), ["method=tree", "dataset=circles"])
    with Store(tmp_path / "a.db") as store:
        monkeypatch.setattr("granulearn.bench.running.prepare", _refuse)
        assert len(run_study(study, runs, store).failed) == 4
        monkeypatch.undo()
        assert run_study(study, runs, store).computed == 4
    assert all(row["reason"] == "" for row in rows_of(tmp_path / "a.db").values())


def _refuse(*_):
    raise OSError("the disk is away")


def bench(directory: Path, study: Path, *more: str) -> Command:
    return Command("bench", study, "--results", directory / "run.db", *more, cwd=ROOT)


def count_rows(path: Path) -> int:
    """Return the number of rows; 0 while the file is still being set up."""
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as database:
        try:
            return database.execute("SELECT count(*) FROM runs").fetchone()[0]
        except sqlite3.OperationalError:
            return 0


def wait_for_rows(path: Path, run: Command, wanted: int) -> None:
    """Return when a running process has committed some rows."""
    while run.poll() is None:
        if path.exists() and count_rows(path) >= wanted:
            return
        time.sleep(0.01)
    pytest.fail(f"the run ended too early:\n{run.communicate()}")


# Slow enough to be hit in the middle: 24 runs of about a tenth of a second.
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
    assert 4 <= len(kept) < N_RUNS
    if stop == signal.SIGINT:
        assert run.returncode == 130
        assert f"{len(kept)} of {N_RUNS} runs are kept" in said
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


def test_a_cluster_gives_the_same_rows_and_a_killed_run_a_reason(
    whole, mortal_cluster, tmp_path, monkeypatch
):
    monkeypatch.setattr(mortal_cluster.cluster.scheduler, "allowed_failures", 0)
    first = '[[method]]\nname = "RVFL"'
    study = small_study(tmp_path, (first, ODD.format(kind="Killed") + first))
    runs = select(expand(study), ["dataset=circles", "noise=clean"])[:4]  # one of them "odd"
    address = mortal_cluster.scheduler.address
    with open_client(address) as client, Store(tmp_path / "dask.db") as store:
        result = run_study(study, runs, store, client=client)
        again = run_study(study, runs[1:], store, client=client)
    assert (len(result.failed), result.computed) == (1, 3)
    assert all(reason.startswith("TaskLostError: ") for _, reason in result.failed)
    assert (again.found, again.computed) == (3, 0)
    rows = rows_of(tmp_path / "dask.db").items()
    good = {key: row for key, row in rows if dict(row)["reason"] == ""}
    assert good.items() <= rows_of(whole[1]).items()


def test_versions_of_the_environment_are_those_installed_and_the_facts_are_plain():
    facts = describe_environment()
    assert facts["packages"]["numpy"] == version("numpy")
    assert facts["python"] == platform.python_version()
    assert facts["cores"] >= 1
    assert json.loads(json.dumps(facts)) == facts
    assert platform.node() not in json.dumps(facts).split('"')


def square_or_die(number: int) -> tuple[int, int]:
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number, os.getpid()


@pytest.fixture(scope="module")
def results():
    with pytest.MonkeyPatch.context() as patch:
        use_warm_workers(patch)
        return dict(run_in_processes(square_or_die, range(8), 2))


def test_the_task_whose_process_died_is_known_and_the_others_go_on(results):
    squares = {task: result[0] for task, result in results.items() if task != 3}
    assert squares == {n: n * n for n in range(8) if n != 3}
    assert isinstance(results[3], WorkerDiedError)
    assert "code -9" in str(results[3])


def test_stopping_early_ends_the_processes(monkeypatch):
    use_warm_workers(monkeypatch)
    running = run_in_processes(square_or_die, range(100, 200), 1)
    _, (_, process) = next(running)
    running.close()
    assert not _alive(process)


PARENT = """
import time
from granulearn.bench.running import run_in_processes
from tests.processes import sleep_and_tell

if __name__ == "__main__":
    for _ in run_in_processes(sleep_and_tell, range(4), 2):
        pass
"""


def test_workers_end_when_their_parent_is_killed():
    with Code(PARENT) as parent:
        workers = [int(parent.stdout.readline()) for _ in range(2)]
        assert all(map(_alive, workers))
        parent.kill()
    while any(map(_alive, workers)):
        time.sleep(0.05)


def _alive(process: int) -> bool:
    """Return whether a process runs; one that ended but was not waited for does not."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


@pytest.mark.parametrize("delay", [0.0, 0.1, 0.6])
def test_an_interrupt_of_the_whole_group_leaves_no_worker_and_no_traceback(delay):
    parent = Code(INTERRUPTED)
    assert parent.stdout.readline() == "starting\n"
    time.sleep(delay)  # workers are being started
    os.killpg(parent.pid, signal.SIGINT)
    _, said = parent.communicate()  # returns when no worker holds the pipes either
    assert (parent.returncode, said) == (130, "")


def test_the_end_of_a_terminal_leaves_no_worker_and_no_warning(tmp_path):
    """In a new process: a copy has the tracker of resources of the one that it is copied from."""
    script = tmp_path / "parent.py"
    script.write_text(INTERRUPTED)
    parent = subprocess.Popen(
        [sys.executable, str(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)])},
    )
    assert parent.stdout.readline() == "starting\n"
    parent.stdout.readline()  # a worker has its task
    os.killpg(parent.pid, signal.SIGHUP)
    _, said = parent.communicate()
    assert (parent.returncode, said) == (130, "")


INTERRUPTED = """
import signal
import subprocess
import sys
from granulearn.bench.running import run_in_processes
from tests.processes import sleep_and_tell

if __name__ == "__main__":
    for stopping in (signal.SIGINT, signal.SIGHUP):
        signal.signal(stopping, signal.default_int_handler)
    try:
        print("starting", flush=True)
        for _ in run_in_processes(sleep_and_tell, range(2), 2):
            pass
    except KeyboardInterrupt:
        sys.exit(130)
"""


@pytest.fixture
def runs(tmp_path):
    return expand(small_study(tmp_path))


def run_of(runs, method, noisy=False):
    return next(
        run for run in runs if run.method.name == method and (run.unit.condition.rate > 0) == noisy
    )


def odd(run, name, **changes):
    estimator = f"tests.bench.odd_classifiers.{name}"
    return dataclasses.replace(run, method=Method(name=name, estimator=estimator, **changes))


def test_the_score_is_that_of_a_fit_by_hand(runs):
    run = run_of(runs, "GB-RVFL", noisy=True)
    outcome = evaluate(run)
    data = prepare(run.unit, None)
    search = build_search(run.method, run.tuning, run.unit.seed)
    search.fit(data.X_train, data.y_train)
    assert outcome.scores["accuracy"] == accuracy_score(data.y_test, search.predict(data.X_test))
    assert outcome.chosen == search.best_params_
    assert outcome.n_balls == len(search.best_estimator_.balls_)
    assert np.mean(outcome.fold_scores) == pytest.approx(search.best_score_)
    assert len(outcome.fold_scores) == 3


def test_tuning_and_fitting_see_no_test_row(runs):
    run = odd(run_of(runs, "tree"), "Recorder", grid={})
    Recorder.seen.clear()
    assert evaluate(run).reason == ""
    data = prepare(run.unit, None)
    test_rows = {tuple(row) for row in data.X_test}
    assert Recorder.seen
    assert not any(tuple(row) in test_rows for X, _ in Recorder.seen for row in X)


@pytest.mark.parametrize(("name", "sees"), [("Recorder", False), ("MissingRecorder", True)])
def test_missing_cells_are_filled_for_methods_that_take_none(runs, name, sees):
    run = odd(run_of(runs, "RVFL", noisy=True), name)
    unit = dataclasses.replace(run.unit, condition=Condition("missing", 0.2))
    Recorder.seen.clear()
    assert evaluate(dataclasses.replace(run, unit=unit)).reason == ""
    [(X, _)] = Recorder.seen
    assert np.isnan(X).any() == sees


def test_methods_of_a_unit_see_the_same_noisy_labels(runs):
    Recorder.seen.clear()
    for name in ("RVFL", "tree"):
        evaluate(odd(run_of(runs, name, noisy=True), "Recorder"))
    (_, first), (_, second) = Recorder.seen
    np.testing.assert_array_equal(first, second)


def test_a_method_that_fails_becomes_an_outcome_with_a_reason(runs):
    outcome = evaluate(odd(runs[0], "Failing"))
    assert outcome.reason == "RuntimeError: this classifier never works"
    assert outcome.scores is None


def test_a_warning_is_kept_as_a_note(runs):
    outcome = evaluate(odd(runs[0], "Worried"))
    assert any("this classifier is worried" in note for note in outcome.notes)


def test_a_score_that_a_method_cannot_give_is_absent_and_said_so(runs):
    outcome = evaluate(odd(runs[0], "Recorder"))
    assert outcome.scores["log_loss"] is None
    assert outcome.scores["accuracy"] == pytest.approx(0.5, abs=0.1)
    assert any(note.startswith("no log_loss") for note in outcome.notes)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "Strange",
            "ValueError: predict returned -7, but the classes are 0, 1; return",
        ),
        ("Uncertain", "ValueError: predict returned nan, but the classes are 0, 1"),
        ("Short", "ValueError: no accuracy: ValueError: Found input variables with inconsistent"),
    ],
)
def test_a_prediction_of_no_class_becomes_a_reason(runs, name, said):
    outcome = evaluate(odd(run_of(runs, "tree"), name))
    assert outcome.reason.startswith(said)
    assert outcome.scores is None


def test_a_score_fails_alone_unless_it_is_the_only_one(runs):
    run = odd(run_of(runs, "tree"), "Unfinished")
    outcome = evaluate(run)
    assert outcome.reason == ""
    assert outcome.scores["accuracy"] is not None
    assert outcome.scores["log_loss"] is None
    said = "no log_loss: NotImplementedError: probabilities come later"
    assert outcome.notes == (said,)
    alone = evaluate(dataclasses.replace(run, scores=("log_loss", "fit_seconds")))
    assert alone.reason == f"ValueError: {said}"


def test_the_balls_of_a_drawing_are_those_of_the_training_part(tmp_path):
    unit = expand(small_study(tmp_path))[0].unit
    balls, points, labels = balls_of_drawing(draw(unit, None))
    data = prepare(unit, None)
    expected = generate_balls(data.X_train, data.y_train, random_state=unit.seed)
    np.testing.assert_array_equal(balls.assignment, expected.assignment)
    np.testing.assert_array_equal(balls.counts, expected.counts)
    np.testing.assert_allclose(balls.purities, expected.purities)
    assert labels.tolist() == [str(label) for label in data.y_train]
    # Two features: the plane is the whole space, turned, so distances stay.
    np.testing.assert_allclose(balls.radii, expected.radii, atol=1e-3)
    assert len(points) == len(data.y_train)
