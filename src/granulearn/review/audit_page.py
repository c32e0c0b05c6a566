"""The page of an audit: a summary in plain values, and one self-contained HTML file."""

from __future__ import annotations

import os
from dataclasses import asdict
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from granulearn.audit.ratings import UNKNOWN, VERDICTS, Ratings
from granulearn.audit.table_audit import TableAudit
from granulearn.review.cards import AuditedRows, confused_pairs, line_facts, rows_of_pair
from granulearn.review.decisions import COLUMNS
from granulearn.review.journal import default_journal
from granulearn.review.views import rendered
from granulearn.utils.files import write_text_atomically

MOST_CARDS = 425
"""500 cards open without a wait."""
MOST_PAIRS = 15
CARDS_PER_PAIR = 5
"""Cards of each frequent pair at least."""
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
    table, rows = done.table, AuditedRows(done)
    ratings, issues = done.audit.ratings_, done.audit.issues_
    chosen, pairs = chosen_rows(ratings), confused_pairs(ratings)
    digest = blake2b("\n".join([table.target, *table.hashes]).encode(), digest_size=8)
    is_single = np.bincount(ratings.given)[ratings.given] == 1
    single = np.flatnonzero(is_single & (ratings.verdicts == UNKNOWN)).tolist()
    cards = []
    for position, card in zip(chosen, rows.cards(chosen), strict=True):
        texts = [f"row {card.row}", card.given_label, card.second_class or ""]
        search = " ".join([*texts, *rows.cells(position)]).lower()
        cards.append(asdict(card) | line_facts(table, card) | {"search": search})
    return {
        "title": title,
        "n_samples": len(ratings.given),
        "summary": done.audit.summary(),
        "n_suspects": int(ratings.is_suspect.sum()),
        "verdicts": [
            {
                "name": name,
                "count": int((ratings.verdicts == name).sum()),
                "shown": int((ratings.verdicts[chosen] == name).sum()),
            }
            for name in VERDICTS
        ],
        "n_pairs": len(pairs),
        "pairs": pairs[:MOST_PAIRS],
        "histogram": _histogram(ratings),
        "issues": [
            {
                "kind": issue.kind,
                "score": issue.score,
                "message": issue.message,
                "n_rows": len(issue.rows),
                "rows": rows.numbers[list(issue.rows[:MOST_ROWS_OF_ISSUE])].tolist(),
            }
            for issue in issues[:MOST_ISSUES]
        ],
        "n_issues": len(issues),
        "n_single": len(single),
        "single": [
            {"row": int(rows.numbers[at]), "label": str(ratings.classes[ratings.given[at]])}
            for at in single[:MOST_SINGLE]
        ],
        "cards": cards,
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


def chosen_rows(ratings: Ratings) -> list[int]:
    """Return the positions of the suspects on the page, the most probably wrong first."""
    suspects = ratings.worst_first[ratings.is_suspect[ratings.worst_first]]
    chosen = np.arange(len(suspects)) < MOST_CARDS
    # A reader who asks for a frequent pair must not find an empty page.
    for pair in confused_pairs(ratings)[:MOST_PAIRS]:
        of_pair = rows_of_pair(ratings, pair["key"])[suspects]
        chosen[np.flatnonzero(of_pair)[:CARDS_PER_PAIR]] = True
    return suspects[chosen].tolist()


def _histogram(ratings: Ratings) -> list[tuple[int, int]]:
    """Return the bars of the error probability: all rated labels, and the suspects."""
    counts = (
        np.histogram(ratings.error_proba[rows], BINS, (0, 1))[0].tolist()
        for rows in (~np.isnan(ratings.error_proba), ratings.is_suspect)
    )
    return list(zip(*counts, strict=True))


def render_audit_page(summary: dict[str, Any]) -> str:
    """Render a summary as HTML that needs no network and no other file."""
    highest = max(count for count, _ in summary["histogram"]) or 1
    return rendered("audit.html", audit=summary, highest=highest)


def write_audit_page(summary: dict[str, Any], path: str | os.PathLike) -> Path:
    """Write the page of a summary to an HTML file, as a whole or not at all."""
    return write_text_atomically(path, render_audit_page(summary))
