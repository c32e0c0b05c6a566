"""Decisions about labels: read from a file, and refused where they cannot be meant."""

import numpy as np
import pytest

from granulearn.review import Decision, DecisionsError, read_decisions, verified_by


@pytest.fixture
def written(tmp_path):
    """Return a function that writes a file of decisions."""

    def write(text, encoding="utf-8"):
        path = tmp_path / "decisions.csv"
        path.write_bytes(text.encode(encoding))
        return path

    return write


def test_decisions_are_read_with_all_that_is_known_of_the_row(written):
    path = written(
        "hash,row,decision,label,drawn,note\n"
        "aa,3,keep,,worst,fine\n"
        "bb,1,change,dog,random,\n"
        ",2,exclude,,,x\n"
    )
    assert read_decisions(path) == [
        Decision(1, "change", "dog", "bb", "random", 3),
        Decision(2, "exclude", "", "", "worst", 4),
        Decision(3, "keep", "", "aa", "worst", 2),
    ]


def test_what_a_spreadsheet_writes_is_read(written):
    path = written('row,decision,label\r\n 4 , Keep ,\r\n5,CHANGE,"big\r\ndog"\r\n', "utf-8-sig")
    assert [(d.row, d.decision, d.label) for d in read_decisions(path)] == [
        (4, "keep", ""),
        (5, "change", "big\ndog"),
    ]


def test_the_last_line_about_a_row_counts_and_empty_ones_do_not(written):
    path = written("row,decision,label\n1,keep,\n2,keep,\n1,change,dog\n2,,\n3,,\n")
    assert [(d.row, d.decision, d.label) for d in read_decisions(path)] == [
        (1, "change", "dog"),
        (2, "keep", ""),
    ]


def test_the_suggested_label_stands_in_for_a_new_one(written):
    path = written("row,suggested,decision,label\n1,dog,change,\n2,dog,change,cat\n3,dog,keep,\n")
    assert [d.label for d in read_decisions(path)] == ["dog", "cat", ""]


def test_a_label_of_the_table_that_was_not_changed_is_no_new_one(written):
    path = written(
        "row,given,suggested,label,decision\n1,cat,dog,cat,change\n2,cat,dog,emu,change\n"
    )
    assert [d.label for d in read_decisions(path)] == ["dog", "emu"]


def test_a_change_to_the_given_label_is_no_change(written):
    path = written("row,given,suggested,new_label,decision\n3,cat,cat,,change\n")
    with pytest.raises(DecisionsError, match=r"line 2: a change needs.*'cat' is the given one"):
        read_decisions(path)


def test_files_of_spreadsheets_with_semicolons_or_tabs_are_read(written):
    for separator in ";\t":
        path = written(separator.join(["row", "decision"]) + "\n" + separator.join(["1", "keep"]))
        assert [(d.row, d.decision) for d in read_decisions(path)] == [(1, "keep")]


def test_labels_are_known_as_spreadsheets_write_them():
    assert verified(Decision(1, "change", "TRUE"), classes=np.array([False, True]))[1] == [1]
    assert verified(Decision(1, "change", "2"), classes=np.array([1.0, 2.0]))[1] == [1]
    # Exact names win.
    both = np.array(["A", "a"])
    assert verified(Decision(1, "change", "a"), classes=both)[1] == [1]
    assert verified(Decision(1, "change", "A"), classes=both)[1] == [0]


def test_a_character_that_ends_lines_elsewhere_ends_none_here(written):
    path = written("row,note,decision\n1,form\x0cfeed\u2028and\x85more,keep\n2,,exclude\n")
    assert [(d.row, d.decision) for d in read_decisions(path)] == [(1, "keep"), (2, "exclude")]


def test_lines_of_messages_are_those_of_the_file(written):
    path = written('row,decision,note\n1,keep,"two\nlines"\n2,maybe,\n')
    with pytest.raises(DecisionsError, match=r"decisions.csv, line 4: 'maybe' is no decision"):
        read_decisions(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("row,decision\n1,maybe\n", "line 2: 'maybe' is no decision; use keep, change, exclude"),
        ("row,decision\nx,keep\n", "line 2: 'x' is no row number"),
        ("row,decision\n0,keep\n", "line 2: '0' is no row number; rows count from 1"),
        ("row,decision\n-1,keep\n", "'-1' is no row number"),
        ("row,decision\n1.0,keep\n", "'1.0' is no row number"),
        ("row,decision\n²,keep\n", "is no row number"),
        ("row,decision\n,keep\n", "'' is no row number"),
        ("row,decision\n1,keep\n2,change\n", "line 3: a change needs the new label in 'new_label'"),
        ("row,decision,drawn\n1,keep,luck\n", "drawn is 'luck'; it is 'random' or 'worst'"),
        ("line,decision\n1,keep\n", r"has no column 'row'.*It has line, decision\."),
        ("row,label\n1,dog\n", "has no column 'decision'"),
        ("", r"has no column 'row'.*It has none\."),
        ('row,decision\n1,"keep\n', "is no CSV file"),
    ],
)
def test_what_is_no_decision_is_an_error_that_names_the_line(written, text, message):
    with pytest.raises(DecisionsError, match=message):
        read_decisions(written(text))


def test_a_file_that_is_missing_or_no_text_is_an_error(written, tmp_path):
    with pytest.raises(DecisionsError, match=r"none.csv cannot be read: No such file"):
        read_decisions(tmp_path / "none.csv")
    with pytest.raises(DecisionsError, match="cannot be read"):
        read_decisions(tmp_path)
    with pytest.raises(DecisionsError, match="is not UTF-8 text; save it as CSV UTF-8"):
        read_decisions(written("row,decision,label\n1,change,häufig\n", "latin-1"))


# --- what they say of a table


TABLE = {
    "rows": np.array([0, 2, 3]),  # the second row has no label
    "n_rows": 4,
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
    again = r"line 2: row 1 was kept as 'cat'.*decide on it again"
    with pytest.raises(DecisionsError, match=again):
        verified(kept, given=np.array([1, 1, 0, 1]))
