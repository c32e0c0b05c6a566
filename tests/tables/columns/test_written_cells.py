"""A column of text is read the same, cell by cell and by different texts and shapes."""

from unittest import mock

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from granulearn.tables.columns import cells_at_once, schema, written_cells
from granulearn.tables.columns.dates import FAMILIES, DateForm
from granulearn.tables.columns.numbers import NumberForm
from granulearn.tables.columns.schema import DATE, NUMBER, YES_NO, Column, Schema
from granulearn.tables.columns.typed_rows import TypedRows, joined_rows
from granulearn.tables.columns.written_cells import (
    UsualCategories,
    are_repeated,
    truth,
    written_categories,
)
from granulearn.tables.io.frames import table_of
from tests.tables.columns.cell_texts import DATES, NUMBERS, columns_of, shapes_of_few
from tests.tables.columns.read_columns import (
    assert_same,
    numbers,
    read_one_by_one,
    yes_or_no,
)

STORED = {
    "text": lambda text: text,
    "large text": lambda text: text.cast(pa.large_string()),
    "views": lambda text: text.cast(pa.string_view()),
    "dictionary": lambda text: text.dictionary_encode(),
    "chunks": lambda text: pa.chunked_array([text[:2], text[2:2], text[2:]]),
    "part of a dictionary": lambda text: pa.concat_arrays([text, text]).dictionary_encode()[
        len(text) :
    ],
}
dates = st.builds(
    lambda family, day_first, clock: Column("c", DATE, date=DateForm(family, day_first, clock)),
    st.sampled_from(FAMILIES),
    st.booleans(),
    st.booleans(),
)


def read_stored(column: Column, cells: pa.Array | pa.ChunkedArray) -> TypedRows:
    """Return what the column of a table becomes."""
    with table_of(pa.table({"c": cells})) as file:
        parts, row = [], 0
        for batch in file.batches():
            parts.append(Schema((column,)).read(batch, row))
            row += batch.num_rows
    return joined_rows(parts)


@pytest.mark.parametrize("stored", STORED)
@given(
    st.one_of(
        st.tuples(numbers, columns_of(NUMBERS)),
        st.tuples(dates, columns_of(DATES)),
        st.tuples(st.just(Column("c", YES_NO)), yes_or_no.map(pa.array)),
        st.tuples(st.just(Column("c", NUMBER, filled=True)), yes_or_no.map(pa.array)),
    ),
    st.booleans(),
    st.booleans(),
)
def test_columns_of_text_are_read_as_one_by_one_however_they_are_stored(
    stored, case, repeated, at_once
):
    column, text = case
    expected = read_one_by_one(column, text)
    with (
        shapes_of_few(),
        mock.patch.object(cells_at_once, "FEWEST_CELLS", 1 if at_once else 1000),
        mock.patch.object(schema, "are_repeated", return_value=repeated),
    ):
        found = read_stored(column, STORED[stored](text))
    assert_same(found, expected)


