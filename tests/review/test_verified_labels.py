"""Decisions become verified labels of a table, or are refused where they cannot be meant."""

import numpy as np
import pytest

from granulearn.review import Decision, DecisionsError, verified_by

TABLE = {
    "rows": np.array([0, 2, 3]),  # the second row has no label
    "hashes": ["h1", "h2", "h3", "h4"],
    "given": np.array([0, 1, 1]),
    "classes": np.array(["cat", "dog"]),
    "source": "d.csv",
}


def verified(*decisions, **others):
    found = verified_by(decisions, **{**TABLE, **others})
    return [found.rows.tolist(), found.truth.tolist(), found.at_random.tolist()]


def test_keeping_confirms_and_changing_corrects_by_position_among_rows_with_a_label():
    assert verified(
        Decision(1, "change", "dog", "h1"),
        Decision(3, "keep", "", "h3", "random"),
        Decision(4, "change", "cat"),
    ) == [[0, 1, 2], [1, 1, 0], [False, True, False]]


def test_excluded_and_unsure_rows_and_rows_without_a_label_are_not_verified():
    assert verified(
        Decision(1, "exclude", ""), Decision(2, "keep", ""), Decision(3, "unsure", "")
    ) == [[], [], []]
    assert verified() == [[], [], []]


def test_classes_that_are_numbers_are_found_by_their_text():
    assert verified(Decision(1, "change", "7"), classes=np.array([5, 7]))[1] == [1]


def test_a_label_that_was_guarded_against_spreadsheets_is_known_again():
    classes = np.array(["'x", "=A", "x"])
    assert verified(Decision(1, "change", "'=A"), classes=classes)[1] == [1]
    assert verified(Decision(1, "change", "'x"), classes=classes)[1] == [0]
    assert verified(Decision(1, "change", "x"), classes=classes)[1] == [2]


@pytest.mark.parametrize(
    ("decision", "message"),
    [
        (Decision(5, "keep", ""), "d.csv speaks of row 5, and the table has 4 rows"),
        (
            Decision(3, "keep", "", "other"),
            r"made for other cells in 1 of 1 rows \(row 3\); the decisions belong to another table",
        ),
        (Decision(3, "exclude", "", "other"), "made for other cells"),
        (
            Decision(1, "change", "cow", line=9),
            "d.csv, line 9: 'cow' is no class of the table; the classes are cat, dog",
        ),
    ],
)
def test_decisions_about_another_table_are_refused(decision, message):
    with pytest.raises(DecisionsError, match=message):
        verified(decision)


def test_what_was_kept_must_still_be_the_label():
    kept = Decision(1, "keep", "", given="cat", line=2)
    assert verified(kept, given=np.array([0, 1, 0, 1]))[1] == [0]
    again = r"line 2: row 1 was 'cat', and its label is 'dog' now; decide on it again in a review"
    with pytest.raises(DecisionsError, match=again):
        verified(kept, given=np.array([1, 1, 0, 1]))


def test_labels_are_known_as_spreadsheets_write_them():
    assert verified(Decision(1, "change", "TRUE"), classes=np.array([False, True]))[1] == [1]
    assert verified(Decision(1, "change", "2"), classes=np.array([1.0, 2.0]))[1] == [1]
    # Exact names win.
    both = np.array(["A", "a"])
    assert verified(Decision(1, "change", "a"), classes=both)[1] == [1]
    assert verified(Decision(1, "change", "A"), classes=both)[1] == [0]


def test_a_change_that_is_in_the_table_already_holds():
    changed = Decision(1, "change", "dog", given="cat", line=2)
    for label in (0, 1):
        assert verified(changed, given=np.array([label, 1, 1]))[1] == [1]
    three = np.array(["cat", "dog", "emu"])
    with pytest.raises(DecisionsError, match="row 1 was 'cat', and its label is 'emu' now"):
        verified(changed, given=np.array([2, 1, 1]), classes=three)
