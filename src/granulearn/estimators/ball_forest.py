"""Ball forest: classify by a Bayesian average over coverings of the data by balls."""

from __future__ import annotations

from numbers import Integral, Real
from typing import ClassVar

import numpy as np
from sklearn.utils import check_random_state

from granulearn._sklearn_compat import Interval, StrOptions, fit_context
from granulearn.balls import Samples, check_samples
from granulearn.balls.forest import BallForest, GrownForest, grow_forest, label_reliability
from granulearn.balls.forest_rows import refined_order
from granulearn.balls.forest_rules import rule_of_size
from granulearn.balls.forest_tree import ForestRule, Weighing
from granulearn.balls.forest_voices import SeenRows, WeighedTree, weigh_trees
from granulearn.balls.makers import effective_n_jobs
from granulearn.balls.records import repetitions
from granulearn.balls.row_keys import MANY_ROWS, DrawnRows
from granulearn.estimators.base import weight_of_each_class
from granulearn.estimators.estimator import Abilities, ScoreClassifier
from granulearn.estimators.explaining import explain_rows
from granulearn.estimators.row_source import (
    FEWEST_TELLING,
    RowSource,
    TableSource,
    TreeJob,
    factors_of_classes,
    job_of_judged,
    judging_weights,
    unseen_by_trees,
)
from granulearn.estimators.shares import best_shares
from granulearn.network import one_hot
from granulearn.utils.saved import SHARE, Array, Part, require


