"""Laws of the restricted diffusion generator."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

from granulearn.balls import RDGBGBalls, generate_balls
from granulearn.balls.rd_gbg import visiting_order


@settings(max_examples=60)
@given(
    n=st.integers(2, 120), d=st.integers(1, 4), seed=st.integers(0, 10**6), on_grid=st.booleans()
)
def test_balls_are_pure_do_not_overlap_and_end_before_another_class(n, d, seed, on_grid):
    rng = np.random.RandomState(seed)
    X = rng.randint(5, size=(n, d)).astype(float) if on_grid else rng.standard_normal((n, d))
    y = (X[:, 0] > 0).astype(int)
    y[rng.uniform(size=n) < 0.1] = 2
    y[:2] = 0, 1
    balls = generate_balls(X, y, balls=RDGBGBalls(), random_state=seed)
    assert_array_equal(balls.purities, 1)
    to_center = cdist(X, balls.centers)
    own = balls.assignment
    assert (to_center[np.arange(n), own] <= balls.radii[own] + 1e-9).all()
    farthest = np.zeros(len(balls))
    np.maximum.at(farthest, own, to_center[np.arange(n), own])
    assert_allclose(balls.radii, farthest, atol=1e-9)
    # A sample of another class is never inside, nor on the surface of a ball with room.
    foreign = np.where(y[:, None] != balls.classes[balls.labels], to_center, np.inf).min(axis=0)
    assert (balls.radii < foreign)[balls.counts > 1].all()
    large = balls.counts > 1
    between = cdist(balls.centers[large], balls.centers[large])
    np.fill_diagonal(between, np.inf)
    assert (between >= balls.radii[large][:, None] + balls.radii[large] - 1e-9).all()


def test_centres_are_samples_of_the_balls_class():
    rng = np.random.RandomState(0)
    X, y = rng.standard_normal((200, 2)), rng.randint(2, size=200)
    balls = generate_balls(X, y, balls=RDGBGBalls(), random_state=0)
    for center, label in zip(balls.centers, balls.labels, strict=True):
        (sample,) = np.flatnonzero((center == X).all(axis=1))
        assert y[sample] == label


def test_a_class_far_from_others_is_one_ball():
    X = np.r_[np.linspace(0, 1, 20), np.linspace(100, 101, 30)][:, None]
    balls = generate_balls(X, np.repeat([0, 1], [20, 30]), balls=RDGBGBalls(), random_state=0)
    assert sorted(balls.counts) == [20, 30]


@given(codes=st.lists(st.integers(0, 3), min_size=1, max_size=60), seed=st.integers(0, 2**63 - 1))
def test_samples_are_visited_in_rounds_of_one_per_class(codes, seed):
    codes = np.array(codes)
    order = visiting_order(codes, seed)
    assert_array_equal(np.sort(order), np.arange(len(codes)))
    position = np.argsort(order)
    rounds = np.empty(len(codes), int)
    for label in np.unique(codes):
        own = np.flatnonzero(codes == label)
        rounds[own[np.argsort(position[own])]] = np.arange(len(own))
    assert (np.diff(rounds[order]) >= 0).all()
