"""How long the rest of a run will take."""

import pytest

from granulearn.bench import expand
from granulearn.bench.studies.remaining_time import RemainingTime
from tests.bench.studies.small_studies import small_study


@pytest.fixture
def cells(tmp_path):
    """Return the cells of a study: of every split RVFL, GB-RVFL (both tuned) and a tree."""
    return expand(small_study(tmp_path))


def of(cells, method):
    return [cell for cell in cells if cell.method.name == method]


def test_nothing_is_known_before_the_first_cell_of_the_run(cells):
    expected = RemainingTime(of(cells, "RVFL"))
    assert expected.left(5.0) is None
    expected.known_before(of(cells, "RVFL")[0], 2.0)
    assert expected.left(5.0) is None


def test_nothing_is_said_before_all_methods_of_a_split_were_seen(cells):
    # Trees were taken for searches until one was done: a study of 100 s was said to take 1000.
    expected = RemainingTime(cells)
    rvfl, balls, tree = cells[:3]
    for cell, seconds, elapsed in [(rvfl, 10.0, 10.0), (balls, 10.0, 20.0)]:
        expected.done(cell, seconds, elapsed)
        assert expected.left(elapsed) is None
    expected.done(tree, 0.5, 20.5)
    n_splits = len(cells) // 3
    assert expected.left(20.5) == pytest.approx((n_splits - 1) * 20.5)


def test_a_method_that_fails_was_seen_too(cells):
    expected = RemainingTime(cells)
    expected.done(cells[0], 4.0, 4.0)
    expected.done(cells[1], None, 4.0)
    expected.done(cells[2], 1.0, 5.0)
    n_splits = len(cells) // 3
    assert expected.left(5.0) == pytest.approx((n_splits - 1) * (4 + 4 + 1))


def test_cells_of_a_kind_are_expected_to_take_what_others_took(cells):
    rvfl, tree = of(cells, "RVFL"), of(cells, "tree")
    expected = RemainingTime(rvfl[:3] + tree[:5])
    expected.known_before(tree[0], 0.5)
    expected.done(rvfl[0], 10.0, elapsed=10.0)
    expected.done(rvfl[1], 10.0, elapsed=10.0)  # by another process
    # A search of 10 s and four trees of half a second; two processes halve it.
    assert expected.left(elapsed=10.0) == pytest.approx((10 + 4 * 0.5) / 2)


def test_what_a_run_does_before_its_first_cell_is_not_expected_again(cells):
    rvfl = of(cells, "RVFL")
    expected = RemainingTime(rvfl[:4])
    expected.done(rvfl[0], 1.0, elapsed=61.0)  # a minute of compiling
    assert expected.left(elapsed=61.0) == pytest.approx(3.0)


def test_a_search_of_which_nothing_is_known_takes_what_others_take(cells):
    rvfl, balls, tree = of(cells, "RVFL"), of(cells, "GB-RVFL"), of(cells, "tree")
    expected = RemainingTime([rvfl[0], tree[1], balls[2]])
    expected.done(tree[1], 1.0, elapsed=1.0)
    assert expected.left(elapsed=1.0) is None
    expected.done(rvfl[0], 9.0, elapsed=10.0)
    assert expected.left(elapsed=10.0) == pytest.approx(9.0)


def test_fits_of_one_setting_count_for_nothing_while_only_searches_are_known(cells):
    rvfl, tree = of(cells, "RVFL"), of(cells, "tree")
    expected = RemainingTime([rvfl[0], rvfl[1], *tree[2:]])  # a second study of trees alone
    expected.done(rvfl[0], 9.0, elapsed=9.0)
    assert expected.left(elapsed=9.0) == pytest.approx(9.0)


def test_a_split_that_two_studies_have_is_seen_when_those_of_one_were(cells):
    rvfl, tree = of(cells, "RVFL"), of(cells, "tree")
    expected = RemainingTime([rvfl[0], rvfl[1], tree[0]])
    expected.done(rvfl[0], 9.0, elapsed=9.0)
    assert expected.left(elapsed=9.0) == pytest.approx(9.0)


def test_at_the_end_nothing_is_left_also_after_failures(cells):
    expected = RemainingTime(cells[:2])
    expected.done(cells[0], 1.0, 4.0)
    expected.done(cells[1], None, 4.0)
    assert expected.left(4.0) == 0
