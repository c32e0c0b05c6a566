"""Two-means balls: split by 2-means until every ball is pure enough.

Rows are split in buckets, each depth first and on its own. A small data set is
one bucket. The first splits of a large one are found on one row in sixteen, and
one pass then sends all rows to the leaves of that small tree. Each leaf is a
bucket that fits the cache, and buckets are split in parallel. Every ball has a
key that depends only on the path to it, so any number of threads draws the same
random numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from granulearn.balls.makers import (
    BallMaker,
    ball_set_of_parts,
    check_purity,
    in_threads,
    power_of_two_scale,
)
from granulearn.balls.records import BallSet

INITS = ("k-means++", "class-means")
ONE_BUCKET_ROWS = 16_384  # a data set of at most so many rows is a single bucket
ROUTE_CHUNK_ROWS = 65_536


class TwoMeansBalls(BallMaker):
    """Split balls in two by 2-means until each is pure enough.

    The maker of the paper, and the default. It starts with one ball of all
    samples and splits every ball whose purity (the share of its most frequent
    class) is below `purity`. Use it when labels are clean, or as the baseline for
    other makers. Its weak point is wrong labels: to be pure, a ball must get rid
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

    def _make(self, samples, seed, n_threads):
        rule = SplitRule(purity=float(self.purity), init=self.init, seed=seed)
        parts = split_into_balls(samples.X, samples.codes, len(samples.classes), rule, n_threads)
        return _joined(parts, samples.classes, power_of_two_scale(samples.X))


@dataclass(frozen=True)
class SplitRule:
    """Settings that decide a split, apart from the data."""

    purity: float
    init: str
    seed: int
    max_fit_rows: int = 500  # two means of a larger ball are fitted on so many of its rows
    sample_step: int = 16  # the first splits of a large set are found on one row in so many

    @property
    def init_code(self) -> int:
        """The number that stands for `init` in the kernels."""
        from granulearn.balls._two_means_kernels import CLASS_MEANS, KMEANS_PLUS_PLUS

        return {"k-means++": KMEANS_PLUS_PLUS, "class-means": CLASS_MEANS}[self.init]


@dataclass(frozen=True)
class Bucket:
    """Rows that are split on their own: the whole data set, or a leaf of its first splits."""

    order: np.ndarray
    key: np.uint64
    depth: int


@dataclass(frozen=True)
class BucketBalls:
    """The balls of one bucket, in the units of the scaled rows."""

    order: np.ndarray  # row numbers, ball by ball
    sizes: np.ndarray
    centers: np.ndarray
    radii: np.ndarray
    class_counts: np.ndarray
    depth: int


def split_into_balls(
    X: np.ndarray,
    codes: np.ndarray,
    n_classes: int,
    rule: SplitRule,
    n_threads: int,
    one_bucket_rows: int = ONE_BUCKET_ROWS,
) -> list[BucketBalls]:
    """Split all rows; the balls come bucket by bucket."""
    scale = power_of_two_scale(X)
    if len(X) <= one_bucket_rows:
        buckets = [Bucket(np.arange(len(X)), np.uint64(rule.seed), 0)]
    else:
        buckets = _first_splits(X, codes, n_classes, rule, scale, n_threads)
    return in_threads(
        lambda bucket: _balls_of_bucket(X, codes, n_classes, rule, scale, bucket),
        buckets,
        n_threads,
    )


