"""Compiled loops that search for a split of a ball; ``_forest_kernels`` grows trees with them.

A direction points from one class mean to another, in a few features; an axis is
one feature. Each is tried with one or more thresholds, and the most evidence wins.
A ball remembers which features are constant in it: the balls inside it need not
look at them again.
"""

from collections import namedtuple

import numpy as np

from granulearn.balls._column_kernels import count_on, draws_off, take_column
from granulearn.balls._compiled import copy_into, mixed, uncounted, uniform
from granulearn.balls._dirichlet_kernels import log_evidence
from granulearn.balls._forest_try_kernels import (
    MAX_THRESHOLDS,
    TIE,
    aim,
    best_threshold,
    class_weights,
    count_right,
    draw_classes,
    draw_features,
    project,
)

# How many splits are tried: directions, axes, and thresholds for each of them. A ball of at most
# ``spared`` rows is not split where no try gains evidence.
Search = namedtuple("Search", ["directions", "axes", "thresholds", "spared"])

# The best split so far: how many features it has (zero: none parts the rows), its threshold,
# whether that is the value of a row, and its evidence. Features and direction are in scratch.
Split = namedtuple("Split", ["n_used", "threshold", "at_row", "evidence"])


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
        best.n_used == 0, best.evidence, MAX_THRESHOLDS, bounds, weights, present,
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
    present, counts = scratch.present[:n_present], scratch.counts
    right_rows, right_counts = scratch.right_rows, scratch.right_counts
    plain, codes, places, marks = columns.plain, columns.codes, columns.places, columns.marks
    n_draws = min(search.thresholds, size - 1)
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
        mark, place = marks[feature], places[feature]
        if mark > 0:
            n_on = count_on(
                codes[place], mark, perm, bounds, weights, present, right_rows, right_counts
            )
            differs = 0 < n_on < size
        else:
            differs = take_column(plain[place], perm, start, stop, projection)
        if not differs:
            if is_whole:
                n_live -= 1
                live[n_open] = live[n_live]
                live[n_live] = feature
            continue
        n_tried += 1
        scratch.features[0] = feature
        if mark == 0:
            counter = draw_thresholds(
                key, counter, search.thresholds, projection, size, 0, scratch.thresholds
            )
            best = better_split(best, 1, 0, perm, bounds, weights, n_present, table, scratch)
            continue
        # Thresholds are values of random rows, and of two values only the lower one parts rows.
        if draws_off(key, counter, n_draws, codes[place], mark, perm, start, size):
            j, evidence = best_threshold(
                best.n_used == 0, best.evidence, 1, bounds, weights, present, right_rows,
                right_counts, counts, table,
            )  # fmt: skip
            if j == 0:
                scratch.best_features[0], scratch.best_direction[0] = feature, 1.0
                best = Split(1, columns.lows[feature], True, evidence)
        counter += n_draws
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
