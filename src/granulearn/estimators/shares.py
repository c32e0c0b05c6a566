"""How members share in a mean of predictions, and how sure the mean may be."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, combinations

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

from granulearn.rvfl import one_hot

# The prior of the shares counts as so many samples.
PRIOR_SAMPLES = 300
SMALLEST_SHARE = 0.02
# Labels that cannot be fully trusted: so many are taken to be wrong, whatever they look like.
DOUBT = 0.01
# The power is looked for between exp(-2) and exp(2).
_LARGEST_LOG_POWER = 2.0


def best_shares(
    predictions: np.ndarray,
    Y: np.ndarray,
    weights: np.ndarray,
    prior: np.ndarray,
    prior_samples: float = PRIOR_SAMPLES,
) -> np.ndarray:
    """Return the shares of least squared error of the weighted mean of predictions.

    Parameters
    ----------
    predictions : ndarray of shape (n_members, n_samples, n_classes)
        Each from models that did not see the sample; samples that a member does not
        know (NaN) are left out.
    Y : ndarray of shape (n_samples, n_classes)
        Targets.
    weights : ndarray of shape (n_samples,)
        Weight of each sample.
    prior : ndarray of shape (n_members,)
        Shares to lean to: the mean by these predicts `prior_samples` further samples.
    prior_samples : float, default=300
        How strongly to lean.

    Returns
    -------
    ndarray of shape (n_members,)
        Not negative, sum one; the prior where no sample is known to all.
    """
    known = ~np.isnan(predictions).any(axis=(0, 2)) & (weights > 0)
    if not known.any():
        return prior
    members, Y, w = predictions[:, known], Y[known], weights[known]
    products = np.einsum("ank,bnk,n->ab", members, members, w, optimize=True)
    moments = np.einsum("ank,nk,n->a", members, Y, w, optimize=True)
    pseudo = prior_samples / w.sum()
    return _least_on_simplex((1 + pseudo) * products, moments + pseudo * products @ prior)


def shares_of_members(
    codes: np.ndarray,
    weights: np.ndarray,
    by_weighing: np.ndarray,
    others: Sequence[np.ndarray],
    chooses: bool,
) -> np.ndarray:
    """Return the shares of the forest's weighings, of the committee and of boosted trees.

    Parameters
    ----------
    codes : ndarray of shape (n_samples,)
        Classes.
    weights : ndarray of shape (n_samples,)
        Weight of each sample.
    by_weighing : ndarray of shape (n_weighings, n_samples, n_classes)
        What trees that did not see a sample predict.
    others : sequence of ndarray of shape (n_samples, n_classes)
        The same of the committee and, if there are some, of boosted trees.
    chooses : bool
        Whether shares are those of least squared error; else the first weighing and the
        committee share equally. The choice leans to that.
    """
    shares = np.zeros(len(by_weighing) + len(others))
    shares[[0, len(by_weighing)]] = 0.5
    if not chooses:
        return shares
    unseen = np.concatenate([by_weighing, np.stack(others)])
    Y = one_hot(codes, unseen.shape[2]).astype(float)
    return without_small(best_shares(unseen, Y, weights, shares))


def within_forest(of_weighings: np.ndarray) -> np.ndarray:
    """Return how weighings share in the forest, from their shares in the mean of all members."""
    total = of_weighings.sum()
    # A forest that says nothing in the mean still rates labels.
    return of_weighings / total if total > 0 else np.eye(len(of_weighings))[0]


def without_small(shares: np.ndarray) -> np.ndarray:
    """Return shares without those of members that say next to nothing and need not be asked."""
    kept = np.where(shares < SMALLEST_SHARE, 0, shares)
    return kept / kept.sum()


def _least_on_simplex(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the s >= 0 of sum one that minimises s'As - 2b's, by a look at every support."""
    n = len(b)
    supports = chain.from_iterable(combinations(range(n), size) for size in range(1, n + 1))
    best, least = np.full(n, 1 / n), np.inf
    for support in map(list, supports):
        size = len(support)
        system = np.ones((size + 1, size + 1))
        system[:size, :size] = A[np.ix_(support, support)]
        system[size, size] = 0
        found = np.linalg.lstsq(system, np.append(b[support], 1), rcond=None)[0][:size]
        if (found < 0).any():
            continue
        shares = np.zeros(n)
        shares[support] = found / found.sum()
        value = shares @ A @ shares - 2 * b @ shares
        # Among shares that are as good, the fewest members: they come first.
        if value < least - 1e-12 * abs(least if np.isfinite(least) else 1):
            best, least = shares, value
    return best


def floored(scores: np.ndarray, floor: float) -> np.ndarray:
    """Return probabilities that rank classes as scores of sum one do, none below about the floor.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_classes)
        They may be negative.
    floor : float
        What a class has at least: a model that saw n samples cannot rule out what
        happens once in n.
    """
    positive = np.maximum(scores, floor)
    return positive / positive.sum(axis=1, keepdims=True)


def powered(proba: np.ndarray, power: float) -> np.ndarray:
    """Return the power of probabilities, scaled to sum to one."""
    logs = power * np.log(proba)
    return np.exp(logs - logsumexp(logs, axis=1, keepdims=True))


def best_power(
    proba: np.ndarray,
    codes: np.ndarray,
    weights: np.ndarray,
    noise: np.ndarray | None = None,
    doubt: float = 0.0,
) -> float:
    """Return the power of probabilities that has the least log-loss.

    Parameters
    ----------
    proba : ndarray of shape (n_samples, n_classes)
        Positive, of samples that the models did not see.
    codes : ndarray of shape (n_samples,)
        Their classes.
    weights : ndarray of shape (n_samples,)
        Weight of each sample.
    noise : ndarray of shape (n_classes, n_classes), default=None
        Probability of each given label where a class is true, if the probabilities are
        of the true class and `codes` are given labels.
    doubt : float, default=0.0
        Share of the labels that may be of any class, all equally likely.
    """
    rows = np.arange(len(codes))

    def loss(log_power: float) -> float:
        raised = powered(proba, np.exp(log_power))
        logs = np.log(raised if noise is None else raised @ noise)
        return float(-weights @ ((1 - doubt) * logs[rows, codes] + doubt * logs.mean(axis=1)))

    bounds = (-_LARGEST_LOG_POWER, _LARGEST_LOG_POWER)
    return float(np.exp(minimize_scalar(loss, bounds=bounds, method="bounded").x))


def mean_squared_error(predictions: np.ndarray, Y: np.ndarray, weights: np.ndarray) -> float:
    """Return the weighted mean over samples of the squared error summed over classes.

    Parameters
    ----------
    predictions : ndarray of shape (n_samples, n_classes)
        Rows of NaN are left out.
    Y : ndarray of shape (n_samples, n_classes)
        Targets.
    weights : ndarray of shape (n_samples,)
        Weight of each sample.
    """
    known = ~np.isnan(predictions).any(axis=1) & (weights > 0)
    if not known.any():
        return float("nan")
    errors = np.square(predictions[known] - Y[known]).sum(axis=1)
    return float(np.average(errors, weights=weights[known]))
