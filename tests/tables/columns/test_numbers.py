"""Numbers are read back exactly in every way of writing them, and nothing else is one."""

import re
from decimal import Decimal
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from granulearn.tables.parse import numbers
from granulearn.tables.parse.dates import date_class
from granulearn.tables.parse.numbers import (
    LARGEST_NUMBER,
    NumberClass,
    NumberForm,
    classes_of_plain,
    is_plain,
    is_usable,
    number_class,
    plain_numbers,
    read_number,
    read_numbers,
)

GROUPS = {".": ["", ",", "'", "’", " ", "\u00a0", "\u2009", "\u202f"]}
GROUPS[","] = ["." if mark == "," else mark for mark in GROUPS["."]]
AFTER = ["%", "€", "min", "ct", "km/h", "m²", "µg", "°C", "Std.", "fl. oz.", "kr", "EUR", "Stück"]
BEFORE = ["$", "€", "US$", "£", "CHF", "Rs.", "zł"]

digits = st.from_regex("[0-9]{1,12}", fullmatch=True)
signs = st.sampled_from(["", "-", "+", "−", "()"])
plain_texts = st.from_regex(
    r"[-+]?(0{0,3}[0-9]{1,4}(\.[0-9]{0,4})?|\.[0-9]{1,4})([eE][-+]?[0-9]{1,4})?", fullmatch=True
)
scribbles = st.text("0123456789.,-+eE' ", min_size=1, max_size=9).map(str.strip).filter(bool)


@st.composite
def written_numbers(draw):
    """Draw a number, its text, and the form in which it is written."""
    whole, decimals = str(int(draw(digits))), draw(st.one_of(st.just(""), digits))
    mark = draw(st.sampled_from([".", ","]))
    group, sign = draw(st.sampled_from(GROUPS[mark])), draw(signs)
    body = f"{int(whole):,}".replace(",", group) + (mark + decimals if decimals else "")
    exponent = ""
    if len(whole) <= 3 or not group:
        exponent = draw(st.sampled_from(["", "", "e3", "E-2", "e+05"]))
    unit = draw(st.sampled_from(["", *AFTER, *BEFORE]))
    blank = draw(st.sampled_from(["", " ", "\u00a0"]))
    if unit in BEFORE and draw(st.booleans()):
        text = f"{unit}{blank}{body}{exponent}"
    else:
        text = f"{body}{exponent}{blank if unit else ''}{unit}"
    text = f"({text})" if sign == "()" else sign + text
    number = Decimal(f"{whole}.{decimals or 0}{exponent}")
    return text, float(-number if sign in ("-", "−", "()") else number), NumberForm(mark, unit)


@given(written_numbers())
def test_every_way_of_writing_a_number_is_read_back_exactly(case):
    text, number, form = case
    assert read_number(text, form) == number
    values, misfit = read_numbers(pa.array([text, None]), form)
    assert values[0] == number
    assert np.isnan(values[1])
    assert not misfit.any()


@given(written_numbers())
def test_the_class_of_a_number_tells_in_which_forms_it_can_be_read(case):
    text, number, form = case
    found = number_class(text)
    read = {mark: read_number(text, NumberForm(mark, form.unit)) for mark in ".,"}
    assert found.unit == form.unit
    assert (found.point, found.comma) == (read["."] is not None, read[","] is not None)
    assert found.doubtful == (found.point and found.comma and read["."] != read[","])
    assert read[form.decimal] == number


@given(written_numbers(), st.sampled_from(["min", "h", "€"]))
def test_a_number_of_another_unit_or_of_none_is_a_misfit(case, other):
    text, number, form = case
    values, misfit = read_numbers(pa.array([text]), NumberForm(form.decimal, other))
    fits = form.unit == other
    assert misfit.tolist() == [not fits]
    assert values[0] == number if fits else np.isnan(values[0])


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_float_that_can_be_used_is_read_back_exactly(number):
    text = repr(number)
    assert is_plain(text) == (abs(number) <= LARGEST_NUMBER)
    assert read_number(text, NumberForm()) == (number if is_plain(text) else None)


