"""Processes of Python that tests start: commands, programs, and workers that begin imported."""

import multiprocessing
import os
import resource
import subprocess
import sys
import time
from functools import partial
from multiprocessing.context import BaseContext
from multiprocessing.forkserver import ensure_running
from subprocess import DEVNULL, PIPE

IMPORTED = [
    "distributed", "granulearn.audit", "granulearn.training", "granulearn.bench.running",
    "sklearn.ensemble",
]  # fmt: skip


def copies() -> BaseContext:
    """Return the context of processes that are copies of one with the library imported."""
    forks = multiprocessing.get_context("forkserver")
    forks.set_forkserver_preload(IMPORTED)
    ensure_running()  # Dask would have it import something else
    return forks


def sleep_and_tell(number: int) -> None:
    """Print the number of the process, and sleep: the task of a worker that is to be ended."""
    sys.stdout.write(f"{os.getpid()}\n")
    sys.stdout.flush()
    time.sleep(600)


class Program(subprocess.Popen):
    """Python in a session of its own, with text on its streams.

    Parameters
    ----------
    *words
        What Python is given.
    cwd : Path or None
        Where it is run; None for here.
    asked : bool, default=False
        Whether there is somebody at its standard input, who can close it.
    quiet : bool, default=False
        Whether its output is thrown away.
    largest : int or None
        The most bytes that a file may have.
    **variables
        What its environment has more than that of this process.
    """

    def __init__(self, *words, cwd=None, asked=False, quiet=False, largest=None, **variables):
        limit = largest and partial(resource.setrlimit, resource.RLIMIT_FSIZE, (largest, largest))
        # Studies of tests add their folders to the path.
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)} | variables
        output = DEVNULL if quiet else PIPE
        super().__init__(
            [sys.executable, *map(str, words)], cwd=cwd, env=environment, start_new_session=True,
            stdin=PIPE if asked else DEVNULL, stdout=output, stderr=output, text=True,
            encoding="utf-8", preexec_fn=limit,
        )  # fmt: skip

    def __exit__(self, *reason):
        self.close()

    def close(self) -> None:
        """End it, if it has not ended."""
        self.kill()
        super().__exit__(None, None, None)


class Command(Program):
    """A command `granulearn`: the verb, and what it is given."""

    def __init__(self, *words, **settings):
        super().__init__("-m", "granulearn", *words, **settings)


class Code(Program):
    """What `python -c` runs, and what it is given."""

    def __init__(self, code: str, *words, **settings):
        super().__init__("-c", code, *words, **settings)
