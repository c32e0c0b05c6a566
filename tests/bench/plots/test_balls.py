"""What the picture of the balls shows."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import EllipseCollection
from numpy.testing import assert_allclose

from granulearn import generate_balls

mpl.use("Agg")
import matplotlib.pyplot as plt

from granulearn.bench import plot_balls

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


def test_a_ball_of_one_sample_is_filled_with_its_colour():
    balls = generate_balls(X, RNG.permutation(Y), random_state=0)
    single = balls.counts == 1
    membership = np.linspace(0, 1, len(balls))
    ax = plot_balls(balls, X, Y, color=membership)
    circles = circles_of(ax)
    small = next(c for c in ax.collections if len(c.get_offsets()) == single.sum())
    assert_allclose(small.get_facecolors(), circles.to_rgba(membership[single], alpha=0.6))


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


def test_dropped_balls_and_given_axes_are_fine():
    balls = generate_balls(X, Y, random_state=0, min_ball_size=2)
    _, ax = plt.subplots()
    assert plot_balls(balls, X, Y, ax=ax) is ax


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


def test_panels_may_share_their_axes():
    balls = generate_balls(X, Y, random_state=0)
    figure, axes = plt.subplots(1, 2, sharex=True, sharey=True)
    for ax in axes:
        plot_balls(balls, X, Y, guides=False, ax=ax)
    figure.draw_without_rendering()
    assert axes[0].get_xlim() == axes[1].get_xlim()
