"""Texts are looked up as in a dict, for a whole column at once."""

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from granulearn.tables.columns.lookups import Lookup

TEXTS = st.text("ab0ß\0", max_size=4) | st.sampled_from(
    ["", "12345678", "123456789", "x" * 23 + "y", "x" * 24, "x" * 25, "x" * 40, "€" * 8]
)
MISSING = -7.0


@given(
    st.lists(TEXTS, unique=True, max_size=12),
    st.lists(TEXTS | st.none(), max_size=30),
    st.integers(0, 3),
)
def test_each_text_becomes_what_the_table_says_or_is_one_of_the_others(texts, cells, begin):
    values = np.arange(len(texts), dtype=float)
    become = {**dict(zip(texts, values, strict=True)), None: MISSING}
    every = [*["before", None, ""][:begin], *cells, "behind"]
    column = pa.array(every, pa.string())[begin:-1]
    found = Lookup(texts, values, MISSING).find(column)
    if found is None:
        return
    others = {*found.others.tolist()}
    for row, cell in enumerate(cells):
        if row not in others:
            assert found.values[row] == become[cell]


@given(st.lists(st.sampled_from(["yes", "no", "", "maybe", None]), min_size=1))
def test_short_texts_of_the_table_are_all_found(cells):
    texts = ["yes", "no", "", "maybe"]
    values = np.arange(4.0)
    found = Lookup(texts, values, np.nan).find(pa.array(cells, pa.string()))
    expected = [np.nan if cell is None else texts.index(cell) for cell in cells]
    assert not len(found.others)
    np.testing.assert_array_equal(found.values, expected)


def test_a_column_of_other_texts_is_not_looked_up():
    lookup = Lookup(["a"], np.ones(1), 0.0)
    assert lookup.find(pa.array(["b"] * 9 + ["a"])) is None
    assert lookup.find(pa.array([], pa.string())) is None
    assert lookup.find(pa.array(["a\0"] + ["a"] * 9)) is None
    assert lookup.find(pa.array(["b"] + ["a"] * 9)).others.tolist() == [0]
    assert lookup.find(pa.array(["a" * 9] + ["a"] * 9)).others.tolist() == [0]


def test_a_table_may_hold_nothing():
    lookup = Lookup([], np.empty(0), 5.0)
    assert lookup.find(pa.array([None, None], pa.string())).values.tolist() == [5.0, 5.0]
    assert lookup.find(pa.array(["", ""])) is None
