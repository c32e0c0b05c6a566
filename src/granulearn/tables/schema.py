"""What each column of a table is and becomes: the one record that fit, predict and files share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from granulearn.tables.messages import Setting
from granulearn.tables.parse.cells import (
    as_text,
    is_nested,
    is_number_type,
    parse_booleans,
    stored_numbers,
    without_null_tokens,
)
from granulearn.tables.parse.dates import CLOCK, YEAR_FIRST, DateForm, parse_dates
from granulearn.tables.parse.numbers import (
    LARGEST_NUMBER,
    PLAIN_NUMBER,
    NumberForm,
    is_usable,
    parse_numbers,
)
from granulearn.utils.saved import Count

if TYPE_CHECKING:
    import pandas as pd

NUMBER, YES_NO, DATE, CATEGORY = "number", "yes/no", "date", "category"
TEXT, EMPTY, NESTED = "text", "empty", "nested"
KINDS = (NUMBER, YES_NO, DATE, CATEGORY, TEXT, EMPTY, NESTED)

# Why a column is left out.
ASKED, CONSTANT, ROW_NUMBER, ID, FREE_TEXT = "asked", "constant", "row number", "ID", "free text"
NO_CELLS, NO_SINGLE_VALUE, AMBIGUOUS_DATE = "empty", "nested", "ambiguous date"
GIVES_AWAY = "gives the target away"

SHOWN_MISFITS = 5
_FEW_ROWS = 256
# What a model file keeps of a column: no cell of the table.
_KEPT = (
    "name", "kind", "left_out", "distinct", "of_numbers", "filled", "missing", "values_like_marks",
    NUMBER, DATE,
)  # fmt: skip


class Cell(NamedTuple):
    """A cell, and the row in which it stands, from 0."""

    row: int
    text: str


class Column(msgspec.Struct, frozen=True):
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
    kind: Annotated[str, msgspec.Meta(pattern=rf"\A(?:{'|'.join(KINDS)})\Z")]
    """One of `KINDS`."""
    number: NumberForm = NumberForm()
    """How numbers are written."""
    date: DateForm = DateForm("year first")
    """How dates are written."""
    left_out: str = ""
    """Why the column is not used; empty if it is."""
    of_numbers: bool = False
    """Whether categories were stored as numbers: then 4.0 in a text is the category 4."""
    filled: bool = False
    """Whether a column of one value is read as filled in or not."""
    values_like_marks: tuple[str, ...] = ()
    """Null tokens that stand for a value in this column."""
    missing: dict[str, Count] = {}
    """How often each null token stands for a missing cell."""
    distinct: Count = 0
    examples: tuple[str, ...] = ()
    misfits: tuple[Cell, ...] = ()
    """The first cells that do not have the form of the others."""
    n_misfits: int = 0
    odd: tuple[str, ...] = ()
    """What a user should know, in sentences."""
    remedy: tuple[Setting, ...] = ()
    """Settings, any of which would change what becomes of the column."""

    @property
    def feature_names(self) -> list[str]:
        """Names of what the column becomes; none if it is left out."""
        return list(self.meanings)

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
            return ", ".join(self.date.meanings)
        if self.kind == NUMBER and self.number.unit:
            return f"a number of {self.number.unit}"
        if self.filled:
            return "1 where filled in, 0 where not"
        return {NUMBER: "a number", YES_NO: "1 for yes, 0 for no"}.get(self.kind, "a category")

    @property
    def meanings(self) -> dict[str, str]:
        """What each feature of the column holds, in words; a model in ONNX takes the same."""
        if self.left_out:
            return {}
        if self.kind == DATE:
            return {f"{self.name}: {part}": text for part, text in self.date.meanings.items()}
        return {self.name: self.becomes}

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
        forms = {NUMBER, DATE} - {self.kind}
        return {key: msgspec.to_builtins(getattr(self, key)) for key in _KEPT if key not in forms}

    @classmethod
    def from_json(cls, content: Any) -> Column:
        """Return the column that `to_json` turned into this content.

        Parameters
        ----------
        content : mapping
            As from `to_json`; anything else raises TypeError.
        """
        unknown = sorted(set(content) - set(_KEPT)) if isinstance(content, dict) else []
        if unknown:
            raise TypeError(f"a column of the schema has an unknown entry {ascii(unknown[0])[:80]}")
        try:
            return msgspec.convert(content, cls)
        except msgspec.ValidationError as error:
            raise TypeError(f"a column of the schema: {ascii(str(error))[1:-1]}") from error


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

    def read(self, cells: Mapping[str, pa.Array] | pa.RecordBatch, first_row: int = 0) -> TypedRows:
        """Return rows as a model takes them.

        Parameters
        ----------
        cells : RecordBatch or mapping of Arrays
            The columns that are used, and perhaps others.
        first_row : int, default=0
            Number of the first row in the table, for what is said about misfits.
        """
        typed: dict[str, Any] = {name: None for used in self.used for name in used.feature_names}
        misfits: dict[str, Misfits] = {}
        for columns in self._read_alike(cells):
            each = [cells[column.name] for column in columns]
            n_rows = len(each[0])
            found, failed = read_column(
                columns[0], each[0] if len(each) == 1 else pa.concat_arrays(each)
            )
            for number, column in enumerate(columns):
                own = slice(number * n_rows, (number + 1) * n_rows)
                for name, values in zip(column.feature_names, found, strict=True):
                    typed[name] = values[own]
                if failed is not None and failed[own].any():
                    misfits[column.name] = _misfits(each[number], failed[own], first_row)
        in_order = {used.name: misfits[used.name] for used in self.used if used.name in misfits}
        return TypedRows(typed, in_order)

    def _read_alike(self, cells: Mapping[str, pa.Array] | pa.RecordBatch) -> Iterable[list[Column]]:
        """Return the columns in groups that are read as one long column.

        What a cell becomes depends on the cell alone, and a call costs as much as hundreds of
        cells: a few rows of many columns are read in a few calls.
        """
        groups: dict[tuple, list[Column]] = {}
        for column in self.used:
            own, kind = cells[column.name], cells[column.name].type
            is_simple = pa.types.is_string(kind) or pa.types.is_primitive(kind)
            alike: tuple = (column.name,)
            if is_simple and len(own) <= _FEW_ROWS:
                forms = (column.number, column.date, column.of_numbers, column.values_like_marks)
                alike = (kind, column.kind, column.filled, *forms)
            groups.setdefault(alike, []).append(column)
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
        if not isinstance(content, list):
            raise TypeError(f"{ascii(content)[:80]} is not the columns of a schema")
        return cls(tuple(map(Column.from_json, content)))


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
    """By feature: floats, or text; NaN or null for a missing cell."""
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


def joined_rows(parts: Iterable[TypedRows]) -> TypedRows:
    """Return rows of several batches as one.

    Parameters
    ----------
    parts : iterable of TypedRows
        In order, at least one.
    """
    first, *others = parts
    cells, misfits = {name: [values] for name, values in first.cells.items()}, dict(first.misfits)
    for part in others:
        for name, values in part.cells.items():
            cells[name].append(values)
        for name, found in part.misfits.items():
            misfits[name] = misfits[name] + found if name in misfits else found
    joined = {
        name: np.concatenate(pieces)
        if isinstance(pieces[0], np.ndarray)
        else pa.concat_arrays(pieces)
        for name, pieces in cells.items()
    }
    return TypedRows(joined, misfits)


def read_column(
    column: Column, cells: pa.Array
) -> tuple[list[np.ndarray | pa.Array], np.ndarray | None]:
    """Return what the cells of a column become, for each feature, and where parsing failed.

    Parameters
    ----------
    column : Column
        What the column is.
    cells : pyarrow Array
        Its cells, as any file or frame stores them.
    """
    kind = cells.type
    if is_nested(kind):
        empty = (
            np.full(len(cells), np.nan)
            if column.makes_numbers
            else pa.nulls(len(cells), pa.string())
        )
        return [empty] * len(column.feature_names), cells.is_valid().to_numpy(zero_copy_only=False)
    if column.kind == NUMBER and is_number_type(kind):
        values = stored_numbers(cells)
        failed = ~is_usable(values) & ~np.isnan(values)
        return [np.where(failed, np.nan, values)], failed
    text = without_null_tokens(as_text(cells), column.values_like_marks)
    if column.filled:
        return [text.is_valid().to_numpy(zero_copy_only=False).astype(float)], None
    if column.kind == DATE:
        form, is_stored = column.date, pa.types.is_date(kind) or pa.types.is_timestamp(kind)
        if is_stored and form.family != CLOCK:  # stored dates are all written alike
            form = msgspec.structs.replace(form, family=YEAR_FIRST)
        parts, failed = parse_dates(text, form)
        return [*parts.values()], failed
    if column.kind == NUMBER:
        values, failed = parse_numbers(text, column.number)
        return [values], failed
    if column.kind == YES_NO:
        values, failed = parse_booleans(text)
        return [values], failed
    return [_as_if_stored(text) if column.of_numbers and not is_number_type(kind) else text], None


def _as_if_stored(text: pa.Array) -> pa.Array:
    """Return texts that are numbers as the text of the number: 4.0 and 4 are one category."""
    plain = pc.match_substring_regex(text, f"^(?:{PLAIN_NUMBER})$")
    numbers = pc.if_else(plain, text, None).cast(pa.float64())
    numbers = pc.if_else(pc.less_equal(pc.abs(numbers), LARGEST_NUMBER), numbers, None)
    return pc.coalesce(as_text(numbers), text)


def _misfits(cells: pa.Array, failed: np.ndarray, first_row: int) -> Misfits:
    rows = np.flatnonzero(failed)
    shown, nested = rows[:SHOWN_MISFITS], is_nested(cells.type)
    texts = (
        ["(nested)"] * len(shown) if nested else as_text(cells.take(pa.array(shown))).to_pylist()
    )
    first = tuple(map(Cell, (first_row + shown).tolist(), texts))
    return Misfits(len(rows), first, nested)


def _categorical(text: pa.Array) -> pd.Categorical:
    import pandas as pd

    encoded = text.dictionary_encode()
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return pd.Categorical.from_codes(codes, pd.Index(encoded.dictionary.to_pylist(), dtype=object))