@given(scribbles, st.sampled_from([".", ","]))
@example("1.234,5", ".")
@example("1,234", ",")
@example("0,123", ".")
@example("12,34,567", ".")
@example("1,234e5", ".")
def test_a_text_in_a_form_is_the_number_that_is_written_so_again_or_a_misfit(text, decimal):
    value = read_number(text, NumberForm(decimal))
    values, misfit = read_numbers(pa.array([text]), NumberForm(decimal))
    assert misfit.tolist() == [value is None]
    if value is None:
        assert np.isnan(values[0])
        return
    assert values[0] == value
    body = text.lstrip("+- ").lower()
    body, _, exponent = body.partition("e")
    whole, _, decimals = body.partition(decimal)
    plain_whole = re.sub("[^0-9]", "", whole) or "0"
    assert abs(value) == float(f"{plain_whole}.{decimals or 0}e{exponent or 0}")
    if not re.fullmatch("[0-9]*", whole):
        group = re.search("[^0-9]", whole)[0]
        assert whole in {f"{int(plain_whole):,}".replace(",", mark) for mark in (group, ",", "'")}
        assert group not in ("-", "+", decimal)
        assert not exponent


@given(scribbles)
@example("1e400")
@example("inf")
@example("nan")
@example("1e151")
@example("1.e")
def test_plain_numbers_are_the_same_to_the_fast_and_the_slow_way(text):
    values = plain_numbers(pa.array([text]))
    assert (values is not None) == is_plain(text)
    if values is not None:
        assert values[0] == float(text) == read_number(text, NumberForm())


@pytest.mark.parametrize("few", [0, 100])
@given(st.lists(plain_texts, min_size=1, max_size=10), st.integers(0, 10), st.integers(1, 12))
@example(["1.5e2", "1.234", "-1.234", "+12.500", "0.123", ".123", "1234.567", "007", "00"], 0, 3)
@example(["1" * 100, "0." + "1" * 100, "1e0000005", "0" * 70], 0, 1)
def test_classes_of_plain_numbers_are_those_of_each_number(few, texts, start, n_rows):
    texts = [text for text in texts if is_plain(text)][start:]
    assume(texts)
    column = pa.array(["x", *texts])[1:]
    with mock.patch.object(numbers, "_FEW_CELLS", few):
        found = classes_of_plain(column, n_rows)
    classes = [number_class(text) for text in texts]
    assert {kind: count for kind, (count, _) in found.items()} == {
        kind: classes.count(kind) for kind in classes
    }
    for kind, (count, rows) in found.items():
        expected = [row for row, own in enumerate(classes) if own == kind]
        assert len(rows) >= min(n_rows, count)
        assert rows.tolist()[:n_rows] == expected[:n_rows]


@pytest.mark.parametrize("rare", ["7", "1.234", "012"])
def test_classes_that_begin_late_are_found_as_well(rare):
    texts = ["0.5"] * 2000 + [rare] * 3
    found = classes_of_plain(pa.array(texts), 12)
    assert found[number_class(rare)][0] == 3
    assert found[number_class(rare)][1].tolist() == [2000, 2001, 2002]


@given(st.lists(st.one_of(plain_texts, st.none()), max_size=8))
def test_a_column_of_plain_numbers_is_read_as_its_cells_are(texts):
    column = pa.array(texts, pa.string())
    values, misfit = read_numbers(column, NumberForm())
    expected = [None if text is None else read_number(text, NumberForm()) for text in texts]
    known = [value is not None for value in expected]
    assert values[known].tolist() == [value for value in expected if value is not None]
    assert np.isnan(values[~np.array(known, bool)]).all()
    assert misfit.tolist() == [
        text is not None and value is None for text, value in zip(texts, expected, strict=True)
    ]


