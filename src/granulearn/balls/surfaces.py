"""Which ball surfaces are nearest to a row, and balls of samples that were assigned to them."""

from __future__ import annotations

from typing import Any

import numpy as np

from granulearn.balls.makers import in_threads, power_of_two_scale
from granulearn.balls.records import BallSet, Samples

ROWS_PER_TASK = 8192
ROWS_WORTH_A_TREE = 64  # for fewer rows, looking at every ball takes less time


def nearest_surfaces(
    centers: np.ndarray,
    radii: np.ndarray,
    X: np.ndarray,
    n_neighbors: int = 1,
    n_threads: int = 1,
) -> tuple[np.ndarray, np.ndarray]:
    """Find the balls whose surfaces are nearest to each row.

    The distance of a row x to the surface of a ball is ``|x - center| - radius``,
    which is negative inside the ball.

    Parameters
    ----------
    centers : ndarray of shape (n_balls, n_features)
        Centres of the balls.
    radii : ndarray of shape (n_balls,)
        Their radii.
    X : ndarray of shape (n_rows, n_features)
        The rows.
    n_neighbors : int, default=1
        How many balls are wanted for each row, at most `n_balls`.
    n_threads : int, default=1
        Threads; they change no result.

    Returns
    -------
    numbers : ndarray of shape (n_rows, n_neighbors)
        The nearest balls, nearest first; a tie goes to the smaller number.
    distances : ndarray of shape (n_rows, n_neighbors)
        The distances to their surfaces.

    Examples
    --------
    >>> import numpy as np
    >>> from granulearn.balls import nearest_surfaces
    >>> centers, radii = np.array([[0.0], [10.0]]), np.array([1.0, 6.0])
    >>> nearest_surfaces(centers, radii, np.array([[0.5], [3.0]]))[0].ravel()
    array([0, 1])
    """
    from granulearn.balls import _surface_kernels

    # What is largest decides, be it a radius: it must not overflow.
    scale = min(power_of_two_scale(each) for each in (centers, radii, X))
    leaf_points = _surface_kernels.LEAF_POINTS if len(X) >= ROWS_WORTH_A_TREE else len(centers)
    scaled_radii = radii.astype(np.float64) * scale
    tree = point_tree(centers.astype(np.float64) * scale, scaled_radii, leaf_points)
    radii_by_leaf = scaled_radii[tree.order]
    numbers = np.empty((len(X), n_neighbors), np.int64)
    distances = np.empty((len(X), n_neighbors))

    def search(stretch: slice) -> None:
        own = X[stretch].astype(np.float64) * scale
        rows = point_tree(own, np.zeros(len(own)), _surface_kernels.LEAF_POINTS)
        found = np.empty((len(own), n_neighbors), np.int64), np.empty((len(own), n_neighbors))
        _surface_kernels.nearest_surfaces(rows, tree, radii_by_leaf, *found)
        numbers[stretch][rows.order], distances[stretch][rows.order] = found

    stretches = [slice(i, i + ROWS_PER_TASK) for i in range(0, len(X), ROWS_PER_TASK)]
    in_threads(search, stretches, n_threads)
    return numbers, distances / scale


def point_tree(points: np.ndarray, radii: np.ndarray, leaf_points: int) -> Any:
    """Build a tree over float64 points, each the centre of a ball; see `_surface_kernels`."""
    from granulearn.balls import _surface_kernels

    max_nodes = 8 * (len(points) // leaf_points) + 1
    order = np.empty(len(points), np.int64)
    bounds, children = np.empty((max_nodes, 2), np.int64), np.empty(max_nodes, np.int64)
    n_nodes = _surface_kernels.build_tree(points, leaf_points, order, bounds, children)
    by_leaf = points[order]
    pivots, reach = np.empty((n_nodes, points.shape[1])), np.empty(n_nodes)
    _surface_kernels.measure_nodes(by_leaf, radii[order], bounds[:n_nodes], pivots, reach)
    columns = np.empty(points.size)
    _surface_kernels.columns_of_leaves(by_leaf, bounds[:n_nodes], children[:n_nodes], columns)
    return _surface_kernels.PointTree(
        by_leaf, columns, order, bounds[:n_nodes], children[:n_nodes], pivots, reach
    )


def balls_of_assignment(
    samples: Samples,
    assignment: np.ndarray,
    centers: np.ndarray,
    radii: np.ndarray,
    labels: np.ndarray,
) -> BallSet:
    """Return balls with given centres, radii and labels, and the samples assigned to them.

    Parameters
    ----------
    samples : Samples
        The samples.
    assignment : ndarray of shape (n_samples,)
        Ball of each sample; every ball has one or more.
    centers, radii, labels : ndarray
        As in `BallSet`.
    """
    k, n_classes = len(centers), len(samples.classes)
    class_counts = np.bincount(assignment * n_classes + samples.codes, minlength=k * n_classes)
    class_counts = class_counts.reshape(k, n_classes)
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
