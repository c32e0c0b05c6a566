"""`granulearn check`, and the report of a table: whole, short beside results, and as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from rich.padding import Padding

from granulearn.cli import options as opt
from granulearn.cli import output as out
from granulearn.utils.text import counted, listed

if TYPE_CHECKING:
    from granulearn.tables import Column, TableReport

    Location = Callable[[int], str]  # line or row of a cell, for messages

SHOWN = 8
SHOWN_COLUMNS = 300
_LONGEST_EXAMPLE = 18
_WIDTH_OF_GRID = 100
_GRID = ("column", "type", "becomes", "missing", "distinct", "examples", "changed by")


@opt.takes_table
def check(
    table: opt.TableArgument,
    target: opt.TargetIfAnyOption = None,
    json: opt.JsonOption = False,
    *,
    options: opt.TableOptions,
) -> None:
    """Report the type and use of each column, missing cells, problems, and options that help.

    With --target also the classes, spellings of labels that are joined, columns that
    leak the target, and duplicate rows. Nothing is written. The exit code is 3 if nothing could be
    learned from the table; all the reasons are named.

    Example: granulearn check train.csv --target label
    """
    from granulearn.tables import TableError, inspect_table

    with options.open(table) as file:
        with out.stage_progress(hidden=json) as progress:
            progress(f"reading {table.name}")
            report = inspect_table(file, target, options.columns)
        if json:
            out.print_json(as_facts(report, file.location))
        else:
            show_whole(report, file.location)
            show_warnings(report)
    if report.problems:
        raise TableError.about(file.path, report.problems)


def show_short(report: TableReport, location: Location) -> None:
    """Print dropped and parsed columns, warnings and missing cells; what misleads to stderr."""
    for line in short_messages(report, location):
        out.say(line)
    show_warnings(report)


def short_messages(report: TableReport, location: Location) -> list[str]:
    """Return messages about dropped and parsed columns, single columns and missing cells."""
    used = report.schema.used
    lines = [out.in_flags(note) for note in report.notes]
    dropped = [column for column in report.schema.dropped if column.dropped != "asked"]
    if dropped:
        step = "; to use one anyway: --include NAME" if any(map(_can_be_included, dropped)) else ""
        lines.append(f"dropped: {listed([f'{_plain(c)} ({c.dropped})' for c in dropped])}{step}")
    parsed = [f"{_plain(c)} ({_parsed(c)})" for c in used if _parsed(c)]
    if parsed:
        lines.append(f"read as: {listed(parsed)}")
    warnings = []
    for column in report.schema.columns:
        # One more option is needed to use the column, such as the order of day and month.
        is_open = column.dropped and column.advice and not _can_be_included(column)
        step = f"; {_options(column)} says which" if is_open else ""
        if is_open or not column.dropped:
            warnings += [
                f"{_plain(column)}: {warning}{step}" for warning in _warnings(column, location)
            ]
    if len(warnings) > SHOWN:
        warnings[SHOWN:] = [f"{len(warnings) - SHOWN} more warnings; granulearn check lists them"]
    lines += warnings
    missing = sum(sum(column.missing.values()) for column in used)
    if missing:
        tokens = sorted({token for column in used for token in column.missing})
        spelt = ", ".join(repr(token) if token else "empty" for token in tokens)
        lines.append(f"missing: {counted(missing, 'cell')} ({spelt}); granulearn check has more")
    return lines


def show_warnings(report: TableReport) -> None:
    """Print on stderr what could lead to a wrong conclusion."""
    for warning in report.warnings:
        out.warn(warning)


def show_whole(report: TableReport, location: Location) -> None:
    """Print one row per column: its type, its use, warnings, which option changes it."""
    columns = report.schema.columns
    # A target that the table lacks is no column of it, and has no labels.
    n_columns = len(columns) + (report.labels is not None)
    size = f"{counted(report.rows, 'row')}, {counted(n_columns, 'column')}"
    out.headline(report.path.name, size)
    for note in report.notes:
        out.say(out.in_flags(note))
    if report.labels is not None:
        classes = [f"{name} ({rows})" for name, rows in report.labels.classes.items()]
        count = counted(len(classes), "class", "classes")
        out.say(out.bold(report.target), f", the target: {count}: {listed(classes)}", sep="")
    if len(columns) > SHOWN_COLUMNS:  # those with warnings first; sorting is stable
        warned_first = sorted(columns, key=lambda c: not (c.dropped or c.warnings(location)))
        kept = {column.name for column in warned_first[:SHOWN_COLUMNS]}
        columns = tuple(column for column in columns if column.name in kept)
    (_show_grid if out.console().width >= _WIDTH_OF_GRID else _show_blocks)(columns, location)
    n_hidden = len(report.schema.columns) - len(columns)
    if n_hidden:
        out.say(f"and {counted(n_hidden, 'more column')}; --json has them all")


def _show_grid(columns: Sequence[Column], location: Location) -> None:
    """Print a row per column, and warnings below: sentences would squeeze the cells."""
    rows = [
        (_plain(c), _type_of(c), c.becomes, _missing(c), c.distinct, _examples(c), _options(c))
        for c in columns
    ]
    out.print_table("\ncolumns", _GRID, rows, justify="left", overflow="fold")
    warnings = [
        f"{_plain(column)}: {warning}"
        for column in columns
        for warning in _warnings(column, location)
    ]
    if warnings:
        out.say(out.bold("warnings"))
    _print_indented(warnings)


def _show_blocks(columns: Sequence[Column], location: Location) -> None:
    """Print some lines per column, for a terminal that is too narrow for a grid."""
    out.say()
    for column in columns:
        becomes = "" if column.type == "category" and not column.dropped else column.becomes
        about = "; ".join(filter(None, (_type_of(column), becomes)))
        changed = f" ({_options(column)})" if column.advice else ""
        out.headline(_plain(column), f"{about}{changed}")
        missing = f"{_missing(column)} missing" if column.missing else ""
        found = f"{column.distinct} distinct: {_examples(column)}" if column.distinct else ""
        counts = "; ".join(filter(None, (missing, found)))
        _print_indented(filter(None, (counts, *_warnings(column, location))))


def _print_indented(lines: Iterable[str]) -> None:
    for line in lines:
        out.say(Padding(line, (0, 0, 0, 2)))


def _parsed(column: Column) -> str:
    """Return how cells were read that are no plain numbers or texts."""
    if column.type == "date":
        order = "day first" if column.date.day_first else "month first"
        return "date" if column.date.family != "year last" else f"date, {order}"
    if column.type == "number":
        pointed = any(sign in text for text in column.examples for sign in ".,")
        comma = "decimal comma" if pointed and column.number.decimal == "," else ""
        unit = f"numbers of {column.number.unit}" if column.number.unit else ""
        return ", ".join(filter(None, (unit, comma)))
    return column.type if column.type == "yes/no" else ""


def _type_of(column: Column) -> str:
    return column.type + (f", {column.number.unit}" if column.number.unit else "")


def _missing(column: Column) -> str:
    counts = column.missing.items()
    return ", ".join(f"{n} {token!r}" if token else f"{n} empty" for token, n in counts)


def _examples(column: Column) -> str:
    texts = [text if text.isprintable() else repr(text)[1:-1] for text in column.examples]
    most = _LONGEST_EXAMPLE
    return ", ".join(text if len(text) <= most else text[: most - 1] + "…" for text in texts)


def _options(column: Column) -> str:
    """Return the options alone: the name of the column stands beside them."""
    return " or ".join(map(out.option_of, column.advice))


def _can_be_included(column: Column) -> bool:
    return any(setting.name == "include" for setting in column.advice)


def _warnings(column: Column, location: Location) -> list[str]:
    return [out.in_flags(warning) for warning in column.warnings(location)]


def _plain(column: Column) -> str:
    """Return the name in one line, without control characters."""
    return column.name if column.name.isprintable() else repr(column.name)[1:-1]


def as_facts(report: TableReport, location: Location) -> dict[str, Any]:
    """Return a report as JSON can hold it."""
    labels, findings = report.labels, report.findings
    facts: dict[str, Any] = {"file": str(report.path), "rows": report.rows}
    for name in ("notes", "problems", "warnings"):
        facts[name] = [*map(out.in_flags, getattr(report, name))]
    facts["columns"] = [_column_facts(column, location) for column in report.schema.columns]
    if findings is not None:
        facts |= {"duplicates": findings.duplicates, "conflicts": findings.conflicts}
    if report.target is not None:
        facts["target"] = {"name": report.target}
        if labels is not None:
            names = ("classes", "joined", "misspelt", "small")
            facts["target"] |= {name: getattr(labels, name) for name in names}
            facts["target"]["unlabelled"] = sum(labels.unlabelled.values())
    return facts


def _column_facts(column: Column, location: Location) -> dict[str, Any]:
    names = ("name", "type", "becomes", "dropped", "missing", "distinct", "examples")
    failures = column.failures
    return {name: getattr(column, name) for name in names} | {
        "unit": column.number.unit,
        "warnings": _warnings(column, location),
        "failures": [
            {"row": cell.row + 1, "location": location(cell.row), "cell": cell.text}
            for cell in failures.first
        ],
        "n_failures": failures.count,
        "options": " or ".join(map(out.flag, column.advice)),
    }
