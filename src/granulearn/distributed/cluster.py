"""A Dask cluster: opening one, computing on it, and saying clearly when it is gone."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import Any

import dask
from distributed.comm import CommClosedError

import distributed

CONNECT_SECONDS = 15.0
# How long a cluster may be without a single worker: a nanny starts one anew in a few seconds.
NO_WORKER_SECONDS = 60.0
# A local cluster looks once, so long after a worker died, whether it is back, and else lets it go
# for good: also one that came back and died again. Its nanny would begin it anew all the same.
_PATIENCE = {"distributed.deploy.lost-worker-timeout": "1 day"}
_POLL_SECONDS = 0.5


class ClusterError(ConnectionError):
    """The Dask cluster cannot be reached, or was lost; the message says what to do.

    Examples
    --------
    >>> from granulearn.distributed import ClusterError, open_client
    >>> try:
    ...     with open_client("no-such-scheme://nowhere:1"):
    ...         pass
    ... except ClusterError:
    ...     print("no cluster there")
    no cluster there
    """


def compute(*things: Any) -> tuple[Any, ...]:
    """Compute delayed things as `dask.compute` does, but never wait for a lost cluster.

    A cluster is waited for as long as it has a scheduler and, now and then, a
    worker. Without a client, Dask's own scheduler does the work.

    Parameters
    ----------
    *things : Delayed
        What to compute.

    Returns
    -------
    tuple
        The results.

    Raises
    ------
    ClusterError
        When the scheduler goes away, or no worker is left.
    """
    client = active_client()
    if client is None:
        return dask.compute(*things)
    with told_of_losses(client):
        futures = client.compute(list(things))
        try:
            wait_for(client, futures, "ALL_COMPLETED")
            return tuple(client.gather(futures))
        finally:
            # Also after an error or Ctrl-C: nobody will ask for what is still running.
            give_up(client, futures)


def keep(things: Sequence[Any]) -> list[Any]:
    """Start computing delayed things, and keep results where they are computed.

    Parameters
    ----------
    things : sequence of Delayed
        What to compute.

    Returns
    -------
    list of Delayed
        The same, already under way; a lost result is computed again.
    """
    client = active_client()
    if client is None:
        return list(dask.persist(*things))
    with told_of_losses(client):
        return client.persist(list(things))


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
    >>> from granulearn.distributed import open_client
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
            silence_logs=logging.CRITICAL,  # what goes wrong in a task is raised
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
    # The scheduler is not set by the client itself: a client that loses its scheduler ends
    # later than this block, and would then set it for the code that follows.
    with client, client.as_current(), dask.config.set(scheduler="dask.distributed"):
        yield client


@contextmanager
def told_of_losses(client: distributed.Client) -> Iterator[None]:
    """Turn all errors that a lost cluster causes into `ClusterError`.

    Parameters
    ----------
    client : distributed.Client
        The connection to the cluster.
    """
    address = _address(client)
    try:
        yield
    except ClusterError:
        raise
    except distributed.KilledWorker as error:
        raise ClusterError(
            f"a task was given up after the workers that ran it died ({error}); usually memory "
            "ran out: use smaller blocks (X.rechunk, X.repartition) or more memory per worker."
        ) from error
    except (CancelledError, CommClosedError) as error:
        raise ClusterError(
            f"the Dask scheduler at {address} went away before the work was done; start it again, "
            "connect a new client, and call fit once more."
        ) from error


def wait_for(
    client: distributed.Client, futures: list[distributed.Future], return_when: str
) -> set[distributed.Future]:
    """Return the futures that are done; raise when no worker is left to do them.

    Parameters
    ----------
    client : distributed.Client
        The connection to the cluster.
    futures : list of distributed.Future
        What to wait for.
    return_when : {"ALL_COMPLETED", "FIRST_COMPLETED"}
        How many of them to wait for.
    """
    seen = time.monotonic()
    while True:
        try:
            return distributed.wait(futures, timeout=_POLL_SECONDS, return_when=return_when).done
        except TimeoutError:
            pass
        if client.status not in ("running", "connecting"):
            raise CancelledError(f"the client is {client.status}")
        try:
            has_workers = bool(client.nthreads())
        except OSError as error:  # it was lost a moment ago, and the client does not know yet
            raise CancelledError("the scheduler does not answer") from error
        if has_workers:
            seen = time.monotonic()
        elif time.monotonic() - seen > NO_WORKER_SECONDS:
            address = _address(client)
            raise ClusterError(
                f"the Dask scheduler at {address} has had no worker for {NO_WORKER_SECONDS:g} s; "
                f"start some with `dask worker {address}`."
            )


def _address(client: distributed.Client) -> str:
    return str(getattr(client.scheduler, "address", "an unknown address"))


def give_up(client: distributed.Client, futures: list[distributed.Future]) -> None:
    """Cancel the futures that are not done: nobody will ask for them.

    Parameters
    ----------
    client : distributed.Client
        The connection to the cluster.
    futures : list of distributed.Future
        Futures, done or not.
    """
    unfinished = [future for future in futures if not future.done()]
    if unfinished and client.status == "running":
        client.cancel(unfinished)