@pytest.mark.parametrize("share", [1, 20])
@pytest.mark.parametrize(
    ("column", "write"),
    [
        (Column("c", NUMBER, number=NumberForm(".", "$")), lambda n: f"${n * 1.37:,.2f}"),
        (Column("c", NUMBER, number=NumberForm(",", "kg")), lambda n: f"-{n},5 kg"),
        (Column("c", NUMBER), lambda n: repr(n / 7)),
        (Column("c", NUMBER), lambda n: f"{n % 7}.5"),
        (Column("c", NUMBER), lambda n: f"-{n}e{n % 9}" if n % 3 else "n/a"),
        (Column("c", NUMBER, number=NumberForm(",")), lambda n: f"{n},25"),
        (Column("c", NUMBER, number=NumberForm(",")), lambda n: f"{n % 30}"),
        (Column("c", NUMBER, values_like_marks=("?",)), lambda n: f"{n / 8}"),
        (Column("c", YES_NO), lambda n: ("yes", "NO", "", "#N/A", "Ja")[n % 5]),
        (Column("c", DATE, date=DateForm("dotted")), lambda n: f"{n % 31}.{n % 13}.{n % 9999}"),
    ],
)
def test_many_cells_with_marks_and_misfits_are_read_as_one_by_one(column, write, share):
    """As they come in tables: nothing is set to other values."""
    texts = [write(number // share) for number in range(5000)]
    texts[7::50], texts[11::100], texts[13], texts[14] = ["?"] * 100, [None] * 50, "word", " 1e3 "
    text = pa.array(["before", *texts])[1:]
    expected = read_one_by_one(column, text)
    assert expected.misfits["c"].count
    assert_same(Schema((column,)).read({"c": text}), expected)
    parts = [Schema((column,)).read({"c": text[begin : begin + 700]}, begin) for begin in PARTS]
    assert_same(joined_rows(parts), expected)


PARTS = range(0, 5000, 700)


@pytest.mark.parametrize("index", [pa.int8(), pa.uint8(), pa.uint64()])
@pytest.mark.parametrize("value", [pa.string(), pa.large_string(), pa.float64()])
def test_a_dictionary_may_use_all_the_codes_that_it_has(index, value):
    n_texts = 256 if index == pa.uint8() else 128
    texts = pa.array([f"{number}.5" for number in range(n_texts)]).cast(value)
    codes = pa.array([*range(n_texts), None, 0, None], index)
    cells = pa.DictionaryArray.from_arrays(codes, texts)
    expected = np.array([*np.arange(n_texts) + 0.5, np.nan, 0.5, np.nan])
    for end in (n_texts, len(cells)):
        found, misfit = schema.read_column(Column("c", NUMBER), cells[:end])
        assert misfit is None
        assert np.array_equal(found["c"], expected[:end], equal_nan=True)


CATEGORIES = ["a", "ß", "", "NA", "4", "4.0", "a much longer name than that", "Zürich", "none"]


@given(
    st.lists(st.sampled_from([*CATEGORIES, " a ", "new", "n/a", None, "a\0"]), min_size=1),
    st.lists(st.sampled_from(CATEGORIES), min_size=1, unique=True),
    st.sampled_from([(), ("NA", "n/a")]),
    st.booleans(),
)
def test_categories_are_the_same_whichever_are_usual(cells, categories, marks, of_numbers):
    text = pa.array(cells, pa.string())
    expected = written_categories(text, marks, of_numbers).dictionary_decode()
    usual = UsualCategories(categories, marks, of_numbers)
    with mock.patch.object(written_cells, "FEWEST_CELLS", 1):
        found = written_categories(text, marks, of_numbers, usual)
    assert found.dictionary_decode().equals(expected)
    assert len(found.dictionary.unique()) == len(found.dictionary)
    assert not found.dictionary.null_count


def test_texts_that_come_again_and_again_are_noticed():
    assert are_repeated(pa.array(["a", "b"] * 1000))
    assert not are_repeated(pa.array([str(number) for number in range(2000)]))
    assert not are_repeated(pa.array(["a"] * 10))


@pytest.mark.parametrize(
    "pair",
    ["yes no", "Y N", "TRUE FALSE", "t f", "Ja Nein", "j n", "oui non", "Sí no", "si no", "sim não",
     "on off", "wahr falsch", "vrai faux", "vero falso", "sì no", "ja nee", "да нет", "tak nie"],
)  # fmt: skip
def test_yes_and_no_are_understood_in_the_usual_languages(pair):
    yes, no = pair.split()
    assert (truth(yes), truth(no)) == (1.0, 0.0)


@pytest.mark.parametrize("text", ["maybe", "1", "0", "", "m", "x", "yes!", "noo"])
def test_anything_else_is_neither_yes_nor_no(text):
    assert truth(text) is None
