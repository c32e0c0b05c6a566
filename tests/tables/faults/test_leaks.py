"""Laws of leaks: what names the class is found, what only helps to tell it is not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from granulearn.tables.faults.leaks import find_leak, near_share


def how(counts):
    leak = find_leak("c", counts)
    return leak.how if leak else None


def test_a_copy_is_one_in_any_spelling():
    counts = {("Yes", "yes"): 30, ("NO ", "no"): 70}
    assert find_leak("c", counts) == find_leak("c", dict(reversed(counts.items())))
    assert how(counts) == "copy"
    assert how({(1.0, "1"): 30, (0.0, "0"): 70}) == "copy"
    assert how({(0.5, "0.5"): 30, (1.5, "1.5"): 70}) == "copy"


def test_a_code_names_the_class_by_other_words():
    assert how({("A", "no"): 70, ("D", "yes"): 30}) == "code"
    # Several values may stand for one class, as counts of bugs for "has bugs".
    assert how({(float(n), "yes" if n else "no"): 50 for n in range(6)}) == "code"
    assert how({("yes", "no"): 30, ("no", "yes"): 70}) == "code"


def test_a_cell_that_is_filled_for_one_class_only_tells_it():
    assert (
        how({(None, "stays"): 80, ("price", "leaves"): 10, ("service", "leaves"): 10}) == "filled"
    )
    assert how({(None, "no"): 50, ("", "yes"): 50}) == "filled"
    assert how({(None, "no"): 50, ("", "no"): 5, ("", "yes"): 50}) is None


def test_missing_cells_do_not_hide_a_leak():
    counts = {("A", "no"): 20, ("D", "yes"): 10, (None, "no"): 60, (None, "yes"): 30}
    assert how(counts) == "code"
    counts |= {(None, "no"): 120}
    assert how(counts) is None


@pytest.mark.parametrize(("wrong", "leaks"), [(5, True), (6, False)])
def test_half_a_percent_may_be_wrong(wrong, leaks):
    counts = {("A", "no"): 500, ("D", "yes"): 500 - wrong, ("A", "yes"): wrong}
    leak = find_leak("c", counts)
    assert (leak is not None) == leaks
    if leak:
        assert leak.share == pytest.approx(1 - wrong / 1000)


@pytest.mark.parametrize(("wrong", "near"), [(6, True), (30, True), (31, False)])
def test_three_percent_may_be_wrong_of_what_is_nearly_a_leak(wrong, near):
    counts = {("A", "no"): 500, ("D", "yes"): 500 - wrong // 2, ("A", "yes"): wrong // 2}
    counts |= {("A", "no"): 500 - (wrong - wrong // 2), ("D", "no"): wrong - wrong // 2}
    assert near_share(counts) == (pytest.approx(1 - wrong / 1000) if near else None)
    assert find_leak("c", counts) is None


def test_what_is_nearly_a_leak_names_each_class_and_is_there():
    assert near_share({("A", "no"): 980, ("A", "yes"): 10, ("B", "yes"): 10}) is None
    assert near_share({(None, "no"): 98, (None, "yes"): 2, ("", "yes"): 98}) is None
    assert near_share({("A", "no"): 9, ("B", "yes"): 11, (None, "no"): 100}) is None


def test_a_rare_class_that_is_not_named_is_no_leak():
    # Saying the frequent class always is right in 99.9 % of the rows.
    assert how({("A", "no"): 9980, ("A", "yes"): 5, ("B", "yes"): 5}) is None


def test_few_rows_one_class_or_one_value_are_no_leak():
    assert how({("A", "no"): 10, ("D", "yes"): 9}) is None
    assert how({("A", "no"): 10, ("D", "yes"): 10}) == "code"
    assert how({("A", "no"): 100, ("D", "no"): 100}) is None
    assert how({("A", "no"): 100, ("A", "yes"): 1}) is None
    assert how({}) is None


def test_a_column_of_names_is_no_leak():
    assert how({(f"K{i}", "yes" if i % 2 else "no"): 1 for i in range(100)}) is None
    # As many classes as may have twice as many values, each of them once.
    assert how({(f"K{i}", f"class {i % 10}"): 1 for i in range(20)}) is None
    counts = {("A", "class 0"): 5, ("B", "class 1"): 5}
    assert how(counts | {(f"K{i}", f"class {i % 16}"): 1 for i in range(28)}) is None
    # Two rows for each name, as of customers that came twice.
    assert how({(f"K{i}", "yes" if i % 2 else "no"): 2 for i in range(300)}) is None
    # Values that occur once are left aside where they are few.
    counts = {("A", "no"): 500, ("D", "yes"): 480} | {(f"K{i}", "yes"): 1 for i in range(20)}
    assert how(counts) == "code"


@given(st.integers(0, 2**32 - 1), st.integers(2, 5), st.integers(2, 40))
def test_columns_that_know_nothing_of_the_label_are_no_leak(seed, n_classes, n_values):
    rng = np.random.default_rng(seed)
    pairs = zip(rng.integers(0, n_values, 400), rng.integers(0, n_classes, 400), strict=True)
    counts = {}
    for value, label in pairs:
        pair = (float(value), str(label))
        counts[pair] = counts.get(pair, 0) + 1
    assert how(counts) is None
