"""GBG++ balls: cut around the mean of the majority class, again and again."""

from __future__ import annotations

import numpy as np

from granulearn.balls.ball_set import (
    ball_set_around,
    balls_from_labels,
    halves_of_widest_feature,
    nearest_balls,
    scaled_rows,
)
from granulearn.balls.generators import BallGenerator, check_purity
from granulearn.utils.validation import Samples

# Samples at the mean distance itself belong to the ball, in spite of rounding.
AT_RADIUS = 1 + 2.0**-20
LLOYD_PASSES = 30


class GBGPlusPlusBalls(BallGenerator):
    r"""Cut balls around the majority class; samples left over join the nearest ball.

    What is cut out of a ball first are the samples around the mean of its
    majority class. The rest is cut in the same way, until it holds one sample of
    each class, and parts that are not pure enough are cut further. Use it
    where balls must not depend on chance: nothing is drawn, so all seeds give the
    same balls. Its weak point is that many samples are left over. They count for
    the nearest ball, which may be of another class.

    Parameters
    ----------
    purity : float, default=0.985
        Balls below this purity are cut further. Identical rows cannot be cut:
        with different labels they stay one impure ball. Samples that join the
        nearest ball in the end may lower its purity.

    Notes
    -----
    Of the samples U of a ball that are not cut out yet, let M be those of the
    most frequent class (ties: the class that sorts first), and

    .. math:: c = \frac{1}{|M|} \sum_{x \in M} x, \quad
        r = \frac{1}{|M|} \sum_{x \in M} |x - c|.

    All samples of U within r of c, of any class, are the next part. Parts of one
    sample, and the last sample of each class, are outliers. So far the paper. Its
    public script then loses the outliers, and by mistake also a ball that falls
    into just one part. What is decided here:

    - No sample is lost. An outlier joins the ball with the nearest surface, which
      is that of the least :math:`|x - c| - r`; a tie goes to the first ball.
      Centre, radius and label of a ball are those before outliers joined, counts
      and purities those after.
    - Outliers of a class that no ball is of become balls of one sample, so that
      the class is not lost.
    - Where all samples of a ball lie within r, two means divide it, which start
      at the mean of the majority class and the mean of the other samples.
    - Balls of different classes, one inside the other, are not merged: together
      they would be cut again in the same way.

    References
    ----------
    Q. Xie, Q. Zhang, S. Xia, F. Zhao, C. Wu, G. Wang, W. Ding: GBG++: A Fast and Stable
    Granular Ball Generation Method for Classification. IEEE Transactions on Emerging
    Topics in Computational Intelligence, 2024.

    Examples
    --------
    >>> from granulearn.balls import GBGPlusPlusBalls, generate_balls
    >>> X = [[0.0], [0.1], [0.2], [0.3], [5.0], [5.1], [5.2], [5.3]]
    >>> balls = generate_balls(X, list("aaaabbbb"), balls=GBGPlusPlusBalls())
    >>> balls.assignment  # inner and outer samples of each class
    array([1, 3, 3, 1, 0, 2, 2, 0])
    """

    name = "gbg++"

    def __init__(self, purity=0.985):
        self.purity = purity

    def _validate_params(self):
        check_purity(self.purity)

    def _generate(self, samples, seed, n_threads):
        groups = groups_around_majorities(samples, float(self.purity))
        inside = np.flatnonzero(groups >= 0)
        core = balls_from_labels(samples.take(inside), groups[inside])
        outliers = np.flatnonzero(groups < 0)
        groups[outliers] = nearest_balls(
            core.centers, core.radii, samples.X[outliers], n_threads=n_threads
        )[:, 0]
        return ball_set_around(samples, groups, core.centers, core.radii, core.labels)


def groups_around_majorities(samples: Samples, purity: float) -> np.ndarray:
    """Return the number of each sample's ball, -1 for samples that are left over.

    Samples left over whose class has no ball are balls of one sample.
    """
    (X, _), codes = scaled_rows(samples.X), samples.codes
    groups = np.full(len(X), -1)
    labels: list[int] = []
    pending = [np.arange(len(X))]
    while pending:
        rows = pending.pop()
        counts = np.bincount(codes[rows])
        parts = None
        if counts.max() < purity * len(rows):
            parts = _cut_out_majorities(X, codes, rows)
        if parts is None:
            groups[rows] = len(labels)
            labels.append(int(counts.argmax()))
        else:
            pending += [part for part in parts if len(part) > 1]
    for row in np.flatnonzero((groups < 0) & ~np.isin(codes, labels)):
        groups[row] = len(labels)
        labels.append(int(codes[row]))
    return groups


def _cut_out_majorities(X, codes, rows) -> list[np.ndarray] | None:
    """Return the parts of a ball without its last sample of each class; None if it is one part."""
    parts: list[np.ndarray] = []
    rest = rows
    while len(rest) and np.bincount(codes[rest]).max() > 1:
        own = codes[rest] == np.bincount(codes[rest]).argmax()
        first = X[rest[own][0]]  # equal rows have an exact mean
        away = np.linalg.norm(X[rest] - (first + (X[rest[own]] - first).mean(axis=0)), axis=1)
        inside = away <= away[own].mean() * AT_RADIUS
        if len(rest) == len(rows) and inside.all():
            right = _two_means(X[rows], ~own)
            return None if right is None else [rows[~right], rows[right]]
        parts.append(rest[inside])
        rest = rest[~inside]
    return parts


def _two_means(X: np.ndarray, right: np.ndarray) -> np.ndarray | None:
    """Return which rows are on the right, from given sides on; None if all rows are the same."""
    for _ in range(LLOYD_PASSES):
        means = X[~right].mean(axis=0), X[right].mean(axis=0)
        before, right = right, (X - (means[0] + means[1]) / 2) @ (means[1] - means[0]) > 0
        if right.all() or not right.any():
            return halves_of_widest_feature(X)
        if (before == right).all():
            break
    return right
