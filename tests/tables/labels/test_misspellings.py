"""Laws of finding labels that look misspelt."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from granulearn.tables.labels import misspellings
from granulearn.tables.labels.misspellings import find_misspelt, within_edits

WORDS = st.text(alphabet="abc", max_size=6)


def distance(a, b):
    """Return the optimal string alignment distance, by the textbook's table."""
    table = [
        [max(i, j) if 0 in (i, j) else 0 for j in range(len(b) + 1)] for i in range(len(a) + 1)
    ]
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            table[i][j] = min(
                table[i - 1][j] + 1,
                table[i][j - 1] + 1,
                table[i - 1][j - 1] + (a[i - 1] != b[j - 1]),
            )
            if i > 1 and j > 1 and a[i - 2 : i] == b[j - 2 : j][::-1]:
                table[i][j] = min(table[i][j], table[i - 2][j - 2] + 1)
    return table[-1][-1]


@given(WORDS, WORDS, st.integers(0, 2))
def test_edits_are_those_of_the_textbook(a, b, edits):
    assert within_edits(a, b, edits) == (distance(a, b) <= edits)


@pytest.mark.parametrize(
    ("rare", "frequent"),
    [
        ("schlehct", "schlecht"),
        ("benigm", "benign"),
        ("beingn", "benign"),
        ("malignannt", "malignant"),
        ("versicolour", "versicolor"),
        ("vircginica", "virginica"),
    ],
)
def test_a_rare_label_close_to_a_frequent_one_is_listed(rare, frequent):
    assert find_misspelt({frequent: 200, "another": 150, rare: 2}) == ((rare, frequent),)


@pytest.mark.parametrize(
    ("rare", "frequent"),
    [
        ("yes", "yet"),
        ("male", "female"),
        ("normal", "abnormal"),
        ("grade 1", "grade 2"),
        ("1000", "1001"),
        ("10.50", "10.51"),
        ("class a", "group a"),
    ],
)
def test_words_that_are_both_meant_are_not_listed(rare, frequent):
    assert find_misspelt({frequent: 200, "another": 150, rare: 2}) == ()


def test_only_rare_labels_are_listed():
    assert find_misspelt({"benign": 500, "benigm": 6}) == ()
    assert find_misspelt({"benign": 500, "benigm": 5}) == (("benigm", "benign"),)
    assert find_misspelt({"benign": 9, "benigm": 2}) == ()
    assert find_misspelt({"benign": 10, "benigm": 2}) == (("benigm", "benign"),)


def test_the_nearest_label_is_the_one_meant_then_the_most_frequent():
    counts = {"versicolor": 100, "versicolour": 50, "versicoloor": 1}
    assert find_misspelt(counts) == (("versicoloor", "versicolor"),)
    assert find_misspelt({"aaaabbbx": 90, "aaaabbyy": 100, "aaaabbbb": 1}) == (
        ("aaaabbbb", "aaaabbbx"),
    )


def test_thousands_of_labels_are_not_compared(monkeypatch):
    counts = {f"label {chr(97 + i)}": 1 for i in range(10)} | {"label": 1000}
    assert len(find_misspelt(counts)) == 0
    counts = {f"labe{chr(97 + i)}": 1 for i in range(10)} | {"label": 1000}
    assert len(find_misspelt(counts)) == 10
    monkeypatch.setattr(misspellings, "MAX_RARE", 9)
    assert find_misspelt(counts) == ()
