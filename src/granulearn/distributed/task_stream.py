"""Tasks on a cluster's workers, given out one by one, with results as they come."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterable
from functools import cache
from typing import Any, TypeVar

import distributed
from granulearn.distributed.cluster import give_up, told_of_losses, wait_for

Task = TypeVar("Task")
Result = TypeVar("Result")

# Only one task runs at a time: tasks may change settings of the whole process, such as
# warnings and threads.
_alone = threading.Lock()


class TaskLostError(RuntimeError):
    """A task gave no result: its workers died, or it could not be sent."""


def run_on_cluster(
    function: Callable[[Task], Result],
    tasks: Iterable[Task],
    client: distributed.Client,
    start: Callable[[], None],
) -> Generator[tuple[Task, Result | TaskLostError], None, None]:
    """Apply a function to tasks on the workers of a cluster.

    Parameters
    ----------
    function : callable
        Importable by name on the workers; must not raise.
    tasks : iterable
        Taken one by one, when a worker is free.
    client : distributed.Client
        The connection to the cluster.
    start : callable
        Called once in each worker, before its first task.

    Yields
    ------
    tuple
        A task and its result, or `TaskLostError` if there is none.

    Raises
    ------
    ClusterError
        When the cluster is lost.
    """
    waiting = iter(tasks)
    pending: dict[distributed.Future, Task] = {}
    with told_of_losses(client):
        try:
            _fill(pending, waiting, client, function, start)
            while pending:
                done = wait_for(client, list(pending), "FIRST_COMPLETED")
                finished = [(pending.pop(future), _result(future)) for future in done]
                _fill(pending, waiting, client, function, start)
                yield from finished
        finally:
            give_up(client, list(pending))


def run_alone(function: Callable[[Task], Result], start: Callable[[], None], task: Task) -> Result:
    """Run a task in a worker while no other runs in its process.

    Parameters
    ----------
    function : callable
        What to apply.
    start : callable
        Called before the first task.
    task : object
        What to apply it to.
    """
    with _alone:
        _started(start)
        return function(task)


@cache
def _started(start: Callable[[], None]) -> None:
    start()


def _fill(pending, waiting, client, function, start) -> None:
    """Give out tasks until every worker has one; at least one task, even without workers."""
    slots = max(1, len(client.nthreads()))
    while len(pending) < slots:
        for task in waiting:
            pending[client.submit(run_alone, function, start, task, pure=False)] = task
            break
        else:
            return


def _result(future: distributed.Future) -> Any:
    if future.status == "cancelled":
        future.result()  # raises the error that `told_of_losses` turns into ClusterError
    error = future.exception()
    if error is None:
        return future.result()
    lost = TaskLostError(
        f"{error}; perhaps memory ran out: give workers more."
        if isinstance(error, distributed.KilledWorker)
        else f"{type(error).__name__}: {error}"
    )
    lost.__cause__ = error
    return lost
