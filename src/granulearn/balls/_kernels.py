"""Compiled loops that split balls in two, grow all balls of some rows, and describe them.

The random numbers of a split are keyed by the path from the first ball to the
one at hand, so the order in which balls are split cannot change a result.

A split sends a row to the right when ``(row - midpoint) . direction > 0``: for
two means, that is the side of the nearer mean, at the price of one dot product.
Rows are never moved while a ball is split. Only ``perm``, the order in which they
are visited, changes, and always stably.
"""

from collections import namedtuple

import numpy as np

from granulearn.balls._compiled import STACK_SIZE, compiled, mixed, uniform

KMEANS_PLUS_PLUS = 0
CLASS_MEANS = 1

LEFT = np.uint64(0xD1B54A32D192ED03)
RIGHT = np.uint64(0x8CB92BA72F3D8DD7)

MAX_LLOYD_PASSES = 30
POINTS_PER_IDLE_CHANGE = 128  # means rest when at most one point in so many changes sides


@compiled
def offset_dot(x, origin, direction):
    """Return ``(x - origin) . direction``."""
    total = x.dtype.type(0)
    for j in range(x.shape[0]):
        total += (x[j] - origin[j]) * direction[j]
    return total


@compiled
def top_class(y, perm, start, stop, tally):
    """Return the most frequent class and its count; ``tally`` is all zero before and after."""
    best, best_count = 0, 0
    for i in range(start, stop):
        c = y[perm[i]]
        tally[c] += 1
        if tally[c] > best_count or (tally[c] == best_count and c < best):
            best, best_count = c, tally[c]
    for i in range(start, stop):
        tally[y[perm[i]]] = 0
    return best, best_count


# Arrays that a split works on, allocated once for many splits: n rows, d features, K
# classes, and m points, at most max_fit, on which two means are fitted.
Scratch = namedtuple(
    "Scratch",
    [
        "points",  # (max_fit * d,): holds (d, m), so that loops over points vectorise
        "point_row",  # (max_fit,): the row of each point
        "score",  # (max_fit,): a number per point
        "total",  # (d,): sum of all points
        "moved",  # (d,): sum of the points nearer to the right mean
        "left",  # (d,): one mean
        "right",  # (d,): the other
        "side",  # (n,): 1 where a row of the ball goes right
        "spare",  # (n,): the rows that go right
        "tally",  # (K,): samples per class; zero between uses
    ],
)


@compiled
def new_scratch(rows, max_fit, n_classes):
    """Allocate what splits of these rows need."""
    n, d = rows.shape
    max_fit = min(max_fit, n)
    return Scratch(
        np.empty(max_fit * d, rows.dtype),
        np.empty(max_fit, np.int64),
        np.empty(max_fit, rows.dtype),
        np.empty(d),
        np.empty(d),
        np.empty(d, rows.dtype),
        np.empty(d, rows.dtype),
        np.empty(n, np.uint8),
        np.empty(n, np.int64),
        np.zeros(n_classes, np.int64),
    )


@compiled
def take_points(
    rows,
    perm,
    start,
    stop,
    key,
    points,  # OUT (d, m)
    point_row,  # OUT (m,)
    total,  # OUT (d,)
):
    """Pick the rows on which two means are fitted: all, or m of a larger ball."""
    size = stop - start
    d, m = points.shape
    total[:] = 0.0
    for i in range(m):
        # One row of each of m equal stretches: never all from one end of sorted data.
        at = i if m == size else min(int((i + uniform(key, i + 2)) * (size / m)), size - 1)
        point_row[i] = perm[start + at]
        x = rows[point_row[i]]
        for j in range(d):
            points[j, i] = x[j]
            total[j] += x[j]


