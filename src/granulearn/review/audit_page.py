"""The page of an audit: a summary in plain values, and one self-contained HTML file."""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from granulearn.audit.ratings import SUSPECT, UNKNOWN, VERDICTS, WRONG, Ratings
from granulearn.audit.table_audit import TableAudit
from granulearn.review.cards import (
    AuditedRows,
    confused_pairs,
    line_facts,
    pair_key,
    rows_of_pair,
)
from granulearn.review.decisions import COLUMNS
from granulearn.review.journal import clean_name, default_journal
from granulearn.review.views import rendered
from granulearn.utils.files import write_text_atomically

MOST_CARDS = 425
"""500 cards open without a wait."""
MOST_PAIRS = 15
CARDS_PER_PAIR = 5
"""Cards of each frequent pair at least."""
BINS = 20
MOST_SINGLE = 100
MOST_ANNOTATORS, MOST_ASKED = 50, 10
MOST_CLASSES = 12
"""Classes of the heat map, those that are confused most."""


def summarize_audit(
    done: TableAudit, title: str, messages: Sequence[str] = (), decisions: Path | None = None, *,
    for_review: Sequence[str] = (), for_correct: Sequence[str] = (),
) -> dict[str, Any]:  # fmt: skip
    """Return the content of the page in plain values.

    Parameters
    ----------
    done : TableAudit
        The table, read with its cells, and its audit.
    title : str
        Name of the table.
    messages : sequence of str, default=()
        What the reader of the table has to say.
    decisions : Path, default=None
        The file of decisions of the audit; None means that of the table.
    for_review, for_correct : sequence of str, default=()
        Options of the commands that come next.
    """
    table, rows = done.table, AuditedRows(done)
    ratings, journal = done.audit.ratings_, str(decisions or default_journal(Path(title)))
    review = ["granulearn", "review", title, *for_review]
    correct = ["granulearn", "correct", title, *for_correct, "--decisions", journal]
    if decisions is not None:
        review += ["--decisions", journal]
    issues: dict[str, list[str]] = {}
    for issue in done.audit.issues_:
        issues.setdefault(issue.kind, []).append(issue.message)
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
        "when": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        "messages": list(messages),
        "review": shlex.join(review),
        "correct": shlex.join([*correct, "-o", clean_name(title)]),
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
        "heat_map": _heat_map(ratings, pairs) if len(ratings.classes) > 2 else None,
        "annotators": _annotators(rows) if done.audit.consensus_record_ else None,
        "issues": issues,
        "n_single": len(single),
        "single": [
            {"row": int(rows.numbers[at]), "label": str(ratings.classes[ratings.given[at]])}
            for at in single[:MOST_SINGLE]
        ],
        "cards": cards,
        "facts": {
            # Tells the table from others of the same name in one browser.
            "key": f"{title} {digest.hexdigest()}",
            "file": Path(journal).name,
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


def _heat_map(ratings: Ratings, pairs: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the classes that are confused most, and how many labels of each pair are doubted."""
    counts = {pair["key"]: pair[WRONG] + pair[SUSPECT] for pair in pairs}
    totals: Counter = Counter()
    for key, count in counts.items():
        totals.update(dict.fromkeys(map(int, key.split("-")), count))
    codes = sorted(code for code, _ in totals.most_common(MOST_CLASSES))
    rows = [[counts.get(pair_key(given, second), 0) for second in codes] for given in codes]
    return {"classes": ratings.classes[codes].astype(str).tolist(), "rows": rows}


def _annotators(rows: AuditedRows) -> dict[str, Any]:
    """Return what is said of annotators: those of most labels, and whom to ask next."""
    audit = rows.audit
    best = audit.annotators_["n_labels"].argsort().to_numpy()[::-1][:MOST_ANNOTATORS]
    told = audit.annotators_.iloc[best].reset_index().to_dict("records")
    shown = best if len(audit.classes_) <= MOST_CLASSES else best[:0]
    return {
        "n": len(audit.annotators_),
        "agreement": audit.agreement_,
        "told": told,
        "classes": [str(label) for label in audit.classes_],
        "confusions": audit.confusion_[shown].tolist(),
        "ask": {
            by: rows.numbers[audit.next_to_label(MOST_ASKED, by).index].tolist()
            for by in ("annotator", "expert")
        },
    }


def render_audit_page(summary: dict[str, Any]) -> str:
    """Render a summary as HTML that needs no network and no other file."""
    highest = max(count for count, _ in summary["histogram"]) or 1
    return rendered("audit.html", audit=summary, highest=highest)


def write_audit_page(summary: dict[str, Any], path: str | os.PathLike) -> Path:
    """Write the page of a summary to an HTML file, as a whole or not at all."""
    return write_text_atomically(path, render_audit_page(summary))
