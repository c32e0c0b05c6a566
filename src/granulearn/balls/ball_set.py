"""`BallSet`: granular balls as parallel arrays, and how they are put together."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.spatial.distance import cdist

from granulearn.balls._ball_set import centers_and_radii
from granulearn.utils.saved import FINITE, Array, Labels, require
from granulearn.utils.threads import in_threads
from granulearn.utils.validation import Samples

if TYPE_CHECKING:
    import pandas as pd

DISTANCES_AT_ONCE = 1_000_000


@dataclass(frozen=True, eq=False, repr=False)
class BallSet:
    """Granular balls: small groups of similar samples, as parallel arrays.

    There are ``k`` balls of ``n`` samples with ``d`` features and ``K``
    classes. The arrays are read-only; balls are made by `generate_balls`.

    See Also
    --------
    granulearn.generate_balls : Makes one from samples.
    granulearn.balls.balls_from_labels : Makes one from groups of your own.
    granulearn.bench.plot_balls : Draws it.

    Examples
    --------
    >>> from granulearn import generate_balls
    >>> balls = generate_balls([[0.0], [1.0], [5.0], [6.0]], ["a", "a", "b", "b"], random_state=0)
    >>> balls
    <BallSet: 2 balls of 4 samples, 1 features, 2 classes>
    >>> balls.centers.ravel().tolist(), balls.radii.tolist()
    ([0.5, 5.5], [0.5, 0.5])
    >>> balls.classes[balls.labels].tolist()
    ['a', 'b']
    """

    centers: np.ndarray
    """(k, d) centre of each ball; as a rule the mean of its samples."""
    radii: np.ndarray
    """(k,) radius of each ball; as a rule the mean distance of its samples to the centre."""
    labels: np.ndarray
    """(k,) class of each ball, as a rule its most frequent one, as an index into `classes`."""
    purities: np.ndarray
    """(k,) share of that class among the ball's samples."""
    counts: np.ndarray
    """(k,) number of samples of each ball."""
    class_counts: np.ndarray
    """(k, K) number of samples of each class in each ball."""
    assignment: np.ndarray
    """(n,) ball of each sample; -1 where the ball was dropped for its size."""
    classes: np.ndarray
    """(K,) the class values, sorted."""

    def __post_init__(self):
        for field in fields(self):
            getattr(self, field.name).setflags(write=False)

    _saved: ClassVar[dict] = {
        "centers": Array("float32|float64", ("k", "d"), -FINITE, FINITE),
        "radii": Array("float32|float64", ("k",), 0, FINITE),
        "labels": Array("int32|int64", ("k",), 0),
        "purities": Array("float32|float64", ("k",), 0, 1),
        "counts": Array("int32|int64", ("k",), 1, 2**40),
        "class_counts": Array("int32|int64", ("k", "n_classes"), 0, 2**40),
        "classes": Labels(),
    }

    def _check_saved(self) -> None:
        require(self.centers.size, "centers are none")
        n_classes = len(self.classes)
        known = self.class_counts.shape[1] == n_classes and self.labels.max() < n_classes
        require(known, "labels or class_counts are of other classes")
        agree = np.array_equal(self.class_counts.sum(axis=1), self.counts)
        require(agree, "class_counts do not sum to counts")

    def _after_load(self) -> None:
        vars(self)["assignment"] = np.empty(0, np.intp)  # a file keeps no samples
        self.__post_init__()

    def __len__(self) -> int:
        return len(self.centers)

    def __repr__(self) -> str:
        n_samples, n_features = len(self.assignment) or self.counts.sum(), self.centers.shape[1]
        return (
            f"<BallSet: {len(self)} balls of {n_samples} samples, "
            f"{n_features} features, {len(self.classes)} classes>"
        )

    def to_frame(self) -> pd.DataFrame:
        """Return one row per ball: label, count, purity, radius and the centre."""
        import pandas as pd

        columns = {
            "label": self.classes[self.labels],
            "count": self.counts,
            "purity": self.purities,
            "radius": self.radii,
        }
        centers = {f"center_{j}": self.centers[:, j] for j in range(self.centers.shape[1])}
        return pd.DataFrame(columns | centers).rename_axis("ball")

    def sample_mean(self, values: np.ndarray) -> np.ndarray:
        """Return the mean of one value per sample over each ball's samples."""
        kept = self.assignment >= 0
        totals = np.bincount(self.assignment[kept], values[kept], minlength=len(self))
        return totals / self.counts

    def without_small(self, min_ball_size: int) -> BallSet:
        """Return the balls of `min_ball_size` samples or more; maybe none."""
        kept = self.counts >= min_ball_size
        if kept.all():
            return self
        per_ball = ("centers", "radii", "labels", "purities", "counts", "class_counts")
        new_number = np.where(kept, np.cumsum(kept) - 1, -1)
        return replace(
            self,
            assignment=np.where(self.assignment < 0, -1, new_number[self.assignment]),
            **{name: getattr(self, name)[kept] for name in per_ball},
        )


def balls_from_labels(samples: Samples, labels: Any) -> BallSet:
    """Return one ball per group of samples: its mean, its mean distance, its classes.

    Parameters
    ----------
    samples : Samples
        The samples, as a generator gets them.
    labels : array-like of shape (n_samples,)
        A whole number for each sample, the same for the samples of a ball, as clusterers
        return them. Balls are numbered in the order of these numbers.

    Returns
    -------
    BallSet

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import load_iris
    >>> from granulearn.balls import balls_from_labels, generate_balls
    >>> def five_means(samples):
    ...     return balls_from_labels(samples, KMeans(5, random_state=0).fit_predict(samples.X))
    >>> X, y = load_iris(return_X_y=True)
    >>> generate_balls(X, y, balls=five_means)
    <BallSet: 5 balls of 150 samples, 4 features, 3 classes>
    """
    labels = np.asarray(labels)
    if labels.shape != (len(samples),) or labels.dtype.kind not in "iu":
        raise ValueError(
            f"labels must be one whole number for each of the {len(samples)} samples, got an "
            f"array of shape {labels.shape} and type {labels.dtype}."
        )
    order = np.argsort(labels, kind="stable")
    starts = np.flatnonzero(np.append(True, np.diff(labels[order])))
    rows, scale = scaled_rows(samples.X)
    return balls_in_order(samples, rows, scale, order, starts)


