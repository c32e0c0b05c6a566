"""A text that names the label of its row is found, whatever else it says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from granulearn.tables.faults.named_labels import naming_share


def counted(rows):
    counts = {}
    for pair in rows:
        counts[pair] = counts.get(pair, 0) + 1
    return counts


def notes(n_rows=100, text="It was {} then.", labels=("approved", "refused")):
    return [(text.format(labels[row % 2]), labels[row % 2]) for row in range(n_rows)]


@pytest.mark.parametrize("text", ["{}", "{}!", "so, {}.", "(VISIT 3) {}", "ÄÖ {} ß"])
@pytest.mark.parametrize("case", [str.lower, str.upper, str.title])
def test_a_class_is_named_by_its_word_in_any_case(text, case):
    rows = [(case(note), label) for note, label in notes(text=text)]
    assert naming_share(counted(rows)) == 1


@pytest.mark.parametrize("text", ["un{}", "{}ly", "it was", "{}_3"])
def test_a_part_of_a_word_names_nothing(text):
    assert naming_share(counted(notes(text=text))) is None


@pytest.mark.parametrize("labels", [("no", "ja"), ("1", "2"), ("1000", "2000")])
def test_short_names_and_numbers_are_words_of_any_text(labels):
    assert naming_share(counted(notes(labels=labels))) is None


def test_the_longer_name_hides_the_shorter_in_it():
    assert naming_share(counted(notes(labels=("good", "not good")))) == 1


@given(wrong=st.integers(0, 100), silent=st.integers(0, 300))
def test_nearly_all_that_name_a_class_must_be_right_and_half_must_name_one(wrong, silent):
    rows = notes(200)
    other = {"approved": "refused", "refused": "approved"}
    rows = [(note, other[label] if i < wrong else label) for i, (note, label) in enumerate(rows)]
    rows += [("nothing to say", label) for _, label in notes(silent)]
    share = naming_share(counted(rows))
    if wrong > 6 or silent > 200:
        assert share is None
    else:
        assert share == (200 - wrong) / (200 + silent)


def test_a_text_of_two_classes_names_none_of_them_rightly():
    assert naming_share(counted(notes(text="approved or refused: {}"))) is None


def test_a_word_that_is_right_by_chance_names_nothing():
    rows = [("approved soon", "refused" if row % 50 == 0 else "approved") for row in range(200)]
    assert naming_share(counted(rows)) is None


def test_missing_cells_and_numbers_name_nothing():
    assert naming_share({(None, "approved"): 50, (None, "refused"): 50}) is None
    assert naming_share({(1.0, "approved"): 50, (2.0, "refused"): 50}) is None
    with_missing = counted(notes()) | {(None, "approved"): 500}
    assert naming_share(with_missing) == 1


def test_few_rows_may_agree_by_chance():
    assert naming_share(counted(notes(18))) is None
    assert naming_share(counted(notes(20))) == 1
