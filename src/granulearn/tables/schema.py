"""What each column of a table is and becomes: the one record that fit, predict and files share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from granulearn.tables.messages import Setting
from granulearn.tables.parse.cells import (
    as_text,
    is_nested,
    is_number_type,
    stored_numbers,
    without_null_tokens,
)
from granulearn.tables.parse.dates import (
    DateForm,
    is_stored_date,
    meanings_of_dates,
    names_of_dates,
    read_stored_dates,
)
from granulearn.tables.parse.json_entries import (
    Entries,
    are_counts,
    are_texts,
    check_entries,
    is_count,
    is_mapping,
    is_text,
    is_truth,
)
from granulearn.tables.parse.numbers import NumberForm, is_usable
from granulearn.tables.parse.written_cells import (
    are_repeated,
    written_categories,
    written_dates,
    written_numbers,
    written_truths,
)

if TYPE_CHECKING:
    import pandas as pd

SHOWN_MISFITS = 5


class Cell(NamedTuple):
    """A cell, and the row in which it stands, from 0."""

    row: int
    text: str


@dataclass(frozen=True)
class Misfits:
    """Cells of a column that do not have the form of the others."""

    count: int
    first: tuple[Cell, ...]
    nested: bool = False
    """Whether they are lists, maps or bytes, which have no text."""

    def __add__(self, other: Misfits) -> Misfits:
        first = (self.first + other.first)[:SHOWN_MISFITS]
        return Misfits(self.count + other.count, first, self.nested and other.nested)


@dataclass(frozen=True, eq=False)
class TypedRows:
    """Some rows of a table as a model takes them."""

    cells: dict[str, np.ndarray | pa.Array]
    """By feature: floats, or text, which may be a dictionary; NaN or null for a missing cell."""
    misfits: dict[str, Misfits]
    """By column, for those in which some cells do not fit."""

    def to_frame(self) -> pd.DataFrame:
        """Return the cells as a frame of floats and categories."""
        import pandas as pd

        return pd.DataFrame(
            {
                name: cells if isinstance(cells, np.ndarray) else _categorical(cells)
                for name, cells in self.cells.items()
            }
        )


def _categorical(text: pa.Array) -> pd.Categorical:
    import pandas as pd

    if pa.types.is_dictionary(text.type):
        text = text.dictionary_decode()  # it may hold texts that no row has
    encoded = text.dictionary_encode()
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return pd.Categorical.from_codes(codes, pd.Index(encoded.dictionary.to_pylist(), dtype=object))


def joined_rows(parts: Iterator[TypedRows] | list[TypedRows]) -> TypedRows:
    """Return rows of several batches as one.

    Parameters
    ----------
    parts : iterable of TypedRows
        In order, at least one.
    """
    parts = list(parts)
    cells: dict[str, np.ndarray | pa.Array] = {}
    for name, first in parts[0].cells.items():
        pieces: list[Any] = [part.cells[name] for part in parts]
        if isinstance(first, np.ndarray):
            cells[name] = np.concatenate(pieces)
            continue
        if any(isinstance(piece, pa.DictionaryArray) for piece in pieces):
            pieces = [piece.dictionary_encode() for piece in pieces]
        cells[name] = pa.concat_arrays(pieces)
    misfits: dict[str, Misfits] = {}
    for part in parts:
        for name, found in part.misfits.items():
            misfits[name] = misfits[name] + found if name in misfits else found
    return TypedRows(cells, misfits)


NUMBER, YES_NO, DATE, CATEGORY = "number", "yes/no", "date", "category"
TEXT, EMPTY, NESTED = "text", "empty", "nested"
KINDS = (NUMBER, YES_NO, DATE, CATEGORY, TEXT, EMPTY, NESTED)

# Why a column is left out.
ASKED, CONSTANT, ROW_NUMBER, ID, FREE_TEXT = "asked", "constant", "row number", "ID", "free text"
NO_CELLS, NO_SINGLE_VALUE, AMBIGUOUS_DATE = "empty", "nested", "ambiguous date"
GIVES_AWAY = "gives the target away"

# More rows than this are read column by column: the calls cost nothing beside the cells.
_FEW_ROWS = 256
_PLAIN_NUMBERS, _PLAIN_DATES = NumberForm(), DateForm("year first")

# What a model file keeps of a column.
_ENTRIES: Entries = {
    **dict.fromkeys(("name", "left_out"), is_text),
    "kind": lambda kind: kind in KINDS,
    **dict.fromkeys(("of_numbers", "filled"), is_truth),
    "distinct": is_count,
    "missing": are_counts,
    "values_like_marks": are_texts,
    **dict.fromkeys(("number", "date"), is_mapping),
}
_MADE_BY: Mapping[str, Callable[[Any], Any]] = {
    "number": NumberForm.from_json,
    "date": DateForm.from_json,
    "values_like_marks": tuple,
}


@dataclass(frozen=True)
class Column:
    """One column of a table: what it is, and what becomes of it.

    Examples
    --------
    >>> from granulearn.tables import inspect_table, table_of
    >>> report = inspect_table(table_of({"price": ["1.169,00 €", "250,00 €", "n/a"]}))
    >>> column = report.schema["price"]
    >>> column.kind, column.becomes
    ('number', 'a number of €')
    >>> dict(column.missing)
    {'n/a': 1}
    """

    name: str
    kind: str
    """One of `KINDS`."""
    number: NumberForm = _PLAIN_NUMBERS
    """How numbers are written."""
    date: DateForm = _PLAIN_DATES
    """How dates are written."""
    left_out: str = ""
    """Why the column is not used; empty if it is."""
    of_numbers: bool = False
    """Whether categories were stored as numbers: then 4.0 in a text is the category 4."""
    filled: bool = False
    """Whether a column of one value is read as filled in or not."""
    values_like_marks: tuple[str, ...] = ()
    """Texts that elsewhere stand for a missing cell, and here for a value."""
    missing: Mapping[str, int] = field(default_factory=dict)
    """How often each mark stands for a missing cell."""
    distinct: int = 0
    examples: tuple[str, ...] = ()
    misfits: tuple[Cell, ...] = ()
    """The first cells that do not have the form of the others."""
    n_misfits: int = 0
    odd: tuple[str, ...] = ()
    """What a user should know, in sentences."""
    remedy: tuple[Setting, ...] = ()
    """Settings, any of which would change what becomes of the column."""

    @property
    def is_plain_number(self) -> bool:
        """Whether its cells are numbers that any program reads."""
        return self.kind == NUMBER and self.number == _PLAIN_NUMBERS

    @property
    def feature_names(self) -> list[str]:
        """Names of what the column becomes; none if it is left out."""
        if self.left_out:
            return []
        return names_of_dates(self.name, self.date) if self.kind == DATE else [self.name]

    @property
    def makes_numbers(self) -> bool:
        """Whether its cells become numbers; else they stay text."""
        return self.filled or self.kind in (NUMBER, YES_NO, DATE)

    @property
    def becomes(self) -> str:
        """What the column becomes, in words."""
        if self.left_out:
            return f"left out: {self.left_out}"
        if self.kind == DATE:
            parts = [name.removeprefix(f"{self.name}: ") for name in self.feature_names]
            return ", ".join(parts)
        if self.kind == NUMBER and self.number.unit:
            return f"a number of {self.number.unit}"
        if self.filled:
            return "1 where filled in, 0 where not"
        return {NUMBER: "a number", YES_NO: "1 for yes, 0 for no"}.get(self.kind, "a category")

    @property
    def meanings(self) -> dict[str, str]:
        """What each feature of the column holds, in words; a model in ONNX takes the same."""
        if self.kind == DATE and not self.left_out:
            return meanings_of_dates(self.name, self.date)
        return dict.fromkeys(self.feature_names, self.becomes)

    @property
    def form(self) -> tuple:
        """All that `read_column` looks at; columns of one form are read alike."""
        written = (self.number, self.date, self.of_numbers, self.filled, self.values_like_marks)
        return (self.kind, *written)

    def oddities(self, place: Callable[[int], str]) -> list[str]:
        """Return what a user should know, with the places of cells that do not fit.

        Parameters
        ----------
        place : callable
            Says where a row stands.
        """
        said = list(self.odd)
        if self.n_misfits:
            found = ", ".join(f"{cell.text!r} at {place(cell.row)}" for cell in self.misfits)
            more = ", ..." if self.n_misfits > len(self.misfits) else ""
            one = self.n_misfits == 1
            cells = "1 cell differs" if one else f"{self.n_misfits} cells differ"
            is_parsed = self.kind in (NUMBER, DATE, YES_NO) and not self.left_out
            then = f" and {'counts' if one else 'count'} as missing" if is_parsed else ""
            said.append(f"{cells} from the others{then}: {found}{more}")
        return said

    def to_json(self) -> dict[str, Any]:
        """Return what a model file keeps; no cell of the table is in it."""
        kept = ("name", "kind", "left_out", "distinct", "of_numbers", "filled")
        content: dict[str, Any] = {key: getattr(self, key) for key in kept}
        content["missing"] = dict(self.missing)
        content["values_like_marks"] = list(self.values_like_marks)
        if self.kind == NUMBER:
            content["number"] = dict(vars(self.number))  # faster than asdict, and it is flat
        if self.kind == DATE:
            content["date"] = asdict(self.date)
        return content

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Column:
        """Return the column that `to_json` turned into this content.

        Parameters
        ----------
        content : mapping
            As from `to_json`; anything else raises TypeError.
        """
        check_entries(content, _ENTRIES, "a column of the schema", needed=("name", "kind"))
        made = {key: make(content[key]) for key, make in _MADE_BY.items() if key in content}
        return cls(**{**content, **made})


@dataclass(frozen=True)
class Schema:
    """What every column of a table is and becomes.

    Examples
    --------
    >>> from granulearn.tables import inspect_table, table_of
    >>> schema = inspect_table(table_of({"age": ["31", "47"], "country": ["DE", "DE"]})).schema
    >>> [column.name for column in schema.used]
    ['age']
    >>> [(column.name, column.left_out) for column in schema.left_out]
    [('country', 'constant')]
    """

    columns: tuple[Column, ...]

    @cached_property
    def used(self) -> tuple[Column, ...]:
        """The columns that a model learns from."""
        return tuple(column for column in self.columns if not column.left_out)

    @property
    def left_out(self) -> tuple[Column, ...]:
        """The columns that it does not."""
        return tuple(column for column in self.columns if column.left_out)

    @property
    def feature_types(self) -> dict[str, str]:
        """Whether a model takes each feature as "number" or as "category", by name."""
        return {
            name: "number" if column.makes_numbers else "category"
            for column in self.used
            for name in column.feature_names
        }

    def __getitem__(self, name: str) -> Column:
        """Return a column by its name."""
        return next(column for column in self.columns if column.name == name)

    def read(
        self,
        cells: Mapping[str, pa.Array] | pa.RecordBatch,
        first_row: int = 0,
        *,
        encoded: bool = False,
    ) -> TypedRows:
        """Return rows as a model takes them.

        Parameters
        ----------
        cells : RecordBatch or mapping of Arrays
            The columns that are used, and perhaps others.
        first_row : int, default=0
            Number of the first row in the table, for what is said about misfits.
        encoded : bool, default=False
            Whether categories of many rows stay dictionaries, for one who looks up each
            different text.
        """
        typed: dict[str, np.ndarray | pa.Array] = dict.fromkeys(self._features)
        misfits: dict[str, Misfits] = {}
        given = {column.name: cells[column.name] for column in self.used}
        for columns in self._read_alike(given):
            n_rows = len(given[columns[0].name])
            each = [given[column.name] for column in columns]
            found, misfit = read_column(
                columns[0], each[0] if len(each) == 1 else pa.concat_arrays(each)
            )
            if not (encoded and len(columns) == 1):
                # Of columns read together, each would have the texts of all of them.
                found = {name: _without_dictionary(values) for name, values in found.items()}
            if misfit is not None and not misfit.any():
                misfit = None
            for number, column in enumerate(columns):
                own = slice(number * n_rows, (number + 1) * n_rows)
                for name, values in zip(column.feature_names, found.values(), strict=True):
                    typed[name] = values[own]
                if misfit is not None and misfit[own].any():
                    misfits[column.name] = _misfits(each[number], misfit[own], first_row)
        in_order = {name: misfits[name] for name in given if name in misfits}
        return TypedRows(typed, in_order if misfits else {})

    @cached_property
    def _features(self) -> tuple[str, ...]:
        return tuple(name for column in self.used for name in column.feature_names)

    @cached_property
    def _forms(self) -> tuple[int, ...]:
        """A number for each column that is used; the cells of equal ones are read alike."""
        numbers: dict[tuple, int] = {}
        return tuple(numbers.setdefault(column.form, len(numbers)) for column in self.used)

    def _read_alike(self, given: Mapping[str, pa.Array]) -> Iterable[list[Column]]:
        """Return the columns in groups that can be read as one long column.

        What a cell becomes depends on the cell alone. A call costs as much as hundreds of
        cells do, so that a few rows of many columns are read in a few calls.
        """
        if len(self.used) < 2 or len(given[self.used[0].name]) > _FEW_ROWS:
            return ([column] for column in self.used)
        groups: dict[tuple, list[Column]] = {}
        for column, form in zip(self.used, self._forms, strict=True):
            kind = given[column.name].type
            alone = not _is_simple(kind)
            groups.setdefault((form, column.name if alone else kind), []).append(column)
        return groups.values()

    def to_json(self) -> list[dict[str, Any]]:
        """Return what a model file keeps."""
        return [column.to_json() for column in self.columns]

    @classmethod
    def from_json(cls, content: Any) -> Schema:
        """Return the schema that `to_json` turned into this content.

        Parameters
        ----------
        content : list of dict
            As from `to_json`; anything else raises TypeError.
        """
        return cls(tuple(Column.from_json(column) for column in content))


def read_column(
    column: Column, cells: pa.Array
) -> tuple[dict[str, np.ndarray | pa.Array], np.ndarray | None]:
    """Return what the cells of a column become, by feature, and where they do not fit.

    Numbers become floats; categories a dictionary, which holds each text once and no null, and
    perhaps texts that no row has.

    Parameters
    ----------
    column : Column
        What the column is.
    cells : pyarrow Array
        Its cells, as any file or frame stores them.
    """
    kind, name = cells.type, column.name
    if is_nested(kind):
        return _nothing(column, len(cells)), cells.is_valid().to_numpy(zero_copy_only=False)
    if column.kind == NUMBER and is_number_type(kind):
        values = stored_numbers(cells)
        misfit = ~is_usable(values) & ~np.isnan(values)
        return {name: np.where(misfit, np.nan, values)}, misfit
    if column.kind == DATE and is_stored_date(kind, column.date):
        numbers = read_stored_dates(cells, column.date)
        return dict(zip(column.feature_names, numbers.values(), strict=True)), None
    if not column.makes_numbers:
        marks, of_numbers = column.values_like_marks, column.of_numbers
        return {name: written_categories(cells, marks, of_numbers)}, None
    if pa.types.is_dictionary(kind) and len(cells.dictionary) <= len(cells):
        return _read_different(column, cells)
    text = as_text(cells)
    if column.kind == YES_NO or are_repeated(text):
        return _read_different(column, text.dictionary_encode())
    return _read_text(column, text)


def _read_different(
    column: Column, cells: pa.DictionaryArray
) -> tuple[dict[str, np.ndarray], np.ndarray | None]:
    """Return what `read_column` does; each different text is looked at once."""
    # The codes of a table may be too small for one more, or without a sign.
    text, codes = as_text(cells.dictionary), cells.indices.cast(pa.int64())
    if codes.null_count:
        codes = codes.fill_null(len(text))
        text = pa.concat_arrays([text, pa.nulls(1, text.type)])
    rows = codes.to_numpy(zero_copy_only=False)
    found, misfit = _read_text(column, text)
    if misfit is not None:
        misfit = misfit.take(rows) if misfit.any() else None
    return {name: values.take(rows) for name, values in found.items()}, misfit


def _read_text(column: Column, text: pa.Array) -> tuple[dict[str, np.ndarray], np.ndarray | None]:
    """Return what texts without blanks around them become, and where they do not fit."""
    marks = column.values_like_marks
    if column.filled:
        filled = without_null_tokens(text, marks).is_valid()
        return {column.name: filled.to_numpy(zero_copy_only=False).astype(float)}, None
    if column.kind == DATE:
        numbers, misfit = written_dates(text, column.date, marks)
        return dict(zip(column.feature_names, numbers.values(), strict=True)), misfit
    if column.kind == NUMBER:
        values, misfit = written_numbers(text, column.number, marks)
    else:
        values, misfit = written_truths(text, marks)
    return {column.name: values}, misfit


def _without_dictionary(values: np.ndarray | pa.Array) -> np.ndarray | pa.Array:
    return values.dictionary_decode() if isinstance(values, pa.DictionaryArray) else values


def _is_simple(kind: pa.DataType) -> bool:
    """Return whether pieces of this type make up one array, whatever they hold."""
    return pa.types.is_primitive(kind) or pa.types.is_string(kind) or pa.types.is_null(kind)


def _nothing(column: Column, n_rows: int) -> dict[str, np.ndarray | pa.Array]:
    if not column.makes_numbers:
        return {column.name: pa.nulls(n_rows, pa.string()).dictionary_encode()}
    return {name: np.full(n_rows, np.nan) for name in column.feature_names}


def _misfits(cells: pa.Array, misfit: np.ndarray, first_row: int) -> Misfits:
    places = np.flatnonzero(misfit)
    shown = places[:SHOWN_MISFITS]
    if is_nested(cells.type):
        texts = ["(nested)"] * len(shown)
    else:
        texts = as_text(cells.take(pa.array(shown))).to_pylist()
    first = (Cell(first_row + int(row), text) for row, text in zip(shown, texts, strict=True))
    return Misfits(len(places), tuple(first), is_nested(cells.type))
