"""Decisions: which of them hold, and what can be undone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from granulearn.review import Decision, DecisionsError
from granulearn.review.decisions import actions, check_belong, standing

KINDS = ("keep", "exclude", "unsure")


def held(*lines):
    return [(d.row, d.decision) for d in standing(lines)]


def test_the_last_decision_about_a_row_holds():
    assert held(Decision(2, "keep"), Decision(1, "keep"), Decision(2, "exclude")) == [
        (1, "keep"),
        (2, "exclude"),
    ]


def test_undone_decisions_give_way_to_what_was_decided_before():
    lines = [Decision(1, "keep"), Decision(1, "exclude"), Decision(1, "undo")]
    assert held(*lines) == [(1, "keep")]
    assert held(*lines, Decision(1, "undo")) == []
    assert held(*lines, Decision(1, "undo"), Decision(1, "undo"), Decision(1, "unsure")) == [
        (1, "unsure")
    ]


def test_what_was_decided_at_once_is_undone_at_once():
    many = [Decision(row, "keep", batch="a/2") for row in (1, 2)]
    others = [Decision(row, "exclude", batch="b/2") for row in (3, 4)]
    single = [Decision(5, "keep"), Decision(6, "keep")]
    lines = [*many, *others, *single]
    assert actions(lines) == [many, others, [single[0]], [single[1]]]
    undone = [Decision(6, "undo"), Decision(5, "undo")]
    undone += [Decision(row, "undo", batch="c/2") for row in (3, 4)]
    assert actions([*lines, *undone]) == [many]


def test_one_undo_takes_one_decision_back():
    twice = [Decision(1, "keep", batch="a/2"), Decision(1, "exclude", batch="a/2")]
    assert actions([*twice, Decision(1, "undo")]) == [twice[:1]]


@given(st.lists(st.tuples(st.integers(1, 4), st.sampled_from(KINDS))))
def test_undoing_everything_leaves_nothing(said):
    lines = [Decision(row, decision) for row, decision in said]
    while done := actions(lines):
        lines += [Decision(decision.row, "undo") for decision in done[-1]]
        assert len(actions(lines)) == len(done) - 1
    assert standing(lines) == []


def test_truth_is_what_holds_if_a_decision_does():
    assert Decision(1, "change", "dog", given="cat").truth == "dog"
    assert Decision(1, "keep", given="cat").truth == "cat"
    assert Decision(1, "exclude", given="cat").truth == ""


def test_rows_that_are_others_now_are_refused_by_name():
    decisions = [Decision(row, "keep", row_hash=f"h{row}") for row in range(1, 9)]
    check_belong(decisions, [f"h{row}" for row in range(1, 9)], "d.csv")
    with pytest.raises(DecisionsError, match=r"in 7 of 8 rows \(row 2, 3, 4, 5, 6 and 2 more\)"):
        check_belong(decisions, ["h1", *["other"] * 7], "d.csv")
    with pytest.raises(DecisionsError, match=r"d\.csv speaks of row 8, and the table has 7 rows"):
        check_belong(decisions, ["h"] * 7, "d.csv")
