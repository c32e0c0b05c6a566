"""The ball forest once more, slow and obvious: lists, recursion and whole numbers."""

from itertools import product
from math import exp, log

import numpy as np
from scipy.special import gammaln

from tests.balls.reference import mixed, uniform


def log_evidence(counts):
    """Logarithm of the Dirichlet-multinomial with alpha = 1/2, summed as in the kernel."""
    n_classes = len(counts)
    result = gammaln(0.5 * n_classes) - n_classes * gammaln(0.5)
    for count in counts:
        result += gammaln(count + 0.5)
    return result - gammaln(sum(counts) + 0.5 * n_classes)


def drawn_rows(key, n_rows, n_wanted):
    """Selection sampling: take a row with the share still wanted of the rows still left."""
    taken = []
    for row in range(n_rows):
        if uniform(key, row) * (n_rows - row) < n_wanted - len(taken):
            taken.append(row)
    return taken


class Stream:
    """The draws of one node, one after the other."""

    def __init__(self, key):
        self.key, self.counter = key, -1

    def next(self):
        self.counter += 1
        return uniform(self.key, self.counter)

    def distinct(self, n_wanted, n):
        found = []
        while len(found) < n_wanted:
            drawn = int(self.next() * n)
            if drawn not in found:
                found.append(drawn)
        return found

    def class_of_a_sample(self, counts):
        beyond = np.flatnonzero(np.cumsum(counts) > self.next() * sum(counts))
        return int(beyond[0])


def thinned(y, rows, max_try, n_classes):
    """Return rows at even steps of each class: its share of max_try, at least one."""
    if len(rows) <= max_try:
        return rows
    parts = []
    for k in range(n_classes):
        own = rows[y[rows] == k]
        n_own = max(len(own) * max_try // len(rows), min(len(own), 1))
        parts += [own[i * len(own) // n_own] for i in range(n_own)]
    return np.array(parts)


def best_split(X, y, weights, rows, judged, stream, n_tries, max_features, n_classes):
    """Return which rows go right by the try of most evidence on the rows it is judged on."""
    best, best_evidence = None, 0.0
    counts = class_weights(y, weights, judged, n_classes)
    for _ in range(n_tries):
        n_used = 1 + int(stream.next() * max_features)
        features = stream.distinct(n_used, X.shape[1])
        first = stream.class_of_a_sample(counts)
        second = stream.class_of_a_sample([0 if k == first else c for k, c in enumerate(counts)])
        means = [
            np.average(X[own][:, features], axis=0, weights=weights[own])
            for own in (judged[y[judged] == first], judged[y[judged] == second])
        ]
        near_second = nearer_to_second(X[judged][:, features], means)
        if near_second.all() or not near_second.any():
            continue
        evidence = log_evidence(class_weights(y, weights, judged[near_second], n_classes))
        evidence += log_evidence(class_weights(y, weights, judged[~near_second], n_classes))
        if best is None or evidence > best_evidence + 1e-7:
            best = nearer_to_second(X[rows][:, features], means)
            best_evidence = evidence
    return best


def nearer_to_second(points, means):
    first, second = (((points - mean) ** 2).sum(axis=1) for mean in means)
    return second < first


def class_weights(y, weights, rows, n_classes):
    return [weights[rows[y[rows] == k]].sum() for k in range(n_classes)]


def grown_tree(X, y, weights, rows, key, n_tries, max_features, n_classes, max_try):
    """Return the rows of every node and its left child (0 at a leaf), by node number."""
    members, children = {0: np.asarray(rows)}, {0: 0}
    pending = [0]
    while pending:
        node = pending.pop()
        own = members[node]
        if len(own) <= 3 or len(np.unique(y[own])) < 2:
            continue
        stream = Stream(mixed(key ^ mixed(node)))
        judged = thinned(y, own, max_try, n_classes)
        right = best_split(X, y, weights, own, judged, stream, n_tries, max_features, n_classes)
        if right is None:
            continue
        left_child = len(members)
        children[node] = left_child
        members[left_child], members[left_child + 1] = own[~right], own[right]
        children[left_child] = children[left_child + 1] = 0
        larger_first = [left_child, left_child + 1]
        if (~right).sum() < right.sum():
            larger_first.reverse()
        pending += larger_first  # the smaller one is split next
    return members, children


def coverings(children, node, stop):
    """Yield (prior, nodes) of every way to cover a ball by balls of its tree."""
    left = children[node]
    if left == 0:
        yield 1.0, [node]
        return
    yield stop, [node]
    for (p, a), (q, b) in product(
        list(coverings(children, left, stop)), list(coverings(children, left + 1, stop))
    ):
        yield (1 - stop) * p * q, a + b


def brute_force_average(children, counts, stop):
    """Return log W of the first ball, and the posterior of every leaf of the tree."""
    n_classes = len(counts[0])
    paths = {0: [0]}
    for node, left in enumerate(children):
        if left:
            paths[left] = [*paths[node], left]
            paths[left + 1] = [*paths[node], left + 1]
    total, posterior = 0.0, {node: np.zeros(n_classes) for node in paths if not children[node]}
    for prior, nodes in coverings(children, 0, stop):
        weight = prior * exp(sum(log_evidence(counts[node]) for node in nodes))
        total += weight
        for leaf in posterior:
            (ball,) = set(nodes) & set(paths[leaf])
            share = (np.asarray(counts[ball]) + 0.5) / (sum(counts[ball]) + 0.5 * n_classes)
            posterior[leaf] += weight * share
    return log(total), {leaf: value / total for leaf, value in posterior.items()}