@compiled
def seed_plus_plus(
    points,
    key,
    score,  # OUT (m,)
    left,  # OUT (d,)
    right,  # OUT (d,)
):
    """Draw two seeds by k-means++; False when all points are the same."""
    d, m = points.shape
    first = int(uniform(key, 0) * m)
    score[:m] = 0
    for j in range(d):
        seed = points[j, first]
        for i in range(m):
            difference = points[j, i] - seed
            score[i] += difference * difference
    total = np.float64(0)
    for i in range(m):
        total += score[i]
    target = uniform(key, 1) * total
    second = -1
    for i in range(m):
        if score[i] > 0.0:
            second = i
            target -= score[i]
            if target < 0.0:
                break
    if second < 0:
        return False
    left[:] = points[:, first]
    right[:] = points[:, second]
    return True


@compiled
def seed_class_means(
    rows,
    y,
    point_row,
    m,
    majority,
    total,
    moved,  # OUT (d,)
    left,  # OUT (d,)
    right,  # OUT (d,)
):
    """Start from the mean of the majority class and that of the rest; False if one is empty."""
    moved[:] = 0.0
    n_rest = 0
    for i in range(m):
        row = point_row[i]
        if y[row] != majority:
            n_rest += 1
            for j in range(rows.shape[1]):
                moved[j] += rows[row, j]
    if n_rest == 0 or n_rest == m:
        return False
    set_means(total, moved, m, n_rest, left, right)
    return True


@compiled
def set_means(
    total,
    moved,
    m,
    n_right,
    left,  # OUT (d,)
    right,  # OUT (d,)
):
    """Set both means from the sum of all m points and of the ``n_right`` on the right."""
    for j in range(len(total)):
        left[j] = (total[j] - moved[j]) / (m - n_right)
        right[j] = moved[j] / n_right


@compiled
def lloyd(
    rows,
    points,
    point_row,
    total,
    moved,  # OUT (d,)
    score,  # OUT (m,)
    left,  # IN seed, OUT mean
    right,  # IN seed, OUT mean
    midpoint,  # OUT (d,)
    direction,  # OUT (d,)
    side,  # OUT (m,)
):
    """Move two means until hardly a point changes sides; return how many are on the right."""
    d, m = points.shape
    half = points.dtype.type(0.5)
    moved[:] = 0.0
    side[:m] = 0
    n_right = 0
    for _ in range(MAX_LLOYD_PASSES):
        score[:m] = 0
        for j in range(d):
            slope = right[j] - left[j]
            origin = left[j] + half * slope
            midpoint[j], direction[j] = origin, slope
            for i in range(m):
                score[i] += (points[j, i] - origin) * slope
        n_changed = 0
        for i in range(m):
            goes_right = score[i] > 0
            if goes_right != (side[i] == 1):
                # Only points that change sides touch the sum: few, after the first pass.
                n_changed += 1
                side[i] = 1 if goes_right else 0
                sign = 1 if goes_right else -1
                n_right += sign
                x = rows[point_row[i]]
                for j in range(d):
                    moved[j] += sign * x[j]
        if n_changed <= m // POINTS_PER_IDLE_CHANGE or n_right == 0 or n_right == m:
            break
        set_means(total, moved, m, n_right, left, right)
    return n_right


@compiled
def halve_widest_feature(
    rows,
    perm,
    start,
    stop,
    midpoint,  # OUT
    direction,  # OUT
):
    """Cut the feature with the largest range; False when all rows are the same.

    This is used where two means do not part the rows: their seeds coincide, or
    differences are lost to rounding. Both sides get at least one row.
    """
    widest, low, high = -1, 0.0, 0.0
    for j in range(rows.shape[1]):
        smallest = largest = rows[perm[start], j]
        for i in range(start + 1, stop):
            value = rows[perm[i], j]
            smallest = min(smallest, value)
            largest = max(largest, value)
        if largest > smallest and (widest < 0 or largest - smallest > high - low):
            widest, low, high = j, smallest, largest
    if widest < 0:
        return False
    midpoint[:] = 0
    direction[:] = 0
    direction[widest] = 1
    middle = rows.dtype.type(low + (high - low) / 2)
    midpoint[widest] = middle if middle < high else low
    return True


