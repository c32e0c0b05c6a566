"""Everything to know about a table before a model learns from it: two looks and a report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from granulearn.tables.column_options import ColumnOptions
from granulearn.tables.errors import TableError
from granulearn.tables.faults.examination import (
    Examination,
    Findings,
    examine,
    find,
    join_examinations,
)
from granulearn.tables.faults.fault_remarks import (
    said_leaks,
    said_named,
    said_near,
    said_predictions,
    said_repeats,
    said_separated,
)
from granulearn.tables.infer import infer_schema, leave_out
from granulearn.tables.io.naming import similar_names
from granulearn.tables.io.table_file import TableFile
from granulearn.tables.labels.labels import (
    Labels,
    LabelSurvey,
    decide_labels,
    join_label_surveys,
    read_labels,
    survey_labels,
)
from granulearn.tables.messages import Message, Setting, any_of
from granulearn.tables.parse.cells import is_nested
from granulearn.tables.profile import LONGEST_CATEGORY, TableProfile, profile_batches
from granulearn.tables.schema import CATEGORY, GIVES_AWAY, NESTED, ROW_NUMBER, Schema

# A column of more different values is no code of the target.
FEW_VALUES = 1000
LONGEST_LABEL = 1000
# Headers by which our own outputs are known: of suspects, of balls, of predictions.
_OWN_OUTPUTS = {
    "audit": {"given", "reliability", "suggested", "flagged"},
    "balls": {"ball", "purity", "radius", "membership", "first_row"},
}


@dataclass(frozen=True, eq=False)
class FirstLook:
    """What one pass over some rows tells: cells and labels."""

    cells: TableProfile
    labels: LabelSurvey | None

    def __add__(self, later: FirstLook) -> FirstLook:
        """Return the look at these rows and at those that follow."""
        labels = None
        if self.labels is not None and later.labels is not None:
            labels = join_label_surveys(self.labels, later.labels)
        return FirstLook(self.cells + later.cells, labels)


@dataclass(frozen=True, eq=False)
class TableReport:
    """All that was found out about a table.

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
    remarks: tuple[str, ...]
    """What the reader of the file decided."""
    problems: tuple[str, ...]
    """Why nothing can be learned from the table; each with what to do."""
    warnings: tuple[str, ...]
    """What could lead to a wrong conclusion."""


def first_look(
    batches: Iterable[pa.RecordBatch],
    target: str | None,
    first_row: int = 0,
) -> FirstLook | None:
    """Look at the cells of some rows; return None if there are none.

    Parameters
    ----------
    batches : iterable of RecordBatch
        Rows in file order, all columns.
    target : str or None
        The column of labels.
    first_row : int, default=0
        Number of the first row in the table.
    """
    labels: list[LabelSurvey] = []

    def without_labels() -> Iterator[pa.RecordBatch]:
        row = first_row
        for batch in batches:
            if target is not None and batch.num_rows:
                column = batch.column(target)
                _check_labels(column, target, row)
                labels.append(survey_labels(column, row))
            row += batch.num_rows
            yield batch.drop_columns([target]) if target is not None else batch

    cells = profile_batches(without_labels(), first_row)
    if cells is None:
        return None
    return FirstLook(cells, reduce(join_label_surveys, labels) if labels else None)


def _check_labels(column: pa.Array, target: str, first_row: int) -> None:
    """Refuse cells that cannot be the names of classes."""
    if is_nested(column.type):
        raise TableError(
            f"Column {target!r}, the target, holds lists or bytes ({column.type}), not "
            "one label per row; choose another column."
        )
    texts = column.dictionary if pa.types.is_dictionary(column.type) else column
    if not pa.types.is_string(texts.type):
        return
    longest = pc.max(pc.utf8_length(texts)).as_py() or 0
    if longest > LONGEST_LABEL:
        raise TableError(
            f"Column {target!r}, the target, holds a text of {longest:,} characters, and the name "
            f"of a class has at most {LONGEST_LABEL:,}; choose another column, or shorten its "
            "texts."
        )


def second_look(
    batches: Iterable[pa.RecordBatch], schema: Schema, target: str | None, labels: Labels | None
) -> Examination | None:
    """Look for what could give a false all-clear; return None if there are no rows.

    Parameters
    ----------
    batches : iterable of RecordBatch
        Rows in file order.
    schema : Schema
        What their columns become.
    target : str or None
        The column of labels.
    labels : Labels or None
        What was decided about it.
    """
    few = few_values(schema)
    examination = None
    for batch in batches:
        classes = None
        if target is not None and labels is not None:
            classes = read_labels(batch.column(target), labels)
        part = examine(schema.read(batch).cells, classes, few=few)
        examination = part if examination is None else join_examinations(examination, part)
    return examination


