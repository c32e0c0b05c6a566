"""A real cluster: the same results when workers are killed, a clear error when it is gone."""

import json
import os
import signal
import threading
import time

import dask
import numpy as np
import pandas as pd
import psutil
import pytest
from dask import delayed
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from threadpoolctl import threadpool_limits

from granulearn.dask import (
    ClusterError,
    DaskFGBRVFLClassifier,
    DaskLabelAudit,
    DaskRobustClassifier,
    DaskRVFLClassifier,
    audit,
    blocks,
    cluster,
    open_client,
    tables,
)
from granulearn.dask.cluster import (
    TaskLostError,
    _run_alone,
    compute,
    run_on_cluster,
    tree_reduce,
)
from granulearn.dask.tables import audit_on_cluster, predict_on_cluster, train_on_cluster
from granulearn.model_selection import PathSearchCV
from granulearn.models import LoadedModel
from granulearn.models.prediction import Predictor
from granulearn.rvfl import SDAPGBRVFLClassifier
from granulearn.tables import ColumnOptions, open_table
from tests.dask.chunked import table, write_parts
from tests.dask.processes import (
    WORKER_SECONDS,
    made_table,
    mortal,
    scheduler_process,
    times_done,
    worker_process,
)


@pytest.fixture(scope="module")
def client(dask_cluster):
    """A connection to two worker processes with nannies."""
    with open_client(dask_cluster.scheduler.address) as client:
        yield client


@pytest.fixture
def mortal_client(mortal_cluster):
    """A connection to workers that may be killed, once one of them is there."""
    with open_client(mortal_cluster.scheduler.address) as client:
        client.wait_for_workers(1, timeout=WORKER_SECONDS)
        yield client


@pytest.fixture(scope="module")
def undisturbed(client):
    """What classifiers learn when nothing happens, with workers' one thread for BLAS."""
    with threadpool_limits(1):
        kinds = (DaskRVFLClassifier, DaskFGBRVFLClassifier)
        return {kind: kind(random_state=0).fit(*made_table()) for kind in kinds}


def test_a_worker_killed_in_the_middle_changes_nothing(undisturbed, mortal_client, tmp_path):
    """It is killed when it makes block 7 for the second time."""
    X, y = made_table(when=(str(tmp_path), 7, 2, 0))
    with threadpool_limits(1):
        fitted = DaskFGBRVFLClassifier(random_state=0).fit(X, y)
    assert len(list(tmp_path.iterdir())) > 2, "no worker was killed"
    assert_allclose(fitted.coef_, undisturbed[DaskFGBRVFLClassifier].coef_)


def test_predictions_on_a_cluster_are_those_of_the_ordinary_estimator(client, undisturbed):
    X, _ = made_table()
    fitted = undisturbed[DaskRVFLClassifier]
    expected = [fitted.estimator_.predict(block) for block in X.blocks.ravel()]
    assert_array_equal(fitted.predict(X).compute(), np.concatenate(expected))


@pytest.fixture
def kill(mortal_client, tmp_path, monkeypatch):
    """A function that lets a worker die in a phase; at the end, one must have in each."""
    monkeypatch.setattr(cluster, "NO_WORKER_SECONDS", WORKER_SECONDS)
    counts = []

    def in_phase(owner, name):
        counts.append(tmp_path / f"times of {name}")
        monkeypatch.setattr(owner, name, mortal(getattr(owner, name), counts[-1], 2))

    yield in_phase
    assert all(times_done(directory) > 2 for directory in counts), "no worker was killed"


def test_sampled_fits_and_audits_survive_killed_workers(kill, tmp_path):
    def results():
        X, y = made_table()
        model = DaskRobustClassifier(random_state=0).fit(X, y, sample_size=1500)
        ratings = DaskLabelAudit(random_state=0, sample_size=1500).fit(X, y).ratings_
        return model.estimator_.predict_proba(np.eye(5)), ratings.compute()

    with dask.config.set(scheduler="threads"):
        proba, ratings = results()
    kill(blocks, "sample_of_block")
    kill(audit, "rate_block")
    its_proba, its_ratings = results()
    assert_allclose(its_proba, proba)
    pd.testing.assert_frame_equal(its_ratings, ratings, check_dtype=False)


