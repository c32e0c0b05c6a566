"""Compiled loops that grow and describe balls; ``two_means`` and ``makers`` call them.

The random numbers of a split are keyed by the path from the first ball to the
one at hand, so the order in which balls are split cannot change a result.
"""

import numpy as np

from granulearn.balls._compiled import STACK_SIZE, compiled, mixed
from granulearn.balls._two_means_kernels import new_scratch, offset_dot, split_ball, top_class

LEFT = np.uint64(0xD1B54A32D192ED03)
RIGHT = np.uint64(0x8CB92BA72F3D8DD7)


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
    depths,  # OUT (max_nodes,)
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
    depths[0] = 0
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
            depths[child] = depths[node] + 1
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
    depth,
    purity,
    init,
    max_fit,
    n_classes,
    perm,  # OUT (n,): the rows, ball by ball
    sizes,  # OUT (n,): the size of a ball at the position where it starts, else 0
):
    """Split until every ball is pure enough or cannot be split; return the largest depth."""
    n, d = rows.shape
    scratch = new_scratch(rows, max_fit, n_classes)
    midpoint = np.empty(d, rows.dtype)
    direction = np.empty(d, rows.dtype)
    starts = np.empty(STACK_SIZE, np.int64)
    stops = np.empty(STACK_SIZE, np.int64)
    depths = np.empty(STACK_SIZE, np.int64)
    keys = np.empty(STACK_SIZE, np.uint64)

    for i in range(n):
        perm[i] = i
        sizes[i] = 0
    starts[0], stops[0], depths[0], keys[0] = 0, n, depth, key
    n_pending, deepest = 1, depth
    while n_pending > 0:
        n_pending -= 1
        start, stop = starts[n_pending], stops[n_pending]
        level, path = depths[n_pending], keys[n_pending]
        deepest = max(deepest, level)
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
            depths[at] = level + 1
            keys[at] = mixed(path ^ (LEFT if is_left else RIGHT))
        n_pending += 2
    return deepest


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
