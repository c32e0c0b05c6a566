"""Files of decisions: read as they are written by reviews, audits, people and spreadsheets."""

import pytest

from granulearn.review import Decision, DecisionsError, read_decisions
from granulearn.review.decision_files import COLUMNS, end_of_whole_lines, is_journal, read_lines
from granulearn.review.journal import journal_text


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
        Decision(2, "exclude", "", "", "worst", 4, note="x"),
        Decision(3, "keep", "", "aa", "worst", 2, note="fine"),
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
    path = written(
        "row,predicted_label,decision,label\n1,dog,change,\n2,dog,change,cat\n3,dog,keep,\n"
    )
    assert [d.label for d in read_decisions(path)] == ["dog", "cat", ""]


def test_a_label_of_the_table_that_was_not_changed_is_no_new_one(written):
    path = written(
        "row,given_label,predicted_label,label,decision\n1,cat,dog,cat,change\n2,cat,dog,emu,change\n"
    )
    assert [d.label for d in read_decisions(path)] == ["dog", "emu"]


def test_a_change_to_the_given_label_is_no_change(written):
    path = written("row,given_label,predicted_label,new_label,decision\n3,cat,cat,,change\n")
    with pytest.raises(DecisionsError, match=r"line 2: a change needs.*'cat' is the given one"):
        read_decisions(path)


def test_files_of_spreadsheets_with_semicolons_or_tabs_are_read(written):
    for separator in ";\t":
        path = written(separator.join(["row", "decision"]) + "\n" + separator.join(["1", "keep"]))
        assert [(d.row, d.decision) for d in read_decisions(path)] == [(1, "keep")]


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
    with pytest.raises(
        DecisionsError, match=r"none.csv cannot be read: there is no .*granulearn review"
    ):
        read_decisions(tmp_path / "none.csv")
    with pytest.raises(DecisionsError, match="cannot be read"):
        read_decisions(tmp_path)
    with pytest.raises(DecisionsError, match="is not UTF-8 text; save it as CSV UTF-8"):
        read_decisions(written("row,decision,label\n1,change,häufig\n", "latin-1"))


# --- journals


def journal_of(*decisions):
    return journal_text(decisions).encode()


FULL = Decision(
    7, "change", "big\r\ndog", "h7", "random", 3, "cat", " Cat", "animal", 'say "no", please',
    "ann", "2026-01-02T03:04:05+00:00", "wrong", "0.9000", "", "1.0",
)  # fmt: skip


def test_a_journal_holds_every_field_of_a_decision(tmp_path):
    path = tmp_path / "j.csv"
    path.write_bytes(journal_of(FULL))
    (read,) = read_lines(path)
    assert read == FULL


def test_the_list_of_an_audit_is_no_journal():
    assert is_journal(journal_of())
    assert is_journal(b"\xef\xbb\xbf" + journal_of().replace(b"\n", b"\r\n"))
    assert not is_journal(b"row,decision\n1,keep\n")
    assert not is_journal(b"")
    # A list whose last line has no end was saved so, and is whole.
    assert end_of_whole_lines(b"row,decision\n1,keep") == 19


def test_a_line_without_its_end_was_never_said_to_be_saved():
    whole = journal_of(Decision(1, "keep"))
    content = journal_of(Decision(1, "keep"), FULL)
    assert {end_of_whole_lines(content[:end]) for end in range(len(whole), len(content))} == {
        len(whole)
    }
    assert end_of_whole_lines(content) == len(content)


def test_a_batch_that_lacks_lines_at_the_end_counts_for_nothing():
    first = Decision(1, "keep")
    many = [Decision(row, "exclude", batch="ab/3") for row in (2, 3, 4)]
    whole, two, three = (
        journal_of(*lines) for lines in ((first,), (first, *many[:2]), (first, *many))
    )
    assert end_of_whole_lines(two) == len(whole)
    assert end_of_whole_lines(three) == len(three)
    # In the middle it was edited by hand.
    after = journal_of(first, *many[:2], Decision(9, "keep"))
    assert end_of_whole_lines(after) == len(after)
    alone = journal_of(*many[:2])
    assert end_of_whole_lines(alone) == len(journal_of())


def test_columns_of_a_journal_are_those_that_people_are_told():
    assert list(COLUMNS)[:10] == [
        "row", "hash", "given_label", "decision", "new_label", "note", "who", "when", "verdict",
        "probability",
    ]  # fmt: skip


def test_columns_of_the_table_in_a_list_say_nothing_about_decisions(tmp_path):
    path = tmp_path / "l.csv"
    path.write_text(
        "row,given_label,predicted_label,label_quality,decision,new_label,target,cell,who,when,batch\n1,cat,dog,.1,change,dog,cat,x,y,z,b\n"
    )
    assert [(d.target, d.cell, d.who, d.when, d.batch, d.given) for d in read_decisions(path)] == [
        ("", "", "", "", "", "cat")
    ]
    journal = journal_text([Decision(1, "keep", target="kind", cell=" cat")])
    for text in (journal, journal.replace(",", ";"), "\ufeff" + journal):
        path.write_text(text)
        assert [(d.target, d.cell) for d in read_decisions(path)] == [("kind", " cat")]
