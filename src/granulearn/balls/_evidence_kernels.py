"""Compiled loops of the evidence maker: grow a tree of balls, then choose the best covering.

A ball is a node of the tree, and a stretch of ``perm``. Children come after
their parent, so one pass from the last node to the first decides which splits pay.
"""

from collections import namedtuple

import numpy as np

from granulearn.balls._compiled import compiled, uniform
from granulearn.balls._dirichlet_kernels import log_evidence
from granulearn.balls._forest_try_kernels import TIE
from granulearn.balls._parts_kernels import part_key, sort_by_part
from granulearn.balls._two_means_kernels import (
    assign_sides,
    halve_widest_feature,
    lloyd,
    offset_dot,
    seed_plus_plus,
    take_points,
)

FIRST_TRY = 2  # keys of tries follow those of the two children

# What tries on one ball work on: of m points and d features, in K classes.
Tries = namedtuple(
    "Tries",
    [
        "points",  # (max_fit * d,): holds (d, m)
        "point_row",  # (max_fit,): the rows that the points are
        "score",  # (max_fit,): a number per point
        "side",  # (max_fit,): 1 where a point goes right
        "total",  # (d,): sum of all points
        "moved",  # (d,): sum of the points on the right
        "left",  # (d,): one mean
        "right",  # (d,): the other
        "midpoint",  # (d,): of the try at hand
        "direction",  # (d,): of the try at hand
        "left_counts",  # (K,): points of each class on the left
        "right_counts",  # (K,): and on the right
    ],
)


@compiled
def new_tries(rows, max_fit, n_classes):
    """Allocate what tries on balls of these rows need."""
    n, d = rows.shape
    max_fit = min(max_fit, n)
    return Tries(
        np.empty(max_fit * d, rows.dtype),
        np.empty(max_fit, np.int64),
        np.empty(max_fit, rows.dtype),
        np.empty(max_fit, np.uint8),
        np.empty(d),
        np.empty(d),
        np.empty(d, rows.dtype),
        np.empty(d, rows.dtype),
        np.empty(d, rows.dtype),
        np.empty(d, rows.dtype),
        np.empty(n_classes),
        np.empty(n_classes),
    )


@compiled
def draw_two_classes(y, point_row, m, key):
    """Return the class of a random point and of a random point of another; -1 if there is none."""
    first = y[point_row[int(uniform(key, 0) * m)]]
    n_others = 0
    for i in range(m):
        n_others += y[point_row[i]] != first
    # Drawn by place, not by class number: other names of the classes change nothing.
    wanted = int(uniform(key, 1) * n_others)
    for i in range(m):
        if y[point_row[i]] != first:
            if wanted == 0:
                return first, y[point_row[i]]
            wanted -= 1
    return first, -1


@compiled
def mean_of_points(
    rows,
    y,
    point_row,
    m,
    label,
    total,  # OUT (d,)
    mean,  # OUT (d,)
):
    """Set the mean of the points of one class."""
    total[:] = 0.0
    n_own = 0
    for i in range(m):
        if y[point_row[i]] == label:
            n_own += 1
            for j in range(rows.shape[1]):
                total[j] += rows[point_row[i], j]
    for j in range(rows.shape[1]):
        mean[j] = total[j] / n_own


@compiled
def try_class_means(rows, y, m, key, tries):
    """Send points to the nearer mean of two classes; return how many went right."""
    first, second = draw_two_classes(y, tries.point_row, m, key)
    if second < 0:
        return 0
    mean_of_points(rows, y, tries.point_row, m, first, tries.moved, tries.left)
    mean_of_points(rows, y, tries.point_row, m, second, tries.moved, tries.right)
    half = rows.dtype.type(0.5)
    for j in range(rows.shape[1]):
        slope = tries.right[j] - tries.left[j]
        tries.midpoint[j], tries.direction[j] = tries.left[j] + half * slope, slope
    n_right = 0
    for i in range(m):
        x = rows[tries.point_row[i]]
        tries.side[i] = 1 if offset_dot(x, tries.midpoint, tries.direction) > 0 else 0
        n_right += tries.side[i]
    return n_right


@compiled
def try_two_means(rows, points, key, tries):
    """Send points to the nearer of two means of them all; return how many went right."""
    if not seed_plus_plus(points, key, tries.score, tries.left, tries.right):
        return 0
    return lloyd(
        rows, points, tries.point_row, tries.total, tries.moved, tries.score, tries.left,
        tries.right, tries.midpoint, tries.direction, tries.side,
    )  # fmt: skip


@compiled
def evidence_of_sides(y, m, table, tries):
    """Return the evidence of both sides of a try, on its points."""
    tries.left_counts[:] = 0.0
    tries.right_counts[:] = 0.0
    for i in range(m):
        counts = tries.right_counts if tries.side[i] == 1 else tries.left_counts
        counts[y[tries.point_row[i]]] += 1.0
    return log_evidence(tries.left_counts, table) + log_evidence(tries.right_counts, table)


