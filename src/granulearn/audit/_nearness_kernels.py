"""Compiled loops that say how near rows are: to a few reference points, and to each other."""

import numpy as np

from granulearn.balls._compiled import compiled

LANES = 16  # references looked at together
LEAF_ROWS = 24  # so few rows are compared pair by pair
MOST_TOGETHER = 4_096  # and at most so many, where rows cannot be divided
GLANCE = 32  # rows that say where to divide
MAX_SPILL = 0.3  # a division that puts more of the rows on both sides is not worth it
SLACK = 1e-9  # distances are right to some last bits


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
    least,  # IN and OUT (2, m): the two least different positive squared distances of each
    # reference to a row
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
            value = away[r] if away[r] > 0.0 else np.inf
            first, second = least[0, r], least[1, r]
            below = first if value < first else value if value > first else np.inf
            least[0, r] = min(first, value)
            least[1, r] = min(second, below)
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


@compiled
def close_pairs(
    points,
    radius,
    pairs,  # OUT (most, 2): the smaller number first; a pair may come several times
):
    """Find all pairs of points within a radius; return how many were written, or -1.

    It is -1 if there are more than fit, or if the radius is too large for a quick search.
    Points are divided at a value of one column again and again. Those that are within the radius
    above the value go to both sides, so each pair is together on one of them.
    """
    reach = radius * (1.0 + SLACK)
    waiting = np.empty(4 * len(points) + 64, np.int32)
    aside = np.empty(len(points), np.int32)
    begins = np.empty(4 * len(points) + 64, np.int64)
    waiting[: len(points)] = np.arange(len(points))
    begins[0], n_parts, end, n_pairs = 0, 1, len(points), 0
    while n_parts > 0:
        begin = begins[n_parts - 1]
        part = waiting[begin:end]
        column, at = -1, 0.0
        if len(part) > LEAF_ROWS:
            column, at = find_division(points, part, reach)
        if column < 0:
            n_pairs = compare_part(points, part, radius, pairs, n_pairs)
            if n_pairs < 0:
                return -1
            n_parts, end = n_parts - 1, begin
            continue
        n_below, n_above = 0, 0
        for p in range(len(part)):
            value = points[part[p], column]
            if value > at:
                aside[n_above] = part[p]
                n_above += 1
            if value <= at + reach:
                part[n_below] = part[p]
                n_below += 1
        end = begin + n_below + n_above
        if end > len(waiting) or n_parts == len(begins):
            return -1
        waiting[begin + n_below : end] = aside[:n_above]
        begins[n_parts] = begin + n_below
        n_parts += 1
    return n_pairs


@compiled
def find_division(points, part, reach):
    """Return a column and a value that divide a part well; a column of -1 if there is none."""
    n_columns, step = points.shape[1], max(1, len(part) // GLANCE)
    glance = part[::step]
    values = np.empty(len(glance))
    tried = np.zeros(n_columns, np.bool_)
    for _ in range(min(n_columns, 4)):
        column, widest = -1, 0.0
        for j in range(n_columns):
            low, high = np.inf, -np.inf
            for row in glance:
                low, high = min(low, points[row, j]), max(high, points[row, j])
            if not tried[j] and high - low > widest:
                column, widest = j, high - low
        if column < 0:
            break
        tried[column] = True
        for p in range(len(glance)):
            values[p] = points[glance[p], column]
        values.sort()
        # The second is for a column in which many rows have the value in the middle.
        for at in (values[len(values) // 2], 0.5 * (values[0] + values[-1])):
            n_below, n_above = 0, 0
            for row in part:
                n_below += points[row, column] <= at + reach
                n_above += points[row, column] > at
            shared = n_below + n_above - len(part)
            if max(n_below, n_above) < len(part) and shared <= MAX_SPILL * min(n_below, n_above):
                return column, at
    return -1, 0.0


@compiled
def compare_part(
    points,
    part,
    radius,
    pairs,  # IN and OUT (most, 2)
    n_pairs,
):
    """Write the pairs of a part that are within a radius; return how many there are now."""
    if len(part) > MOST_TOGETHER:
        return -1
    for p in range(len(part)):
        for q in range(p + 1, len(part)):
            squares = 0.0
            for j in range(points.shape[1]):
                difference = points[part[p], j] - points[part[q], j]
                squares += difference * difference
                if squares > radius * radius:
                    break
            if squares <= radius * radius:
                if n_pairs == len(pairs):
                    return -1
                pairs[n_pairs, 0] = min(part[p], part[q])
                pairs[n_pairs, 1] = max(part[p], part[q])
                n_pairs += 1
    return n_pairs
