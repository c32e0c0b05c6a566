"""Compiled loops that weigh the balls of a grown tree, pack it, and walk rows down to its leaves.

The walk of a row stops at a ball with the posterior probability that the ball
is part of the covering. Where a row ends depends on its leaf alone, so each
leaf stores what the whole walk to it predicts. The same tree can be weighed under
several priors; a leaf then stores the prediction of each, side by side.
"""

import numpy as np

from granulearn.balls._compiled import STACK_SIZE, compiled, copy_into, uncounted
from granulearn.forest._splitter_kernels import log_evidence


@compiled
def weigh_balls(
    counts,
    table,
    evidences,  # OUT (n_nodes,)
):
    """Set the logarithm of the evidence of every ball of a tree."""
    for node in range(len(counts)):
        evidences[node] = log_evidence(counts[node], table)


@compiled
def weigh_tree(
    children,
    evidences,
    stop,
    stops,  # OUT (n_nodes,): probability that the walk stops here, once it is here
    reach,  # OUT (n_nodes,): probability that the walk comes here
):
    """Average the evidence over all coverings by balls of this tree; return its logarithm."""
    log_stop, log_go = np.log(stop), np.log1p(-stop)
    average = np.empty(len(children))
    for node in range(len(children) - 1, -1, -1):
        left = children[node]
        if left == 0:
            average[node] = evidences[node]
            stops[node] = 1.0
            continue
        here = log_stop + evidences[node]
        below = log_go + average[left] + average[left + 1]
        larger = max(here, below)
        average[node] = larger + np.log(np.exp(here - larger) + np.exp(below - larger))
        stops[node] = np.exp(here - average[node])
    reach[0] = 1.0
    for node in range(len(children)):
        if children[node] > 0:
            go_on = reach[node] * (1.0 - stops[node])
            reach[children[node]] = go_on
            reach[children[node] + 1] = go_on
    return average[0]


@compiled
def add_importances(
    children, begins, widths, features, directions, evidences, stops, reach,
    importances,  # IN and OUT (d,)
):  # fmt: skip
    """Add the evidence gained by each split, weighted by the probability of the split.

    The features of a split share the gain by their part in the squared distance of the means.
    """
    for node in range(len(children)):
        left = children[node]
        if left == 0:
            continue
        gain = evidences[left] + evidences[left + 1] - evidences[node]
        begin, end = begins[node], begins[node] + widths[node]
        squares = 0.0
        for j in range(begin, end):
            squares += directions[j] * directions[j]
        gain *= reach[node] * (1.0 - stops[node])
        if gain > 0.0 and squares > 0.0:
            for j in range(begin, end):
                importances[features[j]] += gain * directions[j] * directions[j] / squares


@compiled
def renumber_kept(
    children,
    reach,
    negligible,
    number,  # OUT (n_nodes,): new number of a node that is kept, else -1
    kept_nodes,  # OUT (n_nodes,): the kept nodes come first, by their new number
):
    """Drop the nodes below a ball that the walk hardly leaves; return how many are kept."""
    number[:] = -1
    number[0] = 0
    for node in range(len(children)):
        left = children[node]
        if left > 0 and number[node] >= 0 and reach[left] > negligible:
            number[left] = 0
            number[left + 1] = 0
    # Nodes keep the order in which they were made, so that a walk finds most children near by.
    n_kept = 0
    for node in range(len(children)):
        if number[node] >= 0:
            number[node] = n_kept
            kept_nodes[n_kept] = node
            n_kept += 1
    return n_kept


@compiled
def pack_tree(
    children, begins, widths, features, directions, thresholds, number, kept_nodes,
    packed_children,  # OUT (n_kept,): the left child; at a leaf, minus one minus its number
    packed_offsets,  # OUT (n_kept + 1,)
    packed_features,  # OUT (n_filled,)
    packed_directions,  # OUT (n_filled,)
    packed_thresholds,  # OUT (n_kept,)
):  # fmt: skip
    """Copy the nodes that are kept; a ball whose children were dropped is a leaf."""
    n_filled, n_leaves = 0, 0
    for new in range(len(kept_nodes)):
        node = kept_nodes[new]
        left = children[node]
        splits = left > 0 and number[left] >= 0
        packed_offsets[new] = n_filled
        packed_thresholds[new] = thresholds[node] if splits else 0.0
        if splits:
            packed_children[new] = number[left]
            for j in range(begins[node], begins[node] + widths[node]):
                packed_features[n_filled] = features[j]
                packed_directions[n_filled] = directions[j]
                n_filled += 1
        else:
            packed_children[new] = -1 - n_leaves
            n_leaves += 1
    packed_offsets[len(packed_children)] = n_filled


@compiled
def set_leaf_posteriors(
    packed_children, kept_nodes, counts, alpha, stops, reach,
    leaf_proba,  # OUT (n_leaves, K)
):  # fmt: skip
    """Give each leaf of a packed tree the posterior of its whole path."""
    n_classes = counts.shape[1]
    posterior = np.zeros((len(packed_children), n_classes))
    for new in range(len(packed_children)):
        node, child = kept_nodes[new], packed_children[new]
        # Every walk that comes to a leaf stops there.
        stopping = reach[node] * stops[node] if child > 0 else reach[node]
        total = counts[node].sum() + alpha * n_classes
        for k in range(n_classes):
            posterior[new, k] += stopping * (counts[node, k] + alpha) / total
        if child > 0:
            posterior[child] = posterior[new]
            posterior[child + 1] = posterior[new]
        else:
            leaf_proba[-1 - child] = posterior[new]


