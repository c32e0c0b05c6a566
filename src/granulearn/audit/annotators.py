"""Consensus of several annotators: their labels, how good each of them is, and the inputs.

Row i has the true class z_i; annotator a gave it the label l_ia. With the consensus
``q_i(k) = P(z_i = k)`` and the weights w_ia of annotations (one, shared by dependent annotators):

- **Counts**: ``N_a[k, l]`` is the sum of ``w_ia q_i(k)`` over the labels ``l_ia = l``.
- **Confusion** of each annotator: ``(N_a + c M_a) / (sum of N_a over labels + c)``. ``M_a`` is the
  confusion of all annotators together, shifted by ``delta_a`` in the log-odds of a right label;
  ``delta_a ~ N(0, v)``, with v and the concentration c by empirical Bayes.
- **Likelihood** ``e_ia(k)``: the logarithm of that confusion at ``l_ia``, by counts without row i.
- **Inputs**: ``p_i``, by models that did not see row i: a ball forest out of bag, and an exact
  leave-one-out ridge on random features. The prior of a row is
  ``pi_i(k) ~ rho_k (p_i(k) / mean of p(k))^tau`` with the mean rho of q.
- **Consensus**: ``q_i(k) ~ pi_i(k) exp(sum over a of e_ia(k))``; verified rows are fixed.

The share of the ridge in p, and tau, have the largest left-out likelihood of the annotations.
With ``tau = 0``, inputs count for nothing.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array
from scipy.special import betaincinv, expit, gammaln, logit, logsumexp, ndtri
from sklearn.preprocessing import scale

from granulearn.balls.ball_set import power_of_two_scale
from granulearn.forest import BallForestClassifier
from granulearn.rvfl import RVFLEnsembleRegressor

if TYPE_CHECKING:
    import pandas as pd

MAX_ROUNDS = 6
STEPS_WITHOUT_INPUTS, STEPS_TO_CHOOSE, STEPS = 12, 4, 12
SHARES, TAUS = (0.0, 0.5, 1.0), (0.4, 0.7, 1.0, 1.5, 2.2, 3.3)
# The best of 18 choices must be ahead of no inputs by more than chance.
LEAST_GAIN = 3.0
CONVERGED, FEW_MOVED = 3e-3, 3e-3
CONCENTRATIONS = 2.0 ** np.arange(9)
TYPICAL_CONCENTRATION, TYPICAL_ACCURACY = 16, 0.75
TEMPERATURES = np.array([1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0])
LEAST_WEIGHT, DECIMALS, N_NETWORKS = 0.02, 6, 4
# Copies have at least this number of rows in common and this excess of agreement. Among independent
# annotators, one pair is found with this probability.
LEAST_IN_COMMON, DEPENDENT, BY_CHANCE = 10, 0.4, 0.01


@dataclass(frozen=True, eq=False)
class Annotations:
    """Labels by annotators, one entry per annotation."""

    rows: np.ndarray
    """(m,) number of the row."""
    annotators: np.ndarray
    """(m,) number of the annotator."""
    labels: np.ndarray
    """(m,) number of the class."""
    weights: np.ndarray
    """(m,) one; less for annotations of a row by dependent annotators, who count as one."""
    n_rows: int
    names: np.ndarray
    """(n_annotators,) the annotators."""
    classes: np.ndarray
    """(K,) the class labels, sorted."""

    @cached_property
    def votes(self) -> np.ndarray:
        """(n_rows, K) weight of the labels."""
        return self.sum_by_row(np.eye(len(self.classes))[self.labels] * self.weights[:, None])

    @cached_property
    def n_labels(self) -> np.ndarray:
        """(n_rows,) how many annotators gave each row a label."""
        return np.bincount(self.rows, minlength=self.n_rows)

    @cached_property
    def codes(self) -> np.ndarray:
        """(n_rows, n_annotators) number of the class, -1 where there is no label."""
        codes = np.full((self.n_rows, len(self.names)), -1, dtype=np.int32)
        codes[self.rows, self.annotators] = self.labels
        return codes

    @cached_property
    def cells(self) -> np.ndarray:
        """(m,) number of annotator and label."""
        return self.annotators * len(self.classes) + self.labels

    def sum_by_row(self, values: np.ndarray) -> np.ndarray:
        """Return sums over the annotations of each row, (n_rows, K)."""
        return np.column_stack([np.bincount(self.rows, one, self.n_rows) for one in values.T])


@dataclass(frozen=True, eq=False)
class Consensus:
    """What is known of the true classes, and of the annotators."""

    annotations: Annotations
    proba: np.ndarray
    """(n, K) probability of each class."""
    prior: np.ndarray
    """(n, K) what the inputs say, apart from the labels of the row."""
    likelihood: np.ndarray
    """(m, K) logarithm of the probability of each annotation, by true class."""
    counts: np.ndarray
    """(n_annotators, K, K) expected number of labels by annotator, true class and label."""
    confusion: np.ndarray
    """(n_annotators, K, K) probability of each label."""
    concentration: float
    prevalence: np.ndarray
    """(K,) share of each class."""
    fixed: np.ndarray
    """(n,) number of the verified class, or -1."""
    value: float
    """Left-out log-likelihood of the annotations."""
    tau: float = 0.0
    """Exponent of the inputs; zero means that they do not count."""
    ridge_share: float = 0.0
    temperature: float = 1.0
    """Sums of logarithms are divided by it: annotators are less independent than the model."""

    @cached_property
    def labels(self) -> np.ndarray:
        """(n,) number of the most probable class."""
        return self.proba.argmax(axis=1)

    @cached_property
    def log_joint(self) -> np.ndarray:
        """(n, K) logarithm of the probability of class and annotations."""
        return np.log(self.prior) + self.annotations.sum_by_row(self.likelihood)

    @cached_property
    def unverified_proba(self) -> np.ndarray:
        """(n, K) probability of each class by annotators and inputs, of verified rows too."""
        return _normalised(self.log_joint / self.temperature)

    @cached_property
    def without_annotation(self) -> np.ndarray:
        """(m, K) class probabilities of the row of each annotation, without that annotation."""
        rows = self.annotations.rows
        without = _normalised((self.log_joint[rows] - self.likelihood) / self.temperature)
        is_fixed = self.fixed[rows] >= 0
        without[is_fixed] = self.proba[rows[is_fixed]]
        return without

    def annotator_table(self) -> pd.DataFrame:
        """Return one row per annotator: how many labels, how good, what they are worth."""
        import pandas as pd

        given, A = self.annotations, len(self.annotations.names)
        accuracy = np.einsum("k,akk->a", self.prevalence, self.confusion)
        seen = self.counts.sum(axis=(1, 2)) + 2
        right, wrong = accuracy * seen, (1 - accuracy) * seen
        joint = self.prevalence[:, None] * self.confusion
        by_label = joint.sum(axis=1, keepdims=True)
        information = (joint * np.log(self.confusion / by_label)).sum(axis=(1, 2))
        entropy = -(self.prevalence * np.log(self.prevalence)).sum()
        others = given.n_labels[given.rows] - 1
        cells = given.rows * len(given.classes) + given.labels
        agree = (np.bincount(cells)[cells] - 1) / np.maximum(others, 1)
        n_shared = np.bincount(given.annotators, others > 0, A)
        n_agree = np.bincount(given.annotators, agree * (others > 0), A)
        own = self.proba[given.rows]
        best = own.max(axis=1)
        lost = best - own[np.arange(len(own)), self.without_annotation.argmax(axis=1)]
        columns = {
            "n_labels": np.bincount(given.annotators, minlength=A),
            "accuracy": accuracy,
            "accuracy_low": betaincinv(right, wrong, 0.025),
            "accuracy_high": betaincinv(right, wrong, 0.975),
            "information": information / max(entropy, 1e-12),
            "agreement": n_agree / np.where(n_shared > 0, n_shared, np.nan),
            "cost_of_leaving_out": np.bincount(given.annotators, lost, A),
        }
        return pd.DataFrame(columns, index=pd.Index(given.names, name="annotator"))

    def gain_of_label(self) -> np.ndarray:
        """Return, for each row, how much surer one more label by a typical annotator makes it."""
        labels_of = self.counts.sum(axis=(1, 2))
        typical = np.einsum("a,akl->kl", labels_of / labels_of.sum(), self.confusion)
        joint = self.proba[:, :, None] * typical
        gain = joint.max(axis=1).sum(axis=1) - self.proba.max(axis=1)
        return np.where(self.fixed >= 0, 0, gain)


def fit_consensus(
    annotations: Annotations, X: np.ndarray | None, fixed: np.ndarray, *,
    proba: np.ndarray | None = None, groups: np.ndarray | None = None, seed: int = 0,
    **settings: Any,
) -> Consensus:  # fmt: skip
    """Estimate true classes and annotators together, by annotations and inputs.

    Parameters
    ----------
    annotations : Annotations
        The labels, of two or more classes.
    X : ndarray of shape (n, n_features) or None
        Inputs; None uses the labels alone, or ``proba``.
    fixed : ndarray of shape (n,)
        Number of the verified class of each row, or -1.
    proba : ndarray of shape (n, K), default=None
        Class probabilities by a model that did not see the rows, in the place of ours. A row of
        NaN is unknown.
    groups : ndarray of shape (n,), default=None
        Number of the group of each row: no model that rates a row has seen its group.
    seed : int, default=0
        Of forest and networks.
    **settings : object
        Of the forest.
    """
    model = _Model(annotations, fixed)
    best = model.run(model.start(), None, STEPS_WITHOUT_INPUTS)
    for round_number in range(MAX_ROUNDS if X is not None or proba is not None else 0):
        q = best.proba.round(DECIMALS)  # or the forest would amplify rounding
        if proba is not None:
            choices = {0.0: _known_proba(proba, q)}
        else:
            choices = _predictions(X, q, groups, random_state=seed + round_number, **settings)
        least = model.run(q, None, STEPS_TO_CHOOSE).value + LEAST_GAIN
        chosen: tuple[Any, dict[str, Any]] = (None, {})
        for (share, predicted), tau in product(choices.items(), TAUS):
            inputs = tau * (np.log(predicted) - np.log(predicted.mean(axis=0)))
            value = model.run(q, inputs, STEPS_TO_CHOOSE).value
            if value > least:
                # Equal but for rounding is no reason to change.
                least = value + 1e-6 * abs(value)
                chosen = inputs, {"tau": tau, "ridge_share": share}
        before = best
        if chosen[1] or best.tau:
            best = replace(model.run(q, chosen[0], STEPS), **chosen[1])
        if not chosen[1] or (round_number and (before.labels != best.labels).mean() < FEW_MOVED):
            break
    return model.tempered(best)


class _Model:
    """Steps of expectation and maximisation on the same annotations."""

    def __init__(self, annotations: Annotations, fixed: np.ndarray):
        self.given, self.fixed = annotations, fixed
        self.is_fixed = fixed >= 0
        self.known = self.is_fixed | (annotations.n_labels > 0)
        self.K = len(annotations.classes)

    def start(self) -> np.ndarray:
        """Return the shares of votes, smoothed by one vote as all annotations are."""
        votes = self.given.votes
        votes = votes + votes.sum(axis=0) / votes.sum()
        return self._with_verified(votes / votes.sum(axis=1, keepdims=True))

    def run(self, q: np.ndarray, inputs: np.ndarray | None, n_steps: int) -> Consensus:
        """Return the consensus after some steps from q, with the log-odds of the inputs fixed."""
        given, K, weights = self.given, self.K, self.given.weights[:, None]
        A = len(given.names)
        for _ in range(n_steps):
            own = q[given.rows] * weights
            N = np.column_stack([np.bincount(given.cells, own[:, k], A * K) for k in range(K)])
            counts = N.reshape(A, K, K).transpose(0, 2, 1)
            expected, c = _expected_confusion(counts)
            confusion = (counts + c * expected) / (counts.sum(axis=2, keepdims=True) + c)
            M = expected.transpose(0, 2, 1).reshape(A * K, K)
            some = np.maximum(N[given.cells] - own, 0) + c * M[given.cells]
            whole = np.maximum(counts.sum(axis=2)[given.annotators] - own, 0) + c
            likelihood = weights * np.log(some / whole)
            rho = (q[self.known].sum(axis=0) + 1) / (self.known.sum() + K)
            prior = _normalised(np.log(rho) + (np.zeros_like(q) if inputs is None else inputs))
            joint = np.log(prior) + given.sum_by_row(likelihood)
            before, q = q, self._with_verified(_normalised(joint))
            if np.abs(q - before).max() < CONVERGED:
                break
        values = logsumexp(joint, axis=1)
        values[self.is_fixed] = joint[self.is_fixed, self.fixed[self.is_fixed]]
        value = float(values[self.known].sum())
        return Consensus(given, q, prior, likelihood, counts, confusion, c, rho, self.fixed, value)

    def tempered(self, found: Consensus) -> Consensus:
        """Return the consensus less confident, if annotations that were left out ask for it."""
        values = []
        for temperature in TEMPERATURES:
            without = replace(found, temperature=temperature).without_annotation
            values.append(np.log((without * np.exp(found.likelihood)).sum(axis=1)).sum())
        found = replace(found, temperature=float(TEMPERATURES[int(np.argmax(values))]))
        return replace(found, proba=self._with_verified(found.unverified_proba))

    def _with_verified(self, q: np.ndarray) -> np.ndarray:
        q = q.copy()
        q[self.is_fixed] = np.eye(self.K)[self.fixed[self.is_fixed]]
        return q


def _expected_confusion(counts: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the confusion that each annotator has but for chance, and its concentration."""
    A, K = counts.shape[:2]
    pooled, diagonal = counts.sum(axis=0), np.arange(K)
    n = pooled.sum()
    right = (np.trace(pooled) + TYPICAL_ACCURACY * np.sqrt(n)) / (n + np.sqrt(n))
    equal = np.full((K, K), (1 - right) / (K - 1))
    equal[diagonal, diagonal] = right
    pool = (pooled + np.sqrt(n) * equal) / (pooled.sum(axis=1, keepdims=True) + np.sqrt(n))
    odds = logit(np.clip(pool[diagonal, diagonal], 1e-3, 1 - 1e-3))
    rights, totals = counts[:, diagonal, diagonal], counts.sum(axis=2)
    shift, variance = np.zeros(A), 1.0
    for _ in range(12):
        for _ in range(4):  # Newton's steps to the mode
            accuracy = expit(odds + shift[:, None])
            slope = (rights - totals * accuracy).sum(axis=1) - shift / variance
            curvature = (totals * accuracy * (1 - accuracy)).sum(axis=1) + 1 / variance
            shift = np.clip(shift + np.clip(slope / curvature, -1, 1), -6, 6)
        before, variance = variance, np.clip((shift**2 + 1 / curvature).mean(), 0.05, 9)
        variance = variance if A >= 3 else 1.0
        if abs(variance - before) < 1e-3:
            break
    accuracy = expit(odds + shift[:, None])
    errors = pool.copy()
    errors[diagonal, diagonal] = 0
    errors /= errors.sum(axis=1, keepdims=True)
    expected = (1 - accuracy)[:, :, None] * errors
    expected[:, diagonal, diagonal] = accuracy
    expected = np.clip(expected, 1e-4, 1)
    expected /= expected.sum(axis=2, keepdims=True)
    c = CONCENTRATIONS[:, None, None]
    # Dirichlet-multinomial likelihood of the counts; what does not depend on c is left out.
    alpha = c[..., None] * expected
    evidence = (gammaln(c) - gammaln(c + totals)).sum(axis=(1, 2))
    evidence += (gammaln(alpha + counts) - gammaln(alpha)).sum(axis=(1, 2, 3))
    evidence -= np.log(CONCENTRATIONS / TYPICAL_CONCENTRATION) ** 2 / 2
    return expected, float(CONCENTRATIONS[int(evidence.argmax())])


