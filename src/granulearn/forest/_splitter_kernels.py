"""Compiled splitter: searches the splits of a ball, and grows a tree by them.

A tree's rows are columns side by side, of shape (n_features, n_rows). The rows of a ball
are a stretch of ``perm``, grouped by class: the mean of a class is a sum over one stretch,
and the class counts of a side are counted stretch by stretch, without a branch.

A candidate is a direction from one class mean to another in a few features, or a single
feature. Each has one or more thresholds; a row goes right when its dot product with the
direction exceeds the threshold. The most evidence wins. Random numbers are keyed by tree
and node, so neither threads nor the order of splits change a result.
"""

from collections import namedtuple
from math import lgamma

import numpy as np

from granulearn.balls._compiled import (
    STACK_SIZE,
    compiled,
    copy_into,
    mixed,
    uncounted,
    uniform,
)

MAX_LEAF_ROWS = 3  # a ball of at most so many rows is not split
MAX_TRY_ROWS = 2048  # candidates for a larger ball are judged on so many of its rows
MAX_THRESHOLDS = 8  # H below
TIE = 1e-7  # two candidates may find the same parts, and rounding must not choose between them
BUCKET_VALUES = 2**15  # a ball of at most so many values is copied, to stay in the cache
BUCKET_COLUMNS = 128  # of more live ones, the splits below a small ball look at few

# How many splits are tried: directions, axes, and thresholds for each of them. A ball of at most
# ``spared`` rows is not split where no candidate gains evidence.
Search = namedtuple("Search", ["directions", "axes", "thresholds", "spared"])

# The best split so far: how many features it has (zero: none parts the rows), its threshold,
# whether that is the value of a row, and its evidence. Features and direction are in scratch.
Split = namedtuple("Split", ["n_used", "threshold", "at_row", "evidence"])

# Arrays that growing one tree works on: n rows, d features, at most M of them per split,
# K classes, H thresholds, B rows in the bucket, T rows on which tries are judged, at most S balls
# that wait.
Scratch = namedtuple(
    "Scratch",
    [
        "values",  # (M, n): the tried features of a ball's rows
        "projection",  # (n,): the dot product of each row of a ball
        "spare",  # (n,): the rows that go right
        "features",  # (M,): features of the try at hand
        "first_means",  # (M,): where the direction of the try at hand begins
        "direction",  # (M,): direction of the try at hand
        "thresholds",  # (H,): thresholds of the try at hand; infinite where there are fewer
        "best_features",  # (M,)
        "best_direction",  # (M,)
        "right_rows",  # (K, H): rows of each class on the right
        "right_counts",  # (K, H): weight of each class on the right
        "counts",  # (K,): weight of each class in the ball
        "present",  # (K,): the classes that the ball has come first
        "live",  # (d,): features; those known to be constant in the ball come last
        "bucket",  # (d, B): columns of a small ball, side by side
        "bucket_weights",  # (B,): weights of its rows
        "thinned",  # (T + K,): rows of a large ball on which tries are judged
        "thinned_bounds",  # (K + 1,): where each class begins there
        "bounds",  # (K + 1,): where each class of the ball at hand begins
        "pending",  # (S, K + 1): bounds of the balls that wait to be split
        "pending_node",  # (S,): their nodes
        "pending_live",  # (S,): how many features are live in them
    ],
)


