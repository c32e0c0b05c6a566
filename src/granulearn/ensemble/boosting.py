"""Boosted trees on three folds, each booster stopped by the fold that it did not see.

The trees of scikit-learn's booster are kept as plain arrays, since a fitted
`HistGradientBoostingClassifier` is made of compiled objects that a model file should not hold.
It predicts the softmax (for two classes the logistic function) of a baseline plus values of leaves.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np
from scipy.special import softmax
from sklearn.utils import check_random_state

from granulearn._sklearn_compat import StrOptions, booster_baseline, booster_rounds, fit_context
from granulearn.ensemble._boosted_trees import add_leaf_values
from granulearn.rvfl import one_hot
from granulearn.utils.estimator import Abilities, ScoreClassifier
from granulearn.utils.sampling import grouped_folds, stratified_sample
from granulearn.utils.saved import SHARE, Array, Part, Size, require, sums_from_roots
from granulearn.utils.stacking import brier_score
from granulearn.utils.threads import effective_n_jobs, limited_threads
from granulearn.utils.validation import check_samples, ranks_of, total_weights

if TYPE_CHECKING:
    from sklearn.ensemble import HistGradientBoostingClassifier

N_FOLDS = 3
LEARNING_RATE = 0.2
PATIENCE = 6  # rounds without less log-loss
# Most rows of the other folds that a booster learns from, and of its own that stop it.
MAX_TRAIN, MAX_VALIDATION = 12_000, 3_000
# Rows per leaf of a tree of two classes, and its fewest leaves; trees of more have the most.
ROWS_PER_LEAF, FEWEST_LEAVES = 220, 15
# With less work, threads wait more than they work.
ONE_THREAD_ROWS = 20_000
# Number of rows of a category that count as much as the overall rate.
SMOOTH = 10
# Every row walks down all trees, so a file may not hold more than training makes: the leaves of a
# tree, at worst in a chain, and the rounds, with one tree for each raw score.
MOST_LEAVES, MOST_ROUNDS = 31, 50
DEEPEST = MOST_LEAVES - 1
ROWS_PER_BLOCK = 4_096  # inputs of a block stay in the cache while trees pass


@dataclass(frozen=True, eq=False)
class BoostedTrees:
    """All trees of a booster, their nodes one after another."""

    n_features: int
    """Number of inputs."""
    starts: np.ndarray
    """(n_columns,) the first input of each column that trees split: a column is the sum of
    neighbouring inputs, which are one-hot encoded if there are several."""
    factors: np.ndarray
    """(n_features,) the factor of each input in the sum; one for an input of its own."""
    classes: np.ndarray
    """(k,) the classes that the raw scores are about; for two classes the second one."""
    baseline: np.ndarray
    """(n_outputs,) raw score before any tree: one for two classes, else one per class."""
    roots: np.ndarray
    """(n_trees,) where each tree begins."""
    outputs: np.ndarray
    """(n_trees,) the raw score that each tree adds to."""
    lefts: np.ndarray
    """(n_nodes,) where a row goes whose feature is at most the threshold."""
    rights: np.ndarray
    """(n_nodes,) where other rows go."""
    features: np.ndarray
    """(n_nodes,) the column that a node splits; -1 at a leaf."""
    thresholds: np.ndarray
    """(n_nodes,)"""
    values: np.ndarray
    """(n_nodes,) the value that a leaf adds."""

    _saved: ClassVar[dict] = {
        "n_features": Size,
        "starts": Array("int32", ("n_columns",), 0),
        "factors": Array("float64", ("n_features",)),
        "classes": Array("int32|int64", ("k",), 0, 2**31),
        "baseline": Array("float64", ("n_outputs",)),
        "roots": Array("int32", ("n_trees",), 0),
        "outputs": Array("int32", ("n_trees",), 0),
        "lefts": Array("int32", ("n_nodes",), 0),
        "rights": Array("int32", ("n_nodes",), 0),
        "features": Array("int32", ("n_nodes",), -1),
        "thresholds": Array("float64", ("n_nodes",), -np.inf, np.inf),
        "values": Array("float32", ("n_nodes",)),
    }

    def _check_saved(self) -> None:
        k, n_outputs, n_nodes = len(self.classes), len(self.baseline), len(self.features)
        require(k > 1 and len(np.unique(self.classes)) == k, "classes are not different")
        require(n_outputs == (1 if k == 2 else k), "baseline has another length")
        few = len(self.roots) <= MOST_ROUNDS * n_outputs
        require(few, f"roots are more than those of {MOST_ROUNDS} rounds")
        rise = self.starts[:1].tolist() == [0] and (np.diff(self.starts) > 0).all()
        require(rise and self.starts[-1] < self.n_features, "starts do not rise from 0")
        ends = {"lefts": n_nodes, "rights": n_nodes, "roots": n_nodes, "outputs": n_outputs,
                "features": len(self.starts)}  # fmt: skip
        for name, end in ends.items():
            inside = getattr(self, name).max(initial=-1) < end
            require(inside, f"{name} point outside")
        splits = np.flatnonzero(self.features >= 0)
        children = np.concatenate([self.lefts[splits], self.rights[splits]])
        self._check_trees(np.tile(splits, 2), children)

    def _check_trees(self, parents: np.ndarray, children: np.ndarray) -> None:
        """Raise unless the nodes are trees, one after another.

        Every row walks down every tree: with nodes that trees share, a few bytes could stand for
        any number of steps, and so could a chain.
        """
        require((children > parents).all(), "lefts or rights come before their parent")
        is_root = np.zeros(len(self.features), bool)
        is_root[self.roots] = True
        rise = np.array_equal(np.flatnonzero(is_root), self.roots)
        require(rise, "roots do not rise")
        once = np.bincount(children, minlength=len(is_root)) == ~is_root
        require(once.all(), "a node is below none, or below more than one")
        tree_of = np.cumsum(is_root)
        own = tree_of[children] == tree_of[parents]
        require(own.all(), "lefts or rights are of another tree")
        parent_of = np.arange(len(is_root))
        parent_of[children] = parents
        is_below = (parent_of != np.arange(len(is_root))).astype(np.int64)
        deepest = sums_from_roots(parent_of, is_below).max(initial=0)
        require(deepest <= DEEPEST, f"a tree is {deepest} deep, and {DEEPEST} is the most")

    def raw(self, X: np.ndarray) -> np.ndarray:
        """Return raw scores of shape (n_rows, n_outputs)."""
        raw = np.tile(self.baseline, (len(X), 1))
        for begin in range(0, len(X), ROWS_PER_BLOCK):
            block = slice(begin, begin + ROWS_PER_BLOCK)
            columns = join_one_hot(X[block], self.starts, self.factors)
            add_leaf_values(
                np.ascontiguousarray(columns, dtype=float), self.roots, self.outputs, self.lefts,
                self.rights, self.features, self.thresholds, self.values, raw[block],
            )  # fmt: skip
        return raw

    def proba(self, X: np.ndarray, n_classes: int) -> np.ndarray:
        """Return class probabilities; a class that the booster did not see has zero."""
        raw, proba = self.raw(X), np.zeros((len(X), n_classes))
        if raw.shape[1] == 1:
            raw = np.hstack([np.zeros_like(raw), raw])
        proba[:, self.classes] = softmax(raw, axis=1)
        return proba


class BoostedTreesClassifier(ScoreClassifier):
    """Mean of three histogram boosters, each stopped by the fold that it did not see.

    scikit-learn's `HistGradientBoostingClassifier` on three folds. The Brier score chooses
    the number of rounds: under wrong labels it is a better guide than log-loss. Use it as a
    member of `RobustClassifier`; alone, it follows wrong labels more than that does.

    Parameters
    ----------
    random_state : int, RandomState or None, default=None
        Draws the folds.
    class_weight : dict, "balanced" or None, default=None
        Factor on the weights of each class's samples.
    n_jobs : int or None, default=None
        Threads; None means 1 and -1 all cores.
    class_cost : dict, "balanced" or None, default=None
        Cost of an error in the rows of each class; one for a class that a dict does not name.
        `predict` returns the class of least expected cost; probabilities do not change.
        "balanced" is one over the mean out-of-sample probability of a class, for rare classes.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    class_cost_ : ndarray of shape (n_classes,) or None
        The cost of each class.
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
    Each booster sees at most 12,000 rows, a stratified sample.

    Neighbouring columns of 0 and 1 are taken for a one-hot encoded column if no row has
    two ones. A booster sees them as one column: a category becomes the share of a class
    among its rows, smoothed by 10 rows of the overall share. The class is the one whose
    share differs most between the categories.

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
        "class_cost": [dict, StrOptions({"balanced"}), None],
    }

    def __init__(self, random_state=None, class_weight=None, n_jobs=None, class_cost=None):
        self.random_state = random_state
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.class_cost = class_cost

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
            groups = ranks_of(groups, "groups", len(X), is_order=False)
        X, codes, K = samples.X, samples.codes, len(samples.classes)
        weights = total_weights(self.class_weight, samples)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        known = np.flatnonzero(weights > 0)
        if groups is not None:
            groups = np.unique(np.asarray(groups)[known], return_inverse=True)[1]
        fold_of = grouped_folds(codes[known], groups, N_FOLDS, rng)
        threads = effective_n_jobs(self.n_jobs) if len(known) > ONE_THREAD_ROWS else 1
        with limited_threads(threads, "openmp"):
            fits = []
            for fold in range(N_FOLDS):
                seen, own = known[fold_of != fold], known[fold_of == fold]
                seen = seen[stratified_sample(codes[seen], MAX_TRAIN, rng)]
                fits.append(_fit_one(X, codes, weights, seen, own, rng))
        # One number of rounds for all: chosen fold by fold, the scores of few rows are too good.
        shortest = min(len(fit.scores) for fit in fits)
        n_rounds = int(np.mean([fit.scores[:shortest] for fit in fits], axis=0).argmin())
        self.boosters_ = tuple(trees_of(fit, n_rounds) for fit in fits)
        self.classes_, self.n_features_in_ = samples.classes, X.shape[1]
        proba = np.empty((len(X), K))
        for fold, booster in enumerate(self.boosters_):
            own = known[fold_of == fold]
            proba[own] = booster.proba(X[own], K)
        if len(known) < len(X):
            unknown = weights == 0
            proba[unknown] = self._scores(X[unknown])
        self.out_of_sample_proba_ = proba
        self._fit_class_cost(proba, codes, weights)
        variances = X[known].var(axis=0)
        gains = np.sum([gains_of(fit, n_rounds, variances) for fit in fits], axis=0)
        self.feature_importances_ = gains / gains.sum() if gains.any() else gains
        return self

    def _scores(self, X: np.ndarray) -> np.ndarray:
        """Return the mean of the boosters' probabilities."""
        K = len(self.classes_)
        return np.mean([booster.proba(X, K) for booster in self.boosters_], axis=0)


