"""What the critical-difference diagram shows."""

from itertools import combinations

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

from granulearn.bench import compare, paper_accuracy_table

mpl.use("Agg")
import matplotlib.pyplot as plt

from granulearn.bench.plots.critical_difference import plot_critical_difference


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def random_table(n_sets, n_models, seed):
    rng = np.random.default_rng(seed)
    scores = rng.normal(80, 3, (n_sets, n_models)) + rng.normal(0, 3, n_models)
    return pd.DataFrame(scores, columns=[f"some model {j}" for j in range(n_models)])


def level_lines(ax, y_range):
    """Return the ends of the horizontal lines with a height in the range."""
    found = []
    for line in ax.get_lines():
        x, y = np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)
        if len(x) >= 2 and np.ptp(y) == 0 and y_range[0] < y[0] < y_range[1]:
            found.append((x.min(), x.max()))
    return found


TABLES = {
    "paper": paper_accuracy_table(),
    "two models": paper_accuracy_table()[["RVFL", "CRVFL"]],
    "many models": random_table(25, 14, seed=1),
    "few sets": random_table(3, 5, seed=2),
    "all equal": pd.DataFrame(np.ones((4, 3)), columns=["a", "b", "c"]),
}


@pytest.fixture(params=TABLES)
def comparison(request):
    return compare(TABLES[request.param])


def test_markers_stand_at_the_average_ranks(comparison):
    ax = plot_critical_difference(comparison)
    markers = sorted(float(c.get_offsets()[0, 0]) for c in ax.collections)
    np.testing.assert_allclose(markers, sorted(comparison.ranks))


def test_a_bar_joins_two_models_exactly_if_nemenyi_does_not_separate_them(comparison):
    ax = plot_critical_difference(comparison)
    bars = level_lines(ax, (-np.inf, 0))
    separated = {frozenset(pair) for pair in comparison.separated_pairs}
    for first, second in combinations(comparison.ranks.index, 2):
        low, high = sorted(comparison.ranks[[first, second]])
        joined = any(a <= low + 1e-9 and high <= b + 1e-9 for a, b in bars)
        assert joined == (frozenset((first, second)) not in separated)


def test_the_scale_is_as_long_as_the_critical_difference(comparison):
    ax = plot_critical_difference(comparison)
    [(start, end)] = level_lines(ax, (0, np.inf))
    assert end - start == pytest.approx(comparison.critical_difference)
    assert start == pytest.approx(comparison.ranks.min())


def test_every_model_is_named_once_and_no_texts_overlap(comparison):
    ax = plot_critical_difference(comparison)
    ax.figure.canvas.draw()
    texts = [text for text in ax.texts if text.get_text()]
    for model in comparison.ranks.index:
        rank = f"{comparison.ranks[model]:.2f}"
        assert sum({model, rank} == set(t.get_text().split("  ")) for t in stripped(texts)) == 1
    ticks = [t for t in ax.get_xticklabels() if inside(ax, t)]
    boxes = [text.get_window_extent() for text in texts + ticks]
    for one, other in combinations(boxes, 2):
        assert not one.overlaps(other)


def stripped(texts):
    for text in texts:
        text.set_text(text.get_text().strip())
    return texts


def inside(ax, tick):
    low, high = sorted(ax.get_xlim())
    return low <= tick.get_position()[0] <= high


def test_given_axes_are_used(comparison):
    _, ax = plt.subplots()
    assert plot_critical_difference(comparison, ax=ax) is ax
