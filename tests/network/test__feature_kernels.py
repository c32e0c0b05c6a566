"""The loops of random features against NumPy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from granulearn.network import _feature_kernels as kernels


@pytest.mark.parametrize("largest", [1e-300, 1e-3, 3.0, 100.0, 1e4])
def test_the_sine_is_that_of_numpy_to_rounding(largest):
    z = np.random.default_rng(0).uniform(-largest, largest, size=(50, 40))
    z[0, :5] = [0.0, np.pi, -np.pi / 2, 1.5 * np.pi, 2 * np.pi]
    found = z.copy()
    kernels.overwrite_by_sine(found)
    assert_allclose(found, np.sin(z), rtol=1e-13, atol=5e-16)


def test_products_of_rows_of_mostly_zeros_are_products():
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(30, 20)) * (rng.random((30, 20)) < 0.1), rng.normal(size=(20, 7))
    products = np.ones((30, 7))
    kernels.add_products_of_few(X, weights, products)
    assert_allclose(products, 1 + X @ weights, atol=1e-14)
