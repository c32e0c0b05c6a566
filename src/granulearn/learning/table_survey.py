"""What a table in parts holds: kinds of columns, statistics, labels, as mergeable sums."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from granulearn.datasets import TableError
from granulearn.learning.table_cells import (
    NotANumberError,
    as_categories,
    as_numbers,
    as_text,
    spells_number,
)
from granulearn.learning.table_parts import TablePart, TableParts
from granulearn.learning.training_table import (
    MAX_CATEGORIES,
    check_no_dates,
    check_no_decimal_commas,
    check_not_too_large,
    feature_names,
    labels_are_whole_numbers,
)
from granulearn.persistence import ColumnCard

# Values that a part remembers of a column of numbers, evenly spaced in rank, for its median.
_REMEMBERED = 33


@dataclass(frozen=True)
class Request:
    """What the user asked for; it is the same in every part."""

    target: str
    names: tuple[str, ...]
    categorical: frozenset[str]
    test: float
    seed: int


def make_request(
    table: TableParts,
    target: str,
    categorical: Sequence[str],
    ignore: Sequence[str],
    *,
    test: float,
    seed: int,
) -> Request:
    """Return what is to be learnt from a table; raise where it lacks a column.

    Parameters
    ----------
    table : TableParts
        The table.
    target : str
        The column of labels.
    categorical, ignore : sequence of str
        Columns of categories, and columns to leave out.
    test : float
        Share of the rows to hold out.
    seed : int
        Seed of everything random.
    """
    names = feature_names(table, target, categorical, ignore)
    return Request(target, tuple(names), frozenset(categorical), test, seed)


class Seen(NamedTuple):
    """A cell, and the part in which it stands."""

    cell: str
    place: str

    def __str__(self) -> str:
        """Return both, for messages."""
        return f"{self.cell!r} in {self.place}"


@dataclass(frozen=True, eq=False)
class ColumnSurvey:
    """One column over some rows; kinds are told from all rows, the rest from training rows."""

    name: str
    is_category: bool
    """Whether the type of the column, or the user, says that it holds categories."""
    number: Seen | None = None
    """A cell that is a number, if there is one."""
    text: Seen | None = None
    """A cell that is no number, if there is one."""
    stored_as_categories: str | None = None
    """A part whose file stores the column as categories, if the user has not said so anyway."""
    read_as_numbers: str | None = None
    """A part in which every cell is a number."""
    n: int = 0
    """Training rows in which the cell is not empty."""
    missing: int = 0
    mean: float = 0.0
    squares: float = 0.0
    """Sum of squared deviations from the mean."""
    lowest: float = np.inf
    highest: float = -np.inf
    remembered: np.ndarray = field(default_factory=lambda: np.empty((0, 2)))
    """Values, each with the number of cells that it stands for."""
    categories: Counter = field(default_factory=Counter)

    @property
    def median(self) -> float:
        """The middle of the remembered values; exact for a single part."""
        if not self.n:
            return 0.0
        values, weights = self.remembered[np.argsort(self.remembered[:, 0])].T
        reached = np.cumsum(weights)
        return float(values[np.searchsorted(reached, reached[-1] / 2)])

    @property
    def kind(self) -> str:
        """What the column holds: a "number" or a "category"."""
        return "category" if self.is_category or self.text is not None else "number"


@dataclass(frozen=True, eq=False)
class TableSurvey:
    """All columns and the labels, over some rows."""

    columns: tuple[ColumnSurvey, ...]
    labels: Counter
    """Rows of each label, held out or not."""
    train_labels: Counter
    unlabelled: int


@dataclass(frozen=True, eq=False)
class PartRows:
    """The rows of a part that have a label, and which of them are held out."""

    columns: dict[str, pa.Array]
    labels: pa.Array
    kept: np.ndarray
    held_out: np.ndarray
    unlabelled: int


def survey_part(part: TablePart, number: int, request: Request) -> TableSurvey:
    """Look at the rows of one part.

    Parameters
    ----------
    part : TablePart
        Some rows.
    number : int
        Number of the part; it decides which rows are held out.
    request : Request
        What the user asked for.
    """
    rows = read_rows(part, number, request)
    training = rows.kept[~rows.held_out]
    train_labels = Counter(rows.labels.filter(pa.array(~rows.held_out)).to_pylist())
    columns = tuple(
        _survey_column(part, name, rows.columns[name], training, name in request.categorical)
        for name in request.names
    )
    return TableSurvey(columns, Counter(rows.labels.to_pylist()), train_labels, rows.unlabelled)


def read_rows(part: TablePart, number: int, request: Request) -> PartRows:
    """Read a part and choose the rows that are held out, the same ones every time.

    Parameters
    ----------
    part : TablePart
        Some rows.
    number : int
        Number of the part.
    request : Request
        What the user asked for.
    """
    columns = part.read([request.target, *request.names])
    check_no_dates(part.place, request.target, columns[request.target])
    labels = as_text(columns.pop(request.target))
    kept = np.flatnonzero(labels.is_valid().to_numpy(zero_copy_only=False))
    chance = np.random.default_rng([request.seed, number]).random(len(kept))
    unlabelled = len(labels) - len(kept)
    return PartRows(columns, labels.take(pa.array(kept)), kept, chance < request.test, unlabelled)


def features_and_labels(
    rows: PartRows, chosen: np.ndarray, kinds: dict[str, str], whole: bool
) -> tuple[pd.DataFrame, np.ndarray]:
    """Return some of a part's labelled rows, as the pipeline of a model takes them.

    Parameters
    ----------
    rows : PartRows
        All labelled rows.
    chosen : ndarray of bool
        Which to return.
    kinds : dict
        Kind of each column.
    whole : bool
        Whether labels are whole numbers.
    """
    read: dict[str, Any] = {"number": as_numbers, "category": as_categories}
    places = rows.kept[chosen]
    frame = pd.DataFrame(
        {name: read[kind](rows.columns[name])[places] for name, kind in kinds.items()}
    )
    labels = rows.labels.filter(pa.array(chosen)).to_pylist()
    y = np.array(list(map(int, labels)), dtype=int) if whole else np.array(labels, dtype=str)
    return frame, y


def join_surveys(first: TableSurvey, second: TableSurvey) -> TableSurvey:
    """Return what both parts hold.

    Parameters
    ----------
    first, second : TableSurvey
        The surveys of earlier and of later rows.
    """
    columns = tuple(map(_join_columns, first.columns, second.columns))
    return TableSurvey(
        columns,
        first.labels + second.labels,
        first.train_labels + second.train_labels,
        first.unlabelled + second.unlabelled,
    )


def check_survey(survey: TableSurvey, path: Any, target: str) -> bool:
    """Raise unless the table can be learnt from; return whether labels are whole numbers.

    Parameters
    ----------
    survey : TableSurvey
        The survey of the whole table.
    path : Path
        The table, for messages.
    target : str
        The column of labels.
    """
    whole = labels_are_whole_numbers(path, target, sorted(survey.labels))
    lacking = sorted(set(survey.labels) - set(survey.train_labels))
    if lacking:
        raise TableError(
            f"{path}: class {lacking[0]} of column {target!r}, the target, has no row left to "
            "learn from; add rows of it, or pass --test 0."
        )
    for column in survey.columns:
        _check_column(column, path)
    return whole


def card_of(column: ColumnSurvey) -> ColumnCard:
    """Return what a model card says about a column.

    Parameters
    ----------
    column : ColumnSurvey
        Over all training rows.
    """
    if column.kind == "category":
        names = tuple(sorted(column.categories))
        return ColumnCard(column.name, "category", column.missing, categories=names)
    if not column.n:
        return ColumnCard(column.name, "number", column.missing)
    return ColumnCard(column.name, "number", column.missing, column.lowest, column.highest)


def _survey_column(
    part: TablePart, name: str, column: pa.Array, training: np.ndarray, as_category: bool
) -> ColumnSurvey:
    check_no_dates(part.place, name, column)
    if as_category:
        return _survey_text(part, name, column, training, is_category=True)
    if pa.types.is_boolean(column.type) or pa.types.is_dictionary(column.type):
        seen = _survey_text(part, name, column, training, is_category=True)
        return replace(seen, stored_as_categories=part.place)
    try:
        values = as_numbers(column)
    except NotANumberError as error:
        seen = _survey_text(part, name, column, training, is_category=False)
        return replace(seen, text=Seen(error.cell, part.place))
    check_not_too_large(part.place, name, values)
    return _survey_numbers(part, name, values, training)


def _survey_text(
    part: TablePart, name: str, column: pa.Array, training: np.ndarray, *, is_category: bool
) -> ColumnSurvey:
    cells = as_categories(column)
    numbers = (Seen(cell, part.place) for cell in cells.categories if spells_number(cell))
    number = next(numbers, None)
    counts = Counter(cells[training].dropna().tolist()) if len(training) else Counter()
    n = counts.total()
    few = Counter(dict(counts.most_common(MAX_CATEGORIES + 1)))
    missing = len(training) - n
    return ColumnSurvey(name, is_category, number, n=n, missing=missing, categories=few)


def _survey_numbers(
    part: TablePart, name: str, values: np.ndarray, training: np.ndarray
) -> ColumnSurvey:
    everything = values[~np.isnan(values)]
    number = Seen(f"{everything[0]:g}", part.place) if len(everything) else None
    place = part.place if number else None
    known = values[training]
    known = known[~np.isnan(known)]
    missing = len(training) - len(known)
    if not len(known):
        return ColumnSurvey(name, False, number, read_as_numbers=place, missing=missing)
    mean = known.mean()
    remembered = np.quantile(known, np.linspace(0, 1, _REMEMBERED))
    return ColumnSurvey(
        name,
        is_category=False,
        number=number,
        read_as_numbers=place,
        n=len(known),
        missing=missing,
        mean=float(mean),
        squares=float(((known - mean) ** 2).sum()),
        lowest=float(known.min()),
        highest=float(known.max()),
        remembered=np.column_stack([remembered, np.full(_REMEMBERED, len(known) / _REMEMBERED)]),
    )


def _join_columns(first: ColumnSurvey, second: ColumnSurvey) -> ColumnSurvey:
    n = first.n + second.n
    gap = second.mean - first.mean
    share = second.n / n if n else 0.0
    return ColumnSurvey(
        name=first.name,
        is_category=first.is_category or second.is_category,
        number=first.number or second.number,
        text=first.text or second.text,
        stored_as_categories=first.stored_as_categories or second.stored_as_categories,
        read_as_numbers=first.read_as_numbers or second.read_as_numbers,
        n=n,
        missing=first.missing + second.missing,
        mean=first.mean + gap * share,
        squares=first.squares + second.squares + gap**2 * first.n * share,
        lowest=min(first.lowest, second.lowest),
        highest=max(first.highest, second.highest),
        remembered=np.concatenate([first.remembered, second.remembered]),
        categories=first.categories + second.categories,
    )


def _check_column(column: ColumnSurvey, path: Any) -> None:
    if column.stored_as_categories and column.read_as_numbers:
        raise TableError(
            f"{path}: column {column.name!r} is stored as categories in "
            f"{column.stored_as_categories}, but holds numbers in {column.read_as_numbers}; store "
            f"it alike in all files, or pass --categorical {column.name!r} if all are categories."
        )
    if column.number and column.text and not column.is_category:
        raise TableError(
            f"{path}: column {column.name!r} mixes numbers and text: {column.text}, "
            f"{column.number}; correct the cells, or pass --categorical {column.name!r} if all "
            "are categories."
        )
    if column.kind == "category":
        if not column.is_category:
            check_no_decimal_commas(path, column.name, list(column.categories))
        if len(column.categories) > MAX_CATEGORIES:
            raise TableError(
                f"{path}: column {column.name!r} holds more than {MAX_CATEGORIES} different texts; "
                "it looks like a name or a number of its row: pass "
                f"--ignore {column.name!r}."
            )