class BallForestClassifier(ScoreClassifier):
    r"""Forest of random ball trees, each averaged over all its coverings.

    A tree splits a part of the samples by the nearer of two class means, in a
    few random features, or by a single feature, until balls are pure. Instead
    of cutting the tree at a purity, every ball counts by the evidence that its
    samples share one distribution of labels. Use it when labels may be wrong: a ball that only
    isolates a wrong label has no evidence, and `reliability_` says how far each
    label can be believed. Its weak points are structure in combinations of
    many features, smooth boundaries (`RobustClassifier` adds a network for
    these), and features that are not scaled.

    Parameters
    ----------
    n_trees : int or "auto", default="auto"
        Number of trees; "auto" means 100, and fewer, at least 20, where each of
        them sees more than 1,500 samples.
    max_samples : float, default=0.632
        Share of the samples that a tree is grown on, drawn without replacement;
        at most 50,000 samples and ten million values.
    n_tries : int, default=8
        Random splits to try for each ball; the one of most evidence is kept.
    splits : {"auto", "class means", "searched"}, default="auto"
        "class means" sends samples to the nearer of two class means. "searched"
        tries single features, and for a quarter as many tries the way from one
        class mean to another, all with eight thresholds. "auto" means class means
        up to 1,000 samples, where whatever is searched for longer finds noise.
    stop : float or "auto", default="auto"
        Prior probability that a ball is not split, in (0, 1]. "auto" means 0.8
        for splits by class means. Searched trees are weighed in five ways, from
        cautious to trusting, that share in the prediction as the squared error
        of out-of-bag predictions says.
    random_state : int, RandomState or None, default=None
        The same number gives the same forest, whatever `n_jobs` is.
    class_weight : dict, "balanced" or None, default=None
        Factor on the weights of each class's samples; "balanced" gives every
        class the same total weight.
    n_jobs : int or None, default=None
        Threads; None means 1 and -1 all cores. They change no result.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X had column names.
    oob_proba_ : ndarray of shape (n_samples, n_classes)
        Class probabilities of the training samples, each from the trees that
        did not see it; NaN where every tree did.
    reliability_ : ndarray of shape (n_samples,)
        Out-of-bag probability of the given label; NaN, with a warning, where
        every tree saw the sample or no other sample has its class.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Share of the evidence gained by splits on each feature.
    forest_ : BallForest
        The trees.
    weighings_ : tuple of Weighing
        How the balls of the trees were weighed.
    weighing_shares_ : ndarray of shape (n_weighings,)
        The share of each weighing in the prediction.
    in_bag_ : ndarray of shape (n_trees, n_samples)
        True where a tree saw a sample.

    Notes
    -----
    The evidence of a ball with class counts :math:`n_k` of n samples in K
    classes is that of a Dirichlet-multinomial; with the weight
    :math:`\alpha = 1/2` of each class,

    .. math::
        E = \frac{\Gamma(K \alpha)}{\Gamma(n + K \alpha)}
            \prod_k \frac{\Gamma(n_k + \alpha)}{\Gamma(\alpha)} .

    With g = `stop`, :math:`W = E` at a leaf and
    :math:`W = g E + (1 - g) W_{left} W_{right}` elsewhere: the average of the
    evidence over all coverings of the data by balls of the tree. The walk of x
    down the tree stops at a ball with probability :math:`g E / W`, and
    predicts :math:`(n_k + \alpha) / (n + K \alpha)` there.

    A sample of weight w counts as round(w) samples, at least one, that share
    the weight: integer weights are repeated rows, zero is absence. The order of
    the samples and the names of the classes change nothing. Splits of a ball
    with more than 2,048 samples are chosen on that many of them.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from granulearn.estimators import BallForestClassifier
    >>> X, y = make_moons(300, noise=0.1, random_state=0)
    >>> y[7] = 1 - y[7]  # a wrong label
    >>> model = BallForestClassifier(random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.95, float(model.reliability_[7]) < 0.1
    (True, True)
    """

    _abilities = Abilities(
        command="ball-forest",
        summary="trees of balls weighed by their evidence",
        onnx="ball forest",
        in_parts=True,
    )
    _probability_form = "scores"
    _parameter_constraints: ClassVar[dict] = {
        "n_trees": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "max_samples": [Interval(Real, 0, 1, closed="right")],
        "n_tries": [Interval(Integral, 1, None, closed="left")],
        "splits": [StrOptions({"auto", "class means", "searched"})],
        "stop": [Interval(Real, 0, 1, closed="right"), StrOptions({"auto"})],
        "random_state": ["random_state"],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "n_jobs": [None, Integral],
    }

    def __init__(
        self,
        n_trees="auto",
        max_samples=0.632,
        n_tries=8,
        splits="auto",
        stop="auto",
        random_state=None,
        class_weight=None,
        n_jobs=None,
    ):
        self.n_trees = n_trees
        self.max_samples = max_samples
        self.n_tries = n_tries
        self.splits = splits
        self.stop = stop
        self.random_state = random_state
        self.class_weight = class_weight
        self.n_jobs = n_jobs

    _saved: ClassVar[dict] = {
        "forest_": Part(BallForest),
        "feature_importances_": Array("float64", ("n_features_in_",), 0, SHARE),
    }

    def _check_saved(self) -> None:
        super()._check_saved()
        forest, n_classes = self.forest_, len(self.classes_)
        require(len(forest.shift) == self.n_features_in_, "forest_ takes other columns")
        one = (forest.n_outputs, forest.n_weighings) == (n_classes, 1)
        require(one, "forest_ knows other classes")

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        """Grow the trees and rate every label.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs, used as they come: scale them first.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            How many samples each one stands for; zero leaves it out.

        Returns
        -------
        self
            The fitted classifier.
        """
        return self._fit_samples(check_samples(X, y, self, sample_weight))

    def _fit_samples(self, samples: Samples):
        """Fit to samples that are checked; those of weight zero are rated, not learnt from."""
        if n_counted(samples) > MANY_ROWS:
            grown, shares = self._fit_source(TableSource(samples))
            unseen = grown.out_of_bag(samples.narrow, effective_n_jobs(self.n_jobs))
            return self._settle(samples, grown, unseen, shares)
        grown = self._grow(samples)
        unseen = grown.out_of_bag(samples.narrow, effective_n_jobs(self.n_jobs))
        prior = _first_of(len(unseen))
        shares = prior
        if len(unseen) > 1:
            Y = one_hot(samples.codes, len(samples.classes)).astype(float)
            weights = total_weights(self.class_weight, samples) * telling(samples)
            shares = best_shares(unseen, Y, weights, prior)
        return self._settle(samples, grown, unseen, shares)

    def _fit_source(self, source: RowSource) -> tuple[GrownForest, np.ndarray]:
        """Grow trees on rows drawn of a large table, and choose how weighings share."""
        judged: DrawnRows
        (judged,), grown = source.fit([job_of_judged(source.frame)], self._tree_job(source))
        shares = _first_of(len(self.weighings_))
        if len(shares) > 1:
            weights = judging_weights(
                judged, source.frame, factors_of_classes(self.class_weight, source)
            )
            Y = one_hot(judged.codes, len(source.classes)).astype(float)
            shares = best_shares(unseen_by_trees(source, grown, judged), Y, weights, shares)
        return grown, shares

    def _tree_job(self, source: RowSource, first_look: bool = False) -> TreeJob:
        """Return how to grow the trees on rows drawn of a large table."""
        self.classes_, self.n_features_in_ = source.classes, source.n_features
        rule = self._rule(source.frame.n_counted, source.n_features, first_look)
        self.weighings_ = rule.weighings
        factors = factors_of_classes(self.class_weight, source)
        return TreeJob(rule, factors, effective_n_jobs(self.n_jobs))

    def _settle_without_rows(self, grown: GrownForest, shares: np.ndarray):
        """Let the weighings share in the prediction; no label is rated, as no rows are here."""
        n_classes = len(self.classes_)
        self.weighing_shares_, self.forest_ = shares, grown.mixed(shares)
        self.feature_importances_ = grown.importances
        self.in_bag_ = np.zeros((len(self.forest_.trees), 0), dtype=bool)
        self.oob_proba_, self.reliability_ = np.empty((0, n_classes)), np.empty(0)
        return self

    def _grow(self, samples: Samples) -> GrownForest:
        """Grow the trees; how their weighings share in the prediction is not yet settled."""
        self.classes_, self.n_features_in_ = samples.classes, samples.X.shape[1]
        rule = self._rule(n_counted(samples), samples.X.shape[1])
        self.weighings_ = rule.weighings
        return grow_forest(
            samples.narrow,
            samples.codes,
            len(samples.classes),
            rule,
            sample_weight=samples.weights,
            class_factor=class_factors(self.class_weight, samples),
            n_threads=effective_n_jobs(self.n_jobs),
        )

    def _settle(self, samples: Samples, grown: GrownForest, unseen: np.ndarray, shares: np.ndarray):
        """Let the weighings share in the prediction, and rate every label by it."""
        self.weighing_shares_ = shares
        self.forest_, self.in_bag_ = grown.mixed(shares), grown.in_bag
        self.feature_importances_ = grown.importances
        self.oob_proba_ = np.einsum("w,wnk->nk", shares, unseen)
        self.reliability_ = label_reliability(self.oob_proba_, samples.codes, samples.weights)
        return self

    def _rule(self, n_rows: int, n_features: int, first_look: bool = False) -> ForestRule:
        seed = check_random_state(self.random_state).randint(2**63 - 1, dtype=np.int64)
        return rule_of_size(
            n_rows,
            n_features,
            n_trees=None if self.n_trees == "auto" else self.n_trees,
            max_samples=self.max_samples,
            first_look=first_look,
            n_classes=len(self.classes_),
            n_tries=self.n_tries,
            searched=None if self.splits == "auto" else self.splits == "searched",
            weighings=None if self.stop == "auto" else (Weighing(stop=self.stop),),
            seed=int(seed),
        )

    def _scores(self, X):
        """Return the mean of the trees' posteriors."""
        return self.forest_.posterior(X, effective_n_jobs(self.n_jobs))

    def explain(self, X, training=None):
        """Say for each row which balls and which training rows speak for its class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to explain.
        training : tuple of X and y, or of X, y and sample_weight, default=None
            What was passed to `fit`: a model keeps no rows. Without it there are no
            balls and no nearest rows.

        Returns
        -------
        list of RowExplanation
            One for each row; as text, it is a few lines to read. See `RobustClassifier.explain`.
        """
        X = self._checked(X)
        scores = self._scores(X)
        return explain_rows(self, X, scores, {"forest": (1.0, scores)}, self, training)

    def _weigh_trees(self, samples: Samples) -> list[WeighedTree]:
        """Return the trees with what their balls have and say, from the samples of `fit`."""
        weights = total_weights(self.class_weight, samples)
        seen = SeenRows(self.forest_.rows(samples.X), samples.codes, weights, self.in_bag_)
        return weigh_trees(self.forest_, seen, self.weighings_, self.weighing_shares_)


