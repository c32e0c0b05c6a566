"""Workers killed in the middle of every phase: the same members, ratings and files, bit for bit.

Each work is done once per list of phases, and in each phase of the list a worker is killed.
"""

import os
from dataclasses import replace
from itertools import pairwise

import dask
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from granulearn.distributed import (
    DaskLabelAudit,
    DaskRobustClassifier,
    cluster,
    cluster_source,
    label_audit,
    open_client,
    row_sketch,
)
from granulearn.estimators import RVFLCommitteeClassifier, source_fit
from granulearn.models import load_model, save_model
from granulearn.tables import ColumnOptions, open_table
from granulearn.training import cluster_audit, cluster_prediction, cluster_training
from granulearn.training.cluster_audit import audit_on_cluster
from granulearn.training.cluster_prediction import predict_on_cluster
from granulearn.training.cluster_training import train_on_cluster
from granulearn.training.prediction import Predictor
from tests.distributed.large_tables import assert_equal_members, call_large
from tests.distributed.processes import (
    WORKER_SECONDS,
    made_table,
    mortal,
    mortal_writer,
    times_done,
)

pytestmark = pytest.mark.slow
# What workers do, by phase: where the function is that a task is made of.
PHASES = {
    "twins": (row_sketch, "twins_of_part"),
    "offers": (cluster_source, "joined_offers"),
    "tree": (cluster_source, "grow_from"),
    "rating": (label_audit, "rated_block"),
    "writing": (label_audit, "written_part"),
    "looking": (cluster_training, "look_at_part"),
    "examining": (cluster_training, "examine_part"),
    "scoring": (cluster_training, "confusion_of_part"),
    "rated": (cluster_audit, "rated_part"),
    "predicting": (cluster_prediction, "predicted_part"),
}
# Members that are a job each: what makes the job.
JOBS = {
    "boosting": (source_fit, "boosting_job"),
    "committee": (RVFLCommitteeClassifier, "_job"),
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
        if name in JOBS:
            owner, maker = JOBS[name]
            make = getattr(owner, maker)

            def job(*given, **settings):
                made = make(*given, **settings)
                return replace(made, work=mortal(made.work, directory, at))

            monkeypatch.setattr(owner, maker, job)
        else:
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
    """The robust classifier and the ratings of a table that counts as large, without a cluster."""
    with pytest.MonkeyPatch.context() as patch, dask.config.set(scheduler="threads"):
        call_large(patch)
        X, y = made_table()
        model = DaskRobustClassifier(random_state=0).fit(X, y).estimator_
        return model, DaskLabelAudit(random_state=0).fit(X, y).ratings_.compute()


def read_or_dead(directory, time_of_death):
    """Return a table whose block 7 kills the worker that reads it for the n-th time."""
    directory.mkdir()
    return made_table(when=(str(directory), 7, time_of_death, 0))


@pytest.mark.parametrize(
    ("time_of_death", "phases"),
    [(2, {"twins": 1, "tree": 5}), (3, {"boosting": 1, "committee": 2})],
)
def test_members_are_the_same(
    time_of_death, phases, client, kill, undisturbed, tmp_path, monkeypatch
):
    """A worker dies also when block 7 is read to draw few rows of it, or more."""
    call_large(monkeypatch)
    for name, at in phases.items():
        kill(name, at)
    X, y = read_or_dead(tmp_path / "read", time_of_death)
    fitted = DaskRobustClassifier(random_state=0).fit(X, y)
    assert times_done(tmp_path / "read") > time_of_death, "no worker was killed while reading"
    assert_equal_members(fitted.estimator_, undisturbed[0])


def test_ratings_are_the_same(client, kill, undisturbed, tmp_path, monkeypatch):
    """A worker dies also when block 7 is looked at first."""
    call_large(monkeypatch)
    for name, at in {"offers": 1, "rating": 4, "writing": 3}.items():
        kill(name, at)
    audit = DaskLabelAudit(random_state=0).fit(*read_or_dead(tmp_path / "read", 1))
    done = audit.write(tmp_path / "ratings", 30)
    assert times_done(tmp_path / "read") > 1, "no worker was killed while reading"
    wanted = undisturbed[1]
    written = pd.read_parquet(tmp_path / "ratings")
    same = {"check_exact": True, "check_dtype": False}
    pd.testing.assert_frame_equal(written, wanted.reset_index(), **same)
    worst = wanted.sort_values("reliability", kind="stable").head(30)
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
        trained = train_on_cluster(file, "robust", "label", ColumnOptions(), test=0.3, **quiet)
        ratings = output / "ratings"
        audit = audit_on_cluster(file, "label", ColumnOptions(), ratings, n_worst=30, **quiet)
        save_model(trained.pipeline, output / "m.granulearn", trained.card)
        predictor = Predictor(load_model(output / "m.granulearn"), proba=True)
        predict_on_cluster(predictor, file, output / "predicted", quiet["tell"])
    frames = [pd.read_parquet(ratings), audit.worst, pd.read_parquet(output / "predicted")]
    files = sorted(path.relative_to(output) for path in output.rglob("*"))
    return trained.pipeline[-1], trained.card.scores, frames, files


def test_what_comes_of_a_folder_is_the_same(client, kill, tmp_path, monkeypatch):
    """Training, with scores of rows held out, audit and prediction, as on the command line."""
    call_large(monkeypatch)
    folder = write_folder(tmp_path / "table")
    with dask.config.set(scheduler="threads"):
        model, scores, frames, files = work_on_folder(folder, tmp_path / "expected")
    for name in ("looking", "examining", "scoring", "rated", "predicting"):
        kill(name, 2)
    ours, its_scores, its_frames, its_files = work_on_folder(folder, tmp_path / "found")
    assert_equal_members(ours, model)
    assert its_scores == scores
    for found, expected in zip(its_frames, frames, strict=True):
        pd.testing.assert_frame_equal(found, expected, check_exact=True)
    assert its_files == files
