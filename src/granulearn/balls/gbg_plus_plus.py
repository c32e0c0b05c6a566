"""GBG++ balls: cut around the mean of the majority class, again and again."""

from __future__ import annotations

import numpy as np

from granulearn.balls.makers import (
    BallMaker,
    balls_of_groups,
    check_purity,
    scaled_rows,
)
from granulearn.balls.records import BallSet, Samples
from granulearn.balls.surfaces import balls_of_assignment, nearest_surfaces

MAX_FIT_ROWS = 500


class GBGPlusPlusBalls(BallMaker):
    r"""Cut balls around the majority class, and give what is left over to the nearest ball.

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
    >>> balls.assignment  # the inner samples of each class, then the outer ones
    array([2, 0, 0, 2, 3, 1, 1, 3])
    """

    name = "gbg++"

    def __init__(self, purity=0.985):
        self.purity = purity

    def _validate_params(self):
        check_purity(self.purity)

    def _make(self, samples, seed, n_threads):
        groups = groups_around_majorities(samples, float(self.purity))
        groups = with_a_ball_of_every_class(samples, groups)
        inside = np.flatnonzero(groups >= 0)
        core = balls_of_groups(samples.take(inside), groups[inside])
        return with_outliers_in_nearest_ball(samples, groups, core, n_threads)


def groups_around_majorities(samples: Samples, purity: float) -> np.ndarray:
    """Return the number of each sample's ball, -1 for the samples that are left over."""
    from granulearn.balls import _gbg_kernels

    n = len(samples)
    rows = scaled_rows(samples.X)
    order, sizes = np.empty(n, np.int64), np.empty(n, np.int64)
    is_outlier = np.empty(n, np.uint8)
    _gbg_kernels.grow_majority_balls(
        rows, samples.codes, purity, MAX_FIT_ROWS, len(samples.classes), order, sizes, is_outlier
    )
    groups = np.empty(n, np.int64)
    groups[order] = np.where(is_outlier == 1, -1, np.cumsum(sizes > 0) - 1)
    return groups


def with_a_ball_of_every_class(samples: Samples, groups: np.ndarray) -> np.ndarray:
    """Make balls of one of the samples left over whose class no ball is of."""
    n_classes, n_balls = len(samples.classes), int(groups.max()) + 1
    inside = groups >= 0
    class_counts = np.bincount(
        groups[inside] * n_classes + samples.codes[inside], minlength=n_balls * n_classes
    ).reshape(n_balls, n_classes)
    has_ball = np.isin(np.arange(n_classes), class_counts.argmax(axis=1))
    alone = np.flatnonzero(~inside & ~has_ball[samples.codes])
    groups = groups.copy()
    groups[alone] = n_balls + np.arange(len(alone))
    return groups


def with_outliers_in_nearest_ball(
    samples: Samples, groups: np.ndarray, core: BallSet, n_threads: int
) -> BallSet:
    """Return the balls with all samples, those left over in the ball of the nearest surface."""
    assignment = groups.copy()
    outliers = np.flatnonzero(groups < 0)
    if len(outliers) > 0:
        numbers, _ = nearest_surfaces(
            core.centers, core.radii, samples.X[outliers], n_threads=n_threads
        )
        assignment[outliers] = numbers[:, 0]
    return balls_of_assignment(samples, assignment, core.centers, core.radii, core.labels)