def _predictions(
    X: Any, q: np.ndarray, groups: np.ndarray | None, **settings: Any
) -> dict[float, np.ndarray]:
    """Return out-of-sample class probabilities of all rows, by the share of the ridge in them."""
    # In an order that does not depend on that of rows and classes, which the forest draws from.
    by_size = np.lexsort((np.square(q).sum(axis=0), q.sum(axis=0)))
    sorted_q = q[:, by_size]
    order = np.lexsort((*sorted_q.T, *X.T))
    units = np.arange(len(X))
    if groups is not None:
        _, first, units = np.unique(groups[order], return_index=True, return_inverse=True)
        units = first[units]
    rows, targets = X[order], sorted_q[order]
    back = np.ix_(np.argsort(order), np.argsort(by_size))
    if (q >= LEAST_WEIGHT).any(axis=0).sum() < 2:
        return {}
    found = {0.0: _by_forest(rows, targets, units, **settings)[back]}
    if groups is None:  # the ridge leaves out rows, no groups
        by_ridge = _by_ridge(rows, targets, settings["random_state"])[back]
        found |= {share: (1 - share) * found[0.0] + share * by_ridge for share in SHARES[1:]}
    return found


def _by_forest(X: np.ndarray, q: np.ndarray, units: np.ndarray, **settings: Any) -> np.ndarray:
    """Return out-of-bag probabilities of a forest that learns each row with its classes by q."""
    kept = np.where(q >= np.minimum(LEAST_WEIGHT, q.max(axis=1, keepdims=True)), q, 0)
    kept /= kept.sum(axis=1, keepdims=True)
    rows, codes = np.nonzero(kept)
    forest = BallForestClassifier(categorical_features=None, **settings)
    with warnings.catch_warnings():
        # Of the only row of a class; the consensus says how sure it is of that class.
        warnings.filterwarnings("ignore", "the label quality", UserWarning)
        forest.fit(X[rows], codes, sample_weight=kept[rows, codes], groups=units[rows])
    proba = np.zeros_like(q)
    proba[:, forest.classes_] = forest.oob_proba_[np.unique(rows, return_index=True)[1]]
    return _known_proba(proba, q)


