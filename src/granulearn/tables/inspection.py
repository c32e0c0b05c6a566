"""The report on a table before training: one pass for types and labels, one for checks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from pathlib import Path

import pyarrow as pa

from granulearn.tables.checks import CheckStatistics, Findings, check_rows, find
from granulearn.tables.column_options import ColumnOptions
from granulearn.tables.infer import infer_schema, leave_out
from granulearn.tables.io.table_file import TableFile, similar_names
from granulearn.tables.labels import (
    LabelProfile,
    Labels,
    decide_labels,
    profile_labels,
    read_labels,
)
from granulearn.tables.messages import Message, Setting, any_of, listed
from granulearn.tables.profile import LONGEST_CATEGORY, TableProfile, profile_batches
from granulearn.tables.schema import CATEGORY, GIVES_AWAY, NESTED, Schema

# Headers by which the output of our own commands is known.
_OWN_OUTPUTS = {
    "audit": {"given", "reliability", "suggested", "flagged"},
    "balls": {"ball", "purity", "radius", "membership", "first_row"},
    "predict": {"prediction", "probability_"},
}


@dataclass(frozen=True, eq=False)
class FirstPass:
    """Profiles of the cells and labels of some rows; `+` adds those of the rows that follow."""

    cells: TableProfile
    labels: LabelProfile | None

    def __add__(self, later: FirstPass) -> FirstPass:
        both = self.labels is not None and later.labels is not None
        labels = self.labels + later.labels if both else None  # type: ignore[operator]
        return FirstPass(self.cells + later.cells, labels)


@dataclass(frozen=True, eq=False)
class TableReport:
    """Types, labels, problems and warnings of a table.

    Examples
    --------
    >>> from granulearn.tables import inspect_table, table_of
    >>> report = inspect_table(table_of({"age": [31, 47], "late": ["no", "No "]}), "late")
    >>> report.rows, report.target
    (2, 'late')
    >>> print(report.problems[0][:56])
    Column 'late', the target, is 'No' in every row that has
    """

    path: Path
    rows: int
    schema: Schema
    target: str | None
    labels: Labels | None
    findings: Findings | None
    """Leakage, duplicates and conflicts; None if there are problems."""
    remarks: tuple[str, ...]
    """Decisions of the reader of the file."""
    problems: tuple[str, ...]
    """Why nothing can be learned from the table; each with what to do."""
    warnings: tuple[str, ...]
    """What could lead to a wrong conclusion."""


def inspect_table(
    file: TableFile,
    target: str | None = None,
    options: ColumnOptions | None = None,
    *,
    batches: Iterable[pa.RecordBatch] | None = None,
) -> TableReport:
    """Return the report on a table, in constant memory.

    Parameters
    ----------
    file : TableFile
        The table.
    target : str, default=None
        The column of labels, if there is one.
    options : ColumnOptions, default=None
        What the user says about the columns.
    batches : list of RecordBatch, default=None
        All rows, if they are in memory already; else the file is read twice.

    See Also
    --------
    granulearn.TableClassifier : Learns from the table.

    Examples
    --------
    >>> from granulearn.tables import inspect_table, table_of
    >>> report = inspect_table(table_of({"paid": ["yes", "no", "yes"], "id": ["k1", "k2", "k3"]}))
    >>> {column.name: column.becomes for column in report.schema.columns}
    {'paid': '1 for yes, 0 for no', 'id': 'a category'}
    """
    options = options or ColumnOptions()
    known_target = target if target in file.names else None
    profiles = first_pass(batches or file.batches(), known_target)
    report = report_first(file, profiles, known_target, options)
    if not report.problems:
        statistics = second_pass(batches or file.batches(), report)
        report = report_second(report, statistics, options)
    problems = problems_of_names(file.names, target, options)
    return replace(report, target=target, problems=(*problems, *report.problems))


def first_pass(
    batches: Iterable[pa.RecordBatch], target: str | None, first_row: int = 0
) -> FirstPass | None:
    """Profile the cells and labels of some rows; return None if there are no rows.

    Parameters
    ----------
    batches : iterable of RecordBatch
        Rows in file order, all columns.
    target : str or None
        The column of labels.
    first_row : int, default=0
        Number of the first row in the table.
    """
    labels: list[LabelProfile] = []

    def without_labels() -> Iterator[pa.RecordBatch]:
        row = first_row
        for batch in batches:
            if target is not None:
                labels.append(profile_labels(batch.column(target), target, row))
                batch = batch.drop_columns([target])
            row += batch.num_rows
            yield batch

    cells = profile_batches(without_labels(), first_row)
    return FirstPass(cells, reduce(add, labels) if labels else None) if cells else None


def second_pass(
    batches: Iterable[pa.RecordBatch], report: TableReport, first_row: int = 0
) -> CheckStatistics | None:
    """Count leakage, duplicates and conflicts in some rows; return None if there are no rows.

    Parameters
    ----------
    batches : iterable of RecordBatch
        Rows in file order.
    report : TableReport
        Of the first pass over all rows.
    first_row : int, default=0
        Number of the first row in the table.
    """
    total, labels = None, report.labels or Labels()
    for batch in batches:
        names = read_labels(batch.column(report.target), labels) if report.labels else None
        typed = report.schema.read(batch, first_row)
        part = check_rows(typed, names, report.schema, list(labels.classes), first_row)
        total = part if total is None else total + part
        first_row += batch.num_rows
    return total


def report_first(
    file: TableFile, profiles: FirstPass | None, target: str | None, options: ColumnOptions
) -> TableReport:
    """Return the report after the first pass.

    Parameters
    ----------
    file : TableFile
        The table.
    profiles : FirstPass or None
        Of all rows.
    target : str or None
        The column of labels; it is in the table.
    options : ColumnOptions
        What the user says about the columns.
    """
    empty = TableReport(file.path, 0, Schema(()), target, None, None, file.remarks, (), ())
    if profiles is None:
        return replace(empty, problems=(f"{file.path} has a header but no data rows; add rows.",))
    schema = infer_schema(profiles.cells, options)
    labels = None
    problems, warnings = _column_messages(file, profiles.cells, schema, options)
    if profiles.labels is not None and target is not None:
        labels = decide_labels(profiles.labels, target, exact=options.exact_labels)
        problems = [*labels.problems, *problems]
        warnings = [*labels.warnings, *warnings]
    if not schema.used:
        dropped = [f"{column.name!r} ({column.left_out})" for column in schema.left_out]
        only = f"there is only {target!r}, the target"
        found = f"all are left out: {listed(dropped)}" if dropped else only
        remedies = [
            Message("pass ", any_of(c.remedy), ", or ") for c in schema.left_out if c.remedy
        ]
        about = f"There is no column to learn from, since {found}; "
        problems.append(Message(about, *remedies[:1], "add columns."))
    return replace(
        empty,
        rows=profiles.cells.rows,
        schema=schema,
        labels=labels,
        problems=tuple(problems),
        warnings=tuple(warnings),
    )


def report_second(
    report: TableReport, statistics: CheckStatistics | None, options: ColumnOptions
) -> TableReport:
    """Return the report after both passes: columns that leak the target are left out.

    Parameters
    ----------
    report : TableReport
        After the first pass.
    statistics : CheckStatistics or None
        Of the second pass over all rows.
    options : ColumnOptions
        What the user says about the columns.
    """
    if statistics is None:
        return report
    classes = list(report.labels.classes) if report.labels else []
    findings = find(statistics, report.schema, classes, options.include)
    columns = tuple(
        leave_out(column, GIVES_AWAY) if column.name in findings.leaks else column
        for column in report.schema.columns
    )
    warnings = (*report.warnings, *findings.warnings)
    return replace(report, schema=Schema(columns), findings=findings, warnings=warnings)


def problems_of_names(
    names: Sequence[str], target: str | None, options: ColumnOptions
) -> tuple[str, ...]:
    """Return the problems of columns that were asked for, and of the header.

    Parameters
    ----------
    names : sequence of str
        The columns of the table.
    target : str or None
        The column of labels.
    options : ColumnOptions
        What the user says about the columns.
    """
    asked = [name for name in names if name not in options.ignore]
    header = {"probability_" if name.startswith("probability_") else name for name in asked}
    own = [verb for verb, output in _OWN_OUTPUTS.items() if output <= header]
    if own:
        return (
            f"The table looks like output of `granulearn {own[0]}`, not like data to learn from "
            f"(its columns are {', '.join(map(repr, names[:6]))}, ...): name the table itself.",
        )
    wanted = {"target": () if target is None else (target,)}
    wanted |= {n: getattr(options, n) for n in ("categorical", "ignore", "include")}
    problems = [
        no_column(name, names, Setting(setting))
        for setting, columns in wanted.items()
        for name in columns
        if name not in names
    ]
    if target is not None and target in options.ignore:
        both = f"{target!r} is both the target and to be ignored; take it out of "
        problems.append(
            Message(both, Setting("ignore"), ", or name another ", Setting("target"), ".")
        )
    return tuple(problems)


def no_column(name: str, names: Sequence[str], setting: Setting) -> Message:
    """Return the problem of a name that no column has.

    Parameters
    ----------
    name : str
        As the user wrote it.
    names : sequence of str
        The columns of the table.
    setting : Setting
        Where it was written.
    """
    similar = similar_names(name, names) or list(names[:10])
    return Message(f"There is no column {name!r} (", setting, f"); did you mean one of {similar}?")


def _column_messages(
    file: TableFile, cells: TableProfile, schema: Schema, options: ColumnOptions
) -> tuple[list[str], list[str]]:
    """Return problems and warnings of columns whose cells cannot be inputs."""
    problems: list[str] = []
    nested = [c.name for c in schema.columns if c.kind == NESTED and c.name not in options.ignore]
    for setting in ("include", "categorical"):
        asked = tuple(name for name in nested if name in getattr(options, setting))
        nested = [name for name in nested if name not in asked]
        if asked:
            about = (
                "Lists, maps or bytes cannot be inputs; make plain columns of them, or leave out "
            )
            problems.append(Message(about, Setting(setting, asked), "."))
    for column, profile in zip(schema.columns, cells.columns, strict=True):
        long = profile.first_long
        if column.kind == CATEGORY and not column.left_out and long is not None:
            about = (
                f"Column {column.name!r} holds a text of {long.letters:,} characters at "
                f"{file.place(long.row)}, and a category has at most {LONGEST_CATEGORY:,}; correct "
                "it, or pass "
            )
            problems.append(Message(about, Setting("ignore", (column.name,)), "."))
    shown = listed([repr(name) for name in nested])
    warning = f"Columns of lists, maps or bytes are left out: {shown}; make plain columns of them."
    return problems, [warning] if nested else []
