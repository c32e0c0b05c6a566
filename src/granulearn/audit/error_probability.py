"""How probable is each label wrong, and how many are: from out-of-sample class probabilities.

`fit_error_model` calibrates the probabilities and estimates the share of wrong labels;
`ErrorModel.rate` gives each label a verdict and a probability of being wrong; `with_verified`
updates both by what a person has found; `expected_errors` and `next_rows` plan the review.

The share of wrong labels is estimated as follows. Say that a share r of all labels was replaced by
other classes at random. Then even where a class is certain, its label is missing in a share r of
the rows, and a class that is impossible is still given to some. So among pairs of a row and a
class, ordered by the probability p that the class has there, the share of given labels must level
off at both ends, at a floor and below one:

    P(given | p) = floor + (1 - r - floor) * logistic(a + b * logit(p)),

with a floor of at most r / (K - 1). The likelihood of r, at the best a, b and floor for
each, says which shares agree with the labels. Where classes overlap everywhere nothing
levels off, and it says little; then an estimate from the most confident rows takes over.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from scipy.special import expit, logit
from scipy.stats import beta

from granulearn.audit.ratings import (
    AMBIGUOUS,
    CONFIDENT_ROWS,
    FINE,
    NOTHING,
    OUTLIER,
    UNKNOWN,
    VERIFIED_LABELS,
    WRONG,
    NoiseRate,
    Ratings,
    most_probable_other,
)
from granulearn.audit.verified import AT_RANDOM, WORST_FIRST, VerifiedLabels
from granulearn.utils.stacking import best_temperature, temperature_scale

# Chosen on planted and real noise, see benchmarks/audit.py.
CLEARLY = 1.2
"""A label is wrong where another class is 1.2 sqrt(K - 1) times as probable.

