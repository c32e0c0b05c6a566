"""Laws of what is said about labels: what is no class is refused, with the way out."""

import pytest

from granulearn.tables.labels.label_remarks import (
    label_problems,
    label_warnings,
    said_unlabelled,
    too_many_labels,
)
from granulearn.tables.labels.label_survey import LabelSurvey


def numbered(names, rows):
    return dict.fromkeys(map(str, names), rows)


@pytest.mark.parametrize(
    "classes",
    [
        {"a": 1, "b": 1},
        numbered(range(10), 180),
        numbered(range(1, 27), 700),
        numbered(range(100), 16),
        numbered((i / 2 for i in range(1, 11)), 5),
        {chr(97 + i): 2 for i in range(26)},
        {str(i): i for i in range(1, 30)},
        {"1": 3, "2": 2, "3": 1},
    ],
)
def test_classes_are_not_refused(classes):
    assert label_problems("y", classes) == ()


@pytest.mark.parametrize(
    "classes",
    [
        numbered((i / 4 for i in range(40)), 100),
        numbered(range(21), 4),
        numbered(range(1000), 2),
        numbered(range(17, 90), 500) | {"90": 1},
        numbered((f"{i},5 €" for i in range(30)), 9),
        numbered((i / 4 for i in range(40)), 100) | {"-": 3000},
    ],
    ids=["decimals", "few rows each", "counts", "ages", "money", "with a mark"],
)
def test_measurements_are_refused_with_the_way_out(classes):
    (problem,) = label_problems("y", classes)
    assert problem.startswith("Column 'y', the target, holds ")
    assert "group the values" in problem
    assert "regressor" in problem


def test_names_and_texts_are_refused():
    (problem,) = label_problems("who", {f"K{i}": 1 for i in range(50)})
    assert "50 different labels in 50 rows ('K0', ...)" in problem
    assert "choose another column" in problem


@pytest.mark.parametrize(
    ("classes", "found"),
    [({}, "is empty in every row;"), ({"yes": 7}, "is 'yes' in every row that has one;")],
)
def test_one_class_is_nothing_to_tell_apart(classes, found):
    (problem,) = label_problems("y", classes)
    assert found in problem
    assert "nothing to tell apart" in problem


@pytest.mark.parametrize(
    ("survey", "found"),
    [
        (LabelSurvey(90, None, numbers=90, decimals=9, example="0.5"), "numbers with decimals"),
        (LabelSurvey(90, None, numbers=90, example="7"), "whole numbers"),
        (LabelSurvey(90, None, numbers=9, example="abc"), "labels in 90 rows ('abc'"),
    ],
)
def test_too_many_labels_are_refused_by_what_they_are(survey, found):
    problem = too_many_labels("y", survey)
    assert f"more than 10000 different {found}" in problem


@pytest.mark.parametrize("mark", ["unknown", "-", "none", "None of these", "Missing"])
def test_classes_that_look_like_a_missing_label_are_said(mark):
    warnings = label_warnings("y", {"a": 9, mark: 9}, {}, ())
    expected = mark != "None of these"
    assert any(f"kept as classes: {mark!r} (9 rows)" in text for text in warnings) is expected


def test_many_numbers_taken_as_classes_are_said():
    assert label_warnings("y", numbered(range(20), 9), {}, ()) == ()
    (warning,) = label_warnings("y", numbered(range(21), 9), {}, ())
    assert "The 21 different numbers in 'y' are learned as classes" in warning


def test_long_lists_are_cut_and_long_labels_shortened():
    classes = {"x" * 100: 1, **{f"class {i:02}": 1 for i in range(30)}}
    (warning,) = label_warnings("y", classes, {}, ())
    assert "'" + "x" * 37 + "...'" in warning
    assert "and 21 more" in warning


def test_rows_without_a_label_are_said_in_the_right_number():
    assert said_unlabelled("y", {}) == ()
    assert said_unlabelled("y", {"": 1})[0].startswith("1 row has no label in 'y' (1 empty);")
    assert said_unlabelled("y", {"": 1, "NA": 2})[0].startswith("3 rows have no label")