def few_values(schema: Schema) -> set[str]:
    """Return the features that may be a code of the target.

    Parameters
    ----------
    schema : Schema
        Of the table.
    """
    return {
        name
        for column in schema.used
        if column.distinct <= FEW_VALUES
        for name in column.feature_names
    }


def inspect_table(
    file: TableFile, target: str | None = None, options: ColumnOptions | None = None
) -> TableReport:
    """Return all there is to say about a table, in constant memory.

    Parameters
    ----------
    file : TableFile
        The table.
    target : str, default=None
        The column of labels, if there is one.
    options : ColumnOptions, default=None
        What the user says about the columns.

    See Also
    --------
    granulearn.TableClassifier : Learns from what was found.

    Examples
    --------
    >>> from granulearn.tables import inspect_table, table_of
    >>> report = inspect_table(table_of({"paid": ["yes", "no", "yes"], "id": ["k1", "k2", "k3"]}))
    >>> {column.name: column.becomes for column in report.schema.columns}
    {'paid': '1 for yes, 0 for no', 'id': 'a category'}
    """
    options = options or ColumnOptions()
    problems = problems_of_names(file.names, target, options)
    known_target = target if target in file.names else None
    look = first_look(file.batches(), known_target)
    report = report_first(file, look, known_target, options)
    if not report.problems:
        examined = second_look(file.batches(), report.schema, known_target, report.labels)
        report = report_second(report, examined, options)
    return replace(report, target=target, problems=(*problems, *report.problems))


