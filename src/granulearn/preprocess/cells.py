"""Columns as they come, from a frame, Arrow or NumPy, as floats, distinct texts or date parts.

Neither pandas nor pyarrow is imported here: a column of theirs is recognised by its methods.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from granulearn.utils.text import quoted

DATE_PARTS = ("year", "month", "day of year", "weekday", "hour", "days since 1970")
"""As `granulearn.tables` names them: January is month 1, Monday is weekday 1."""


def columns_of_frame(frame: Any, names: list) -> dict[str, Any]:
    """Return the columns of a frame as arrays, under these names."""
    found = {}
    for name, (_, column) in zip(names, frame.items(), strict=True):
        dtype = column.dtype
        if isinstance(dtype, np.dtype) and dtype.kind in "biufcM":
            found[name] = column.to_numpy()
        elif getattr(dtype, "tz", None) is not None or hasattr(dtype, "categories"):
            found[name] = column.array  # dates with a time zone; a categorical
        elif getattr(dtype, "kind", "") in "biuf":  # a nullable number
            found[name] = column.to_numpy(dtype=np.float64, na_value=np.nan)
        else:
            found[name] = column.to_numpy(dtype=object)
    return found


def type_of(cells: Any) -> str:
    """Return the type of a column that the user says nothing about."""
    if hasattr(cells, "categories"):
        return "category"
    if _is_arrow(cells):
        cells = cells.slice(0, 0).to_numpy(zero_copy_only=False)
    dtype = getattr(cells, "dtype", np.dtype(object))
    if hasattr(dtype, "tz") or dtype.kind == "M":
        return "date"
    return "number" if dtype.kind in "biufc" else "category"


def floats(name: str, cells: Any) -> np.ndarray:
    """Return a column of numbers as floats, NaN for missing ones."""
    if isinstance(cells, np.ndarray) and cells.dtype == np.float64:
        return cells
    cells = _as_numpy(cells)
    if cells.dtype.kind in "biuf":
        return cells.astype(np.float64)
    if cells.dtype.kind in "cMm":
        raise ValueError(
            f"Column {name!r} must hold numbers, as in training; it holds {cells.dtype}. Convert "
            "it to numbers."
        )
    values = np.full(len(cells), np.nan)
    for row, cell in enumerate(cells.tolist()):
        if isinstance(cell, (str, bytes)):
            raise ValueError(
                f"Column {name!r} must hold numbers, but row {row} has the text "
                f"{quoted(str(cell))}. Convert the column to numbers, or state its type: "
                f"types={{{name!r}: 'category'}}."
            )
        if not is_missing(cell):
            values[row] = float(cell)
    return values


def is_missing(cell: Any) -> bool:
    """Return whether a cell is None, NaN, NaT or pandas.NA."""
    return cell is None or type(cell).__name__ == "NAType" or bool(cell != cell)


def distinct_texts(name: str, cells: Any) -> tuple[list[str | None], np.ndarray]:
    """Return the distinct texts of a column, and the place of each row's text among them.

    A missing one has the place -1, or that of None. There may be texts that no row has.
    """
    if _is_arrow(cells):
        if hasattr(cells, "combine_chunks"):
            cells = cells.combine_chunks()
        if hasattr(cells, "dictionary") and len(cells.dictionary) > len(cells):
            cells = cells.dictionary_decode()
        cells = cells.dictionary_encode()
        places = cells.indices
        if places.null_count:
            places = places.fill_null(-1)
        return _texts(cells.dictionary.to_pylist()), places.to_numpy(zero_copy_only=False)
    if hasattr(cells, "categories"):
        return _texts(cells.categories.tolist()), np.asarray(cells.codes)
    cells = _as_numpy(cells)
    if cells.dtype.kind in "biuf":
        values, places = np.unique(cells, return_inverse=True)
        return _texts(values.tolist()), places
    place_of: dict[Any, int] = {}
    try:
        places = [place_of.setdefault(cell, len(place_of)) for cell in cells.tolist()]
    except TypeError:
        raise TypeError(
            f"Column {name!r} must hold texts or numbers; it holds lists or other nested values. "
            "Split them into columns of their own."
        ) from None
    return _texts(list(place_of)), np.asarray(places, dtype=np.intp)


def _texts(values: list) -> list[str | None]:
    return [value if isinstance(value, str) else _text(value) for value in values]


def _text(value: Any) -> str | None:
    """Return a value as text; a whole number is the same text whether it is a float or not."""
    if is_missing(value):
        return None
    return str(int(value) if isinstance(value, float) and value.is_integer() else value)


def date_parts(name: str, cells: Any) -> dict[str, np.ndarray]:
    """Return the parts of a column of dates as floats, NaN for missing ones."""
    if type_of(cells) != "date":
        raise ValueError(
            f"Column {name!r} must hold dates, as in training. Convert it by pandas.to_datetime."
        )
    local = cells.tz_localize(None) if getattr(cells, "tz", None) is not None else cells
    in_utc, moments = (
        np.asarray(dates, dtype="datetime64[us]").astype(np.int64) for dates in (cells, local)
    )
    missing = np.isnat(np.asarray(local, dtype="datetime64[us]"))
    moments, in_utc = np.where(missing, 0, moments), np.where(missing, 0, in_utc)
    days, clock = np.divmod(moments, 86_400_000_000)
    dates = days.astype("datetime64[D]")
    months, years = dates.astype("datetime64[M]"), dates.astype("datetime64[Y]")
    parts = (
        years.astype(np.int64) + 1970,
        months.astype(np.int64) % 12 + 1,
        (dates - years).astype(np.int64) + 1,
        (days + 3) % 7 + 1,  # 1970 began on a Thursday
        clock / 3.6e9,
        in_utc / 86.4e9,
    )
    return {
        part: np.where(missing, np.nan, values)
        for part, values in zip(DATE_PARTS, parts, strict=True)
    }


def _is_arrow(cells: Any) -> bool:
    return hasattr(cells, "dictionary_encode")


def _as_numpy(cells: Any) -> np.ndarray:
    if _is_arrow(cells):
        return cells.to_numpy(zero_copy_only=False)
    return cells if isinstance(cells, np.ndarray) else np.asarray(cells, dtype=object)
