"""Values of cells as text."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from granulearn.tables.io.frames import text_of


@given(st.floats(allow_nan=False))
def test_the_text_of_a_number_is_that_number_without_a_needless_point(number):
    text = text_of(number)
    assert float(text) == number
    assert not text.endswith(".0") or "e" in text or abs(number) >= 2**53


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, None),
        (" a ", " a "),
        (True, "true"),
        (np.bool_(False), "false"),
        (7, "7"),
        (np.int64(7), "7"),
        (np.float32(0.5), "0.5"),
        (-0.0, "0"),
        (float("nan"), None),
        (pd.NaT, None),
        (pd.NA, None),
        (Decimal("1.50"), "1.50"),
        (Decimal("NaN"), None),
        (b"x", "x"),
        (datetime.date(2020, 1, 31), "2020-01-31"),
        (datetime.datetime(2020, 1, 31), "2020-01-31"),
        (datetime.datetime(2020, 1, 31, 12, 30), "2020-01-31 12:30:00"),
        (pd.Timestamp("2020-01-31 12:30"), "2020-01-31 12:30:00"),
        (np.datetime64("2020-01-31"), "2020-01-31"),
        (datetime.time(3, 4), "03:04:00"),
        (datetime.timedelta(hours=26, minutes=30), "26.5"),
        (1 + 2j, "(1+2j)"),
    ],
)
def test_every_value_has_one_text(value, text):
    assert text_of(value) == text