A wrong label is one of K - 1 others, so the more classes, the rarer each of them is by
mistake, and the more its being given speaks for it.
"""
PLAUSIBLE = 0.5
"""A label is ambiguous where another class has at least half of its probability."""
# Few tables of noise reach it. One in a hundred would, were rows that share trees independent.
_Z_NEEDED = 2.33
# Among 1,000 rows a signal shows; few and noisy labels may hide it.
_MANY_ROWS, _FEWEST_ROWS = 1_000, 20
# Rows by which the temperature and the share of wrong labels are found.
_CALIBRATION_ROWS, _NOISE_ROWS = 5_000, 20_000
_N_RATES = 9

# The curve of given labels.
_N_BINS, _N_STEPS = 80, 30
_TAIL = 0.05  # of the posterior, at each end of the range
CONFIDENT_SHARE = 0.05  # of the rows predicted as a class are its most confident ones
# The mean error of the most confident probabilities on planted noise, as a standard deviation.
_CONFIDENT_ERROR = 0.065

# Verified labels.
_CONFIDENCE, _QUANTILE = 0.95, 1.64  # two-sided; of 95 %, one-sided
_MOST_STRATA, _LEAST_IN_STRATUM = 5, 6
# How far what a person finds may move and turn the line of log odds.
_SHIFT_SPREAD, _SLOPE_SPREAD = 3.0, 1.0

FORECASTS = (20, 50, 100)


@dataclass(frozen=True)
class ErrorModel:
    """What turns class probabilities into ratings of labels."""

    noise: NoiseRate
    """The noise rate if no label is verified."""
    rates: tuple[float, ...]
    """Shares of wrong labels, each as probable, by which single labels are judged; none if nothing
    can be said about them. They go from the least that is wrong at random to every label that its
    most probable class contradicts."""
    temperature: float
    """Of least log-loss on the given labels."""

    def rate(
        self,
        classes: np.ndarray,
        proba: np.ndarray,
        given: np.ndarray,
        known: np.ndarray,
        outlier: np.ndarray | None = None,
    ) -> Ratings:
        """Give a verdict on each label.

        Parameters
        ----------
        classes : ndarray of shape (K,)
            The class labels, sorted.
        proba, given, known : ndarray
            As for `fit_error_model`.
        outlier : ndarray of shape (n,), default=None
            True where the inputs are far from all others.
        """
        n_classes = len(classes)
        calibrated = np.full(proba.shape, np.nan)
        calibrated[known] = temperature_scale(_clipped(proba[known]), self.temperature)
        own = calibrated[np.arange(len(given)), given]
        verdicts = np.full(len(given), UNKNOWN, dtype="<U9")
        predicted, error_proba = given.copy(), np.full(len(given), np.nan)
        if n_classes > 1 and self.rates:
            other, second = most_probable_other(calibrated, given)
            ratio = np.divide(second, own, out=np.full(len(own), np.inf), where=own > 0)
            # Among many wrong labels a forest may be more confident than it should be. That says
            # how many labels are right, not which class is ahead.
            ratio = ratio ** max(self.temperature, 1.0)
            wrong = ratio > CLEARLY * np.sqrt(n_classes - 1)
            verdicts[known] = FINE
            if outlier is not None:
                verdicts[known & outlier] = OUTLIER
            verdicts[known & (ratio >= PLAUSIBLE)] = AMBIGUOUS
            verdicts[known & wrong] = WRONG
            predicted = np.where(known & (second > np.nan_to_num(own)), other, given)
            each = [error_probability(own[known], rate, n_classes) for rate in self.rates]
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


def fit_error_model(proba: np.ndarray, given: np.ndarray, known: np.ndarray) -> ErrorModel:
    """Calibrate class probabilities, and estimate the share of wrong labels.

    The lower end and the middle of the estimate hold if mistakes are spread at random. The upper
    end allows for mistakes that follow the inputs: labels that their most probable class
    contradicts, beyond those at random, may all be wrong, and as many more may hide where
    the model has learnt the mistake.

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
    if n_rows == 0:
        return ErrorModel(
            unknown_rate("No label can be rated: no other row has its class."), (), 1.0
        )
    clipped = _clipped(proba)
    at = _quantiles_of_quality(clipped, given, _CALIBRATION_ROWS)
    temperature = best_temperature(clipped[at], given[at])
    can_judge = signal_z_score(proba, given) >= _Z_NEEDED and n_rows >= _FEWEST_ROWS
    if not can_judge and n_rows >= _MANY_ROWS:
        message = (
            "Similar rows do not have similar labels more often than by chance, so nothing can be "
            "said about single labels; other columns or more rows may help."
        )
        return ErrorModel(unknown_rate(message), (), temperature)
    calibrated = temperature_scale(clipped, temperature)
    at = _quantiles_of_quality(calibrated, given, _NOISE_ROWS)
    rate, low, guessed_high = random_noise(proba[at], calibrated[at], given[at])
    contradicted = float(1 - calibrated.max(axis=1).mean())
    margin = _QUANTILE * np.sqrt(contradicted * (1 - contradicted) / n_rows)
    most = 0.98 * (n_classes - 1) / n_classes
    high = float(min(max(guessed_high, 2 * (contradicted + margin) - rate), most))
    rates = tuple(np.linspace(low, min(max(contradicted, rate), most), _N_RATES).tolist())
    if can_judge:
        message = (
            "Estimated from the most confident rows: this assumes that mistakes are spread at "
            "random. The upper end allows for mistakes that follow the inputs; only labels checked "
            "by hand can tell these from classes that overlap."
        )
        noise = NoiseRate(rate, min(low, rate), max(high, rate), CONFIDENT_ROWS, message)
    else:
        noise = unknown_rate(
            "Similar rows hardly have similar labels more often than by chance, so how many are "
            "wrong cannot be estimated, and verdicts are weak; other columns or more rows may help."
        )
    return ErrorModel(noise, rates, temperature)


def unknown_rate(message: str) -> NoiseRate:
    """Return a share of wrong labels that is not known, and why."""
    return NoiseRate(np.nan, np.nan, np.nan, NOTHING, message)


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


# ---- the share of labels that are wrong at random --------------------------------------------


def random_noise(
    proba: np.ndarray, calibrated: np.ndarray, given: np.ndarray
) -> tuple[float, float, float]:
    """Return the share of labels that are wrong at random, and its lower and upper end.

    Parameters
    ----------
    proba : ndarray of shape (n, K)
        Probability of each class as a given label, by models that did not see the row.
    calibrated : ndarray of shape (n, K)
        The same, scaled by the temperature that suits the labels best.
    given : ndarray of shape (n,)
        Number of the given class.
    """
    n_classes = proba.shape[1]
    highest = min(0.96 * (n_classes - 1) / n_classes, 0.7)
    # Fine steps where few labels are wrong.
    rates = np.concatenate([np.linspace(0, 0.1, 21), np.arange(0.12, highest, 0.02)])
    log_likelihood = _profile(*_binned(proba, given), rates, n_classes)
    centre = most_confident_miss(calibrated)
    log_posterior = log_likelihood - ((rates - centre) / _CONFIDENT_ERROR) ** 2 / 2
    weights = np.exp(log_posterior - log_posterior.max()) * np.gradient(rates)
    weights /= weights.sum()
    below = np.cumsum(weights)
    low, high = np.searchsorted(below, (_TAIL, 1 - _TAIL)).clip(max=len(rates) - 1)
    return float(weights @ rates), float(rates[low]), float(rates[high])


