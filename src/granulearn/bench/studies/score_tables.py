"""Rows of a store as tables: one line per cell, then means over splits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from granulearn.bench.studies.cells import CLEAN, Cell
from granulearn.bench.studies.scores import SHARES, TIMES
from granulearn.bench.studies.store import StoredOutcome


def cell_table(cells: Sequence[Cell], rows: dict[str, StoredOutcome]) -> pd.DataFrame:
    """Return one line per cell that worked, with its scores as columns.

    Parameters
    ----------
    cells : sequence of Cell
        The cells of a study, in its order.
    rows : dict
        What the store has of them.

    Returns
    -------
    DataFrame
        ``key``, ``dataset``, ``kind``, ``rate``, ``condition``, ``repeat``,
        ``split``, ``method``, ``n_balls`` and the scores; shares in percent.
    """
    lines = [
        _line(cell, rows[cell.key])
        for cell in cells
        if cell.key in rows and not rows[cell.key].outcome.reason
    ]
    columns = [*_FACTS, *(cells[0].scores if cells else ())]
    return pd.DataFrame(lines, columns=list(dict.fromkeys(columns)))


_FACTS = (
    "key", "dataset", "kind", "rate", "condition", "repeat", "split", "method", "n_balls", *TIMES,
)  # fmt: skip


def _line(cell: Cell, row: StoredOutcome) -> dict[str, Any]:
    outcome, unit = row.outcome, cell.unit
    scores = {
        name: None if value is None else 100 * value if name in SHARES else value
        for name, value in (outcome.scores or {}).items()
    }
    return {
        "key": cell.key,
        "dataset": unit.dataset,
        "kind": unit.condition.kind,
        "rate": unit.condition.rate,
        "condition": str(unit.condition),
        "repeat": unit.part.repeat,
        "split": str(unit.part),
        "method": cell.method.name,
        "n_balls": outcome.n_balls,
        "fit_seconds": outcome.fit_seconds,
        "predict_seconds": outcome.predict_seconds,
        **scores,
    }


def score_table(
    table: pd.DataFrame, score: str, methods: Sequence[str], *, by: Sequence[str] = ("dataset",)
) -> pd.DataFrame:
    """Return the mean score over splits: one line per data set, one column per method.

    A method that lacks a split of those that others have has no mean: means over
    different splits cannot be compared. Where a line joins several conditions, the
    conditions count alike, and the same holds of a method that lacks one of them.

    Parameters
    ----------
    table : DataFrame
        What `cell_table` returned.
    score : str
        Name of a score.
    methods : sequence of str
        Columns, in this order.
    by : sequence of str, default=("dataset",)
        What a line is: ``dataset``, or also ``condition``.

    Returns
    -------
    DataFrame
        In the order of the study; NaN where a cell is missing.
    """
    scored = table[table["method"].isin(methods)].dropna(subset=[score])
    place = ["dataset", "condition"]
    of_method = scored.groupby([*place, "method"], sort=False)[score]
    n_splits = scored.groupby(place, sort=False)["split"].nunique()
    means = of_method.mean().unstack().where(of_method.size().unstack().eq(n_splits, axis=0))
    means = means.reindex(columns=list(methods)).astype(float).dropna(how="all")
    if list(by) == ["dataset", "condition"]:
        return means
    grouped = means.groupby(level=list(by), sort=False)
    complete = grouped.count().eq(grouped.size(), axis=0)
    return grouped.mean().where(complete)


def curve_table(table: pd.DataFrame, score: str, kind: str) -> pd.DataFrame:
    """Return how a score falls with the rate of one kind of noise.

    Parameters
    ----------
    table : DataFrame
        What `cell_table` returned.
    score : str
        Name of a score.
    kind : str
        Kind of noise; clean cells are its rate 0.

    Returns
    -------
    DataFrame
        ``dataset`` (``mean of N sets`` for their mean), ``method``, ``rate``, ``mean`` and
        ``error``: the standard error over repeated splits, NaN if there is one.
    """
    return mean_curves(table[table["kind"].isin([CLEAN, kind])], score, "rate")


def mean_curves(table: pd.DataFrame, score: str, along: str) -> pd.DataFrame:
    """Return how a score changes along a column, for each set and for their mean.

    Parameters
    ----------
    table : DataFrame
        What `cell_table` returned, or a part of it.
    score : str
        Name of a score.
    along : str
        Column of numbers.

    Returns
    -------
    DataFrame
        ``dataset`` (``mean of N sets`` for their mean, which comes first), ``method``, the
        column, ``mean`` and ``error``: the standard error over repeated splits, NaN if there
        is one.
    """
    of_repeats = (
        table.dropna(subset=[score])
        .groupby(["dataset", "method", along, "repeat"], sort=False)[score]
        .mean()
        .reset_index()
    )
    n_sets = of_repeats["dataset"].nunique()
    curves = [of_repeats]
    if n_sets > 1:
        # Each repeat gives one mean over the sets; its spread is what splits and noise do.
        grouped = of_repeats.groupby(["method", along, "repeat"], sort=False)[score]
        joined = grouped.agg(["mean", "size"]).reset_index()
        joined = joined[joined["size"] == n_sets].rename(columns={"mean": score})
        curves.insert(0, joined.drop(columns="size").assign(dataset=f"mean of {n_sets} sets"))
    points = pd.concat(curves).groupby(["dataset", "method", along], sort=False)[score]
    return points.agg(["mean", "sem"]).reset_index().rename(columns={"sem": "error"})