class _Fit(NamedTuple):
    """A booster of one fold."""

    booster: HistGradientBoostingClassifier
    classes: np.ndarray
    """(k,) codes of the classes that it saw."""
    scores: list[float]
    """Brier score on the other fold after no round, one round, and so on."""
    starts: np.ndarray
    factors: np.ndarray
    """As those of `BoostedTrees`."""


def _fit_one(X, codes, weights, seen, own, rng) -> _Fit:
    """Return a booster of the rows seen, stopped by its own fold."""
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
        scoring="loss",
        n_iter_no_change=PATIENCE,
        tol=0,
        random_state=0,
    )
    Y = one_hot(y, len(present)) * weights[seen, None]
    starts, factors = find_one_hot(X[seen], Y)
    X_train, X_val = (join_one_hot(X[rows], starts, factors) for rows in (seen, own))
    given = {"X_val": X_val, "y_val": y_val}
    # Weights of one change nothing, and scikit-learn's binning takes as long again.
    if (weights[seen] != 1).any():
        given |= {"sample_weight": weights[seen], "sample_weight_val": weights[own]}
    booster.fit(X_train, y, **given)
    before = np.tile(Y.sum(axis=0) / Y.sum(), (len(own), 1))
    Y_val = one_hot(y_val, len(present))
    stages = [before, *booster.staged_predict_proba(X_val)]
    scores = [brier_score(proba, Y_val, weights[own]) for proba in stages]
    return _Fit(booster, present, scores, starts, factors)


