"""What the heat map of pairwise p-values shows."""

import matplotlib as mpl
import numpy as np
import pytest

from granulearn.bench import compare, paper_accuracy_table

mpl.use("Agg")
import matplotlib.pyplot as plt

from granulearn.bench.plots.pairwise import plot_pairwise_p


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def comparison():
    return compare(paper_accuracy_table())


@pytest.mark.parametrize("p_value", ["holm_p", "wilcoxon_p", "nemenyi_p"])
def test_cells_hold_the_p_values_of_their_models(comparison, p_value):
    ax = plot_pairwise_p(comparison, p_value)
    columns = [label.get_text() for label in ax.get_xticklabels()]
    rows = [label.get_text() for label in ax.get_yticklabels()]
    order = list(comparison.ranks.sort_values().index)
    assert (columns, rows) == (order[:-1], order[1:])
    drawn = ax.images[0].get_array()
    expected = comparison.p_matrix(p_value)
    seen = set()
    for i, row in enumerate(rows):
        for j, column in enumerate(columns):
            if drawn.mask[i, j]:
                continue
            assert drawn[i, j] == pytest.approx(expected.loc[row, column])
            seen.add(frozenset((row, column)))
    assert len(seen) == 28


def test_every_pair_is_written_once_and_clear_ones_are_bold(comparison):
    ax = plot_pairwise_p(comparison)
    drawn = ax.images[0].get_array()
    assert len(ax.texts) == 28
    for text in ax.texts:
        column, row = text.get_position()
        value = drawn[row, column]
        shown = text.get_text()
        assert shown == "<.001" if value < 0.0005 else float(shown) == round(value, 3)
        assert (text.get_fontweight() == "bold") == (value < 0.05)


def test_texts_stay_inside_their_cells(comparison):
    ax = plot_pairwise_p(comparison)
    ax.figure.canvas.draw()
    width = np.diff(ax.transData.transform([[0, 0], [1, 0]])[:, 0])[0]
    assert all(text.get_window_extent().width < width for text in ax.texts)


def test_two_models_make_one_cell():
    ax = plot_pairwise_p(compare(paper_accuracy_table()[["RVFL", "CRVFL"]]))
    assert ax.images[0].get_array().shape == (1, 1)


def test_an_unknown_p_value_is_refused(comparison):
    with pytest.raises(ValueError, match="column='p'"):
        plot_pairwise_p(comparison, "p")


def test_given_axes_are_used(comparison):
    _, ax = plt.subplots()
    assert plot_pairwise_p(comparison, ax=ax) is ax
