"""Membership schemes by name, as an instance, or as the user's own function."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np

from granulearn.balls import BallSet
from granulearn.memberships.base import Membership
from granulearn.memberships.evidence import EvidenceMembership
from granulearn.memberships.fuzzy import FuzzyMembership
from granulearn.memberships.given import GivenMembership
from granulearn.memberships.sdap import SDAPMembership
from granulearn.memberships.uniform import UniformMembership

_SCHEMES: dict[str, type[Membership]] = {
    "evidence": EvidenceMembership,
    "fuzzy": FuzzyMembership,
    "given": GivenMembership,
    "sdap": SDAPMembership,
    "uniform": UniformMembership,
}


class CallableMembership(Membership):
    """A function of a `BallSet`, checked like every other scheme.

    A function that also needs the samples is better written as a subclass of
    `Membership`.

    Parameters
    ----------
    function : callable
        Takes a `BallSet`, returns one number in [0, 1] per ball.
    """

    _parameter_constraints: ClassVar[dict] = {"function": [callable]}

    def __init__(self, function):
        self.function = function

    def _rate(self, balls, X, y):
        return self.function(balls)


def membership_names() -> list[str]:
    """Return the names that `resolve_membership` knows, sorted."""
    return sorted(_SCHEMES)


def resolve_membership(membership: str | Membership | Callable[[BallSet], np.ndarray]):
    """Return the scheme that a name, an instance or a function stands for.

    Parameters
    ----------
    membership : str, Membership or callable
        A name of `membership_names`, an instance, or a function that takes a
        `BallSet` and returns one number in [0, 1] per ball.

    Returns
    -------
    Membership
    """
    if isinstance(membership, Membership):
        return membership
    if isinstance(membership, str) and membership in _SCHEMES:
        return _SCHEMES[membership]()
    if callable(membership) and not isinstance(membership, type):
        return CallableMembership(membership)
    raise ValueError(
        f"membership={membership!r} is not known: use one of {membership_names()}, "
        "an instance such as SDAPMembership(n_neighbors=5), or a function that takes a BallSet "
        "and returns one number per ball."
    )
