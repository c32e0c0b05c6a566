"""The compiled loops against their slow twins."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from granulearn.balls import _kernels
from granulearn.balls.two_means import INITS
from tests.balls import reference

keys = st.integers(0, 2**64 - 1)


def grown(X, y, n_classes, key, purity, init, max_fit):
    perm, sizes = np.empty(len(X), np.int64), np.empty(len(X), np.int64)
    code = INITS.index(init)
    _kernels.grow_balls(X, y, np.uint64(key), purity, code, max_fit, n_classes, perm, sizes)
    return np.split(perm, np.flatnonzero(sizes)[1:]), sizes[sizes > 0]


@pytest.mark.slow
@settings(max_examples=50)
@given(
    shape=st.tuples(st.integers(2, 300), st.integers(1, 7)),
    n_classes=st.integers(2, 5),
    data_seed=st.integers(0, 10**6),
    key=keys,
    purity=st.sampled_from([0.5, 0.8, 0.985, 1.0]),
    init=st.sampled_from(["k-means++", "class-means"]),
    max_fit=st.sampled_from([3, 20, 150, 1000]),
)
def test_balls_equal_those_of_the_slow_twin(
    shape, n_classes, data_seed, key, purity, init, max_fit
):
    rng = np.random.RandomState(data_seed)
    X = rng.standard_normal(shape)
    y = rng.randint(n_classes, size=shape[0]).astype(np.int32)
    balls, sizes = grown(X, y, n_classes, key, purity, init, max_fit)
    expected = reference.reference_balls(X, y, np.arange(shape[0]), key, purity, init, max_fit)
    assert_array_equal(sizes, [len(ball) for ball in expected])
    for ball, twin in zip(balls, expected, strict=True):
        assert_array_equal(ball, twin)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_summary_equals_numpy_on_every_ball(dtype):
    rng = np.random.RandomState(3)
    rows = (rng.standard_normal((60, 4)) + 50).astype(dtype)
    y, perm = rng.randint(3, size=60).astype(np.int32), rng.permutation(60)
    starts = np.array([0, 1, 5, 30, 60])
    centers, radii = np.empty((4, 4), dtype), np.empty(4, dtype)
    class_counts = np.zeros((4, 3), np.int64)
    _kernels.summarise_balls(rows, y, perm, starts, centers, radii, class_counts)
    tolerance = 1e-12 if dtype == np.float64 else 1e-5
    for ball, members in enumerate(np.split(perm, starts[1:-1])):
        own = rows[members].astype(float)
        distances = np.linalg.norm(own - own.mean(axis=0), axis=1)
        assert_allclose(centers[ball], own.mean(axis=0), rtol=tolerance)
        assert_allclose(radii[ball], distances.mean(), rtol=tolerance, atol=tolerance)
        assert_array_equal(class_counts[ball], np.bincount(y[members], minlength=3))


PRINT_BALLS = """
import numpy as np, warnings
warnings.simplefilter("ignore")  # whole numbers that wrap around, on purpose
from granulearn import generate_balls
rng = np.random.RandomState(5)
for dtype in (np.float64, np.float32):
    X, y = rng.standard_normal((250, 3)).astype(dtype), rng.randint(3, size=250)
    for init in ("k-means++", "class-means"):
        balls = generate_balls(X, y, init=init, random_state=1)
        print(balls.assignment.tolist(), balls.centers.tolist(), balls.radii.tolist())
"""


@pytest.mark.slow
def test_compiled_and_interpreted_kernels_agree_to_the_last_bit():
    printed = [
        subprocess.run(
            [sys.executable, "-c", PRINT_BALLS],
            env=os.environ | {"NUMBA_DISABLE_JIT": disabled},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for disabled in ("0", "1")
    ]
    assert len(printed[0]) > 1000
    assert printed[0] == printed[1]
