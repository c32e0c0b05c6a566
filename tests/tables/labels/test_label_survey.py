"""Laws of counting labels: batches do not matter, and nothing grows without bound."""

from collections import Counter
from functools import reduce
from itertools import pairwise

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from granulearn.tables.labels import label_survey
from granulearn.tables.labels.label_survey import (
    LabelSurvey,
    join_label_surveys,
    label_key,
    survey_labels,
)

LABELS = st.one_of(
    st.none(),
    st.sampled_from(
        ["yes", "Yes ", "YES", "no", "", " ", "NA", "?", "1", "1.0", "2.5", "ﬁt", "fit"]
    ),
    st.text(max_size=4),
)


def surveyed(labels, cuts=()):
    edges = [0, *sorted(cuts), len(labels)]
    return [
        survey_labels(pa.array(labels[start:end], pa.string()), start)
        for start, end in pairwise(edges)
    ]


@st.composite
def cut_labels(draw):
    labels = draw(st.lists(LABELS, max_size=30))
    return labels, draw(st.lists(st.integers(0, len(labels)), max_size=4))


@given(cut_labels())
def test_batches_of_any_size_give_the_same_survey(case):
    labels, cuts = case
    whole = survey_labels(pa.array(labels, pa.string()), 0)
    parts = surveyed(labels, cuts)
    assert reduce(join_label_surveys, parts) == whole
    # From the right as well: joining is associative.
    assert reduce(lambda right, left: join_label_surveys(left, right), reversed(parts)) == whole


@given(cut_labels())
def test_batches_do_not_matter_when_there_are_too_many_spellings(case):
    labels, cuts = case
    different = survey_labels(pa.array(labels, pa.string()), 0).counts
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(label_survey, "MAX_SPELLINGS", 3)
        whole = survey_labels(pa.array(labels, pa.string()), 0)
        parts = surveyed(labels, cuts)
        assert reduce(join_label_surveys, parts) == whole
        assert whole.counts == (different if len(different) <= 3 else None)


@given(st.lists(LABELS, max_size=30))
def test_every_row_is_counted_once(labels):
    survey = survey_labels(pa.array(labels, pa.string()), 0)
    assert survey.rows + sum(survey.unlabelled.values()) == len(labels)
    found = Counter(label for label in labels if label in survey.counts)
    assert survey.counts == found
    assert survey.rows == found.total()
    assert survey.first_rows == {label: labels.index(label) for label in found}


def test_an_empty_survey_changes_nothing():
    survey = survey_labels(pa.array(["a", None, "b"]), 0)
    assert join_label_surveys(LabelSurvey(), survey) == survey
    assert join_label_surveys(survey, LabelSurvey()) == survey


def test_rows_without_a_label_are_counted_by_their_mark():
    survey = survey_labels(pa.array([None, "", "  ", "NA", " NA ", "n/a", "-", "unknown"]), 0)
    assert survey.unlabelled == {"": 3, "NA": 2, "n/a": 1}
    assert survey.counts == {"-": 1, "unknown": 1}


def test_runs_are_counted_by_key_and_over_rows_without_a_label():
    survey = survey_labels(pa.array(["a", None, "A ", "b", "", "b", "a"]), 0)
    assert survey.runs == 3
    assert survey.ends == ("a", "a")


def test_spellings_beyond_the_limit_are_not_kept():
    survey = survey_labels(pa.array([f"name {i}" for i in range(10_001)]), 0)
    assert (survey.counts, survey.first_rows, survey.rows) == (None, {}, 10_001)
    fewer = survey_labels(pa.array([f"name {i}" for i in range(10_000)]), 0)
    assert len(fewer.counts) == 10_000
    other = survey_labels(pa.array(["one more"]), 10_000)
    assert join_label_surveys(fewer, other).counts is None


@pytest.mark.parametrize(
    ("labels", "numbers", "decimals"),
    [
        (["1", "-2", "+3", "10"], 4, 0),
        (["1.0", "2.00", "3."], 3, 0),
        (["1.5", ".5", "-0,25", "1e-3", "3.5e4"], 5, 5),
        (["1.169,00 €", "$17,000,000", "62.0%", "(120)", "1 525"], 5, 1),
        (["a", "1a", "-", "2020-01-31", "1.2.3", "v1", "unknown"], 0, 0),
    ],
)
def test_numbers_are_told_from_words(labels, numbers, decimals):
    survey = survey_labels(pa.array(labels), 0)
    assert (survey.numbers, survey.decimals) == (numbers, decimals)


@pytest.mark.parametrize(
    "column",
    [
        pa.array([1, 0, 1, None]),
        pa.array([1.0, 0.0, 1.0, None]),
        pa.array([1.0, 0.0, 1.0, float("nan")]),
        pa.array(["1", "0", "1", None]).dictionary_encode(),
    ],
)
def test_typed_columns_are_counted_as_their_text(column):
    assert survey_labels(column, 0) == survey_labels(pa.array(["1", "0", "1", None]), 0)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Gut", " gut "),
        ("not  sure", "Not\tSure"),
        ("Größe", "GRÖSSE"),
        ("caf\u00e9", "cafe\u0301"),
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


@given(st.text())
def test_outer_blanks_do_not_change_a_key(text):
    assert label_key(f" \t{text}\u00a0\n") == label_key(text)
