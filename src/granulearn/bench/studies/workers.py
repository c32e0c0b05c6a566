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
from contextlib import contextmanager
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar

# Windows knows neither these signals nor how to let them wait.
_CAN_WAIT = hasattr(signal, "pthread_sigmask")
_STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) if _CAN_WAIT else ()

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

    def hire() -> _Worker:
        with _undisturbed():
            workers.append(_Worker(function, start))
        return workers[-1]

    def dismiss(worker: _Worker) -> None:
        with _undisturbed():
            worker.stop()
            workers.remove(worker)

    try:
        for _ in range(jobs):
            if not _give_next(waiting, worker := hire()):
                dismiss(worker)
                break
        while workers:
            ready = wait([worker.pipe for worker in workers])
            for worker in [worker for worker in workers if worker.pipe in ready]:
                task, result = worker.task, worker.receive()
                if isinstance(result, WorkerDiedError):
                    dismiss(worker)
                    worker = hire()
                if not _give_next(waiting, worker):
                    dismiss(worker)
                yield task, result
    finally:
        while workers:
            dismiss(workers[-1])


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


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Let signals wait until a process is started and known, or ended.

    A process inherits what waits, so that it is not disturbed while it starts either.
    """
    if not _CAN_WAIT:
        yield
        return
    # A tracker that the end of a terminal ended would be missed, with a warning. It inherits what
    # waits, and lets the other signals through when it is started, so they are told to wait later.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGHUP])
    try:
        resource_tracker.ensure_running()
        signal.pthread_sigmask(signal.SIG_BLOCK, _STOPPING)
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(pipe: Connection, function: Callable, start: Callable) -> None:
    # What comes from the terminal reaches every process; the parent decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if _CAN_WAIT:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPPING)
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
