"""From class probabilities to a verdict on every label."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from granulearn.audit.ratings import (
    AMBIGUOUS,
    FINE,
    OUTLIER,
    UNKNOWN,
    WRONG,
    Ratings,
    likeliest_other,
)
from granulearn.utils.stacking import best_temperature, temperature_scale

# Chosen on planted and real noise, see benchmarks/audit.py.
CLEARLY = 1.2
"""A label is wrong where another class is so many times as probable, times sqrt(K - 1).

A wrong label is one of K - 1 others, so the more classes, the rarer each of them is by
mistake, and the more its being given speaks for it.
"""
PLAUSIBLE = 0.5
"""A label is ambiguous where another class has so much of its probability."""
# Few tables of noise reach it. One in a hundred would, were rows that share trees independent.
_SKILL_NEEDED = 2.33
# Among so many rows whatever foretells labels shows; few and noisy labels may hide it.
_MANY_ROWS = 1_000
_FEWEST_ROWS = 20
_LEAST = 1e-9
# One number is found as well from so many rows as from more.
_ENOUGH_ROWS = 5_000


@dataclass(frozen=True, eq=False)
class Evidence:
    """Class probabilities as an audit needs them."""

    proba: np.ndarray
    """(n, K) as the model gave them; rows of NaN where nothing is known."""
    calibrated: np.ndarray
    """(n, K) scaled by the temperature of least log-loss on the given labels."""
    given: np.ndarray
    """(n,) number of the given class."""
    known: np.ndarray
    """(n,) true where the label can be rated."""
    skill: float
    """How far similar rows foretell labels, in standard errors."""
    temperature: float = 1.0
    """The temperature of the calibrated ones."""

    @property
    def can_judge(self) -> bool:
        """Whether similar rows, if there are some, foretell labels better than chance would."""
        return self.skill >= _SKILL_NEEDED and int(self.known.sum()) >= _FEWEST_ROWS

    @property
    def says_nothing(self) -> bool:
        """Whether similar rows foretell labels no better than chance, by all that can be known."""
        return not self.can_judge and int(self.known.sum()) >= _MANY_ROWS


def weigh_evidence(proba: np.ndarray, given: np.ndarray, known: np.ndarray) -> Evidence:
    """Calibrate class probabilities, and find out whether they foretell labels.

    Parameters
    ----------
    proba : ndarray of shape (n, K)
        Probability of each class as a given label, by models that did not see the row.
    given : ndarray of shape (n,)
        Number of the given class.
    known : ndarray of shape (n,)
        True where the label can be rated.
    """
    temperature = 1.0
    if known.any():
        usable = _usable(proba[known])
        at = evenly_spread(usable, given[known], _ENOUGH_ROWS)
        temperature = best_temperature(usable[at], given[known][at])
    skill = foretelling(proba[known], given[known])
    return calibrated_evidence(proba, given, known, skill, temperature)


def calibrated_evidence(
    proba: np.ndarray, given: np.ndarray, known: np.ndarray, skill: float, temperature: float
) -> Evidence:
    """Return class probabilities as an audit needs them, by known skill and temperature.

    Parameters
    ----------
    proba, given, known : ndarray
        As for `weigh_evidence`.
    skill, temperature : float
        As of `Evidence`, from these rows or from some that stand for them.
    """
    calibrated = np.full(proba.shape, np.nan)
    if known.any():
        calibrated[known] = temperature_scale(_usable(proba[known]), temperature)
    return Evidence(proba, calibrated, given, known, skill, temperature)


def _usable(proba: np.ndarray) -> np.ndarray:
    usable = np.clip(proba, _LEAST, 1)
    usable /= usable.sum(axis=1, keepdims=True)
    return usable


def evenly_spread(proba: np.ndarray, given: np.ndarray, n_rows: int) -> np.ndarray:
    """Return positions of so many rows, spread over all probabilities of given labels.

    Parameters
    ----------
    proba : ndarray of shape (n, K)
        Class probabilities.
    given : ndarray of shape (n,)
        Number of the given class.
    n_rows : int
        How many; all if there are no more.
    """
    if len(given) <= n_rows:
        return np.arange(len(given))
    own = proba[np.arange(len(given)), given]
    # Rows of the same label quality are told apart by the rest, so that their order has no say;
    # of two classes there is no rest.
    order = np.argsort(own) if proba.shape[1] == 2 else np.lexsort((*proba.T, own))
    return order[np.linspace(0, len(order) - 1, n_rows).astype(int)]


def foretelling(proba: np.ndarray, given: np.ndarray) -> float:
    """Return how far rows have more of their own class than rows on average, in standard errors.

    A row's own label is missing where its class is counted, which alone lowers the
    probability of its class. With two classes that is put right; with more, the prior of
    a forest hides part of it, and whatever foretells them shows all the same.

    Parameters
    ----------
    proba : ndarray of shape (n, K)
        Class probabilities by models that did not see the row.
    given : ndarray of shape (n,)
        Number of the given class.
    """
    n_rows = len(given)
    if n_rows < 2:
        return -np.inf
    own = proba[np.arange(n_rows), given]
    frequency = np.bincount(given, minlength=proba.shape[1]) / n_rows
    ahead = own - proba.mean(axis=0)[given]
    if proba.shape[1] == 2:
        ahead += (1 - frequency[given]) / (n_rows - 1)
    error = ahead.std() / np.sqrt(n_rows)
    # All rows alike: the probabilities say the same of every row.
    return float(ahead.mean() / error) if error > 1e-12 else -np.inf


def rate_labels(
    evidence: Evidence,
    classes: np.ndarray,
    rates: tuple[float, ...],
    outlier: np.ndarray | None = None,
) -> Ratings:
    """Give a verdict on each label.

    Parameters
    ----------
    evidence : Evidence
        Class probabilities.
    classes : ndarray of shape (K,)
        The class labels, sorted.
    rates : tuple of float
        Shares of wrong labels that are as probable as each other; none if nothing can be
        judged, and then no label can.
    outlier : ndarray of shape (n,), default=None
        True where the inputs are far from all others.
    """
    given, known, calibrated = evidence.given, evidence.known, evidence.calibrated
    rows = np.arange(len(given))
    own = np.where(known, calibrated[rows, given], np.nan)
    verdicts = np.full(len(given), UNKNOWN, dtype="<U9")
    predicted, error_proba = given.copy(), np.full(len(given), np.nan)
    if len(classes) > 1 and rates:
        other, rival = likeliest_other(calibrated, given)
        ratio = np.divide(rival, own, out=np.full(len(own), np.inf), where=own > 0)
        # Among many wrong labels a forest may be surer than it should be. That says how many
        # labels are right, not which class is ahead.
        ratio = ratio ** max(evidence.temperature, 1.0)
        wrong = ratio > CLEARLY * np.sqrt(len(classes) - 1)
        ambiguous = ~wrong & (ratio >= PLAUSIBLE)
        verdicts[known] = FINE
        if outlier is not None:
            verdicts[known & outlier] = OUTLIER
        verdicts[known & ambiguous] = AMBIGUOUS
        verdicts[known & wrong] = WRONG
        predicted = np.where(known & (rival > np.nan_to_num(own)), other, given)
        each = [error_probability(own[known], rate, len(classes)) for rate in rates]
        # numpy's mean adds up a single row in another order than many.
        error_proba[known] = sum(each) / len(each)
    return Ratings(
        classes=classes,
        given=given,
        proba=calibrated,
        label_quality=own,
        error_proba=error_proba,
        predicted=predicted,
        verdicts=verdicts,
        verified=np.zeros(len(given), dtype=bool),
    )


def error_probability(own: np.ndarray, rate: float, n_classes: int) -> np.ndarray:
    """Return the probability that labels are wrong, by Bayes' rule.

    Say that a share of the labels is wrong at random: T has 1 - rate on its diagonal, and
    e = rate / (K - 1) elsewhere. Then P(given) = e + (1 - rate - e) q, where q is the
    probability that the given class is true, and P(wrong | given) = e (1 - q) / P(given).

    Parameters
    ----------
    own : ndarray of shape (n,)
        Probability of the given class as a given label.
    rate : float
        Share of wrong labels, below (K - 1) / K.
    n_classes : int
        Number of classes K.
    """
    other = rate / (n_classes - 1)
    lift = 1 - rate - other
    true = np.clip((own - other) / lift, 0, 1) if lift > 0 else np.zeros(len(own))
    by_mistake = other * (1 - true)
    given = by_mistake + (1 - rate) * true
    return np.divide(by_mistake, given, out=np.zeros(len(own)), where=given > 0)


def with_verified(ratings: Ratings, rows: np.ndarray, truth: np.ndarray) -> Ratings:
    """Return ratings in which what a person has said stands.

    Parameters
    ----------
    ratings : Ratings
        What the audit says.
    rows : ndarray of shape (m,)
        Positions of the labels a person has looked at.
    truth : ndarray of shape (m,)
        Number of the true class of each.
    """
    if len(rows) == 0:
        return ratings
    verified, verdicts = ratings.verified.copy(), ratings.verdicts.copy()
    predicted, error_proba = ratings.predicted.copy(), ratings.error_proba.copy()
    verified[rows], verdicts[rows], predicted[rows] = True, FINE, truth
    error_proba[rows] = truth != ratings.given[rows]
    return replace(
        ratings,
        verified=verified,
        verdicts=verdicts,
        predicted=predicted,
        error_proba=error_proba,
    )
