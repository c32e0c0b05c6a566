"""The probability that a label is wrong; counts, ranges, forecasts and verdicts are sums of it.

Of each label, s is the log odds of the most probable other class against the given one, by
models that did not see the row, less log(K - 1) / 2 for K classes: a mistake is one of K - 1
others, so the more classes, the rarer each of them is by mistake. And w is 1/2 if the given class
is the more frequent of the two, -1/2 if it is the rarer one, 0 if they are equally frequent. With
probability 1/5 a table is clean: one label in 200 is wrong. Otherwise

    logit P(wrong) = a + b s + d w,    (a, b, d) ~ N(MEAN, COVARIANCE).

The prior was learnt from tables whose mistakes are known. Labels that a person has verified turn
it into a posterior. A grid of 9 x 9 x 9 values of (a, b, d) holds it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit, logsumexp

from granulearn.audit.ratings import (
    ANNOTATORS,
    FINE,
    NOTHING,
    OUTLIER,
    PRIOR,
    SUSPECT,
    UNKNOWN,
    VERIFIED_LABELS,
    WRONG,
    WRONG_FROM,
    AuditSummary,
    Ratings,
    most_probable_other,
)
from granulearn.audit.verified import AT_RANDOM, WORST_FIRST, VerifiedLabels
from granulearn.utils.stacking import best_temperature, temperature_scale

# Learnt from tables with planted and with real mistakes (`benchmarks/run.py error-prior`).
MEAN = np.array([-1.3, 1.6, 0.0])
COVARIANCE = np.diag([0.95, 1.0, 2.0]) ** 2
CLEAN_TABLES = 0.2
ERRORS_IN_CLEAN_TABLES = 0.005
# Even without a signal, so many labels of random rows tell how many are wrong.
ENOUGH_AT_RANDOM = 10
# The line does not hold exactly: a verified label counts as less than one, and labels that were
# chosen as the most doubtful count as ten at most.
CHECK_WEIGHT, MOST_WORST_CHECKS = 0.7, 10

LARGEST_LOG_ODDS = 6.0
_DIRECTIONS = np.array([-0.5, 0.0, 0.5])
_ODDS = np.linspace(-LARGEST_LOG_ODDS, LARGEST_LOG_ODDS, 121)
_GRID = np.stack(np.meshgrid(*[np.linspace(-3.2, 3.2, 9)] * 3, indexing="ij"), -1).reshape(-1, 3)
# Standard normal values of equal probability, for sums of many labels.
_NORMAL = np.array([-1.645, -1.036, -0.674, -0.385, -0.126, 0.126, 0.385, 0.674, 1.036, 1.645])
_RANGE = (0.025, 0.975)

# Few tables without a signal reach it. One in a hundred would, if rows that share trees were
# independent.
_Z_NEEDED = 2.33
# Among 1,000 rows a signal shows; few and noisy labels may hide it.
_MANY_ROWS, _CALIBRATION_ROWS = 1_000, 5_000
FORECASTS = (20, 50, 100)


@dataclass(frozen=True, eq=False)
class ErrorModel:
    """Turns class probabilities into ratings of labels."""

    temperature: float
    """Of least log-loss on the given labels."""
    frequency: np.ndarray
    """(K,) number of given labels of each class."""
    basis: str
    """"prior"; "none" if similar rows do not have similar labels more often than by chance; or
    "listing" if probabilities are those of the audit of a larger table, "annotators" if they are
    those of a consensus, and stay so."""
    nodes: np.ndarray
    """(J, 3) values of (a, b, d)."""
    weights: np.ndarray
    """(J,) their probabilities if the table has mistakes."""
    clean: float
    """The probability that it has none."""

    def rate(
        self,
        classes: np.ndarray,
        proba: np.ndarray,
        given: np.ndarray,
        known: np.ndarray,
        outlier: np.ndarray | None = None,
        suspect_from: float | None = None,
    ) -> Ratings:
        """Rate labels without a verified one.

        Parameters
        ----------
        classes : ndarray of shape (K,)
            The class labels, sorted.
        proba, given, known : ndarray
            As for `fit_error_model`.
        outlier : ndarray of shape (n,), default=None
            True where the inputs are far from all others.
        suspect_from : float, default=None
            The error probability from which a label is suspect; None makes as many labels
            suspect as are expected to be wrong.
        """
        n_rows = len(given)
        calibrated = np.full(proba.shape, np.nan)
        calibrated[known] = temperature_scale(_clipped(proba[known]), self.temperature)
        ratings = Ratings(
            classes=classes,
            given=given,
            proba=calibrated,
            label_quality=calibrated[np.arange(n_rows), given],
            error_proba=np.full(n_rows, np.nan),
            predicted=given,
            verdicts=np.full(n_rows, UNKNOWN, dtype="<U9"),
            verified=np.zeros(n_rows, dtype=bool),
            outlier=np.zeros(n_rows, dtype=bool) if outlier is None else outlier,
        )
        return self.judge(ratings, suspect_from)

    def judge(self, ratings: Ratings, suspect_from: float | None = None) -> Ratings:
        """Return ratings with error probabilities, predicted labels and verdicts of this model.

        Parameters
        ----------
        ratings : Ratings
            Calibrated probabilities, and verified labels, which stand.
        suspect_from : float, default=None
            As for `rate`.
        """
        verified, known = ratings.verified, ratings.known
        error_proba, predicted = ratings.error_proba.copy(), ratings.predicted.copy()
        if self.basis == PRIOR:
            odds, direction, other = self.features(ratings.proba, ratings.given)
            for of_direction, proba in zip(_DIRECTIONS, self._error_curves(), strict=True):
                at = known & (direction == of_direction)
                error_proba[at] = np.interp(odds[at], _ODDS, proba)
            rows = np.arange(len(known))
            is_ahead = ratings.proba[rows, other] > ratings.label_quality
            differs = known & (is_ahead | (error_proba >= WRONG_FROM))
            predicted = np.where(differs, other, ratings.given)
        predicted[verified] = ratings.predicted[verified]
        error_proba[verified] = (predicted != ratings.given)[verified]
        judged = replace(ratings, error_proba=error_proba, predicted=predicted)
        rated = ~np.isnan(error_proba)
        is_open = rated & ~verified
        if suspect_from is None:
            suspect = np.zeros(len(known), dtype=bool)
            n_suspects = round(error_proba[is_open].sum())
            suspect[judged.open_rows[:n_suspects]] = True
        else:
            suspect = is_open & (error_proba >= suspect_from)
        verdicts = np.full(len(known), UNKNOWN, dtype="<U9")
        verdicts[rated] = FINE
        verdicts[is_open & ratings.outlier] = OUTLIER
        verdicts[suspect] = np.where(error_proba[suspect] >= WRONG_FROM, WRONG, SUSPECT)
        return replace(judged, verdicts=verdicts)

    def with_verified(self, ratings: Ratings, verified: VerifiedLabels) -> ErrorModel:
        """Return the model that verified labels lead to.

        Parameters
        ----------
        ratings : Ratings
            Calibrated probabilities of all labels.
        verified : VerifiedLabels
            Labels whose true class is known.
        """
        rated = ratings.known[verified.rows]
        rows, at_random = verified.rows[rated], verified.at_random[rated]
        is_counted = len(self.frequency) > 1 and at_random.sum() >= ENOUGH_AT_RANDOM
        can_rate = self.basis == PRIOR or (self.basis == NOTHING and is_counted)
        if not can_rate or len(rows) == 0:
            return self
        odds, direction, _ = self.features(ratings.proba[rows], ratings.given[rows])
        wrong = verified.truth[rated] != ratings.given[rows]
        n_worst = max(int((~at_random).sum()), 1)
        weight = CHECK_WEIGHT * np.where(at_random, 1.0, min(1.0, MOST_WORST_CHECKS / n_worst))
        if len(rows) > _MANY_ROWS:  # of nearly equal labels one stands for all
            cases = np.column_stack([odds.round(1), direction, wrong, weight])
            cases, counts = np.unique(cases, axis=0, return_counts=True)
            odds, direction, wrong, weight = (*cases.T[:3], cases[:, 3] * counts)
        design = np.column_stack([np.ones(len(odds)), odds, direction])
        nodes, weights, log_noisy = _posterior(design, wrong, weight)
        log_clean = weight @ np.log(
            np.where(wrong, ERRORS_IN_CLEAN_TABLES, 1 - ERRORS_IN_CLEAN_TABLES)
        )
        log_ratio = np.log(CLEAN_TABLES / (1 - CLEAN_TABLES)) + log_clean - log_noisy
        return replace(
            self, basis=PRIOR, nodes=nodes, weights=weights, clean=float(expit(log_ratio))
        )

    def open_errors(self, ratings: Ratings) -> tuple[float, float]:
        """Return the 95 % range of the number of wrong labels that nobody has verified.

        Parameters
        ----------
        ratings : Ratings
            Of this model.
        """
        is_open = ratings.known & ~ratings.verified
        if not is_open.any():
            return 0.0, 0.0
        odds, direction, _ = self.features(ratings.proba[is_open], ratings.given[is_open])
        column = np.rint((odds + LARGEST_LOG_ODDS) / (_ODDS[1] - _ODDS[0])).astype(int)
        column += np.searchsorted(_DIRECTIONS, direction) * len(_ODDS)
        wrong = self._node_proba()
        counts = np.bincount(column, minlength=wrong.shape[1])
        mean, spread = wrong @ counts, np.sqrt((wrong * (1 - wrong)) @ counts)
        sums = np.clip(mean[:, None] + spread[:, None] * _NORMAL, 0, is_open.sum()).ravel()
        weights = np.repeat((1 - self.clean) * self.weights / len(_NORMAL), len(_NORMAL))
        # A clean table may have none or a few, of the mean that probabilities have.
        around = np.clip(np.linspace(-1, 3, len(_NORMAL)), 0, None)
        if_clean = ERRORS_IN_CLEAN_TABLES * len(odds) * around / around.mean()
        sums = np.append(sums, if_clean)
        weights = np.append(weights, np.full(len(_NORMAL), self.clean / len(_NORMAL)))
        order = np.argsort(sums)
        at = np.searchsorted(np.cumsum(weights[order]), _RANGE).clip(max=len(sums) - 1)
        low, high = sums[order][at].tolist()
        return low, high

    def features(
        self, proba: np.ndarray, given: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return s and w of each label, and its most probable other class.

        Parameters
        ----------
        proba : ndarray of shape (n, K)
            Calibrated class probabilities.
        given : ndarray of shape (n,)
            Number of the given class.
        """
        other, second = most_probable_other(proba, given)
        own = np.nan_to_num(proba[np.arange(len(given)), given])
        odds = np.log(np.clip(second, 1e-9, 1)) - np.log(np.clip(own, 1e-9, 1))
        odds -= np.log(max(proba.shape[1] - 1, 1)) / 2
        direction = np.sign(self.frequency[given] - self.frequency[other]) / 2
        return np.clip(odds, -LARGEST_LOG_ODDS, LARGEST_LOG_ODDS), direction, other

    def _node_proba(self) -> np.ndarray:
        """Return P(wrong) for each node and each pair of direction and log odds."""
        direction = np.repeat(_DIRECTIONS, len(_ODDS))
        odds = np.tile(_ODDS, len(_DIRECTIONS))
        design = np.column_stack([np.ones(len(odds)), odds, direction])
        return expit(self.nodes @ design.T)

    def _error_curves(self) -> np.ndarray:
        """Return P(wrong) by log odds, a row for each direction."""
        if_noisy = self.weights @ self._node_proba()
        proba = self.clean * ERRORS_IN_CLEAN_TABLES + (1 - self.clean) * if_noisy
        return proba.reshape(len(_DIRECTIONS), len(_ODDS))


