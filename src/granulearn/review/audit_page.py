"""The page of an audit: a summary in plain values, and one self-contained HTML file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from granulearn.audit.ratings import UNKNOWN, VERDICTS, WRONG, Issue, Ratings
from granulearn.audit.table_audit import TableAudit
from granulearn.review.cards import MOST_PAIRS, Card, CardBuilder, chosen_rows, confused_pairs
from granulearn.review.decisions import COLUMNS
from granulearn.review.journal import default_journal
from granulearn.review.views import rendered
from granulearn.tables import TrainingTable
from granulearn.utils.files import write_text_atomically

BINS = 20
MOST_SINGLE = 100
MOST_ISSUES = 50
MOST_ROWS_OF_ISSUE = 10


def summarize_audit(done: TableAudit, title: str) -> dict[str, Any]:
    """Return the content of the page in plain values.

    Parameters
    ----------
    done : TableAudit
        The table, read with its cells, and its audit.
    title : str
        Name of the table.
    """
    table, builder = done.table, CardBuilder(done)
    ratings, issues = done.audit.ratings_, done.audit.issues_
    chosen, pairs = chosen_rows(ratings), confused_pairs(ratings)
    digest = blake2b("\n".join([table.target, *table.hashes]).encode(), digest_size=8)
    single = np.bincount(ratings.given, minlength=len(ratings.classes))[ratings.given] == 1
    unrated = np.flatnonzero(single & (ratings.verdicts == UNKNOWN)).tolist()
    on_page = ratings.verdicts[chosen]
    return {
        "title": title,
        "n_samples": len(ratings.given),
        "n_verified": int(ratings.verified.sum()),
        "noise": asdict(done.audit.noise_),
        "verdicts": [
            {
                "name": name,
                "count": int((ratings.verdicts == name).sum()),
                "shown": int((on_page == name).sum()),
            }
            for name in VERDICTS
        ],
        "n_pairs": len(pairs),
        "pairs": pairs[:MOST_PAIRS],
        "histogram": _histogram(ratings),
        "issues": [_issue(issue, builder.rows) for issue in issues[:MOST_ISSUES]],
        "n_issues": len(issues),
        "n_single": len(unrated),
        "single": [
            {"row": int(builder.rows[at]), "label": str(ratings.classes[ratings.given[at]])}
            for at in unrated[:MOST_SINGLE]
        ],
        "cards": [
            _card(card, builder.cells(position), table)
            for card, position in zip(builder.cards(chosen), chosen, strict=True)
        ],
        "facts": {
            # Tells the table from others of the same name in one browser.
            "key": f"{title} {digest.hexdigest()}",
            "file": str(default_journal(Path(title))),
            "target": table.target,
            "version": version("granulearn"),
            "classes": [str(label) for label in ratings.classes],
            "columns": COLUMNS,
        },
    }


def _card(card: Card, cells: Sequence[str], table: TrainingTable) -> dict[str, Any]:
    """Return a card with its text to search, and the rest of a line of the journal."""
    cell, wrong = table.label_cells[card.row - 1] or "", card.error_probability
    texts = [f"row {card.row}", card.given_label, card.second_class or "", *cells]
    return asdict(card) | {
        "search": " ".join(texts).lower(),
        "hash": table.hashes[card.row - 1],
        "cell": "" if cell == card.given_label else cell,
        "probability": "" if wrong is None else f"{wrong:.4f}",
    }


def _histogram(ratings: Ratings) -> list[dict[str, Any]]:
    edges = np.linspace(0, 1, BINS + 1)
    counts, _ = np.histogram(ratings.label_quality[ratings.known], edges)
    is_wrong = ratings.known & (ratings.verdicts == WRONG)
    wrong, _ = np.histogram(ratings.label_quality[is_wrong], edges)
    columns = (edges[:-1].tolist(), edges[1:].tolist(), counts.tolist(), wrong.tolist())
    names = ("low", "high", "count", "wrong")
    return [dict(zip(names, bar, strict=True)) for bar in zip(*columns, strict=True)]


def _issue(issue: Issue, row_numbers: np.ndarray) -> dict[str, Any]:
    return {
        "kind": issue.kind,
        "score": issue.score,
        "n_rows": len(issue.rows),
        "rows": row_numbers[list(issue.rows[:MOST_ROWS_OF_ISSUE])].tolist(),
        "message": issue.message,
    }


def render_audit_page(summary: dict[str, Any]) -> str:
    """Render a summary as HTML that needs no network and no other file.

    Parameters
    ----------
    summary : dict
        From `summarize_audit`.

    Returns
    -------
    str
        The page; the same for the same summary.
    """
    highest = max(bar["count"] for bar in summary["histogram"]) or 1
    return rendered("audit.html", audit=summary, highest=highest)


def write_audit_page(summary: dict[str, Any], path: str | os.PathLike) -> Path:
    """Write the page of a summary, as a whole or not at all.

    Parameters
    ----------
    summary : dict
        From `summarize_audit`.
    path : path
        The HTML file.

    Returns
    -------
    Path
        The file.
    """
    return write_text_atomically(path, render_audit_page(summary))
