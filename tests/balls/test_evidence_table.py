"""Tables of log gamma: ratios, and one entry for every count."""

from math import lgamma

import pytest

from granulearn.balls.evidence_table import evidence_table


@pytest.mark.parametrize("alpha", [0.5, 0.1, 0.005])
def test_entries_are_logarithms_of_ratios_of_gamma(alpha):
    table = evidence_table(6, 3, alpha)
    assert table.alpha == alpha
    assert len(table.of_class) == len(table.of_ball) == 7
    assert table.of_class[0] == table.of_ball[0] == 0
    assert table.of_class[4] == pytest.approx(lgamma(4 + alpha) - lgamma(alpha))
    assert table.of_ball[6] == pytest.approx(lgamma(6 + 3 * alpha) - lgamma(3 * alpha))
