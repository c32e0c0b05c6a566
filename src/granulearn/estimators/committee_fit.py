"""The fit of an RVFL committee: activation and penalty by leave-one-out, all layers at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from granulearn.network import RandomFeatures, predict_scores
from granulearn.network.spectral_ridge import SpectralRidge, factor_spectral_ridge

ROWS_AT_ONCE = 4_096
SMALL, MANY_ROWS = 1_000, 20_000


@dataclass(frozen=True, eq=False)
class CommitteeFit:
    """The chosen networks, and what leave-one-out says about them."""

    features: tuple[RandomFeatures, ...]
    coef: np.ndarray
    """(n_layers, p, n_outputs) output weights of each layer."""
    activation: str
    C: float
    errors: np.ndarray
    """(n_activations, n_Cs) mean squared leave-one-out error of the committee mean."""
    loo: np.ndarray
    """(n_samples, n_outputs) committee mean for each sample, from networks fitted without it.

    NaN where the weight is zero.
    """


@dataclass(frozen=True)
class CommitteePlan:
    """How large a committee is, and how many rows it looks at."""

    n_layers: int
    n_hidden: int
    max_rows: int | None = None
    """Rows to fit; None means all."""
    pilot: bool = False
    """Whether a small network on a few rows chooses the activation."""


SMALL_LAYERS, SMALL_HIDDEN = 10, 203
# Of thousands of inputs fewer layers are drawn: their weights would be most of a model file.
MAX_WEIGHTS = 10_000_000
PILOT_ROWS, PILOT_HIDDEN = 1_000, 150


def plan_of_size(
    n_rows: int,
    *,
    n_classes: int | None = None,
    n_features: int = 0,
) -> CommitteePlan:
    """Return the plan for so many rows: one layer that grows with them, on a bounded number.

    Few rows want several small layers, whose mean is steadier than each. Two classes need
    fewer nodes than more of them, and fewer still where many inputs have direct links.

    Parameters
    ----------
    n_rows : int
        Rows to fit.
    n_classes : int or None, default=None
        Number of classes; None if targets are numbers.
    n_features : int, default=0
        Number of inputs.
    """
    if n_rows <= SMALL:
        most = MAX_WEIGHTS // (SMALL_HIDDEN * max(n_features, 1))
        return CommitteePlan(max(1, min(SMALL_LAYERS, most)), SMALL_HIDDEN)
    many, two = n_rows > MANY_ROWS, n_classes == 2
    max_rows = None
    if many:
        n_hidden, max_rows = 600, 8_000
    elif two:
        n_hidden = max(200, n_rows // 25)
    else:
        n_hidden = min(1000, max(300, n_rows // 15))
    if two:
        n_hidden = max(100, n_hidden - n_features // (2 if many else 4))
    return CommitteePlan(1, n_hidden, max_rows, pilot=True)


def draw_layers(n_features: int, n_hidden: int, n_layers: int, seed: int) -> np.ndarray:
    """Return uniform numbers in [-1, 1): per layer and node, its weights and its bias."""
    return 2 * np.random.default_rng(seed).random((n_layers, n_hidden, n_features + 1)) - 1


def layer_features(layer: np.ndarray, activation: str, direct_link: bool = True) -> RandomFeatures:
    """Return the features of one drawn layer.

    The factor sqrt(3/d) gives the sum that a node receives from d scaled inputs
    a variance of one.
    """
    n_features = layer.shape[1] - 1
    scale = np.sqrt(3 / n_features)
    return RandomFeatures(layer[:, :-1] * scale, layer[:, -1], activation, direct_link)


def fit_committee(
    X: np.ndarray,
    Y: np.ndarray,
    weights: np.ndarray,
    units: np.ndarray,
    layers: np.ndarray,
    activations: Sequence[str],
    Cs: Sequence[float],
    direct_link: bool = True,
) -> CommitteeFit:
    """Choose activation and penalty by the leave-one-out error, and fit all layers.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Inputs.
    Y : ndarray of shape (n_samples, n_outputs)
        Targets.
    weights : ndarray of shape (n_samples,)
        Weight of each sample; a sample of weight zero is predicted, not learnt from.
    units : ndarray of shape (n_samples,)
        Weight that leave-one-out removes for the choice: that of a single sample,
        so that a sample of weight two counts as two samples there too.
    layers : ndarray of shape (n_layers, n_hidden, n_features + 1)
        Layers from `draw_layers`.
    activations, Cs : sequences
        Activations and inverse penalties to choose from.
    direct_link : bool, default=True
        Whether outputs see the inputs too.
    """
    known = weights > 0
    X_known, Y_known, w = X[known], Y[known], weights[known]
    best: tuple[float, str, int, list[SpectralRidge], np.ndarray] | None = None
    errors = np.empty((len(activations), len(Cs)))
    for i, activation in enumerate(activations):
        ridges = [
            factor_spectral_ridge(
                layer_features(layer, activation, direct_link), X_known, Y_known, w
            )
            for layer in layers
        ]
        mean = _mean_leave_out(ridges, X_known, Y_known, units[known], Cs)
        errors[i] = np.square(mean - Y_known).sum(axis=2) @ w / w.sum()
        if best is None or errors[i].min() < best[0]:
            at = int(errors[i].argmin())
            best = errors[i, at], activation, at, ridges, mean[at]
    assert best is not None  # there is at least one activation
    _, activation, at, ridges, left_out = best
    features = tuple(layer_features(layer, activation, direct_link) for layer in layers)
    coef = np.stack([ridge.coef(Cs[at]) for ridge in ridges])
    loo = np.full(Y.shape, np.nan)
    if not np.array_equal(units[known], w):
        # The choice left out single samples of heavier ones, and this leaves out all of each.
        left_out = _mean_leave_out(ridges, X_known, Y_known, w, [Cs[at]])[0]
    loo[known] = left_out
    return CommitteeFit(features, coef, activation, float(Cs[at]), errors, loo)


def choose_activation(
    X: np.ndarray,
    Y: np.ndarray,
    weights: np.ndarray,
    units: np.ndarray,
    layers: np.ndarray,
    activations: Sequence[str],
    Cs: Sequence[float],
) -> str:
    """Return the activation whose networks have the least leave-one-out error.

    These networks have no direct link. It would tell nothing about activations, and of
    many inputs take most of the time. Parameters are those of `fit_committee`.
    """
    fit = fit_committee(X, Y, weights, units, layers, activations, Cs, direct_link=False)
    return fit.activation


def mean_scores(features: Sequence[RandomFeatures], coef: np.ndarray, X) -> np.ndarray:
    """Return the mean of the layers' outputs, of shape (n_samples, n_outputs)."""
    each = [predict_scores(f, X, c) for f, c in zip(features, coef, strict=True)]
    return np.mean(each, axis=0)