@given(plain_texts, st.booleans())
def test_only_whole_numbers_with_a_zero_in_front_are_codes(text, signed):
    found = number_class(("-" if signed else "") + text.lstrip("+-"))
    assume(found is not None)
    digits_only = text.lstrip("+-")
    is_code = digits_only.isdigit() and len(digits_only) > 1 and digits_only[0] == "0"
    assert found.code == (is_code and not signed)


@pytest.mark.parametrize(
    "text",
    ["", "x", "1-2", "1/2", "12:30", "1.2.3", "1,2,3", "1 2", "1 23", "--1", "(-1)", "(1", "1)",
     "1,23.4", "0x1F", "1_000", "٣", "5 to 6", "1 h 30 min", "1.234.5", "12,3456.7", "1e5e5", "e5",
     "$", "1 very long unit", "5 averyveryverylongunit", "1" * 200, "infinity", "2020-01-31"],
)  # fmt: skip
def test_what_is_no_number_is_none_in_any_form(text):
    assert number_class(text) is None
    for mark in ".,":
        assert read_number(text, NumberForm(mark)) is None
        assert read_numbers(pa.array([text]), NumberForm(mark))[1].all()


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [("1.169,00 €", "€", 1169.0), ("$17,000,000", "$", 17e6), ("62.0%", "%", 62.0),
     ("1,525", "", 1525.0), ("-3.5e4", "", -35000.0), ("(120)", "", -120.0),
     ("100 min", "min", 100.0), ("1.1 ct", "ct", 1.1), ("($1,200.50)", "$", -1200.5)],
)  # fmt: skip
def test_the_numbers_of_the_catalogue_are_read(text, unit, value):
    kind = number_class(text)
    assert kind.unit == unit
    assert read_number(text, NumberForm("." if kind.point else ",", unit)) == value


def test_a_comma_is_in_doubt_only_where_it_can_be_two_things():
    doubtful = {text: number_class(text).doubtful for text in ("1,234", "1.234", "-12.500")}
    certain = {
        text: number_class(text).doubtful
        for text in ("1,23", "0,123", "1'234", "1.234,5", "1,234,567", "7", "1234.567")
    }
    assert all(doubtful.values())
    assert not any(certain.values())


@given(st.one_of(scribbles, plain_texts, written_numbers().map(lambda case: case[0])))
def test_no_number_is_a_date(text):
    assert number_class(text) is None or date_class(text) is None


@pytest.mark.parametrize("n", [10, 62])
@pytest.mark.parametrize("sign", ["µ", "²", "a", "1", " ", "1,", "1 ", "a.", "a ", "€", ".", "e1"])
def test_a_text_that_is_nearly_a_number_is_refused_at_once(sign, n):
    # With a pattern that can match in several ways this takes longer than anyone waits.
    for start in ("", "1", "-", "(1", "$"):
        assert number_class(((start + sign * n)[:62]) + "!") is None


def test_long_texts_are_refused_at_once_and_long_plain_numbers_are_numbers():
    for text in ("1" * 10**6 + "x", "0" * 10**6 + ".5.", "1 " * 10**5):
        assert not is_plain(text)
        assert number_class(text) is None
    assert number_class("0" * 10**5 + ".5") == NumberClass("", True, False, False)
    assert read_number("0." + "3" * 1000, NumberForm()) == 1 / 3


def test_numbers_that_cannot_be_computed_with_are_none():
    assert is_usable(np.array([0.0, -1e150, 1e150])).all()
    assert not is_usable(np.array([np.nan, np.inf, -np.inf, 1.1e150])).any()
    for text in ("1e151", "-1e151", "1e400", "9" * 152, "inf", "nan"):
        assert number_class(text) is None
        assert plain_numbers(pa.array(["1", text])) is None


@pytest.mark.parametrize("texts", [[], [None, None], ["1", None]])
def test_columns_without_numbers_are_read_as_missing(texts):
    values, misfit = read_numbers(pa.array(texts, pa.string()), NumberForm())
    assert np.isnan(values).tolist() == [text is None for text in texts]
    assert not misfit.any()