@compiled
def mark_equal_leaves(
    children,
    leaf_proba,
    tolerance,
    is_leaf,  # OUT (n_nodes,): true where a walk may end, since all leaves below are equal
    node_proba,  # OUT (n_nodes, K): the posterior there
):
    """Find the balls below which nothing changes the posterior by more than the tolerance."""
    n_classes = leaf_proba.shape[1]
    for node in range(len(children) - 1, -1, -1):
        left = children[node]
        if left <= 0:
            is_leaf[node] = True
            node_proba[node] = leaf_proba[-1 - left]
            continue
        is_leaf[node] = is_leaf[left] and is_leaf[left + 1]
        for k in range(n_classes):
            if abs(node_proba[left, k] - node_proba[left + 1, k]) > tolerance:
                is_leaf[node] = False
        if is_leaf[node]:
            node_proba[node] = 0.5 * (node_proba[left] + node_proba[left + 1])


@uncounted
def project_rows(
    node, columns, offsets, features, directions, rows, start, stop,
    products,  # OUT: set from ``start`` to ``stop``
):  # fmt: skip
    """Set the dot product of a stretch of rows with the direction of a node."""
    begin = offsets[node]
    column, slope = columns[features[begin]], directions[begin]
    for i in range(start, stop):
        products[i] = column[rows[i]] * slope
    for j in range(begin + 1, offsets[node + 1]):
        column, slope = columns[features[j]], directions[j]
        for i in range(start, stop):
            products[i] += column[rows[i]] * slope


@uncounted
def walk(
    columns, children, offsets, features, directions, thresholds,
    rows,  # IN and OUT (m,): the rows to walk, reordered
    spare,  # scratch (m,)
    products,  # scratch (m,)
    pending,  # scratch (S, 3)
    leaves,  # OUT: set at the rows that walk
):  # fmt: skip
    """Find the leaf of each row.

    All rows that come to a node go on from there together, column by column, so none waits
    for its own memory or for a guess of its way.
    """
    pending[0, 0], pending[0, 1], pending[0, 2] = 0, 0, len(rows)
    n_pending, n_visits = 1, 0
    # A tree has each node once, so more visits than nodes would be those of no tree.
    while n_pending > 0 and n_visits < len(children):
        n_pending -= 1
        n_visits += 1
        node, start, stop = pending[n_pending, 0], pending[n_pending, 1], pending[n_pending, 2]
        child = children[node]
        if child < 0:
            for i in range(start, stop):
                leaves[rows[i]] = -1 - child
            continue
        project_rows(node, columns, offsets, features, directions, rows, start, stop, products)
        threshold, middle, to_right = thresholds[node], start, 0
        for i in range(start, stop):
            row, goes_right = rows[i], products[i] > threshold
            spare[to_right] = row
            rows[middle] = row
            to_right += goes_right
            middle += not goes_right
        copy_into(rows, middle, spare, to_right)
        # The smaller part goes first: few ever wait.
        left_first = middle - start < stop - middle
        for right in (left_first, not left_first):
            begin, end = (middle, stop) if right else (start, middle)
            if begin < end:
                pending[n_pending, 0] = child + right
                pending[n_pending, 1], pending[n_pending, 2] = begin, end
                n_pending += 1


@compiled
def find_leaves(
    columns, seen, children, offsets, features, directions, thresholds,
    leaves,  # OUT (m,): number of the leaf; -1 for a row that the tree saw
):  # fmt: skip
    """Find the leaves of the rows that a tree did not see; of all if ``seen`` is empty."""
    n_rows = columns.shape[1]
    # Numbers without a sign: nothing asks whether one is counted from the end.
    rows, spare = np.empty(n_rows, np.uint32), np.empty(n_rows, np.uint32)
    n_walking = 0
    for i in range(n_rows):
        leaves[i] = -1
        rows[n_walking] = i
        n_walking += len(seen) == 0 or not seen[i]
    if n_walking > 0:
        pending = np.empty((STACK_SIZE, 3), np.int64)
        walk(
            columns, children, offsets, features, directions, thresholds, rows[:n_walking],
            spare, np.empty(n_walking), pending, leaves,
        )  # fmt: skip


@compiled
def add_leaves(
    leaves, leaf_proba,
    total,  # IN and OUT (m, K)
):  # fmt: skip
    """Add the prediction of each row's leaf, if it has one."""
    for i in range(len(leaves)):
        if leaves[i] >= 0:
            for k in range(total.shape[1]):
                total[i, k] += leaf_proba[leaves[i], k]


@compiled
def add_children(
    children,
    counts,  # IN counts of leaves, OUT (n_nodes, K)
):
    """Set the counts of each ball to the sum of the balls in it."""
    for node in range(len(children) - 1, -1, -1):
        left = children[node]
        if left > 0:
            for k in range(counts.shape[1]):
                counts[node, k] = counts[left, k] + counts[left + 1, k]
