"""Compiled loops that find the nearest balls: a tree over their centres, and searches in it.

A node of the tree is a stretch of points with a pivot, and how far from the
pivot its balls reach. A node is left out of a search only where its nearest
surface is certainly too far, so a search finds what looking at every ball finds.
"""

from collections import namedtuple

import numpy as np

from granulearn.balls._compiled import compiled
from granulearn.balls._parts_kernels import part_key
from granulearn.balls._two_means_kernels import KMEANS_PLUS_PLUS, new_scratch, split_ball

LEAF_POINTS = 64
MAX_FIT_POINTS = 200  # a split of more points is found on so many
# Distances are right to some last bits; a node is left out only beyond those.
SLACK = 1e-12

# A tree over m points of d features, its nodes numbered so that children follow their parent.
PointTree = namedtuple(
    "PointTree",
    [
        "points",  # (m, d): float64, leaf by leaf
        "columns",  # (m * d,): the same, and (d, size) within a leaf, so that loops vectorise
        "order",  # (m,): the number of each of them
        "bounds",  # (n_nodes, 2): the stretch of points that each node is
        "children",  # (n_nodes,): the left child, which the right one follows; 0 at a leaf
        "pivots",  # (n_nodes, d): mean of the points
        "reach",  # (n_nodes,): largest distance from the pivot to a point, or to the far
        # side of its ball
    ],
)


@compiled
def distance(x, y):
    """Return the Euclidean distance of two points."""
    squares = 0.0
    for j in range(len(x)):
        difference = x[j] - y[j]
        squares += difference * difference
    return np.sqrt(squares)


@compiled
def build_tree(
    points,
    leaf_points,
    order,  # OUT (m,): points, leaf by leaf
    bounds,  # OUT (max_nodes, 2)
    children,  # OUT (max_nodes,)
):
    """Split the points by two means down to small leaves; return the node count."""
    m, d = points.shape
    scratch = new_scratch(points, MAX_FIT_POINTS, 1)
    no_classes = np.empty(0, np.int32)
    midpoint, direction = np.empty(d), np.empty(d)
    keys = np.zeros(len(children), np.uint64)
    for i in range(m):
        order[i] = i
    bounds[0, 0], bounds[0, 1] = 0, m
    n_nodes, node = 1, 0
    while node < n_nodes:
        start, stop = bounds[node]
        children[node] = 0
        if stop - start > leaf_points and n_nodes + 2 <= len(children):
            cut = split_ball(
                points, no_classes, order, start, stop, keys[node], 0, KMEANS_PLUS_PLUS, scratch,
                midpoint, direction,
            )  # fmt: skip
            if cut > 0:
                children[node] = n_nodes
                for part in range(2):
                    bounds[n_nodes + part, 0] = start if part == 0 else cut
                    bounds[n_nodes + part, 1] = cut if part == 0 else stop
                    keys[n_nodes + part] = part_key(keys[node], part)
                n_nodes += 2
        node += 1
    return n_nodes


@compiled
def measure_nodes(
    points,
    radii,
    bounds,
    pivots,  # OUT (n_nodes, d)
    reach,  # OUT (n_nodes,)
):
    """Set the pivot of every node, and how far the balls of its points reach from it."""
    for node in range(len(bounds)):
        start, stop = bounds[node]
        pivots[node] = 0.0
        for i in range(start, stop):
            for j in range(points.shape[1]):
                pivots[node, j] += points[i, j] / (stop - start)
        reach[node] = 0.0
        for i in range(start, stop):
            reach[node] = max(reach[node], distance(points[i], pivots[node]) + radii[i])


@compiled
def columns_of_leaves(
    points,
    bounds,
    children,
    columns,  # OUT (m * d,)
):
    """Copy the points so that each leaf has its features one after the other."""
    d = points.shape[1]
    for node in range(len(children)):
        if children[node] == 0:
            start, stop = bounds[node]
            own = columns[start * d : stop * d].reshape(d, stop - start)
            for i in range(start, stop):
                for j in range(d):
                    own[j, i - start] = points[i, j]


@compiled
def leaf_squares(
    x,
    tree,
    node,
    squares,  # OUT (m,): the first of them
):
    """Set the squared distances of x to all points of a leaf, summed as in `distance`."""
    d, start, size = len(x), tree.bounds[node, 0], tree.bounds[node, 1] - tree.bounds[node, 0]
    own = tree.columns[start * d : (start + size) * d].reshape(d, size)
    for i in range(size):
        squares[i] = 0.0
    # Four features at a time spare three of four looks at the sums; their order is the same.
    n_fours = d // 4
    for four in range(n_fours):
        j = 4 * four
        for i in range(size):
            difference = x[j] - own[j, i]
            total = squares[i] + difference * difference
            difference = x[j + 1] - own[j + 1, i]
            total += difference * difference
            difference = x[j + 2] - own[j + 2, i]
            total += difference * difference
            difference = x[j + 3] - own[j + 3, i]
            squares[i] = total + difference * difference
    for j in range(4 * n_fours, d):
        for i in range(size):
            difference = x[j] - own[j, i]
            squares[i] += difference * difference


