"""What is said about a table: a short form beside results, the whole as a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from rich.padding import Padding

from granulearn._words import counted
from granulearn.cli.flags import in_flags, option_of
from granulearn.cli.output import as_shown, bold, console, table, warn

if TYPE_CHECKING:
    from rich.console import Console

    from granulearn.tables import Column, TableReport

SHOWN = 8
SHOWN_COLUMNS = 300
_LONGEST_EXAMPLE = 18
_WIDTH_OF_GRID = 100


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
    for line in _short_lines(report, place):
        out.print(line)
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
    # A target that the table lacks is no column of it, and has no labels.
    n_columns = len(report.schema.columns) + (report.labels is not None)
    out.print(
        bold(report.path.name),
        f": {counted(report.rows, 'row')}, {counted(n_columns, 'column')}",
        sep="",
    )
    for remark in report.remarks:
        out.print(in_flags(remark))
    if report.labels is not None:
        shown = [f"{name} ({rows})" for name, rows in report.labels.classes.items()]
        more = f" and {len(shown) - SHOWN} more" if len(shown) > SHOWN else ""
        out.print(
            bold(report.target),
            f", the target: {counted(len(shown), 'class', 'classes')}: "
            f"{', '.join(shown[:SHOWN])}{more}",
            sep="",
        )
    show = _show_grid if out.width >= _WIDTH_OF_GRID else _show_blocks
    columns, n_hidden = _worth_showing(report.schema.columns, place)
    show(out, columns, place)
    if n_hidden:
        out.print(f"and {counted(n_hidden, 'more column')}; --json has them all")


def _worth_showing(
    columns: Sequence[Column], place: Callable[[int], str]
) -> tuple[list[Column], int]:
    """Return as many columns as a person may read, those that are odd before others."""
    if len(columns) <= SHOWN_COLUMNS:
        return list(columns), 0
    # Sorting is stable, so the order of the table is kept within each kind.
    odd_first = sorted(columns, key=lambda c: not (c.left_out or c.oddities(place)))
    kept = {column.name for column in odd_first[:SHOWN_COLUMNS]}
    return [column for column in columns if column.name in kept], len(columns) - SHOWN_COLUMNS


def _show_grid(out: Console, columns: Sequence[Column], place: Callable[[int], str]) -> None:
    """Print a row per column, and below it what is odd: sentences would squeeze the cells."""
    headers = ("is", "becomes", "missing", "distinct", "examples", "changed by")
    grid = table("\ncolumns", "column", *headers)
    for header in grid.columns:
        header.justify, header.overflow = "left", "fold"
    for column in columns:
        grid.add_row(
            _plain(column.name),
            _kind(column),
            column.becomes,
            _missing(column),
            str(column.distinct),
            _examples(column),
            _options(column),
        )
    out.print(grid)
    odd = [(column, said) for column in columns for said in _oddities(column, place)]
    if odd:
        out.print(bold("what is odd"))
    for column, said in odd:
        _print_below(out, f"{_plain(column.name)}: {said}")


def _show_blocks(out: Console, columns: Sequence[Column], place: Callable[[int], str]) -> None:
    """Print some lines per column, for a terminal that is too narrow for a grid."""
    out.print()
    for column in columns:
        becomes = "" if column.kind == "category" and not column.left_out else column.becomes
        is_and_becomes = "; ".join(filter(None, (_kind(column), becomes)))
        changed = f" ({_options(column)})" if column.remedy else ""
        out.print(bold(_plain(column.name)), f": {is_and_becomes}{changed}", sep="")
        missing = f"{_missing(column)} missing" if column.missing else ""
        found = f"{column.distinct} distinct: {_examples(column)}" if column.distinct else ""
        counts = "; ".join(filter(None, (missing, found)))
        for said in filter(None, (counts, *_oddities(column, place))):
            _print_below(out, said)


def _print_below(out: Console, said: str) -> None:
    out.print(Padding(as_shown(said), (0, 0, 0, 2)))


def _short_lines(report: TableReport, place: Callable[[int], str]) -> list[str]:
    lines = [in_flags(remark) for remark in report.remarks]
    left_out = [c for c in report.schema.left_out if c.left_out != "asked"]
    if left_out:
        named = _some([f"{_plain(c.name)} ({c.left_out})" for c in left_out])
        can_be_used = any(map(_can_be_included, left_out))
        step = "; --include NAME uses one all the same" if can_be_used else ""
        lines.append(f"left out: {named}{step}")
    parsed = [f"{_plain(c.name)} ({_parsed(c)})" for c in report.schema.used if _parsed(c)]
    if parsed:
        lines.append(f"read as: {_some(parsed)}")
    lines += _odd_lines(report, place)
    missing = sum(sum(column.missing.values()) for column in report.schema.used)
    marks = {mark for column in report.schema.used for mark in column.missing}
    if missing:
        spelt = ", ".join(repr(mark) if mark else "empty" for mark in sorted(marks))
        lines.append(f"missing: {counted(missing, 'cell')} ({spelt}); granulearn check has more")
    return lines


def _odd_lines(report: TableReport, place: Callable[[int], str]) -> list[str]:
    """Return what is odd about columns that are used, or would be if one thing were said."""
    odd = []
    for column in report.schema.columns:
        asked_for = column.left_out and column.remedy and not _can_be_included(column)
        if asked_for or not column.left_out:
            step = f"; {_options(column)} says which" if asked_for else ""
            odd += [f"{_plain(column.name)}: {said}{step}" for said in _oddities(column, place)]
    more = [f"{len(odd) - SHOWN} more oddities; granulearn check names them"]
    return odd if len(odd) <= SHOWN else odd[:SHOWN] + more


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


def _kind(column: Column) -> str:
    return column.kind + (f", {column.number.unit}" if column.number.unit else "")


def _missing(column: Column) -> str:
    marks = [
        f"{count} {mark!r}" if mark else f"{count} empty" for mark, count in column.missing.items()
    ]
    return ", ".join(marks)


def _examples(column: Column) -> str:
    return ", ".join(_cut(_plain(text)) for text in column.examples)


def _options(column: Column) -> str:
    """Return the options alone: the name of the column stands beside them."""
    return " or ".join(map(option_of, column.remedy))


def _can_be_included(column: Column) -> bool:
    return any(setting.name == "include" for setting in column.remedy)


def _oddities(column: Column, place: Callable[[int], str]) -> list[str]:
    return [in_flags(said) for said in column.oddities(place)]


def _some(texts: list[str]) -> str:
    more = f" and {len(texts) - SHOWN} more" if len(texts) > SHOWN else ""
    return ", ".join(texts[:SHOWN]) + more


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_EXAMPLE else text[: _LONGEST_EXAMPLE - 1] + "…"


def _plain(text: str) -> str:
    """Return a text that stays on its line and gives no orders to the terminal."""
    return text if text.isprintable() else repr(text)[1:-1]
