"""Boosted trees of which each is stopped by the Brier score on a fold that it did not see."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length

from granulearn._sklearn_compat import StrOptions, fit_context
from granulearn.ensemble.boosted_trees import (
    MOST_LEAVES,
    MOST_ROUNDS,
    BoostedTrees,
    gains_of,
    trees_of,
)
from granulearn.rvfl import one_hot
from granulearn.utils.estimator import Abilities, ScoreClassifier
from granulearn.utils.sampling import grouped_folds, stratified_sample
from granulearn.utils.saved import SHARE, Array, Part, require
from granulearn.utils.stacking import brier_score
from granulearn.utils.threads import effective_n_jobs, limited_threads
from granulearn.utils.validation import check_samples, weight_of_each_class

N_FOLDS = 3
LEARNING_RATE = 0.2
PATIENCE = 4  # rounds without a gain
# A booster learns from so many rows of the other folds, and is stopped by so many of its own.
MAX_TRAIN, MAX_VALIDATION = 12_000, 3_000
# Trees of two classes have a leaf for so many rows, within bounds; those of more have the most.
ROWS_PER_LEAF, FEWEST_LEAVES = 220, 15
# With less work, threads wait more than they work.
ONE_THREAD_ROWS = 20_000


class BoostedTreesClassifier(ScoreClassifier):
    """Mean of three histogram boosters, each stopped by the fold that it did not see.

    scikit-learn's `HistGradientBoostingClassifier` on three folds. The Brier score stops
    it: under wrong labels it is a far better guide than log-loss. Use it as a member of
    `RobustClassifier`; alone, it follows wrong labels more than that does.

    Parameters
    ----------
    random_state : int, RandomState or None, default=None
        Draws the folds.
    class_weight : dict, "balanced" or None, default=None
        Factor on the weights of each class's samples.
    n_jobs : int or None, default=None
        Threads; None means 1 and -1 all cores.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X had column names.
    boosters_ : tuple of BoostedTrees
        The boosters.
    out_of_sample_proba_ : ndarray of shape (n_samples, n_classes)
        Probabilities of each training sample by the booster that did not see it.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Share of the loss that splits on each feature saved.

    Notes
    -----
    Of large tables each booster sees 12,000 rows, a stratified sample.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from granulearn.ensemble import BoostedTreesClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> BoostedTreesClassifier(random_state=0).fit(X, y).score(X, y) > 0.95
    True
    """

    _abilities = Abilities(
        command="boosted-trees",
        summary="histogram boosting stopped by the Brier score",
    )
    _probability_form = "scores"
    _parameter_constraints: ClassVar[dict] = {
        "random_state": ["random_state"],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "n_jobs": [None, Integral],
    }

    def __init__(self, random_state=None, class_weight=None, n_jobs=None):
        self.random_state = random_state
        self.class_weight = class_weight
        self.n_jobs = n_jobs

    _saved: ClassVar[dict] = {
        "boosters_": Part(BoostedTrees, many=tuple),
        "feature_importances_": Array("float64", ("n_features_in_",), 0, SHARE),
    }

    def _check_saved(self) -> None:
        super()._check_saved()
        require(0 < len(self.boosters_) <= N_FOLDS, "boosters_ are more than folds, or none")
        for booster in self.boosters_:
            require(booster.n_features == self.n_features_in_, "boosters_ take other columns")
            require(booster.classes.max() < len(self.classes_), "boosters_ know other classes")

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None, groups=None):
        """Fit one booster per fold.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            How many samples each one stands for; zero leaves it out.
        groups : array-like of shape (n_samples,), default=None
            Samples of one group are in the same fold.

        Returns
        -------
        self
            The fitted classifier.

        Raises
        ------
        ValueError
            If a fold, or the folds beside it, hold too few classes.
        """
        samples = check_samples(X, y, self, sample_weight)
        if groups is not None:
            check_consistent_length(X, groups)
        X, codes, K = samples.X, samples.codes, len(samples.classes)
        weights = np.ones(len(X)) if samples.weights is None else samples.weights
        if self.class_weight is not None:
            totals = np.bincount(codes, weights, minlength=K)
            weights = (
                weights * weight_of_each_class(self.class_weight, samples.classes, totals)[codes]
            )
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        known = np.flatnonzero(weights > 0)
        if groups is not None:
            groups = np.unique(np.asarray(groups)[known], return_inverse=True)[1]
        fold_of = grouped_folds(codes[known], groups, N_FOLDS, rng)
        proba = np.full((len(X), K), np.nan)
        fitted = []
        # Of few rows the work is in pieces so small that threads wait more than they work.
        threads = effective_n_jobs(self.n_jobs) if len(known) > ONE_THREAD_ROWS else 1
        with limited_threads(threads, "openmp"):
            for fold in range(N_FOLDS):
                seen, own = known[fold_of != fold], known[fold_of == fold]
                seen = seen[stratified_sample(codes[seen], MAX_TRAIN, rng)]
                fitted.append(_fit_one(X, codes, weights, seen, own, rng))
        # One number of rounds for all: chosen fold by fold, the scores of few rows are too good.
        n_rounds = _best_rounds([booster for booster, _ in fitted])
        boosters = [trees_of(booster, n_rounds, present) for booster, present in fitted]
        for fold, booster in enumerate(boosters):
            own = known[fold_of == fold]
            proba[own] = booster.proba(X[own], K)
        gains = np.sum([gains_of(each, n_rounds, X.shape[1]) for each, _ in fitted], axis=0)
        self.classes_, self.n_features_in_ = samples.classes, X.shape[1]
        self.boosters_ = tuple(boosters)
        if len(known) < len(X):
            unknown = weights == 0
            proba[unknown] = self._scores(X[unknown])
        self.out_of_sample_proba_ = proba
        self.feature_importances_ = gains / gains.sum() if gains.any() else gains
        return self

    def _scores(self, X: np.ndarray) -> np.ndarray:
        """Return the mean of the boosters' probabilities."""
        K = len(self.classes_)
        return np.mean([booster.proba(X, K) for booster in self.boosters_], axis=0)