def fit_error_model(proba: np.ndarray, given: np.ndarray, known: np.ndarray) -> ErrorModel:
    """Calibrate class probabilities; the prior says how errors depend on them.

    Parameters
    ----------
    proba : ndarray of shape (n, K)
        Probability of each class as a given label, by models that did not see the row; rows of NaN
        where nothing is known.
    given : ndarray of shape (n,)
        Number of the given class.
    known : ndarray of shape (n,)
        True where the label can be rated.
    """
    proba, given = proba[known], given[known]
    n_rows, n_classes = proba.shape
    temperature, basis = 1.0, NOTHING
    if n_rows and n_classes > 1:
        clipped = _clipped(proba)
        at = _quantiles_of_quality(clipped, given, _CALIBRATION_ROWS)
        temperature = best_temperature(clipped[at], given[at])
        if n_rows < _MANY_ROWS or signal_z_score(proba, given) >= _Z_NEEDED:
            basis = PRIOR
    return prior_model(np.bincount(given, minlength=n_classes), temperature, basis)


def prior_model(frequency: np.ndarray, temperature: float = 1.0, basis: str = PRIOR) -> ErrorModel:
    """Return the model of a table without verified labels.

    Parameters
    ----------
    frequency : ndarray of shape (K,)
        Number of given labels of each class.
    temperature : float, default=1.0
        Calibrates class probabilities.
    basis : {"prior", "none", "listing"}, default="prior"
        As of `ErrorModel`.
    """
    nodes, weights, _ = _posterior(np.empty((0, 3)), np.empty(0), np.empty(0))
    return ErrorModel(temperature, frequency, basis, nodes, weights, CLEAN_TABLES)


