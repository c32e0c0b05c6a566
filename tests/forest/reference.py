"""The ball forest once more, slow and obvious: lists, recursion and whole numbers."""

from dataclasses import dataclass
from itertools import product
from math import exp, log

import numpy as np
from scipy.special import gammaln

from tests.balls.reference import mixed, uniform


def log_evidence(counts, alpha=0.5):
    """Logarithm of the Dirichlet-multinomial."""
    n_classes = len(counts)
    result = gammaln(alpha * n_classes) - n_classes * gammaln(alpha)
    for count in counts:
        result += gammaln(count + alpha)
    return result - gammaln(sum(counts) + alpha * n_classes)


class Stream:
    """The draws of one node, one after the other."""

    def __init__(self, key):
        self.key, self.counter = key, -1

    def next(self):
        self.counter += 1
        return uniform(self.key, self.counter)

    def one_of(self, things):
        return things[int(self.next() * len(things))]

    def distinct(self, n_wanted, things):
        found = []
        while len(found) < n_wanted:
            drawn = self.one_of(things)
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


@dataclass
class Data:
    """Samples, and what is fixed about the search for splits."""

    X: np.ndarray
    y: np.ndarray
    weights: np.ndarray
    n_classes: int
    search: tuple  # directions, axes, thresholds, rows of a ball that may be spared
    alpha: float
    max_try: int

    def counts(self, rows):
        return class_weights(self.y, self.weights, rows, self.n_classes)

    def evidence(self, rows):
        return log_evidence(self.counts(rows), self.alpha)


class BestSplit:
    """The try of most evidence on the rows that tries are judged on."""

    def __init__(self, data, rows, judged):
        self.data, self.rows, self.judged = data, rows, judged
        self.right, self.evidence = None, 0.0

    def judge(self, features, direction, threshold=None, at_row=None):
        products = self.data.X[:, features] @ direction
        threshold = products[at_row] if threshold is None else threshold
        beyond = products[self.judged] > threshold
        if beyond.all() or not beyond.any():
            return
        evidence = self.data.evidence(self.judged[beyond])
        evidence += self.data.evidence(self.judged[~beyond])
        if self.right is None or evidence > self.evidence + 1e-7:
            self.right, self.evidence = products[self.rows] > threshold, evidence


def best_split(data, rows, judged, live, stream):
    """Return which rows go right, and the features: known constant ones apart, the last first."""
    directions, axes, n_thresholds, spared = data.search
    best = BestSplit(data, rows, judged)
    X, y, weights = data.X, data.y, data.weights
    max_features = max(1, round(X.shape[1] ** 0.5))
    counts = data.counts(judged)
    for _ in range(directions):
        n_used = min(1 + int(stream.next() * max_features), len(live))
        features = stream.distinct(n_used, live)
        first = stream.class_of_a_sample(counts)
        second = stream.class_of_a_sample([0 if k == first else c for k, c in enumerate(counts)])
        a, b = (
            np.average(X[own][:, features], axis=0, weights=weights[own])
            for own in (judged[y[judged] == first], judged[y[judged] == second])
        )
        best.judge(features, b - a, (b - a) @ (a + b) / 2)
        for _more in range(1, min(n_thresholds, len(judged) - 1)):
            best.judge(features, b - a, at_row=stream.one_of(judged))
    live, n_open, n_tried, dead = list(live), len(live), 0, []
    while n_tried < axes and (n_open > 0 or n_tried > 0):
        n_open = n_open or len(live)
        at = int(stream.next() * n_open)
        n_open -= 1
        live[at], live[n_open] = live[n_open], live[at]
        feature = live[n_open]
        if len(set(X[judged, feature])) == 1:
            if len(rows) <= data.max_try:
                live[n_open] = live[-1]
                live.pop()
                dead.insert(0, feature)
            continue
        n_tried += 1
        for _more in range(min(n_thresholds, len(judged) - 1)):
            best.judge([feature], np.ones(1), at_row=stream.one_of(judged))
    if len(judged) <= spared and best.evidence <= data.evidence(judged) + 1e-7:
        return None, live, dead
    return best.right, live, dead


def class_weights(y, weights, rows, n_classes):
    return [weights[rows[y[rows] == k]].sum() for k in range(n_classes)]


def grown_tree(data, rows, key):
    """Return the rows of every node and its left child (0 at a leaf), by node number.

    Which features are live is a set, and their order decides draws: it is that of one
    list, of which each ball knows how many come first.
    """
    members, children = {0: np.asarray(rows)}, {0: 0}
    live = list(range(data.X.shape[1]))
    pending = [(0, len(live))]
    while pending:
        node, n_live = pending.pop()
        own = members[node]
        if len(own) <= 3 or len(np.unique(data.y[own])) < 2 or n_live == 0:
            continue
        stream = Stream(mixed(key ^ mixed(node)))
        # Rows are grouped by class, and stay in their order within it.
        grouped = own[np.argsort(data.y[own], kind="stable")]
        judged = thinned(data.y, grouped, data.max_try, data.n_classes)
        right, still_live, dead = best_split(data, own, judged, live[:n_live], stream)
        live[:n_live] = still_live + dead
        if right is None:
            continue
        left_child = len(members)
        children[node] = left_child
        members[left_child], members[left_child + 1] = own[~right], own[right]
        children[left_child] = children[left_child + 1] = 0
        larger_first = [left_child, left_child + 1]
        if (~right).sum() < right.sum():
            larger_first.reverse()
        # The smaller one is split next.
        pending += [(child, len(still_live)) for child in larger_first]
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


def brute_force_average(children, counts, stop, alpha=0.5):
    """Return log W of the first ball, and the posterior of every leaf of the tree."""
    n_classes = len(counts[0])
    paths = {0: [0]}
    for node, left in enumerate(children):
        if left:
            paths[left] = [*paths[node], left]
            paths[left + 1] = [*paths[node], left + 1]
    total, posterior = 0.0, {node: np.zeros(n_classes) for node in paths if not children[node]}
    for prior, nodes in coverings(children, 0, stop):
        weight = prior * exp(sum(log_evidence(counts[node], alpha) for node in nodes))
        total += weight
        for leaf in posterior:
            (ball,) = set(nodes) & set(paths[leaf])
            share = (np.asarray(counts[ball]) + alpha) / (sum(counts[ball]) + alpha * n_classes)
            posterior[leaf] += weight * share
    return log(total), {leaf: value / total for leaf, value in posterior.items()}