@compiled
def best_try(
    rows,
    y,
    perm,
    start,
    stop,
    key,
    n_tries,
    table,
    tries,
    midpoint,  # OUT (d,)
    direction,  # OUT (d,)
):
    """Find the split of a ball with most evidence; False when all its rows are the same.

    The first try goes by the means of two classes, the others by two means.
    """
    d, m = rows.shape[1], min(stop - start, len(tries.score))
    points = tries.points[: d * m].reshape(d, m)
    take_points(rows, perm, start, stop, key, points, tries.point_row, tries.total)
    found, best = False, 0.0
    for attempt in range(n_tries):
        own_key = part_key(key, FIRST_TRY + attempt)
        if attempt == 0:
            n_right = try_class_means(rows, y, m, own_key, tries)
        else:
            n_right = try_two_means(rows, points, own_key, tries)
        if n_right == 0 or n_right == m:
            continue
        evidence = evidence_of_sides(y, m, table, tries)
        if not found or evidence > best + TIE:
            found, best = True, evidence
            midpoint[:] = tries.midpoint
            direction[:] = tries.direction
    return found or halve_widest_feature(rows, perm, start, stop, midpoint, direction)


@compiled
def evidence_and_bound(
    y,
    perm,
    start,
    stop,
    log_odds,
    table,
    counts,  # OUT (K,)
):
    """Return the evidence of a ball, and what the best covering of its rows could have at most.

    That is one ball for each class: to split samples of one class never pays.
    """
    counts[:] = 0.0
    for i in range(start, stop):
        counts[y[perm[i]]] += 1.0
    evidence = log_evidence(counts, table)
    bound, n_present = 0.0, 0
    for k in range(len(counts)):
        if counts[k] > 0:
            n_present += 1
            n_own = int(counts[k])
            bound += table.of_class[n_own] - table.of_ball[n_own]
    return evidence, bound + (n_present - 1) * log_odds


@compiled
def grow_evidence_tree(
    rows,
    y,
    key,
    max_leaf_rows,
    max_fit,
    n_tries,
    log_odds,
    table,
    n_classes,
    perm,  # OUT (n,): the rows, leaf by leaf
    bounds,  # OUT (max_nodes, 2): the stretch of perm that each node is
    children,  # OUT (max_nodes,): the left child, which the right one follows; 0 at a leaf
    keys,  # OUT (max_nodes,)
    evidences,  # OUT (max_nodes,)
):
    """Split balls of more than ``max_leaf_rows`` rows while it could pay; return the node count.

    It stops early when the node arrays are full.
    """
    n, d = rows.shape
    tries = new_tries(rows, max_fit, n_classes)
    midpoint, direction = np.empty(d, rows.dtype), np.empty(d, rows.dtype)
    counts = np.empty(n_classes)
    side, spare = np.empty(n, np.uint8), np.empty(n, np.int64)
    part_bounds = np.empty(3, np.int64)
    pending = np.empty(len(children), np.int64)
    for i in range(n):
        perm[i] = i
    bounds[0, 0], bounds[0, 1] = 0, n
    keys[0] = key
    pending[0] = 0
    n_nodes, n_pending = 1, 1
    while n_pending > 0:
        n_pending -= 1
        node = pending[n_pending]
        start, stop = bounds[node]
        children[node] = 0
        evidences[node], bound = evidence_and_bound(y, perm, start, stop, log_odds, table, counts)
        is_small = stop - start <= max_leaf_rows or n_nodes + 2 > len(children)
        if is_small or evidences[node] + TIE >= bound:
            continue
        if not best_try(
            rows, y, perm, start, stop, keys[node], n_tries, table, tries, midpoint, direction
        ):
            continue
        assign_sides(rows, perm, start, stop, midpoint, direction, side)
        sort_by_part(perm, start, stop, side, part_bounds, spare)
        children[node] = n_nodes
        for part in range(2):
            child = n_nodes + part
            bounds[child, 0], bounds[child, 1] = part_bounds[part], part_bounds[part + 1]
            keys[child] = part_key(keys[node], part)
            pending[n_pending + part] = child
        n_pending += 2
        n_nodes += 2
    return n_nodes


@compiled
def choose_covering(
    children,
    log_odds,
    best,  # IN evidence of each node as one ball, OUT of its best covering
    chosen,  # OUT (n_nodes,): 1 where a node is a ball of the best covering
):
    """Choose the covering of most evidence; a tie goes to the larger ball."""
    chosen[:] = 1
    for node in range(len(children) - 1, -1, -1):
        left = children[node]
        if left > 0:
            below = log_odds + best[left] + best[left + 1]
            if below > best[node] + TIE:
                best[node] = below
                chosen[node] = 0
    covered = np.zeros(len(children), np.uint8)
    for node in range(len(children)):
        left = children[node]
        if left > 0 and (covered[node] == 1 or chosen[node] == 1):
            covered[left] = 1
            covered[left + 1] = 1
        if covered[node] == 1:
            chosen[node] = 0