def problems_of_names(
    names: Sequence[str], target: str | None, options: ColumnOptions
) -> tuple[str, ...]:
    """Return what is wrong with the columns that were named, and with the header.

    Parameters
    ----------
    names : sequence of str
        The columns of the table.
    target : str or None
        The column of labels.
    options : ColumnOptions
        What the user says about the columns.
    """
    # Whoever leaves such columns out knows what they are.
    own = _own_output([name for name in names if name not in options.ignore])
    if own:
        return (
            f"The table looks like what `granulearn {own}` writes, not like data to learn from "
            f"(its columns are {', '.join(map(repr, names[:6]))}, ...): name the table itself.",
        )
    asked = {
        Setting("target"): () if target is None else (target,),
        Setting("categorical"): options.categorical,
        Setting("ignore"): options.ignore,
        Setting("include"): options.include,
    }
    problems = [
        no_column(name, names, setting)
        for setting, asked_for in asked.items()
        for name in asked_for
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
        What the user wrote.
    names : sequence of str
        The columns of the table.
    setting : Setting
        Where it was written.
    """
    similar = similar_names(name, names) or list(names[:10])
    asked = f"There is no column {name!r} ("
    return Message(asked, setting, f"); did you mean one of {similar}?")


def _about_nested(schema: Schema, options: ColumnOptions) -> tuple[list[Message], list[str]]:
    """Return what to say of columns of lists, maps or bytes: those asked for, and the others."""
    problems: list[Message] = []
    others: list[str] = []
    for column in schema.columns:
        if column.kind != NESTED or column.name in options.ignore:
            continue
        asked = []
        if column.name in options.include:
            asked.append(Setting("include", (column.name,)))
        if column.name in options.categorical:
            asked.append(Setting("categorical", (column.name,)))
        if asked:
            said = f"Column {column.name!r} holds lists, maps or bytes, of which no input can be "
            problems.append(
                Message(
                    said, "made; make plain columns of it, or leave out ", any_of(tuple(asked)), "."
                )
            )
        else:
            others.append(column.name)
    if not others:
        return problems, []
    named = ", ".join(map(repr, others[:10])) + (", ..." if len(others) > 10 else "")
    hold, are = ("holds", "is") if len(others) == 1 else ("hold", "are")
    return problems, [
        f"{named} {hold} lists, maps or bytes, and {are} left out; make plain columns of them if "
        "they matter."
    ]


def _about_long(file: TableFile, cells: TableProfile, schema: Schema) -> list[Message]:
    """Return the problems of columns that hold a text where categories are wanted."""
    problems = []
    first_long = {column.name: column.first_long for column in cells.columns}
    for column in schema.used:
        long = first_long[column.name]
        if column.kind == CATEGORY and long is not None:
            said = (
                f"Column {column.name!r} holds a text of {long.letters:,} characters at "
                f"{file.place(long.row)}, and a category has at most {LONGEST_CATEGORY:,}; correct "
                "it, or pass "
            )
            problems.append(Message(said, Setting("ignore", (column.name,)), "."))
    return problems


def report_first(
    file: TableFile, look: FirstLook | None, target: str | None, options: ColumnOptions
) -> TableReport:
    """Return what the first look tells.

    Parameters
    ----------
    file : TableFile
        The table.
    look : FirstLook or None
        At all rows.
    target : str or None
        The column of labels; it is there.
    options : ColumnOptions
        What the user says about the columns.
    """
    rows = look.cells.rows if look else 0
    schema = infer_schema(look.cells, options) if look else Schema(())
    labels = None
    problems: list[str] = [] if look else [f"{file.path} has a header but no data rows; add rows."]
    warnings: list[str] = []
    if look and look.labels is not None and target is not None:
        labels = decide_labels(look.labels, target, exact=options.exact_labels)
        problems += labels.problems
        warnings += labels.warnings
    nested_problems, nested_warnings = _about_nested(schema, options)
    problems += nested_problems
    problems += _about_long(file, look.cells, schema) if look else []
    warnings += nested_warnings
    if look and not schema.used:
        left = ", ".join(f"{c.name!r} ({c.left_out})" for c in schema.left_out[:10])
        found = f"all are left out: {left}" if left else f"there is none but {target!r}, the target"
        remedy = next((column.remedy for column in schema.left_out if column.remedy), ())
        step = Message("; pass ", any_of(remedy), ", or") if remedy else ";"
        found = f"There is no column to learn from, since {found}"
        problems.append(Message(found, step, " add columns."))
    return TableReport(
        file.path,
        rows,
        schema,
        target,
        labels,
        None,
        file.remarks,
        tuple(problems),
        tuple(warnings),
    )


def report_second(
    report: TableReport, examination: Examination | None, options: ColumnOptions
) -> TableReport:
    """Return what both looks tell: columns that give the target away are left out.

    Parameters
    ----------
    report : TableReport
        What the first look told.
    examination : Examination or None
        The second look, at all rows.
    options : ColumnOptions
        What the user says about the columns.
    """
    if examination is None:
        return report
    findings = find(examination)
    warnings = list(report.warnings)
    of_feature = {name: c.name for c in report.schema.used for name in c.feature_names}
    leaks = {of_feature[leak.name]: leak for leak in findings.leaks}
    kept = {name for name in leaks if name in options.include}
    if len(leaks) == len(report.schema.used):
        kept = set(leaks)  # nothing would be left
    warnings += said_leaks(leaks, kept)
    separated = dict.fromkeys(of_feature[name] for name in findings.separated)
    warnings += said_separated(name for name in separated if name not in leaks)
    named = {of_feature[name]: share for name, share in findings.named.items()}
    warnings += said_named({name: share for name, share in named.items() if name not in leaks})
    near = {of_feature[name]: share for name, share in findings.near.items()}
    told = {*leaks, *separated, *named}
    warnings += said_near({name: share for name, share in near.items() if name not in told})
    warnings += said_predictions(c.name for c in report.schema.used if c.name not in leaks)
    labelled = report.labels is not None
    warnings += _about_order(report) + said_repeats(findings, labelled=labelled)
    columns = tuple(
        leave_out(column, GIVES_AWAY) if column.name in leaks.keys() - kept else column
        for column in report.schema.columns
    )
    return replace(report, schema=Schema(columns), findings=findings, warnings=tuple(warnings))


def _own_output(names: Sequence[str]) -> str:
    there = set(names)
    for verb, header in _OWN_OUTPUTS.items():
        if header <= there:
            return verb
    if "prediction" in there and any(name.startswith("probability_") for name in names):
        return "predict"
    return ""


def _about_order(report: TableReport) -> list[str]:
    if report.labels is None or not report.labels.sorted_by_label:
        return []
    numbered = [c.name for c in report.schema.columns if c.left_out == ROW_NUMBER]
    found = f" and {numbered[0]!r} numbers them" if numbered else ""
    then = (
        "so the number gives the label away: it is left out."
        if numbered
        else "so any column that grows with the rows gives the label away: leave such out."
    )
    return [f"The rows are sorted by their label{found}, {then}"]
