"""Outcomes of many candidates, column by column.

A dict for each candidate and fold, as scikit-learn keeps them, would cost more
than the search itself.
"""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np


class OutcomeTable:
    """Outcomes on one fold, in any order.

    Parameters
    ----------
    score_names : iterable of str
        "test_scores", and perhaps "train_scores".
    """

    def __init__(self, score_names):
        self.places: list[int] = []
        """Which candidate each row is of."""
        names = ("fit_error", "fit_time", "score_time", *score_names)
        self.columns: dict[str, list] = {name: [] for name in names}

    def __len__(self) -> int:
        return len(self.places)

    def add(self, place: int, outcome: dict[str, Any]) -> None:
        """Add the outcome of one candidate."""
        self.places.append(place)
        for name, column in self.columns.items():
            column.append(outcome[name])

    def add_scores(self, places: list[int], scores: dict[str, list[float]]) -> None:
        """Add scores of candidates that were fitted and scored together."""
        self.places += places
        same = {"fit_error": None, "fit_time": 0.0, "score_time": 0.0}
        for name, column in self.columns.items():
            column += scores[name] if name in scores else [same[name]] * len(places)

    def share_time(self, start: int, seconds: float) -> None:
        """Divide the seconds spent on the rows from `start` on among them."""
        score_times = self.columns["score_time"][start:]
        if score_times:
            share = max(seconds - sum(score_times), 0.0) / len(score_times)
            self.columns["fit_time"][start:] = [share] * len(score_times)


def join_folds(tables: list[tuple[int, OutcomeTable]], n_splits: int) -> dict[str, list]:
    """Return the columns of all tables, candidate by candidate and in each fold by fold.

    Parameters
    ----------
    tables : list of (int, OutcomeTable)
        Each with the number of its fold; together they cover everything once.
    n_splits : int
        Number of folds.
    """
    rows = np.concatenate([np.array(table.places) * n_splits + at for at, table in tables])
    joined = {}
    for name in tables[0][1].columns:
        column = np.empty(len(rows), dtype=object)
        column[rows] = list(chain.from_iterable(table.columns[name] for _, table in tables))
        joined[name] = column.tolist()
    return joined
