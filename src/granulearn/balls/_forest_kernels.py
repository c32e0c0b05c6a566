"""Compiled loops that grow the trees of a ball forest; ``forest`` calls them.

Random numbers come from the counter-based generator in ``_compiled``, keyed by
tree and node, so neither threads nor the order of splits change a result.
"""

import numpy as np

from granulearn.balls._column_kernels import fill_bucket, take_marked, take_plain
from granulearn.balls._compiled import compiled, copy_into, mixed, uncounted, uniform
from granulearn.balls._forest_split_kernels import best_split
from granulearn.balls._forest_try_kernels import (
    BUCKET_COLUMNS,
    MAX_LEAF_ROWS,
    class_weights,
    project,
)


@compiled
def tree_key(seed, number):
    """Return the key of the random numbers of one tree."""
    return mixed(seed ^ mixed(np.uint64(number)))


@compiled
def draw_rows(
    key,
    n_rows,
    drawn,  # OUT (m,): ascending
):
    """Draw m of n rows without replacement, each set of m equally likely."""
    n_wanted, n_drawn = len(drawn), 0
    for row in range(n_rows):
        if uniform(key, row) * (n_rows - row) < n_wanted - n_drawn:
            drawn[n_drawn] = row
            n_drawn += 1


@compiled
def draw_numbers(
    key,
    draws,  # OUT (m,)
):
    """Draw m numbers between zero and one."""
    for i in range(len(draws)):
        draws[i] = uniform(key, i)


@uncounted
def middle_of_gap(projection, size, threshold):
    """Return the middle between the nearest projections on both sides of the threshold."""
    left, right = -np.inf, np.inf
    for i in range(size):
        value = projection[i]
        if value > threshold:
            right = min(right, value)
        else:
            left = max(left, value)
    middle = projection.dtype.type(left + 0.5 * (right - left))
    return np.float64(middle) if middle < right else left


@uncounted
def part_rows(
    columns,
    perm,  # IN and OUT: rows of the left part first, each part grouped by class
    bounds,
    split,
    scratch,
    left_bounds,  # OUT (K + 1,)
    right_bounds,  # OUT (K + 1,)
):
    """Carry out the best split on the rows of a ball; return its threshold."""
    start, stop = bounds[0], bounds[-1]
    values, projection, spare = scratch.values, scratch.projection, scratch.spare
    for j in range(split.n_used):
        at = scratch.best_features[j]
        mark, place = columns.marks[at], columns.places[at]
        if mark > 0:
            low, high = columns.lows[at], columns.highs[at]
            take_marked(columns.codes[place], mark, low, high, perm, start, stop, values[j])
        else:
            take_plain(columns.plain[place], perm, start, stop, values[j])
    project(values, split.n_used, scratch.best_direction, stop - start, projection)
    threshold = split.threshold
    if split.at_row:
        # A new row must not hang on a rounding error, as it would at the value of a row.
        threshold = middle_of_gap(projection, stop - start, threshold)
    to_left, to_right = start, 0
    left_bounds[0] = start
    right_bounds[0] = 0
    for k in range(len(bounds) - 1):
        for i in range(bounds[k], bounds[k + 1]):
            row = perm[i]
            if projection[i - start] > threshold:
                spare[to_right] = row
                to_right += 1
            else:
                perm[to_left] = row
                to_left += 1
        left_bounds[k + 1] = to_left
        right_bounds[k + 1] = to_right
    for k in range(len(bounds)):
        right_bounds[k] += to_left
    copy_into(perm, to_left, spare, to_right)
    return threshold


@uncounted
def grow_tree(
    columns,
    weights,
    perm,  # IN (m,): rows grouped by class; overwritten
    bounds,  # (K + 1,): where each class begins in perm, and the end
    key,
    search,
    table,
    scratch,
    children,  # OUT (max_nodes,): the left child, the right one follows it; 0 at a leaf
    begins,  # OUT (max_nodes,): where a node's features begin
    widths,  # OUT (max_nodes,): how many features a node has
    features,  # OUT (max_splits * M,)
    directions,  # OUT (max_splits * M,)
    thresholds,  # OUT (max_nodes,)
    counts,  # OUT (max_nodes, K)
):
    """Grow one tree; return its number of nodes. Children come after their parent."""
    pending, pending_node, pending_live = (
        scratch.pending, scratch.pending_node, scratch.pending_live
    )  # fmt: skip
    own = scratch.bounds
    copy_into(pending[0], 0, bounds, len(bounds))
    pending_node[0], pending_live[0] = 0, len(columns.marks)
    n_columns = len(columns.plain) + len(columns.codes)
    n_pending, n_nodes, n_filled = 1, 1, 0
    n_outside = -1  # pending balls that are not in the bucket, while it is in use
    own_columns, own_weights = columns, weights
    while n_pending > 0:
        n_pending -= 1
        node, n_live = pending_node[n_pending], pending_live[n_pending]
        copy_into(own, 0, pending[n_pending], len(own))
        if n_pending < n_outside:
            n_outside, own_columns, own_weights = -1, columns, weights
        children[node] = 0
        n_present = class_weights(perm, own, own_weights, counts[node])
        if own[-1] - own[0] <= MAX_LEAF_ROWS or n_present == 1:
            continue
        is_small = own[-1] - own[0] <= len(scratch.bucket_weights)
        if n_outside < 0 and is_small and min(n_live, n_columns) <= BUCKET_COLUMNS:
            n_outside = n_pending
            fill_bucket(
                columns, weights, scratch.live[:n_live], perm, own[0], own[-1], scratch.bucket,
                scratch.bucket_weights,
            )  # fmt: skip
            own_columns = scratch.bucket
            if len(weights) > 0:
                own_weights = scratch.bucket_weights
        split, n_live = best_split(
            own_columns, perm, own, own_weights, node, key, search, n_live, table, scratch
        )
        if split.n_used == 0:
            continue
        begins[node], widths[node] = n_filled, split.n_used
        copy_into(features, n_filled, scratch.best_features, split.n_used)
        copy_into(directions, n_filled, scratch.best_direction, split.n_used)
        n_filled += split.n_used
        left, right = pending[n_pending], pending[n_pending + 1]
        thresholds[node] = part_rows(own_columns, perm, own, split, scratch, left, right)
        left_is_larger = left[-1] - left[0] >= right[-1] - right[0]
        if not left_is_larger:
            copy_into(own, 0, left, len(own))
            copy_into(left, 0, right, len(own))
            copy_into(right, 0, own, len(own))
        children[node] = n_nodes
        pending_node[n_pending] = n_nodes if left_is_larger else n_nodes + 1
        pending_node[n_pending + 1] = n_nodes + 1 if left_is_larger else n_nodes
        pending_live[n_pending : n_pending + 2] = n_live
        n_pending += 2
        n_nodes += 2
    return n_nodes
