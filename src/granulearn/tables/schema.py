"""Schema of a table: types of the columns, and how cells become features. Model files keep it."""

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
    parse_plain_numbers,
)

if TYPE_CHECKING:
    import pandas as pd

NUMBER, YES_NO, DATE, CATEGORY = "number", "yes/no", "date", "category"
TEXT, EMPTY, NESTED = "text", "empty", "nested"
TYPES = (NUMBER, YES_NO, DATE, CATEGORY, TEXT, EMPTY, NESTED)

# First cells of a class that are kept for messages.
SHOWN_CELLS = 5
Count = Annotated[int, msgspec.Meta(ge=0, le=2**40)]
NESTED_CELL = "(nested)"
# What a model file keeps of a column: no cell of the table.
_KEPT = (
    "name", "type", "dropped", "distinct", "of_numbers", "filled", "missing", "values_like_nulls",
    NUMBER, DATE,
)  # fmt: skip


class Cell(NamedTuple):
    """A cell and the number of its row, from 0."""

    row: int
    text: str


class CellCount(msgspec.Struct, frozen=True):
    """Number of cells of one kind, and the first of them."""

    count: int = 0
    first: tuple[Cell, ...] = ()

    def __add__(self, later: CellCount) -> CellCount:
        first = sorted(self.first + later.first)[:SHOWN_CELLS]
        return CellCount(self.count + later.count, tuple(first))


