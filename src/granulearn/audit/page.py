"""The page of an audit: a summary in plain values, and one self-contained HTML file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from granulearn.audit.column_words import FeatureName, cell_text
from granulearn.audit.explanation import Explanation, Neighbour, explain
from granulearn.audit.label_audit import LabelAudit
from granulearn.persistence.atomic_files import write_text_atomically
from granulearn.persistence.html_pages import render_html

if TYPE_CHECKING:
    import pandas as pd

MOST_SUSPECTS = 100
BINS = 20


def summarize_audit(
    audit: LabelAudit,
    X: np.ndarray,
    table: pd.DataFrame,
    *,
    title: str,
    row_numbers: Sequence[int],
    names: Sequence[FeatureName],
) -> dict[str, Any]:
    """Return what the page shows, as lists, texts and numbers.

    Parameters
    ----------
    audit : LabelAudit
        Fitted on X.
    X : ndarray of shape (n_samples, n_features)
        The inputs that were audited: imputed, encoded, scaled.
    table : DataFrame
        The same samples as they came, to be shown.
    title : str
        Name of the table.
    row_numbers : sequence of int
        Number by which a reader finds each sample, for instance its row in the file.
    names : sequence of str or tuple
        Names of the features of X; (column, category) for a feature of zeros and ones.

    Returns
    -------
    dict
        Plain values.
    """
    worst = np.argsort(np.where(audit.flagged_, audit.reliability_, np.inf), kind="stable")
    shown = worst[: min(MOST_SUSPECTS, int(audit.flagged_.sum()))].tolist()
    known = audit.reliability_[~np.isnan(audit.reliability_)]
    explanations = explain(audit, X, table, shown, names)
    return {
        "title": title,
        "n_samples": len(audit.given_),
        "n_features": X.shape[1],
        "n_flagged": int(audit.flagged_.sum()),
        "n_unknown": int(np.isnan(audit.reliability_).sum()),
        "noise_rate": None if np.isnan(audit.noise_rate_) else audit.noise_rate_,
        "n_once": int(audit.alone_.sum()),
        "once": [
            {"row": int(row_numbers[position]), "label": str(audit.given_[position])}
            for position in np.flatnonzero(audit.alone_)[:MOST_SUSPECTS].tolist()
        ],
        "classes": [str(label) for label in audit.classes_],
        "confusion": _confusion(audit),
        "histogram": _histogram(known, audit.flagged_[~np.isnan(audit.reliability_)]),
        "columns": [str(name) for name in table.columns],
        "suspects": [
            _suspect(audit, table, row_numbers, explanation) for explanation in explanations
        ],
    }


def _confusion(audit: LabelAudit) -> list[list[int]]:
    given = np.searchsorted(audit.classes_, audit.given_)
    suggested = np.searchsorted(audit.classes_, audit.suggested_)
    counts = np.zeros((len(audit.classes_),) * 2, dtype=int)
    np.add.at(counts, (given, suggested), 1)
    return counts.tolist()


def _histogram(reliability: np.ndarray, flagged: np.ndarray) -> list[dict[str, Any]]:
    edges = np.linspace(0, 1, BINS + 1)
    every, _ = np.histogram(reliability, edges)
    doubted, _ = np.histogram(reliability[flagged], edges)
    return [
        {"low": float(low), "high": float(high), "count": int(count), "flagged": int(part)}
        for low, high, count, part in zip(edges, edges[1:], every, doubted, strict=False)
    ]


def _suspect(
    audit: LabelAudit, table: pd.DataFrame, row_numbers: Sequence[int], explanation: Explanation
) -> dict[str, Any]:
    position = explanation.position
    return {
        "row": int(row_numbers[position]),
        "given": str(audit.given_[position]),
        "suggested": str(audit.suggested_[position]),
        "reliability": float(audit.reliability_[position]),
        "cells": _cells(table, position),
        "words": explanation.words,
        "of_given": [_neighbour(table, row_numbers, near) for near in explanation.of_given],
        "of_rival": [_neighbour(table, row_numbers, near) for near in explanation.of_rival],
    }


def _neighbour(table: pd.DataFrame, row_numbers: Sequence[int], near: Neighbour) -> dict[str, Any]:
    return {
        "row": int(row_numbers[near.position]),
        "distance": near.distance,
        "reliability": near.reliability,
        "cells": _cells(table, near.position),
    }


def _cells(table: pd.DataFrame, position: int) -> list[str]:
    return [cell_text(value) for value in table.iloc[position]]


def render_audit_page(summary: dict[str, Any]) -> str:
    """Render a summary as HTML that needs no network and no other file.

    Parameters
    ----------
    summary : dict
        What `summarize_audit` returned.

    Returns
    -------
    str
        The page; the same for the same summary.
    """
    highest = max(bar["count"] for bar in summary["histogram"]) or 1
    return render_html("granulearn.audit", "audit.html", audit=summary, highest=highest)


def write_audit_page(summary: dict[str, Any], path: str | os.PathLike) -> Path:
    """Render a summary and write the page, as a whole or not at all.

    Parameters
    ----------
    summary : dict
        What `summarize_audit` returned.
    path : path
        The HTML file.

    Returns
    -------
    Path
        The file.
    """
    return write_text_atomically(path, render_audit_page(summary))
