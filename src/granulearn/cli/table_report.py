"""What is said about a table: a short form beside results, the whole as a table."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from granulearn._words import counted
from granulearn.cli.output import bold, console, table, warn

if TYPE_CHECKING:
    from granulearn.tables import Column, TableReport

SHOWN = 8
_LONGEST_EXAMPLE = 18


def show_short(report: TableReport, place: Callable[[int], str]) -> None:
    """Print what was left out, parsed and joined; warnings go to stderr.

    Parameters
    ----------
    report : TableReport
        Of a table that was learned from.
    place : callable
        Says where a row stands.
    """
    out = console()
    out.print(*_short_lines(report, place), sep="\n")
    say_warnings(report)


def say_warnings(report: TableReport) -> None:
    """Print on stderr what could lead to a wrong conclusion.

    Parameters
    ----------
    report : TableReport
        Of a table.
    """
    for warning in report.warnings:
        warn(warning)


def show_whole(report: TableReport, place: Callable[[int], str]) -> None:
    """Print one row per column: what it is, what it becomes, what is odd, what would change it.

    Parameters
    ----------
    report : TableReport
        Of a table.
    place : callable
        Says where a row stands.
    """
    out = console()
    n_columns = len(report.schema.columns) + (report.target is not None)
    out.print(
        bold(report.path.name),
        f": {counted(report.rows, 'row')}, {counted(n_columns, 'column')}",
        sep="",
    )
    for remark in report.remarks:
        out.print(remark)
    if report.labels is not None:
        shown = [f"{name} ({rows})" for name, rows in report.labels.classes.items()]
        more = f" and {len(shown) - SHOWN} more" if len(shown) > SHOWN else ""
        out.print(
            bold(report.target),
            f", the target: {counted(len(shown), 'class', 'classes')}: "
            f"{', '.join(shown[:SHOWN])}{more}",
            sep="",
        )
    out.print()
    headers = ("is", "becomes", "missing", "distinct", "examples", "odd; changed by")
    grid = table("columns", "column", *headers)
    for column in grid.columns:
        column.justify = "left"
    for found in report.schema.columns:
        grid.add_row(
            found.name,
            found.kind + (f", {found.number.unit}" if found.number.unit else ""),
            found.becomes,
            _missing(found),
            str(found.distinct),
            ", ".join(_cut(text) for text in found.examples),
            # The option alone: the name of the column stands in the row.
            "; ".join([*found.oddities(place), *filter(None, [found.flag.partition(" ")[0]])]),
        )
    out.print(grid)


def _short_lines(report: TableReport, place: Callable[[int], str]) -> list[str]:
    lines = list(report.remarks)
    left_out = [f"{c.name} ({c.left_out})" for c in report.schema.left_out if c.left_out != "asked"]
    if left_out:
        lines.append(f"left out: {_some(left_out)}; --include NAME uses one all the same")
    parsed = [f"{c.name} ({_parsed(c)})" for c in report.schema.used if _parsed(c)]
    if parsed:
        lines.append(f"read as: {_some(parsed)}")
    for column in report.schema.used:
        lines += [f"{column.name}: {odd}" for odd in column.oddities(place)]
    missing = sum(sum(column.missing.values()) for column in report.schema.used)
    marks = {mark: 0 for column in report.schema.used for mark in column.missing}
    if missing:
        spelt = ", ".join(repr(mark) if mark else "empty" for mark in sorted(marks))
        lines.append(f"missing: {counted(missing, 'cell')} ({spelt}); granulearn check has more")
    return lines


def _parsed(column: Column) -> str:
    """Return how cells were read that are no plain numbers or texts."""
    if column.kind == "date":
        order = "day first" if column.date.day_first else "month first"
        return "date" if column.date.family != "year last" else f"date, {order}"
    if column.kind == "yes/no":
        return "yes/no"
    if column.kind == "number":
        pointed = any(sign in text for text in column.examples for sign in ".,")
        comma = "decimal comma" if pointed and column.number.decimal == "," else ""
        unit = f"numbers of {column.number.unit}" if column.number.unit else ""
        return ", ".join(filter(None, (unit, comma)))
    return ""


def _missing(column: Column) -> str:
    marks = [
        f"{count} {mark!r}" if mark else f"{count} empty" for mark, count in column.missing.items()
    ]
    return ", ".join(marks)


def _some(texts: list[str]) -> str:
    more = f" and {len(texts) - SHOWN} more" if len(texts) > SHOWN else ""
    return ", ".join(texts[:SHOWN]) + more


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_EXAMPLE else text[: _LONGEST_EXAMPLE - 1] + "…"
