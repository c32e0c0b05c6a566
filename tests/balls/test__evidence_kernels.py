"""The compiled loops of the evidence maker against slow twins."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import gammaln

from granulearn.balls import _evidence_kernels
from granulearn.balls.evidence_table import evidence_table
from tests.balls import reference

TIE = 1e-7


def log_evidence(counts, alpha):
    """Logarithm of the Dirichlet-multinomial."""
    counts = np.asarray(counts, float)
    K = len(counts)
    return (
        gammaln(K * alpha)
        - gammaln(counts.sum() + K * alpha)
        + np.sum(gammaln(counts + alpha) - gammaln(alpha))
    )


@st.composite
def small_trees(draw):
    """A tree of up to six leaves, its nodes numbered as kernels do, with an evidence for each."""
    children = [0]
    for _ in range(draw(st.integers(0, 5))):
        leaves = [node for node, left in enumerate(children) if left == 0]
        children[draw(st.sampled_from(leaves))] = len(children)
        children += [0, 0]
    evidences = draw(st.lists(st.integers(-9, 0), min_size=len(children), max_size=len(children)))
    return children, np.array(evidences, float), draw(st.sampled_from([0.0, -0.5, -2.0]))


def coverings(children, node):
    """Return all coverings of a node by balls of the tree, as lists of nodes."""
    found = [[node]]
    if children[node]:
        left, right = (coverings(children, children[node] + side) for side in (0, 1))
        found += [a + b for a, b in product(left, right)]
    return found


@given(small_trees())
def test_the_chosen_covering_is_the_heaviest_of_all(tree):
    children, evidences, log_odds = tree
    best, chosen = evidences.copy(), np.empty(len(children), np.uint8)
    _evidence_kernels.choose_covering(np.array(children), log_odds, best, chosen)

    def weight(covering):
        return sum(evidences[covering]) + log_odds * (len(covering) - 1)

    everything = coverings(children, 0)
    heaviest = max(map(weight, everything))
    mine = np.flatnonzero(chosen).tolist()
    assert sorted(mine) in [sorted(covering) for covering in everything]
    assert weight(mine) == pytest.approx(heaviest)
    assert best[0] == pytest.approx(heaviest)
    # A tie goes to the larger ball.
    assert len(mine) == min(len(c) for c in everything if weight(c) == pytest.approx(heaviest))


@given(
    counts=st.lists(st.integers(0, 9), min_size=1, max_size=4).filter(any),
    alpha=st.sampled_from([0.1, 0.5, 2.0]),
    log_odds=st.sampled_from([0.0, -2.3]),
)
def test_evidence_is_that_of_scipy_and_the_bound_is_one_ball_per_class(counts, alpha, log_odds):
    y = np.repeat(np.arange(len(counts)), counts).astype(np.int32)
    table = evidence_table(len(y), len(counts), alpha)
    evidence, bound = _evidence_kernels.evidence_and_bound(
        y, np.arange(len(y)), 0, len(y), log_odds, table, np.empty(len(counts))
    )
    assert evidence == pytest.approx(log_evidence(counts, alpha))
    present = [k for k, count in enumerate(counts) if count]
    pure = [log_evidence(np.eye(len(counts))[k] * counts[k], alpha) for k in present]
    assert bound == pytest.approx(sum(pure) + (len(present) - 1) * log_odds)


@given(
    own=st.integers(0, 20), other=st.integers(0, 20), K=st.integers(1, 5),
    alpha=st.sampled_from([0.01, 0.5, 3.0]),
)  # fmt: skip
def test_to_split_samples_of_one_class_never_pays(own, other, K, alpha):
    """The law that the bound rests on."""
    one = np.zeros(K)
    one[0] = own + other
    parts = np.zeros((2, K))
    parts[:, 0] = own, other
    split = log_evidence(parts[0], alpha) + log_evidence(parts[1], alpha)
    assert split <= log_evidence(one, alpha) + 1e-9


def reference_tree(X, y, rows, key, K, alpha, log_odds, n_tries, max_fit, tree):
    """Grow the tree below one ball: a list of (rows, evidence, left, right)."""
    counts = np.bincount(y[rows], minlength=K)
    evidence = log_evidence(counts, alpha)
    pure = [log_evidence(np.eye(K)[k] * counts[k], alpha) for k in np.flatnonzero(counts)]
    if evidence + TIE >= sum(pure) + (len(pure) - 1) * log_odds or len(np.unique(X[rows], 0)) == 1:
        return rows, evidence, None
    fitted = reference.fitted_rows(rows, key, max_fit)
    best, right = None, None
    for attempt in range(n_tries):
        own = reference.mixed(key ^ reference.mixed(2 + attempt))
        if attempt == 0:
            first = y[fitted[int(reference.uniform(own, 0) * len(fitted))]]
            others = fitted[y[fitted] != first]
            if len(others) == 0:
                continue
            second = y[others[int(reference.uniform(own, 1) * len(others))]]
            means = np.stack([X[fitted[y[fitted] == c]].mean(axis=0) for c in (first, second)])
        else:
            seeds = reference.seeds_plus_plus(X[fitted], own)
            if seeds is None:
                continue
            means = reference.two_means(X[fitted], seeds)
        goes = sides(X[fitted], means)
        if goes.all() or not goes.any():
            continue
        gain = sum(
            log_evidence(np.bincount(y[fitted[side]], minlength=K), alpha) for side in (goes, ~goes)
        )
        if best is None or gain > best + TIE:
            best, right = gain, sides(X[rows], means)
    keys = [reference.mixed(key ^ reference.mixed(part)) for part in (0, 1)]
    halves = [
        reference_tree(X, y, half, child, K, alpha, log_odds, n_tries, max_fit, tree)
        for half, child in zip((rows[~right], rows[right]), keys, strict=True)
    ]
    return rows, evidence, halves


def sides(points, means):
    distances = ((points[:, None, :] - means[None]) ** 2).sum(axis=2)
    return distances[:, 1] < distances[:, 0]


def leaves_of(node):
    rows, evidence, halves = node
    return [(rows, evidence)] if halves is None else leaves_of(halves[0]) + leaves_of(halves[1])


@settings(max_examples=60)
@given(
    shape=st.tuples(st.integers(2, 120), st.integers(1, 5)),
    n_classes=st.integers(2, 4),
    data_seed=st.integers(0, 10**6),
    key=st.integers(0, 2**64 - 1),
    n_tries=st.integers(2, 4),
    max_fit=st.sampled_from([10, 1000]),
    odds=st.sampled_from([1.0, 0.1]),
)
def test_trees_equal_those_of_the_slow_twin(
    shape, n_classes, data_seed, key, n_tries, max_fit, odds
):
    rng = np.random.RandomState(data_seed)
    X, n = rng.standard_normal(shape), shape[0]
    y = rng.randint(n_classes, size=n).astype(np.int32)
    table = evidence_table(n, n_classes, 0.5)
    order, bounds = np.empty(n, np.int64), np.empty((2 * n, 2), np.int64)
    children, keys = np.empty(2 * n, np.int64), np.empty(2 * n, np.uint64)
    evidences = np.empty(2 * n)
    n_nodes = _evidence_kernels.grow_evidence_tree(
        X, y, np.uint64(key), 0, max_fit, n_tries, np.log(odds), table, n_classes,
        order, bounds, children, keys, evidences,
    )  # fmt: skip
    grown = sorted(node for node in range(n_nodes) if children[node] == 0)
    grown.sort(key=lambda node: bounds[node, 0])
    expected = leaves_of(
        reference_tree(X, y, np.arange(n), key, n_classes, 0.5, np.log(odds), n_tries, max_fit, [])
    )
    assert len(grown) == len(expected)
    for node, (rows, evidence) in zip(grown, expected, strict=True):
        assert_array_equal(order[slice(*bounds[node])], rows)
        assert_allclose(evidences[node], evidence)
