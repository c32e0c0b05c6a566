"""Views: records of a review or an audit, rendered as HTML by the templates."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from granulearn.audit.ratings import about, percent
from granulearn.review.cards import Card, confused_pairs, issue_key
from granulearn.review.decisions import DECISIONS
from granulearn.utils.html_pages import render_html
from granulearn.utils.text import counted

if TYPE_CHECKING:
    from granulearn.review.review import Review

STYLES = ("shared.css", "review.css")
SCRIPTS = ("keys.js", "shared.js", "remote.js", "queue.js", "card.js", "bulk.js", "review.js")
"""In the order in which they run: a script uses the definitions of those before it."""
STATIC = dict.fromkeys(STYLES, "text/css") | dict.fromkeys(SCRIPTS, "text/javascript")
"""Files that the page may ask for."""
_MOST_POINTS = 300
_MOST_PAIRS = 200


def rounded(probability: float) -> str:
    """Return a probability in whole percent; no probability of a model is 0 or 1."""
    if probability > 0.995:
        return ">\u00a099\u00a0%"
    return f"{100 * probability:.0f}\u00a0%" if probability >= 0.005 else "<\u00a01\u00a0%"


def source_hash(text: str) -> str:
    """Return the source of a policy that allows an inline script or style of this text."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


_FILTERS: dict[str, Callable[..., str]] = {
    "percent": percent,
    "rounded": rounded,
    "grouped": "{:,}".format,
    "about": about,
    "source_hash": source_hash,
}


def rendered(template: str, **values: Any) -> str:
    """Render a template of this room with the values that it shows."""
    return render_html("granulearn.review", template, _FILTERS, **values)


def review_page(review: Review) -> str:
    """Return the page; cards, numbers and the table are loaded later."""
    n_unlabelled = review.table.data.dropped_rows
    return rendered(
        "review.html",
        review=review,
        title=review.table.data.report.path.name,
        scripts=SCRIPTS,
        open_by_verdict=review.open_by_verdict(),
        issue_kinds=sorted({issue.kind for issue in review.issues if issue.rows}),
        pairs=confused_pairs(review.ratings)[:_MOST_PAIRS],
        n_labels=len(review.ratings.given),
        unlabelled=f"{counted(n_unlabelled, 'row')} without a label" if n_unlabelled else "",
    )


def card_html(card: Card) -> str:
    """Return a card."""
    return rendered("card.html", card=card)


def numbers_html(review: Review) -> str:
    """Return the numbers of a review."""
    numbers = review.summary()
    curve = [(0, 0), *enumerate(numbers.found, start=1)]
    step = len(curve) // _MOST_POINTS + 1
    shown = [*curve[:-1:step], curve[-1]]
    return rendered("numbers.html", numbers=numbers, kinds=DECISIONS, curve=shown)


def table_html(review: Review) -> str:
    """Return the table's columns, with boxes to tick, and its warnings."""
    table, issues = review.table, [(issue, issue_key(issue)) for issue in review.issues]
    return rendered("table.html", table=table, report=table.data.report, issues=issues)