@compiled
def assign_sides(
    rows,
    perm,
    start,
    stop,
    midpoint,
    direction,
    side,  # OUT
):
    """Send every row of a ball to its side; return how many went right."""
    n_right = 0
    for i in range(start, stop):
        side[i - start] = 1 if offset_dot(rows[perm[i]], midpoint, direction) > 0 else 0
        n_right += side[i - start]
    return n_right


@compiled
def split_ball(
    rows,
    y,
    perm,  # IN and OUT: rows of the left part first, each part in its old order
    start,
    stop,
    key,
    majority,
    init,
    scratch,
    midpoint,  # OUT (d,)
    direction,  # OUT (d,)
):
    """Split one ball by 2-means; return the first position of the right part, 0 if it can't be."""
    # The tuple is unpacked once: every look into it costs an atomic reference count.
    buffer, point_row, score, total, moved, left, right, side, spare, _ = scratch
    size, d = stop - start, rows.shape[1]
    m = min(size, len(score))
    points = buffer[: d * m].reshape(d, m)
    take_points(rows, perm, start, stop, key, points, point_row, total)
    seeded = init == CLASS_MEANS and seed_class_means(
        rows, y, point_row, m, majority, total, moved, left, right
    )
    if not seeded:
        seeded = seed_plus_plus(points, key, score, left, right)
    n_right = 0
    if seeded:
        n_right = lloyd(
            rows, points, point_row, total, moved, score, left, right, midpoint, direction, side
        )
        if m < size:
            n_right = assign_sides(rows, perm, start, stop, midpoint, direction, side)
    if n_right == 0 or n_right == size:
        if not halve_widest_feature(rows, perm, start, stop, midpoint, direction):
            return 0
        assign_sides(rows, perm, start, stop, midpoint, direction, side)
    to_left, to_right = start, 0
    for i in range(size):
        row = perm[start + i]
        if side[i] == 0:
            perm[to_left] = row
            to_left += 1
        else:
            spare[to_right] = row
            to_right += 1
    perm[to_left:stop] = spare[:to_right]
    # A part without rows is no split: whatever the numbers are, there are at most n - 1 splits.
    return to_left if start < to_left < stop else 0


@compiled
def grow_tree(
    rows,
    y,
    key,
    purity,
    init,
    max_fit,
    n_classes,
    midpoints,  # OUT (max_nodes, d)
    directions,  # OUT (max_nodes, d)
    children,  # OUT (max_nodes, 2): -1 at a leaf
    keys,  # OUT (max_nodes,)
):
    """Split balls of more than ``max_fit`` rows, keeping the tree; return its node count.

    The tree is grown on a part of the rows, and all rows are then sent down it.
    It stops early when the node arrays are full, since leaves are split further later.
    """
    perm = np.arange(len(rows))
    scratch = new_scratch(rows, max_fit, n_classes)
    pending = np.empty((children.shape[0], 3), np.int64)  # node, start, stop
    children[0] = -1
    keys[0] = key
    pending[0] = 0, 0, len(rows)
    n_nodes, n_pending = 1, 1
    while n_pending > 0 and n_nodes + 2 <= children.shape[0]:
        n_pending -= 1
        node, start, stop = pending[n_pending]
        if stop - start <= max_fit:
            continue
        majority, top = top_class(y, perm, start, stop, scratch.tally)
        if top / (stop - start) >= purity:
            continue
        cut = split_ball(
            rows, y, perm, start, stop, keys[node], majority, init, scratch,
            midpoints[node], directions[node],
        )  # fmt: skip
        if cut == 0:
            continue
        for right in range(2):
            child = n_nodes + right
            children[node, right] = child
            children[child] = -1
            keys[child] = mixed(keys[node] ^ (RIGHT if right else LEFT))
        pending[n_pending] = n_nodes, start, cut
        pending[n_pending + 1] = n_nodes + 1, cut, stop
        n_pending += 2
        n_nodes += 2
    return n_nodes


