"""RD-GBG balls: pure balls around samples, which grow until another class or ball is near."""

from __future__ import annotations

import numpy as np
from scipy.spatial import KDTree

from granulearn.balls.ball_set import ball_set_around, power_of_two_scale
from granulearn.balls.generators import BallGenerator


class RDGBGBalls(BallGenerator):
    r"""Grow pure balls that do not overlap, by restricted diffusion.

    A ball grows around a sample to the last sample of its class before the first
    of another class, as far as no earlier ball is in the way. Use it to see the
    border between classes: balls are pure, do not overlap, and are the smaller
    the nearer they are to another class. Its weak points are wrong labels, since
    each one keeps the balls around it small, and many features: where all
    samples are about equally far apart, a ball leaves no room for the next,
    and nearly all balls hold one sample.

    Notes
    -----
    Samples are visited in rounds, in each round one random sample of every class.
    With the distance :math:`h(x)` to the nearest sample of another class, the ball
    around a sample x that is in no ball yet holds the free samples z with

    .. math:: |z - x| < h(x), \quad |z - x| \le \min_b |x - c_b| - r_b

    over all balls b before it. Its centre is x, its radius the distance of its
    farthest sample. A sample that no other joins stays free, and a later ball may
    take it; those that are free in the end become balls of one sample. This is
    the paper, but for one rule: there, samples without a neighbour of their
    class are taken for noise and left out, and here no sample is lost.

    Time grows with the samples times the balls: this generator is for comparison, not
    for large tables.

    References
    ----------
    Q. Xie, Q. Zhang, S. Xia: Approximate Borderline Sampling using Granular-Ball for
    Classification Tasks. arXiv:2506.02366, 2025.

    Examples
    --------
    >>> from granulearn.balls import RDGBGBalls, generate_balls
    >>> X = [[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]]
    >>> generate_balls(X, list("aaabbb"), balls=RDGBGBalls(), random_state=0)
    <BallSet: 2 balls of 6 samples, 1 features, 2 classes>
    """

    name = "rd-gbg"

    def _generate(self, samples, seed, n_threads):
        scale, codes = power_of_two_scale(samples.X), samples.codes
        X = samples.X.astype(np.float64) * scale
        own, foreign = distances_to_both_kinds(X, codes, n_threads)
        queue, ball = visiting_order(codes, seed), np.full(len(X), -1)
        centers, radii, n_balls = np.empty_like(X), np.zeros(len(X)), 0
        middles = np.empty(len(X), int)
        of_class = [np.flatnonzero(codes == code) for code in range(len(samples.classes))]
        for row in queue:
            # The nearest of its class must be nearer than other classes and other balls.
            if ball[row] >= 0 or own[row] >= foreign[row]:
                continue
            gaps = np.linalg.norm(centers[:n_balls] - X[row], axis=1) - radii[:n_balls]
            limit = gaps.min(initial=np.inf)
            if limit < own[row]:
                continue
            free = of_class[codes[row]]
            free = of_class[codes[row]] = free[ball[free] < 0]
            away = np.linalg.norm(X[free] - X[row], axis=1)
            inside = (away <= limit) & (away < foreign[row])
            if np.count_nonzero(inside) > 1:
                ball[free[inside]] = n_balls
                centers[n_balls], radii[n_balls] = X[row], away[inside].max()
                middles[n_balls] = row
                n_balls += 1
        alone = queue[ball[queue] < 0]
        ball[alone] = n_balls + np.arange(len(alone))
        middles = np.append(middles[:n_balls], alone)
        return ball_set_around(
            samples, ball, samples.X[middles], radii[: len(middles)] / scale, codes[middles]
        )


def distances_to_both_kinds(X, codes, n_threads) -> tuple[np.ndarray, np.ndarray]:
    """Return the distances of each sample to the nearest of its own class, and of another."""
    own, foreign = np.full(len(X), np.inf), np.full(len(X), np.inf)
    for code in np.unique(codes):
        same = codes == code
        # Not balanced: many equal rows would make a balanced tree slow.
        tree = KDTree(X[same], balanced_tree=False)
        own[same] = np.asarray(tree.query(X[same], k=[2], workers=n_threads)[0])[:, 0]
        if not same.all():
            tree = KDTree(X[~same], balanced_tree=False)
            foreign[same] = tree.query(X[same], workers=n_threads)[0]
    return own, foreign


def visiting_order(codes: np.ndarray, seed: int) -> np.ndarray:
    """Return the samples in rounds, each with a random sample of every class that has one left.

    Samples are drawn by position, so other names of the classes change nothing.
    """
    shuffled = np.random.RandomState(seed % 2**32).permutation(len(codes))
    by_class = np.argsort(codes[shuffled], kind="stable")
    begins = np.flatnonzero(np.diff(codes[shuffled][by_class], prepend=-1))
    sizes = np.diff(np.append(begins, len(codes)))
    rounds = np.empty(len(codes), np.int64)
    rounds[by_class] = np.arange(len(codes)) - np.repeat(begins, sizes)
    return shuffled[np.argsort(rounds, kind="stable")]
