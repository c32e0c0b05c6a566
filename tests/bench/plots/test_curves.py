"""Curves: the points that were given, with their bars."""

import numpy as np
from matplotlib.figure import Figure

from granulearn.bench.plots.curves import plot_curves

LINES = {
    "b": {"at": [0, 20], "means": [90.0, 80.0], "errors": [1.0, 2.0]},
    "a": {"at": [0, 20], "means": [85.0, 84.0], "errors": [None, None]},
}


def drawn():
    return plot_curves(
        LINES, ["a", "b", "c"], Figure().subplots(), x_label="noise", y_label="accuracy"
    )


def test_lines_follow_the_order_of_the_study_and_hold_the_means():
    axes = drawn()
    assert axes.get_legend_handles_labels()[1] == ["a", "b"]
    for container, method in zip(axes.containers, ["a", "b"], strict=True):
        x, y = container[0].get_data()
        np.testing.assert_allclose(y.astype(float), LINES[method]["means"])
        np.testing.assert_allclose(x.astype(float), [0, 20], atol=0.5)


def test_bars_are_as_long_as_the_errors_and_absent_without():
    without, with_bars = drawn().containers
    assert not without.has_yerr
    segments = np.array(with_bars[2][0].get_segments())
    np.testing.assert_allclose(np.ptp(segments[:, :, 1], axis=1), [2, 4])


def test_points_at_one_place_do_not_hide_each_other():
    starts = {container[0].get_xdata()[0] for container in drawn().containers}
    assert len(starts) == 2