def _by_ridge(X: np.ndarray, q: np.ndarray, seed: int) -> np.ndarray:
    """Return exact leave-one-out predictions of q by ridges on random features."""
    n_hidden = int(np.clip(len(X) // 5, 20, 200))
    ridge = RVFLEnsembleRegressor(N_NETWORKS, n_hidden, "relu", random_state=seed)
    scaled = scale(X * power_of_two_scale(X))
    proba = np.clip(ridge.fit(scaled, q).loo_prediction_, 1 / (len(X) + q.shape[1]), 1)
    return proba / proba.sum(axis=1, keepdims=True)


def _known_proba(proba: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return probabilities that are never zero; the mean of q where nothing is known."""
    return _normalised(np.log(np.where(np.isnan(proba), q.mean(axis=0), proba).clip(1e-6, 1)))


def _normalised(log_proba: np.ndarray) -> np.ndarray:
    proba = np.exp(log_proba - log_proba.max(axis=1, keepdims=True))
    return np.maximum(proba / proba.sum(axis=1, keepdims=True), 1e-300)


def suspected_copies(given: Annotations) -> pd.DataFrame:
    """Return pairs of annotators who agree more than their agreement with others explains.

    If annotators are independent given the true class, the correlation of two of them is a product
    of one number for each. These numbers are fitted to all pairs, without those that stand out.

    Parameters
    ----------
    given : Annotations
        The labels.

    Returns
    -------
    DataFrame
        Columns ``annotator``, ``other``, ``n_rows`` (with labels by both), ``agreement`` and
        ``dependence`` (from 0 to 1: the share of the room above the product).
    """
    import pandas as pd

    A, K = len(given.names), len(given.classes)
    at = given.rows, given.annotators
    each = [csr_array((given.labels == k, at), (given.n_rows, A), float) for k in range(K)]
    asked = csr_array((np.ones(len(given.rows)), at), (given.n_rows, A))
    n = (asked.T @ asked).toarray()
    agree = np.sum([(one.T @ one).toarray() for one in each], axis=0)
    n_given = np.bincount(given.cells, minlength=A * K).reshape(A, K)
    shares = n_given / np.maximum(n.diagonal(), 1)[:, None]
    spread = np.sqrt(1 - np.square(shares).sum(axis=1))
    scale_of, by_chance = np.outer(spread, spread), shares @ shares.T
    usable = (n > 0) & (scale_of > 0) & ~np.eye(A, dtype=bool)
    room = (agree / np.maximum(n, 1) - by_chance) / np.where(usable, scale_of, 1)
    correlation = np.where(usable, room, 0).clip(-1, 0.995)
    compared = usable & (n >= LEAST_IN_COMMON)
    significant = ndtri(1 - BY_CHANCE / max(compared.sum() / 2, 1))
    found = np.zeros((A, A), dtype=bool)
    for _ in range(5):
        weights = np.where(usable & ~found, n, 0)
        typical = np.sqrt(max((weights * correlation).sum() / max(weights.sum(), 1), 1e-4))
        factor = np.full(A, typical)
        for _ in range(50):
            # As if a typical annotator had ten rows in common with each.
            above = (weights * correlation) @ factor + LEAST_IN_COMMON * typical**2
            below = weights @ np.square(factor) + LEAST_IN_COMMON * typical
            factor = (above / below).clip(0, 1)
        without = above[:, None] - weights * correlation * factor
        without /= below[:, None] - weights * np.square(factor)
        independent = (without * without.T).clip(0, 0.995)
        expected = np.clip(independent * scale_of + by_chance, 0, 1)
        z = (agree - n * expected) / np.sqrt(n * expected * (1 - expected) + 0.5)
        dependence = (correlation - independent) / (1 - independent)
        is_copy = compared & (z > significant) & (dependence > DEPENDENT)
        if (is_copy == found).all():
            break
        found = is_copy
    low, high = np.nonzero(np.triu(found))
    columns = {
        "annotator": given.names[low],
        "other": given.names[high],
        "n_rows": n[low, high].astype(int),
        "agreement": agree[low, high] / n[low, high],
        "dependence": dependence[low, high],
    }
    return pd.DataFrame(columns).sort_values("dependence", ascending=False, ignore_index=True)
