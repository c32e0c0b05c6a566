"""Numbers that are read by their shape are those of each text alone, to the last bit."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from granulearn.tables.parse.cells import EXACT_MARKS, NULL_TOKENS, as_text
from granulearn.tables.parse.number_shapes import numbers_by_shape
from granulearn.tables.parse.numbers import NumberForm, read_number
from tests.tables.columns.cell_texts import NUMBERS, UNITS, columns_of, shapes_of_few

forms = st.builds(NumberForm, st.sampled_from([".", ","]), st.sampled_from(UNITS))
MANY = 300


@given(columns_of(NUMBERS), forms)
def test_a_number_by_its_shape_is_the_number_alone_to_the_last_bit(column, form):
    text = as_text(column)
    with shapes_of_few():
        values, known = numbers_by_shape(text, form)
    for cell, value, is_known in zip(text.to_pylist(), values, known, strict=True):
        if is_known:
            assert value.tobytes() == np.float64(read_number(cell, form)).tobytes()
        else:
            assert np.isnan(value)


@given(st.lists(st.from_regex("[0-9]{1,24}(\\.[0-9]{1,22})?", fullmatch=True), min_size=1))
def test_digits_that_a_float_cannot_hold_are_left_to_others(texts):
    with shapes_of_few():
        values, known = numbers_by_shape(pa.array(texts), NumberForm())
    for text, value, is_known in zip(texts, values, known, strict=True):
        digits = text.replace(".", "")
        assert is_known == (int(digits) < 2**53 and len(digits) <= 23)
        assert not is_known or value == float(text)


@pytest.mark.parametrize(
    ("text", "form"),
    [("$1,234.50", NumberForm(".", "$")), ("-$0.00", NumberForm(".", "$")),
     ("12,5 kg", NumberForm(",", "kg")), ("45 %", NumberForm(".", "%")),
     ("1.169,00 €", NumberForm(",", "€")), ("(1 234,5\u00a0€)", NumberForm(",", "€")),
     ("0.221000003814697", NumberForm()), ("3’100’000.5", NumberForm()), (".5", NumberForm())],
)  # fmt: skip
def test_numbers_as_people_write_them_are_known_by_their_shape(text, form):
    values, known = numbers_by_shape(pa.array([text] * MANY), form)
    assert known.all()
    assert values.tobytes() == np.full(MANY, read_number(text, form)).tobytes()


@pytest.mark.parametrize(
    ("text", "form"),
    [("0,123", NumberForm()), ("1e5", NumberForm()), ("1.234,5", NumberForm()),
     ("5 kg", NumberForm(".", "g")), ("2024-01-02", NumberForm()),
     ("9007199254740993", NumberForm()), ("word 1", NumberForm())],
)  # fmt: skip
def test_of_what_digits_do_not_tell_nothing_is_said(text, form):
    _, known = numbers_by_shape(pa.array([text] * MANY), form)
    assert not known.any()


@pytest.mark.parametrize("mark", [*NULL_TOKENS, *EXACT_MARKS])
def test_no_mark_is_a_number_in_any_form(mark):
    for cell in (mark, mark.upper()):
        for unit in UNITS:
            assert read_number(cell, NumberForm(".", unit)) is None
            assert read_number(cell, NumberForm(",", unit)) is None


@pytest.mark.parametrize("decimals", [22, 23])
def test_many_decimals_without_a_digit_before_them_are_rounded_once(decimals):
    # The 23rd power of ten is no float: to divide by it would round twice.
    rng = np.random.default_rng(0)
    texts = [f".{'0' * (decimals - 15)}{part:015}" for part in rng.integers(10**14, 10**15, MANY)]
    values, known = numbers_by_shape(pa.array(texts), NumberForm(".", ""))
    expected = np.array([float(text) for text in texts])
    assert (values[known] == expected[known]).all()
    assert known.all() == (decimals == 22)
