"""Only finite tables of at least two by two pass."""

import numpy as np
import pytest

from granulearn.bench.statistics.score_checks import checked_scores, paired_scores


def test_a_good_table_comes_back_as_floats():
    table = checked_scores([[1, 2], [3, 4]])
    assert table.dtype == float
    np.testing.assert_array_equal(table, [[1, 2], [3, 4]])


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([1, 2, 3], "two dimensions"),
        ([[1, 2]], "1 set"),
        ([[1], [2]], "1 model"),
        ([[1, 2], [3, np.nan]], "nan at row 1, column 1"),
        ([[1, np.inf], [3, 4]], "inf at row 0, column 1"),
    ],
)
def test_a_bad_table_is_refused_with_the_place(scores, message):
    with pytest.raises(ValueError, match=message):
        checked_scores(scores)


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ([1, 2], [1, 2, 3], r"\(2,\) and \(3,\)"),
        ([], [], r"\(0,\)"),
        ([[1]], [[1]], r"\(1, 1\)"),
        ([1, np.nan], [1, 2], "missing or infinite"),
    ],
)
def test_scores_that_do_not_pair_are_refused(first, second, message):
    with pytest.raises(ValueError, match=message):
        paired_scores(first, second)
