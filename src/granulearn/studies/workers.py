"""A few processes that take one task after another, and do not outlive their parent.

`concurrent.futures` loses track of which task a dying worker had, and leaves
idle workers behind when the parent is killed; each worker here has a pipe of
its own, so both are known.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")


class WorkerDiedError(RuntimeError):
    """The process of a task ended before it gave a result."""


def run_in_processes(
    function: Callable[[Task], Result],
    tasks: Iterable[Task],
    jobs: int,
    start: Callable[[], None],
) -> Generator[tuple[Task, Result | WorkerDiedError], None, None]:
    """Apply a function to tasks in several processes, yielding results as they come.

    Parameters
    ----------
    function : callable
        Importable by name; must not raise.
    tasks : iterable
        Taken one by one, when a process is free.
    jobs : int
        Number of processes.
    start : callable
        Called once in each process, before its first task.

    Yields
    ------
    tuple
        A task and its result, or `WorkerDiedError` if its process ended.
    """
    waiting = iter(tasks)
    workers: list[_Worker] = []
    try:
        for _ in range(jobs):
            if not _give_next(waiting, worker := _Worker(function, start)):
                worker.stop()
                break
            workers.append(worker)
        while workers:
            ready = wait([worker.pipe for worker in workers])
            for worker in [worker for worker in workers if worker.pipe in ready]:
                task, result = worker.task, worker.receive()
                workers.remove(worker)
                if isinstance(result, WorkerDiedError):
                    worker.stop()
                    worker = _Worker(function, start)
                if _give_next(waiting, worker):
                    workers.append(worker)
                else:
                    worker.stop()
                yield task, result
    finally:
        for worker in workers:
            worker.stop()


class _Worker:
    """One process with its pipe and the task it was given."""

    def __init__(self, function: Callable, start: Callable) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.task: Any = None
        self._process = context.Process(target=_serve, args=(theirs, function, start), daemon=True)
        self._process.start()
        theirs.close()

    def give(self, task: Any) -> None:
        self.task = task
        self.pipe.send(task)

    def receive(self) -> Any:
        try:
            return self.pipe.recv()
        except (EOFError, ConnectionError):
            self._process.join()
            return WorkerDiedError(
                f"its process ended with code {self._process.exitcode}; "
                "perhaps memory ran out: try fewer --jobs."
            )

    def stop(self) -> None:
        self.pipe.close()
        self._process.kill()
        self._process.join()


def _give_next(waiting: Iterator, worker: _Worker) -> bool:
    for task in waiting:
        worker.give(task)
        return True
    return False


def _serve(pipe: Connection, function: Callable, start: Callable) -> None:
    # The terminal's interrupt reaches every process; the parent decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    start()
    while True:
        try:
            task = pipe.recv()
        except EOFError:
            return
        pipe.send(function(task))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None  # only ever called in a child
    parent.join()
    os._exit(1)
