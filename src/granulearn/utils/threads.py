"""How many threads work, and on what."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TypeVar

import joblib
from threadpoolctl import ThreadpoolController

T = TypeVar("T")
R = TypeVar("R")

# Multiplications of a product for which one thread is enough: a tenth of a second, about.
SMALL_PRODUCT = 10**9


def effective_n_jobs(n_jobs: int | None) -> int:
    """Return how many threads a number of jobs stands for, as joblib counts them.

    A worker of a pool of processes has one, without the warning of joblib: that is about
    processes, and here are none.
    """
    if multiprocessing.current_process().daemon:
        return 1
    return joblib.effective_n_jobs(n_jobs)


def in_threads(function: Callable[[T], R], items: Iterable[T], n_threads: int) -> list[R]:
    """Map a function over items in threads, in order; kernels release the interpreter lock."""
    items = list(items)
    if n_threads == 1 or len(items) == 1:
        return [function(item) for item in items]
    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(function, items))


def limited_threads(limit: int | None, user_api: str):
    """Return a context in which "blas" or "openmp" uses at most `limit` threads."""
    return _thread_pools().limit(limits=limit, user_api=user_api)


def threads_for(n_rows: int, n_columns: int):
    """Return a context in which a small system of equations is solved by one thread.

    In small products threads wait for each other more than they work.
    """
    is_small = n_rows * n_columns * min(n_rows, n_columns) <= SMALL_PRODUCT
    return limited_threads(1 if is_small else None, "blas")


@cache
def _thread_pools() -> ThreadpoolController:
    # Looking for the loaded libraries costs milliseconds, so it is done once.
    return ThreadpoolController()
