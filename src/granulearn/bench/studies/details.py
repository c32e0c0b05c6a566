"""Every cell of a study as plain values, grouped the way a page links to them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from granulearn.bench.studies.cells import Cell
from granulearn.bench.studies.store import StoredOutcome


def cell_id(dataset: str, condition: str, method: str) -> str:
    """Return the name of a page anchor for the cells of a data set, noise and method.

    Parameters
    ----------
    dataset, condition, method : str
        As in the summary.

    Returns
    -------
    str
        Letters, digits and hyphens only.
    """
    text = f"{dataset}--{condition}--{method}"
    return "cell-" + "".join(c if c.isalnum() and c.isascii() else f"-{ord(c):x}-" for c in text)


def describe_progress(cells: list[Cell], rows: dict[str, StoredOutcome]) -> dict[str, Any]:
    """Count what is done, failed and missing; failures with their reasons.

    Parameters
    ----------
    cells : list of Cell
        All cells of a study.
    rows : dict
        What the store has of them.

    Returns
    -------
    dict
        ``cells``, ``done``, ``failed`` (a list), ``missing``, and ``gaps``: where they are.
    """
    failed = [
        {
            "dataset": cell.unit.dataset,
            "condition": str(cell.unit.condition),
            "split": str(cell.unit.part),
            "method": cell.method.name,
            "reason": rows[cell.key].outcome.reason,
        }
        for cell in cells
        if cell.key in rows and rows[cell.key].outcome.reason
    ]
    done = sum(cell.key in rows for cell in cells) - len(failed)
    return {
        "cells": len(cells),
        "done": done,
        "failed": failed,
        "missing": len(cells) - done - len(failed),
        "gaps": _gaps(cells, rows),
    }


def common_reasons(reasons: Iterable[str], most: int = 3) -> list[dict[str, Any]]:
    """Count the reasons of failures, the most common first.

    Parameters
    ----------
    reasons : iterable of str
        One per failed cell.
    most : int, default=3
        So many are named; what is left is counted as one, without a name.

    Returns
    -------
    list of dict
        ``reason``, empty for all that are not named, and ``cells``.
    """
    counts = Counter(reasons).most_common()
    named = [{"reason": reason, "cells": count} for reason, count in counts[:most]]
    others = sum(count for _, count in counts[most:])
    return [*named, {"reason": "", "cells": others}] if others else named


def _gaps(cells: list[Cell], rows: dict[str, StoredOutcome]) -> list[dict[str, Any]]:
    """Say which sets and methods lack how many cells; those that lack the same are one line."""
    reasons: dict[tuple[str, str], list[str | None]] = {}
    for cell in cells:
        place = (cell.unit.dataset, cell.method.name)
        reasons.setdefault(place, []).append(
            rows[cell.key].outcome.reason if cell.key in rows else None
        )
    alike: dict[tuple[str, Any], list[str]] = {}  # set and state to the methods
    for (dataset, method), found in reasons.items():
        if any(reason is None or reason for reason in found):
            failed = tuple(sorted(reason for reason in found if reason))
            state = (len(found), found.count(None), failed)
            alike.setdefault((dataset, state), []).append(method)
    joined: dict[tuple[Any, tuple[str, ...]], list[str]] = {}  # state and methods to the sets
    for (dataset, state), methods in alike.items():
        joined.setdefault((state, tuple(methods)), []).append(dataset)
    return [
        {
            "datasets": datasets,
            "methods": list(methods),
            "cells": n_cells,
            "missing": missing,
            "failed": len(failed),
            "reasons": common_reasons(failed),
        }
        for ((n_cells, missing, failed), methods), datasets in joined.items()
    ]


def describe_cells(cells: list[Cell], rows: dict[str, StoredOutcome]) -> list[dict[str, Any]]:
    """Group cells by data set, noise and method, one line per split.

    Parameters
    ----------
    cells : list of Cell
        All cells of a study.
    rows : dict
        What the store has of them.

    Returns
    -------
    list of dict
        In the order of the study; cells that were not run are left out.
    """
    groups: dict[str, dict[str, Any]] = {}
    for cell in cells:
        if cell.key not in rows:
            continue
        place = (cell.unit.dataset, str(cell.unit.condition), cell.method.name)
        names = dict(zip(("dataset", "condition", "method"), place, strict=True))
        group = groups.setdefault(cell_id(*place), {"id": cell_id(*place), **names, "splits": []})
        group["splits"].append(_line(cell, rows[cell.key]))
    return list(groups.values())


def _line(cell: Cell, row: StoredOutcome) -> dict[str, Any]:
    outcome = row.outcome
    return {
        "key": cell.key,
        "split": str(cell.unit.part),
        "reason": outcome.reason,
        "scores": outcome.scores,
        "chosen": outcome.chosen,
        "fold_scores": outcome.fold_scores,
        "seed": outcome.seed,
        "n_balls": outcome.n_balls,
        "n_train": outcome.n_train,
        "n_test": outcome.n_test,
        "n_disturbed": outcome.n_disturbed,
        "fit_seconds": outcome.fit_seconds,
        "predict_seconds": outcome.predict_seconds,
        "notes": list(outcome.notes),
        "source": outcome.source,
        "finished": row.finished,
    }
