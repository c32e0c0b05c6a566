"""Compiled loops that find a split of a ball; ``_forest_kernels`` grows trees with them.

The rows of a ball are a stretch of ``perm``, grouped by class. So the mean of a
class is a sum over one stretch, and the class counts of a side are counted
stretch by stretch, without a branch.

A row goes right when its dot product with ``direction`` exceeds a threshold:
for two class means, that is the side of the nearer mean.
"""

from collections import namedtuple
from math import lgamma

import numpy as np

from granulearn.balls._compiled import compiled, mixed, uniform

MAX_LEAF_ROWS = 3  # a ball of at most so many rows is not split
TIE = 1e-7  # two tries may find the same parts, and rounding must not choose between them
MAX_TRY_ROWS = 2048  # tries on a larger ball are judged on so many of its rows
BUCKET_VALUES = 2**15  # a ball of at most so many values is copied, to stay in the cache

# Arrays that growing one tree works on: n rows, d features, at most M of them per split,
# K classes, B rows in the bucket, T rows on which tries are judged.
Scratch = namedtuple(
    "Scratch",
    [
        "values",  # (M, n): the tried features of a ball's rows
        "projection",  # (n,): the dot product of each row of a ball
        "spare",  # (n,): the rows that go right
        "features",  # (M,): features of the try at hand
        "direction",  # (M,): direction of the try at hand
        "best_features",  # (M,)
        "best_direction",  # (M,)
        "right_rows",  # (K,): rows of each class on the right
        "right_counts",  # (K,): weight of each class on the right
        "counts",  # (K,): weight of each class in the ball
        "bucket",  # (d, B): columns of a small ball, side by side
        "bucket_weights",  # (B,): weights of its rows
        "thinned",  # (T + K,): rows of a large ball on which tries are judged
        "thinned_bounds",  # (K + 1,): where each class begins there
    ],
)


