"""Laws of issues."""

import numpy as np

from granulearn.audit.issues import MOST_OF_A_KIND, Issue, named_rows, worst_first


def some(n):
    return [Issue("odd", 1 - i / 100, (i,), "odd") for i in range(n)]


def test_the_worst_come_first_and_the_others_share_a_line():
    shown = worst_first(some(30)[::-1], "{n} more")
    assert [issue.rows[0] for issue in shown[:-1]] == list(range(MOST_OF_A_KIND))
    assert shown[-1].rows == tuple(range(MOST_OF_A_KIND, 30))
    assert shown[-1].message == "10 more"
    assert worst_first(some(3), "{n} more") == some(3)
    assert worst_first([], "{n} more") == []


def test_rows_are_named_by_the_numbers_a_reader_knows():
    assert named_rows([0, 2], np.array([10, 11, 12])) == "rows 10 and 12"
    assert named_rows([1], None) == "row 1"
    assert named_rows(list(range(7)), None) == "rows 0, 1, 2, 3, 4 and 2 more"
