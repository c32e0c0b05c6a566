"""Compiled loops that say how near rows are: to a few reference points, and to each other."""

import numpy as np

from granulearn.balls._compiled import compiled

LANES = 16  # references looked at together
LEAF_ROWS = 24  # fewer rows are compared pair by pair
MAX_SPILL = 0.25  # a split that puts more of the rows on both sides is not worth it


@compiled
def place_rows(
    X,
    middles,
    widths,
    directions,  # (d, D)
    most,
    points,  # OUT (n, D)
):
    """Shift and scale each column, cut off what is absurdly far, and turn the rows."""
    for i in range(len(X)):
        points[i] = 0.0
        for j in range(X.shape[1]):
            # Halves, since the difference of two large numbers may overflow.
            value = (0.5 * X[i, j] - 0.5 * middles[j]) / (0.5 * widths[j])
            value = min(max(value, -most), most)
            for k in range(points.shape[1]):
                points[i, k] += value * directions[j, k]


@compiled
def nearest_references(
    points,
    own,  # (n,): which reference a row is, or -1
    columns,  # (D, m): the references
    numbers,  # OUT (n, k): the nearest other references of each row, nearest first
    squares,  # OUT (n, k): their squared distances
    least,  # IN and OUT (m,): the least positive squared distance of each reference to a row
):
    """Compare every row with every reference."""
    n_references = columns.shape[1]
    n_turns = (n_references + LANES - 1) // LANES
    # What is added behind the last reference is never near.
    away = np.full(n_turns * LANES, np.inf)
    nearest = np.empty(LANES)
    for i in range(len(points)):
        set_squares(points[i], columns, away[:n_references])
        for r in range(n_references):
            # A copy is at no distance, and says nothing about how far apart rows are.
            least[r] = min(least[r], away[r] if away[r] > 0.0 else np.inf)
        if own[i] >= 0:
            away[own[i]] = np.inf
        take_least(away, nearest, numbers[i], squares[i])


@compiled
def take_least(
    away,  # IN and OUT: what was taken is infinite
    nearest,  # scratch (LANES,)
    numbers,  # OUT (k,)
    squares,  # OUT (k,)
):
    """Take the k least of many numbers, the least first.

    The least of each lane is found without branches; a lane is looked at again only after its
    least was taken.
    """
    nearest[:] = np.inf
    for begin in range(0, len(away), LANES):
        for lane in range(LANES):
            nearest[lane] = min(nearest[lane], away[begin + lane])
    for at in range(len(squares)):
        lane = 0
        for other in range(1, LANES):
            if nearest[other] < nearest[lane]:
                lane = other
        found, squares[at] = lane, nearest[lane]
        while found + LANES < len(away) and away[found] != nearest[lane]:
            found += LANES
        numbers[at] = found
        away[found] = np.inf
        nearest[lane] = np.inf
        for r in range(lane, len(away), LANES):
            nearest[lane] = min(nearest[lane], away[r])


@compiled
def set_squares(
    x,
    columns,  # (D, m)
    away,  # OUT (m,)
):
    """Set the squared distances of one row to all points, four columns at a time."""
    n_features, n_points = columns.shape
    whole = n_features // 4 * 4
    away[:] = 0.0
    for j in range(0, whole, 4):
        a, b, c, d = x[j], x[j + 1], x[j + 2], x[j + 3]
        for r in range(n_points):
            p, q = a - columns[j, r], b - columns[j + 1, r]
            s, t = c - columns[j + 2, r], d - columns[j + 3, r]
            away[r] += (p * p + q * q) + (s * s + t * t)
    for j in range(whole, n_features):
        a = x[j]
        for r in range(n_points):
            p = a - columns[j, r]
            away[r] += p * p
