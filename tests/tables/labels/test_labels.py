"""Laws of deciding on labels: joined, kept apart, refused; and of reading them."""

import unicodedata
from functools import reduce
from itertools import pairwise

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from granulearn.tables.labels.labels import (
    Labels,
    decide_labels,
    join_label_surveys,
    read_labels,
    survey_labels,
)
from granulearn.tables.parse.cells import LABEL_NULL_TOKENS
from tests.shared_data import shared_data_dir

LABELS = st.one_of(
    st.none(),
    st.sampled_from(["yes", "Yes ", "YES", " no", "no", "", "NA", "unknown", "1", "1.0", "2.5"]),
    st.text(max_size=4),
)


def decided(labels, *, exact=False, target="y"):
    return decide_labels(survey_labels(pa.array(labels, pa.string()), 0), target, exact=exact)


@given(st.lists(LABELS, max_size=40), st.data(), st.booleans())
def test_any_partition_of_the_rows_gives_the_same_labels(labels, data, exact):
    cuts = data.draw(st.lists(st.integers(0, len(labels)), max_size=4))
    edges = [0, *sorted(cuts), len(labels)]
    parts = [
        survey_labels(pa.array(labels[start:end], pa.string()), start)
        for start, end in pairwise(edges)
    ]
    joined = decide_labels(reduce(join_label_surveys, parts), "y", exact=exact)
    assert joined == decided(labels, exact=exact)


@given(st.lists(LABELS, max_size=40), st.booleans())
def test_read_labels_are_the_classes_with_their_rows(labels, exact):
    column = pa.array(labels, pa.string())
    decision = decided(labels, exact=exact)
    names = read_labels(column, decision)
    rows = pd.Series(names.to_pylist(), dtype=object).value_counts().to_dict()
    assert rows == decision.classes
    assert names.null_count == sum(decision.unlabelled.values())
    firsts = {name: names.to_pylist().index(name) for name in decision.classes}
    assert firsts == decision.first_rows


@given(st.lists(st.sampled_from(["Gut", "gut", " GUT", "Caf\u00e9", "Cafe\u0301", "x"])))
def test_labels_are_joined_as_normalised_text_is(labels):
    groups = pd.Series(labels, dtype=object).map(
        lambda text: unicodedata.normalize("NFKC", text.strip().casefold())
    )
    expected = sorted(groups.value_counts().to_list())
    assert sorted(decided(labels).classes.values()) == expected


def test_a_class_is_named_by_its_most_frequent_spelling_without_blanks():
    labels = decided(["no"] * 9 + ["yes "] * 5 + ["Yes"] * 4 + ["YES"])
    assert labels.classes == {"no": 9, "yes": 10}
    assert labels.spellings == {"no": "no", "yes ": "yes", "Yes": "yes", "YES": "yes"}
    assert labels.joined == {"yes": {"yes ": 5, "Yes": 4, "YES": 1}}
    assert list(labels.joined["yes"]) == ["yes ", "Yes", "YES"]
    (warning,) = labels.warnings
    assert "'yes ' (5) + 'Yes' (4) + 'YES' (1)" in warning
    assert "exact_labels=True keeps" in warning


def test_equally_frequent_spellings_give_the_first_in_order():
    assert list(decided(["b", "B", "a", "A"] * 5).classes) == ["A", "B"]


def test_exact_labels_stay_apart_even_by_blanks():
    labels = decided(["yes", "yes ", "Yes", "no"] * 5, exact=True)
    assert labels.classes == {"Yes": 5, "no": 5, "yes": 5, "yes ": 5}
    assert labels.joined == {}
    assert labels.warnings == ()


def test_a_spelling_that_is_not_known_is_only_trimmed():
    labels = decided(["yes", "no"] * 5)
    assert read_labels(pa.array([" maybe ", "yes", None, "NA"]), labels).to_pylist() == [
        "maybe",
        "yes",
        None,
        None,
    ]


@pytest.mark.parametrize("mark", [mark for mark in LABEL_NULL_TOKENS if mark])
def test_rows_with_a_mark_have_no_label_and_are_said(mark):
    labels = decided(["a", "b"] * 5 + [mark, None, ""])
    assert labels.unlabelled == {"": 2, mark: 1}
    assert labels.classes == {"a": 5, "b": 5}
    assert labels.warnings == (
        f"3 rows have no label in 'y' (2 empty, 1 {mark!r}); nothing is learned from them.",
    )


@pytest.mark.parametrize(
    ("labels", "whole"),
    [
        (["0", "1"], True),
        (["-1", "1"], True),
        (["01", "02"], False),
        (["+1", "-1"], False),
        (["1.0", "2.0"], False),
        (["1", "a"], False),
        (["1" * 19, "2"], False),
    ],
)
def test_whole_numbers_are_those_that_str_writes(labels, whole):
    assert decided(labels * 5).whole_numbers is whole


def test_floats_that_are_whole_are_whole_number_classes():
    labels = decide_labels(survey_labels(pa.array([0.0, 1.0, None] * 5), 0), "y")
    assert labels.whole_numbers
    assert labels.classes == {"0": 5, "1": 5}


@pytest.mark.parametrize(
    ("labels", "in_order"),
    [
        (["a"] * 10 + ["b"] * 10, True),
        (["a"] * 10 + [None] + ["A"] * 5 + ["b"] * 10, True),
        (["a"] * 10 + ["b"] * 10 + ["a"], False),
        (["a"] * 5 + ["b"] * 5, False),
        (["a"] * 20, False),
        (["a"] * 25 + ["b"], False),  # one time in thirteen by chance
    ],
)
@pytest.mark.parametrize("exact", [False, True])
def test_rows_that_come_class_by_class_are_noticed(labels, in_order, exact):
    assert decided(labels, exact=exact).sorted_by_label is in_order


def test_misspelt_and_small_classes_are_listed_not_joined():
    labels = decided(["gut"] * 300 + ["Schlecht"] * 100 + ["schlehct"] * 2)
    assert labels.misspelt == (("schlehct", "Schlecht"),)
    assert labels.small == {"schlehct": 2}
    assert labels.classes["schlehct"] == 2
    misspelt, small = labels.warnings
    assert "'schlehct' (2 rows) like 'Schlecht' (100 rows)" in misspelt
    assert "'schlehct' (2 rows)" in small


def test_too_many_spellings_are_a_problem_and_nothing_else():
    labels = decided([None, *(f"name {i}" for i in range(10_001))])
    assert labels == Labels(unlabelled={"": 1}, problems=labels.problems, warnings=labels.warnings)
    assert "more than 10000 different labels in 10001 rows ('name 0', ...)" in labels.problems[0]


def test_labels_of_the_messy_tables_are_two_classes():
    messy = shared_data_dir() / "messy"
    table = pd.read_csv(messy / "hmda.tsv", sep="\t", dtype=str, keep_default_na=False)
    deny = decided(table["deny"].tolist(), target="deny")
    assert deny.classes == {"no": 2096, "yes": 285}
    assert not deny.problems
    table = pd.read_csv(
        messy / "kredit.csv", sep=";", dtype=str, keep_default_na=False, encoding="cp1252"
    )
    assert decided(table["Bonität"].tolist()).classes == {"Gut": 715, "Schlecht": 305}
    assert "1.007,00 €" in decided(table["Betrag"].tolist()).problems[0]
