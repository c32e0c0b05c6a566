"""The nearest ball surfaces, and balls of assigned samples."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from granulearn.balls import nearest_surfaces
from granulearn.balls.records import check_samples
from granulearn.balls.surfaces import balls_of_assignment


def by_looking_at_every_ball(centers, radii, X, k):
    to_surface = np.linalg.norm(X[:, None, :] - centers, axis=2) - radii
    numbers = np.lexsort((np.broadcast_to(np.arange(len(centers)), to_surface.shape), to_surface))
    return numbers[:, :k], np.sort(to_surface, axis=1)[:, :k]


@settings(max_examples=80)
@given(
    n_balls=st.integers(1, 300),
    n_rows=st.sampled_from([1, 10, 100]),
    d=st.integers(1, 8),
    k=st.integers(1, 4),
    seed=st.integers(0, 10**6),
)
def test_the_nearest_are_those_found_by_looking_at_every_ball(n_balls, n_rows, d, k, seed):
    rng = np.random.RandomState(seed)
    centers, radii = rng.standard_normal((n_balls, d)), rng.exponential(1.0, n_balls)
    X, k = rng.standard_normal((n_rows, d)) * 2, min(k, n_balls)
    numbers, distances = nearest_surfaces(centers, radii, X, k)
    expected_numbers, expected_distances = by_looking_at_every_ball(centers, radii, X, k)
    assert_array_equal(numbers, expected_numbers)
    assert_allclose(distances, expected_distances, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("k", [1, 3])
def test_what_is_left_out_of_a_large_search_is_too_far(d, k):
    """In one feature, many rows lie between two leaves, and either may have the nearest ball."""
    rng = np.random.RandomState(d)
    centers, radii = rng.uniform(0, 10, (1000, d)), rng.exponential(0.001, 1000)
    X = rng.uniform(-1, 11, (5000, d))
    numbers, _ = nearest_surfaces(centers, radii, X, k)
    assert_array_equal(numbers, by_looking_at_every_ball(centers, radii, X, k)[0])


@pytest.mark.parametrize("n_rows", [3, 200])
def test_a_tie_goes_to_the_smaller_number(n_rows):
    """Whole numbers in one feature: distances are exact, and most of them tie."""
    rng = np.random.RandomState(0)
    centers = rng.randint(-5, 6, size=(500, 1)).astype(float)
    radii, X = (
        rng.randint(3, size=500).astype(float),
        rng.randint(-9, 10, (n_rows, 1)).astype(float),
    )
    numbers, _ = nearest_surfaces(centers, radii, X, 7)
    assert_array_equal(numbers, by_looking_at_every_ball(centers, radii, X, 7)[0])


def test_threads_change_nothing():
    rng = np.random.RandomState(0)
    centers, radii = rng.standard_normal((400, 3)), rng.uniform(size=400)
    X = rng.standard_normal((10_000, 3))
    alone, together = (nearest_surfaces(centers, radii, X, 3, threads) for threads in (1, 3))
    assert_array_equal(alone[0], together[0])
    assert_array_equal(alone[1], together[1])


@pytest.mark.parametrize("exponent", [-1000, -300, 300, 1000])
def test_scaling_by_a_power_of_two_scales_distances(exponent):
    rng = np.random.RandomState(0)
    centers, radii = rng.uniform(0.5, 1, (50, 2)), rng.uniform(0.1, 0.2, 50)
    X = rng.uniform(0.5, 1, (100, 2))
    plain = nearest_surfaces(centers, radii, X, 2)
    scaled = nearest_surfaces(*(np.ldexp(part, exponent) for part in (centers, radii, X)), 2)
    assert_array_equal(plain[0], scaled[0])
    assert_allclose(np.ldexp(scaled[1], -exponent), plain[1], rtol=1e-9)


def test_rows_far_beyond_the_balls_have_a_nearest_one():
    centers, radii = np.array([[-1.0], [1.0]]), np.array([0.1, 0.1])
    numbers, _ = nearest_surfaces(centers, radii, np.array([[1e20], [-1e20]]))
    assert set(numbers.ravel()) <= {0, 1}
    _, distances = nearest_surfaces(centers, radii, np.array([[1e300]]))
    assert_allclose(distances, 1e300)


def test_single_precision_is_computed_in_double():
    rng = np.random.RandomState(0)
    centers, X = (rng.standard_normal((80, 3)).astype(np.float32) for _ in range(2))
    radii = rng.uniform(size=80).astype(np.float32)
    expected = nearest_surfaces(*(part.astype(float) for part in (centers, radii, X)))
    assert_array_equal(nearest_surfaces(centers, radii, X)[1], expected[1])


def test_balls_of_an_assignment_keep_what_is_given_and_count_the_rest():
    samples = check_samples([[0.0], [1.0], [2.0], [3.0]], ["a", "b", "a", "b"])
    balls = balls_of_assignment(
        samples, np.array([1, 1, 0, 1]), np.array([[9.0], [8.0]]), np.array([3.0, 4.0]),
        np.array([0, 0]),
    )  # fmt: skip
    assert_array_equal(balls.centers, [[9.0], [8.0]])
    assert_array_equal(balls.radii, [3.0, 4.0])
    assert_array_equal(balls.counts, [1, 3])
    assert_array_equal(balls.class_counts, [[1, 0], [1, 2]])
    assert_array_equal(balls.labels, [0, 0])
    assert_allclose(balls.purities, [1, 1 / 3])


def test_a_radius_far_beyond_tiny_centres_does_not_overflow():
    centers, radii = np.full((3, 2), 1e-320), np.array([0.0, 1e10, 0.0])
    numbers, distances = nearest_surfaces(centers, radii, centers, 2)
    assert_array_equal(numbers, [[1, 0]] * 3)
    assert_array_equal(distances, [[-1e10, 0]] * 3)
