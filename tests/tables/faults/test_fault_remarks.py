"""What was found is said once, with what to do."""

import pytest

from granulearn.tables.faults.examination import Findings
from granulearn.tables.faults.fault_remarks import (
    said_leaks,
    said_named,
    said_near,
    said_predictions,
    said_repeats,
    said_separated,
)
from granulearn.tables.faults.leaks import Leak


def test_a_leak_names_the_feature_only_if_it_is_not_the_column_itself():
    leaks = {"day": Leak("day: year", 1.0, "code"), "my code": Leak("my code", 0.996, "copy")}
    by_feature, itself = said_leaks(leaks, kept=["day"])
    assert "(by 'day: year', which it becomes: each of its values" in by_feature
    assert by_feature.endswith("it is used all the same; ignore=['day'] leaves it out.")
    assert "(it holds the labels themselves, right in 99.6 % of its rows)" in itself
    assert itself.endswith("it is left out; include=['my code'] uses it.")


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["a", "prediction"], ["prediction"]),
        (["prediction", "a"], ["prediction"]),
        (["a", "prediction_1", "prediction_2"], ["prediction_1", "prediction_2"]),
        (["prediction_1", "prediction_2", "a"], []),
        (["a", "prediction_1"], []),
        (["a", "prediction_2", "prediction_3"], []),
        (["a", "my_prediction", "predictions"], []),
        (["Prediction"], []),
        ([], []),
    ],
)
def test_predictions_are_known_by_their_names(names, found):
    said = said_predictions(names)
    assert len(said) == bool(found)
    assert all(message.endswith(f"pass ignore={found}.") for message in said)


def test_columns_that_are_nearly_leaks_share_one_line():
    assert said_near({}) == []
    (one,) = said_near({"odor": 0.9844})
    assert one.startswith("Column 'odor' (98.4 %) alone tells the class")
    assert one.endswith("pass ignore=['odor'].")
    (many,) = said_near({f"c{number}": 0.98 for number in range(7)})
    assert "'c4' (98.0 %) and 2 more each alone tell" in many
    assert many.endswith("'c3', 'c4'].")


def test_nothing_found_is_nothing_said():
    nothing = Findings((), (), 0, 0, (), True)
    assert said_leaks({}, []) == said_separated([]) == said_named({}) == said_repeats(nothing) == []


def test_estimates_are_said_to_be_some():
    repeats, conflicts = said_repeats(Findings((), (), 1, 2, ((0, 4),), False))
    assert repeats.startswith("About 1 row repeats")
    assert conflicts.startswith("About 2 rows")
    assert "(data rows 1 and 5)" in conflicts


def test_no_label_is_spoken_of_where_there_is_none():
    (repeats,) = said_repeats(Findings((), (), 2, 0, (), True), labelled=False)
    assert repeats.startswith("2 rows repeat an earlier one, in all columns that are used; a copy")
    assert "label" not in repeats


def test_names_of_columns_are_quoted_for_the_shell():
    (apart,) = said_separated(["days late"])
    (named,) = said_named({"my note": 0.984})
    assert "ignore=['days late']." in apart
    assert "name the label in 98 % of the rows" in named
    assert named.endswith("ignore=['my note'].")
