"""Granular-ball generation: split by 2-means until every ball is pure enough.

A small data set is one bucket, split depth first. The first splits of a large
one are found on one row in sixteen; one pass then sends all rows to the
leaves of that small tree, and each leaf is a bucket that fits the cache, split
depth first on its own, in parallel with the others. Every ball has a key that
depends only on the path to it, so both ways, with any number of threads, draw
the same random numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils import check_random_state

from granulearn.balls.ball_set import BallSet
from granulearn.balls.input_checks import check_ball_parameters, check_samples, encode_labels

T = TypeVar("T")
R = TypeVar("R")

ONE_BUCKET_ROWS = 16_384  # a data set of at most so many rows is a single bucket
ROUTE_CHUNK_ROWS = 65_536


@dataclass(frozen=True)
class SplitRule:
    """What decides a split, apart from the data."""

    purity: float
    init: str
    seed: int
    max_fit_rows: int = 500  # two means of a larger ball are fitted on so many of its rows
    sample_step: int = 16  # the first splits of a large set are found on one row in so many

    @property
    def init_code(self) -> int:
        """The number that the kernels know `init` by."""
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


def generate_balls(
    X: Any,
    y: Any,
    *,
    purity: float = 0.985,
    min_ball_size: int = 1,
    init: str = "k-means++",
    random_state: int | np.random.RandomState | None = None,
    n_jobs: int | None = None,
) -> BallSet:
    """Cover labelled samples with granular balls.

    Starts with one ball of all samples and splits every ball whose purity (the
    share of its most frequent class) is below `purity` in two by 2-means.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Numbers, finite; float32 stays float32. Never modified.
    y : array-like of shape (n_samples,)
        Labels of two or more classes.
    purity : float, default=0.985
        Balls below this purity are split. Identical rows cannot be split:
        with different labels they stay one impure ball.
    min_ball_size : int, default=1
        Balls with fewer samples are dropped; 2 drops balls of one sample.
    init : {"k-means++", "class-means"}, default="k-means++"
        Where the two means start: at two samples drawn by k-means++, or at the
        mean of the ball's majority class and the mean of its other samples.
    random_state : int, RandomState or None, default=None
        The same number gives the same balls, whatever `n_jobs` is.
    n_jobs : int or None, default=None
        Threads for large data; None means 1 and -1 all cores.

    Returns
    -------
    BallSet

    Notes
    -----
    The two means of a ball with more than 500 samples are fitted on that many
    of them; all its samples are then assigned. The first splits of more than
    16,384 samples are found on one sample in sixteen.

    Examples
    --------
    >>> from granulearn import generate_balls
    >>> X = [[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]]
    >>> balls = generate_balls(X, ["a", "a", "a", "b", "b", "b"], random_state=0)
    >>> balls
    <BallSet: 2 balls of 6 samples, 1 features, 2 classes>
    >>> balls.assignment[:3] == balls.assignment[0]
    array([ True,  True,  True])
    """
    check_ball_parameters(purity, min_ball_size, init)
    X, y = check_samples(X, y)
    return balls_of_arrays(
        X,
        y,
        purity=purity,
        min_ball_size=min_ball_size,
        init=init,
        random_state=random_state,
        n_jobs=n_jobs,
    )


def balls_of_arrays(
    X: np.ndarray,
    y: np.ndarray,
    *,
    purity: float,
    min_ball_size: int,
    init: str,
    random_state: int | np.random.RandomState | None,
    n_jobs: int | None,
) -> BallSet:
    """Make balls of what `check_samples` returned."""
    classes, codes = encode_labels(y)
    balls = balls_of_classes(
        X, codes, classes, purity=purity, init=init, random_state=random_state, n_jobs=n_jobs
    )
    kept = without_small_balls(balls, min_ball_size)
    if len(kept) == 0:
        raise ValueError(
            f"min_ball_size={min_ball_size} drops every ball: the largest of the {len(balls)} "
            f"balls holds {balls.counts.max()} samples; lower min_ball_size, or lower purity to "
            "get larger balls."
        )
    return kept


def balls_of_classes(
    X: np.ndarray,
    codes: np.ndarray,
    classes: np.ndarray,
    *,
    purity: float,
    init: str,
    random_state: int | np.random.RandomState | None,
    n_jobs: int | None,
) -> BallSet:
    """Make balls of checked samples whose classes are encoded; of one class, one ball."""
    seed = check_random_state(random_state).randint(2**63 - 1, dtype=np.int64)
    rule = SplitRule(purity=float(purity), init=init, seed=int(seed))
    parts = split_rows(X, codes, len(classes), rule, effective_n_jobs(n_jobs))
    return _joined(parts, classes, power_of_two_scale(X))


def split_rows(
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
    return _in_threads(
        lambda bucket: _balls_of_bucket(X, codes, n_classes, rule, scale, bucket),
        buckets,
        n_threads,
    )


def power_of_two_scale(X: np.ndarray) -> float:
    """Return the factor that keeps squares of X from overflowing, exact to undo.

    It is 1 for all but astronomically large or small values.
    """
    largest = max(float(X.max()), -float(X.min()))
    exponent = int(np.frexp(largest)[1])
    harmless = np.finfo(X.dtype).maxexp // 4
    return 1.0 if abs(exponent) < harmless else float(np.ldexp(1.0, -exponent))


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
    _in_threads(
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
    """Return for each node of the first splits the node whose bucket holds its rows.

    The splits were found on a part of the rows. Now that all are counted, the
    first node on the way that is pure enough takes what is below it.
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
    counts = np.concatenate([part.sizes for part in parts])
    assignment = np.empty(counts.sum(), np.int64)
    assignment[np.concatenate([part.order for part in parts])] = np.repeat(
        np.arange(len(counts)), counts
    )
    class_counts = np.concatenate([part.class_counts for part in parts])
    centers = np.concatenate([part.centers for part in parts])
    radii = np.concatenate([part.radii for part in parts])
    if scale != 1.0:
        centers, radii = centers / centers.dtype.type(scale), radii / radii.dtype.type(scale)
    return BallSet(
        centers=centers,
        radii=radii,
        labels=class_counts.argmax(axis=1),
        purities=class_counts.max(axis=1) / counts,
        counts=counts,
        class_counts=class_counts,
        assignment=assignment,
        classes=classes,
    )


def without_small_balls(balls: BallSet, min_ball_size: int) -> BallSet:
    """Leave out balls with fewer than ``min_ball_size`` samples; maybe all."""
    kept = balls.counts >= min_ball_size
    if kept.all():
        return balls
    new_number = np.where(kept, np.cumsum(kept) - 1, -1)
    return BallSet(
        centers=balls.centers[kept],
        radii=balls.radii[kept],
        labels=balls.labels[kept],
        purities=balls.purities[kept],
        counts=balls.counts[kept],
        class_counts=balls.class_counts[kept],
        assignment=new_number[balls.assignment],
        classes=balls.classes,
    )


def _in_threads(function: Callable[[T], R], items: Iterable[T], n_threads: int) -> list[R]:
    """Map in order; the kernels release the interpreter lock."""
    items = list(items)
    if n_threads == 1 or len(items) == 1:
        return [function(item) for item in items]
    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(function, items))
