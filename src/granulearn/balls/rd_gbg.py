"""RD-GBG balls: pure balls around samples, which grow until another class or ball is near."""

from __future__ import annotations

import numpy as np

from granulearn.balls.makers import BallMaker, in_threads, power_of_two_scale
from granulearn.balls.surfaces import balls_of_assignment, point_tree

LEAVES_PER_TASK = 32


class RDGBGBalls(BallMaker):
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

    Neighbours are found in a tree of two means over all samples. With n samples
    that takes time in proportion to n log n where features are few, and to the
    square of n where they are many; this part of the work runs in threads.

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

    def _make(self, samples, seed, n_threads):
        from granulearn.balls import _diffusion_kernels, _surface_kernels

        n, scale = len(samples), power_of_two_scale(samples.X)
        tree = point_tree(
            samples.X.astype(np.float64) * scale, np.zeros(n), _surface_kernels.LEAF_POINTS
        )
        foreign, own = nearest_of_both_kinds(tree, samples.codes[tree.order], n_threads)
        place = np.empty(n, np.int64)
        place[tree.order] = np.arange(n)
        ball, centers, radii = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n)
        n_balls = _diffusion_kernels.diffuse(
            tree, foreign, own, place[visiting_order(samples.codes, seed)], ball, centers, radii
        )
        assignment = np.empty(n, np.int64)
        assignment[tree.order] = ball
        middle = tree.order[centers[:n_balls]]
        return balls_of_assignment(
            samples, assignment, samples.X[middle], radii[:n_balls] / scale, samples.codes[middle]
        )


def nearest_of_both_kinds(tree, codes: np.ndarray, n_threads: int) -> tuple[np.ndarray, np.ndarray]:
    """Return how far each point of a tree is from the nearest of another class, and of its own."""
    from granulearn.balls import _diffusion_kernels

    labels = np.empty(len(tree.children), np.int64)
    _diffusion_kernels.label_nodes(codes, tree.bounds, labels)
    foreign, own = np.empty(len(codes)), np.empty(len(codes))
    leaves = np.flatnonzero(tree.children == 0)
    in_threads(
        lambda start: _diffusion_kernels.nearest_of_both_kinds(
            tree, codes, labels, leaves[start : start + LEAVES_PER_TASK], foreign, own
        ),
        range(0, len(leaves), LEAVES_PER_TASK),
        n_threads,
    )
    return foreign, own


def visiting_order(codes: np.ndarray, seed: int) -> np.ndarray:
    """Return the samples in rounds, each with a random sample of every class that has one left.

    Samples are drawn by their place, so other names of the classes change nothing.
    """
    shuffled = np.random.RandomState(seed % 2**32).permutation(len(codes))
    by_class = np.argsort(codes[shuffled], kind="stable")
    begins = np.flatnonzero(np.diff(codes[shuffled][by_class], prepend=-1))
    sizes = np.diff(np.append(begins, len(codes)))
    rounds = np.empty(len(codes), np.int64)
    rounds[by_class] = np.arange(len(codes)) - np.repeat(begins, sizes)
    return shuffled[np.argsort(rounds, kind="stable")]
