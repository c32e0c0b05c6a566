"""Compiled loops that weigh the balls of a grown tree, pack it, and walk down it.

The walk of a row stops at a ball with the posterior probability that the ball
is part of the covering. Where a row ends depends on its leaf alone, so each
leaf stores what the whole walk to it predicts.
"""

import numpy as np

from granulearn.balls._compiled import compiled


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
    children, begins, widths, features, directions, thresholds, counts, stops, reach,
    number, kept_nodes,
    packed_children,  # OUT (n_kept,): the left child; at a leaf, minus one minus its number
    packed_offsets,  # OUT (n_kept + 1,)
    packed_features,  # OUT (n_filled,)
    packed_directions,  # OUT (n_filled,)
    packed_thresholds,  # OUT (n_kept,)
    leaf_proba,  # OUT (n_leaves, K)
):  # fmt: skip
    """Copy the nodes that are kept, and give each leaf the posterior of its whole path."""
    n_classes = counts.shape[1]
    posterior = np.zeros((len(packed_children), n_classes))
    n_filled, n_leaves = 0, 0
    for new in range(len(kept_nodes)):
        node = kept_nodes[new]
        left = children[node]
        splits = left > 0 and number[left] >= 0
        # A ball whose children were dropped is a leaf: every walk that comes here stops here.
        stopping = reach[node] * stops[node] if splits else reach[node]
        total = counts[node].sum() + 0.5 * n_classes
        for k in range(n_classes):
            posterior[new, k] += stopping * (counts[node, k] + 0.5) / total
        packed_offsets[new] = n_filled
        packed_thresholds[new] = thresholds[node] if splits else 0.0
        if splits:
            packed_children[new] = number[left]
            posterior[number[left]] = posterior[new]
            posterior[number[left] + 1] = posterior[new]
            for j in range(begins[node], begins[node] + widths[node]):
                packed_features[n_filled] = features[j]
                packed_directions[n_filled] = directions[j]
                n_filled += 1
        else:
            packed_children[new] = -1 - n_leaves
            leaf_proba[n_leaves] = posterior[new]
            n_leaves += 1
    packed_offsets[len(packed_children)] = n_filled


@compiled
def find_leaf(row, children, offsets, features, directions, thresholds):
    """Walk one row down a packed tree; return the number of its leaf."""
    node = 0
    while children[node] > 0:
        begin, end = offsets[node], offsets[node + 1]
        product = row[features[begin]] * directions[begin]
        for j in range(begin + 1, end):
            product += row[features[j]] * directions[j]
        node = children[node] + (1 if product > thresholds[node] else 0)
    return -1 - children[node]


@compiled
def add_posterior(
    rows, seen, children, offsets, features, directions, thresholds, leaf_proba,
    total,  # IN and OUT (m, K)
    n_trees,  # IN and OUT (m,)
):  # fmt: skip
    """Add one tree's posterior to the rows that it did not see; to all if ``seen`` is empty."""
    for i in range(len(rows)):
        if len(seen) > 0 and seen[i]:
            continue
        leaf = find_leaf(rows[i], children, offsets, features, directions, thresholds)
        for k in range(total.shape[1]):
            total[i, k] += leaf_proba[leaf, k]
        n_trees[i] += 1
