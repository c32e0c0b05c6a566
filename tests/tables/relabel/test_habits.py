"""Marks of a cell: kept where they can be, and found again when a change is taken back."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from granulearn.tables.relabel.habits import (
    are_mostly_marked,
    can_be_bare,
    is_number,
    stays_marked,
)


@pytest.mark.parametrize(
    ("old_needs", "new_needs", "habit"), list(product([False, True], repeat=3))
)
def test_changing_back_gives_the_marks_that_were(old_needs, new_needs, habit):
    was = old_needs or habit
    there = stays_marked(
        was_marked=was, old_needs=old_needs, new_needs=new_needs, habit=lambda: habit
    )
    back = stays_marked(
        was_marked=there, old_needs=new_needs, new_needs=old_needs, habit=lambda: habit
    )
    assert there == (new_needs or habit)
    assert back == was


@pytest.mark.parametrize("was_marked", [False, True])
def test_a_cell_out_of_habit_keeps_its_form_where_no_text_needs_marks(was_marked):
    assert was_marked == stays_marked(
        was_marked=was_marked, old_needs=False, new_needs=False, habit=lambda: not was_marked
    )


@given(st.lists(st.booleans(), max_size=20))
def test_most_cells_make_the_habit(marked):
    expected = marked.count(True) > marked.count(False) if marked else None
    assert are_mostly_marked(iter(marked)) is expected


def test_numbers_are_those_of_json():
    assert all(map(is_number, ["0", "-1", "1.50", "1e5", "2E-7", "10"]))
    assert not any(map(is_number, ["", "01", "+1", ".5", "1.", "1,5", "nan", "١", "1 ", "0x1"]))


def test_truth_values_and_numbers_can_be_bare():
    assert all(map(can_be_bare, ["true", "false", "3"]))
    assert not any(map(can_be_bare, ["True", "null", "x", ""]))
