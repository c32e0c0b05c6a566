"""Compiled loops that walk rows down the packed trees of a ball forest.

A walk looks at features, thresholds and leaves; ``_posterior_kernels`` has made them.
"""

import numpy as np

from granulearn.balls._compiled import compiled, copy_into, uncounted


@compiled
def find_leaf(row, children, offsets, features, directions, thresholds):
    """Walk one row down a packed tree; return the number of its leaf."""
    node = 0
    # No walk takes more steps than there are nodes, whatever the arrays say.
    for _ in range(len(children)):
        if children[node] <= 0:
            break
        begin, end = offsets[node], offsets[node + 1]
        product = row[features[begin]] * directions[begin]
        for j in range(begin + 1, end):
            product += row[features[j]] * directions[j]
        node = children[node] + (1 if product > thresholds[node] else 0)
    return -1 - children[node]


@uncounted
def project_rows(
    node, plain, codes, places, marks, lows, highs, offsets, features, directions, rows, start,
    stop,
    products,  # OUT: set from ``start`` to ``stop``
):  # fmt: skip
    """Set the dot product of a stretch of rows with the direction of a node."""
    for i in range(start, stop):
        products[i] = 0.0
    j, end = offsets[node], offsets[node + 1]
    while j < end:
        at, slope = features[j], directions[j]
        place, mark = places[at], marks[at]
        j += 1
        # Two features of a kind at once: products are read and written half as often.
        is_pair = j < end and (marks[features[j]] == 0) == (mark == 0)
        next_at, next_slope = (features[j], directions[j]) if is_pair else (at, slope)
        next_place = places[next_at]
        j += is_pair
        if mark == 0 and is_pair:
            column, other = plain[place], plain[next_place]
            for i in range(start, stop):
                row = rows[i]
                product = products[i] + column[row] * slope
                products[i] = product + other[row] * next_slope
        elif mark == 0:
            column = plain[place]
            for i in range(start, stop):
                products[i] += column[rows[i]] * slope
        elif is_pair:
            own, low, high = codes[place], lows[at] * slope, highs[at] * slope
            next_own, next_mark = codes[next_place], marks[next_at]
            next_low, next_high = lows[next_at] * next_slope, highs[next_at] * next_slope
            for i in range(start, stop):
                row = rows[i]
                product = products[i] + (high if own[row] == mark else low)
                products[i] = product + (next_high if next_own[row] == next_mark else next_low)
        else:
            own, low, high = codes[place], lows[at] * slope, highs[at] * slope
            for i in range(start, stop):
                products[i] += high if own[rows[i]] == mark else low


@uncounted
def part_by_products(
    products, threshold, start, stop,
    rows,  # IN and OUT: those that go left first
    spare,  # scratch (m,)
):  # fmt: skip
    """Part a stretch of rows by their products; return where those begin that go right."""
    to_left, to_right = start, 0
    for i in range(start, stop):
        row, goes_right = rows[i], products[i] > threshold
        spare[to_right] = row
        rows[to_left] = row
        to_right += goes_right
        to_left += not goes_right
    copy_into(rows, to_left, spare, to_right)
    return to_left


@uncounted
def part_by_column(
    column, slope, threshold, start, stop,
    rows,  # IN and OUT: those that go left first
    spare,  # scratch (m,)
):  # fmt: skip
    """Part a stretch of rows by one column, as `part_by_products` does, without products."""
    to_left, to_right = start, 0
    for i in range(start, stop):
        row = rows[i]
        goes_right = column[row] * slope > threshold
        spare[to_right] = row
        rows[to_left] = row
        to_right += goes_right
        to_left += not goes_right
    copy_into(rows, to_left, spare, to_right)
    return to_left


@uncounted
def add_leaf(leaf, rows, start, stop, total):
    """Add what a leaf predicts to a stretch of rows."""
    for i in range(start, stop):
        own = total[rows[i]]
        for k in range(len(leaf)):
            own[k] += leaf[k]


@uncounted
def add_posterior(
    plain, codes, places, marks, lows, highs, seen, children, offsets, features, directions,
    thresholds, leaf_proba,
    rows,  # scratch (m,), without a sign: nothing asks whether a number is counted from the end
    spare,  # scratch (m,), likewise
    products,  # scratch (m,)
    pending,  # scratch (S, 3)
    total,  # IN and OUT (m, K)
):  # fmt: skip
    """Add one tree's posterior to the rows that it did not see; to all if ``seen`` is empty.

    A row goes as `find_leaf` sends it. All rows that come to a node go on from there
    together, column by column, so none waits for its own memory or for a guess of its way.
    """
    n_rows, n_pending, n_visits = 0, 0, 0
    for i in range(len(total)):
        rows[n_rows] = i
        n_rows += len(seen) == 0 or not seen[i]
    if n_rows > 0:
        pending[0, 0], pending[0, 1], pending[0, 2] = 0, 0, n_rows
        n_pending = 1
    # A tree has each node once, so more visits than nodes would be those of no tree.
    while n_pending > 0 and n_visits < len(children):
        n_pending -= 1
        n_visits += 1
        node, start, stop = pending[n_pending, 0], pending[n_pending, 1], pending[n_pending, 2]
        child, first = children[node], offsets[node]
        if child < 0:
            add_leaf(leaf_proba[-1 - child], rows, start, stop, total)
            continue
        if offsets[node + 1] == first + 1 and marks[features[first]] == 0:
            column, slope = plain[places[features[first]]], directions[first]
            middle = part_by_column(column, slope, thresholds[node], start, stop, rows, spare)
        else:
            project_rows(
                node, plain, codes, places, marks, lows, highs, offsets, features, directions,
                rows, start, stop, products,
            )  # fmt: skip
            middle = part_by_products(products, thresholds[node], start, stop, rows, spare)
        # The smaller part goes first: few ever wait.
        left_first = middle - start < stop - middle
        for goes_right in (left_first, not left_first):
            begin, end = (middle, stop) if goes_right else (start, middle)
            if begin < end:
                pending[n_pending, 0] = child + goes_right
                pending[n_pending, 1], pending[n_pending, 2] = begin, end
                n_pending += 1


@compiled
def count_balls(
    rows, codes, weights, children, offsets, features, directions, thresholds,
    counts,  # OUT (n_nodes, K)
):  # fmt: skip
    """Sum the weights of the rows of each class in every ball of a packed tree."""
    of_leaves = np.zeros(((len(children) + 1) // 2, counts.shape[1]))
    for i in range(len(rows)):
        leaf = find_leaf(rows[i], children, offsets, features, directions, thresholds)
        of_leaves[leaf, codes[i]] += weights[i]
    for node in range(len(children) - 1, -1, -1):
        left = children[node]
        if left > 0:
            counts[node] = counts[left] + counts[left + 1]
        else:
            counts[node] = of_leaves[-1 - left]