def work_on_folder(folder, output):
    """Train, audit and predict; return what comes of it."""
    quiet = {"seed": 0, "progress": lambda _: None}
    output.mkdir()
    with open_table(folder) as file:
        trained = train_on_cluster(file, "gb-rvfl", "label", ColumnOptions(), test=0.3, **quiet)
        ratings = output / "ratings"
        rated = audit_on_cluster(file, "label", ColumnOptions(), ratings, n_worst=30, **quiet)
        predictor = Predictor(LoadedModel(trained.pipeline, trained.card), proba=True)
        predict_on_cluster(predictor, file, output / "predicted", quiet["progress"])
    frames = [pd.read_parquet(ratings), rated.worst, pd.read_parquet(output / "predicted")]
    files = sorted(path.relative_to(output) for path in output.rglob("*"))
    return trained.card.scores, frames, files


def test_training_audit_and_prediction_of_a_folder_survive_killed_workers(
    kill, tmp_path, monkeypatch
):
    monkeypatch.setattr(tables, "SAMPLE_SIZE", 400)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=1500), "city": rng.choice(list("abc"), 1500)})
    high = (frame["x"] > 0) ^ (frame["city"] == "b") ^ (rng.random(1500) < 0.05)
    frame["label"] = np.where(high, "high", "low")
    frame.loc[::9, "x"] = np.nan
    folder = write_parts(tmp_path / "table", frame, [300, 310, 700, 1200])
    with dask.config.set(scheduler="threads"):
        scores, frames, files = work_on_folder(folder, tmp_path / "expected")
    for name in ("check_part", "rate_part", "predict_part"):
        kill(tables, name)
    its_scores, its_frames, its_files = work_on_folder(folder, tmp_path / "found")
    assert its_scores == scores
    for found, expected in zip(its_frames, frames, strict=True):
        pd.testing.assert_frame_equal(found, expected)
    assert its_files == files


def test_a_path_search_on_a_cluster_is_the_search_of_one_process(client):
    X, y = table(n_samples=150)
    search = PathSearchCV(
        SDAPGBRVFLClassifier(random_state=0),
        {"C": [0.1, 10.0], "n_hidden": [5, 20], "purity": [0.9, 1.0]},
        cv=3,
        n_jobs=2,
    )
    with parallel_config(backend="dask"):
        spread = search.fit(X, y).cv_results_
    alone = search.set_params(n_jobs=1).fit(X, y).cv_results_
    for name in ("mean_test_score", "split0_test_score", "rank_test_score"):
        assert_array_equal(spread[name], alone[name])


def test_a_task_that_kills_every_worker_is_given_up_with_advice(
    mortal_cluster, mortal_client, monkeypatch
):
    monkeypatch.setattr(mortal_cluster.cluster.scheduler, "allowed_failures", 0)
    with pytest.raises(ClusterError, match="memory ran out: use smaller blocks"):
        compute(delayed(os._exit)(1))


def test_an_error_in_a_task_reaches_the_caller_as_it_is(client):
    with pytest.raises(ZeroDivisionError):
        compute(delayed(lambda: 1 / 0)())


def test_a_scheduler_that_goes_away_is_a_clear_error_and_no_hang(tmp_path):
    with scheduler_process(tmp_path) as (scheduler, file), worker_process(file):
        address = json.loads(file.read_text())["address"]
        with open_client(address) as client:
            client.wait_for_workers(1, timeout=WORKER_SECONDS)
            X, y = made_table(when=(str(tmp_path), 7, 1, scheduler.pid))
            began = time.monotonic()
            with pytest.raises(ClusterError, match=r"scheduler at tcp://.* went away .* once more"):
                DaskLabelAudit(random_state=0).fit(X, y)
    assert delayed(3).compute() == 3, "Dask still waits for the lost scheduler"
    # Generous: what is shown is that an end comes, on however busy a machine.
    assert time.monotonic() - began < 120