def _clipped(proba: np.ndarray) -> np.ndarray:
    clipped = np.clip(proba, 1e-9, 1)
    return clipped / clipped.sum(axis=1, keepdims=True)


def _quantiles_of_quality(proba: np.ndarray, given: np.ndarray, n_rows: int) -> np.ndarray:
    """Return positions of at most `n_rows` rows, spread evenly over the order by label quality."""
    if len(given) <= n_rows:
        return np.arange(len(given))
    order = np.argsort(proba[np.arange(len(given)), given], kind="stable")
    return order[np.linspace(0, len(order) - 1, n_rows).astype(int)]


def signal_z_score(proba: np.ndarray, given: np.ndarray) -> float:
    """Return how far rows have more of their own class than rows on average, in standard errors.

    A row's own label is missing where its class is counted, which alone lowers the
    probability of its class. With two classes that is put right; with more, the prior of
    a forest hides part of it, and whatever predicts the labels shows all the same.

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
    ahead = proba[np.arange(n_rows), given] - proba.mean(axis=0)[given]
    if proba.shape[1] == 2:
        frequency = np.bincount(given, minlength=2) / n_rows
        ahead += (1 - frequency[given]) / (n_rows - 1)
    error = ahead.std() / np.sqrt(n_rows)
    # The probabilities of all rows are equal.
    return float(ahead.mean() / error) if error > 1e-12 else -np.inf


def rated_with(
    model: ErrorModel, ratings: Ratings, verified: VerifiedLabels
) -> tuple[Ratings, AuditSummary]:
    """Return the ratings and their summary with verified labels.

    Parameters
    ----------
    model : ErrorModel
        Of the audit without verified labels.
    ratings : Ratings
        Its ratings.
    verified : VerifiedLabels
        Labels whose true class is known.
    """
    before, model = model, model.with_verified(ratings, verified)
    is_verified, predicted = ratings.verified.copy(), ratings.predicted.copy()
    is_verified[verified.rows], predicted[verified.rows] = True, verified.truth
    ratings = model.judge(replace(ratings, verified=is_verified, predicted=predicted))
    n_labels, n_verified = int((ratings.known | is_verified).sum()), len(verified.rows)
    n_found = int((verified.truth != ratings.given[verified.rows]).sum())
    n_errors, low, high, basis = np.nan, np.nan, np.nan, model.basis
    if n_labels == 0:
        basis = NOTHING
    elif model.basis == PRIOR or n_verified == n_labels:
        low, high = ((n_found + n) / n_labels for n in model.open_errors(ratings))
        if n_verified and not verified.at_random.any():
            # The most doubtful labels say little about the others.
            high = max(high, (n_found + before.open_errors(ratings)[1]) / n_labels)
        n_errors = float(np.nansum(ratings.error_proba))
        is_sharpened = ratings.known[verified.rows].any() or n_verified == n_labels
        basis = VERIFIED_LABELS if is_sharpened else PRIOR
    elif model.basis == ANNOTATORS:
        n_errors = float(ratings.error_proba.sum())
        spread = 1.96 * np.sqrt((ratings.error_proba * (1 - ratings.error_proba)).sum())
        low, high = np.clip([n_errors - spread, n_errors + spread], 0, n_labels) / n_labels
    expected = expected_errors(ratings)
    summary = AuditSummary(
        n_labels, n_errors, low, high, basis, n_verified, int(verified.at_random.sum()), n_found,
        expected,
    )  # fmt: skip
    return ratings, summary


def _posterior(
    design: np.ndarray, wrong: np.ndarray, weight: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float]:
    """Return nodes, their probabilities, and the log evidence of labels that were verified.

    The nodes lie around the mode, along the principal axes of its curvature.
    """
    precision, mode = np.linalg.inv(COVARIANCE), MEAN.copy()
    hessian = precision
    for _ in range(60):
        p = expit(design @ mode)
        hessian = (design * (weight * p * (1 - p))[:, None]).T @ design + precision
        step = np.linalg.solve(
            hessian, design.T @ (weight * (wrong - p)) - precision @ (mode - MEAN)
        )
        mode = mode + np.clip(step, -2, 2)
        if np.abs(step).max() < 1e-8:
            break
    root = np.linalg.cholesky(np.linalg.inv(hessian))
    nodes = mode + _GRID @ root.T
    away = nodes - MEAN
    log_density = -np.einsum("ij,jk,ik->i", away, precision, away) / 2
    # Verified labels never turn the order by log odds around: slopes are cut at zero, which is
    # rough where most of the density lies below.
    nodes[:, 1] = np.maximum(nodes[:, 1], 0)
    log_odds = nodes @ design.T
    log_density += (log_odds * wrong - np.logaddexp(0, log_odds)) @ weight
    total = logsumexp(log_density)
    log_cell = 3 * np.log(_GRID[1, 2] - _GRID[0, 2]) + np.log(np.diag(root)).sum()
    log_norm = 1.5 * np.log(2 * np.pi) + np.linalg.slogdet(COVARIANCE)[1] / 2
    return nodes, np.exp(log_density - total), float(total + log_cell - log_norm)


# ---- the plan of a review --------------------------------------------------------------------


def next_rows(
    ratings: Ratings, n_rows: int, random_fraction: float, random: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """Choose rows to verify among those that are not verified.

    Rows at random are drawn all along the order by error probability, one from each part of it, and
    each row is equally likely to be drawn. The rest are the worst of the others.

    Parameters
    ----------
    ratings : Ratings
        What an audit says.
    n_rows : int
        How many to choose; fewer if there are fewer.
    random_fraction : float
        Share of them drawn at random, between zero and one.
    random : RandomState
        Draws them.

    Returns
    -------
    rows : ndarray
        Positions; the worst first, then those drawn at random.
    drawn : ndarray of str
        "worst" or "random".
    """
    open_rows = ratings.open_rows
    n_rows = min(n_rows, len(open_rows))
    n_random = round(random_fraction * n_rows)
    # Systematic sampling: one row of each stretch of the order.
    spread = (np.arange(n_random) + random.uniform()) * len(open_rows) / max(n_random, 1)
    by_chance = open_rows[spread.astype(int)]
    worst = open_rows[~np.isin(open_rows, by_chance)][: n_rows - n_random]
    drawn = np.repeat([WORST_FIRST, AT_RANDOM], [len(worst), n_random])
    # Shuffled, so that a review that stops early has seen a random part of them.
    return np.concatenate([worst, random.permutation(by_chance)]), drawn


def expected_errors(ratings: Ratings, counts: tuple[int, ...] = FORECASTS) -> dict[int, float]:
    """Return how many wrong labels the next rows will hold, worst first.

    Parameters
    ----------
    ratings : Ratings
        What an audit says.
    counts : tuple of int
        Numbers of rows; those above the number of open rows are cut to it.
    """
    rows = ratings.open_rows
    if np.isnan(ratings.error_proba[rows]).all():
        return {}
    # What cannot be rated comes last, and nothing is expected of it.
    found = np.cumsum(np.nan_to_num(ratings.error_proba[rows]))
    most = len(rows)
    sizes = sorted({min(count, most) for count in counts} - {0})
    return {size: float(found[size - 1]) for size in sizes}