@compiled
def gather_rows(
    X,
    order,
    scale,
    rows,  # OUT (len(order), d)
):
    """Copy the rows named by ``order``, scaled."""
    factor = X.dtype.type(scale)
    for i in range(len(order)):
        for j in range(X.shape[1]):
            rows[i, j] = X[order[i], j] * factor


@compiled
def route_rows(
    X,
    scale,
    start,
    stop,
    midpoints,
    directions,
    children,
    leaf,  # OUT (n,): the node where each row ends
):
    """Walk the rows from ``start`` to ``stop`` down the tree."""
    row = np.empty(X.shape[1], X.dtype)
    factor = X.dtype.type(scale)
    for i in range(start, stop):
        for j in range(X.shape[1]):
            row[j] = X[i, j] * factor
        node = 0
        while children[node, 0] >= 0:
            goes_right = offset_dot(row, midpoints[node], directions[node]) > 0
            node = children[node, 1] if goes_right else children[node, 0]
        leaf[i] = node


@compiled
def grow_balls(
    rows,
    y,
    key,
    purity,
    init,
    max_fit,
    n_classes,
    perm,  # OUT (n,): the rows, ball by ball
    sizes,  # OUT (n,): the size of a ball at the position where it starts, else 0
):
    """Split until every ball is pure enough or cannot be split."""
    n, d = rows.shape
    scratch = new_scratch(rows, max_fit, n_classes)
    midpoint = np.empty(d, rows.dtype)
    direction = np.empty(d, rows.dtype)
    starts = np.empty(STACK_SIZE, np.int64)
    stops = np.empty(STACK_SIZE, np.int64)
    keys = np.empty(STACK_SIZE, np.uint64)

    for i in range(n):
        perm[i] = i
        sizes[i] = 0
    starts[0], stops[0], keys[0] = 0, n, key
    n_pending = 1
    while n_pending > 0:
        n_pending -= 1
        start, stop, path = starts[n_pending], stops[n_pending], keys[n_pending]
        cut = 0
        if stop - start > 1:
            majority, top = top_class(y, perm, start, stop, scratch.tally)
            if top / (stop - start) < purity:
                cut = split_ball(
                    rows, y, perm, start, stop, path, majority, init, scratch,
                    midpoint, direction,
                )  # fmt: skip
        if cut == 0:
            sizes[start] = stop - start
            continue
        larger_is_left = cut - start > stop - cut
        for turn in range(2):
            at = n_pending + turn
            is_left = larger_is_left == (turn == 0)
            starts[at] = start if is_left else cut
            stops[at] = cut if is_left else stop
            keys[at] = mixed(path ^ (LEFT if is_left else RIGHT))
        n_pending += 2


@compiled
def summarise_balls(
    rows,
    y,
    perm,
    starts,  # (k + 1,): where each ball begins in perm, and the end of the last
    centers,  # OUT (k, d)
    radii,  # OUT (k,)
    class_counts,  # OUT (k, K), zero on entry
):
    """Compute centre, mean distance to it, and class counts of every ball."""
    d = rows.shape[1]
    sums = np.empty(d)
    for ball in range(len(starts) - 1):
        start, stop = starts[ball], starts[ball + 1]
        size = stop - start
        # Sums are taken from the first row, so that equal rows have an exact centre.
        first = rows[perm[start]]
        sums[:] = 0.0
        for i in range(start, stop):
            for j in range(d):
                sums[j] += rows[perm[i], j] - first[j]
            class_counts[ball, y[perm[i]]] += 1
        center = centers[ball]
        for j in range(d):
            center[j] = first[j] + sums[j] / size
        total = np.float64(0)
        for i in range(start, stop):
            squares = rows.dtype.type(0)
            for j in range(d):
                difference = rows[perm[i], j] - center[j]
                squares += difference * difference
            total += np.sqrt(squares)
        radii[ball] = total / size