def test_a_scheduler_without_workers_is_a_clear_error(tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "NO_WORKER_SECONDS", 0.5)
    with scheduler_process(tmp_path) as (_, file):
        address = json.loads(file.read_text())["address"]
        with (
            open_client(address),
            pytest.raises(ClusterError, match=r"no worker for 0\.5 s"),
        ):
            DaskRVFLClassifier().fit(*made_table())


def test_no_scheduler_at_an_address_is_a_clear_error(monkeypatch):
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 1.0)
    for address in ("tcp://127.0.0.1:1", "nowhere://there"):
        with (
            pytest.raises(ClusterError, match=f"no Dask scheduler answers at {address}"),
            open_client(address),
        ):
            pass


def test_a_local_cluster_listens_to_this_machine_alone(client):
    ours = psutil.Process()
    listening = [
        connection.laddr.ip
        for process in [ours, *ours.children(recursive=True)]
        for connection in process.net_connections()
        if connection.status == psutil.CONN_LISTEN
    ]
    assert set(listening) <= {"127.0.0.1", "::1"}
    assert len(listening) > 2


@pytest.mark.slow
def test_a_local_worker_that_is_late_comes_back(warm_clusters):
    """Dask lets one go that is dead when it looks, be it for the second time since."""
    with (
        dask.config.set({"distributed.deploy.lost-worker-timeout": "50ms"}),
        open_client("local", n_workers=1) as client,
    ):
        ((worker, pid),) = client.run(os.getpid).items()
        os.kill(pid, signal.SIGKILL)
        deadline = time.monotonic() + WORKER_SECONDS
        while client.nthreads().keys() <= {worker}:
            assert time.monotonic() < deadline, "no other worker came"
            time.sleep(0.1)


def square_or_die(number):
    """Return the square and the process; die at 3."""
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number**2, os.getpid()


def fail(number):
    raise ValueError(f"no {number}")


@pytest.fixture
def frail_client(mortal_client, mortal_cluster, monkeypatch):
    monkeypatch.setattr(mortal_cluster.cluster.scheduler, "allowed_failures", 0)
    return mortal_client


def test_every_task_has_its_result_and_a_killed_one_a_reason(frail_client):
    results = dict(run_on_cluster(square_or_die, range(8), frail_client))
    assert set(results) == set(range(8))
    lost = results.pop(3)
    assert isinstance(lost, TaskLostError)
    assert "memory" in str(lost)
    assert {number: result[0] for number, result in results.items()} == {
        number: number**2 for number in results
    }
    assert os.getpid() not in {process for _, process in results.values()}


def test_an_error_in_a_task_is_its_reason(frail_client):
    results = dict(run_on_cluster(fail, ["a"], frail_client))
    assert str(results["a"]) == "ValueError: no a"
    assert list(run_on_cluster(fail, [], frail_client)) == []


def test_one_task_runs_at_a_time_in_a_process():
    heard = []

    def task(number):
        heard.append(f"begin {number}")
        time.sleep(0.01)
        heard.append(f"end {number}")

    threads = [threading.Thread(target=_run_alone, args=(task, at)) for at in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    pairs = list(zip(heard[::2], heard[1::2], strict=True))
    assert len(pairs) == 4
    assert all(begin.split()[1] == end.split()[1] for begin, end in pairs)


@pytest.mark.parametrize("n", [1, 2, 9, 70])
def test_a_reduction_joins_in_order_and_leaves_out_what_is_none(n):
    parts = [delayed(None if number % 5 == 3 else [number]) for number in range(n)]
    assert tree_reduce(lambda a, b: a + b, parts).compute() == [k for k in range(n) if k % 5 != 3]
    assert tree_reduce(max, [delayed(None)] * n).compute() is None
