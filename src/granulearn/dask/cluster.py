"""A Dask cluster: connect, compute with clear errors when it is lost, and reduce in a tree."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from functools import reduce
from itertools import islice
from typing import Any, TypeVar

import dask
import distributed
from dask import delayed
from distributed.comm import CommClosedError

CONNECT_SECONDS = 15.0
# A cluster may be without a worker for so long: a nanny starts one anew in a few seconds.
NO_WORKER_SECONDS = 60.0
# A local cluster looks once, so long after a worker died, whether it is back, and else lets it go
# for good, although its nanny would start it again.
_PATIENCE = {"distributed.deploy.lost-worker-timeout": "1 day"}
_POLL_SECONDS = 0.5
# Partial results that one task joins, so that a worker holds few at a time.
SPLIT_EVERY = 8

Task = TypeVar("Task")
Result = TypeVar("Result")


class ClusterError(ConnectionError):
    """The Dask cluster cannot be reached, or was lost; the message says what to do.

    Examples
    --------
    >>> from granulearn.dask import ClusterError, open_client
    >>> try:
    ...     with open_client("no-such-scheme://nowhere:1"):
    ...         pass
    ... except ClusterError:
    ...     print("no cluster there")
    no cluster there
    """


class TaskLostError(RuntimeError):
    """A task gave no result: its workers died, or it could not be sent."""


def compute(*things: Any) -> tuple[Any, ...]:
    """Compute delayed things as `dask.compute` does, but never wait for a lost cluster."""
    client = active_client()
    if client is None:
        return dask.compute(*things)
    with _errors_of_loss(client):
        futures = client.compute(list(things))
        try:
            _wait(client, futures, "ALL_COMPLETED")
            return tuple(client.gather(futures))
        finally:
            # Also after an error or Ctrl-C: unfinished results are not needed any more.
            _cancel(client, futures)


def tree_reduce(join: Callable[[Any, Any], Any], parts: Sequence[Any]) -> Any:
    """Return the delayed result of joining neighbours, level by level; None of None is left out."""
    level, join_all = list(parts), delayed(_join_all)
    while len(level) > 1:
        groups = (level[at : at + SPLIT_EVERY] for at in range(0, len(level), SPLIT_EVERY))
        level = [join_all(join, own) for own in groups]
    return level[0]


def _join_all(join: Callable[[Any, Any], Any], parts: Sequence[Any]) -> Any:
    known = [part for part in parts if part is not None]
    return reduce(join, known) if known else None


def active_client() -> distributed.Client | None:
    """Return the client that `dask.compute` would use; None if it would use none."""
    client = getattr(dask.base.get_scheduler(), "__self__", None)
    return client if isinstance(client, distributed.Client) else None


@contextmanager
def open_client(
    address: str, n_workers: int | None = None, memory_limit: str | None = None
) -> Iterator[distributed.Client]:
    """Connect to a cluster, or start one on this machine and end it afterwards.

    Parameters
    ----------
    address : str
        Address of a scheduler, such as ``"tcp://10.0.0.1:8786"``; ``"local"``
        starts one process per core on this machine.
    n_workers : int, default=None
        Processes of a local cluster; None means one per core.
    memory_limit : str, default=None
        Memory of each process of a local cluster, such as ``"2GB"``; None shares
        the machine's memory between them.

    Yields
    ------
    distributed.Client
        The client, which is the default one inside the block.

    Raises
    ------
    ClusterError
        When the scheduler does not answer.

    Examples
    --------
    >>> from granulearn.dask import open_client
    >>> with open_client("local", n_workers=1) as client:
    ...     print(len(client.scheduler_info()["workers"]), "worker")
    1 worker
    """
    if address != "local":
        with _connected(address) as client:
            yield client
        return
    with dask.config.set(_PATIENCE):
        cluster = distributed.LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            processes=True,
            memory_limit=memory_limit or "auto",
            silence_logs=logging.CRITICAL,  # errors of tasks are raised
            # On this machine only, at any free port: a second cluster must not cause a warning.
            dashboard_address="127.0.0.1:0",
        )
        with cluster, _connected(cluster) as client:
            yield client


@contextmanager
def _connected(where: Any) -> Iterator[distributed.Client]:
    try:
        client = distributed.Client(where, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ClusterError(
            f"no Dask scheduler answers at {where}: {error}; start one with `dask scheduler`, "
            "pass the address it prints, or use `local`."
        ) from error
    # The client does not set the scheduler itself: if it loses its scheduler, it ends later than
    # this block, and would then set it for the code that follows.
    with client, client.as_current(), dask.config.set(scheduler="dask.distributed"):
        yield client


@contextmanager
def _errors_of_loss(client: distributed.Client) -> Iterator[None]:
    """Turn all errors that a lost cluster causes into `ClusterError`."""
    try:
        yield
    except distributed.KilledWorker as error:
        raise ClusterError(
            f"a task was given up after the workers that ran it died ({error}); usually memory "
            "ran out: use smaller blocks (X.rechunk, X.repartition) or more memory per worker."
        ) from error
    except (CancelledError, CommClosedError) as error:
        raise ClusterError(
            f"the Dask scheduler at {_address(client)} went away before the work was done; start "
            "it again, connect a new client, and call fit once more."
        ) from error


def run_on_cluster(
    function: Callable[[Task], Result],
    tasks: Iterable[Task],
    client: distributed.Client,
) -> Generator[tuple[Task, Result | TaskLostError], None, None]:
    """Apply a function to tasks on the workers; yield tasks with results, or `TaskLostError`.

    Parameters
    ----------
    function : callable
        Importable by name on the workers; must not raise.
    tasks : iterable
        Taken one by one, when a worker is free.
    client : distributed.Client
        The connection to the cluster.
    """
    waiting = iter(tasks)
    pending: dict[distributed.Future, Task] = {}

    def fill() -> None:
        """Give every worker a task; one task waits even without workers."""
        n_free = max(1, len(client.nthreads())) - len(pending)
        for task in islice(waiting, max(0, n_free)):
            pending[client.submit(_run_alone, function, task, pure=False)] = task

    with _errors_of_loss(client):
        try:
            fill()
            while pending:
                done = _wait(client, list(pending), "FIRST_COMPLETED")
                finished = [(pending.pop(future), _result(future)) for future in done]
                fill()
                yield from finished
        finally:
            _cancel(client, list(pending))


# One task runs at a time in a process: tasks may change settings of the whole process, such as
# warnings and threads.
_alone = threading.Lock()


def _run_alone(function: Callable[[Task], Result], task: Task) -> Result:
    with _alone:
        return function(task)


def _result(future: distributed.Future) -> Any:
    if future.status == "cancelled":
        future.result()  # raises what `_errors_of_loss` turns into ClusterError
    error = future.exception()
    if error is None:
        return future.result()
    reason = f"{type(error).__name__}: {error}"
    if isinstance(error, distributed.KilledWorker):
        reason = f"{error}; perhaps memory ran out: give workers more."
    lost = TaskLostError(reason)
    lost.__cause__ = error
    return lost


def _wait(client: distributed.Client, futures: list[distributed.Future], return_when: str) -> set:
    """Return the futures that are done; raise when no worker is left to do them."""
    seen = time.monotonic()
    while True:
        with suppress(TimeoutError):
            return distributed.wait(futures, timeout=_POLL_SECONDS, return_when=return_when).done
        if client.status not in ("running", "connecting"):
            raise CancelledError(f"the client is {client.status}")
        try:
            has_workers = bool(client.nthreads())
        except OSError as error:  # it was lost a moment ago, and the client does not know yet
            raise CancelledError("the scheduler does not answer") from error
        if has_workers:
            seen = time.monotonic()
        elif time.monotonic() - seen > NO_WORKER_SECONDS:
            raise ClusterError(
                f"the Dask scheduler at {_address(client)} has had no worker for "
                f"{NO_WORKER_SECONDS:g} s; start some with `dask worker {_address(client)}`."
            )


def _address(client: distributed.Client) -> str:
    return str(getattr(client.scheduler, "address", "an unknown address"))


def _cancel(client: distributed.Client, futures: list[distributed.Future]) -> None:
    unfinished = [future for future in futures if not future.done()]
    if unfinished and client.status == "running":
        client.cancel(unfinished)
