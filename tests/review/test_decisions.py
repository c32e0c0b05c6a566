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


def undo(log, action=None):
    undone = log.undoable(log.last_action if action is None else action)
    log.undo([Decision(d.row, "undo", drawn=d.drawn) for d in undone])
    return [d.row for d in undone]


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
        assert undo(log) == rows
    assert log.active == {}


def test_an_action_is_taken_once_and_undone_once_by_its_name(log):
    keep = [Decision(1, "keep"), Decision(2, "keep")]
    assert log.add(keep, "action-1") == 2
    assert log.add(keep, "action-1") == 0
    log.add([Decision(3, "exclude")], "action-2")
    assert undo(log, "action-1") == [1, 2]
    # Sent again after it was undone, by whomever.
    assert (undo(log, "action-1"), log.add(keep, "action-1")) == ([], 0)
    assert undo(log, "never taken") == []
    assert list(log.active) == [3]
    again = DecisionLog(log.journal, lambda decision: False)
    assert (again.add(keep, "action-1"), list(again.active)) == (0, [3])


def test_what_was_decided_again_is_not_undone_with_the_earlier_action(log):
    log.add([Decision(row, "keep") for row in (1, 2, 3)], "bulk-decision")
    log.add([Decision(2, "exclude")], "single-decision")
    assert undo(log, "bulk-decision") == [1, 3]
    assert {row: d.decision for row, d in log.active.items()} == {2: "exclude"}
    assert undo(log, "single-decision") == [2]
    assert log.active[2].decision == "keep"
    assert undo(log, "bulk-decision") == [2]


def test_each_line_is_a_revision_of_its_row(log):
    log.add([Decision(1, "keep"), Decision(2, "keep")])
    log.add([Decision(1, "exclude")])
    undo(log)
    again = DecisionLog(log.journal, lambda decision: False)
    assert log.revisions == again.revisions == {1: 3, 2: 1}


def test_decisions_of_an_earlier_version_are_undone_one_by_one():
    journal = Journal()
    journal.append([Decision(row, "keep", line=1 + row) for row in (1, 2)])
    log = DecisionLog(journal, lambda decision: False)
    assert [undo(log), undo(log), undo(log)] == [[2], [1], []]


@given(st.lists(st.tuples(st.integers(1, 4), st.sampled_from(KINDS))))
def test_undoing_everything_leaves_nothing(said):
    log = DecisionLog(Journal(), lambda decision: False)
    states = []
    for row, decision in said:
        states.append(dict(log.active))
        if not log.add([Decision(row, decision)]):
            states.pop()
    again = DecisionLog(log.journal, lambda decision: False)
    while log.last_action:
        assert list(again.active.items()) == list(log.active.items())
        assert (again.last_action, again.revisions) == (log.last_action, log.revisions)
        undo(log)
        assert log.active == states.pop()
        again = DecisionLog(log.journal, lambda decision: False)
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
    assert (list(log.stale), list(log.active)) == ([1], [2])
    log.add([Decision(1, "keep", given_label="emu")])
    assert (sorted(log.active), log.stale) == ([1, 2], {})
    undo(log)
    assert (list(log.stale), list(log.active)) == ([1], [2])


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
