"""Decisions: which of them are active, and what is undone next."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from granulearn.review import Decision, DecisionsError
from granulearn.review.decisions import active_decisions, check_rows, decided_column
from granulearn.review.journal import DecisionLog, Journal

KINDS = ("keep", "exclude", "unsure")


def active(*lines):
    return [(d.row, d.decision) for d in active_decisions(lines)]


def undo(log):
    log.undo([Decision(d.row, "undo") for d in log.last_action])


@pytest.fixture
def log():
    return DecisionLog(Journal(), lambda decision: False)


def test_the_last_decision_about_a_row_is_active():
    lines = [Decision(2, "keep"), Decision(1, "keep"), Decision(2, "exclude")]
    assert active(*lines) == [(1, "keep"), (2, "exclude")]


def test_an_undone_decision_gives_way_to_the_one_before():
    lines = [Decision(1, "keep"), Decision(1, "exclude"), Decision(1, "undo")]
    assert active(*lines) == [(1, "keep")]
    assert active(*lines, Decision(1, "undo")) == []
    assert active(*lines, Decision(1, "undo"), Decision(1, "undo"), Decision(1, "unsure")) == [
        (1, "unsure")
    ]


def test_decisions_taken_at_once_have_one_batch_and_are_undone_at_once(log):
    for rows in ([1, 2, 3], [4, 5], [6], [7]):
        assert log.add([Decision(row, "keep") for row in rows]) == len(rows)
    assert {d.batch.partition("/")[2] for d in log.journal.lines[:3]} == {"3"}
    for rows in ([7], [6], [4, 5], [1, 2, 3], []):
        assert [d.row for d in log.last_action] == rows
        undo(log)
    assert log.active == {}


@given(st.lists(st.tuples(st.integers(1, 4), st.sampled_from(KINDS))))
def test_undoing_everything_leaves_nothing(said):
    log = DecisionLog(Journal(), lambda decision: False)
    states = []
    for row, decision in said:
        states.append(dict(log.active))
        if not log.add([Decision(row, decision)]):
            states.pop()
    again = DecisionLog(log.journal, lambda decision: False)
    assert (list(again.active.items()), again.last_action) == (
        list(log.active.items()),
        log.last_action,
    )
    while log.last_action:
        undo(log)
        assert log.active == states.pop()
    assert states == []


def test_active_decisions_come_in_the_order_in_which_they_were_taken(log):
    for decision in (Decision(5, "keep"), Decision(2, "exclude"), Decision(5, "unsure")):
        log.add([decision])
    assert [(d.row, d.decision) for d in log.active.values()] == [(2, "exclude"), (5, "unsure")]


def test_an_active_decision_is_not_written_again(log):
    decision = Decision(1, "change", "dog", who="ann", note="so")
    assert log.add([decision]) == 1
    assert log.add([decision]) == 0
    assert log.add([Decision(1, "change", "dog", who="ann")]) == 0
    for other in ({"note": "else"}, {"who": "ben"}, {"new_label": "cat"}):
        assert log.add([Decision(**{"row": 1, "decision": "change", "new_label": "dog"} | other)])
    assert len(log.journal.lines) == 4


def test_stale_decisions_are_not_active():
    journal = Journal()
    journal.append([Decision(1, "keep", given_label="cat"), Decision(2, "keep", given_label="dog")])
    log = DecisionLog(journal, lambda decision: decision.given_label == "cat")
    assert ([d.row for d in log.stale], list(log.active)) == ([1], [2])
    log.add([Decision(1, "keep", given_label="emu")])
    assert (sorted(log.active), log.stale) == ([1, 2], [])


def test_rows_with_other_cells_are_refused_by_name():
    decisions = [Decision(row, "keep", hash=f"h{row}") for row in range(1, 9)]
    check_rows(decisions, [f"h{row}" for row in range(1, 9)], "d.csv")
    with pytest.raises(DecisionsError, match=r"in 7 of 8 rows \(row 2, 3, 4, 5, 6, and 2 more\)"):
        check_rows(decisions, ["h1", *["other"] * 7], "d.csv")
    with pytest.raises(DecisionsError, match=r"d\.csv has a decision about row 8, and the .* 7 r"):
        check_rows(decisions, ["h"] * 7, "d.csv")


def test_the_column_comes_from_the_decisions_or_is_named():
    nameless, about_y = [Decision(1, "change", "dog")], [Decision(1, "keep", target="y")]
    assert decided_column(nameless, "d.csv") is None
    assert decided_column(nameless, "d.csv", "y") == "y"
    assert decided_column(about_y, "d.csv") == "y"
    with pytest.raises(DecisionsError, match="is about the column 'y', not 'z'"):
        decided_column(about_y, "d.csv", "z")
    with pytest.raises(DecisionsError, match="is about 2 columns, 'y' and 'z' among them"):
        decided_column([*about_y, Decision(2, "keep", target="z")], "d.csv")
