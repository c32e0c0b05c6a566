"""The heat map: its squares and its numbers are the table's."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from granulearn.bench.plots.surface import plot_surface

VALUES = np.array([[60.0, 70.0, np.nan], [90.0, 80.0, 61.4]])


@pytest.fixture
def axes():
    return plot_surface(
        VALUES,
        ["3", "23"],
        ["0.1", "1", "10"],
        Figure().subplots(),
        row_label="hidden nodes",
        column_label="C",
        color_label="accuracy",
    )


def test_squares_hold_the_values_and_a_missing_one_is_blank(axes):
    drawn = axes.collections[0].get_array()
    np.testing.assert_allclose(drawn.filled(-1), np.nan_to_num(VALUES, nan=-1))


def test_each_value_is_written_in_its_square(axes):
    written = {text.get_position(): text.get_text() for text in axes.texts}
    assert written == {
        (0.5, 0.5): "60", (1.5, 0.5): "70", (0.5, 1.5): "90", (1.5, 1.5): "80", (2.5, 1.5): "61",
    }  # fmt: skip


def test_numbers_are_dark_on_light_and_light_on_dark(axes):
    colors = {text.get_text(): text.get_color() for text in axes.texts}
    assert (colors["60"], colors["90"]) == ("white", "black")


def test_axes_name_rows_and_columns(axes):
    assert [label.get_text() for label in axes.get_yticklabels()] == ["3", "23"]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0.1", "1", "10"]
