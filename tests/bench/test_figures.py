"""Figures show what was measured, and can be read."""

import re
import xml.etree.ElementTree as ET
from collections import Counter
from itertools import combinations
from typing import get_args

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import EllipseCollection
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

from granulearn import generate_balls
from granulearn.bench import (
    compare,
    paper_accuracy_table,
    plot_balls,
    plot_critical_difference,
    write_figures,
)
from granulearn.bench.figures import (
    NOISE_LABELS,
    SECTIONS,
    SERIES,
    make_figures,
    plot_bars,
    plot_lines,
    plot_surface,
    score_label,
)
from granulearn.bench.study import Noise
from tests.bench.small_studies import full_summary, table1_summary

mpl.use("Agg")


@pytest.fixture
def axes():
    return Figure().subplots()


def test_squares_hold_the_values_and_a_missing_one_is_blank(axes):
    table = pd.DataFrame([[70.0, 80.0], [np.nan, 90.0]], index=[3, 23], columns=["1e-1", "1e1"])
    plot_surface(axes, table, "accuracy")
    values = axes.collections[0].get_array()
    assert values.filled(-1).tolist() == [[70, 80], [-1, 90]]
    assert [text.get_text() for text in axes.texts] == ["70", "80", "90"]
    assert [text.get_color() for text in axes.texts] == ["white", "black", "black"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["3", "23"]


def test_lines_hold_the_means_and_bars_the_errors_and_no_point_hides_another(axes):
    points = pd.DataFrame(
        [("b", 0, 90, 1.0), ("b", 20, 80, 2.0), ("a", 0, 90, None), ("a", 20, 70, None)],
        columns=["method", "at", "mean", "error"],
    )
    plot_lines(axes, points, ["a", "none", "b"])
    first, second = axes.containers
    assert [first.get_label(), second.get_label()] == ["a", "b"]
    assert (first.has_yerr, second.has_yerr) == (False, True)
    (segments,) = second[2]
    assert [float(np.ptp(points[:, 1])) for points in segments.get_segments()] == [2.0, 4.0]
    assert first[0].get_xdata()[0] != second[0].get_xdata()[0]
    assert second[0].get_color() == SERIES[2]  # by its place in the study


def test_bars_are_as_high_as_the_scores_and_inside_the_axis_with_their_errors(axes):
    heights = pd.DataFrame({"a": [80.0, 90.0], "b": [85.0, np.nan]}, index=["relu", "sine"])
    plot_bars(axes, heights, pd.DataFrame({"a": [3.0, 1.0], "b": [np.nan, np.nan]}, heights.index))
    found = {bar.get_height() for bar in axes.patches}
    assert {80, 85, 90} <= found
    low, high = axes.get_ylim()
    assert low < 77
    assert high > 91
    assert [label.get_text() for label in axes.get_xticklabels()] == ["relu", "sine"]


@pytest.fixture(scope="module")
def figures():
    return make_figures(full_summary())


def test_a_summary_with_everything_has_every_figure(figures):
    # Curves: the mean and three sets; layers: one per condition; bars and surfaces: one per set;
    # balls: two sets.
    wanted = {"ranks": 1, "curves": 4, "layers": 2, "activations": 3, "surfaces": 3, "balls": 2}
    assert Counter(figure.section for figure in figures) == wanted
    assert set(wanted) <= set(SECTIONS)
    assert len({figure.name for figure in figures}) == len(figures)
    assert all(figure.caption.endswith(".") for figure in figures)


def test_a_figure_is_well_formed_and_described(figures):
    for figure in figures:
        root = ET.fromstring(figure.svg)
        assert root.attrib["aria-label"] == figure.caption
        assert "<text" in figure.svg  # and no outlines of letters
        assert "2026-" not in figure.svg


def test_two_figures_on_a_page_share_no_id(figures):
    ids = [name for figure in figures for name in re.findall(r'\bid="([^"]+)"', figure.svg)]
    assert len(ids) == len(set(ids))


def test_table_1_is_set_against_the_paper():
    sections = [figure.section for figure in make_figures(table1_summary())]
    assert sections == ["ranks", "paper"]


NOTHING = pd.DataFrame(columns=["dataset", "method"])
EMPTY = {"comparisons": [], "curves": {}, "layers": {}, "activations": NOTHING, "paper": None,
         "surfaces": NOTHING, "drawings": []}  # fmt: skip


def test_nothing_run_is_nothing_drawn():
    assert make_figures({**full_summary(), **EMPTY}) == []


def test_the_same_numbers_make_the_same_files(tmp_path):
    summary = {**full_summary(), **EMPTY, "curves": dict([*full_summary()["curves"].items()][:1])}
    first, second = (write_figures(summary, tmp_path / name) for name in ("a", "b"))
    assert [path.name for path in first] == ["curve-0.svg", "curve-0.pdf"]
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


def test_the_label_of_a_share_has_its_unit():
    assert score_label({"score": "macro_f1", "in_percent": True}) == "macro f1 (%)"
    assert score_label({"score": "log_loss", "in_percent": False}) == "log loss"


def test_every_kind_of_noise_with_rates_has_words_for_its_axis():
    kinds = set(get_args(Noise.__annotations__["kind"])) or set(NOISE_LABELS) | {"given"}
    assert kinds - {"given"} == set(NOISE_LABELS)


RNG = np.random.RandomState(0)
X = np.vstack([RNG.normal(0, 1, (40, 3)), RNG.normal(4, 1, (40, 3))])
Y = np.repeat(["no", "yes"], 40)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def circles_of(ax):
    return next(c for c in ax.collections if isinstance(c, EllipseCollection))


def widths_of(circles):
    # Before matplotlib 3.9 halves are all there is.
    return circles.get_widths() if hasattr(circles, "get_widths") else 2 * circles._widths


def test_circles_are_the_balls_of_more_than_one_sample():
    balls = generate_balls(X[:, :2], Y, random_state=0)
    circles = circles_of(plot_balls(balls, X[:, :2], Y))
    several = balls.counts > 1
    assert_allclose(circles.get_offsets(), balls.centers[several])
    assert_allclose(widths_of(circles), 2 * balls.radii[several])
    assert_allclose(circles.get_array(), balls.purities[several])


def test_more_features_are_drawn_in_principal_components():
    balls = generate_balls(X, Y, random_state=0)
    ax = plot_balls(balls, X, Y)
    assert "principal component 1" in ax.get_xlabel()
    # An orthogonal projection shortens distances, so no circle exceeds its ball.
    assert (widths_of(circles_of(ax)) <= 2 * balls.radii[balls.counts > 1] + 1e-9).all()


def test_memberships_colour_the_balls():
    balls = generate_balls(X, Y, random_state=0)
    membership = np.linspace(0, 1, len(balls))
    ax = plot_balls(balls, X, Y, color=membership)
    assert_allclose(circles_of(ax).get_array(), membership[balls.counts > 1])
    assert "membership" in [axes.get_ylabel() for axes in ax.figure.axes]


def test_every_ball_is_whole_inside_the_axes():
    # The ball at the right is made of an upright line: its circle reaches beyond all samples.
    line = np.column_stack([np.zeros(20), np.linspace(-5, 5, 20)])
    samples = np.vstack([RNG.normal(0, 0.1, (20, 2)) - [20, 0], line])
    labels = np.repeat([0, 1], 20)
    balls = generate_balls(samples, labels, random_state=0)
    ax = plot_balls(balls, samples, labels)
    ax.figure.canvas.draw()
    for limits, middle in zip((ax.get_xlim(), ax.get_ylim()), balls.centers.T, strict=True):
        assert limits[0] < (middle - balls.radii).min()
        assert limits[1] > (middle + balls.radii).max()


def test_there_is_one_colour_per_ball():
    balls = generate_balls(X, Y, random_state=0)
    with pytest.raises(ValueError, match=rf"shape \(3,\), but there are {len(balls)} balls"):
        plot_balls(balls, X, Y, color=[1, 2, 3])


def test_classes_have_the_colours_of_the_style_in_force():
    balls = generate_balls(X, Y, random_state=0)
    with plt.rc_context({"axes.prop_cycle": plt.cycler(color=["#102030", "#405060"])}):
        ax = plot_balls(balls, X, Y)
    drawn = ax.collections[0].get_facecolors()[:, :3]
    assert_allclose(np.unique(drawn * 255, axis=0), [[16, 32, 48], [64, 80, 96]])


def test_a_panel_can_do_without_legend_and_colour_bar():
    balls = generate_balls(X, Y, random_state=0)
    ax = plot_balls(balls, X, Y, guides=False)
    assert ax.get_legend() is None
    assert ax.figure.axes == [ax]


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


def test_the_style_is_found_by_its_name():
    with plt.style.context("granulearn.bench.style"):
        assert len(set(plt.rcParams["axes.prop_cycle"].by_key()["color"])) == 7
