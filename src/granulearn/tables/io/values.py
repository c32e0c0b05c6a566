"""Python values of cells as text, for formats that have types but no spelling."""

from __future__ import annotations

import datetime
import decimal
import math
from typing import Any

# Above this, not every whole number is a float: digits would be invented.
_EXACT = 2.0**53


def text_of(value: Any) -> str | None:
    """Return a cell as text; None if it is missing.

    Whole numbers have no point, truth values are ``true`` and ``false``, dates and times are
    those of ISO 8601 with a blank between, without the time where it is midnight. A duration
    is its number of hours: a number can be learnt from, ``26:30:00`` cannot.

    Parameters
    ----------
    value : object
        What a library gives for a cell.
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, float):
        return _text_of_float(value)
    if isinstance(value, (datetime.date, datetime.time, datetime.timedelta)):
        return _text_of_time(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, decimal.Decimal):
        return None if value.is_nan() else format(value, "f")
    if hasattr(value, "item") and getattr(value, "ndim", 1) == 0:  # a scalar of NumPy
        plain = value.item()
        return str(value) if type(plain) is type(value) else text_of(plain)
    text = str(value)
    if isinstance(value, bool):
        return text.lower()
    return None if text in ("NaT", "<NA>") else text


def _text_of_float(value: float) -> str | None:
    if math.isnan(value):
        return None
    if value.is_integer() and abs(value) < _EXACT:
        return str(int(value))
    return repr(float(value))


def _text_of_time(value: datetime.date | datetime.time | datetime.timedelta) -> str | None:
    if isinstance(value, datetime.timedelta):
        return _text_of_float(value.total_seconds() / 3600)
    if str(value) == "NaT":
        return None
    if isinstance(value, datetime.datetime):
        at_midnight = value.time() == datetime.time() and value.tzinfo is None
        return value.date().isoformat() if at_midnight else value.isoformat(" ")
    return value.isoformat()
