"""NoiseRate: how many labels are wrong, in one number with a range and what it rests on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.stats import beta

from granulearn.audit.ratings import Ratings
from granulearn.audit.sure_regions import guess_noise
from granulearn.audit.verdicts import Evidence, evenly_spread
from granulearn.audit.verified import VerifiedLabels

SURE_REGIONS, VERIFIED_LABELS, NOTHING = "sure regions", "verified labels", "none"
_CONFIDENCE = 0.95
_QUANTILE = 1.64  # of 95 %, one-sided
_MOST_STRATA = 5
_LEAST_IN_STRATUM = 6
_N_RATES = 9
# A share is known to a tenth of a percent from so many rows.
_ENOUGH_ROWS = 20_000


@dataclass(frozen=True)
class NoiseRate:
    """The share of wrong labels."""

    rate: float
    """NaN where it cannot be judged."""
    low: float
    high: float
    basis: str
    """What it rests on: "sure regions", "verified labels" or "none"."""
    words: str
    """The same in a sentence, with what is assumed."""
    working_rates: tuple[float, ...]
    """Shares by which single labels are judged, as probable as each other: from the least that
    is wrong at random to every label that its likeliest class contradicts."""

    @property
    def sentence(self) -> str:
        """The words as a sentence of their own."""
        return self.words[:1].upper() + self.words[1:]


def attrs_of_noise(noise: NoiseRate) -> dict[Any, Any]:
    """Return the share of wrong labels as tables of ratings have it in their ``attrs``.

    Parameters
    ----------
    noise : NoiseRate
        What an audit says.
    """
    return {
        "noise_rate": noise.rate,
        "noise_low": noise.low,
        "noise_high": noise.high,
        "noise_basis": noise.basis,
        "noise_words": noise.words,
    }


def unverified_rate(evidence: Evidence) -> NoiseRate:
    """Estimate the share of wrong labels when nobody has looked at any.

    Its lower end and its middle hold if mistakes fall at random, see `sure_regions`. The
    upper end allows for mistakes that follow the inputs: labels that their likeliest class
    contradicts, beyond those at random, may all be wrong, and as many more may hide where
    the model has learnt the mistake.

    Parameters
    ----------
    evidence : Evidence
        Class probabilities.
    """
    known = evidence.known
    if not known.any():
        return _nothing("no label can be rated: nothing else is known of any class.")
    if evidence.says_nothing:
        return _nothing(
            "similar rows do not have similar labels more often than chance would have it, so "
            "nothing can be said about single labels; other columns or more rows may help."
        )
    calibrated, given = evidence.calibrated[known], evidence.given[known]
    n_classes = calibrated.shape[1]
    at = evenly_spread(calibrated, given, _ENOUGH_ROWS)
    guess = guess_noise(evidence.proba[known][at], calibrated[at], given[at])
    contradicted = float(1 - calibrated.max(axis=1).mean())
    margin = _QUANTILE * np.sqrt(contradicted * (1 - contradicted) / len(given))
    most = 0.98 * (n_classes - 1) / n_classes
    high = min(max(guess.high, 2 * (contradicted + margin) - guess.rate), most)
    working_rates = tuple(
        np.linspace(guess.low, min(max(contradicted, guess.rate), most), _N_RATES).tolist()
    )
    if not evidence.can_judge:
        words = (
            "similar rows hardly have similar labels more often than chance would have it, so how "
            "many are wrong cannot be told, and verdicts are weak; other columns or more rows may "
            "help."
        )
        return replace(_nothing(words), working_rates=working_rates)
    return NoiseRate(
        rate=guess.rate,
        low=min(guess.low, guess.rate),
        high=max(high, guess.rate),
        basis=SURE_REGIONS,
        words=(
            "judged by the rows of which the model is surest, as if mistakes fell at random; the "
            "upper end allows for mistakes that follow the inputs, which only labels checked "
            "by hand can tell from classes that overlap."
        ),
        working_rates=working_rates,
    )


def verified_rate(ratings: Ratings, verified: VerifiedLabels, before: NoiseRate) -> NoiseRate:
    """Estimate the share of wrong labels from those that a person has looked at.

    Rows that were not drawn at random stand for themselves. Rows drawn at random stand for
    all others, by strata of label quality. The interval is Clopper and Pearson's at the
    number of rows that a simple random sample of the same error would have.

    Parameters
    ----------
    ratings : Ratings
        What the audit says of all labels.
    verified : VerifiedLabels
        Labels that a person has looked at.
    before : NoiseRate
        What was known without them.
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
        words=(
            f"from {n_random} labels checked at random, which stand for the rest, and {n_chosen} "
            f"others, which count for themselves; {found + counted} of them were wrong. "
            "It lies in the range with 95 % confidence."
        ),
        working_rates=before.working_rates,
    )


def _among_the_worst(ratings: Ratings, verified: VerifiedLabels) -> np.ndarray:
    """Return where verified rows lie among the worst rows, of which none is open any more.

    Whatever is worst was chosen unless it was drawn at random before: rows at random among
    the chosen ones stand for nobody else.
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
        words = f"all {n_labels} labels were checked; {counted} are wrong."
        return NoiseRate(least, least, least, VERIFIED_LABELS, words, before.working_rates)
    rate, low, high = np.clip((before.rate, before.low, before.high), least, most).tolist()
    return NoiseRate(
        rate=rate,
        low=low,
        high=high,
        basis=before.basis,
        words=(
            f"{counted} of {n_chosen} labels that were checked are wrong; none of them was drawn "
            f"at random{', so the rest is' if before.basis == SURE_REGIONS else ';'} {before.words}"
        ),
        working_rates=before.working_rates,
    )


def _nothing(words: str) -> NoiseRate:
    return NoiseRate(np.nan, np.nan, np.nan, NOTHING, words, ())


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