@compiled
def nearest_possible(x, tree, node, extra):
    """Return a distance that no surface in a node is nearer than; radii grow by ``extra``."""
    to_pivot = distance(x, tree.pivots[node])
    reach = tree.reach[node] + extra
    return to_pivot - reach - SLACK * (to_pivot + reach)


@compiled
def node_gap(rows, a, tree, b):
    """Return a distance that no surface in node b is nearer than to a point in node a."""
    return nearest_possible(rows.pivots[a], tree, b, rows.reach[a])


@compiled
def push_children(
    left,
    possible_left,
    possible_right,
    n_pending,
    pending,  # IN and OUT: nodes
    possible,  # IN and OUT: how near their surfaces may be
):
    """Put both children of a node on the stack, the nearer one on top; return its new height."""
    nearer = 0 if possible_left <= possible_right else 1
    pending[n_pending] = left + 1 - nearer
    possible[n_pending] = max(possible_left, possible_right)
    pending[n_pending + 1] = left + nearer
    possible[n_pending + 1] = min(possible_left, possible_right)
    return n_pending + 2


@compiled
def insert_sorted(
    number,
    value,
    numbers,  # IN and OUT (k,), sorted by value and then by number
    values,  # IN and OUT (k,)
):
    """Keep the k least values; a tie goes to the smaller number."""
    last = len(values) - 1
    if value > values[last] or (value == values[last] and number > numbers[last]):
        return
    at = last
    while at > 0 and (
        value < values[at - 1] or (value == values[at - 1] and number < numbers[at - 1])
    ):
        numbers[at], values[at] = numbers[at - 1], values[at - 1]
        at -= 1
    numbers[at], values[at] = number, value


@compiled
def any_within(bound, squares, radii):
    """Say whether a surface may be within a distance; without branches, so it is fast."""
    n_near = 0
    for i in range(len(radii)):
        to_center = bound + radii[i] + SLACK * (abs(bound) + radii[i])
        # The square with its sign: below zero, no centre is near enough.
        n_near += squares[i] <= to_center * abs(to_center)
    return n_near > 0


@compiled
def look_at_leaf(
    x,
    tree,
    radii,
    node,
    squares,
    numbers,  # IN and OUT (k,)
    distances,  # IN and OUT (k,)
):
    """Let one row see the balls of a leaf."""
    if nearest_possible(x, tree, node, 0.0) > distances[-1]:
        return
    start, stop = tree.bounds[node]
    leaf_squares(x, tree, node, squares)
    if any_within(distances[-1], squares, radii[start:stop]):
        for p in range(start, stop):
            to_surface = np.sqrt(squares[p - start]) - radii[p]
            insert_sorted(tree.order[p], to_surface, numbers, distances)


@compiled
def nearest_surfaces(
    rows,
    tree,
    radii,  # (m,), leaf by leaf
    numbers,  # OUT (n, k): the nearest balls of each row, nearest first
    distances,  # OUT (n, k): from the row to their surfaces; negative inside a ball
):
    """Find the balls whose surfaces are nearest to each row, in the order of the tree of rows.

    All rows of a leaf walk through the tree of the balls together, so that what
    they look at stays in the cache.
    """
    n_nodes = len(tree.children)
    pending, possible = np.empty(n_nodes + 1, np.int64), np.empty(n_nodes + 1)
    squares = np.empty(len(radii))
    numbers[:] = len(radii)
    distances[:] = np.inf
    for leaf in range(len(rows.children)):
        if rows.children[leaf] > 0:
            continue
        start, stop = rows.bounds[leaf]
        pending[0], possible[0] = 0, -np.inf
        n_pending, farthest = 1, np.inf
        while n_pending > 0:
            n_pending -= 1
            node = pending[n_pending]
            if possible[n_pending] > farthest:
                continue
            left = tree.children[node]
            if left > 0:
                n_pending = push_children(
                    left,
                    node_gap(rows, leaf, tree, left),
                    node_gap(rows, leaf, tree, left + 1),
                    n_pending,
                    pending,
                    possible,
                )
                continue
            for i in range(start, stop):
                look_at_leaf(rows.points[i], tree, radii, node, squares, numbers[i], distances[i])
            farthest = distances[start:stop, -1].max()
