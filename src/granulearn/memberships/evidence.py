"""Evidence membership: trust a ball as far as a ball forest believes its labels."""

from __future__ import annotations

from numbers import Integral
from typing import ClassVar

import numpy as np
from sklearn.utils import check_random_state

from granulearn._sklearn_compat import Interval
from granulearn.balls.makers import effective_n_jobs
from granulearn.memberships.base import Membership


class EvidenceMembership(Membership):
    """Give a ball the mean quality of its samples' labels.

    A ball forest rates each label by the trees that did not see the sample, so
    a wrong label among many right ones is not trusted, wherever its class lies.
    Use it when labels may be wrong in any place. Its weak points are its time,
    that of a forest, and classes of one sample, which nothing can rate.

    Parameters
    ----------
    n_estimators : int, default=100
        Trees of the forest.
    random_state : int, RandomState or None, default=0
        Seed of the forest. It is fixed by default, so that only the seed of a model
        changes its results.
    n_jobs : int or None, default=None
        Threads; they change no result.

    Notes
    -----
    The mean is over the samples whose label quality is known. A ball without any
    is trusted fully: nothing speaks against it.

    Examples
    --------
    >>> import numpy as np
    >>> from granulearn import generate_balls
    >>> from granulearn.memberships import EvidenceMembership
    >>> X = np.linspace(0, 1, 60)[:, None]
    >>> y = (X[:, 0] > 0.5).astype(int)
    >>> y[10] = 1  # a wrong label far from its class
    >>> balls = generate_balls(X, y, purity=1.0, random_state=0)
    >>> trust = EvidenceMembership(n_estimators=20)(balls, X, y)
    >>> bool(trust[balls.assignment[10]] == trust.min())
    True
    """

    name = "evidence"

    _parameter_constraints: ClassVar[dict] = {
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        "n_jobs": [None, Integral],
    }

    def __init__(self, n_estimators=100, random_state=0, n_jobs=None):
        self.n_estimators = n_estimators
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _rate(self, balls, X, y):
        if X is None or y is None:
            raise ValueError(
                "EvidenceMembership rates the labels of samples, but got none: "
                "call it with the X and y that the balls were made of."
            )
        # Estimators import memberships.
        from granulearn.forest.forest import grow_forest, label_quality
        from granulearn.forest.tree import ForestSettings

        X = np.ascontiguousarray(X)
        classes, codes = np.unique(y, return_inverse=True)
        seed = int(check_random_state(self.random_state).randint(2**63 - 1, dtype=np.int64))
        settings = ForestSettings(self.n_estimators, seed=seed)
        n_threads = effective_n_jobs(self.n_jobs)
        grown = grow_forest(X, codes, len(classes), settings, n_threads=n_threads)
        posterior = grown.forest.posterior(X, n_threads, grown.in_bag)
        return known_mean(balls, label_quality(posterior, codes))


def known_mean(balls, values: np.ndarray) -> np.ndarray:
    """Return each ball's mean of the values that are not NaN; one where all are."""
    known = ~np.isnan(values)
    share = balls.sample_mean(known.astype(float))
    total = balls.sample_mean(np.where(known, values, 0.0))
    mean = np.divide(total, share, out=np.ones(len(balls)), where=share > 0)
    return mean.clip(0, 1)  # rounding may end above one