def most_confident_miss(calibrated: np.ndarray) -> float:
    """Return how far the most confident probabilities stay below one, averaged over predictions.

    Parameters
    ----------
    calibrated : ndarray of shape (n, K)
        Class probabilities.
    """
    predicted, top = calibrated.argmax(axis=1), calibrated.max(axis=1)
    total = 0.0
    for code in np.unique(predicted):
        own = np.sort(top[predicted == code])[::-1]
        total += len(own) * (1 - own[: int(np.ceil(CONFIDENT_SHARE * len(own)))].mean())
    return total / len(top)


def _binned(proba: np.ndarray, given: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return mean logit, given labels and number of the pairs of row and class, in equal bins."""
    n_rows, n_classes = proba.shape
    z = logit(np.clip(proba, 1e-6, 1 - 1e-6)).ravel()
    hits = np.zeros(len(z))
    hits[np.arange(n_rows) * n_classes + given] = 1
    # Among equal probabilities, given labels are last in each bin, whatever the order of the rows.
    order = np.lexsort((hits, z))
    begins = np.unique(np.linspace(0, len(z), _N_BINS + 1).astype(int))[:-1]
    sizes = np.diff(np.append(begins, len(z))).astype(float)
    bins = np.add.reduceat(z[order], begins) / sizes, np.add.reduceat(hits[order], begins), sizes
    # With two classes, each row counts twice.
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


# ---- verified labels -------------------------------------------------------------------------


def with_verified(
    ratings: Ratings, noise: NoiseRate, verified: VerifiedLabels
) -> tuple[Ratings, NoiseRate]:
    """Return ratings and share of wrong labels that agree with what a person has found.

    Parameters
    ----------
    ratings, noise : Ratings, NoiseRate
        What the audit says without verified labels.
    verified : VerifiedLabels
        What a person has found; it stands.
    """
    rows, truth = verified.rows, verified.truth
    if len(rows) == 0:
        return ratings, noise
    noise = _verified_rate(ratings, verified, noise)
    error_proba = _scaled_by_verified(ratings, verified)
    is_verified, verdicts, predicted = (
        values.copy() for values in (ratings.verified, ratings.verdicts, ratings.predicted)
    )
    is_verified[rows], verdicts[rows], predicted[rows] = True, FINE, truth
    error_proba[rows] = truth != ratings.given[rows]
    updated = replace(
        ratings,
        verified=is_verified,
        verdicts=verdicts,
        predicted=predicted,
        error_proba=error_proba,
    )
    return updated, noise


def _verified_rate(ratings: Ratings, verified: VerifiedLabels, before: NoiseRate) -> NoiseRate:
    """Estimate the share of wrong labels from those that a person has verified.

    Rows that were not drawn at random count for themselves. Rows drawn at random stand for
    all others, by strata of label quality. The interval is Clopper and Pearson's at the
    number of rows that a simple random sample of the same error would have.
    """
    n_labels = len(ratings.given)
    wrong = verified.truth != ratings.given[verified.rows]
    chosen = ~verified.at_random | _among_the_worst(ratings, verified)
    n_chosen, n_random = int(chosen.sum()), int((~chosen).sum())
    counted = int(wrong[chosen].sum())
    if n_random == 0:
        return _counted_and_guessed(before, n_labels, n_chosen, counted)
    is_rest = np.ones(n_labels, dtype=bool)
    is_rest[verified.rows[chosen]] = False
    estimate, effective = _stratified(
        ratings, np.flatnonzero(is_rest), verified.rows[~chosen], wrong[~chosen]
    )
    n_rest = int(is_rest.sum())
    low, high = _clopper_pearson(estimate, effective)
    if n_random == n_rest:
        low = high = estimate
    found = int(wrong[~chosen].sum())
    rate, low, high = ((counted + n_rest * x) / n_labels for x in (estimate, low, high))
    # What was seen to be wrong is wrong, and what was seen to be right is right.
    low = max(low, (counted + found) / n_labels)
    high = min(high, 1 - (len(wrong) - counted - found) / n_labels)
    return NoiseRate(
        rate=rate,
        low=min(low, rate),
        high=max(high, rate),
        basis=VERIFIED_LABELS,
        message=(
            f"Counted: {n_random} labels verified at random stand for the rest, {n_chosen} others "
            f"count for themselves, and {found + counted} of them were wrong. It lies in the range "
            "with 95 % confidence."
        ),
    )


def _among_the_worst(ratings: Ratings, verified: VerifiedLabels) -> np.ndarray:
    """Return where verified rows lie among the worst rows, of which none is open any more.

    Whatever is worst was chosen unless it was drawn at random before: rows at random among
    the chosen ones count for themselves only.
    """
    is_seen, is_chosen = (np.zeros(len(ratings.given), dtype=bool) for _ in range(2))
    is_seen[verified.rows] = True
    is_chosen[verified.rows[~verified.at_random]] = True
    worst = ratings.worst_first
    n_seen = int(np.append(is_seen[worst], False).argmin())
    last = np.flatnonzero(is_chosen[worst[:n_seen]])
    among = np.isin(verified.rows, worst[: last[-1] + 1 if len(last) else 0])
    # Of all rows at random, some must be left to stand for the rest.
    return among if (verified.at_random & ~among).any() else np.zeros(len(among), dtype=bool)


def _counted_and_guessed(
    before: NoiseRate, n_labels: int, n_chosen: int, counted: int
) -> NoiseRate:
    """Return the rate when no row was drawn at random: a guess that agrees with what was seen.

    Chosen rows have more wrong labels than others, so the guess, which is about all rows,
    must not be made about the rest as well.
    """
    least, most = counted / n_labels, 1 - (n_chosen - counted) / n_labels
    if n_chosen == n_labels:
        message = f"All {n_labels} labels were verified; {counted} are wrong."
        return NoiseRate(least, least, least, VERIFIED_LABELS, message)
    rate, low, high = np.clip((before.rate, before.low, before.high), least, most).tolist()
    return NoiseRate(
        rate=rate,
        low=low,
        high=high,
        basis=before.basis,
        message=(
            f"{counted} of {n_chosen} verified labels are wrong; as no row was drawn at random, "
            f"they say nothing about the rest. {before.message}"
        ),
    )


def _stratified(
    ratings: Ratings, rest: np.ndarray, drawn: np.ndarray, wrong: np.ndarray
) -> tuple[float, float]:
    """Return the share of wrong labels among the rest, and how many random rows it is worth.

    Strata hold equally many of the drawn rows, in the order of label quality.
    """
    label_quality = np.nan_to_num(ratings.label_quality, nan=1.0)
    n_drawn = len(drawn)
    n_strata = max(1, min(_MOST_STRATA, n_drawn // _LEAST_IN_STRATUM))
    order = np.argsort(label_quality[drawn], kind="stable")
    parts = np.array_split(order, n_strata)
    # Half way to the next row: an edge at a drawn row would cut its stratum short.
    edges = np.array(
        [
            (label_quality[drawn[below[-1]]] + label_quality[drawn[above[0]]]) / 2
            for below, above in pairwise(parts)
        ]
    )
    stratum_of_rest = np.searchsorted(edges, label_quality[rest], side="left")
    # Drawn rows of equal label quality may lie on both sides of an edge; their values decide.
    stratum_of_drawn = np.searchsorted(edges, label_quality[drawn], side="left")
    # Rows of strata without a drawn one, as equal values may leave them, are like the others.
    counted = np.isin(stratum_of_rest, stratum_of_drawn).sum()
    estimate, variance = 0.0, 0.0
    for stratum in range(n_strata):
        seen = wrong[stratum_of_drawn == stratum]
        n_rows = int((stratum_of_rest == stratum).sum())
        if len(seen) == 0:
            continue
        share, weight = seen.mean(), n_rows / counted
        estimate += weight * share
        finite = 1 - len(seen) / n_rows
        variance += weight**2 * finite * share * (1 - share) / max(len(seen) - 1, 1)
    simple = estimate * (1 - estimate)
    effective = simple / variance if variance > 0 and simple > 0 else float(n_drawn)
    # A handful of rows can look more alike than they are.
    return float(estimate), float(min(effective, 2 * n_drawn))


def _clopper_pearson(share: float, n_rows: float) -> tuple[float, float]:
    tail = (1 - _CONFIDENCE) / 2
    hits = share * n_rows
    low = beta.ppf(tail, hits, n_rows - hits + 1) if hits > 0 else 0.0
    high = beta.ppf(1 - tail, hits + 1, n_rows - hits) if hits < n_rows else 1.0
    return float(low), float(high)


def _scaled_by_verified(ratings: Ratings, verified: VerifiedLabels) -> np.ndarray:
    """Return probabilities of being wrong that agree with what a person found.

    Log odds of being wrong become a line in the log odds of label quality. Before anybody
    looked it is the line that fits the probabilities of the audit best; what was found
    moves and turns it.
    """
    rated = ~np.isnan(ratings.error_proba)
    rows = verified.rows[rated[verified.rows]]
    if len(rows) == 0:
        return ratings.error_proba.copy()
    truth = verified.truth[rated[verified.rows]]
    doubt = -_log_odds(ratings.label_quality)
    before = _line_through(doubt[rated], _log_odds(ratings.error_proba)[rated])
    shift, slope = _logistic_fit(doubt[rows], truth != ratings.given[rows], before)
    return expit(shift + slope * doubt)


def _log_odds(proba: np.ndarray) -> np.ndarray:
    return logit(np.clip(proba, 0.001, 0.999))


def _line_through(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return shift and slope of the least squares line; the slope is not negative."""
    centred = x - x.mean()
    slope = max(float(centred @ (y - y.mean()) / max(centred @ centred, 1e-12)), 0.0)
    return np.array([y.mean() - slope * x.mean(), slope])


def _logistic_fit(doubt: np.ndarray, wrong: np.ndarray, before: np.ndarray) -> tuple[float, float]:
    """Return shift and slope of log odds, by Newton's method on a concave posterior."""
    design = np.column_stack([np.ones(len(doubt)), doubt])
    precision = np.diag([1 / _SHIFT_SPREAD**2, 1 / _SLOPE_SPREAD**2])
    line = before.copy()
    for _ in range(50):
        p = expit(design @ line)
        gradient = design.T @ (wrong - p) - precision @ (line - before)
        hessian = (design * (p * (1 - p))[:, None]).T @ design + precision
        step = np.linalg.solve(hessian, gradient)
        line = line + np.clip(step, -1, 1)
        if np.abs(step).max() < 1e-10:
            break
    # A person who finds more wrong labels among reliable ones does not turn the order around.
    return float(line[0]), float(max(line[1], 0.05))


# ---- the plan of a review --------------------------------------------------------------------


def next_rows(
    ratings: Ratings, n_rows: int, random_fraction: float, random: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """Choose rows to verify among those that are not verified.

    Rows at random are drawn all along the order by label quality, one from each part of it, and
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
    by_chance = open_rows[_spread_draw(len(open_rows), n_random, random)]
    worst = open_rows[~np.isin(open_rows, by_chance)][: n_rows - n_random]
    drawn = np.repeat([WORST_FIRST, AT_RANDOM], [len(worst), n_random])
    # Shuffled, so that a review that stops early has seen a random part of them.
    return np.concatenate([worst, random.permutation(by_chance)]), drawn


def _spread_draw(n_rows: int, n_drawn: int, random: np.random.RandomState) -> np.ndarray:
    """Draw positions, each with the same probability, all along the order.

    Ordered pivotal sampling (Deville and Tillé 1998): chances of neighbours are joined, and
    one of them has the sum, until somebody's reaches one.
    """
    if n_drawn == 0:
        return np.empty(0, dtype=np.intp)
    share, kept, holder = n_drawn / n_rows, [], 0
    chance = share
    for row, luck in enumerate(random.uniform(size=n_rows - 1).tolist(), start=1):
        both = chance + share
        if both < 1:
            chance = both
            holder = holder if luck * both < both - share else row
        else:
            chance = both - 1
            if luck * (2 - both) < 1 - share:
                kept.append(holder)
                holder = row
            else:
                kept.append(row)
    # What is left is one or nothing, but for rounding.
    return np.sort([*kept, holder][:n_drawn]).astype(np.intp)


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
