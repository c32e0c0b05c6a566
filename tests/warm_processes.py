"""Processes that begin with the library imported.

A process that has imported what most commands need, loaded the compiled loops, and done nothing
else, is copied for each of them (`multiprocessing.forkserver`): a command then costs what it does
itself, not the seconds that its imports take. Tests about the start itself take a new process.
"""

import multiprocessing
import os
import resource
import signal
import sys
import tempfile
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import reduction
from multiprocessing.context import BaseContext
from multiprocessing.forkserver import ensure_running
from multiprocessing.process import BaseProcess
from pathlib import Path
from subprocess import TimeoutExpired

IMPORTED = [
    "distributed", "granulearn.cli.application", "granulearn.audit", "granulearn.learning",
    "granulearn.report", "granulearn.review.server", "granulearn.studies", "sklearn.ensemble",
    "tests.loaded_loops", "tests.warm_processes",
]  # fmt: skip
# Where modules are found before any test has run: studies of tests add their folders.
_PATH = tuple(sys.path)


def copies() -> BaseContext:
    """Return the context of processes that are copies of one with the library imported."""
    forks = multiprocessing.get_context("forkserver")
    forks.set_forkserver_preload(IMPORTED)
    ensure_running()  # Dask would have it import something else
    return forks


def copied(target: Callable[..., None], *given) -> BaseProcess:
    """Start a copy of the process that has imported the library; it calls a function.

    Parameters
    ----------
    target : callable
        Importable by name.
    *given
        What it is called with.
    """
    process = copies().Process(target=_called, args=(_PATH, target, given))
    process.start()
    return process


def _called(path: tuple[str, ...], target: Callable[..., None], given: tuple) -> None:
    sys.path[:] = path
    target(*given)


def take_over(folder: Path, variables: Mapping[str, str], *streams: int) -> None:
    """Be as a new process would be: its folder, its environment and its three streams."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(variables)
    tempfile.tempdir = None  # it is looked up in the environment again
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    sys.stdin = os.fdopen(os.dup(0), encoding="utf-8")
    for told in (sys.stdout, sys.stderr):
        told.reconfigure(line_buffering=told.isatty())


class Command:
    """A command `granulearn` in a process of its own, to be used as `subprocess.Popen` is.

    Parameters
    ----------
    *words
        The verb and what it is given.
    cwd : Path or None
        Where it is run; None for here.
    largest : int or None
        The most bytes that a file may have.
    **variables
        What its environment has more than that of this process.
    """

    def __init__(
        self, *words, cwd: Path | None = None, largest: int | None = None, **variables: str
    ):
        (out, its_out), (err, its_err) = os.pipe(), os.pipe()
        self.stdout, self.stderr = (os.fdopen(one, encoding="utf-8") for one in (out, err))
        streams = [os.open(os.devnull, os.O_RDONLY), its_out, its_err]
        passed = [_Descriptor(number) for number in streams]
        place, environment = cwd or Path.cwd(), os.environ | variables
        self._process = copied(_be, [*map(str, words)], place, environment, passed, largest)
        for number in streams:
            os.close(number)
        self.pid = self._process.pid

    @property
    def returncode(self) -> int | None:
        """The code it has ended with; None while it runs."""
        return self._process.exitcode

    def poll(self) -> int | None:
        """Return the code, if it has ended."""
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Return the code, once it has ended."""
        self._process.join(timeout)
        if self.returncode is None:
            raise TimeoutExpired("granulearn", timeout)
        return self.returncode

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Return what it says on both streams, once it has ended."""
        with self.stdout, self.stderr, ThreadPoolExecutor() as pool:
            said = [pool.submit(stream.read) for stream in (self.stdout, self.stderr)]
            try:
                return said[0].result(timeout), said[1].result(timeout)
            finally:
                self.wait(timeout)

    def send_signal(self, number: int) -> None:
        """Send it a signal, if it has not ended."""
        if self.returncode is None:
            os.kill(self.pid, number)

    def close(self) -> None:
        """End it, if it has not ended."""
        self.send_signal(signal.SIGKILL)
        self.wait()
        self.stdout.close()
        self.stderr.close()


class _Descriptor:
    """An open file that goes along to the process that is started."""

    def __init__(self, number: int):
        self.number = number

    def __getstate__(self):
        return {"passed": reduction.DupFd(self.number)}

    def __setstate__(self, state):
        self.number = state["passed"].detach()


def _be(
    arguments: list[str],
    folder: Path,
    variables: dict[str, str],
    streams: list[_Descriptor],
    largest: int | None,
) -> None:
    """Be the command, in the process that was copied."""
    from granulearn.cli.main import main

    os.setsid()  # what it starts can be ended with it
    take_over(folder, variables, *(stream.number for stream in streams))
    if largest is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))
    sys.argv = ["granulearn", *arguments]
    main()
