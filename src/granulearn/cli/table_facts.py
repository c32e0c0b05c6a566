"""What is said about a table, for machines: one object of JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from granulearn.cli.flags import flag, in_flags

if TYPE_CHECKING:
    from granulearn.tables import TableReport


def as_facts(report: TableReport, place: Callable[[int], str]) -> dict[str, Any]:
    """Return a report as what JSON can hold.

    Parameters
    ----------
    report : TableReport
        Of a table.
    place : callable
        Says where a row stands.
    """
    facts: dict[str, Any] = {
        "file": str(report.path),
        "rows": report.rows,
        "remarks": _said(report.remarks),
        "columns": [
            {
                "name": column.name,
                "is": column.kind,
                "becomes": column.becomes,
                "left_out": column.left_out,
                "unit": column.number.unit,
                "missing": dict(column.missing),
                "distinct": column.distinct,
                "examples": list(column.examples),
                "odd": _said(column.oddities(place)),
                "misfits": [
                    {"row": cell.row + 1, "place": place(cell.row), "cell": cell.text}
                    for cell in column.misfits
                ],
                "n_misfits": column.n_misfits,
                "flag": " or ".join(map(flag, column.remedy)),
            }
            for column in report.schema.columns
        ],
        "problems": _said(report.problems),
        "warnings": _said(report.warnings),
    }
    if report.findings is not None:
        facts["duplicates"] = report.findings.duplicates
        facts["conflicts"] = report.findings.conflicts
    if report.target is not None:
        labels = report.labels
        facts["target"] = {"name": report.target} | (
            {
                "classes": labels.classes,
                "joined": labels.joined,
                "misspelt": [list(pair) for pair in labels.misspelt],
                "unlabelled": sum(labels.unlabelled.values()),
                "small": labels.small,
            }
            if labels is not None
            else {}
        )
    return facts


def _said(messages: Iterable[str]) -> list[str]:
    return [in_flags(message) for message in messages]
