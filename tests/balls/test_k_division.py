"""Laws of the k-division generator."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import make_blobs

from granulearn.balls import KDivisionBalls, generate_balls


def test_classes_far_apart_are_divided_at_once():
    X, y = make_blobs(600, centers=np.eye(6) * 100, random_state=0)
    balls = generate_balls(X, y, balls=KDivisionBalls(), random_state=0)
    assert len(balls) == 6
    assert_array_equal(balls.purities, 1)


def test_a_lower_purity_makes_fewer_balls():
    rng = np.random.RandomState(0)
    X, y = rng.standard_normal((500, 3)), rng.randint(3, size=500)
    numbers = [
        len(generate_balls(X, y, balls=KDivisionBalls(purity), random_state=0))
        for purity in (0.3, 0.6, 0.9, 1.0)
    ]
    assert numbers == sorted(numbers)
    assert numbers[0] == 1


def test_rows_that_only_duplicates_of_the_centre_hide_are_divided():
    """Every sample of the other class but one is the centre's row."""
    X = np.array([[0.0], [0.0], [0.0], [0.0], [1.0]])
    for seed in range(20):
        balls = generate_balls(
            X, [0, 0, 1, 1, 1], balls=KDivisionBalls(purity=1.0), random_state=seed
        )
        assert sorted(balls.counts) == [1, 4]


def test_a_purity_out_of_range_is_named():
    with pytest.raises(ValueError, match=r"purity=1\.5 must lie in \(0, 1\]"):
        generate_balls([[0.0], [1.0]], [0, 1], balls=KDivisionBalls(purity=1.5))
