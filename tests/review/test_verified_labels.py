"""Decisions become verified labels of a table, or are refused."""

import pytest

from granulearn.review import Decision, DecisionsError, verified_by
from granulearn.review.verified_labels import ClassNames
from granulearn.tables import read_training_table, table_of


def table_with(labels):
    """Return a table with these labels."""
    columns = {"a": [k + 0.5 for k in range(len(labels))], "kind": labels}
    return read_training_table(table_of(columns), "kind", keep_cells=True)


@pytest.fixture(scope="module")
def table():
    """Return a table whose second row has no label."""
    return table_with(["cat", None, "dog", "dog", "cat"])


def verified(decisions, table):
    found = verified_by(decisions, table, "d.csv")
    return [found.rows.tolist(), found.truth.tolist(), found.at_random.tolist()]


def test_keep_confirms_and_change_corrects_by_position_among_labelled_rows(table):
    decisions = [
        Decision(1, "change", "dog", table.hashes[0]),
        Decision(3, "keep", "", table.hashes[2], "random"),
        Decision(4, "change", "cat"),
    ]
    assert verified(decisions, table) == [[0, 1, 2], [1, 1, 0], [False, True, False]]


def test_excluded_and_unsure_rows_and_rows_without_a_label_are_not_verified(table):
    decisions = [Decision(1, "exclude"), Decision(2, "keep"), Decision(3, "unsure")]
    assert verified(decisions, table) == [[], [], []]
    assert verified([], table) == [[], [], []]


@pytest.mark.parametrize(
    ("labels", "label", "code"),
    [([5, 7, 7], "7", 1), ([False, True, True], "TRUE", 1), (["b", "=A", "b"], "'=A", 0)],
)
def test_labels_of_decisions_are_texts_in_any_spelling(labels, label, code):
    assert verified([Decision(1, "change", label)], table_with(labels))[1] == [code]


@pytest.mark.parametrize(
    ("decision", "message"),
    [
        (Decision(6, "keep"), "d.csv has a decision about row 6, and the table has 5 rows"),
        (Decision(3, "keep", "", "other"), r"for other cells in 1 of 1 rows \(row 3\)"),
        (Decision(3, "exclude", "", "other"), "made for other cells"),
        (Decision(1, "change", "cow", line=9), "d.csv, line 9: 'cow' is no class of the table"),
        (
            Decision(3, "keep", given_label="cat", line=2),
            r"line 2: row 3 was 'cat', and its label is 'dog' now; decide on it again in a review",
        ),
    ],
)
def test_decisions_about_other_rows_or_labels_are_refused(table, decision, message):
    with pytest.raises(DecisionsError, match=message):
        verified([decision], table)


def test_a_change_may_be_in_the_table_already(table):
    changed = Decision(1, "change", "dog", given_label="cat", line=2)
    assert verified([changed], table)[1] == [1]
    assert verified([changed], table_with(["dog", "cat", "cat"]))[1] == [1]
    with pytest.raises(DecisionsError, match="row 1 was 'cat', and its label is 'emu' now"):
        verified([changed], table_with(["emu", "cat", "dog"]))


@pytest.mark.parametrize(
    ("names", "text", "found"),
    [
        (["cat", "dog"], "dog", "dog"),
        (["cat", "dog"], "DOG ", "dog"),
        (["False", "True"], "TRUE", "True"),
        (["1.0", "2.0"], "2", "2.0"),
        (["1", "2"], "2.00", "2"),
        (["=A", "b"], "'=A", "=A"),
        (["'x", "=A", "x"], "'x", "'x"),
        (["A", "a"], "a", "a"),
        (["A", "a"], "A", "A"),
        (["big dog"], "Big  Dog", "big dog"),
        (["cat"], "dog", None),
        (["Ab", "aB"], "AB", None),
        (["1", "1.0"], "1.00", None),
        ([], "x", None),
    ],
)
def test_a_label_is_the_class_of_its_spelling_or_the_only_similar_one(names, text, found):
    code = ClassNames(names).code(text)
    assert (None if code is None else names[code]) == found


def test_the_message_names_the_classes():
    with pytest.raises(DecisionsError, match=r"d.csv, line 2: 'z' is no class.*are a, b\."):
        ClassNames(["a", "b"]).known("z", "d.csv, line 2: ")
    with pytest.raises(DecisionsError, match=r"c9, and 20 more\."):
        ClassNames([f"c{k}" for k in range(30)]).known("z")
