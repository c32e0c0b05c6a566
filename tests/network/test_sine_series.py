"""The sine is one formula: of a number in a loop, and of an array."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from granulearn.network import _feature_kernels
from granulearn.network.sine_series import sine


@given(st.lists(st.floats(-1e4, 1e4), min_size=1, max_size=40))
def test_an_array_has_the_sines_of_its_numbers_and_those_of_numpy(numbers):
    z = np.array([numbers])
    by_loop = z.copy()
    _feature_kernels.overwrite_by_sine(by_loop)
    assert_array_equal(sine(z), by_loop)
    assert_allclose(by_loop, np.sin(z), rtol=1e-13, atol=5e-16)
