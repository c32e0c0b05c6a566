"""From a survey to a schema: what one column leaves open, the others decide."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pyarrow as pa

from granulearn.tables.columns.column_options import ColumnOptions
from granulearn.tables.columns.dates import DateClass
from granulearn.tables.columns.kinds import NEEDED_SHARE, typed_column
from granulearn.tables.columns.numbers import NumberClass
from granulearn.tables.columns.schema import Column, Schema
from granulearn.tables.columns.survey_records import WORD, ColumnSurvey, TableSurvey
from granulearn.tables.columns.uses import with_use

SHOWN_EXAMPLES = 3


def decide_schema(survey: TableSurvey, options: ColumnOptions | None = None) -> Schema:
    """Return what every column is and becomes.

    Parameters
    ----------
    survey : TableSurvey
        Of all rows; without the target.
    options : ColumnOptions, default=None
        What the user says.
    """
    options = options or ColumnOptions()
    if options.decimal is None:
        options = replace(options, decimal=_usual_decimal(survey))
    if options.day_first is None:
        options = replace(options, day_first=_usual_order(survey))
    return Schema(tuple(decide_column(column, options) for column in survey.columns))


def decide_column(survey: ColumnSurvey, options: ColumnOptions) -> Column:
    """Return what one column is and becomes.

    Parameters
    ----------
    survey : ColumnSurvey
        Of all rows.
    options : ColumnOptions
        What the user says, completed by what the other columns tell.
    """
    survey, like_marks = _with_values_like_marks(survey)
    column = typed_column(survey, options)
    column = replace(
        column,
        values_like_marks=like_marks,
        missing={mark: count for mark, count in survey.missing.items() if count},
        distinct=survey.distinct,
        examples=_examples(survey),
    )
    return with_use(column, survey, options)


def _with_values_like_marks(survey: ColumnSurvey) -> tuple[ColumnSurvey, tuple[str, ...]]:
    """Return the survey with - as a value where + is one, too."""
    if not survey.words or "+" not in survey.words or "-" not in survey.missing:
        return survey, ()
    count = survey.missing["-"]
    words = survey.words | {"-": count}
    tally = survey.classes[WORD]
    return replace(
        survey,
        missing={mark: n for mark, n in survey.missing.items() if mark != "-"},
        words=words,
        classes=survey.classes | {WORD: replace(tally, count=tally.count + count)},
        sketch=survey.sketch.with_cells(pa.array(["-"])),
    ), ("-",)


def _usual_decimal(survey: TableSurvey) -> str:
    """Return the sign before decimals in the columns that leave no doubt."""
    votes: Counter[str] = Counter()
    for column in survey.columns:
        numbers = column.counts(NumberClass)
        in_doubt = sum(numbers.values()) < NEEDED_SHARE * column.known
        if in_doubt or "number" in column.stored:  # what a file stores as numbers has no sign
            continue
        point = sum(count for kind, count in numbers.items() if not kind.comma)
        comma = sum(count for kind, count in numbers.items() if not kind.point)
        if point != comma:
            votes["." if point > comma else ","] += 1
    return "," if votes[","] > votes["."] else "."


def _usual_order(survey: TableSurvey) -> bool | None:
    """Return whether days come first in the columns that leave no doubt; None if there are none."""
    votes: Counter[str] = Counter()
    for column in survey.columns:
        dates = column.counts(DateClass)
        if sum(dates.values()) < NEEDED_SHARE * column.known:
            continue
        for kind, count in dates.items():
            if kind.order in ("day", "month"):
                votes[kind.order] += count
    return None if not votes else votes["day"] >= votes["month"]


def _examples(survey: ColumnSurvey) -> tuple[str, ...]:
    cells = sorted(cell for tally in survey.classes.values() for cell in tally.first)
    texts = [*(cell.text for cell in cells), *(survey.words or ())]
    return tuple(dict.fromkeys(texts))[:SHOWN_EXAMPLES]
