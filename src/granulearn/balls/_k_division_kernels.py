"""Compiled loops of the k-division maker: one centre per class, one assignment, and again."""

import numpy as np

from granulearn.balls._compiled import compiled, uniform
from granulearn.balls._parts_kernels import part_key, sort_by_part
from granulearn.balls._two_means_kernels import assign_sides, halve_widest_feature, top_class

NO_CENTER = -1


@compiled
def draw_centers(
    y,
    perm,
    start,
    stop,
    key,
    lowest,  # all 2 before and after, (K,)
    place,  # OUT (K,): where the drawn sample of each class is
    centers,  # IN the kept centre first, OUT (n_centers,) rows
):
    """Draw a random sample of every class but the first centre's; return how many centres.

    The sample with the lowest random number of its class is drawn, and centres
    come in the order of the rows: other names of the classes change nothing.
    """
    kept_class = y[centers[0]]
    for i in range(start, stop):
        label = y[perm[i]]
        draw = uniform(key, i - start)
        if label != kept_class and draw < lowest[label]:
            lowest[label] = draw
            place[label] = i
    n_centers = 1
    for i in range(start, stop):
        label = y[perm[i]]
        if label != kept_class and place[label] == i and lowest[label] < 2.0:
            centers[n_centers] = perm[i]
            n_centers += 1
    for i in range(1, n_centers):
        lowest[y[centers[i]]] = 2.0
    return n_centers


@compiled
def assign_nearest(
    rows,
    perm,
    start,
    stop,
    centers,
    part,  # OUT (stop - start,): the nearest centre of each row; a tie goes to the first
):
    """Send every row of a ball to the nearest of some rows."""
    for i in range(start, stop):
        x = rows[perm[i]]
        best, least = 0, np.inf
        for c in range(len(centers)):
            center = rows[centers[c]]
            squares = 0.0
            for j in range(rows.shape[1]):
                difference = x[j] - center[j]
                squares += difference * difference
            if squares < least:
                best, least = c, squares
        part[i - start] = best


@compiled
def grow_divisions(
    rows,
    y,
    key,
    purity,
    n_classes,
    perm,  # OUT (n,): the rows, ball by ball
    sizes,  # OUT (n,): the size of a ball at the position where it starts, else 0
):
    """Divide until every ball is pure enough or its rows are all the same."""
    n, d = rows.shape
    tally, place = np.zeros(n_classes, np.int64), np.zeros(n_classes, np.int64)
    lowest, centers = np.full(n_classes, 2.0), np.empty(n_classes + 1, np.int64)
    midpoint, direction = np.empty(d, rows.dtype), np.empty(d, rows.dtype)
    part, spare = np.empty(n, np.int64), np.empty(n, np.int64)
    part_bounds = np.empty(n_classes + 2, np.int64)
    # What is pending is disjoint and has rows, so there is never more than n of it.
    pending, keys = np.empty((n, 3), np.int64), np.empty(n, np.uint64)
    for i in range(n):
        perm[i] = i
        sizes[i] = 0
    pending[0] = 0, n, NO_CENTER
    keys[0] = key
    n_pending = 1
    while n_pending > 0:
        n_pending -= 1
        start, stop, center = pending[n_pending]
        path, size = keys[n_pending], stop - start
        if top_class(y, perm, start, stop, tally)[1] / size >= purity:
            sizes[start] = size
            continue
        if center == NO_CENTER:
            center = perm[start + int(uniform(path, size) * size)]
        centers[0] = center
        n_parts = draw_centers(y, perm, start, stop, path, lowest, place, centers)
        assign_nearest(rows, perm, start, stop, centers[:n_parts], part)
        divides = sort_by_part(perm, start, stop, part, part_bounds[: n_parts + 1], spare) > 1
        if not divides:
            # All centres are the same row, but maybe not all rows are.
            if not halve_widest_feature(rows, perm, start, stop, midpoint, direction):
                sizes[start] = size
                continue
            assign_sides(rows, perm, start, stop, midpoint, direction, part)
            n_parts = 2
            sort_by_part(perm, start, stop, part, part_bounds[:3], spare)
        for k in range(n_parts):
            if part_bounds[k] < part_bounds[k + 1]:
                pending[n_pending, 0] = part_bounds[k]
                pending[n_pending, 1] = part_bounds[k + 1]
                pending[n_pending, 2] = centers[k] if divides else NO_CENTER
                keys[n_pending] = part_key(path, k)
                n_pending += 1
