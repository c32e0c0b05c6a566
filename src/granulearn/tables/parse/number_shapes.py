"""Numbers of a column by the shape of their texts: digits times powers of ten, rounded once."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from granulearn.tables.parse.masks import by_shape, places_of_digits, powers_of_ten
from granulearn.tables.parse.numbers import NumberForm, has_groups, number_parts

# Whole numbers below this, and powers of ten up to the 22nd, are floats without rounding: one
# divided by the other is then rounded once, as the text itself would be (Clinger 1990).
_EXACT_BELOW = 2.0**53
_MOST_DIGITS = 22


class _Plan(NamedTuple):
    """How the texts of one shape are read."""

    worth: np.ndarray
    """Of each byte, as a digit; 0 where it is none."""
    divisor: float
    negative: bool
    leading: int | None
    """The byte that must not be 0, if thousands are grouped."""


def numbers_by_shape(text: pa.Array, form: NumberForm) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers that texts are, as `read_number` has them, and where they are known.

    Texts of rare shapes, with an exponent or with very many digits are left out, as is whatever
    is no number in this form: nothing is said of those.

    Parameters
    ----------
    text : pyarrow Array of strings
        Cells without blanks around them; null is a missing one.
    form : NumberForm
        How the column writes its numbers.

    Returns
    -------
    values : ndarray of float64
        NaN where nothing is said.
    known : ndarray of bool
        Where a number was read.
    """
    values = np.full(len(text), np.nan)
    for plan, rows, digits in by_shape(text, partial(_plan, form)):
        whole = digits @ plan.worth
        # A sum of parts that are not negative stays below only if none of it was rounded.
        sure = whole < _EXACT_BELOW
        if plan.leading is not None:
            sure &= digits[:, plan.leading] != 0
        found = whole / (-plan.divisor if plan.negative else plan.divisor)
        values[rows] = found if sure.all() else np.where(sure, found, np.nan)
    return values, ~np.isnan(values)


@lru_cache(1024)
def _plan(form: NumberForm, shape: str) -> _Plan | None:
    parts = number_parts(shape)
    if parts is None or parts.unit != form.unit or parts.exponent:
        return None
    grouped = has_groups(parts.body, form.decimal)
    places = places_of_digits(shape)
    if grouped is None or len(places) > _MOST_DIGITS:
        return None
    worth = np.zeros(len(shape.encode()))
    worth[places] = powers_of_ten(len(places))
    decimals = len(parts.body.partition(form.decimal)[2])
    return _Plan(worth, float(10**decimals), parts.negative, int(places[0]) if grouped else None)
