"""Ball classifiers on blocks: what cannot be learnt from is said."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from granulearn.balls import SDAPMembership
from granulearn.distributed import DaskGBRVFLClassifier, ball_fit
from tests.distributed.chunked import chunked, table


def fitted(X, y, rows=100, **settings):
    return DaskGBRVFLClassifier(random_state=0, **settings).fit(chunked(X, rows), chunked(y, rows))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"purity": 1.5}, "must lie in"),
        ({"min_ball_size": 0}, "must be a whole number"),
        ({"init": "random"}, "is not known"),
        ({"membership": SDAPMembership(n_neighbors=0)}, "n_neighbors"),
        ({"min_ball_size": 1000}, "drops every ball of every block"),
        ({"membership": "given"}, "none were given"),
        ({"membership": lambda balls: np.zeros(len(balls))}, "membership zero"),
    ],
)
def test_wrong_settings_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        fitted(*table(), **settings)


def test_a_class_that_lost_all_its_balls_is_an_error():
    X, y = table(n_classes=2)
    y[np.argmax(X[:, 0])] = 7
    with pytest.raises(ValueError, match=r"every ball of class \[7\] has fewer than"):
        fitted(X, y, purity=1.0, min_ball_size=2)


def test_above_a_number_of_rows_assignments_stay_behind(monkeypatch):
    X, y = table()
    near = fitted(X, y)
    monkeypatch.setattr(ball_fit, "MAX_ROWS_ASSIGNED", 599)
    far = fitted(X, y)
    assert len(far.balls_.assignment) == 0
    assert_array_equal(np.bincount(near.balls_.assignment), far.balls_.counts)
    assert_array_equal(far.coef_, near.coef_)
