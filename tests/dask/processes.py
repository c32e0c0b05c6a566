"""Real schedulers and workers, and tables whose blocks kill a process when they are made."""

import os
import signal
import time
from contextlib import ExitStack, contextmanager, suppress
from contextvars import copy_context
from functools import partial
from pathlib import Path

import dask
import dask.array as da
import numpy as np

from granulearn.dask import open_client
from tests.processes import Program, copies

N_BLOCKS = 12
ROWS = 400
# A busy machine may take minutes to begin a process; one that never comes must not be waited for.
WORKER_SECONDS = 300.0


def made_block(seed, block_info=None, when=None):
    """Return the rows of a block, the label last; first die or kill if told to.

    Parameters
    ----------
    when : tuple or None
        A directory that counts, the number of the block, the time it is made at
        which something dies (1 for the first), and the process that does; 0 for
        the one that makes the block.
    """
    number = block_info[None]["chunk-location"][0]
    if when is not None and number == when[1] and count_up(Path(when[0])) == when[2]:
        os.kill(when[3] or os.getpid(), signal.SIGKILL)
    rng = np.random.default_rng([seed, number])
    rows = rng.standard_normal((ROWS, 5))
    label = (np.sin(2 * rows[:, 0]) + rows[:, 1] > rng.normal(0, 0.3, ROWS)).astype(float)
    return np.column_stack([rows, label])


def count_up(directory):
    """Return how often this was called; exact also when processes die and others come."""
    number = 1
    while True:
        try:
            (directory / f"call-{number}").touch(exist_ok=False)
        except FileExistsError:
            number += 1
        else:
            return number


def mortal(function, directory, at=1):
    """Return a function to send to workers; the one that ends it for the `at`-th time is killed.

    Parameters
    ----------
    function : callable
        What a task does.
    directory : Path
        Made, if it is not there, to count in.
    at : int
        How often the function has been done when its process dies, before anybody has the result.
    """
    directory.mkdir(exist_ok=True)
    return partial(_done_or_dead, function, str(directory), at)


def _done_or_dead(function, directory, at, *given):
    done = function(*given)
    if count_up(Path(directory)) == at:
        os.kill(os.getpid(), signal.SIGKILL)
    return done


def times_done(directory):
    """Return how often a mortal function was done; above its time, a worker was killed by it."""
    return len(list(directory.iterdir()))


def made_table(when=None, seed=0):
    """Return lazy X and y of `N_BLOCKS` blocks."""
    rows = da.map_blocks(
        partial(made_block, seed, when=when),
        chunks=((ROWS,) * N_BLOCKS, (6,)),
        dtype=float,
        meta=np.empty((0, 0)),
    )
    return rows[:, :5], rows[:, 5].astype(int)


def warm_workers():
    """Return a context in which workers begin with the library imported; their successors, too."""
    copies()
    return dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"})


@contextmanager
def cluster_apart():
    """Start two worker processes with nannies; nobody computes on them who does not connect."""
    # Opening a cluster makes it the default one of the context it is opened in.
    context = copy_context()
    with ExitStack() as stack, warm_workers():
        opened = open_client("local", n_workers=2, memory_limit="1GB")
        client = context.run(stack.enter_context, opened)
        with dask.config.set(scheduler=None):
            yield client
        context.run(stack.close)


@contextmanager
def dask_process(*arguments):
    """Run a part of Dask's command line; it is gone afterwards."""
    with Program("-m", "dask", *arguments, quiet=True) as process:
        try:
            yield process
        finally:
            # The whole group: a nanny that is killed leaves its worker behind.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


@contextmanager
def scheduler_process(directory):
    """Run a scheduler on a free port; yield it and the file that says where it is."""
    file = directory / "scheduler.json"
    options = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", file]
    with dask_process("scheduler", *options) as process:
        while not file.exists() or not file.read_text().endswith("}"):
            assert process.poll() is None, "the scheduler ended"
            time.sleep(0.05)
        yield process, file


def worker_process(file):
    """Run a worker with a nanny, for the scheduler that a file tells of."""
    return dask_process(
        "worker", "--scheduler-file", file, "--nthreads", "1", "--no-dashboard",
        "--memory-limit", "1GB", "--death-timeout", WORKER_SECONDS,
    )  # fmt: skip
