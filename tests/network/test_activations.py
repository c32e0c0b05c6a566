"""The ten activations against their formulas."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit

from granulearn.network import activate, activation_names

POINTS = np.array([-3.0, -1.0, -0.5, 0.0, 0.25, 1.0, 2.0])

FORMULAS = {
    "hardlim": lambda z: (np.sign(z) + 1) / 2,
    "leaky_relu": lambda z: np.where(z > 0, z, 0.1 * z),
    "radbas": lambda z: np.exp(-(z**2)),
    "relu": lambda z: z * (z > 0),
    "selu": lambda z: 1.05070098 * np.where(z > 0, z, 1.67326324 * (np.exp(z) - 1)),
    "sigmoid": expit,
    "sign": lambda z: (z > 0) * 1.0 - (z < 0) * 1.0,
    "sine": np.sin,
    "tanh": np.tanh,
    "tribas": lambda z: np.where(np.abs(z) <= 1, 1 - np.abs(z), 0),
}


def test_there_are_ten():
    assert activation_names() == sorted(FORMULAS)
    assert len(FORMULAS) == 10


@pytest.mark.parametrize("name", FORMULAS)
def test_values_are_the_formula(name):
    assert_allclose(activate(name, POINTS.copy()), FORMULAS[name](POINTS), atol=1e-8)


@pytest.mark.parametrize("name", FORMULAS)
def test_the_largest_inputs_do_not_overflow(name):
    extreme = np.array([-1e300, -1e155, -800.0, 800.0, 1e155, 1e300])
    assert np.isfinite(activate(name, extreme)).all()


@pytest.mark.parametrize("name", FORMULAS)
def test_the_argument_is_overwritten_and_returned(name):
    z = POINTS.copy()
    assert activate(name, z) is z


def test_at_zero_hardlim_is_a_half_and_sign_is_zero():
    assert_array_equal(activate("hardlim", np.zeros(1)), [0.5])
    assert_array_equal(activate("sign", np.zeros(1)), [0.0])


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(ValueError, match=r"'rely'.*'hardlim', 'leaky_relu'.*'tribas'"):
        activate("rely", np.zeros(1))
