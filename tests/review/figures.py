"""The figures of an audit's record, as every page prints them."""

import re

from granulearn.audit.ratings import percent


def figures(summary):
    """Return the texts that show a record."""
    low, high = round(summary.low * summary.n_labels), round(summary.high * summary.n_labels)
    (n_rows, expected), *_ = summary.expected_errors.items()
    return [
        *summary.message.replace(". ", ".\n").splitlines(),
        f"expected wrong {round(summary.n_errors):,} of {summary.n_labels:,} "
        f"({percent(summary.rate)})",
        f"95 % range {low:,} to {high:,} ({percent(summary.low)} to {percent(summary.high)})",
        f"expected mistakes left {round(summary.errors_left):,}",
        f"expected among the next {n_rows} {round(expected):,}",
    ]


def missing_figures(summary, page):
    """Return what a page, as text or HTML, does not show of a record."""
    text = " ".join(re.sub("<[^>]*>", " ", page).split())
    return [figure for figure in figures(summary) if figure not in text]
