"""Workers killed in the middle of every phase: the same model, ratings and files.

Each work is done once per list of phases, and in each phase of the list a worker is killed.
"""

import os
from itertools import pairwise

import dask
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from granulearn.dask import (
    DaskLabelAudit,
    DaskRobustClassifier,
    audit,
    blocks,
    classifiers,
    cluster,
    open_client,
    tables,
)
from granulearn.dask.tables import audit_on_cluster, predict_on_cluster, train_on_cluster
from granulearn.models import load_model, save_model
from granulearn.tables import ColumnOptions, open_table
from granulearn.training.prediction import Predictor
from tests.dask.processes import (
    WORKER_SECONDS,
    made_table,
    mortal,
    mortal_writer,
    times_done,
)

pytestmark = pytest.mark.slow
# What workers do, by phase: where the function is that a task is made of.
PHASES = {
    "facts": (blocks, "facts_of_block"),
    "sampling": (blocks, "sample_of_block"),
    "rating": (audit, "_rated"),
    "writing": (audit, "write_frame"),
    "profiling": (tables, "profile_part"),
    "checking": (tables, "check_part"),
    "rows": (classifiers, "rows_of_block"),
    "equations": (classifiers, "equations_of_rows"),
    "scoring": (tables, "confusion_of_part"),
    "rated": (tables, "rated_part"),
    "predicting": (tables, "predicted_part"),
}


@pytest.fixture
def client(mortal_cluster, monkeypatch):
    """A connection to workers that may be killed, once one of them is there."""
    # On a busy machine a worker may take longer than a minute to begin again.
    monkeypatch.setattr(cluster, "NO_WORKER_SECONDS", WORKER_SECONDS)
    with open_client(mortal_cluster.scheduler.address) as client:
        client.wait_for_workers(1, timeout=WORKER_SECONDS)
        yield client


@pytest.fixture
def kill(client, tmp_path, monkeypatch):
    """A function that lets a worker die in a phase; at the end, one must have in each."""
    times, workers = {}, {*client.run(os.getpid).values()}

    def in_phase(name, at=1):
        directory = tmp_path / f"times of {name}"
        times[directory] = at
        owner, function = PHASES[name]
        dying = mortal_writer if name == "writing" else mortal
        monkeypatch.setattr(owner, function, dying(getattr(owner, function), directory, at))

    yield in_phase
    for directory, at in times.items():
        assert times_done(directory) > at, f"no worker was killed: {directory.name}"
    client.wait_for_workers(1, timeout=WORKER_SECONDS)
    assert workers - {*client.run(os.getpid).values()}, "the workers are the same as before"


@pytest.fixture(scope="module")
def undisturbed():
    """The robust classifier and the ratings of a table, without a cluster."""
    with dask.config.set(scheduler="threads"):
        X, y = made_table()
        model = DaskRobustClassifier(random_state=0).fit(X, y, sample_size=1500).estimator_
        ratings = DaskLabelAudit(random_state=0, sample_size=1500).fit(X, y).ratings_.compute()
        return model, ratings


def read_or_dead(directory, time_of_death):
    """Return a table whose block 7 kills the worker that reads it for the n-th time."""
    directory.mkdir()
    return made_table(when=(str(directory), 7, time_of_death, 0))


def test_members_are_the_same(client, kill, undisturbed, tmp_path):
    """A worker dies also when block 7 is read for the second time, to sample rows of it."""
    kill("facts", 4)
    kill("sampling", 2)
    X, y = read_or_dead(tmp_path / "read", 2)
    fitted = DaskRobustClassifier(random_state=0).fit(X, y, sample_size=1500)
    assert times_done(tmp_path / "read") > 2, "no worker was killed while reading"
    rows = np.random.default_rng(1).normal(size=(50, 5))
    assert_allclose(fitted.estimator_.predict_proba(rows), undisturbed[0].predict_proba(rows))


def test_ratings_are_the_same(client, kill, undisturbed, tmp_path):
    """A worker dies also when block 7 is read for the first time."""
    for name, at in {"rating": 4, "writing": 3}.items():
        kill(name, at)
    table = read_or_dead(tmp_path / "read", 1)
    done = DaskLabelAudit(random_state=0, sample_size=1500).fit(*table)
    done = done.write(tmp_path / "ratings", 30)
    assert times_done(tmp_path / "read") > 1, "no worker was killed while reading"
    wanted = undisturbed[1]
    written = pd.read_parquet(tmp_path / "ratings")
    pd.testing.assert_frame_equal(written, wanted.reset_index(), check_dtype=False)
    worst = wanted.sort_values("label_quality", kind="stable").head(30)
    assert_array_equal(done.worst.index, worst.index)
    names = sorted(path.name for path in (tmp_path / "ratings").iterdir())
    assert names == [f"part-{number:05d}.parquet" for number in range(12)]


def write_folder(folder, n_rows=1500):
    """Write a table with gaps and categories as a folder of files."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=n_rows), "city": rng.choice(list("abc"), n_rows)})
    high = (frame["x"] > 0) ^ (frame["city"] == "b") ^ (rng.random(n_rows) < 0.05)
    frame["label"] = np.where(high, "high", "low")
    frame.loc[::9, "x"] = np.nan
    folder.mkdir()
    for number, (begin, end) in enumerate(pairwise([0, 300, 310, 700, 1200, n_rows])):
        frame[begin:end].to_parquet(folder / f"{number}.parquet")
    return folder


def work_on_folder(folder, output):
    """Train, audit and predict; return what comes of it."""
    quiet = {"seed": 0, "tell": lambda _: None}
    output.mkdir()
    with open_table(folder) as file:
        trained = train_on_cluster(file, "gb-rvfl", "label", ColumnOptions(), test=0.3, **quiet)
        ratings = output / "ratings"
        rated = audit_on_cluster(file, "label", ColumnOptions(), ratings, n_worst=30, **quiet)
        save_model(trained.pipeline, output / "m.granulearn", trained.card)
        predictor = Predictor(load_model(output / "m.granulearn"), proba=True)
        predict_on_cluster(predictor, file, output / "predicted", quiet["tell"])
    frames = [pd.read_parquet(ratings), rated.worst, pd.read_parquet(output / "predicted")]
    files = sorted(path.relative_to(output) for path in output.rglob("*"))
    return trained.card.scores, frames, files


def test_what_comes_of_a_folder_is_the_same(client, kill, tmp_path, monkeypatch):
    """Training, with scores of rows held out, audit and prediction, as on the command line."""
    monkeypatch.setattr(tables, "SAMPLE_SIZE", 400)
    folder = write_folder(tmp_path / "table")
    with dask.config.set(scheduler="threads"):
        scores, frames, files = work_on_folder(folder, tmp_path / "expected")
    phases = "profiling", "checking", "rows", "equations", "scoring", "rated", "predicting"
    for name in phases:
        kill(name, 2)
    its_scores, its_frames, its_files = work_on_folder(folder, tmp_path / "found")
    assert its_scores == scores
    for found, expected in zip(its_frames, frames, strict=True):
        pd.testing.assert_frame_equal(found, expected)
    assert its_files == files
