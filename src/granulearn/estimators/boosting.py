"""The boosted member of the robust classifier: a few boosters, each stopped by rows it did not see.

Squared error decides when to stop: under wrong labels it is a far better guide than
log-loss, and scikit-learn's own stopping ends too soon.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from granulearn._sklearn_compat import booster_rounds
from granulearn.balls.forest_rows import canonical_order
from granulearn.balls.narrow_tables import NarrowTable, narrow_table
from granulearn.balls.row_keys import MANY_ROWS, DrawnRows, spread_over
from granulearn.estimators.boosted_trees import (
    MOST_LEAVES,
    MOST_ROUNDS,
    BoostedTrees,
    gains_of,
    proba_of_raw,
    trees_of,
)
from granulearn.estimators.bundles import find_bundles
from granulearn.estimators.row_source import (
    BOOSTING,
    Job,
    RowSource,
    draw_of_classes,
)
from granulearn.utils.threads import limited_threads
from granulearn.utils.validation import Samples

N_FOLDS = 3
LARGE = MANY_ROWS  # above, one part held out says enough
RATE = 0.2
# A large table needs no folds: so many rows are held out, and at most so many are seen.
SHARE_HELD_OUT, MAX_HELD_OUT = 0.1, 10_000
MAX_SEEN = 50_000
PATIENCE = 4  # rounds without a gain
# Trees of two classes have a leaf for so many rows, within bounds; those of more have the most.
ROWS_PER_LEAF, FEWEST_LEAVES = 220, 15


@dataclass(frozen=True, eq=False)
class BoostingFit:
    """Boosters whose predictions are averaged, and what they predict for rows they did not see."""

    boosters: tuple[BoostedTrees, ...]
    rounds: tuple[int, ...]
    """Rounds of each."""
    out_of_sample: np.ndarray
    """(n_rows, K) predictions; NaN for rows that every booster saw."""
    gains: np.ndarray
    """(n_features,) loss that splits on each feature saved."""


class BoostingError(ValueError):
    """The rows cannot be boosted; the message says why."""


def warn_without_boosting(reason: object) -> None:
    """Warn that a classifier has no boosted trees, and say why."""
    warnings.warn(
        f"boosted trees are left out: {reason}. Forest and committee remain; add samples "
        "of the rare classes to have them.",
        UserWarning,
        stacklevel=4,
    )


def boost_samples(samples: Samples, weights: np.ndarray, n_threads: int) -> BoostingFit:
    """Boost samples in an order, and with numbers of their classes, that are their own.

    Parameters
    ----------
    samples : Samples
        Checked.
    weights : ndarray of shape (n_samples,)
        Weight of each sample; those of weight zero are left out.
    n_threads : int
        Threads; they change no result.
    """
    n_classes, known = len(samples.classes), np.flatnonzero(weights > 0)
    if len(known) < len(samples):
        fit = boost_samples(samples.take(known), weights[known], n_threads)
        out_of_sample = np.full((len(samples), n_classes), np.nan)
        out_of_sample[known] = fit.out_of_sample
        return replace(fit, out_of_sample=out_of_sample)
    order, numbers = canonical_order(samples.narrow, samples.codes, n_classes)
    # Neighbours in that order are alike, their wrong labels too: dealt out in turn, they would
    # tell a booster what the rows held out say.
    rows = np.random.default_rng(0).permutation(order)
    own = numbers[samples.codes[rows]]
    fit = fit_boosting(samples.X, samples.narrow, rows, own, n_classes, weights[rows], n_threads)
    out_of_sample = np.empty((len(samples), n_classes))
    out_of_sample[rows] = fit.out_of_sample[:, numbers]
    code_of = np.argsort(numbers)
    boosters = tuple(replace(each, classes=code_of[each.classes]) for each in fit.boosters)
    return replace(fit, boosters=boosters, out_of_sample=out_of_sample)


@dataclass(frozen=True, eq=False)
class DrawnBoosting:
    """Boosted trees of rows that were drawn of a large table."""

    fit: BoostingFit | None
    """Predictions are those of the rows held out; None if there are no boosted trees."""
    problem: str
    """Why there are none."""
    held_out: DrawnRows

    def spread(self, n_rows: int) -> np.ndarray:
        """Return predictions for all rows of the table; NaN for those not held out."""
        assert self.fit is not None
        every = np.full((n_rows, self.fit.out_of_sample.shape[1]), np.nan)
        every[self.held_out.positions] = self.fit.out_of_sample
        return every


@dataclass(frozen=True, eq=False)
class BoostDrawn:
    """How rows that are drawn are boosted; can be sent to another process."""

    numbers: np.ndarray
    """(n_classes,) numbers of the classes."""
    factors: np.ndarray
    """(n_classes,) factor on the weights of each class."""
    n_held_out: np.ndarray
    """(n_classes,) of the rows of each class, so many that were drawn first are held out."""
    n_threads: int

    def __call__(self, rows: DrawnRows) -> DrawnBoosting:
        """Fit a booster to the rows that are not held out."""
        n_classes = len(self.numbers)
        place = places_in_class(rows.codes, n_classes)
        is_held_out = place < self.n_held_out[rows.codes]
        seen, held_out = np.flatnonzero(~is_held_out), np.flatnonzero(is_held_out)
        others = rows.take(held_out)
        try:
            fit = fit_boosting(
                rows.X,
                narrow_table(rows.X),
                np.arange(len(rows)),
                self.numbers[rows.codes],
                n_classes,
                rows.weights * self.factors[rows.codes],
                self.n_threads,
                [(seen, held_out)],
            )
        except BoostingError as error:
            return DrawnBoosting(None, str(error), others)
        out_of_sample = fit.out_of_sample[held_out][:, self.numbers]
        code_of = np.argsort(self.numbers)
        boosters = tuple(replace(each, classes=code_of[each.classes]) for each in fit.boosters)
        fit = replace(fit, boosters=boosters, out_of_sample=out_of_sample)
        return DrawnBoosting(fit, "", others)


def boosting_job(source: RowSource, factors: np.ndarray | None, n_threads: int) -> Job:
    """Return how to boost rows drawn of a large table, and which of them are held out.

    Parameters
    ----------
    source : RowSource
        The table.
    factors : ndarray of shape (n_classes,) or None
        Factor on the weights of each class.
    n_threads : int
        Threads; they change no result.
    """
    frame = source.frame
    n_held_out = min(round(SHARE_HELD_OUT * frame.rows.sum()), MAX_HELD_OUT)
    held_out = spread_over(frame.rows, frame.numbers, n_held_out)
    rest = frame.rows - held_out
    # Even steps may pass over a rare class.
    seen = np.maximum(spread_over(rest, frame.numbers, MAX_SEEN), np.minimum(rest, 1))
    ones = np.ones(len(frame.rows))
    work = BoostDrawn(frame.numbers, ones if factors is None else factors, held_out, n_threads)
    return Job((draw_of_classes(frame, BOOSTING, held_out + seen),), work)


def fit_boosting(
    X: np.ndarray,
    table: NarrowTable,
    rows: np.ndarray,
    codes: np.ndarray,
    n_classes: int,
    weights: np.ndarray,
    n_threads: int,
    parts: Sequence[tuple[np.ndarray, np.ndarray]] | None = None,
) -> BoostingFit:
    """Fit boosters to parts of the rows.

    Parameters
    ----------
    X : ndarray of shape (n_all, n_features)
        Inputs.
    table : NarrowTable
        The same inputs.
    rows : ndarray of shape (n_rows,)
        Rows of these, in an order that says nothing about them: folds are made by position.
    codes : ndarray of shape (n_rows,)
        Classes.
    n_classes : int
        Number of classes.
    weights : ndarray of shape (n_rows,)
        Positive weights.
    n_threads : int
        Threads; they change no result.
    parts : sequence of tuple, default=None
        The rows that each booster sees, and those held out; None makes folds.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier  # slow to import

    parts = _folds(codes, n_classes) if parts is None else parts
    if any(len(np.unique(codes[seen])) < 2 for seen, _ in parts):
        raise BoostingError("a part of the samples has one class only")
    out_of_sample = np.full((len(rows), n_classes), np.nan)
    gains = np.zeros(X.shape[1])
    commonest = np.bincount(codes, weights).argmax()
    boosters, rounds = [], []
    # Of few rows the work is in pieces so small that threads wait more than they work.
    with limited_threads(n_threads if len(rows) > LARGE else 1, "openmp"):
        for seen, held_out in parts:
            # The order of codes must not know the labels of rows held out.
            bundles = find_bundles(table, codes[seen] == commonest, weights[seen], rows[seen])
            own, new = (bundles.inputs_of(table, X, rows[part]) for part in (seen, held_out))
            Y = (codes[held_out, None] == np.arange(n_classes)).astype(float)
            unseen = _ErrorOfHeldOut(bundles, new, Y, weights[held_out])
            booster = HistGradientBoostingClassifier(
                learning_rate=RATE,
                max_iter=MOST_ROUNDS,
                max_leaf_nodes=n_leaves(len(seen), n_classes),
                early_stopping=True,
                scoring=unseen,
                validation_fraction=None,
                n_iter_no_change=PATIENCE,
                tol=0,
                random_state=0,
            )
            # Weights of one change nothing, and scikit-learn's binning takes as long again.
            own_weights = None if (weights[seen] == 1).all() else weights[seen]
            booster.fit(own, codes[seen], sample_weight=own_weights)
            boosters.append(trees_of(booster, bundles, 0, unseen.best_round))
            rounds.append(unseen.best_round)
            out_of_sample[held_out] = unseen.best
            gains += bundles.spread(gains_of(booster, unseen.best_round, own.shape[1]))
    return BoostingFit(tuple(boosters), tuple(rounds), out_of_sample, gains)


