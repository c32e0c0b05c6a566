"""The page of a review in HTML: the page itself, and the parts of it that come later."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from granulearn.audit.ratings import VERDICTS
from granulearn.audit.verified import CHANGE, KEEP
from granulearn.review.cards import Card
from granulearn.review.decisions import DECISIONS
from granulearn.review.page_parts import FILTERS, class_pairs, headline
from granulearn.review.progress import ReviewSummary
from granulearn.review.review import Review
from granulearn.review.reviewed_table import ReviewedTable
from granulearn.tables import Column
from granulearn.utils.html_pages import render_html
from granulearn.utils.text import counted

STYLES = ("shared.css", "review.css")
SCRIPTS = (
    "keys.js",
    "shared.js",
    "remote.js",
    "queue.js",
    "desk.js",
    "bulk.js",
    "review.js",
)
"""In the order in which they are run: a script uses what those before it define."""
STATIC = dict.fromkeys(STYLES, "text/css") | dict.fromkeys(SCRIPTS, "text/javascript")
"""Files that a page may ask for."""
_MOST_POINTS = 300
_MOST_PAIRS = 200


def _rendered(template: str, **values: Any) -> str:
    return render_html("granulearn.review", template, FILTERS, **values)


def review_page(review: Review) -> str:
    """Return the page; cards, numbers and the table come when they are asked for.

    Parameters
    ----------
    review : Review
        What is shown.
    """
    table, ratings = review.table, review.ratings
    dropped = table.data.dropped_rows
    return _rendered(
        "review.html",
        title=table.data.report.path.name,
        target=table.target,
        journal=review.source,
        who=review.who,
        scripts=SCRIPTS,
        classes=review.classes,
        verdicts=[
            {"name": name, "count": int((ratings.verdicts == name).sum())} for name in VERDICTS
        ],
        pairs=class_pairs(ratings)[:_MOST_PAIRS],
        n_labels=len(ratings.given),
        without_label=f"{counted(dropped, 'row')} without a label" if dropped else "",
    )


def card_html(card: Card) -> str:
    """Return a card.

    Parameters
    ----------
    card : Card
        What a person sees of a row.
    """
    return _rendered("card.html", suspect=asdict(card))


def numbers_html(review: Review) -> str:
    """Return the numbers of a review.

    Parameters
    ----------
    review : Review
        What is summed up.
    """
    numbers = review.summary()
    return _rendered(
        "numbers.html",
        numbers=numbers,
        kinds=DECISIONS,
        head=headline(numbers.noise),
        settled=numbers.counts.get(KEEP, 0) + numbers.counts.get(CHANGE, 0),
        wrong=numbers.counts.get(CHANGE, 0),
        curve=found_curve(numbers),
    )


def found_curve(numbers: ReviewSummary) -> list[tuple[int, int]]:
    """Return points of the curve of wrong labels found against rows looked at.

    Parameters
    ----------
    numbers : ReviewSummary
        Of the review.
    """
    points = [(0, 0), *enumerate(numbers.found, start=1)]
    step = -(-len(points) // _MOST_POINTS)
    return points[::step] + ([points[-1]] if (len(points) - 1) % step else [])


def table_html(review: Review) -> str:
    """Return what the table is: its columns with boxes to tick, and what is odd about it.

    Parameters
    ----------
    review : Review
        Whose table it is.
    """
    table = review.table
    report = table.data.report
    return _rendered(
        "table.html",
        report=report,
        labels=report.labels,
        columns=[_column(column, table) for column in report.schema.columns],
        warnings=[str(warning) for warning in report.warnings],
        remarks=[str(remark) for remark in report.notes],
        issues=review.issues,
    )


def _column(column: Column, table: ReviewedTable) -> dict[str, Any]:
    options = table.options
    asked = dict.fromkeys(options.ignore, "ignore") | dict.fromkeys(options.include, "include")
    return {
        "name": column.name,
        "is": column.kind,
        "becomes": column.becomes,
        "used": not column.dropped,
        "asked": asked.get(column.name, ""),
        "missing": sum(column.missing.values()),
        "distinct": column.distinct,
        "examples": list(column.examples),
        "odd": [str(said) for said in column.warnings(table.place)],
    }
