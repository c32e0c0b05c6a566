"""SDAPM: trust from the spread of the class, the neighbours and the ball's size."""

from __future__ import annotations

from numbers import Integral
from typing import ClassVar

import numpy as np

from granulearn._sklearn_compat import Interval, StrOptions
from granulearn.balls import BallSet
from granulearn.memberships.base import Membership, distance_to_own_class_mean, nearest_others

# Guards against division by zero, at the same three places as in the authors' scripts.
EPSILON = 1e-8


class SDAPMembership(Membership):
    r"""Trust a ball by its place in its class, its neighbours and its size.

    The scheme of SDAP-GBRVFL ("spread, density and Pythagorean"): a ball near
    the centre of its class and among balls of its own class is trusted, and
    the larger the ball, the more its neighbours count. Use it when wrong
    labels sit among samples of another class. Its weak point is the dimension:
    the spread of *distances* shrinks as features are added, so memberships
    fall towards zero (about 0.02 at 10 features, 1e-6 at 30);
    ``spread="rms"`` is the sound variant.

    Parameters
    ----------
    n_neighbors : int, default=3
        Nearest other balls that are looked at.
    closeness : {"published", "zhang-xu"}, default="published"
        ``"published"`` is the form of the authors' scripts, which trusts a ball that
        little is known about; ``"zhang-xu"`` is the closeness of Zhang and Xu.
    spread : {"std", "rms"}, default="std"
        ``"std"``: the standard deviation of the distances to the class centre,
        as published. ``"rms"``: their root mean square. A class whose balls are
        all equally far from its centre, as any two balls are, has a standard
        deviation of zero and is always rated by the root mean square.

    Notes
    -----
    For ball i with centre :math:`c_i`, radius :math:`r_i` and class j of
    :math:`k_j` among k balls, with class centre :math:`C_j` and spread
    :math:`\sigma_j`:

    .. math::
        \mu_i &= \exp(-\lVert c_i - C_j \rVert^2
                 / (2 (\sigma_j \lambda_j)^2)), \lambda_j = \sqrt{k / k_j} \\
        \nu_i &= \sqrt{(1 - \mu_i^2) \, \mathrm{LSI}_i} \\
        \omega_i &= \exp(-r_i / \bar r) \\
        s_i &= \omega_i \mu_i + (1 - \omega_i) \theta_i

    :math:`\mathrm{LSI}_i` is the share of the nearest other balls with another
    label. The closeness :math:`\theta` is
    :math:`1 - \nu^2 / (2 - \mu^2 - \nu^2)` as published and
    :math:`(1 - \nu^2) / (2 - \mu^2 - \nu^2)` after Zhang and Xu.

    References
    ----------
    A. Quadir, M. Rahaman, P. N. Suganthan, M. Tanveer, "GBFRVFL: Granular-Ball
    Computing-Based Fuzzy Random Vector Functional Link Network", WCCI 2026.

    X. Zhang, Z. Xu, "Extension of TOPSIS to Multiple Criteria Decision Making
    with Pythagorean Fuzzy Sets", Int. J. of Intelligent Systems 29 (2014).

    Examples
    --------
    >>> from granulearn import generate_balls
    >>> from granulearn.memberships import SDAPMembership
    >>> X = [[0.0], [0.1], [0.2], [3.0], [5.0], [5.1], [5.2]]
    >>> y = ["a", "a", "a", "a", "b", "b", "b"]
    >>> balls = generate_balls(X, y, purity=1.0, random_state=0)
    >>> SDAPMembership(n_neighbors=1)(balls).round(2)
    array([0.94, 1.  , 0.72])
    """

    name = "sdap"

    _parameter_constraints: ClassVar[dict] = {
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "closeness": [StrOptions({"published", "zhang-xu"})],
        "spread": [StrOptions({"std", "rms"})],
    }

    def __init__(self, n_neighbors=3, closeness="published", spread="std"):
        self.n_neighbors = n_neighbors
        self.closeness = closeness
        self.spread = spread

    def _rate(self, balls, X, y):
        lsi = local_dissimilarity(balls.centers, balls.labels, self.n_neighbors)
        return self.rate_by_dissimilarity(balls, lsi)

    def rate_by_dissimilarity(self, balls: BallSet, lsi: np.ndarray) -> np.ndarray:
        """Rate balls whose neighbours are already known.

        Parameters
        ----------
        balls : BallSet
            The balls to rate.
        lsi : ndarray of shape (n_balls,)
            What `local_dissimilarity` returned.

        Returns
        -------
        ndarray of shape (n_balls,)
            Memberships in [0, 1].
        """
        mu = _class_membership(balls.centers, balls.labels, self.spread)
        mu2 = mu**2
        nu2 = (1 - mu2) * lsi
        theta = _closeness(mu2, nu2, self.closeness)
        omega = np.exp(-balls.radii / (balls.radii.mean() + EPSILON))
        return (omega * mu + (1 - omega) * theta).clip(0, 1)


def _class_membership(centers: np.ndarray, labels: np.ndarray, spread: str) -> np.ndarray:
    distance = distance_to_own_class_mean(centers, labels)
    balls_of_class = np.maximum(np.bincount(labels), 1)
    rms = np.sqrt(np.bincount(labels, distance**2) / balls_of_class)
    sigma = rms
    if spread == "std":
        mean = np.bincount(labels, distance) / balls_of_class
        deviation = distance - mean[labels]
        std = np.sqrt(np.bincount(labels, deviation**2) / balls_of_class)
        # Balls may all be equally far from the centre, as any two are. A spread of zero
        # would rate the whole class zero, and the network would never see it.
        sigma = np.where(std > EPSILON * rms, std, rms)
    scale = (sigma + EPSILON) * np.sqrt(len(labels) / balls_of_class)
    # The quotient is squared, not its parts: their squares may leave the float range.
    return np.exp(-0.5 * (distance / scale[labels]) ** 2)


def _closeness(mu2: np.ndarray, nu2: np.ndarray, form: str) -> np.ndarray:
    rest = 2 - mu2 - nu2 + EPSILON
    return 1 - nu2 / rest if form == "published" else (1 - nu2) / rest


def local_dissimilarity(
    centers: np.ndarray,
    labels: np.ndarray,
    n_neighbors: int,
    rows: np.ndarray | None = None,
    among: np.ndarray | None = None,
) -> np.ndarray:
    """Return, per ball, the share of its nearest other balls with another label.

    Parameters
    ----------
    centers : ndarray of shape (n_balls, n_features)
        Centres of all balls.
    labels : ndarray of shape (n_balls,)
        Their labels.
    n_neighbors : int
        Nearest other balls that are looked at; fewer where there are fewer.
    rows : ndarray of int, default=None
        The balls to answer for; None means all.
    among : ndarray of int, default=None
        The balls that count as neighbours; None means all.
    """
    own_labels = labels if rows is None else labels[rows]
    n_neighbors = min(n_neighbors, len(centers if among is None else among) - 1)
    if n_neighbors == 0 or len(own_labels) == 0:
        return np.zeros(len(own_labels))
    neighbors = nearest_others(centers, n_neighbors, rows, among)
    return np.mean(labels[neighbors] != own_labels[:, None], axis=1)
