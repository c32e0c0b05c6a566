"""A progress bar for long searches, on a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

PATIENCE = 2.0
"""Seconds after which a silent search counts as long."""


class NoProgress:
    """Shows nothing, and lets joblib collect results as it likes."""

    return_as = "list"

    def track(self, results: Iterable) -> Iterable:
        """Return the results."""
        return results


class ProgressBar:
    """Counts finished tasks; the bar appears when the search proves to be long."""

    return_as = "generator"

    def __init__(self, n_tasks: int, *, patience: float = PATIENCE, console: Any = None):
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

        self.n_tasks = n_tasks
        self.patience = patience
        self.bar = Progress(
            "searching",
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=console or Console(stderr=True),
            transient=True,
        )

    def track(self, results: Iterable) -> Iterator:
        """Yield the results, counting them."""
        began = time.monotonic()
        task = self.bar.add_task("", total=self.n_tasks)
        self._start_if_long(began)
        for result in results:
            self.bar.advance(task)
            self._start_if_long(began)
            yield result

    def _start_if_long(self, began: float) -> None:
        if not self.bar.live.is_started and time.monotonic() - began >= self.patience:
            self.bar.start()


@contextmanager
def show_progress(n_tasks: int, verbose: int) -> Iterator[NoProgress | ProgressBar]:
    """Give the object that tracks the tasks of a search.

    Parameters
    ----------
    n_tasks : int
        Number of results to come.
    verbose : int
        Above zero the bar appears at once, not only when the search is long.
    """
    if not sys.stderr.isatty():
        yield NoProgress()
        return
    progress = ProgressBar(n_tasks, patience=0.0 if verbose > 0 else PATIENCE)
    try:
        yield progress
    finally:
        progress.bar.stop()
