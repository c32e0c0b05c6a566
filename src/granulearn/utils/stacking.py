"""Stacking and calibration: weights of ensemble members, and temperature scaling."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar, nnls
from scipy.special import logsumexp
from scipy.stats import binomtest

SMALLEST_WEIGHT = 0.02
# The temperature lies between exp(-2) and exp(2).
LARGEST_LOG_TEMPERATURE = 2.0
# The noise rate rests on the most confident tenth of n rows, ten or more, and is shrunk as if 500
# further rows had right labels. Out-of-sample predictions of random labels rarely have a Brier
# score below that of class frequencies by more than this over sqrt(n).
CONFIDENT_SHARE, CONFIDENT_ROWS, RIGHT_ROWS, LEAST_SKILL = 0.1, 10, 500, 0.25


def stacking_weights(
    predictions: np.ndarray,
    Y: np.ndarray,
    sample_weight: np.ndarray,
    prior: np.ndarray,
    prior_samples: float,
) -> np.ndarray:
    """Return the ensemble weights that minimise the Brier score of the weighted mean.

    Parameters
    ----------
    predictions : ndarray of shape (n_members, n_samples, n_classes)
        Out-of-sample probabilities; samples with NaN are ignored.
    Y : ndarray of shape (n_samples, n_classes)
        One-hot targets.
    sample_weight : ndarray of shape (n_samples,)
        Weight of each sample.
    prior : ndarray of shape (n_members,)
        Weights to shrink to: `prior_samples` further samples have their mean as target.
    prior_samples : float
        Strength of the prior.

    Returns
    -------
    ndarray of shape (n_members,)
        Not negative, sum one, none below 2 %; the prior where no sample is usable.

    Notes
    -----
    As the weights sum to one, the error is ``w' M w``. Non-negative least squares of
    ``|F u|^2 + (1'u - 1)^2`` with ``F'F = M``, scaled to sum one, minimises it.

    Examples
    --------
    >>> import numpy as np
    >>> from granulearn.ensemble import stacking_weights
    >>> Y = np.eye(2)[[0, 1, 0, 1]]
    >>> members = np.stack([0.8 * Y + 0.1, np.full((4, 2), 0.5)])
    >>> stacking_weights(members, Y, np.ones(4), np.array([0.5, 0.5]), 0.0).tolist()
    [1.0, 0.0]
    """
    known = ~np.isnan(predictions).any(axis=(0, 2)) & (sample_weight > 0)
    if not known.any():
        return prior
    members, w = predictions[:, known], np.sqrt(sample_weight[known])[:, None]
    errors = ((members - Y[known]) * w).reshape(len(members), -1)
    away = ((members - np.tensordot(prior, members, 1)) * w).reshape(len(members), -1)
    M = errors @ errors.T + prior_samples / np.square(w).sum() * (away @ away.T)
    values, vectors = np.linalg.eigh(M / max(np.trace(M), np.finfo(float).tiny))
    F = np.sqrt(np.maximum(values, 0))[:, None] * vectors.T
    target = np.append(np.zeros(len(F)), 1.0)
    weights = nnls(np.vstack([F, np.ones(len(F))]), target)[0]
    weights /= weights.sum()
    weights[weights < SMALLEST_WEIGHT] = 0
    return weights / weights.sum()


def brier_score(
    predictions: np.ndarray, Y: np.ndarray, sample_weight: np.ndarray | None = None
) -> float:
    """Return the mean over samples of the squared error summed over classes.

    Parameters
    ----------
    predictions : ndarray of shape (n_samples, n_classes)
        Probabilities; rows with NaN are ignored.
    Y : ndarray of shape (n_samples, n_classes)
        One-hot targets.
    sample_weight : ndarray of shape (n_samples,), default=None
        Weight of each sample.
    """
    weights = np.ones(len(Y)) if sample_weight is None else sample_weight
    known = ~np.isnan(predictions).any(axis=1) & (weights > 0)
    if not known.any():
        return float("nan")
    errors = np.square(predictions[known] - Y[known]).sum(axis=1)
    return float(np.average(errors, weights=weights[known]))


def clip_proba(scores: np.ndarray, least: float) -> np.ndarray:
    """Return scores clipped at `least` from below, scaled to sum one.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_classes)
        They sum to one, and may be negative.
    least : float
        A model that saw n samples cannot rule out events of probability 1/n.
    """
    positive = np.maximum(scores, least)
    return positive / positive.sum(axis=1, keepdims=True)


def temperature_scale(proba: np.ndarray, temperature: float) -> np.ndarray:
    """Return probabilities to the power ``1 / temperature``, scaled to sum to one.

    Parameters
    ----------
    proba : ndarray of shape (n_samples, n_classes)
        Positive probabilities.
    temperature : float
        Above one, probabilities become less extreme.

    Examples
    --------
    >>> import numpy as np
    >>> from granulearn.ensemble import temperature_scale
    >>> temperature_scale(np.array([[0.8, 0.2]]), 2.0).round(3).tolist()
    [[0.667, 0.333]]
    """
    logs = np.log(proba) / temperature
    return np.exp(logs - logsumexp(logs, axis=1, keepdims=True))


def best_temperature(
    proba: np.ndarray,
    codes: np.ndarray,
    sample_weight: np.ndarray | None = None,
    *,
    noise_matrix: np.ndarray | None = None,
    smoothing: float = 0.0,
) -> float:
    """Return the temperature of least log-loss.

    Parameters
    ----------
    proba : ndarray of shape (n_samples, n_classes)
        Positive out-of-sample probabilities.
    codes : ndarray of shape (n_samples,)
        Class number of each sample.
    sample_weight : ndarray of shape (n_samples,), default=None
        Weight of each sample.
    noise_matrix : ndarray of shape (n_classes, n_classes), default=None
        Probability of each given label (column) by true class (row), if `proba` is about
        the true class and `codes` are given labels.
    smoothing : float, default=0.0
        Label smoothing: this fraction of each label is spread over all classes.

    Examples
    --------
    >>> import numpy as np
    >>> from granulearn.ensemble import best_temperature
    >>> proba, codes = np.tile([0.9, 0.1], (10, 1)), np.array([0] * 7 + [1] * 3)
    >>> round(best_temperature(proba, codes), 1)  # 90 % are right in 70 %
    2.6
    """
    rows = np.arange(len(codes))
    weights = np.ones(len(codes)) if sample_weight is None else sample_weight

    def loss(log_temperature: float) -> float:
        scaled = temperature_scale(proba, np.exp(log_temperature))
        logs = np.log(scaled if noise_matrix is None else scaled @ noise_matrix)
        own = logs[rows, codes]
        return float(-weights @ ((1 - smoothing) * own + smoothing * logs.mean(axis=1)))

    bounds = (-LARGEST_LOG_TEMPERATURE, LARGEST_LOG_TEMPERATURE)
    return float(np.exp(minimize_scalar(loss, bounds=bounds, method="bounded").x))


def estimate_noise_rate(proba: np.ndarray, codes: np.ndarray) -> float:
    """Return a cautious estimate of the share of wrong labels, spread evenly over classes.

    Parameters
    ----------
    proba : ndarray of shape (n_samples, n_classes)
        Out-of-sample probabilities of the given label.
    codes : ndarray of shape (n_samples,)
        Number of the given class.

    Notes
    -----
    The most confident tenth of the predictions is taken to be right. The estimate is the lower
    95 % confidence limit of the share of other labels there, times n/(n + 500). It is zero if
    the Brier score is hardly below that of class frequencies: where nothing predicts
    the labels, no prediction is right for sure.

    Examples
    --------
    >>> import numpy as np
    >>> from granulearn.ensemble import estimate_noise_rate
    >>> codes = np.arange(2000) % 2
    >>> given = np.where(np.arange(2000) % 10 < 2, 1 - codes, codes)  # a fifth is wrong
    >>> round(estimate_noise_rate(0.6 * np.eye(2)[codes] + 0.2, given), 2)
    0.12
    """
    n_rows, n_classes = proba.shape
    Y = np.eye(n_classes)[codes]
    by_frequency = np.tile(Y.mean(axis=0), (n_rows, 1))
    needed = (1 - LEAST_SKILL / np.sqrt(n_rows)) * brier_score(by_frequency, Y)
    if brier_score(proba, Y) >= needed:
        return 0.0
    order = np.argsort(-proba.max(axis=1), kind="stable")
    confident = order[: max(round(CONFIDENT_SHARE * n_rows), CONFIDENT_ROWS)]
    n_other = int((proba[confident].argmax(axis=1) != codes[confident]).sum())
    limit = binomtest(n_other, len(confident)).proportion_ci().low
    # With more wrong labels the given ones would say nothing.
    return float(min(limit * n_rows / (n_rows + RIGHT_ROWS), 0.9 * (1 - 1 / n_classes)))
