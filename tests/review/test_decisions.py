"""Decisions: which of them are active, and what is undone next."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from granulearn.review import Decision, DecisionsError
from granulearn.review.decisions import (
    active_decisions,
    check_rows,
    decided_column,
    last_action,
    without_undone,
)
from granulearn.review.journal import DecisionLog, Journal

KINDS = ("keep", "exclude", "unsure")


def active(*lines):
    return [(d.row, d.decision) for d in active_decisions(lines)]


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


def test_decisions_taken_at_once_are_undone_at_once():
    many = [Decision(row, "keep", batch="a/2") for row in (1, 2)]
    others = [Decision(row, "exclude", batch="b/2") for row in (3, 4)]
    single = [Decision(5, "keep"), Decision(6, "keep")]
    lines = [*many, *others, *single]
    for step in ([single[1]], [single[0]], others, many, []):
        assert last_action(without_undone(lines)) == step
        lines += [Decision(decision.row, "undo") for decision in step]


@given(st.lists(st.tuples(st.integers(1, 4), st.sampled_from(KINDS))))
def test_undoing_everything_leaves_nothing(said):
    lines = [Decision(row, decision) for row, decision in said]
    while kept := without_undone(lines):
        lines += [Decision(decision.row, "undo") for decision in last_action(kept)]
        assert len(without_undone(lines)) == len(kept) - 1
    assert active_decisions(lines) == []


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


# --- the log


@pytest.fixture
def log():
    return DecisionLog(Journal(), lambda decision: False)


def test_active_decisions_come_by_row_and_by_time(log):
    for decision in (Decision(5, "keep"), Decision(2, "exclude"), Decision(5, "unsure")):
        log.add([decision])
    assert [(d.row, d.decision) for d in log.by_row] == [(2, "exclude"), (5, "unsure")]
    assert [(d.row, d.decision) for d in log.by_time] == [(2, "exclude"), (5, "unsure")]


def test_many_decisions_have_one_batch_and_are_undone_as_one(log):
    assert log.add([Decision(row, "keep") for row in (1, 2, 3)]) == 3
    assert {d.batch.partition("/")[2] for d in log.last} == {"3"}
    log.undo([Decision(d.row, "undo") for d in log.last])
    assert (log.active, log.last, log.can_undo) == ({}, [], False)


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
    assert ([d.row for d in log.by_row], log.stale) == ([1, 2], [])
