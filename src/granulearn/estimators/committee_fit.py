"""The fit of an RVFL committee: activation and penalty by leave-one-out, all layers at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from granulearn.network import RandomFeatures, predict_scores
from granulearn.network.spectral_ridge import SpectralRidge, factor_spectral_ridge


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
    """(n_samples, n_outputs) committee mean for each sample, from networks fitted without it."""


def draw_layers(n_features: int, n_hidden: int, n_layers: int, seed: int) -> np.ndarray:
    """Return uniform numbers in [-1, 1): per layer and node, its weights and its bias."""
    return 2 * np.random.default_rng(seed).random((n_layers, n_hidden, n_features + 1)) - 1


def layer_features(layer: np.ndarray, activation: str) -> RandomFeatures:
    """Return the features of one drawn layer.

    The factor sqrt(3/d) gives the sum that a node receives from d scaled inputs
    a variance of one.
    """
    n_features = layer.shape[1] - 1
    scale = np.sqrt(3 / n_features)
    return RandomFeatures(layer[:, :-1] * scale, layer[:, -1], activation, direct_link=True)


def fit_committee(
    X: np.ndarray,
    Y: np.ndarray,
    weights: np.ndarray,
    units: np.ndarray,
    layers: np.ndarray,
    activations: Sequence[str],
    Cs: Sequence[float],
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
    """
    known = weights > 0
    X_known, Y_known, w = X[known], Y[known], weights[known]
    best: tuple[float, str, int, list[SpectralRidge]] | None = None
    errors = np.empty((len(activations), len(Cs)))
    for i, activation in enumerate(activations):
        ridges = [
            factor_spectral_ridge(layer_features(layer, activation), X_known, Y_known, w)
            for layer in layers
        ]
        mean = _mean_leave_out(ridges, X_known, Y_known, units[known], Cs)
        errors[i] = np.square(mean - Y_known).sum(axis=2) @ w / w.sum()
        if best is None or errors[i].min() < best[0]:
            best = errors[i].min(), activation, int(errors[i].argmin()), ridges
    assert best is not None  # there is at least one activation
    _, activation, at, ridges = best
    features = tuple(layer_features(layer, activation) for layer in layers)
    coef = np.stack([ridge.coef(Cs[at]) for ridge in ridges])
    loo = np.empty(Y.shape)
    loo[known] = _mean_leave_out(ridges, X_known, Y_known, w, [Cs[at]])[0]
    loo[~known] = mean_scores(features, coef, X[~known])
    return CommitteeFit(features, coef, activation, float(Cs[at]), errors, loo)


def mean_scores(features: Sequence[RandomFeatures], coef: np.ndarray, X) -> np.ndarray:
    """Return the mean of the layers' outputs, of shape (n_samples, n_outputs)."""
    each = [predict_scores(f, X, c) for f, c in zip(features, coef, strict=True)]
    return np.mean(each, axis=0)


def _mean_leave_out(ridges, X, Y, removed, Cs) -> np.ndarray:
    """Return the layers' mean leave-one-out prediction: (len(Cs), n_samples, n_outputs)."""
    mean = np.zeros((len(Cs), *Y.shape))
    for ridge in ridges:
        for block, predictions in ridge.leave_out(X, Y, removed, Cs):
            mean[:, block] += predictions / len(ridges)
    return mean
