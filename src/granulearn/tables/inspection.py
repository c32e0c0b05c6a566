"""Report on a table before training: a pass for types and labels, a second one for checks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa

from granulearn.tables.checks import CheckStatistics, Findings, check_rows, find
from granulearn.tables.infer import (
    LONG,
    LONGEST_CATEGORY,
    ColumnOptions,
    ColumnProfile,
    drop_column,
    infer_schema,
    profile_column,
)
from granulearn.tables.io.table_file import TableFile, similar_names
from granulearn.tables.labels import (
    LabelProfile,
    Labels,
    decide_labels,
    profile_labels,
    read_labels,
)
from granulearn.tables.messages import Message, Setting, any_of
from granulearn.tables.schema import CATEGORY, NESTED, Column, Schema
from granulearn.utils.text import listed

# Columns of the output of our own commands.
_OWN_OUTPUTS = {
    "audit": {"given_label", "label_quality", "predicted_label", "is_label_issue"},
    "balls": {"ball", "purity", "radius", "membership", "first_row"},
    "predict": {"prediction", "probability_"},
}


@dataclass(frozen=True, eq=False)
class FirstPass:
    """Profiles of the columns and labels of some rows; `+` adds later rows."""

    rows: int
    columns: tuple[ColumnProfile, ...]
    labels: LabelProfile | None

    def __add__(self, later: FirstPass) -> FirstPass:
        columns = (own + other for own, other in zip(self.columns, later.columns, strict=True))
        labels = self.labels + later.labels if self.labels and later.labels else None
        return FirstPass(self.rows + later.rows, tuple(columns), labels)


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
    notes: tuple[str, ...]
    """What the reader of the file guessed or changed."""
    problems: tuple[str, ...]
    """Why nothing can be learned from the table, and what to do."""
    warnings: tuple[str, ...]
    """Doubtful labels, possible leakage, duplicates."""


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
        Options for the columns.
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
    """Profile the cells and labels of some rows; return None if there is no batch."""
    total = None
    for batch in batches:
        inputs = (name for name in batch.schema.names if name != target)
        columns = tuple(profile_column(name, batch[name], first_row) for name in inputs)
        labels = profile_labels(batch[target], target) if target else None
        part = FirstPass(batch.num_rows, columns, labels)
        total = total + part if total else part
        first_row += batch.num_rows
    return total


def second_pass(
    batches: Iterable[pa.RecordBatch], report: TableReport, first_row: int = 0
) -> CheckStatistics | None:
    """Count leakage, duplicates and conflicts in some rows, by the report of the first pass."""
    total, labels = None, report.labels or Labels()
    for batch in batches:
        names = read_labels(batch[report.target], labels) if report.labels else None
        typed = report.schema.read(batch, first_row)
        part = check_rows(typed, names, report.schema, list(labels.classes), first_row)
        total = total + part if total else part
        first_row += batch.num_rows
    return total


def report_first(
    file: TableFile, profiles: FirstPass | None, target: str | None, options: ColumnOptions
) -> TableReport:
    """Return the report after the first pass; the target must be in the table."""
    empty = TableReport(file.path, 0, Schema(()), target, None, None, file.notes, (), ())
    if profiles is None:
        return replace(empty, problems=(f"{file.path} has a header but no data rows; add rows.",))
    schema = infer_schema(profiles.columns, options)
    problems, warnings = _column_messages(file, profiles.columns, schema, options)
    labels = None
    if profiles.labels is not None and target is not None:
        labels = decide_labels(profiles.labels, target, exact=options.exact_labels)
        problems = [*labels.problems, *problems]
        warnings = [*labels.warnings, *warnings]
    if not schema.used:
        problems.append(_no_inputs(schema.dropped, target))
    return replace(
        empty, rows=profiles.rows, schema=schema, labels=labels, problems=tuple(problems),
        warnings=tuple(warnings),
    )  # fmt: skip


def report_second(
    report: TableReport, statistics: CheckStatistics | None, options: ColumnOptions
) -> TableReport:
    """Return the report after the second pass, which drops columns that leak the target."""
    if statistics is None:
        return report
    classes = list(report.labels.classes) if report.labels else []
    findings = find(statistics, report.schema, classes, options.include)
    columns = tuple(
        drop_column(column, "target leakage") if column.name in findings.leaks else column
        for column in report.schema.columns
    )
    warnings = (*report.warnings, *findings.warnings)
    return replace(report, schema=Schema(columns), findings=findings, warnings=warnings)


def problems_of_names(
    names: Sequence[str], target: str | None, options: ColumnOptions
) -> tuple[str, ...]:
    """Return the problems of the columns that options name, and of the header."""
    asked = [name for name in names if name not in options.ignore]
    header = {"probability_" if name.startswith("probability_") else name for name in asked}
    own = [verb for verb, output in _OWN_OUTPUTS.items() if output <= header]
    if own:
        return (
            f"The table looks like output of `granulearn {own[0]}`, not like data to learn from "
            f"(its columns are {', '.join(map(repr, names[:6]))}, ...): name the table itself.",
        )
    wanted = [("target", target)] if target is not None else []
    for setting in ("categorical", "ignore", "include"):
        wanted += [(setting, name) for name in getattr(options, setting)]
    problems = [no_column(name, names, Setting(n)) for n, name in wanted if name not in names]
    if target is not None and target in options.ignore:
        both = f"{target!r} is both the target and to be ignored; take it out of "
        another = (Setting("ignore"), ", or name another ", Setting("target"), ".")
        problems.append(Message(both, *another))
    return tuple(problems)


def no_column(name: str, names: Sequence[str], setting: Setting) -> Message:
    """Return the message for a setting that names an unknown column."""
    similar = similar_names(name, names) or list(names[:10])
    return Message(f"There is no column {name!r} (", setting, f"); did you mean one of {similar}?")


def _no_inputs(dropped: Sequence[Column], target: str | None) -> Message:
    found = f"there is only {target!r}, the target"
    if dropped:
        found = f"all are dropped: {listed([f'{c.name!r} ({c.dropped})' for c in dropped])}"
    steps = [Message("pass ", any_of(c.advice), ", or ") for c in dropped if c.advice]
    about = f"There is no column to learn from, since {found}; "
    return Message(about, *steps[:1], "add columns.")


def _column_messages(
    file: TableFile, profiles: Sequence[ColumnProfile], schema: Schema, options: ColumnOptions
) -> tuple[list[str], list[str]]:
    """Return problems and warnings of columns whose cells cannot be inputs."""
    problems: list[str] = []
    nested = [c.name for c in schema.columns if c.type == NESTED and c.name not in options.ignore]
    plain = "make plain columns of them"
    for setting in ("include", "categorical"):
        asked = tuple(name for name in nested if name in getattr(options, setting))
        nested = [name for name in nested if name not in asked]
        if asked:
            about = f"Lists, maps or bytes cannot be inputs; {plain}, or leave out "
            problems.append(Message(about, Setting(setting, asked), "."))
    for column, profile in zip(schema.columns, profiles, strict=True):
        if column.type == CATEGORY and not column.dropped and LONG in profile.classes:
            about = (
                f"Column {column.name!r} holds a text of more than {LONGEST_CATEGORY:,} characters "
                f"at {file.location(profile.classes[LONG].first[0].row)}, the most that a category "
                "has; correct it, or pass "
            )
            problems.append(Message(about, Setting("ignore", (column.name,)), "."))
    shown = listed([repr(name) for name in nested])
    warning = f"Columns of lists, maps or bytes are dropped: {shown}; {plain}."
    return problems, [warning] if nested else []
