"""What the picture of the balls shows."""

from itertools import combinations

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import EllipseCollection
from numpy.testing import assert_allclose

from granulearn import generate_balls
from granulearn.bench import compare, paper_accuracy_table
from tests.bench.test_figures import contrast

mpl.use("Agg")
import matplotlib.pyplot as plt

from granulearn.bench import plot_balls, plot_critical_difference, plot_pairwise_p

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


def test_features_are_chosen_by_name_or_number():
    frame = pd.DataFrame(X, columns=["age", "weight", "height"])
    balls = generate_balls(frame, Y, random_state=0)
    by_name = plot_balls(balls, frame, Y, features=["height", "age"])
    assert (by_name.get_xlabel(), by_name.get_ylabel()) == ("height", "age")
    by_number = plot_balls(balls, X, Y, features=[2, 0])
    assert by_number.get_xlabel() == "feature 2"
    assert_allclose(circles_of(by_name).get_offsets(), circles_of(by_number).get_offsets())


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


def test_wrong_colours_are_named():
    balls = generate_balls(X, Y, random_state=0)
    with pytest.raises(ValueError, match="color='size' is not known; use 'purity'"):
        plot_balls(balls, X, Y, color="size")
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


@pytest.fixture(scope="module")
def papers():
    return compare(paper_accuracy_table())


@pytest.mark.parametrize("p_value", ["holm_p", "wilcoxon_p", "nemenyi_p"])
def test_runs_hold_the_p_values_of_their_models(papers, p_value):
    ax = plot_pairwise_p(papers, p_value)
    columns = [label.get_text() for label in ax.get_xticklabels()]
    rows = [label.get_text() for label in ax.get_yticklabels()]
    order = list(papers.ranks.sort_values().index)
    assert (columns, rows) == (order[:-1], order[1:])
    drawn = ax.images[0].get_array()
    expected = papers.p_matrix(p_value)
    seen = set()
    for i, row in enumerate(rows):
        for j, column in enumerate(columns):
            if drawn.mask[i, j]:
                continue
            assert drawn[i, j] == pytest.approx(expected.loc[row, column])
            seen.add(frozenset((row, column)))
    assert len(seen) == 28


def test_every_pair_is_written_once_and_clear_ones_are_bold(papers):
    ax = plot_pairwise_p(papers)
    drawn = ax.images[0].get_array()
    assert len(ax.texts) == 28
    for text in ax.texts:
        column, row = text.get_position()
        value = drawn[row, column]
        shown = text.get_text()
        assert shown == "<.001" if value < 0.0005 else float(shown) == round(value, 3)
        assert (text.get_fontweight() == "bold") == (value < 0.05)


def test_an_unknown_p_value_is_refused(papers):
    with pytest.raises(ValueError, match="column='p'"):
        plot_pairwise_p(papers, "p")


mpl.use("Agg")


def test_the_style_is_found_by_its_name_and_its_colours_stand_out_from_white():
    with plt.style.context("granulearn.bench.style"):
        colors = plt.rcParams["axes.prop_cycle"].by_key()["color"]
        texts = [plt.rcParams["text.color"], plt.rcParams["axes.labelcolor"]]
    assert len(set(colors)) == 7
    assert all(contrast(color, "#ffffff") >= 2 for color in colors)
    assert all(contrast(text, "#ffffff") >= 7 for text in texts)