def places_in_class(codes: np.ndarray, n_classes: int) -> np.ndarray:
    """Return how many rows of its class come before each row."""
    place = np.empty(len(codes), dtype=np.intp)
    for k in range(n_classes):
        own = np.flatnonzero(codes == k)
        place[own] = np.arange(len(own))
    return place


def _folds(codes: np.ndarray, n_classes: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the rows that each booster sees, and those held out; each class is spread evenly."""
    place = places_in_class(codes, n_classes)
    folds = [place % N_FOLDS == fold for fold in range(N_FOLDS)]
    return [(np.flatnonzero(~fold), np.flatnonzero(fold)) for fold in folds]


def n_leaves(n_rows: int, n_classes: int) -> int:
    """Return the leaves of a tree: more rows of two classes are worth larger trees."""
    if n_classes > 2:
        return MOST_LEAVES
    return min(max(n_rows // ROWS_PER_LEAF, FEWEST_LEAVES), MOST_LEAVES)


class _ErrorOfHeldOut:
    """Scorer that a booster asks after every round; it looks at rows that the booster does not see.

    scikit-learn would hold out rows of its own. It is told to score the rows that it is fitted
    to, and these are not what this scorer looks at: so rows of our choice stop it, in one fit.
    """

    def __init__(self, bundles, new: np.ndarray, Y: np.ndarray, weights: np.ndarray):
        self.bundles, self.new, self.Y, self.weights = bundles, new, Y, weights
        self.raw = np.empty(0)
        self.best_error, self.best_round, self.best = np.inf, 0, np.empty(0)

    def __call__(self, booster, X, y, sample_weight=None) -> float:
        """Look at the newest round; return minus the squared error, as scorers do."""
        number = len(booster_rounds(booster))
        newest = trees_of(booster, self.bundles, max(number - 1, 0), number)
        if number == 0:
            self.raw = np.tile(newest.baseline, (len(self.new), 1))
        newest.add_raw(self.new, self.raw)
        proba = proba_of_raw(self.raw, newest.classes, self.Y.shape[1])
        error = float(self.weights @ np.square(proba - self.Y).sum(axis=1))
        if number > 0 and error < self.best_error:
            self.best_error, self.best_round, self.best = error, number, proba
        return -error
