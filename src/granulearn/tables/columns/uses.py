"""The rules by which a column is of no use: a constant, a number of its row, an ID, a text."""

from __future__ import annotations

import re
from dataclasses import replace

from granulearn.tables.columns.column_options import ColumnOptions
from granulearn.tables.columns.kinds import MANY, NEEDED_SHARE, are_codes
from granulearn.tables.columns.numbers import NumberClass
from granulearn.tables.columns.schema import (
    ASKED,
    CATEGORY,
    CONSTANT,
    EMPTY,
    FREE_TEXT,
    ID,
    NESTED,
    NO_CELLS,
    NO_SINGLE_VALUE,
    NUMBER,
    ROW_NUMBER,
    TEXT,
    YES_NO,
    Column,
)
from granulearn.tables.columns.survey_records import WORD, ColumnSurvey
from granulearn.tables.messages import Setting

# Fewer rows do not tell whether a column is an ID or a constant by chance.
ENOUGH_ROWS = 20
NEARLY_ALL = 0.95
BLANKS_OF_SENTENCES = 3
LETTERS_OF_SENTENCES = 60
# The last word of a name tells; the number of visitors is none of theirs.
_ID_NAME = re.compile(
    r"(?:^|[^a-z])(?:id|ids|nr|no|num|number|key|uuid|guid|ref)[^a-z]*$|^id(?:[^a-z]|$)"
    r"|(?:customer|client|user|order|account|patient|person|employee|student|product|item|case"
    r"|record|row|transaction|session|passenger|member)id[^a-z]*$|[a-z]{3}(?:nr|nummer)[^a-z]*$"
)


def with_use(column: Column, survey: ColumnSurvey, options: ColumnOptions) -> Column:
    """Return the column as used or as left out, with the reason.

    Parameters
    ----------
    column : Column
        With its kind and form.
    survey : ColumnSurvey
        Of all rows.
    options : ColumnOptions
        What the user says.
    """
    if column.name in options.ignore:
        return leave_out(column, ASKED)
    if column.kind == NESTED:
        return leave_out(column, NO_SINGLE_VALUE)
    if column.kind == EMPTY:
        return leave_out(column, NO_CELLS)
    if column.left_out or column.name in options.include or column.name in options.categorical:
        return column
    if survey.distinct == 1 and survey.rows > 1:
        return _filled_or_not(column, survey)
    if survey.rows < ENOUGH_ROWS:
        return column
    if column.kind == NUMBER:
        reason = _number_without_meaning(column, survey)
        return leave_out(column, reason) if reason else column
    if column.kind == CATEGORY:
        reason = _text_without_meaning(survey)
        if reason:
            return leave_out(replace(column, kind=TEXT), reason)
    return column


def leave_out(column: Column, reason: str) -> Column:
    """Return a column that is not used.

    Parameters
    ----------
    column : Column
        As decided by its own cells.
    reason : str
        Why.
    """
    never = reason in (ASKED, NO_CELLS, NO_SINGLE_VALUE)
    remedy = () if never else (Setting("include", (column.name,)),)
    return replace(column, left_out=reason, remedy=remedy)


def _filled_or_not(column: Column, survey: ColumnSurvey) -> Column:
    """Return a column of one value: a box that is ticked or not, or a constant."""
    few = (1 - NEEDED_SHARE) * survey.rows
    if survey.rows < ENOUGH_ROWS or not few < survey.known < survey.rows - few:
        return leave_out(column, CONSTANT)
    remedy = (Setting("ignore", (column.name,)),)
    return replace(column, kind=YES_NO, filled=True, remedy=remedy)


def _number_without_meaning(column: Column, survey: ColumnSurvey) -> str:
    if column.number.unit or not survey.all_whole or survey.lowest < 0:
        return ""
    all_different = survey.distinct >= NEARLY_ALL * survey.known
    if survey.known == survey.rows:
        dense = survey.highest - survey.lowest + 1 == survey.rows
        if survey.steps or (dense and all_different):
            return ROW_NUMBER
    looks_like_id = _ID_NAME.search(_spaced(column.name)) is not None
    return ID if all_different and looks_like_id and survey.known >= ENOUGH_ROWS else ""


def _text_without_meaning(survey: ColumnSurvey) -> str:
    words = survey.count(WORD)
    sentences = survey.blanks >= BLANKS_OF_SENTENCES * words > 0
    sentences = sentences or survey.letters > LETTERS_OF_SENTENCES * words > 0
    if sentences and survey.distinct >= MANY * survey.known:
        return FREE_TEXT
    mostly_words = words > MANY * survey.known or are_codes(
        survey.counts(NumberClass), survey.known
    )
    all_different = survey.distinct >= NEARLY_ALL * survey.known
    return ID if survey.known >= ENOUGH_ROWS and all_different and mostly_words else ""


def _spaced(name: str) -> str:
    """Return a name in small letters, with a blank where a CamelCase word begins."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).lower()
