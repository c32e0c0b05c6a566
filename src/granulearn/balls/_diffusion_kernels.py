"""Compiled loops of the restricted diffusion maker, in a tree over all samples.

Samples and nodes are numbered by the tree: a sample is a place in its points,
a node a stretch of them.
"""

import numpy as np

from granulearn.balls._compiled import compiled
from granulearn.balls._surface_kernels import (
    SLACK,
    leaf_squares,
    nearest_possible,
    node_gap,
    push_children,
)

MIXED = -1
NO_BALL = -1.0


@compiled
def label_nodes(
    y,
    bounds,
    labels,  # OUT (n_nodes,): the class of all samples of a node, or MIXED
):
    """Say which nodes hold samples of one class alone."""
    for node in range(len(bounds)):
        start, stop = bounds[node]
        labels[node] = y[start]
        for i in range(start, stop):
            if y[i] != y[start]:
                labels[node] = MIXED


@compiled
def look_for_both_kinds(
    tree,
    y,
    label,
    node,
    i,
    squares,
    foreign,  # IN and OUT (n,)
    own,  # IN and OUT (n,)
):
    """Let one sample see the points of a leaf, whose class is ``label`` if it has only one."""
    x, own_class = tree.points[i], y[i]
    wanted = min(own[i], foreign[i]) if label == own_class else foreign[i]
    if nearest_possible(x, tree, node, 0.0) > wanted:
        return
    leaf_squares(x, tree, node, squares)
    begin, end = tree.bounds[node]
    # As a rule nothing is nearer than what is known, and this loop has no branches.
    n_near, bound = 0, wanted * wanted * (1.0 + SLACK)
    for p in range(end - begin):
        n_near += squares[p] <= bound
    if n_near == 0:
        return
    for p in range(begin, end):
        away = np.sqrt(squares[p - begin])
        if y[p] != own_class:
            foreign[i] = min(foreign[i], away)
        elif p != i:
            own[i] = min(own[i], away)


@compiled
def nearest_of_both_kinds(
    tree,
    y,
    labels,
    leaves,
    foreign,  # OUT (n,): for the samples of the leaves
    own,  # OUT (n,): for the samples of the leaves
):
    """Find how far samples are from the nearest one of another class, and of their own.

    Infinite where there is none. The own class is looked for only as far as the
    other. All samples of a leaf walk through the tree together, so that
    what they look at stays in the cache.
    """
    n_nodes = len(tree.children)
    pending, possible = np.empty(n_nodes + 1, np.int64), np.empty(n_nodes + 1)
    squares = np.empty(len(y))
    for leaf in leaves:
        start, stop = tree.bounds[leaf]
        foreign[start:stop] = np.inf
        own[start:stop] = np.inf
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
                    node_gap(tree, leaf, tree, left),
                    node_gap(tree, leaf, tree, left + 1),
                    n_pending,
                    pending,
                    possible,
                )
                continue
            for i in range(start, stop):
                look_for_both_kinds(tree, y, labels[node], node, i, squares, foreign, own)
            farthest = foreign[start:stop].max()


@compiled
def free_radius(x, limit, enough, tree, radii, largest, stacks):
    """Return how far a ball around x may grow, up to a limit, before it touches another ball.

    ``largest`` is the largest radius of a ball with its centre in each node. The
    search ends early, with some value below ``enough``, where it is below that.
    """
    pending, possible, squares = stacks
    pending[0], possible[0] = 0, -np.inf
    n_pending = 1
    while n_pending > 0 and limit >= enough:
        n_pending -= 1
        node = pending[n_pending]
        if largest[node] < 0.0 or possible[n_pending] > limit:
            continue
        left = tree.children[node]
        if left > 0:
            n_pending = push_children(
                left,
                nearest_possible(x, tree, left, largest[left]),
                nearest_possible(x, tree, left + 1, largest[left + 1]),
                n_pending,
                pending,
                possible,
            )
            continue
        leaf_squares(x, tree, node, squares)
        begin, end = tree.bounds[node]
        for p in range(begin, end):
            if radii[p] >= 0.0:
                limit = min(limit, np.sqrt(squares[p - begin]) - radii[p])
    return limit


@compiled
def collect_members(
    x,
    limit,
    foreign,
    tree,
    ball,
    stacks,
    members,  # OUT (n,): the first of them
):
    """Find the free samples no farther than the limit and nearer than the other classes.

    Returns how many there are, and the distance of the farthest.
    """
    pending, _, squares = stacks
    pending[0] = 0
    n_pending, n_members, radius = 1, 0, 0.0
    while n_pending > 0:
        n_pending -= 1
        node = pending[n_pending]
        if nearest_possible(x, tree, node, 0.0) > limit:
            continue
        if tree.children[node] > 0:
            pending[n_pending] = tree.children[node]
            pending[n_pending + 1] = tree.children[node] + 1
            n_pending += 2
            continue
        leaf_squares(x, tree, node, squares)
        begin, end = tree.bounds[node]
        for p in range(begin, end):
            away = np.sqrt(squares[p - begin])
            if ball[p] < 0 and away <= limit and away < foreign:
                members[n_members] = p
                n_members += 1
                radius = max(radius, away)
    return n_members, radius


@compiled
def diffuse(
    tree,
    foreign,
    own,
    queue,
    ball,  # OUT (n,): number of each sample's ball
    centers,  # OUT (n,): the sample that is the centre of each ball
    ball_radii,  # OUT (n,): the radius of each ball
):
    """Grow balls of two samples or more around the samples of the queue; then balls of one.

    Returns the number of balls.
    """
    n, n_nodes = len(queue), len(tree.children)
    stacks = np.empty(n_nodes + 1, np.int64), np.empty(n_nodes + 1), np.empty(n)
    members = np.empty(n, np.int64)
    radii, largest = np.full(n, NO_BALL), np.full(n_nodes, NO_BALL)
    ball[:] = -1
    n_balls = 0
    for center in queue:
        if ball[center] >= 0 or own[center] >= foreign[center]:
            continue
        x = tree.points[center]
        limit = free_radius(x, foreign[center], own[center], tree, radii, largest, stacks)
        if limit < own[center]:
            continue
        n_members, radius = collect_members(x, limit, foreign[center], tree, ball, stacks, members)
        if n_members < 2:
            continue
        for i in range(n_members):
            ball[members[i]] = n_balls
        centers[n_balls], ball_radii[n_balls], radii[center] = center, radius, radius
        n_balls += 1
        # All nodes that hold the centre learn of its ball.
        node = 0
        largest[0] = max(largest[0], radius)
        while tree.children[node] > 0:
            left = tree.children[node]
            node = left if center < tree.bounds[left, 1] else left + 1
            largest[node] = max(largest[node], radius)
    for center in queue:
        if ball[center] < 0:
            ball[center] = n_balls
            centers[n_balls], ball_radii[n_balls] = center, 0.0
            n_balls += 1
    return n_balls
