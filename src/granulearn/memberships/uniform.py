"""Uniform membership: every ball is trusted fully, as in GB-RVFL."""

from __future__ import annotations

import numpy as np

from granulearn.memberships.base import Membership


class UniformMembership(Membership):
    """Trust every ball fully.

    The scheme of GB-RVFL: each ball counts the same, however pure, large or
    far from its class it is. Use it when labels are clean, or as the baseline
    for other schemes. Its weak point is that a ball made of wrong labels pulls
    as hard as any other.

    Examples
    --------
    >>> from granulearn.memberships import UniformMembership
    >>> UniformMembership()
    UniformMembership()
    """

    name = "uniform"

    def _rate(self, balls, X, y):
        return np.ones(len(balls))
