"""The scatter of two sources: points where they belong, the line of equality."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from granulearn.bench.plots.agreement import plot_agreement

POINTS = {"b": ([60.0, 70.0], [65.0, 69.0]), "a": ([80.0], [90.0])}


@pytest.fixture
def axes():
    return plot_agreement(
        POINTS, ["a", "b", "c"], Figure().subplots(), x_label="paper", y_label="rerun"
    )


def test_points_are_where_the_numbers_say(axes):
    drawn = {group.get_label(): group.get_offsets().tolist() for group in axes.collections}
    assert drawn == {"a": [[80, 90]], "b": [[60, 65], [70, 69]]}


def test_the_line_is_where_both_agree(axes):
    x, y = axes.lines[0].get_data()
    np.testing.assert_array_equal(x, y)


def test_both_axes_have_one_scale_and_hold_every_point(axes):
    assert axes.get_xlim() == axes.get_ylim()
    low, high = axes.get_xlim()
    assert low < 60
    assert high > 90