def _fit_one(X, codes, weights, seen, own, rng) -> tuple[Any, np.ndarray]:
    """Return a booster of the rows seen, stopped by its own fold, and its classes."""
    from sklearn.ensemble import HistGradientBoostingClassifier  # slow to import

    present = np.unique(codes[seen])
    own = own[np.isin(codes[own], present)]
    if len(present) < 2 or len(own) == 0:
        raise ValueError("a fold of the samples, or all others, lack two classes or more")
    own = own[stratified_sample(codes[own], MAX_VALIDATION, rng)]
    y, y_val = (np.searchsorted(present, codes[rows]) for rows in (seen, own))
    booster = HistGradientBoostingClassifier(
        learning_rate=LEARNING_RATE,
        max_iter=MOST_ROUNDS,
        max_leaf_nodes=n_leaves(len(seen), len(present)),
        early_stopping=True,
        scoring=_scoring(y, y_val),
        n_iter_no_change=PATIENCE,
        tol=0,
        random_state=0,
    )
    given = {"X_val": X[own], "y_val": y_val}
    # Weights of one change nothing, and scikit-learn's binning takes as long again.
    if (weights[seen] != 1).any():
        given |= {"sample_weight": weights[seen], "sample_weight_val": weights[own]}
    return booster.fit(X[seen], y, **given), present


def _best_rounds(boosters: list) -> int:
    """Return the number of rounds with the best mean score over the folds."""
    scores = [booster.validation_score_ for booster in boosters]
    shortest = min(map(len, scores))
    return int(np.mean([each[:shortest] for each in scores], axis=0).argmax())


def _scoring(y: np.ndarray, y_val: np.ndarray) -> Any:
    """Return the scorer that stops a booster.

    scikit-learn's own is faster, and needs all classes in the validation rows and in the
    10,000 training rows that it scores as well.
    """
    sizes = np.bincount(y)
    are_common = sizes.min() * 10_000 >= 2 * max(len(y), 10_000)
    all_there = len(np.unique(y_val)) == len(sizes)
    return "neg_brier_score" if are_common and all_there else negative_brier_score


def negative_brier_score(booster, X, y, sample_weight=None) -> float:
    """Score as "neg_brier_score" does, also where validation rows lack a class."""
    Y = one_hot(np.searchsorted(booster.classes_, y), len(booster.classes_))
    return -brier_score(booster.predict_proba(X), Y, sample_weight)


def n_leaves(n_rows: int, n_classes: int) -> int:
    """Return the leaves of a tree: more rows of two classes are worth larger trees."""
    if n_classes > 2:
        return MOST_LEAVES
    return min(max(n_rows // ROWS_PER_LEAF, FEWEST_LEAVES), MOST_LEAVES)
