"""The book of decisions: what holds, in its two orders, and what was taken at once."""

import pytest

from granulearn.review import Decision
from granulearn.review.decision_book import DecisionBook
from granulearn.review.journal import Journal


@pytest.fixture
def book():
    return DecisionBook(Journal(), lambda decision: False)


def test_decisions_hold_by_row_and_by_time(book):
    book.take([Decision(5, "keep")])
    book.take([Decision(2, "exclude")])
    book.take([Decision(5, "unsure")])
    assert [(d.row, d.decision) for d in book.by_row] == [(2, "exclude"), (5, "unsure")]
    assert [(d.row, d.decision) for d in book.by_time] == [(2, "exclude"), (5, "unsure")]
    assert len(book) == 2
    assert 5 in book
    assert book.rows == [2, 5]
    assert book.about(3) is None


def test_what_is_taken_at_once_is_one_action(book):
    assert book.take([Decision(1, "keep"), Decision(2, "keep"), Decision(3, "keep")]) == 3
    assert {d.batch.partition("/")[2] for d in book.last} == {"3"}
    book.undo([Decision(d.row, "undo") for d in book.last])
    assert len(book) == 0
    assert book.last == []


def test_what_holds_already_is_not_written_again(book):
    said = Decision(1, "change", "dog", who="ann", note="so")
    assert book.take([said]) == 1
    assert book.take([said]) == 0
    assert book.take([Decision(1, "change", "dog", who="ann")]) == 0
    assert book.take([Decision(1, "change", "dog", who="ann", note="else")]) == 1
    assert book.take([Decision(1, "change", "cat", who="ann")]) == 1
    assert len(book.journal.lines) == 3


def test_stale_decisions_hold_no_more():
    journal = Journal()
    journal.append([Decision(1, "keep", given="cat"), Decision(2, "keep", given="dog")])
    book = DecisionBook(journal, lambda decision: decision.given == "cat")
    assert [d.row for d in book.stale] == [1]
    assert book.rows == [2]
    book.take([Decision(1, "keep", given="emu")])
    assert book.rows == [1, 2]
