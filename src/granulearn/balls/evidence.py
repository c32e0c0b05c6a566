"""Evidence balls: as many balls as the labels pay for, and no more."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import ClassVar

import numpy as np

from granulearn._sklearn_compat import Interval
from granulearn.balls.evidence_table import EvidenceTable, evidence_table
from granulearn.balls.makers import (
    BallMaker,
    balls_of_groups,
    in_threads,
    scaled_rows,
)

BUCKET_ROWS = 16_384  # balls of at most so many rows are split further on their own
MAX_FIT_ROWS = 500  # tries on a larger ball are made and judged on so many of its rows


class EvidenceBalls(BallMaker):
    r"""Split a ball only where two balls explain its labels better than one.

    A tree of splits is grown down to pure balls. Of all coverings of the
    samples by balls of this tree, the one whose labels have the most evidence is
    taken. Use it where labels may be wrong: there is no purity to reach, so wrong
    labels stay inside the balls around them. Its weak points are a fine pattern
    with few samples, which looks like noise to it, and networks: tuned on so few
    balls they learn less than on many, and do not gain under noise either.

    Parameters
    ----------
    alpha : float or None, default=None
        Weight that the Dirichlet prior gives each class in a ball. A smaller one
        expects purer balls. None means one over the number of classes.
    split_odds : float, default=0.02
        Prior odds of a split against none, in (0, 1]. With 1, the evidence of two
        balls must exceed that of one; with 0.02, fifty times that.
    n_tries : int, default=4
        Splits tried on a ball: the nearer of two class means first, then the
        nearer of two means of all its samples, each from other seeds. The one
        with the most evidence is taken.

    Notes
    -----
    With :math:`n_k` samples of class k, n in all and K classes, the evidence of a
    ball is the Dirichlet-multinomial one of the ball forest,

    .. math:: E = \frac{\Gamma(K \alpha)}{\Gamma(n + K \alpha)}
        \prod_k \frac{\Gamma(n_k + \alpha)}{\Gamma(\alpha)}.

    For two classes, :math:`\alpha` is 1/2 as it is there. For many it is smaller:
    with 1/2 for each of 200 classes, twenty samples of one class are no
    evidence against the others, and balls of different classes are not split.

    A covering by m balls weighs :math:`\rho^{m - 1} \prod E`, where
    :math:`\rho` is `split_odds`. The heaviest one follows from the bottom up:
    :math:`B = \max(E, \rho B_l B_r)`, so a split that does not pay at once is kept if
    splits below it make up for it. A ball is not split where even one ball for
    each of its classes could not weigh more.

    The default of `split_odds` was chosen on planted label noise, in training
    parts of the benchmark sets (``benchmarks/compare_split_odds.py``). With odds of
    1, balls split noise: a small ball with a wrong label weighs less than pure
    ones of one or two samples. With 0.02 or 0.01, GB-RVFL as it comes did best
    or nearly so at every noise rate, and the nearest ball from 20 % wrong
    labels on. With clean labels it lost several points: two-means balls are
    the better choice for it.

    Tries on a ball of more than 500 samples are made and judged on that many of
    them; all its samples are then assigned.

    Examples
    --------
    >>> from granulearn.balls import EvidenceBalls, generate_balls
    >>> X = [[i / 10] for i in range(10)] + [[5 + i / 10] for i in range(10)]
    >>> y = list("aaaabaaaaabbbbbbbbbb")  # one of them is wrong
    >>> balls = generate_balls(X, y, balls=EvidenceBalls(), random_state=0)
    >>> balls.counts, balls.purities
    (array([10, 10]), array([0.9, 1. ]))
    """

    name = "evidence"
    _parameter_constraints: ClassVar[dict] = {
        "alpha": [Interval(Real, 0, None, closed="neither"), None],
        "split_odds": [Interval(Real, 0, 1, closed="right")],
        "n_tries": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(self, alpha=None, split_odds=0.02, n_tries=4):
        self.alpha = alpha
        self.split_odds = split_odds
        self.n_tries = n_tries

    def _make(self, samples, seed, n_threads):
        n_classes = len(samples.classes)
        alpha = 1 / n_classes if self.alpha is None else float(self.alpha)
        rule = EvidenceRule(
            n_classes=n_classes,
            n_tries=self.n_tries,
            log_odds=float(np.log(self.split_odds)),
            table=evidence_table(len(samples), n_classes, alpha),
        )
        return balls_of_groups(
            samples, best_covering(samples.X, samples.codes, rule, seed, n_threads)
        )


@dataclass(frozen=True, eq=False)
class EvidenceRule:
    """What decides a covering, apart from the data."""

    n_classes: int
    n_tries: int
    log_odds: float
    table: EvidenceTable
    max_fit_rows: int = MAX_FIT_ROWS


@dataclass(frozen=True, eq=False)
class EvidenceTree:
    """A tree of balls, as parallel arrays over its nodes; children come after their parent."""

    order: np.ndarray
    """The rows, leaf by leaf."""
    bounds: np.ndarray
    """(n_nodes, 2) the stretch of `order` that each node is."""
    children: np.ndarray
    """(n_nodes,) the left child, which the right one follows; 0 at a leaf."""
    keys: np.ndarray
    """(n_nodes,) the key of its random numbers."""
    evidences: np.ndarray
    """(n_nodes,) logarithm of the evidence of each node as one ball."""


def best_covering(
    X: np.ndarray,
    codes: np.ndarray,
    rule: EvidenceRule,
    seed: int,
    n_threads: int,
    bucket_rows: int = BUCKET_ROWS,
) -> np.ndarray:
    """Return the number of each row's ball in the covering of most evidence.

    The first splits are made one after the other. Each ball of at most
    `bucket_rows` rows is then covered on its own, in parallel with the others;
    the evidence of its covering decides which of the first splits are kept.
    """
    rows = scaled_rows(X)
    top = grow_tree(rows, codes, np.uint64(seed), rule, bucket_rows)
    leaves = np.flatnonzero(top.children == 0).tolist()

    def cover(leaf: int) -> tuple[np.ndarray, np.ndarray, float]:
        own = top.order[slice(*top.bounds[leaf])]
        below = grow_tree(rows[own], codes[own], top.keys[leaf], rule, 0)
        chosen, evidence = choose_covering(below, below.evidences, rule.log_odds)
        return own[below.order], below.bounds[chosen, 0], evidence

    order, evidences = top.order.copy(), top.evidences.copy()
    begins_ball = np.zeros(len(X), dtype=bool)
    for leaf, (own, begins, evidence) in zip(
        leaves, in_threads(cover, leaves, n_threads), strict=True
    ):
        order[slice(*top.bounds[leaf])] = own
        evidences[leaf] = evidence
        begins_ball[top.bounds[leaf, 0] + begins] = True
    chosen, _ = choose_covering(top, evidences, rule.log_odds)
    for start, stop in top.bounds[chosen & (top.children > 0)]:
        begins_ball[start + 1 : stop] = False
    groups = np.empty(len(X), dtype=np.int64)
    groups[order] = np.cumsum(begins_ball) - 1
    return groups


def grow_tree(
    rows: np.ndarray, codes: np.ndarray, key: np.uint64, rule: EvidenceRule, max_leaf_rows: int
) -> EvidenceTree:
    """Split balls of more than `max_leaf_rows` rows as long as it could pay."""
    from granulearn.balls import _evidence_kernels

    n = len(rows)
    # Large balls may be split unevenly, and a leaf may also stay too large: it is split later.
    max_nodes = 2 * n if max_leaf_rows == 0 else 64 * (n // max_leaf_rows) + 1
    order, bounds = np.empty(n, np.int64), np.empty((max_nodes, 2), np.int64)
    children, keys = np.empty(max_nodes, np.int64), np.empty(max_nodes, np.uint64)
    evidences = np.empty(max_nodes)
    n_nodes = _evidence_kernels.grow_evidence_tree(
        rows, codes, key, max_leaf_rows, rule.max_fit_rows, rule.n_tries, rule.log_odds,
        rule.table, rule.n_classes, order, bounds, children, keys, evidences,
    )  # fmt: skip
    return EvidenceTree(
        order, bounds[:n_nodes], children[:n_nodes], keys[:n_nodes], evidences[:n_nodes]
    )


def choose_covering(
    tree: EvidenceTree, evidences: np.ndarray, log_odds: float
) -> tuple[np.ndarray, float]:
    """Return which nodes are the balls of the heaviest covering, and its logarithmic weight."""
    from granulearn.balls import _evidence_kernels

    best, chosen = evidences.copy(), np.empty(len(evidences), np.uint8)
    _evidence_kernels.choose_covering(tree.children, log_odds, best, chosen)
    return chosen.astype(bool), float(best[0])
