"""Outcomes by column."""

from hypothesis import given
from hypothesis import strategies as st

from granulearn.selection.outcomes import OutcomeTable, join_folds


def outcome(score):
    return {"fit_error": None, "fit_time": 1.0, "score_time": 2.0, "test_scores": score}


@given(st.permutations(range(5)), st.integers(0, 5))
def test_joining_folds_puts_every_score_at_its_candidate_and_fold(places, n_together):
    tables = []
    for at in range(2):
        table = OutcomeTable(["test_scores"])
        together, alone = places[:n_together], places[n_together:]
        table.add_scores(together, {"test_scores": [10.0 * place + at for place in together]})
        for place in alone:
            table.add(place, outcome(10.0 * place + at))
        tables.append((at, table))
    joined = join_folds(tables, n_splits=2)
    assert joined["test_scores"] == [10.0 * place + at for place in range(5) for at in range(2)]
    assert joined["fit_error"] == [None] * 10


def test_scores_of_several_metrics_stay_together():
    table = OutcomeTable(["test_scores"])
    table.add(0, outcome({"a": 1.0, "b": 2.0}))
    assert join_folds([(0, table)], n_splits=1)["test_scores"] == [{"a": 1.0, "b": 2.0}]


def test_shared_time_adds_up_to_the_time_spent():
    table = OutcomeTable(["test_scores"])
    table.add(0, outcome(0.5))
    table.add_scores([1, 2, 3], {"test_scores": [0.1, 0.2, 0.3]})
    table.add(4, outcome(0.5))
    table.share_time(1, seconds=10.0)
    assert table.columns["fit_time"] == [1.0, 2.0, 2.0, 2.0, 2.0]
    table.share_time(len(table), seconds=1.0)  # nothing to share it among
    assert sum(table.columns["fit_time"]) == 9.0
