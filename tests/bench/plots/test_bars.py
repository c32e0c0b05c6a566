"""Bars: as high as the scores, in the groups of the settings."""

from itertools import pairwise

import numpy as np
import pytest
from matplotlib.figure import Figure

from granulearn.bench.plots.bars import plot_bars

HEIGHTS = {"m": [80.0, 82.0, 81.0], "n": [70.0, 75.0, 90.0]}
ERRORS = {"m": [1.0, 1.0, 1.0], "n": [None, None, None]}


@pytest.fixture
def axes():
    settings = ["relu", "sine", "sign"]
    return plot_bars(HEIGHTS, ERRORS, settings, Figure().subplots(), y_label="accuracy")


def test_bars_are_as_high_as_the_scores(axes):
    drawn = [c for c in axes.containers if hasattr(c, "patches")]
    for container, heights in zip(drawn, HEIGHTS.values(), strict=True):
        assert [bar.get_height() for bar in container] == heights


def test_groups_are_named_and_do_not_touch(axes):
    assert [label.get_text() for label in axes.get_xticklabels()] == ["relu", "sine", "sign"]
    edges = sorted((bar.get_x(), bar.get_x() + bar.get_width()) for bar in axes.patches)
    assert all(end <= start for (_, end), (start, _) in pairwise(edges))


def test_every_bar_and_its_error_is_inside_the_axis(axes):
    low, high = axes.get_ylim()
    assert low < 70
    assert high > 90
    assert np.isfinite([low, high]).all()