def fill_left_out(loo: np.ndarray, features, coef, X: np.ndarray, wanted: np.ndarray) -> None:
    """Predict, in place, samples that no network was fitted to.

    Parameters
    ----------
    loo : ndarray of shape (n_samples, n_outputs)
        What is known of samples that networks were fitted to; NaN for others.
    features, coef : sequences
        The networks.
    X : ndarray of shape (n_samples, n_features)
        Inputs.
    wanted : ndarray of shape (n_samples,)
        True for samples to predict, as far as they are not known.
    """
    missing = wanted & np.isnan(loo[:, 0])
    for begin in range(0, len(X), ROWS_AT_ONCE):
        stretch = slice(begin, begin + ROWS_AT_ONCE)
        own = missing[stretch]
        if 2 * own.sum() > len(own):
            # To predict all takes less time than to copy most.
            loo[stretch][own] = mean_scores(features, coef, X[stretch])[own]
        elif own.any():
            loo[stretch][own] = mean_scores(features, coef, X[stretch][own])


def _mean_leave_out(ridges, X, Y, removed, Cs) -> np.ndarray:
    """Return the layers' mean leave-one-out prediction: (len(Cs), n_samples, n_outputs)."""
    mean = np.zeros((len(Cs), *Y.shape))
    for ridge in ridges:
        for block, predictions in ridge.leave_out(X, Y, removed, Cs):
            mean[:, block] += predictions / len(ridges)
    return mean


def spread_weights(
    weights: np.ndarray, n_wanted: int | None, order: Callable[[], np.ndarray]
) -> np.ndarray:
    """Return the weights of so many rows, taken at even steps; those of all others are zero.

    Parameters
    ----------
    weights : ndarray of shape (n_rows,)
        Rows of weight zero are not taken.
    n_wanted : int or None
        How many; None means all.
    order : callable
        Returns an order of the rows; it is asked only where rows are left out.
    """
    if n_wanted is None or np.count_nonzero(weights) <= n_wanted:
        return weights
    rows = order()
    rows = rows[weights[rows] > 0]
    taken = rows[np.arange(n_wanted) * len(rows) // n_wanted]
    spread = np.zeros_like(weights)
    spread[taken] = weights[taken]
    return spread


def input_importances(
    features: Sequence[RandomFeatures], coef: np.ndarray, variances: np.ndarray
) -> np.ndarray:
    """Return the squared weights on all ways from each input to the outputs, times its variance.

    Parameters
    ----------
    features : sequence of RandomFeatures
        One per layer, with a direct link.
    coef : ndarray of shape (n_layers, p, n_outputs)
        Output weights.
    variances : ndarray of shape (n_features,)
        Variance of each input.
    """
    strengths = np.zeros(len(variances))
    for layer, theta in zip(features, np.square(coef).sum(axis=2), strict=True):
        strengths += theta[: layer.bias_column]
        strengths += theta[layer.bias_column + 1 :] @ np.square(layer.weights)
    return strengths * variances
