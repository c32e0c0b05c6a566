"""k-division balls: divide by one centre per class, without any k-means."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from granulearn.balls.ball_set import balls_from_labels, halves_of_widest_feature, scaled_rows
from granulearn.balls.generators import BallGenerator, check_purity


class KDivisionBalls(BallGenerator):
    r"""Divide balls by one sample of each class until each is pure enough.

    A ball below `purity` keeps its centre, a random sample of every other class
    becomes a further centre, and each sample goes to the nearest of them: one
    assignment, and no means that move. Use it where there are many classes: a
    ball is divided into as many parts at once. Its weak point is that a centre
    may be any sample, also one with a wrong label, so other seeds give rather
    different balls.

    Parameters
    ----------
    purity : float, default=0.985
        Balls below this purity are divided. Identical rows cannot be divided:
        with different labels they stay one impure ball.

    Notes
    -----
    With the kept centre :math:`c_0` and one random sample :math:`c_k` of each
    class that :math:`c_0` is not of, a sample x goes to part

    .. math:: \arg\min_k |x - c_k|,

    and a tie goes to :math:`c_0`, then to the centre that is the earlier sample.
    The first centre is a random sample. A division takes time in proportion to
    the samples times the classes of the ball.

    This is the division of the paper. What follows it there is left out: the
    removal of overlaps, and a k-means of all samples that starts from the
    centres, since it may undo the purity. Where all centres are the same row and
    other rows are not, the feature with the largest range is cut in half.
    Centre and radius of a ball are the mean and the mean distance of its samples.

    References
    ----------
    S. Xia, X. Dai, G. Wang, X. Gao, E. Giem: An Efficient and Adaptive Granular-Ball
    Generation Method in Classification Problem. IEEE Transactions on Neural Networks
    and Learning Systems, 2022.

    Examples
    --------
    >>> from granulearn.balls import KDivisionBalls, generate_balls
    >>> X = [[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]]
    >>> generate_balls(X, list("aaabbb"), balls=KDivisionBalls(), random_state=0)
    <BallSet: 2 balls of 6 samples, 1 features, 2 classes>
    """

    name = "k-division"

    def __init__(self, purity=0.985):
        self.purity = purity

    def _validate_params(self):
        check_purity(self.purity)

    def _generate(self, samples, seed, n_threads):
        (X, _), codes = scaled_rows(samples.X), samples.codes
        stream = np.random.default_rng(seed)
        groups, n_balls = np.empty(len(X), int), 0
        pending = [(np.arange(len(X)), int(stream.integers(len(X))))]
        while pending:
            rows, center = pending.pop()
            parts = None
            if np.bincount(codes[rows]).max() < self.purity * len(rows):
                parts = _divided(X, codes, rows, center, stream)
            if parts is None:
                groups[rows] = n_balls
                n_balls += 1
            else:
                pending += parts
        return balls_from_labels(samples, groups)


def _divided(X, codes, rows, center, stream) -> list[tuple[np.ndarray, int]] | None:
    """Return the parts of a ball and their centres; None if all rows are the same."""
    shuffled = stream.permutation(rows)
    drawn = shuffled[np.unique(codes[shuffled], return_index=True)[1]]
    # In the order of the rows, so that other names of the classes change nothing.
    centers = np.append(center, np.sort(drawn[codes[drawn] != codes[center]]))
    part = cdist(X[rows], X[centers], "sqeuclidean").argmin(axis=1)
    if part.any():
        return [(rows[part == k], centers[k]) for k in np.unique(part)]
    right = halves_of_widest_feature(X[rows])
    if right is None:
        return None
    return [(half, stream.choice(half)) for half in (rows[~right], rows[right])]