@compiled
def new_scratch(max_features, n_rows, n_classes, n_features):
    """Allocate what growing one tree needs."""
    bucket_rows = min(n_rows, max(MAX_LEAF_ROWS, BUCKET_VALUES // min(n_features, BUCKET_COLUMNS)))
    return Scratch(
        np.empty((max_features, n_rows)),
        np.empty(n_rows),
        np.empty(n_rows, np.int32),
        np.empty(max_features, np.int32),
        np.empty(max_features),
        np.empty(max_features),
        np.empty(MAX_THRESHOLDS),
        np.empty(max_features, np.int32),
        np.empty(max_features),
        np.empty((n_classes, MAX_THRESHOLDS), np.int64),
        np.empty((n_classes, MAX_THRESHOLDS)),
        np.empty(n_classes),
        np.empty(n_classes, np.int64),
        np.arange(n_features).astype(np.int32),
        np.empty((n_features, bucket_rows)),
        np.empty(bucket_rows),
        np.empty(MAX_TRY_ROWS + n_classes, np.int32),
        np.empty(n_classes + 1, np.int64),
        np.empty(n_classes + 1, np.int64),
        np.empty((STACK_SIZE, n_classes + 1), np.int64),
        np.empty(STACK_SIZE, np.int64),
        np.empty(STACK_SIZE, np.int64),
    )


@uncounted
def draw_classes(key, counter, counts):
    """Draw the class of a random sample, and of a random sample of another class."""
    total = counts.sum()
    first = pick_class(uniform(key, counter) * total, counts, -1)
    second = pick_class(uniform(key, counter + 1) * (total - counts[first]), counts, first)
    return first, second


@uncounted
def pick_class(target, counts, barred):
    """Return the class, not ``barred``, at which the running sum of counts passes the target."""
    last = -1
    for k in range(len(counts)):
        if k != barred and counts[k] > 0.0:
            last = k
            target -= counts[k]
            if target < 0.0:
                break
    return last


@uncounted
def draw_features(
    key,
    counter,
    live,
    n_live,
    features,  # OUT (M,): the drawn features come first
):
    """Draw 1..M distinct live features; return how many, and the counter that comes next."""
    n_used = min(1 + int(uniform(key, counter) * len(features)), n_live)
    counter += 1
    filled = 0
    while filled < n_used:
        drawn = live[int(uniform(key, counter) * n_live)]
        counter += 1
        is_new = True
        for j in range(filled):
            if features[j] == drawn:
                is_new = False
        if is_new:
            features[filled] = drawn
            filled += 1
    return n_used, counter


@uncounted
def set_means(
    values,
    n_used,
    weights,
    perm,
    start,
    stop,
    offset,
    means,  # OUT (M,): of the features that are used
):
    """Set the weighted means of a stretch of one class; no weights means one each."""
    if len(weights) > 0:
        for j in range(n_used):
            total, weight = 0.0, 0.0
            for i in range(start, stop):
                total += weights[perm[i]] * values[j, i - offset]
                weight += weights[perm[i]]
            means[j] = total / weight
        return
    # Each sum waits for its last addition, so four of them take turns.
    j = 0
    while j + 4 <= n_used:
        v0, v1, v2, v3 = values[j], values[j + 1], values[j + 2], values[j + 3]
        t0 = t1 = t2 = t3 = 0.0
        for i in range(start - offset, stop - offset):
            t0 += v0[i]
            t1 += v1[i]
            t2 += v2[i]
            t3 += v3[i]
        means[j], means[j + 1], means[j + 2], means[j + 3] = t0, t1, t2, t3
        j += 4
    while j < n_used:
        total, own = 0.0, values[j]
        for i in range(start - offset, stop - offset):
            total += own[i]
        means[j] = total
        j += 1
    for j in range(n_used):
        means[j] /= stop - start


@uncounted
def take_column(
    column,
    perm,
    start,
    stop,
    values,  # OUT (size,)
):
    """Copy the values of a ball's rows; return whether they differ."""
    first, n_equal = column[perm[start]], 0
    for i in range(start, stop):
        value = column[perm[i]]
        values[i - start] = value
        n_equal += value == first
    return n_equal < stop - start


@uncounted
def aim(
    columns,
    perm,
    bounds,
    weights,
    first,
    second,
    n_used,
    features,
    values,  # OUT (M, size)
    first_means,  # OUT (M,)
    direction,  # OUT (M,)
):
    """Point from the mean of the first class to that of the second; return the threshold."""
    start, stop, threshold = bounds[0], bounds[-1], 0.0
    for j in range(n_used):
        column, own = columns[features[j]], values[j]
        for i in range(start, stop):
            own[i - start] = column[perm[i]]
    set_means(values, n_used, weights, perm, bounds[first], bounds[first + 1], start, first_means)
    set_means(values, n_used, weights, perm, bounds[second], bounds[second + 1], start, direction)
    for j in range(n_used):
        a, b = first_means[j], direction[j]
        direction[j] = b - a
        threshold += (b - a) * (a + 0.5 * (b - a))
    return threshold


@uncounted
def project(
    values,
    n_used,
    direction,
    size,
    projection,  # OUT (size,)
):
    """Set the dot products of all rows of a ball, summed in the order of the features."""
    slope = direction[0]
    for i in range(size):
        projection[i] = values[0, i] * slope
    for j in range(1, n_used):
        slope, own = direction[j], values[j]
        for i in range(size):
            projection[i] += own[i] * slope


@uncounted
def count_right(
    projection,
    thresholds,
    perm,
    bounds,
    weights,
    present,
    right_rows,  # OUT (K, H): set where a class is present
    right_counts,  # OUT (K, H): set where a class is present and rows have weights
):
    """Count the rows of each class beyond each threshold, and sum their weights."""
    start = bounds[0]
    for k in present:
        count_beyond(projection[bounds[k] - start : bounds[k + 1] - start], thresholds,
                     right_rows[k])  # fmt: skip
        if len(weights) > 0:
            right_counts[k] = 0.0
            for i in range(bounds[k], bounds[k + 1]):
                for j in range(MAX_THRESHOLDS):
                    if projection[i - start] > thresholds[j]:
                        right_counts[k, j] += weights[perm[i]]


@uncounted
def count_beyond(
    values,
    t,
    n_beyond,  # OUT (H,)
):
    """Count the values beyond each of the thresholds, all in one pass."""
    # Eight counters of their own stay in registers, and the loop works on several rows at once.
    n0 = n1 = n2 = n3 = n4 = n5 = n6 = n7 = 0
    t0, t1, t2, t3, t4, t5, t6, t7 = t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7]
    for i in range(len(values)):
        value = values[i]
        n0 += value > t0
        n1 += value > t1
        n2 += value > t2
        n3 += value > t3
        n4 += value > t4
        n5 += value > t5
        n6 += value > t6
        n7 += value > t7
    n_beyond[0], n_beyond[1], n_beyond[2], n_beyond[3] = n0, n1, n2, n3
    n_beyond[4], n_beyond[5], n_beyond[6], n_beyond[7] = n4, n5, n6, n7


@uncounted
def best_threshold(is_first, most, bounds, weights, present, right_rows,
                   right_counts, counts, table):  # fmt: skip
    """Return the threshold whose sides have the most evidence, and the logarithm of it.

    It is -1 where none parts the rows with more evidence than the most so far; the first
    one that parts them needs no more.
    """
    size, found = bounds[-1] - bounds[0], -1
    of_class, of_ball = table.of_class, table.of_ball
    for j in range(MAX_THRESHOLDS):
        n_right = 0
        for k in present:
            n_right += right_rows[k, j]
        if n_right == 0 or n_right == size:
            continue
        if len(weights) == 0:
            evidence = 0.0
            for k in present:
                right = right_rows[k, j]
                evidence += of_class[right] + of_class[bounds[k + 1] - bounds[k] - right]
            evidence = evidence - of_ball[n_right] - of_ball[size - n_right]
        else:
            evidence = weighted_evidence_of_sides(
                bounds, counts, present, right_rows, right_counts, j, table
            )
        if is_first or evidence > most + TIE:
            is_first, found, most = False, j, evidence
    return found, most


@uncounted
def weighted_evidence_of_sides(bounds, counts, present, right_rows, right_counts, j, table):
    """Return the logarithm of the evidence of both sides of threshold j."""
    evidence, n_left, n_right = 0.0, 0.0, 0.0
    for k in present:
        right = right_counts[k, j]
        # Rounding must not leave a class without rows a trace of weight.
        empty = right_rows[k, j] == bounds[k + 1] - bounds[k]
        left = 0.0 if empty else max(counts[k] - right, 0.0)
        evidence += log_gamma_ratio(table.of_class, table.alpha, right)
        evidence += log_gamma_ratio(table.of_class, table.alpha, left)
        n_left += left
        n_right += right
    total_alpha = table.alpha * len(counts)
    evidence -= log_gamma_ratio(table.of_ball, total_alpha, n_left)
    return evidence - log_gamma_ratio(table.of_ball, total_alpha, n_right)


@uncounted
def class_weights(
    perm,
    bounds,
    weights,
    counts,  # OUT (K,)
):
    """Sum the weights of each class in a ball; return how many classes it has."""
    n_present = 0
    for k in range(len(counts)):
        counts[k] = bounds[k + 1] - bounds[k]
        n_present += counts[k] > 0
        if len(weights) > 0:
            total = 0.0
            for i in range(bounds[k], bounds[k + 1]):
                total += weights[perm[i]]
            counts[k] = total
    return n_present


@compiled
def log_gamma_ratio(table, shift, x):
    """Return log gamma(x + shift) - log gamma(shift), from the table where x is a whole number."""
    whole = int(x)
    if whole == x and whole < len(table):
        return table[whole]
    return lgamma(x + shift) - lgamma(shift)


@compiled
def log_evidence(counts, table):
    """Return the logarithm of E for class counts: Dirichlet-multinomial with weight alpha."""
    total, result = 0.0, 0.0
    for k in range(len(counts)):
        total += counts[k]
        result += log_gamma_ratio(table.of_class, table.alpha, counts[k])
    return result - log_gamma_ratio(table.of_ball, table.alpha * len(counts), total)


@uncounted
def thin_rows(
    perm,
    bounds,
    thinned,  # OUT (T + K,)
    thinned_bounds,  # OUT (K + 1,)
):
    """Take about T rows of a large ball at even steps: each class by its share, at least one."""
    n_classes = len(bounds) - 1
    n_wanted, size = len(thinned) - n_classes, bounds[-1] - bounds[0]
    n_taken = 0
    thinned_bounds[0] = 0
    for k in range(n_classes):
        length = bounds[k + 1] - bounds[k]
        n_own = max(length * n_wanted // size, min(length, 1))
        for i in range(n_own):
            thinned[n_taken + i] = perm[bounds[k] + i * length // n_own]
        n_taken += n_own
        thinned_bounds[k + 1] = n_taken


@uncounted
def draw_thresholds(
    key,
    counter,
    n_wanted,
    projection,
    size,
    first,
    thresholds,  # OUT (H,): set from ``first`` on
):
    """Take the projections of random rows as thresholds; return the counter that comes next."""
    n_thresholds = max(first, min(n_wanted, size - 1))
    for j in range(first, n_thresholds):
        thresholds[j] = projection[int(uniform(key, counter) * size)]
        counter += 1
    thresholds[n_thresholds:] = np.inf
    return counter


@uncounted
def better_split(best, n_used, at_row, perm, bounds, weights, n_present, table, scratch):
    """Judge all thresholds of the try in scratch; return the best split so far."""
    present, thresholds = scratch.present[:n_present], scratch.thresholds
    count_right(
        scratch.projection, thresholds, perm, bounds, weights, present, scratch.right_rows,
        scratch.right_counts,
    )  # fmt: skip
    j, evidence = best_threshold(
        best.n_used == 0, best.evidence, bounds, weights, present,
        scratch.right_rows, scratch.right_counts, scratch.counts, table,
    )  # fmt: skip
    if j < 0:
        return best
    copy_into(scratch.best_features, 0, scratch.features, n_used)
    copy_into(scratch.best_direction, 0, scratch.direction, n_used)
    return Split(n_used, np.float64(thresholds[j]), j >= at_row, evidence)


@uncounted
def try_directions(best, counter, columns, perm, bounds, weights, key, search, n_live, n_present,
                   table, scratch):  # fmt: skip
    """Try directions between class means; return the best split, and the counter that is next."""
    size = bounds[-1] - bounds[0]
    for _attempt in range(search.directions):
        n_used, counter = draw_features(key, counter, scratch.live, n_live, scratch.features)
        first, second = draw_classes(key, counter, scratch.counts)
        counter += 2
        scratch.thresholds[0] = aim(
            columns, perm, bounds, weights, first, second, n_used, scratch.features,
            scratch.values, scratch.first_means, scratch.direction,
        )  # fmt: skip
        project(scratch.values, n_used, scratch.direction, size, scratch.projection)
        counter = draw_thresholds(
            key, counter, search.thresholds, scratch.projection, size, 1, scratch.thresholds
        )
        best = better_split(best, n_used, 1, perm, bounds, weights, n_present, table, scratch)
    return best, counter


@uncounted
def try_axes(best, counter, columns, perm, bounds, weights, key, search, n_live, n_present, table,
             is_whole, scratch):  # fmt: skip
    """Try single features; return the best split, and how many features are live.

    Features are drawn without replacement, all of them before one comes again. Those
    drawn lie behind the open ones in ``live``, and those found constant behind these.
    """
    start, stop = bounds[0], bounds[-1]
    size, live, projection = stop - start, scratch.live, scratch.projection
    scratch.direction[0] = 1.0
    n_open, n_tried = n_live, 0
    while n_tried < search.axes:
        if n_open == 0:
            if n_tried == 0:
                break
            n_open = n_live
        at = int(uniform(key, counter) * n_open)
        counter += 1
        n_open -= 1
        feature = live[at]
        live[at] = live[n_open]
        live[n_open] = feature
        differs = take_column(columns[feature], perm, start, stop, projection)
        if not differs:
            if is_whole:
                n_live -= 1
                live[n_open] = live[n_live]
                live[n_live] = feature
            continue
        n_tried += 1
        scratch.features[0] = feature
        counter = draw_thresholds(
            key, counter, search.thresholds, projection, size, 0, scratch.thresholds
        )
        best = better_split(best, 1, 0, perm, bounds, weights, n_present, table, scratch)
    return best, n_live


@uncounted
def best_split(columns, perm, own, weights, node, key, search, n_live, table, scratch):
    """Return the best split of a ball, and how many features are live in it.

    A large ball is judged on some of its rows.
    """
    none = Split(0, 0.0, False, 0.0)
    if n_live == 0:
        return none, n_live
    is_whole = own[-1] - own[0] <= len(scratch.thinned) - len(scratch.counts)
    if not is_whole:
        thin_rows(perm, own, scratch.thinned, scratch.thinned_bounds)
        perm, own = scratch.thinned, scratch.thinned_bounds
    class_weights(perm, own, weights, scratch.counts)
    n_present = 0
    for k in range(len(scratch.counts)):
        if own[k + 1] > own[k]:
            scratch.present[n_present] = k
            n_present += 1
    node_key = mixed(key ^ mixed(np.uint64(node)))
    best, counter = try_directions(
        none, 0, columns, perm, own, weights, node_key, search, n_live, n_present, table,
        scratch,
    )  # fmt: skip
    best, n_live = try_axes(
        best, counter, columns, perm, own, weights, node_key, search, n_live, n_present, table,
        is_whole, scratch,
    )  # fmt: skip
    is_small = own[-1] - own[0] <= search.spared
    if is_small and best.evidence <= log_evidence(scratch.counts, table) + TIE:
        return none, n_live
    return best, n_live


@uncounted
def fill_bucket(
    columns,
    weights,
    live,
    perm,  # IN rows, OUT their positions in the bucket
    start,
    stop,
    bucket,  # OUT (d, B): the live features
    bucket_weights,  # OUT (B,)
):
    """Copy the rows of a ball side by side; the splits below it read only the copies."""
    for feature in live:
        column, own = columns[feature], bucket[feature]
        for i in range(start, stop):
            own[i - start] = column[perm[i]]
    for i in range(start, stop):
        if len(weights) > 0:
            bucket_weights[i - start] = weights[perm[i]]
        perm[i] = i - start


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
        column, own = columns[scratch.best_features[j]], values[j]
        for i in range(start, stop):
            own[i - start] = column[perm[i]]
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
    pending_node[0], pending_live[0] = 0, len(columns)
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
        if n_outside < 0 and is_small and n_live <= BUCKET_COLUMNS:
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
