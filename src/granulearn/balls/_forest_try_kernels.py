"""Compiled loops of one try to split a ball; ``_forest_split_kernels`` searches among tries.

The rows of a ball are a stretch of ``perm``, grouped by class. So the mean of a
class is a sum over one stretch, and the class counts of a side are counted
stretch by stretch, without a branch.

A row goes right when its dot product with ``direction`` exceeds a threshold: for
two class means and the middle between them, that is the side of the nearer mean.
"""

from collections import namedtuple

import numpy as np

from granulearn.balls._column_kernels import Columns, take_marked, take_plain
from granulearn.balls._compiled import STACK_SIZE, compiled, uncounted, uniform
from granulearn.balls._dirichlet_kernels import log_gamma_ratio

MAX_LEAF_ROWS = 3  # a ball of at most so many rows is not split
MAX_TRY_ROWS = 2048  # tries on a larger ball are judged on so many of its rows
MAX_THRESHOLDS = 8  # H below
TIE = 1e-7  # two tries may find the same parts, and rounding must not choose between them
BUCKET_VALUES = 2**15  # a ball of at most so many values is copied, to stay in the cache
BUCKET_COLUMNS = 128  # of more live ones, the splits below a small ball look at few

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
        "bucket",  # Columns of B rows: those of a small ball, side by side
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
def new_scratch(max_features, n_rows, n_classes, columns):
    """Allocate what growing one tree needs."""
    n_features, kind = len(columns.marks), columns.plain.dtype
    n_columns = len(columns.plain) + len(columns.codes)
    bucket_rows = min(n_rows, max(MAX_LEAF_ROWS, BUCKET_VALUES // min(n_columns, BUCKET_COLUMNS)))
    return Scratch(
        np.empty((max_features, n_rows), kind),
        np.empty(n_rows, kind),
        np.empty(n_rows, np.int32),
        np.empty(max_features, np.int32),
        np.empty(max_features, kind),
        np.empty(max_features, kind),
        np.empty(MAX_THRESHOLDS, kind),
        np.empty(max_features, np.int32),
        np.empty(max_features, kind),
        np.empty((n_classes, MAX_THRESHOLDS), np.int64),
        np.empty((n_classes, MAX_THRESHOLDS)),
        np.empty(n_classes),
        np.empty(n_classes, np.int64),
        np.arange(n_features).astype(np.int32),
        new_bucket(columns, bucket_rows),
        np.empty(bucket_rows),
        np.empty(MAX_TRY_ROWS + n_classes, np.int32),
        np.empty(n_classes + 1, np.int64),
        np.empty(n_classes + 1, np.int64),
        np.empty((STACK_SIZE, n_classes + 1), np.int64),
        np.empty(STACK_SIZE, np.int64),
        np.empty(STACK_SIZE, np.int64),
    )


@compiled
def new_bucket(columns, n_rows):
    """Allocate columns of so many rows, which have the same features."""
    return Columns(
        np.empty((len(columns.plain), n_rows), columns.plain.dtype),
        np.empty((len(columns.codes), n_rows), columns.codes.dtype),
        columns.places,
        columns.marks,
        columns.lows,
        columns.highs,
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
    start, stop = bounds[0], bounds[-1]
    plain, codes, places, marks = columns.plain, columns.codes, columns.places, columns.marks
    lows, highs, threshold = columns.lows, columns.highs, 0.0
    for j in range(n_used):
        at, own = features[j], values[j]
        if marks[at] > 0:
            take_marked(codes[places[at]], marks[at], lows[at], highs[at], perm, start, stop, own)
        else:
            take_plain(plain[places[at]], perm, start, stop, own)
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
def best_threshold(is_first, most, n_thresholds, bounds, weights, present, right_rows,
                   right_counts, counts, table):  # fmt: skip
    """Return the threshold whose sides have the most evidence, and the logarithm of it.

    It is -1 where none parts the rows with more evidence than the most so far; the first
    one that parts them needs no more.
    """
    size, found = bounds[-1] - bounds[0], -1
    of_class, of_ball = table.of_class, table.of_ball
    for j in range(n_thresholds):
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