def _first_splits(
    X: np.ndarray,
    codes: np.ndarray,
    n_classes: int,
    rule: SplitRule,
    scale: float,
    n_threads: int,
) -> list[Bucket]:
    """Find the first splits on a part of the rows and send every row to its bucket."""
    from granulearn.balls import _ball_kernels

    n, d = X.shape
    # One row of each stretch, so that sorted data is sampled evenly.
    begins = np.arange(0, n, rule.sample_step)
    lengths = np.minimum(rule.sample_step, n - begins)
    jitter = np.random.RandomState(rule.seed % 2**32).uniform(size=len(begins))
    chosen = begins + (jitter * lengths).astype(np.intp)
    sample = np.empty((len(chosen), d), X.dtype)
    _ball_kernels.gather_rows(X, chosen, scale, sample)

    max_nodes = 8 * len(chosen) // rule.max_fit_rows + 3
    midpoints = np.empty((max_nodes, d), X.dtype)
    directions = np.empty((max_nodes, d), X.dtype)
    children = np.empty((max_nodes, 2), np.int64)
    keys = np.empty(max_nodes, np.uint64)
    depths = np.empty(max_nodes, np.int64)
    n_nodes = _ball_kernels.grow_tree(
        sample, codes[chosen], np.uint64(rule.seed), rule.purity, rule.init_code,
        rule.max_fit_rows, n_classes,
        midpoints, directions, children, keys, depths,
    )  # fmt: skip

    leaf = np.empty(n, np.int64)
    in_threads(
        lambda start: _ball_kernels.route_rows(
            X, scale, start, min(start + ROUTE_CHUNK_ROWS, n),
            midpoints, directions, children, leaf,
        ),
        range(0, n, ROUTE_CHUNK_ROWS),
        n_threads,
    )  # fmt: skip

    bucket_node = _pure_enough_or_leaf(children[:n_nodes], leaf, codes, n_classes, rule.purity)
    node_of_row = bucket_node.astype(np.min_scalar_type(n_nodes))[leaf]
    order = np.argsort(node_of_row, kind="stable")
    nodes, starts = np.unique(node_of_row[order], return_index=True)
    return [
        Bucket(rows, keys[node], int(depths[node]))
        for node, rows in zip(nodes, np.split(order, starts[1:]), strict=True)
    ]


def _pure_enough_or_leaf(
    children: np.ndarray, leaf: np.ndarray, codes: np.ndarray, n_classes: int, purity: float
) -> np.ndarray:
    """Return, for each node of the first splits, the node whose bucket holds its rows.

    The splits were found on a part of the rows. Now that all rows are counted, the
    first node on the way down that is pure enough takes the rows of all nodes below it.
    """
    n_nodes = len(children)
    counts = np.bincount(leaf * n_classes + codes, minlength=n_nodes * n_classes)
    counts = counts.reshape(n_nodes, n_classes)
    for node in range(n_nodes - 1, -1, -1):  # children come after their parent
        if children[node, 0] >= 0:
            counts[node] = counts[children[node]].sum(axis=0)
    stops = (children[:, 0] < 0) | (counts.max(axis=1) / counts.sum(axis=1) >= purity)
    bucket_node = np.full(n_nodes, -1)
    for node in range(n_nodes):
        if bucket_node[node] < 0 and stops[node]:
            bucket_node[node] = node
        if children[node, 0] >= 0:
            bucket_node[children[node]] = bucket_node[node]
    return bucket_node


def _balls_of_bucket(
    X: np.ndarray,
    codes: np.ndarray,
    n_classes: int,
    rule: SplitRule,
    scale: float,
    bucket: Bucket,
) -> BucketBalls:
    """Split one bucket down to its balls and describe them."""
    from granulearn.balls import _ball_kernels

    n, d = len(bucket.order), X.shape[1]
    rows = np.empty((n, d), X.dtype)
    _ball_kernels.gather_rows(X, bucket.order, scale, rows)
    y = codes[bucket.order]
    perm, sizes = np.empty(n, np.int64), np.empty(n, np.int64)
    depth = _ball_kernels.grow_balls(
        rows, y, bucket.key, bucket.depth, rule.purity, rule.init_code, rule.max_fit_rows,
        n_classes, perm, sizes,
    )  # fmt: skip
    starts = np.append(np.flatnonzero(sizes), n)
    k = len(starts) - 1
    centers, radii = np.empty((k, d), X.dtype), np.empty(k, X.dtype)
    class_counts = np.zeros((k, n_classes), np.int64)
    _ball_kernels.summarise_balls(rows, y, perm, starts, centers, radii, class_counts)
    return BucketBalls(bucket.order[perm], np.diff(starts), centers, radii, class_counts, depth)


def _joined(parts: Sequence[BucketBalls], classes: np.ndarray, scale: float) -> BallSet:
    """Put the balls of all buckets into one record, in the units of X."""
    order, sizes, centers, radii, class_counts = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("order", "sizes", "centers", "radii", "class_counts")
    )
    return ball_set_of_parts(order, sizes, centers, radii, class_counts, classes, scale)