class Column(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One column of a table: its type, and the features that it becomes.

    Examples
    --------
    >>> from granulearn.tables import inspect_table, table_of
    >>> report = inspect_table(table_of({"price": ["1.169,00 €", "250,00 €", "n/a"]}))
    >>> column = report.schema["price"]
    >>> column.type, column.becomes
    ('number', 'a number of €')
    >>> dict(column.missing)
    {'n/a': 1}
    """

    name: str
    type: Annotated[str, msgspec.Meta(pattern=rf"\A(?:{'|'.join(TYPES)})\Z")]
    """One of `TYPES`."""
    number: NumberForm = NumberForm()
    """How numbers are written."""
    date: DateForm = DateForm("year first")
    """How dates are written."""
    dropped: str = ""
    """Reason why the column is not used; empty if it is."""
    of_numbers: bool = False
    """Whether categories were stored as numbers: then 4.0 in a text is the category 4."""
    filled: bool = False
    """Whether the feature is 1 where a cell is filled in: all cells have one value."""
    values_like_nulls: tuple[str, ...] = ()
    """Null tokens that stand for a value in this column."""
    missing: dict[str, Count] = {}
    """How often each null token stands for a missing cell."""
    distinct: Count = 0
    examples: tuple[str, ...] = ()
    failures: CellCount = CellCount()
    """Cells that do not have the form of the others."""
    notes: tuple[str, ...] = ()
    """Sentences about doubtful cells."""
    advice: tuple[Setting, ...] = ()
    """Settings, each of which would change the type."""

    @property
    def feature_names(self) -> list[str]:
        """Names of its features; none if it is dropped."""
        return list(self.meanings)

    @property
    def makes_numbers(self) -> bool:
        """Whether its cells become numbers; else they stay text."""
        return self.filled or self.type in (NUMBER, YES_NO, DATE)

    @property
    def becomes(self) -> str:
        """Description of the features."""
        if self.dropped:
            return f"dropped: {self.dropped}"
        if self.type == DATE:
            return ", ".join(self.date.meanings)
        if self.type == NUMBER and self.number.unit:
            return f"a number of {self.number.unit}"
        if self.filled:
            return "1 where filled in, 0 where not"
        return {NUMBER: "a number", YES_NO: "1 for yes, 0 for no"}.get(self.type, "a category")

    @property
    def meanings(self) -> dict[str, str]:
        """Description of each feature by name; a model in ONNX takes the same."""
        if self.dropped:
            return {}
        if self.type == DATE:
            return {f"{self.name}: {part}": text for part, text in self.date.meanings.items()}
        return {self.name: self.becomes}

    def warnings(self, location: Callable[[int], str]) -> list[str]:
        """Return the notes, and the failures with their locations."""
        count, first = self.failures.count, self.failures.first
        if not count:
            return [*self.notes]
        found = [f"{cell.text!r} at {location(cell.row)}" for cell in first]
        found += ["..."] * (count > len(first))
        cells = "1 cell differs" if count == 1 else f"{count} cells differ"
        is_parsed = self.makes_numbers and not self.dropped
        then = f" and {'counts' if count == 1 else 'count'} as missing" if is_parsed else ""
        return [*self.notes, f"{cells} from the others{then}: {', '.join(found)}"]

    def to_json(self) -> dict[str, Any]:
        """Return the column for a model file, without any cell of the table."""
        forms = {NUMBER, DATE} - {self.type}
        return {key: msgspec.to_builtins(getattr(self, key)) for key in _KEPT if key not in forms}


@dataclass(frozen=True)
class Schema:
    """Types of all columns of a table.

    Examples
    --------
    >>> from granulearn.tables import inspect_table, table_of
    >>> schema = inspect_table(table_of({"age": ["31", "47"], "country": ["DE", "DE"]})).schema
    >>> [column.name for column in schema.used]
    ['age']
    >>> [(column.name, column.dropped) for column in schema.dropped]
    [('country', 'constant')]
    """

    columns: tuple[Column, ...]

    @cached_property
    def used(self) -> tuple[Column, ...]:
        """The columns that a model learns from."""
        return tuple(column for column in self.columns if not column.dropped)

    @property
    def dropped(self) -> tuple[Column, ...]:
        """The columns that a model does not learn from."""
        return tuple(column for column in self.columns if column.dropped)

    @property
    def feature_types(self) -> dict[str, str]:
        """Type of each feature by name: "number" or "category"."""
        return {
            name: "number" if column.makes_numbers else "category"
            for column in self.used
            for name in column.feature_names
        }

    def __getitem__(self, name: str) -> Column:
        """Return a column by its name."""
        return next(column for column in self.columns if column.name == name)

    def read(self, cells: Mapping[str, pa.Array] | pa.RecordBatch, first_row: int = 0) -> TypedRows:
        """Turn cells into features."""
        typed: dict[str, Any] = {}
        failures: dict[str, CellCount] = {}
        for column in self.used:
            own = cells[column.name]
            features, failed = read_column(column, own)
            typed |= zip(column.feature_names, features, strict=True)
            if failed is not None and failed.any():
                failures[column.name] = first_cells(own, np.flatnonzero(failed), first_row)
        return TypedRows(typed, failures)

    def to_json(self) -> list[dict[str, Any]]:
        """Return the schema for a model file."""
        return [column.to_json() for column in self.columns]

    @classmethod
    def from_json(cls, content: Any) -> Schema:
        """Return the schema that `to_json` turned into this content."""
        try:
            return cls(tuple(msgspec.convert(content, list[Column])))
        except msgspec.ValidationError as error:
            raise TypeError(f"the columns of a schema: {ascii(str(error))[1:-1]}") from error


@dataclass(frozen=True, eq=False)
class TypedRows:
    """Rows of a table as a model takes them: features by name."""

    cells: dict[str, np.ndarray | pa.Array]
    """By feature: floats, or text; NaN or null for a missing cell."""
    failures: dict[str, CellCount]
    """By column, for those in which cells do not have the form of the column."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(next(iter(self.cells.values())))

    def to_frame(self) -> pd.DataFrame:
        """Return the cells as a frame of floats and categories."""
        import pandas as pd

        columns: dict[str, Any] = {**self.cells}
        for name, cells in self.cells.items():
            if not isinstance(cells, np.ndarray):
                encoded = cells.dictionary_encode()
                codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
                categories = pd.Index(encoded.dictionary.to_pylist(), dtype=object)
                columns[name] = pd.Categorical.from_codes(codes, categories)
        return pd.DataFrame(columns)

    def take(self, rows: np.ndarray, schema: Schema) -> TypedRows:
        """Return some rows of the columns that a schema uses."""
        cells = {name: self.cells[name].take(rows) for name in schema.feature_types}
        return TypedRows(cells, self.failures)


def joined_rows(parts: Iterable[TypedRows]) -> TypedRows:
    """Concatenate rows of at least one batch."""
    parts = list(parts)
    failures: dict[str, CellCount] = {}
    for part in parts:
        for name, found in part.failures.items():
            failures[name] = failures.get(name, CellCount()) + found
    cells = {}
    for name, own in parts[0].cells.items():
        join = np.concatenate if isinstance(own, np.ndarray) else pa.concat_arrays
        cells[name] = join([part.cells[name] for part in parts])
    return TypedRows(cells, failures)


def read_column(
    column: Column, cells: pa.Array
) -> tuple[list[np.ndarray | pa.Array], np.ndarray | None]:
    """Return the features of a column, and a mask of cells that could not be parsed."""
    kind = cells.type
    if is_nested(kind):
        missing = np.full(len(cells), np.nan)
        empty = missing if column.makes_numbers else pa.nulls(len(cells), pa.string())
        return [empty] * len(column.feature_names), cells.is_valid().to_numpy(zero_copy_only=False)
    if column.type == NUMBER and is_number_type(kind):
        values = stored_numbers(cells)
        failed = ~is_usable(values) & ~np.isnan(values)
        return [np.where(failed, np.nan, values)], failed
    text = as_text(cells)
    if column.type == NUMBER and column.number == NumberForm():
        plain = parse_plain_numbers(text)  # no null token is one
        if plain is not None:
            return [plain], None
    text = without_null_tokens(text, column.values_like_nulls)
    if column.filled:
        return [text.is_valid().to_numpy(zero_copy_only=False).astype(float)], None
    if column.type == DATE:
        form = column.date
        if pa.types.is_temporal(kind) and form.family != CLOCK:  # stored dates are written alike
            form = msgspec.structs.replace(form, family=YEAR_FIRST)
        parts, failed = parse_dates(text, form)
        return [*parts.values()], failed
    if column.type == NUMBER:
        values, failed = parse_numbers(text, column.number)
        return [values], failed
    if column.type == YES_NO:
        values, failed = parse_booleans(text)
        return [values], failed
    return [_as_if_stored(text) if column.of_numbers and not is_number_type(kind) else text], None


def _as_if_stored(text: pa.Array) -> pa.Array:
    """Normalise texts that are numbers: 4.0 and 4 are one category."""
    plain = pc.match_substring_regex(text, f"^(?:{PLAIN_NUMBER})$")
    numbers = pc.if_else(plain, text, None).cast(pa.float64())
    numbers = pc.if_else(pc.less_equal(pc.abs(numbers), LARGEST_NUMBER), numbers, None)
    return pc.coalesce(as_text(numbers), text)


def first_cells(
    cells: pa.Array, rows: np.ndarray, first_row: int, letters: int | None = None
) -> CellCount:
    """Count some cells, and keep the first of them, shortened."""
    shown = rows[:SHOWN_CELLS]
    texts = [NESTED_CELL] * len(shown)
    if not is_nested(cells.type):
        texts = shortened(as_text(cells.take(pa.array(shown))), letters)
    return CellCount(len(rows), tuple(map(Cell, (first_row + shown).tolist(), texts)))


def shortened(texts: pa.Array, letters: int | None) -> list[str]:
    """Return texts, cut after a number of letters."""
    return [text[:letters] + "…" * (text != text[:letters]) for text in texts.to_pylist()]
