"""Schemes by name, as an instance, or as a function."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from granulearn.memberships import (
    FuzzyMembership,
    GivenMembership,
    SDAPMembership,
    UniformMembership,
    membership_names,
    resolve_membership,
)
from tests.memberships.ball_sets import ball_set

BALLS = ball_set([[0.0], [1.0], [5.0]], [0, 1, 1], radii=[0.5, 1.0, 0.0])


@pytest.mark.parametrize(
    ("name", "scheme"),
    [
        ("fuzzy", FuzzyMembership),
        ("given", GivenMembership),
        ("sdap", SDAPMembership),
        ("uniform", UniformMembership),
    ],
)
def test_a_name_stands_for_its_scheme(name, scheme):
    assert type(resolve_membership(name)) is scheme
    assert name in membership_names()


def test_an_instance_stands_for_itself():
    scheme = SDAPMembership(n_neighbors=5)
    assert resolve_membership(scheme) is scheme


def test_a_function_is_called_with_the_balls():
    assert_allclose(resolve_membership(lambda balls: balls.radii / 2)(BALLS), [0.25, 0.5, 0.0])


def test_a_function_is_held_to_one_number_in_the_unit_interval_per_ball():
    with pytest.raises(ValueError, match="expected 3 memberships"):
        resolve_membership(lambda balls: np.ones(2))(BALLS)


@pytest.mark.parametrize("wrong", ["fuzzi", None, 3, SDAPMembership])
def test_what_is_not_known_lists_what_is(wrong):
    with pytest.raises(ValueError, match=r"'fuzzy', 'given', 'sdap', 'uniform'"):
        resolve_membership(wrong)


def test_schemes_have_parameters_like_estimators():
    scheme = clone(SDAPMembership(n_neighbors=5)).set_params(spread="rms")
    assert scheme.get_params() == {"n_neighbors": 5, "closeness": "published", "spread": "rms"}
    assert repr(scheme) == "SDAPMembership(n_neighbors=5, spread='rms')"
