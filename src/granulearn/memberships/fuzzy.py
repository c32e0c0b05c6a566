"""Fuzzy membership: trust falls with the distance to the centre of the class."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from granulearn._sklearn_compat import StrOptions
from granulearn.memberships.base import Membership, distance_to_own_class_mean

# Keeps a class of identical points from dividing by zero; as in the authors' scripts.
RADIUS_FLOOR = 1e-5


class FuzzyMembership(Membership):
    r"""Trust a ball less the farther it lies from the centre of its class.

    The scheme of F-GBRVFL: a sample's membership falls linearly from one at
    its class mean to zero at the farthest sample of the class. Use it when
    each class is one cloud and wrong labels lie far out. Its weak point is a
    class of several clouds, or of any shape whose mean is empty: good samples
    far from the mean are then trusted least.

    Parameters
    ----------
    level : {"sample", "ball"}, default="sample"
        ``"sample"`` rates samples and averages over each ball, as in the
        paper; ``"ball"`` rates the ball centres, as in the authors' scripts,
        and needs no samples.

    Notes
    -----
    For a class with mean :math:`m` and radius :math:`R`, the largest distance
    of one of its points to :math:`m`,
    :math:`\mu(x) = 1 - \lVert x - m \rVert / (R + 10^{-5})`.

    References
    ----------
    A. Quadir, M. Rahaman, P. N. Suganthan, M. Tanveer, "GBFRVFL: Granular-Ball
    Computing-Based Fuzzy Random Vector Functional Link Network", WCCI 2026.

    Examples
    --------
    >>> from granulearn import generate_balls
    >>> from granulearn.memberships import FuzzyMembership
    >>> X = [[0.0], [0.1], [0.2], [3.0], [5.0], [5.1], [5.2]]
    >>> y = ["a", "a", "a", "a", "b", "b", "b"]
    >>> balls = generate_balls(X, y, purity=1.0, random_state=0)
    >>> FuzzyMembership(level="ball")(balls).round(2)
    array([0., 1., 0.])
    >>> FuzzyMembership()(balls, X, y).round(2)
    array([0.67, 0.33, 0.  ])
    """

    name = "fuzzy"

    _parameter_constraints: ClassVar[dict] = {"level": [StrOptions({"sample", "ball"})]}

    def __init__(self, level="sample"):
        self.level = level

    def _rate(self, balls, X, y):
        if self.level == "ball":
            return _closeness_to_class(balls.centers, balls.labels)
        if X is None or y is None:
            raise ValueError(
                "FuzzyMembership(level='sample') rates samples, but got none: "
                "call it with X and y, or use level='ball'."
            )
        codes = np.unique(y, return_inverse=True)[1]
        return balls.sample_mean(_closeness_to_class(np.asarray(X), codes)).clip(0, 1)


def _closeness_to_class(points: np.ndarray, codes: np.ndarray) -> np.ndarray:
    distance = distance_to_own_class_mean(points, codes)
    return closeness(distance, codes, class_radii(distance, codes, codes.max() + 1))


def class_radii(distance: np.ndarray, codes: np.ndarray, n_classes: int) -> np.ndarray:
    """Return the largest distance of each class; zero for a class without points."""
    radii = np.zeros(n_classes)
    np.maximum.at(radii, codes, distance)
    return radii


def closeness(distance: np.ndarray, codes: np.ndarray, radii: np.ndarray) -> np.ndarray:
    """Return a number per point: one at the mean of its class, zero at the class radius."""
    return 1 - distance / (radii[codes] + RADIUS_FLOOR)