@compiled
def new_scratch(max_features, n_rows, n_classes, n_features):
    """Allocate what growing one tree needs."""
    bucket_rows = min(n_rows, max(MAX_LEAF_ROWS, BUCKET_VALUES // n_features))
    return Scratch(
        np.empty((max_features, n_rows)),
        np.empty(n_rows),
        np.empty(n_rows, np.int32),
        np.empty(max_features, np.int32),
        np.empty(max_features),
        np.empty(max_features, np.int32),
        np.empty(max_features),
        np.empty(n_classes, np.int64),
        np.empty(n_classes),
        np.empty(n_classes),
        np.empty((n_features, bucket_rows)),
        np.empty(bucket_rows),
        np.empty(MAX_TRY_ROWS + n_classes, np.int32),
        np.empty(n_classes + 1, np.int64),
    )


@compiled
def log_gamma(table, shift, x):
    """Return log gamma(x + shift), from the table where x is a whole number."""
    whole = int(x)
    return table[whole] if whole == x and whole < len(table) else lgamma(x + shift)


@compiled
def log_evidence(counts, half_table, total_table):
    """Return the logarithm of E for class counts: Dirichlet-multinomial, alpha = 1/2."""
    n_classes = len(counts)
    total, result = 0.0, total_table[0] - n_classes * half_table[0]
    for k in range(n_classes):
        total += counts[k]
        result += log_gamma(half_table, 0.5, counts[k])
    return result - log_gamma(total_table, 0.5 * n_classes, total)


@compiled
def draw_classes(key, counter, counts):
    """Draw the class of a random sample, and of a random sample of another class."""
    total = counts.sum()
    first = pick_class(uniform(key, counter) * total, counts, -1)
    second = pick_class(uniform(key, counter + 1) * (total - counts[first]), counts, first)
    return first, second


@compiled
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


@compiled
def draw_features(
    key,
    counter,
    n_features,
    features,  # OUT (M,): the drawn features come first
):
    """Draw 1..M distinct features; return how many, and the counter that comes next."""
    n_used = min(1 + int(uniform(key, counter) * len(features)), n_features)
    counter += 1
    filled = 0
    while filled < n_used:
        drawn = int(uniform(key, counter) * n_features)
        counter += 1
        is_new = True
        for j in range(filled):
            if features[j] == drawn:
                is_new = False
        if is_new:
            features[filled] = drawn
            filled += 1
    return n_used, counter


@compiled
def mean_of_class(values, weights, perm, start, stop, offset):
    """Return the weighted mean of a stretch of one class; no weights means one each."""
    total = 0.0
    if len(weights) == 0:
        for i in range(start, stop):
            total += values[i - offset]
        return total / (stop - start)
    weight = 0.0
    for i in range(start, stop):
        total += weights[perm[i]] * values[i - offset]
        weight += weights[perm[i]]
    return total / weight


@compiled
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
    direction,  # OUT (M,)
):
    """Point from the mean of the first class to that of the second; return the threshold."""
    start, stop = bounds[0], bounds[-1]
    threshold = 0.0
    for j in range(n_used):
        column, own = columns[features[j]], values[j]
        for i in range(start, stop):
            own[i - start] = column[perm[i]]
        a = mean_of_class(own, weights, perm, bounds[first], bounds[first + 1], start)
        b = mean_of_class(own, weights, perm, bounds[second], bounds[second + 1], start)
        direction[j] = b - a
        threshold += (b - a) * (a + 0.5 * (b - a))
    return threshold


@compiled
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


@compiled
def count_right(
    projection,
    threshold,
    perm,
    bounds,
    weights,
    right_rows,  # OUT (K,)
    right_counts,  # OUT (K,)
):
    """Count the rows of each class beyond the threshold; return how many in all."""
    start, n_right = bounds[0], 0
    for k in range(len(right_rows)):
        n_rows = 0
        for i in range(bounds[k] - start, bounds[k + 1] - start):
            n_rows += projection[i] > threshold
        right_rows[k] = n_rows
        right_counts[k] = n_rows
        n_right += n_rows
        if len(weights) > 0:
            weight = 0.0
            for i in range(bounds[k], bounds[k + 1]):
                if projection[i - start] > threshold:
                    weight += weights[perm[i]]
            right_counts[k] = weight
    return n_right


@compiled
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


@compiled
def best_split(columns, perm, bounds, weights, key, n_tries, half_table, total_table, scratch):
    """Try splits; keep the features and the direction of the best one in scratch.

    Returns the number of its features, zero where no try parts the rows, and its
    threshold.
    """
    values, projection = scratch.values, scratch.projection
    features, direction = scratch.features, scratch.direction
    best_features, best_direction = scratch.best_features, scratch.best_direction
    right_rows, right_counts, counts = scratch.right_rows, scratch.right_counts, scratch.counts
    size = bounds[-1] - bounds[0]
    n_best, best_threshold, best_evidence = 0, 0.0, 0.0
    counter = 0
    for _attempt in range(n_tries):
        n_used, counter = draw_features(key, counter, len(columns), features)
        first, second = draw_classes(key, counter, counts)
        counter += 2
        threshold = aim(
            columns, perm, bounds, weights, first, second, n_used, features, values, direction
        )
        project(values, n_used, direction, size, projection)
        n_right = count_right(
            projection, threshold, perm, bounds, weights, right_rows, right_counts
        )
        if n_right == 0 or n_right == size:
            continue
        evidence = log_evidence(right_counts, half_table, total_table)
        for k in range(len(counts)):
            # Rounding must not leave a class without rows a trace of weight.
            empty = right_rows[k] == bounds[k + 1] - bounds[k]
            right_counts[k] = 0.0 if empty else max(counts[k] - right_counts[k], 0.0)
        evidence += log_evidence(right_counts, half_table, total_table)
        if n_best == 0 or evidence > best_evidence + TIE:
            n_best, best_threshold, best_evidence = n_used, threshold, evidence
            best_features[:n_used] = features[:n_used]
            best_direction[:n_used] = direction[:n_used]
    return n_best, best_threshold


@compiled
def try_splits(table, perm, own, weights, node, key, n_tries, half_table, total_table, scratch):
    """Return what `best_split` finds for a node; a large ball is judged on some of its rows."""
    if own[-1] - own[0] > len(scratch.thinned) - len(scratch.counts):
        thin_rows(perm, own, scratch.thinned, scratch.thinned_bounds)
        perm, own = scratch.thinned, scratch.thinned_bounds
    class_weights(perm, own, weights, scratch.counts)
    node_key = mixed(key ^ mixed(np.uint64(node)))
    return best_split(
        table, perm, own, weights, node_key, n_tries, half_table, total_table, scratch
    )
