"""A profile counts what a slow loop over the cells counts, however the table is cut."""

import string
from collections import Counter
from functools import reduce
from itertools import islice, product
from operator import add
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from granulearn.tables import infer as profile
from granulearn.tables.infer import LONG, NO, PLUS, WORD, YES, ColumnProfile, profile_column
from granulearn.tables.parse import masks
from granulearn.tables.parse.cells import BOOLEANS, as_text, is_null_token
from granulearn.tables.parse.dates import date_classes, date_mask
from granulearn.tables.parse.numbers import NumberClass, NumberForm, number_class, parse_numbers
from granulearn.tables.schema import SHOWN_CELLS

texts = st.one_of(
    st.none(),
    st.sampled_from(["", "?", "NA", "-", "+", " 7 ", "1", "2", "3", "4", "+5", "007", "1.234"]),
    st.sampled_from(["1,5", "1.5", "5 kg", "7 kg", "3 lb", "9B", "4C", "1D", "2 €", "1e0005"]),
    st.sampled_from(["2024-02-29", "1/2/2024", "13/2/2024", "10:30", "a b c", "yes", "no", "Ä"]),
    st.sampled_from(["2024-02-30", "déc. 25th 2023", "5. Mai 2023", "25:00", "1e99 kg", "#DIV/0!"]),
    st.sampled_from(["x" * 300, "1" * 80, "1" * 200, "9007199254740993", "1e200", "inf", "-0"]),
    st.text(max_size=4),
)
columns = st.one_of(
    st.lists(texts, max_size=30),
    st.lists(st.sampled_from(["1", "2.50", "3", "-4", "0.5", "?", "1.234"]), max_size=30),
    st.integers(-3, 10**16).flatmap(
        lambda first: st.integers(0, 30).map(lambda n: [str(first + row) for row in range(n)])
    ),
)
cuts = st.lists(st.integers(0, 30), max_size=6).map(sorted)


def content(column: ColumnProfile) -> dict:
    """Return all that a profile holds, in a form that can be compared."""
    held = {name: getattr(column, name) for name in ColumnProfile.__dataclass_fields__}
    return held | {"hashes": column.hashes.tolist(), "distinct": column.distinct}


def pieces_of(column: pa.Array, places: list[int]) -> list[tuple[int, pa.Array]]:
    """Return slices of a column with the row at which each begins."""
    ends = [min(place, len(column)) for place in places]
    return [
        (begin, column[begin:end])
        for begin, end in zip([0, *ends], [*ends, len(column)], strict=True)
    ]


def class_of(text: str):
    """Return the class of one text, from its own digits."""
    masked = masks.MaskedTexts(pa.array([text]))
    mask = masked.masks[0].as_py()
    special = {1.0: YES, 0.0: NO}.get(BOOLEANS.get(text.lower()), PLUS if text == "+" else None)
    if special or len(text) > profile.LONGEST_CATEGORY:
        return special or LONG
    kind = number_class(mask) if len(mask) <= 400 else None
    if kind is not None:
        form = NumberForm("." if kind.point else ",", kind.unit)
        return WORD if parse_numbers(pa.array([text]), form)[1][0] else kind
    found = date_mask(mask)
    return next(iter(date_classes(masked, masked.rows(0), found)), WORD) if found else WORD


def is_plain(text: str) -> bool:
    kind = class_of(text)
    return isinstance(kind, NumberClass) and kind.point and not set(text) - set("0123456789.+-eE")


@pytest.mark.parametrize("few_masks", [0, 64])
@given(columns, st.integers(0, 100))
def test_a_profile_counts_what_a_slow_loop_over_the_cells_counts(few_masks, cells, first_row):
    text = as_text(pa.array(cells, pa.string()))
    nulls = is_null_token(text).to_pylist()
    rows = list(zip(text.to_pylist(), nulls, strict=True))
    known = [(row, cell) for row, (cell, null) in enumerate(rows, first_row) if not null]
    with mock.patch.object(masks, "_FEW_MASKS", few_masks):
        found = profile_column("c", pa.array(cells, pa.string()), first_row)
    kinds = [class_of(cell) for _, cell in known]
    words = Counter(cell for (_, cell), kind in zip(known, kinds, strict=True) if kind == WORD)
    plain = [float(cell) for _, cell in known if is_plain(cell)]
    assert (found.rows, found.known) == (len(cells), len(known))
    assert found.missing == Counter(cell or "" for cell, null in rows if null)
    assert {kind: cells.count for kind, cells in found.classes.items()} == Counter(kinds)
    for kind, own_cells in found.classes.items():
        own = [row for (row, _), each in zip(known, kinds, strict=True) if each == kind]
        assert [cell.row for cell in own_cells.first] == own[:SHOWN_CELLS]
    different = dict.fromkeys(cell for _, cell in known)
    assert [cell[:200] for cell in found.examples] == [cell[:200] for cell in different][:3]
    assert found.letters == sum(len(word) * n for word, n in words.items())
    assert found.blanks == sum(word.count(" ") * n for word, n in words.items())
    assert found.lowest == min(plain, default=np.inf)
    assert found.highest == max(plain, default=-np.inf)
    assert found.all_whole == all(value == int(value) for value in plain)
    assert found.distinct == len(different)


@given(columns, cuts)
@example(["x" * 300] + ["a"] * 5, [1])
@example([f"{n} u{chr(97 + n)}" for n in range(6)] + ["word", "1 ua"], [3, 7])
@example(["9007199254740992", "9007199254740993"], [1])
def test_any_partition_gives_the_same_profile(cells, places):
    column = pa.array(cells, pa.string())
    limits = {"MAX_UNITS": 2, "LONGEST_CATEGORY": 3}
    with mock.patch.multiple(profile, **limits, KEPT_HASHES=6):
        whole = content(profile_column("c", column))
        parts = [profile_column("c", piece, row) for row, piece in pieces_of(column, places)]
        assert content(reduce(add, parts)) == whole
        assert content(reduce(lambda later, earlier: earlier + later, parts[::-1])) == whole


@pytest.mark.parametrize(
    "cells",
    [[f"word {row}" for row in range(20_000)], [str(row * 0.5) for row in range(20_000)],
     [f"{row // 2:08x}" for row in range(20_000)]],
    ids=["words", "numbers", "codes"],
)  # fmt: skip
def test_different_cells_are_counted_within_five_percent_in_batches_of_any_size(cells):
    column = pa.array(cells)
    found = profile_column("c", column)
    assert found.distinct == pytest.approx(len(set(cells)), rel=0.05)
    parts = [profile_column("c", column[row : row + 700], row) for row in range(0, 20_000, 700)]
    assert content(reduce(add, parts)) == content(found)
    assert len(found.hashes) == profile.KEPT_HASHES


def test_a_column_of_ten_thousand_units_is_profiled_as_fast_as_any():
    # A pass over all rows for each unit would take minutes.
    units = map("".join, islice(product(string.ascii_lowercase, repeat=3), 10_000))
    column = pa.array([f"{row} {unit}" for unit in units for row in range(10)])
    assert profile_column("c", column).classes[WORD].count == len(column)


def test_very_long_cells_are_profiled_as_fast_as_any_and_shown_in_part():
    cells = ["1" * 10**6 + "x", "x" * 10**6, "1 " * 10**5, "µ" * 10**5, "2020-" * 10**5]
    found = profile_column("c", pa.array(cells))
    assert found.classes[LONG].count == len(cells)
    assert max(len(cell.text) for cell in found.classes[LONG].first) == profile.SHOWN_LETTERS + 1
