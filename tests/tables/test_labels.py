"""Laws of labels: spellings joined or kept apart, missing ones counted, measurements refused."""

from functools import reduce
from itertools import pairwise
from operator import add

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from granulearn.tables.labels import (
    decide_labels,
    find_misspelt,
    label_key,
    profile_labels,
    read_labels,
)
from granulearn.tables.parse.cells import LABEL_NULL_TOKENS

LABELS = st.one_of(
    st.none(),
    st.sampled_from(["yes", "Yes ", "YES", " no", "no", "", "NA", "unknown", "1", "1.0", "2.5"]),
    st.text(max_size=4),
)


def decided(labels, *, exact=False, cuts=()):
    edges = [0, *sorted(cuts), len(labels)]
    parts = [
        profile_labels(pa.array(labels[start:end], pa.string()), "y")
        for start, end in pairwise(edges)
    ]
    return decide_labels(reduce(add, parts), "y", exact=exact)


def repeated(names, rows):
    return [str(name) for name in names for _ in range(rows)]


@given(st.lists(LABELS, max_size=40), st.lists(st.integers(0, 40), max_size=4), st.booleans())
def test_batches_do_not_matter(labels, cuts, exact):
    cuts = [min(cut, len(labels)) for cut in cuts]
    assert decided(labels, exact=exact, cuts=cuts) == decided(labels, exact=exact)


@given(st.lists(LABELS, max_size=40), st.booleans())
def test_read_labels_are_the_classes_with_their_rows(labels, exact):
    found = decided(labels, exact=exact)
    names = read_labels(pa.array(labels, pa.string()), found)
    assert pd.Series(names.to_pylist(), dtype=object).value_counts().to_dict() == found.classes
    assert names.null_count == sum(found.unlabelled.values())


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("not  sure", "Not\tSure"),
        ("Größe", "GRÖSSE"),
        ("ＡＢ", "ab"),
        ("yes", "\ufeffyes\u200b"),
        ("yes", "yes\u00a0"),
        ("1", "1.0"),
        ("+1", "1"),
        ("-1", "-1.00"),
    ],
)
def test_spellings_of_one_label_have_one_key(a, b):
    assert label_key(a) == label_key(b)


@pytest.mark.parametrize(
    ("a", "b"), [("a", "b"), ("01", "1"), ("1", "-1"), ("1.5", "1"), ("resume", "résumé")]
)
def test_different_labels_have_different_keys(a, b):
    assert label_key(a) != label_key(b)


def test_a_class_is_named_by_its_most_frequent_spelling_without_blanks():
    labels = decided(["no"] * 9 + ["yes "] * 5 + ["Yes"] * 4 + ["YES"])
    assert labels.classes == {"no": 9, "yes": 10}
    assert labels.spellings == {"no": "no", "yes ": "yes", "Yes": "yes", "YES": "yes"}
    assert list(labels.joined["yes"].items()) == [("yes ", 5), ("Yes", 4), ("YES", 1)]
    (warning,) = labels.warnings
    assert "'yes ' (5) + 'Yes' (4) + 'YES' (1)" in warning
    assert "exact_labels=True" in warning
    assert list(decided(["b", "B", "a", "A"] * 5).classes) == ["A", "B"]


def test_exact_labels_stay_apart_even_by_blanks():
    labels = decided(["yes", "yes ", "Yes", "no"] * 5, exact=True)
    assert labels.classes == {"Yes": 5, "no": 5, "yes": 5, "yes ": 5}
    assert (labels.joined, labels.warnings) == ({}, ())


@pytest.mark.parametrize("token", [token for token in LABEL_NULL_TOKENS if token])
def test_rows_with_a_null_token_have_no_label_and_are_counted(token):
    labels = decided(["a", "b"] * 5 + [token, None, "  "])
    assert labels.unlabelled == {"": 2, token: 1}
    assert labels.classes == {"a": 5, "b": 5}
    (warning,) = labels.warnings
    assert warning.startswith(f"3 rows have no label in 'y' (2 empty, 1 {token!r})")


@pytest.mark.parametrize("token", ["unknown", "-", "none", "None of these"])
def test_classes_that_look_like_a_missing_label_are_named(token):
    said = f"may stand for a missing one: {token!r} (9 rows)"
    warnings = decided(["a", token] * 9).warnings
    assert any(said in text for text in warnings) == (token != "None of these")


@pytest.mark.parametrize(
    ("column", "whole"),
    [
        (["0", "1"], True),
        (["-1", "1"], True),
        (["01", "02"], False),
        (["+1", "-1"], False),
        (["1.0", "2.0"], False),
        (["1", "a"], False),
        (["1" * 19, "2"], False),
        ([0.0, 1.0], True),
        ([True, False], False),
    ],
)
def test_whole_numbers_are_those_that_str_writes(column, whole):
    labels = decide_labels(profile_labels(pa.array(column * 5), "y"), "y")
    assert labels.whole_numbers is whole
    assert labels.booleans is (column == [True, False])


@pytest.mark.parametrize(
    "labels",
    [
        ["a", "b"],
        repeated(range(10), 180),
        repeated(range(100), 16),
        repeated((i / 2 for i in range(1, 11)), 5),
        repeated("abcdefghijklmnopqrstuvwxyz", 2),
    ],
)
def test_classes_are_not_refused(labels):
    assert decided(labels).problems == ()


@pytest.mark.parametrize(
    ("labels", "found"),
    [
        (repeated((i / 4 for i in range(40)), 10), "40 different numbers with decimals"),
        (repeated((i / 4 for i in range(40)), 10) + ["-"] * 300, "41 different numbers"),
        (repeated(range(21), 4), "21 different whole numbers"),
        ([*repeated(range(17, 90), 50), "90"], "74 different whole numbers"),
        (repeated((f"{i},5 €" for i in range(30)), 9), "30 different numbers with decimals"),
        ([f"{i / 8}" for i in range(10_001)], "more than 10000 different numbers with decimals"),
    ],
    ids=["decimals", "with a token", "few rows each", "ages", "money", "too many to count"],
)
def test_measurements_are_refused_with_the_way_out(labels, found):
    (problem,) = decided(labels).problems
    assert f"Column 'y', the target, holds {found}" in problem
    assert "group the values" in problem
    assert "regressor" in problem


def test_misspelt_and_small_classes_are_listed_not_joined():
    labels = decided((["gut"] * 3 + ["Schlecht"]) * 100 + ["schlehct"] * 2)
    assert labels.misspelt == (("schlehct", "Schlecht"),)
    assert labels.small == {"schlehct": 2}
    assert labels.classes["schlehct"] == 2
    misspelt, small = labels.warnings
    assert "'schlehct' (2 rows) like 'Schlecht' (100 rows)" in misspelt
    assert "'schlehct' (2 rows)" in small


@pytest.mark.parametrize(
    ("rare", "frequent", "listed"),
    [
        ("schlehct", "schlecht", True),
        ("benigm", "benign", True),
        ("vircginica", "virginica", True),
        ("yes", "yet", False),
        ("male", "female", False),
        ("grade 1", "grade 2", False),
        ("10.50", "10.51", False),
    ],
)
def test_a_rare_label_close_to_a_frequent_one_is_misspelt(rare, frequent, listed):
    found = find_misspelt({frequent: 200, "another": 150, rare: 2})
    assert found == (((rare, frequent),) if listed else ())