def _first_of(n_weighings: int) -> np.ndarray:
    """Return the shares that the choice leans to: the first weighing has all."""
    return np.eye(n_weighings)[0]


def class_factors(class_weight, samples: Samples) -> np.ndarray | None:
    """Return the factor on each class's weights; None stands for all ones and costs nothing."""
    if class_weight is None:
        return None
    totals = np.bincount(samples.codes, samples.weights, minlength=len(samples.classes))
    return weight_of_each_class(class_weight, samples.classes, totals)


def total_weights(class_weight, samples: Samples) -> np.ndarray:
    """Return the weight of each sample, times the factor of its class."""
    weights = np.ones(len(samples)) if samples.weights is None else samples.weights
    factors = class_factors(class_weight, samples)
    return weights if factors is None else weights * factors[samples.codes]


def n_counted(samples: Samples) -> int:
    """Return how many samples there are; one of weight two counts as two."""
    return len(samples) if samples.weights is None else int(repetitions(samples.weights).sum())


def telling(samples: Samples) -> np.ndarray:
    """Return which samples can tell how good out-of-sample predictions are.

    Whoever did not see a sample may have seen a copy of it, and looks too sure. The only
    sample of a class cannot be predicted by anyone who did not see it. Where nearly all
    count more than once, those without a copy tell, whatever they count.
    """
    order, place = refined_order(samples.narrow, samples.codes)
    weights = np.ones(len(samples)) if samples.weights is None else samples.weights
    known = weights > 0
    of_class = np.bincount(samples.codes, known, minlength=len(samples.classes))
    can_be_known = known & (of_class[samples.codes] > 1)

    def without_copy(counts: np.ndarray) -> np.ndarray:
        total = np.bincount(place, counts[order], minlength=len(samples))
        alone = np.empty(len(samples), dtype=bool)
        alone[order] = total[place] == 1
        return alone & can_be_known

    found = without_copy(repetitions(weights))
    return found if found.sum() >= FEWEST_TELLING else without_copy(known.astype(float))