def n_leaves(n_rows: int, n_classes: int) -> int:
    """Return the leaves of a tree: more rows of two classes are worth larger trees."""
    if n_classes > 2:
        return MOST_LEAVES
    return min(max(n_rows // ROWS_PER_LEAF, FEWEST_LEAVES), MOST_LEAVES)


def find_one_hot(X: np.ndarray, Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find one-hot encoded columns; return `starts` and `factors` of `BoostedTrees`.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Inputs.
    Y : ndarray of shape (n_rows, n_classes)
        The weight of each row in the column of its class.
    """
    starts, taken = [], None
    for feature, column in enumerate(X.T):
        ones = column == 1
        is_binary = (ones | (column == 0)).all()
        if is_binary and taken is not None and not (ones & taken).any():
            taken = taken | ones
        else:
            starts.append(feature)
            taken = ones if is_binary else None
    factors, mean = np.ones(X.shape[1]), Y.sum(axis=0) / Y.sum()
    for start, end in zip(starts, [*starts[1:], X.shape[1]], strict=True):
        if end - start == 1:
            continue
        # The first category is that of rows without a one.
        categories = np.column_stack([1 - X[:, start:end].sum(axis=1), X[:, start:end]])
        totals = categories.T @ Y
        counts = totals.sum(axis=1, keepdims=True)
        rates = (totals + SMOOTH * mean) / (counts + SMOOTH)
        widest = (counts * np.square(rates - mean)).sum(axis=0).argmax()
        factors[start:end] = rates[1:, widest] - rates[0, widest]
    return np.array(starts, dtype=np.int32), factors


def join_one_hot(X: np.ndarray, starts: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """Return the columns that trees split, of shape (n_rows, n_columns)."""
    if len(starts) == X.shape[1]:
        return X
    return np.add.reduceat(X * factors, starts, axis=1)


def trees_of(fit: _Fit, n_rounds: int) -> BoostedTrees:
    """Return the trees of the first rounds of a booster as arrays."""
    booster = fit.booster
    rounds = booster_rounds(booster)[:n_rounds]
    nodes = [predictor.nodes for trees in rounds for predictor in trees]
    roots = np.cumsum([0, *map(len, nodes)])
    joined = np.concatenate(nodes) if nodes else np.empty(0, dtype=_EMPTY_NODES)
    shift = np.repeat(roots[:-1], np.diff(roots))
    is_leaf = joined["is_leaf"].astype(bool)
    n_outputs = booster.n_trees_per_iteration_
    return BoostedTrees(
        n_features=len(fit.factors),
        starts=fit.starts,
        factors=fit.factors,
        classes=fit.classes,
        baseline=np.asarray(booster_baseline(booster), dtype=float).ravel(),
        roots=roots[:-1].astype(np.int32),
        outputs=np.tile(np.arange(n_outputs, dtype=np.int32), len(rounds)),
        lefts=np.where(is_leaf, 0, joined["left"] + shift).astype(np.int32),
        rights=np.where(is_leaf, 0, joined["right"] + shift).astype(np.int32),
        features=np.where(is_leaf, -1, joined["feature_idx"]).astype(np.int32),
        thresholds=np.where(is_leaf, 0.0, joined["num_threshold"]),
        values=np.where(is_leaf, joined["value"], 0.0).astype(np.float32),
    )


_EMPTY_NODES = [
    ("left", "i8"), ("right", "i8"), ("feature_idx", "i8"), ("num_threshold", "f8"),
    ("value", "f8"), ("is_leaf", "u1"),
]  # fmt: skip


def gains_of(fit: _Fit, n_rounds: int, variances: np.ndarray) -> np.ndarray:
    """Return the loss that splits on each input saved in the first rounds.

    The gain of a one-hot encoded column is shared by its inputs in proportion to their variance.
    """
    gains = np.zeros(len(fit.starts))
    for trees in booster_rounds(fit.booster)[:n_rounds]:
        for predictor in trees:
            nodes = predictor.nodes[predictor.nodes["is_leaf"] == 0]
            np.add.at(gains, nodes["feature_idx"], np.maximum(nodes["gain"], 0))
    own = variances * np.square(fit.factors)
    total = np.maximum(np.add.reduceat(own, fit.starts), np.finfo(float).tiny)
    widths = np.diff(np.append(fit.starts, len(own)))
    return np.repeat(gains / total, widths) * own
