"""Files of decisions: read as reviews, audits, people and spreadsheets write them."""

from pathlib import Path

import pytest

from granulearn.review import Decision, DecisionsError, read_decisions
from granulearn.review.decisions import (
    COLUMNS,
    complete_lines,
    is_journal,
    journal_text,
    read_lines,
)


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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # A spreadsheet's blanks, capitals and line ends.
        (
            '\ufeffrow,decision,label\r\n 4 , Keep ,\r\n5,CHANGE,"big\r\ndog"\r\n',
            [(4, "keep", ""), (5, "change", "big\r\ndog")],
        ),
        # The last line about a row counts, empty ones do not.
        (
            "row,decision,label\n1,keep,\n2,keep,\n1,change,dog\n2,,\n3,,\n",
            [(1, "change", "dog"), (2, "keep", "")],
        ),
        # The predicted label stands in for a new one,
        (
            "row,predicted_label,decision,label\n1,dog,change,\n2,dog,change,cat\n3,dog,keep,\n",
            [(1, "change", "dog"), (2, "change", "cat"), (3, "keep", "")],
        ),
        # also where a column of the table, called label, still has the given one.
        (
            "row,given_label,predicted_label,label,decision\n"
            "1,cat,dog,cat,change\n2,cat,dog,emu,change\n",
            [(1, "change", "dog"), (2, "change", "emu")],
        ),
        ("row;decision\n1;keep", [(1, "keep", "")]),
        ("row\tdecision\n1\tkeep", [(1, "keep", "")]),
        # Characters that end a line elsewhere.
        (
            "row,note,decision\n1,form\x0cfeed\u2028and\x85more,keep\n2,,exclude\n",
            [(1, "keep", ""), (2, "exclude", "")],
        ),
    ],
)
def test_files_of_people_and_spreadsheets_are_read(written, text, expected):
    read = read_decisions(written(text))
    assert [(d.row, d.decision, d.new_label) for d in read] == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("row,decision\n1,maybe\n", "line 2: 'maybe' is no decision; use keep, change, exclude"),
        ('row,decision,note\n1,keep,"two\nlines"\n2,maybe,\n', "decisions.csv, line 4: 'maybe'"),
        ("row,decision\nx,keep\n", "line 2: 'x' is no row number"),
        ("row,decision\n0,keep\n", "line 2: '0' is no row number; rows count from 1"),
        ("row,decision\n-1,keep\n", "'-1' is no row number"),
        ("row,decision\n1.0,keep\n", "'1.0' is no row number"),
        ("row,decision\n²,keep\n", "is no row number"),
        ("row,decision\n,keep\n", "'' is no row number"),
        (f"row,decision\n{'9' * 5000},keep\n", r"'9+'\.\.\. \(5,000 characters\) is no row number"),
        ("row,decision\n1,keep\n2,change\n", "line 3: a change needs the new label in 'new_label'"),
        (
            "row,given_label,predicted_label,new_label,decision\n3,cat,cat,,change\n",
            "line 2: a change needs.*'cat' is no other label",
        ),
        ("line,decision\n1,keep\n", r"has no column 'row'.*It has decision, line\."),
        ("row,label\n1,dog\n", "has no column 'decision'"),
        ("", "has no column 'row'"),
        ('row,decision\n1,"keep\n', "is no CSV file"),
    ],
)
def test_an_error_names_the_line(written, text, message):
    with pytest.raises(DecisionsError, match=message):
        read_decisions(written(text))


def test_a_file_that_is_missing_or_no_text_is_an_error(written, tmp_path):
    for path in (tmp_path / "none.csv", tmp_path, Path("/dev/zero")):
        with pytest.raises(DecisionsError, match="cannot be read"):
            read_decisions(path)
    with pytest.raises(DecisionsError, match="is not UTF-8 text; save it as CSV UTF-8"):
        read_decisions(written("row,decision,label\n1,change,häufig\n", "latin-1"))


# --- journals


def journal_of(*decisions):
    return journal_text(decisions).encode()


def complete(content):
    """Return where the complete part of a journal ends."""
    return len(complete_lines(content, "d.csv"))


FULL = Decision(
    7, "change", "big\r\ndog", "h7", "random", 3, "cat", " Cat", "animal", 'say "no", please',
    "ann", "2026-01-02T03:04:05+00:00", "wrong", "0.9000", "", "1.0",
)  # fmt: skip


def test_a_journal_holds_every_field_of_a_decision(written):
    assert read_lines(written(journal_of(FULL).decode())) == [FULL]
    assert {*COLUMNS, "line"} == set(Decision.__dataclass_fields__)


def test_the_list_of_an_audit_is_no_journal():
    assert is_journal(journal_of())
    assert is_journal(b"\xef\xbb\xbf" + journal_of().replace(b"\n", b"\r\n"))
    assert not is_journal(b"row,decision\n1,keep\n")
    assert not is_journal(b"")
    # The last line of a list is complete without a line end.
    assert complete(b"row,decision\n1,keep") == 19


def test_a_line_without_its_end_is_dropped():
    kept = len(journal_of(Decision(1, "keep")))
    content = journal_of(Decision(1, "keep"), FULL)
    assert {complete(content[:end]) for end in range(kept, len(content))} == {kept}
    assert complete(content) == len(content)
    saved_elsewhere = b"\xef\xbb\xbf" + content
    assert complete(saved_elsewhere[:-3]) == kept + 3


def test_a_quotation_mark_without_a_partner_is_an_error_of_its_line(written):
    lines = journal_of(*(Decision(row, "keep", note=f"note {row}") for row in (1, 2, 3))).decode()
    assert read_decisions(written(lines.replace("note 2", '5" pipe')))[1].note == '5" pipe'
    for broken in ('"5 pipe', '"5" pipe'):
        for row in (1, 2, 3):
            with pytest.raises(DecisionsError, match=f"line {row + 1}: a quotation mark"):
                read_decisions(written(lines.replace(f"note {row}", broken)))


@pytest.mark.parametrize("batch", ["x", "/", "a/b", "a/-1", "a/²", f"a/{'9' * 5000}", "a/2/3"])
def test_any_word_can_name_a_batch(written, batch):
    path = written(journal_of(*(Decision(row, "keep", batch=batch) for row in (1, 2))).decode())
    assert [d.row for d in read_decisions(path)] == [1, 2]


def test_columns_of_the_table_in_a_list_say_nothing_about_decisions(written):
    (found,) = read_decisions(
        written(
            "row,given_label,predicted_label,label_quality,decision,new_label,target,cell,who\n"
            "1,cat,dog,.1,change,dog,cat,x,y\n"
        )
    )
    assert (found.target, found.cell, found.who, found.given_label) == ("", "", "", "cat")
    journal = journal_text([Decision(1, "keep", target="kind", cell=" cat")])
    for text in (journal, journal.replace(",", ";"), "\ufeff" + journal):
        (found,) = read_decisions(written(text))
        assert (found.target, found.cell) == ("kind", " cat")
