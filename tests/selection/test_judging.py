"""Which scores count: those that rounding cannot change."""

import numpy as np

from granulearn.selection.judging import Judged, add_certain, certain_of_all, rounding_error
from granulearn.selection.outcomes import OutcomeTable

JUDGED = {
    "test_scores": Judged(np.array([0.1, 0.2, 0.3]), np.array([True, False, True])),
    "train_scores": Judged(np.array([0.4, 0.5, 0.6]), np.array([True, True, False])),
}


def test_rounding_grows_with_the_condition_number():
    assert rounding_error(1e10) > 1e4 * rounding_error(1.0)
    assert np.isnan(rounding_error(np.nan))


def test_a_network_is_certain_where_all_its_scores_are():
    assert certain_of_all(JUDGED).tolist() == [True, False, False]


def test_only_what_is_certain_is_added():
    table = OutcomeTable(JUDGED)
    assert add_certain(np.array([7, 8, 9]), JUDGED, table).tolist() == [True, False, False]
    assert table.places == [7]
    assert table.columns["test_scores"] == [0.1]
    assert table.columns["train_scores"] == [0.4]
