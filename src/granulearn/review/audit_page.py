"""The page of an audit: a summary in plain values, and one self-contained HTML file."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from granulearn.audit.column_words import FeatureName
from granulearn.audit.explanation import Explainer
from granulearn.audit.issues import Issue
from granulearn.audit.label_audit import LabelAudit
from granulearn.audit.ratings import UNKNOWN, VERDICTS, WRONG, Ratings
from granulearn.review.cards import (
    MOST_PAIRS,
    Card,
    ShownTable,
    chosen_rows,
    make_card,
)
from granulearn.review.decision_files import COLUMNS
from granulearn.review.journal import default_journal
from granulearn.review.page_parts import FILTERS, class_pairs, headline
from granulearn.utils.files import write_text_atomically
from granulearn.utils.html_pages import render_html

if TYPE_CHECKING:
    import pandas as pd

BINS = 20
MOST_ONCE = 100
MOST_ISSUES = 50
MOST_ROWS_OF_AN_ISSUE = 10


@dataclass(frozen=True)
class LabelOrigin:
    """Where labels stand, so that decisions about them are known to be about this table."""

    target: str = ""
    """The column."""
    hashes: Sequence[str] = ()
    """Of the cells of each row of the table; none if nobody knows."""
    cells: Sequence[str | None] = ()
    """The label of each row of the table, as it is spelt there."""


UNKNOWN_ORIGIN = LabelOrigin()


def summarize_audit(
    audit: LabelAudit,
    X: np.ndarray,
    table: pd.DataFrame,
    *,
    title: str,
    row_numbers: Sequence[int],
    names: Sequence[FeatureName],
    origin: LabelOrigin = UNKNOWN_ORIGIN,
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
    origin : LabelOrigin, default=unknown
        Where the labels stand, for the decisions that the page writes down.

    Returns
    -------
    dict
        Plain values.
    """
    ratings, issues = audit.ratings_, audit.issues_
    shown = ShownTable(table, row_numbers)
    chosen, pairs = chosen_rows(ratings), class_pairs(ratings)
    return {
        "title": title,
        "n_samples": len(ratings.given),
        "n_verified": int(ratings.verified.sum()),
        "n_columns": len(table.columns),
        "headline": headline(audit.noise_),
        "verdicts": _verdicts(ratings, chosen),
        "n_pairs": len(pairs),
        "pairs": pairs[:MOST_PAIRS],
        "histogram": _histogram(ratings),
        "issues": [_issue(issue, shown) for issue in issues[:MOST_ISSUES]],
        "n_issues": len(issues),
        **_once(ratings, shown),
        "classes": [str(label) for label in ratings.classes],
        "target": origin.target,
        "key": _key(title, origin),
        "file": str(default_journal(Path(title))),
        "version": version("granulearn"),
        "suspects": [
            _suspect(
                make_card(ratings, shown, explanation), shown.cells(explanation.position), origin
            )
            for explanation in Explainer(audit, X, table, names).explain(chosen)
        ],
    }


def _key(title: str, origin: LabelOrigin) -> str:
    """Return what tells a table from others of the same name."""
    digest = blake2b("\n".join([origin.target, *origin.hashes]).encode(), digest_size=8)
    return f"{title} {digest.hexdigest()}"


def _suspect(card: Card, cells: Sequence[str], origin: LabelOrigin) -> dict[str, Any]:
    """Return a card with what it is found by, and what a decision about it holds."""
    place, wrong = card.row - 1, card.error_probability
    cell = origin.cells[place] if origin.cells else None
    words = [f"row {card.row}", card.given, card.rival or "", *cells]
    plain = json.loads(json.dumps(asdict(card)))
    return plain | {
        "search": " ".join(words).lower(),
        "hash": origin.hashes[place] if origin.hashes else "",
        "cell": "" if cell is None or cell == card.given else cell,
        "probability": "" if wrong is None else f"{wrong:.4f}",
    }


def _verdicts(ratings: Ratings, chosen: Sequence[int]) -> list[dict[str, Any]]:
    """Return how many labels have each verdict, and how many of them have a card."""
    on_page = ratings.verdicts[list(chosen)]
    return [
        {
            "name": verdict,
            "count": int((ratings.verdicts == verdict).sum()),
            "shown": int((on_page == verdict).sum()),
        }
        for verdict in VERDICTS
    ]


def _histogram(ratings: Ratings) -> list[dict[str, Any]]:
    edges = np.linspace(0, 1, BINS + 1)
    known = ~np.isnan(ratings.label_quality)
    every, _ = np.histogram(ratings.label_quality[known], edges)
    doubted, _ = np.histogram(ratings.label_quality[known & (ratings.verdicts == WRONG)], edges)
    return [
        {"low": float(low), "high": float(high), "count": int(count), "wrong": int(part)}
        for low, high, count, part in zip(edges, edges[1:], every, doubted, strict=False)
    ]


def _issue(issue: Issue, shown: ShownTable) -> dict[str, Any]:
    return {
        "kind": issue.kind,
        "score": issue.score,
        "n_rows": len(issue.rows),
        "rows": [shown.row(position) for position in issue.rows[:MOST_ROWS_OF_AN_ISSUE]],
        "words": issue.words,
    }


def _once(ratings: Ratings, shown: ShownTable) -> dict[str, Any]:
    """Return the labels that no other row has: many are misspelt."""
    is_alone = np.bincount(ratings.given, minlength=len(ratings.classes))[ratings.given] == 1
    alone = np.flatnonzero(is_alone & (ratings.verdicts == UNKNOWN)).tolist()
    return {
        "n_once": len(alone),
        "once": [
            {"row": shown.row(position), "label": str(ratings.classes[ratings.given[position]])}
            for position in alone[:MOST_ONCE]
        ],
    }


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
    return render_html(
        "granulearn.review",
        "audit.html",
        filters=FILTERS,
        audit=summary,
        highest=highest,
        columns=list(COLUMNS),
    )


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
