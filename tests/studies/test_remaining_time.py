"""How long the rest of a run will take."""

import pytest

from granulearn.studies import expand
from granulearn.studies.remaining_time import RemainingTime
from tests.studies.small_studies import small_study


@pytest.fixture
def cells(tmp_path):
    return expand(small_study(tmp_path))


def of(cells, method):
    return [cell for cell in cells if cell.method.name == method]


def test_nothing_is_known_before_the_first_cell_of_the_run(cells):
    expected = RemainingTime(cells)
    assert expected.left(5.0) is None
    expected.known_before(cells[0], 2.0)
    assert expected.left(5.0) is None


def test_cells_of_a_kind_are_expected_to_take_what_others_took(cells):
    rvfl, tree = of(cells, "RVFL"), of(cells, "tree")
    expected = RemainingTime(rvfl[:3] + tree[:5])
    expected.known_before(tree[0], 0.5)
    expected.done(rvfl[0], 10.0)
    # Two searches of 10 s and four trees of half a second; two processes halve it.
    assert expected.left(elapsed=5.0) == pytest.approx((2 * 10 + 4 * 0.5) / 2)


def test_a_kind_of_which_nothing_is_known_takes_what_tuned_cells_take(cells):
    rvfl, balls, tree = of(cells, "RVFL"), of(cells, "GB-RVFL"), of(cells, "tree")
    expected = RemainingTime([rvfl[0], tree[0], balls[0]])
    expected.done(tree[0], 1.0)
    expected.done(rvfl[0], 9.0)
    assert expected.left(elapsed=10.0) == pytest.approx(9.0)


def test_at_the_end_nothing_is_left_also_after_failures(cells):
    expected = RemainingTime(cells[:2])
    expected.done(cells[0], 1.0)
    expected.done(cells[1], None)
    assert expected.left(4.0) == 0
