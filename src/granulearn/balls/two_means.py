"""Two-means balls: split by 2-means until every ball is pure enough.

Rows are split in buckets, each depth first and on its own. A small data set is
one bucket. The first splits of a large one are found on one row in sixteen, and
one pass then sends all rows to the leaves of that small tree. Each leaf is a
bucket that fits the cache, and buckets are split in parallel. Every ball has a
key that depends only on the path to it, so any number of threads draws the same
random numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from granulearn.balls.ball_set import join_balls, power_of_two_scale
from granulearn.balls.generators import BallGenerator, check_purity
from granulearn.utils.threads import in_threads

INITS = ("k-means++", "class-means")  # in the order of the numbers that the kernels have for them
ONE_BUCKET_ROWS = 16_384  # a data set of at most so many rows is a single bucket
ROUTE_CHUNK_ROWS = 65_536
MAX_FIT_ROWS = 500  # two means of a larger ball are fitted on so many of its rows
SAMPLE_STEP = 16  # the first splits of a large set are found on one row in so many


class TwoMeansBalls(BallGenerator):
    """Split balls in two by 2-means until each is pure enough.

    The generator of the paper, and the default. It starts with one ball of all
    samples and splits every ball whose purity (the share of its most frequent
    class) is below `purity`. Use it when labels are clean, or as the baseline for
    other generators. Its weak point is wrong labels: to be pure, a ball must get rid
    of them, so most of them end as balls of one sample.

    Parameters
    ----------
    purity : float, default=0.985
        Balls below this purity are split. Identical rows cannot be split:
        with different labels they stay one impure ball.
    init : {"k-means++", "class-means"}, default="k-means++"
        Where the two means start: at two samples drawn by k-means++, or at the
        mean of the ball's majority class and the mean of its other samples.

    Notes
    -----
    The two means of a ball with more than 500 samples are fitted on that many
    of them; all its samples are then assigned. The first splits of more than
    16,384 samples are found on one sample in sixteen.

    Examples
    --------
    >>> from granulearn import generate_balls
    >>> from granulearn.balls import TwoMeansBalls
    >>> X = [[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]]
    >>> generate_balls(X, list("aaabbb"), balls=TwoMeansBalls(purity=0.9), random_state=0)
    <BallSet: 2 balls of 6 samples, 1 features, 2 classes>
    """

    name = "two-means"

    def __init__(self, purity=0.985, init="k-means++"):
        self.purity = purity
        self.init = init

    def _validate_params(self):
        check_purity(self.purity)
        if self.init not in INITS:
            known = ", ".join(map(repr, INITS))
            raise ValueError(f"init={self.init!r} is not known; use one of {known}.")

    def _generate(self, samples, seed, n_threads):
        splitter = _Splitter(
            samples.X,
            samples.codes,
            len(samples.classes),
            power_of_two_scale(samples.X),
            float(self.purity),
            INITS.index(self.init),
        )
        if len(samples) <= ONE_BUCKET_ROWS:
            buckets = [(np.arange(len(samples)), np.uint64(seed))]
        else:
            buckets = splitter.buckets(seed, n_threads)
        parts = in_threads(splitter.balls_of_bucket, buckets, n_threads)
        order, counts, centers, radii, class_counts = map(np.concatenate, zip(*parts, strict=True))
        return join_balls(
            order, counts, centers, radii, class_counts, samples.classes, splitter.scale
        )


@dataclass(frozen=True)
class _Splitter:
    """Samples, and what decides how they are split."""

    X: np.ndarray
    codes: np.ndarray
    n_classes: int
    scale: float
    purity: float
    init: int

    def buckets(self, seed: int, n_threads: int) -> list[tuple[np.ndarray, np.uint64]]:
        """Split on a part of the rows first; return all rows of each bucket, and its key."""
        from granulearn.balls import _kernels

        n, d = self.X.shape
        # One row of each stretch, so that sorted data is sampled evenly.
        begins = np.arange(0, n, SAMPLE_STEP)
        lengths = np.minimum(SAMPLE_STEP, n - begins)
        jitter = np.random.RandomState(seed % 2**32).uniform(size=len(begins))
        chosen = begins + (jitter * lengths).astype(np.intp)
        sample = np.empty((len(chosen), d), self.X.dtype)
        _kernels.gather_rows(self.X, chosen, self.scale, sample)

        max_nodes = 8 * len(chosen) // MAX_FIT_ROWS + 3
        midpoints, directions = np.empty((2, max_nodes, d), self.X.dtype)
        children, keys = np.empty((max_nodes, 2), np.int64), np.empty(max_nodes, np.uint64)
        n_nodes = _kernels.grow_tree(
            sample, self.codes[chosen], np.uint64(seed), self.purity, self.init, MAX_FIT_ROWS,
            self.n_classes, midpoints, directions, children, keys,
        )  # fmt: skip

        leaf = np.empty(n, np.int64)
        in_threads(
            lambda start: _kernels.route_rows(
                self.X, self.scale, start, min(start + ROUTE_CHUNK_ROWS, n),
                midpoints, directions, children, leaf,
            ),
            range(0, n, ROUTE_CHUNK_ROWS),
            n_threads,
        )  # fmt: skip

        node_of_row = self._pure_enough(children[:n_nodes], leaf)[leaf]
        # Narrow numbers are sorted in less time.
        node_of_row = node_of_row.astype(np.min_scalar_type(n_nodes))
        order = np.argsort(node_of_row, kind="stable")
        nodes, starts = np.unique(node_of_row[order], return_index=True)
        rows_of_nodes = np.split(order, starts[1:])
        return [(rows, keys[node]) for node, rows in zip(nodes, rows_of_nodes, strict=True)]

    def _pure_enough(self, children: np.ndarray, leaf: np.ndarray) -> np.ndarray:
        """Return, for each node of the first splits, the node whose bucket holds its rows.

        The splits were found on a part of the rows. Now that all rows are counted, the
        first node on the way down that is pure enough takes the rows of all nodes below it.
        """
        n_nodes, n_classes = len(children), self.n_classes
        counts = np.bincount(leaf * n_classes + self.codes, minlength=n_nodes * n_classes)
        counts = counts.reshape(n_nodes, n_classes)
        for node in range(n_nodes - 1, -1, -1):  # children come after their parent
            if children[node, 0] >= 0:
                counts[node] = counts[children[node]].sum(axis=0)
        stops = (children[:, 0] < 0) | (counts.max(axis=1) / counts.sum(axis=1) >= self.purity)
        bucket_of = np.full(n_nodes, -1)
        for node in range(n_nodes):
            if bucket_of[node] < 0 and stops[node]:
                bucket_of[node] = node
            if children[node, 0] >= 0:
                bucket_of[children[node]] = bucket_of[node]
        return bucket_of

    def balls_of_bucket(self, bucket: tuple[np.ndarray, np.uint64]) -> tuple[np.ndarray, ...]:
        """Split one bucket down to its balls; return what `join_balls` takes of them."""
        from granulearn.balls import _kernels

        order, key = bucket
        n, d = len(order), self.X.shape[1]
        rows = np.empty((n, d), self.X.dtype)
        _kernels.gather_rows(self.X, order, self.scale, rows)
        y = self.codes[order]
        perm, sizes = np.empty(n, np.int64), np.empty(n, np.int64)
        _kernels.grow_balls(
            rows, y, key, self.purity, self.init, MAX_FIT_ROWS, self.n_classes, perm, sizes
        )
        starts = np.append(np.flatnonzero(sizes), n)
        k = len(starts) - 1
        centers, radii = np.empty((k, d), rows.dtype), np.empty(k, rows.dtype)
        class_counts = np.zeros((k, self.n_classes), np.int64)
        _kernels.summarise_balls(rows, y, perm, starts, centers, radii, class_counts)
        return order[perm], np.diff(starts), centers, radii, class_counts
