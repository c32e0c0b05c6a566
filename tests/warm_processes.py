"""Processes that begin with the library imported.

A process that has imported what most commands need, and done nothing else, is copied for each of
them (`multiprocessing.forkserver`): a command then costs what it does itself, not the seconds that
its imports take. Tests about the start itself take a new process.
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
    "distributed", "granulearn.cli.application", "granulearn.audit", "granulearn.training",
    "granulearn.bench.pages", "granulearn.bench.running", "granulearn.review.server",
    "sklearn.ensemble", "tests.warm_processes",
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
    signal.pthread_sigmask(signal.SIG_SETMASK, ())  # whoever asked first may have let them wait
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


class Warm:
    """A program in a process of its own, to be used as `subprocess.Popen` is.

    Parameters
    ----------
    program : callable
        Importable by name; it finds its arguments in `sys.argv`.
    *words
        Its name and its arguments.
    cwd : Path or None
        Where it is run; None for here.
    asked : bool, default=False
        Whether there is somebody at its standard input, who can close it.
    largest : int or None
        The most bytes that a file may have.
    **variables
        What its environment has more than that of this process.
    """

    def __init__(
        self,
        program: Callable[[], None],
        *words,
        cwd: Path | None = None,
        asked: bool = False,
        largest: int | None = None,
        **variables: str,
    ):
        pipes = [os.pipe() for _ in range(3)]
        (its_in, to), (out, its_out), (err, its_err) = pipes
        self.stdin = os.fdopen(to, "w", encoding="utf-8")
        self.stdout, self.stderr = (os.fdopen(one, encoding="utf-8") for one in (out, err))
        if not asked:
            self.stdin.close()
        streams = [its_in, its_out, its_err]
        passed = [_Descriptor(number) for number in streams]
        place, environment = cwd or Path.cwd(), os.environ | variables
        given = (program, [*map(str, words)], place, environment, passed, largest)
        self._process = copied(_be, *given)
        for number in streams:
            os.close(number)
        self.pid = self._process.pid

    def __enter__(self):
        return self

    def __exit__(self, *reason):
        self.close()

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
            raise TimeoutExpired("a warm process", timeout)
        return self.returncode

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Return what it says on both streams, once it and all that it has started have ended."""
        self.stdin.close()
        with self.stdout, self.stderr, ThreadPoolExecutor() as pool:
            said = [pool.submit(stream.read) for stream in (self.stdout, self.stderr)]
            try:
                out, err = (stream.result(timeout) for stream in said)
            except TimeoutError:
                os.killpg(self.pid, signal.SIGKILL)  # whoever reads would wait for ever
                raise
        self.wait(timeout)
        return out, err

    def send_signal(self, number: int) -> None:
        """Send it a signal, if it has not ended."""
        if self.returncode is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)

    def close(self) -> None:
        """End it, if it has not ended."""
        self.kill()
        self.wait()
        for stream in (self.stdin, self.stdout, self.stderr):
            stream.close()


class Command(Warm):
    """A command `granulearn`: the verb, and what it is given."""

    def __init__(self, *words, **settings):
        super().__init__(_command, "granulearn", *words, **settings)


class Code(Warm):
    """What `python -c` would run, and what it is given."""

    def __init__(self, code: str, *words, **settings):
        super().__init__(_code, code, *words, **settings)


def _command() -> None:
    from granulearn.cli.main import main

    main()


def _code() -> None:
    code, sys.argv[0] = sys.argv[0], "-c"
    exec(code, {"__name__": "__main__"})


class _Descriptor:
    """An open file that goes along to the process that is started."""

    def __init__(self, number: int):
        self.number = number

    def __getstate__(self):
        return {"passed": reduction.DupFd(self.number)}

    def __setstate__(self, state):
        self.number = state["passed"].detach()


def _be(
    program: Callable[[], None],
    words: list[str],
    folder: Path,
    variables: dict[str, str],
    streams: list[_Descriptor],
    largest: int | None,
) -> None:
    """Be the program, in the process that was copied."""
    os.setsid()  # what it starts can be ended with it
    take_over(folder, variables, *(stream.number for stream in streams))
    for stream in streams:
        os.close(stream.number)
    if largest is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))
    sys.argv = words
    program()
