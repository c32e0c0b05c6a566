"""Every text of a shape is found with its digits, and no other."""

import re

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from granulearn.tables.parse.masks import (
    by_shape,
    places_of_digits,
    powers_of_ten,
)
from tests.tables.columns.cell_texts import DATES, NUMBERS, columns_of, shapes_of_few


def shape_of(text: str) -> str:
    return re.sub("[0-9]", "1", text)


def found_in(text: pa.Array) -> dict[int, tuple[str, np.ndarray]]:
    """Return the shape and the digits of each row that has some."""
    found = {}
    for shape, rows, digits in by_shape(text, lambda shape: shape):
        for row, own in zip(rows.tolist(), digits, strict=True):
            assert row not in found
            found[row] = shape, own
    return found


@given(columns_of([*NUMBERS, *DATES, "{}"]))
def test_each_text_has_its_own_shape_and_digits(text):
    with shapes_of_few():
        found = found_in(text)
    for row, cell in enumerate(text.to_pylist()):
        if not cell or len(cell.encode()) > 64:
            assert row not in found
            continue
        shape, digits = found[row]
        assert shape == shape_of(cell)
        places = places_of_digits(shape)
        assert digits[places].tolist() == [float(sign) for sign in re.findall("[0-9]", cell)]
        assert len(digits) == len(cell.encode())


@given(columns_of([*NUMBERS, *DATES]), st.integers(2, 5))
def test_rare_shapes_and_those_without_a_plan_are_left_out(text, fewest):
    with shapes_of_few(fewest):
        found = found_in(text)
        assert not list(by_shape(text, lambda shape: None))
    for row, (shape, _) in found.items():
        assert shape == shape_of(text[row].as_py())


def test_a_shape_that_many_texts_have_is_found_among_others():
    texts = [f"${number % 10},{number % 1000:03}.50" for number in range(1000)]
    texts[0] = "#1234567#"  # of the same length
    texts[500] = None
    found = found_in(pa.array(texts))
    assert sorted(found) == [row for row in range(1000) if row not in (0, 500)]


@pytest.mark.parametrize("texts", [[""] * 300, [None] * 300, ["ä" * 40] * 300])
def test_texts_without_bytes_or_with_too_many_have_no_shape(texts):
    assert not found_in(pa.array(texts, pa.string()))


def test_powers_of_ten_are_exact():
    assert [int(power) for power in powers_of_ten(23)] == [10**k for k in reversed(range(23))]