def balls_in_order(
    samples: Samples, rows: np.ndarray, scale: float, order: np.ndarray, starts: np.ndarray
) -> BallSet:
    """Return balls of samples that are side by side.

    Parameters
    ----------
    samples : Samples
        The samples.
    rows : ndarray of shape (n_samples, n_features)
        Their inputs in double precision, times the scale.
    scale : float
        The factor of the rows.
    order : ndarray of shape (n_samples,)
        The samples, ball by ball.
    starts : ndarray of shape (n_balls,)
        Where each ball begins in `order`.
    """
    counts = np.diff(starts, append=len(order))
    centers, radii = centers_and_radii(rows, order, np.append(starts, len(order)))
    assignment = np.empty(len(order), np.int64)
    assignment[order] = np.repeat(np.arange(len(starts)), counts)
    dtype, n_classes = samples.X.dtype, len(samples.classes)
    class_counts = _class_counts(assignment, samples.codes, len(starts), n_classes)
    with np.errstate(over="ignore"):  # a radius may be larger than the largest number of its type
        radii = np.minimum(radii / scale, np.finfo(dtype).max)
    return BallSet(
        centers=(centers / scale).astype(dtype, copy=False),
        radii=radii.astype(dtype, copy=False),
        labels=class_counts.argmax(axis=1),
        purities=class_counts.max(axis=1) / counts,
        counts=counts,
        class_counts=class_counts,
        assignment=assignment,
        classes=samples.classes,
    )


def ball_set_around(
    samples: Samples,
    assignment: np.ndarray,
    centers: np.ndarray,
    radii: np.ndarray,
    labels: np.ndarray,
) -> BallSet:
    """Return balls of given centres, radii and labels, with the samples assigned to them."""
    k, n_classes = len(centers), len(samples.classes)
    class_counts = _class_counts(assignment, samples.codes, k, n_classes)
    counts = class_counts.sum(axis=1)
    return BallSet(
        centers=centers.astype(samples.X.dtype, copy=False),
        radii=radii.astype(samples.X.dtype, copy=False),
        labels=labels.astype(np.int64, copy=False),
        purities=class_counts[np.arange(k), labels] / counts,
        counts=counts,
        class_counts=class_counts,
        assignment=assignment,
        classes=samples.classes,
    )


def nearest_balls(
    centers: np.ndarray,
    radii: np.ndarray,
    X: np.ndarray,
    n_neighbors: int = 1,
    n_threads: int = 1,
) -> np.ndarray:
    """Return the balls with the nearest surfaces to each row, of shape (n_rows, n_neighbors).

    The distance to a surface is that to the centre minus the radius. The nearest ball
    comes first, of equally near ones that with the smaller number.
    """
    if len(X) == 0:
        return np.empty((0, n_neighbors), np.int64)
    scale = min(power_of_two_scale(centers), power_of_two_scale(X))
    centers, radii = centers.astype(np.float64) * scale, radii.astype(np.float64) * scale
    step = max(1, DISTANCES_AT_ONCE // len(centers))

    def of_block(start: int) -> np.ndarray:
        away = cdist(X[start : start + step] * scale, centers) - radii
        found = np.empty((len(away), n_neighbors), np.int64)
        for k in range(n_neighbors):
            found[:, k] = away.argmin(axis=1)
            away[np.arange(len(away)), found[:, k]] = np.inf
        return found

    return np.concatenate(in_threads(of_block, range(0, len(X), step), n_threads))


def halves_of_widest_feature(X: np.ndarray) -> np.ndarray | None:
    """Return which rows are in the upper half of the widest feature; None if all are the same."""
    low, high = X.min(axis=0), X.max(axis=0)
    widest = (high - low).argmax()
    if high[widest] == low[widest]:
        return None
    middle = low[widest] + (high[widest] - low[widest]) / 2
    return X[:, widest] > (middle if middle < high[widest] else low[widest])


def power_of_two_scale(X: np.ndarray) -> float:
    """Return the factor that keeps squares of X from overflowing.

    It is a power of two, so that it can be undone exactly, and 1 for all but
    astronomically large or small values.
    """
    largest = max(float(X.max()), -float(X.min()))
    exponent, highest = int(np.frexp(largest)[1]), np.finfo(X.dtype).maxexp
    if abs(exponent) < highest // 4:
        return 1.0
    # The factor itself must be a number, and one with all its bits: of the smallest numbers
    # (denormal ones) the exact factor would be infinite.
    return float(np.ldexp(1.0, min(max(-exponent, 2 - highest), highest - 1)))


def scaled_rows(X: np.ndarray) -> tuple[np.ndarray, float]:
    """Return X in double precision times its power-of-two scale, and the scale: 1, as a rule."""
    rows = np.ascontiguousarray(X, dtype=np.float64)
    scale = power_of_two_scale(rows)
    return (rows if scale == 1.0 else rows * scale), scale


def _class_counts(
    assignment: np.ndarray, codes: np.ndarray, n_balls: int, n_classes: int
) -> np.ndarray:
    """Return how many samples of each class every ball has."""
    counts = np.bincount(assignment * n_classes + codes, minlength=n_balls * n_classes)
    return counts.reshape(n_balls, n_classes)
