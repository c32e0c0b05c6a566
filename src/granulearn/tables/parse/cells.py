"""Cells as text, null tokens, Booleans and row hashes."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

# Null tokens in lower case.
NULL_TOKENS = (
    "", "?", "??", "-", "--", "—", ".", "\\n", "na", "n/a", "n.a.", "#n/a", "<na>", "nan", "-nan",
    "null", "(null)", "nil", "missing", "unknown", "unbekannt", "k.a.", "not available",
    "#value!", "#ref!", "#div/0!", "#name?", "#num!", "#null!",
)  # fmt: skip
# "none" is a value in many tables (no garage); "None" is what Python writes.
EXACT_NULL_TOKENS = ("None",)
# In a column of labels the other tokens may be classes.
LABEL_NULL_TOKENS = ("", "?", "na", "n/a", "#n/a", "<na>", "nan", "-nan", "null", "(null)")

_TOKENS = pa.array(NULL_TOKENS, pa.string())
_EXACT = pa.array([*EXACT_NULL_TOKENS, None], pa.string())
_OF_LABELS = pa.array(LABEL_NULL_TOKENS, pa.string())
# Arrow writes larger numbers with an exponent; whole ones are exact below the second.
_EXPONENT_FROM, _WHOLE_BELOW = 1e9, 2.0**63


def value_type(kind: pa.DataType) -> pa.DataType:
    """Return the type of the values of a dictionary; other types as they are."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def is_nested(kind: pa.DataType) -> bool:
    """Return whether cells are lists, maps or bytes, which have no text."""
    types, kind = pa.types, value_type(kind)
    if isinstance(kind, pa.BaseExtensionType):
        kind = kind.storage_type
    binary = types.is_binary(kind) or types.is_large_binary(kind) or types.is_binary_view(kind)
    binary = binary or types.is_fixed_size_binary(kind)
    return types.is_nested(kind) or binary or types.is_interval(kind)


def as_text(column: pa.Array, *, trimmed: bool = True) -> pa.Array:
    """Return the cells as text; whole numbers without a point, dates as ISO 8601, times in seconds.

    A cell's text depends on the cell alone, so that batches of any size give the same.
    """
    if isinstance(column, pa.ExtensionArray):
        column = column.storage
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_duration(column.type):
        column = _in_hours(column)
    text = column if column.type == pa.string() else column.cast(pa.string())
    if pa.types.is_floating(column.type):
        text = pc.if_else(pc.is_nan(column), pa.scalar(None, pa.string()), text)
        text = _without_exponents(column, text)
    return pc.utf8_trim_whitespace(text) if trimmed else text


def _without_exponents(column: pa.Array, text: pa.Array) -> pa.Array:
    """Write large whole numbers with all their digits, like integers."""
    size = pc.abs(column.cast(pa.float64()))
    large = pc.and_(pc.greater_equal(size, _EXPONENT_FROM), pc.less(size, _WHOLE_BELOW))
    large = pc.fill_null(pc.and_(large, pc.equal(pc.floor(size), size)), False)
    if not pc.any(large).as_py():
        return text
    whole = pc.if_else(large, column.cast(pa.float64()), 0.0).cast(pa.int64()).cast(pa.string())
    return pc.if_else(large, whole, text)


def _in_hours(column: pa.Array) -> pa.Array:
    """Return durations in hours, as workbooks have them."""
    ticks = column.cast(pa.int64()).cast(pa.float64(), safe=False)
    seconds = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}[column.type.unit]
    return pc.divide(ticks, 3600 * seconds)


def is_number_type(kind: pa.DataType) -> bool:
    """Return whether a column is stored as numbers or durations."""
    number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    return number or pa.types.is_duration(kind)


def stored_numbers(column: pa.Array) -> np.ndarray:
    """Return stored numbers as floats, durations in hours, NaN for null."""
    if pa.types.is_duration(column.type):
        column = _in_hours(column)
    return column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)


def is_null_token(text: pa.Array, *, of_labels: bool = False) -> pa.Array:
    """Return a mask of null tokens and nulls."""
    if of_labels:
        return pc.or_(pc.is_in(pc.utf8_lower(text), _OF_LABELS), text.is_null())
    return pc.or_(pc.is_in(pc.utf8_lower(text), _TOKENS), pc.is_in(text, _EXACT))


def without_null_tokens(text: pa.Array, values: Sequence[str] = ()) -> pa.Array:
    """Replace null tokens, except `values`, by null."""
    found = is_null_token(text)
    if values:
        found = pc.and_(found, pc.invert(pc.is_in(text, pa.array(values, pa.string()))))
    return pc.if_else(found, pa.scalar(None, pa.string()), text)


_YES = ("yes", "y", "true", "t", "on", "ja", "j", "oui", "si", "sí", "sì", "sim", "tak", "да")
_NO = ("no", "n", "false", "f", "off", "nein", "nee", "non", "não", "nie", "нет")
BOOLEANS = {
    **dict.fromkeys((*_YES, "wahr", "vrai", "vero"), 1.0),
    **dict.fromkeys((*_NO, "falsch", "faux", "falso"), 0.0),
}
"""1 for yes and 0 for no, in several languages, in lower case."""


def parse_booleans(text: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """Return 1 for yes, 0 for no and NaN for anything else, with a mask of failures."""
    numbers = pc.index_in(pc.utf8_lower(text), pa.array([*BOOLEANS])).fill_null(-1).to_numpy()
    values = np.array([*BOOLEANS.values(), np.nan])[numbers]
    return values, np.isnan(values) & text.is_valid().to_numpy(zero_copy_only=False)


def row_hashes(cells: pa.Table, label: str = "") -> list[str]:
    """Return a hash of the cells of each row, as they were read, without those of the label."""
    hashes = [blake2b(digest_size=8) for _ in range(cells.num_rows)]
    for name in cells.column_names:
        if name == label or is_nested(cells[name].type):
            continue
        texts = as_text(cells[name].combine_chunks()).to_pylist()
        for row, text in zip(hashes, texts, strict=True):
            cell = b"" if text is None else text.encode()
            # With its length first, no two rows of cells have the same bytes.
            row.update(b"-" if text is None else b"%d:%b" % (len(cell), cell))
    # A letter first: a spreadsheet would take some hashes for numbers, and rewrite them.
    return ["h" + row.hexdigest() for row in hashes]
