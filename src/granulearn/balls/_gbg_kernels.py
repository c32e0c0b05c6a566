"""Compiled loops of the GBG++ maker: cut balls around the majority class, leave outliers over.

The ball at hand is a stretch of ``perm``. What is cut out of it moves to its
front, so the samples that are still undivided are always its end.
"""

import numpy as np

from granulearn.balls._compiled import compiled
from granulearn.balls._parts_kernels import sort_by_part
from granulearn.balls._two_means_kernels import CLASS_MEANS, new_scratch, split_ball, top_class

# Samples at the mean distance itself belong to the ball, whatever rounding says.
AT_RADIUS = 1.0 + 2.0**-20
UNUSED_KEY = np.uint64(0)


@compiled
def count_classes(y, perm, start, stop, tally):
    """Return how many classes a stretch has; ``tally`` is all zero before and after."""
    n_present = 0
    for i in range(start, stop):
        n_present += tally[y[perm[i]]] == 0
        tally[y[perm[i]]] += 1
    for i in range(start, stop):
        tally[y[perm[i]]] = 0
    return n_present


@compiled
def within_mean_distance(
    rows,
    y,
    perm,
    start,
    stop,
    majority,
    mean,  # OUT (d,)
    distances,  # OUT (stop - start,)
    part,  # OUT (stop - start,): 0 where a row is within the mean distance, else 1
):
    """Mark the rows no farther from the mean of a class than its own rows are on average."""
    d, n_own, first = rows.shape[1], 0, -1
    mean[:] = 0.0
    for i in range(start, stop):
        if y[perm[i]] == majority:
            # Sums are taken from the first row, so that equal rows have an exact mean.
            first = perm[i] if first < 0 else first
            n_own += 1
            for j in range(d):
                mean[j] += rows[perm[i], j] - rows[first, j]
    for j in range(d):
        mean[j] = rows[first, j] + mean[j] / n_own
    total = 0.0
    for i in range(start, stop):
        squares = 0.0
        for j in range(d):
            difference = rows[perm[i], j] - mean[j]
            squares += difference * difference
        distances[i - start] = np.sqrt(squares)
        if y[perm[i]] == majority:
            total += distances[i - start]
    radius = total / n_own * AT_RADIUS
    for i in range(stop - start):
        part[i] = 0 if distances[i] <= radius else 1


@compiled
def cut_out_majorities(
    rows,
    y,
    perm,  # IN and OUT: rows of the parts first, then those that are left over
    start,
    stop,
    tally,
    mean,
    distances,
    part,
    spare,
    begins,  # OUT (stop - start,): where each part begins
):
    """Cut parts out of a ball until one sample per class is left; return how many parts."""
    bounds = np.empty(3, np.int64)
    n_parts = 0
    while start < stop and count_classes(y, perm, start, stop, tally) < stop - start:
        majority = top_class(y, perm, start, stop, tally)[0]
        within_mean_distance(rows, y, perm, start, stop, majority, mean, distances, part)
        sort_by_part(perm, start, stop, part, bounds, spare)
        begins[n_parts] = start
        n_parts += 1
        start = bounds[1]
    begins[n_parts] = start
    return n_parts


@compiled
def grow_majority_balls(
    rows,
    y,
    purity,
    max_fit,
    n_classes,
    perm,  # OUT (n,): the rows, ball by ball, with outliers between them
    sizes,  # OUT (n,): the size of a ball at the position where it starts, else 0
    is_outlier,  # OUT (n,): 1 at the positions of rows that are in no ball
):
    """Divide until every ball is pure enough or its rows are all the same."""
    n, d = rows.shape
    scratch = new_scratch(rows, max_fit, n_classes)
    midpoint, direction = np.empty(d, rows.dtype), np.empty(d, rows.dtype)
    mean, distances = np.empty(d), np.empty(n)
    part, spare, begins = np.empty(n, np.uint8), np.empty(n, np.int64), np.empty(n + 2, np.int64)
    # What is pending is disjoint and has rows, so there is never more than n of it.
    pending = np.empty((n + 1, 2), np.int64)
    for i in range(n):
        perm[i] = i
        sizes[i] = 0
        is_outlier[i] = 0
    pending[0] = 0, n
    n_pending = 1
    while n_pending > 0:
        n_pending -= 1
        start, stop = pending[n_pending]
        majority, top = top_class(y, perm, start, stop, scratch.tally)
        if top / (stop - start) >= purity:
            sizes[start] = stop - start
            continue
        n_parts = cut_out_majorities(
            rows, y, perm, start, stop, scratch.tally, mean, distances, part, spare, begins
        )
        if n_parts == 1 and begins[1] == stop:
            # All samples lie within the mean distance: two means do divide them.
            cut = split_ball(
                rows, y, perm, start, stop, UNUSED_KEY, majority, CLASS_MEANS, scratch,
                midpoint, direction,
            )  # fmt: skip
            if cut == 0:
                sizes[start] = stop - start
                continue
            n_parts, begins[1], begins[2] = 2, cut, stop
        for i in range(begins[n_parts], stop):
            is_outlier[i] = 1
        for k in range(n_parts):
            if begins[k + 1] - begins[k] == 1:
                is_outlier[begins[k]] = 1
                continue
            pending[n_pending, 0] = begins[k]
            pending[n_pending, 1] = begins[k + 1]
            n_pending += 1
