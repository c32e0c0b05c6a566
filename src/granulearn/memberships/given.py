"""Given membership: the user rates samples, and a ball gets the mean over its samples."""

from __future__ import annotations

from granulearn.balls.records import check_memberships
from granulearn.memberships.base import Membership


class GivenMembership(Membership):
    """Give a ball the mean of the memberships that its samples came with.

    Use it when something outside the model already says how far each sample
    can be trusted: an annotator's confidence, an audit, another model. Its
    weak point is that one doubtful sample in a large trusted ball is averaged
    away.

    Parameters
    ----------
    sample_membership : array-like of shape (n_samples,), default=None
        One number in [0, 1] per sample. Ball classifiers fill it in from
        ``fit(X, y, sample_membership=...)``, so ``membership="given"`` needs
        no array here.

    Notes
    -----
    ``delta_i`` is the mean of `sample_membership` over the samples of ball i.

    Examples
    --------
    >>> from granulearn import generate_balls
    >>> from granulearn.memberships import GivenMembership
    >>> X = [[0.0], [0.1], [0.2], [3.0], [5.0], [5.1], [5.2]]
    >>> y = ["a", "a", "a", "a", "b", "b", "b"]
    >>> balls = generate_balls(X, y, purity=1.0, random_state=0)
    >>> sure = [1.0, 1.0, 1.0, 0.2, 1.0, 1.0, 0.7]  # of each sample
    >>> GivenMembership(sure)(balls).round(2)
    array([1. , 0.9, 0.2])
    """

    name = "given"
    _saved = None  # it grows with the training rows

    def __init__(self, sample_membership=None):
        self.sample_membership = sample_membership

    def _rate(self, balls, X, y):
        if self.sample_membership is None:
            raise ValueError(
                "membership='given' averages the memberships of samples, but none were given: "
                "pass fit(X, y, sample_membership=...) or GivenMembership(sample_membership=...)."
            )
        n_samples = len(balls.assignment)
        values = check_memberships(self.sample_membership, n_samples, "sample_membership")
        # Rounding of the mean of values all equal to one may end above one.
        return balls.sample_mean(values).clip(0, 1)
