"""How many labels are wrong, judged by the rows of which a model is surest.

Say that a share r of all labels was replaced by other classes at random. Then even where
a class is certain, its label is missing in a share r of the rows, and a class that is
impossible is still given to some. So among pairs of a row and a class, ordered by the
probability p that the class has there, the share of given labels must level off at both
ends, at a floor and below one:

    P(given | p) = floor + (1 - r - floor) * logistic(a + b * logit(p)),

with a floor of at most r / (K - 1). The likelihood of r, at the best a, b and floor for
each, says which shares agree with the labels. Where classes overlap everywhere nothing
levels off, and it says little; then an estimate from the surest probabilities takes over.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

_N_BINS = 80
_N_STEPS = 30
_TAIL = 0.05  # of the posterior, at each end of the range
SURE_SHARE = 0.05  # of the rows predicted as a class are those of which the model is surest
# The mean error of the surest probabilities on planted noise, as a standard deviation.
_SURE_ERROR = 0.065
_LEAST, _MOST = 1e-6, 1 - 1e-6


@dataclass(frozen=True)
class NoiseGuess:
    """A share of wrong labels, and the range it may lie in, if mistakes fall at random."""

    rate: float
    low: float
    high: float


def guess_noise(proba: np.ndarray, calibrated: np.ndarray, given: np.ndarray) -> NoiseGuess:
    """Guess the share of labels that are wrong at random.

    Parameters
    ----------
    proba : ndarray of shape (n, K)
        Probability of each class as a given label, by models that did not see the row.
    calibrated : ndarray of shape (n, K)
        The same, raised to the power that suits the labels best.
    given : ndarray of shape (n,)
        Number of the given class.
    """
    n_classes = proba.shape[1]
    rates = _rates(n_classes)
    log_likelihood = _profile(*_binned(proba, given), rates, n_classes)
    centre = surest_miss(calibrated)
    log_posterior = log_likelihood - ((rates - centre) / _SURE_ERROR) ** 2 / 2
    weights = np.exp(log_posterior - log_posterior.max()) * np.gradient(rates)
    weights /= weights.sum()
    below = np.cumsum(weights)
    low, high = np.searchsorted(below, (_TAIL, 1 - _TAIL)).clip(max=len(rates) - 1)
    return NoiseGuess(float(weights @ rates), float(rates[low]), float(rates[high]))


def surest_miss(calibrated: np.ndarray) -> float:
    """Return how far the surest probabilities stay below one, on average over predicted classes.

    Parameters
    ----------
    calibrated : ndarray of shape (n, K)
        Class probabilities.
    """
    predicted, top = calibrated.argmax(axis=1), calibrated.max(axis=1)
    total = 0.0
    for code in np.unique(predicted):
        own = np.sort(top[predicted == code])[::-1]
        total += len(own) * (1 - own[: int(np.ceil(SURE_SHARE * len(own)))].mean())
    return total / len(top)


def _rates(n_classes: int) -> np.ndarray:
    """Return shares to look at: fine steps where few labels are wrong."""
    highest = min(0.96 * (n_classes - 1) / n_classes, 0.7)
    return np.concatenate([np.linspace(0, 0.1, 21), np.arange(0.12, highest, 0.02)])


def _binned(proba: np.ndarray, given: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return mean logit, given labels and number of the pairs of row and class, in equal bins."""
    n_rows, n_classes = proba.shape
    z = logit(np.clip(proba, _LEAST, _MOST)).ravel()
    hits = np.zeros(len(z))
    hits[np.arange(n_rows) * n_classes + given] = 1
    # Ties in any order would let the order of the rows decide; the label orders them.
    order = np.lexsort((hits, z))
    begins = np.unique(np.linspace(0, len(z), _N_BINS + 1).astype(int))[:-1]
    sizes = np.diff(np.append(begins, len(z))).astype(float)
    bins = np.add.reduceat(z[order], begins) / sizes, np.add.reduceat(hits[order], begins), sizes
    # Two classes say everything twice.
    return (bins[0], bins[1] / 2, bins[2] / 2) if n_classes == 2 else bins


def _profile(z, hits, sizes, rates: np.ndarray, n_classes: int) -> np.ndarray:
    """Return the log-likelihood of each rate at its best curve, found by Fisher scoring.

    All rates are fitted at once. The curve's parameters are a, log b and, for more than two
    classes, how much of its highest value the floor has; weak priors hold them.
    """
    n_free = 2 if n_classes == 2 else 3
    spread = np.array([1.0, 1.0, 2.0])[:n_free]
    theta = np.zeros((len(rates), n_free))
    step_size = np.ones(len(rates))
    best, slopes, residual, weight = _curve(theta, z, hits, sizes, rates, n_classes)
    best = best - ((theta / spread) ** 2).sum(axis=1) / 2
    for _ in range(_N_STEPS):
        gradient = np.einsum("gb,gfb->gf", residual, slopes) - theta / spread**2
        information = np.einsum("gb,gfb,ghb->gfh", weight, slopes, slopes) + np.diag(1 / spread**2)
        step = np.linalg.solve(information, gradient[..., None])[..., 0]
        tried = theta + step_size[:, None] * np.clip(step, -2, 2)
        value, slopes_there, residual_there, weight_there = _curve(
            tried, z, hits, sizes, rates, n_classes
        )
        value = value - ((tried / spread) ** 2).sum(axis=1) / 2
        better = value > best
        step_size = np.where(better, np.minimum(1, 2 * step_size), step_size / 4)
        gain = float(np.max(np.where(better, value - best, 0)))
        theta[better], best = tried[better], np.where(better, value, best)
        slopes[better], residual[better] = slopes_there[better], residual_there[better]
        weight[better] = weight_there[better]
        if gain < 1e-4 and (better | (step_size < 1e-3)).all():
            break
    return best


def _curve(theta, z, hits, sizes, rates, n_classes):
    """Return the log-likelihood, and the curve's slopes, residuals and weights in each bin."""
    rate = rates[:, None]
    share = expit(theta[:, 2:] + 3) if n_classes > 2 else 1.0
    floor = rate / (n_classes - 1) * share
    # A copy, since numpy 1.26 gives other last digits for a column of an array behind which the
    # result happens to lie.
    steepness = np.exp(theta[:, 1:2].copy())
    s = expit(theta[:, :1] + steepness * z)
    height = 1 - rate - floor
    p = np.clip(floor + height * s, 1e-9, 1 - 1e-9)
    value = (hits * np.log(p) + (sizes - hits) * np.log1p(-p)).sum(axis=1)
    rising = height * s * (1 - s)
    slopes = [rising, rising * steepness * z]
    if n_classes > 2:
        slopes.append((1 - s) * floor * (1 - share))
    residual = hits / p - (sizes - hits) / (1 - p)
    return value, np.stack(slopes, axis=1), residual, sizes / (p * (1 - p))
