"""Ball forest: classify by a Bayesian average over coverings of the data by balls."""

from __future__ import annotations

from numbers import Integral, Real
from typing import ClassVar

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length

from granulearn._sklearn_compat import Interval, StrOptions, fit_context
from granulearn.forest.explanation import SeenRows, WeighedTree, explain_rows, weigh_trees
from granulearn.forest.forest import (
    PRIORS,
    BallForest,
    grow_forest,
    label_quality,
    settings_for,
)
from granulearn.forest.tree import Prior
from granulearn.preprocess.table_inputs import TableInputs
from granulearn.rvfl import one_hot
from granulearn.utils.estimator import Abilities, ScoreClassifier
from granulearn.utils.sampling import stratified_sample, unique_rows
from granulearn.utils.saved import SHARE, Array, Part, require
from granulearn.utils.stacking import stacking_weights
from granulearn.utils.threads import effective_n_jobs
from granulearn.utils.validation import Samples, total_weights

# Number of rows that choose the weights of the priors.
MAX_JUDGED = 10_000
# The weights shrink to the first prior, as if 300 samples supported it.
PRIOR_SAMPLES = 300


class BallForestClassifier(TableInputs, ScoreClassifier):
    r"""Forest of random ball trees, each averaged over all its coverings.

    A tree splits a part of the samples by the nearer of two class means, in a
    few random features, or by a single feature, until balls are pure. Instead
    of cutting the tree at a purity, every ball counts by the evidence that its
    samples share one distribution of labels. Use it when labels may be wrong: a ball that only
    isolates a wrong label has no evidence, and `label_quality_` is the probability of
    each label. Its weak points are structure in combinations of
    many features, and smooth boundaries (`RobustClassifier` adds a network for
    these).

    Parameters
    ----------
    n_estimators : int or "auto", default="auto"
        Number of trees; "auto" means 100, and fewer, at least 20, where each of
        them sees more than 1,500 samples.
    max_samples : float, default=0.632
        Share of the samples that a tree is grown on, drawn without replacement;
        at most 50,000 samples and ten million values.
    n_candidates : int, default=8
        Random splits to try for each ball; the one of most evidence is kept.
    splitter : {"best", "means"}, default="best"
        "best" tries single features, and for a quarter as many candidates the way from
        one class mean to another, all with eight thresholds. "means" sends samples to the
        nearer of two class means.
    stop : float or "auto", default="auto"
        Prior probability that a ball is not split, in (0, 1]. "auto" means five priors,
        from cautious to trusting, weighted by least squared error of out-of-bag predictions.
    random_state : int, RandomState or None, default=None
        The same number gives the same forest, whatever `n_jobs` is.
    class_weight : dict, "balanced" or None, default=None
        Factor on the weights of each class's samples; "balanced" gives every
        class the same total weight.
    n_jobs : int or None, default=None
        Threads; None means 1 and -1 all cores. They change no result.
    class_cost : dict, "balanced" or None, default=None
        Cost of an error in the rows of each class; one for a class that a dict does not name.
        `predict` returns the class of least expected cost; probabilities do not change.
        "balanced" is one over the mean out-of-sample probability of a class, for rare classes.
    categorical_features : "auto", array-like or None, default="auto"
        Columns of categories: "auto" takes them by dtype; names, numbers or a mask of columns
        add some. None says that X holds prepared numbers: they are used as they come, and
        neither filled nor scaled.

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
    preprocessor_ : TablePreprocessor or None
        Makes numbers of columns; None with ``categorical_features=None``.
    oob_proba_ : ndarray of shape (n_samples, n_classes)
        Class probabilities of the training samples, each from the trees that
        did not see it; NaN where every tree did.
    label_quality_ : ndarray of shape (n_samples,)
        Out-of-bag probability of the given label; NaN, with a warning, where
        every tree saw the sample or no other sample has its class.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Share of the evidence gained by splits on each feature.
    forest_ : BallForest
        The trees.
    priors_ : tuple of Prior
        How the balls of the trees were weighed.
    prior_weights_ : ndarray of shape (n_priors,)
        The weight of each prior in the prediction.
    in_bag_ : ndarray of shape (n_estimators, n_samples)
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

    A sample of weight w counts as w samples that a tree sees together: integer weights are
    repeated rows of one group, zero is absence. Splits of a ball with more than 2,048 samples
    are chosen on that many of them.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from granulearn.forest import BallForestClassifier
    >>> X, y = make_moons(300, noise=0.1, random_state=0)
    >>> y[7] = 1 - y[7]  # a wrong label
    >>> model = BallForestClassifier(random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.95, float(model.label_quality_[7]) < 0.1
    (True, True)
    """

    _abilities = Abilities(
        command="ball-forest",
        summary="trees of balls weighed by their evidence",
    )
    _probability_form = "scores"
    _parameter_constraints: ClassVar[dict] = {
        "n_estimators": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "max_samples": [Interval(Real, 0, 1, closed="right")],
        "n_candidates": [Interval(Integral, 1, None, closed="left")],
        "splitter": [StrOptions({"best", "means"})],
        "stop": [Interval(Real, 0, 1, closed="right"), StrOptions({"auto"})],
        "random_state": ["random_state"],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "n_jobs": [None, Integral],
        "class_cost": [dict, StrOptions({"balanced"}), None],
        **TableInputs._parameter_constraints,
    }

    def __init__(
        self,
        n_estimators="auto",
        max_samples=0.632,
        n_candidates=8,
        splitter="best",
        stop="auto",
        random_state=None,
        class_weight=None,
        n_jobs=None,
        class_cost=None,
        categorical_features="auto",
    ):
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.n_candidates = n_candidates
        self.splitter = splitter
        self.stop = stop
        self.random_state = random_state
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.class_cost = class_cost
        self.categorical_features = categorical_features

    _saved: ClassVar[dict] = {
        "forest_": Part(BallForest),
        "feature_importances_": Array("float64", ("n_features_in_",), 0, SHARE),
    }

    def _check_saved(self) -> None:
        super()._check_saved()
        forest, n_classes = self.forest_, len(self.classes_)
        require(len(forest.shift) == self._n_inputs, "forest_ takes other columns")
        one = (forest.n_outputs, forest.n_priors) == (n_classes, 1)
        require(one, "forest_ knows other classes")

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None, groups=None):
        """Grow the trees and rate every label.

        Parameters
        ----------
        X : frame of pandas or polars, or array-like of shape (n_samples, n_features)
            Inputs. Missing numbers become the median, numbers are scaled, categories and dates
            encoded (`TablePreprocessor`).
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            How many samples each one stands for; zero leaves it out.
        groups : array-like of shape (n_samples,), default=None
            A tree sees all samples of a group or none.

        Returns
        -------
        self
            The fitted classifier.
        """
        samples = self._check_table(X, y, sample_weight)
        X, codes, n_classes = samples.X, samples.codes, len(samples.classes)
        if groups is not None:
            check_consistent_length(X, groups)
            groups = np.asarray(groups)
        self.classes_ = samples.classes
        weights, n_threads = (
            total_weights(self.class_weight, samples),
            effective_n_jobs(self.n_jobs),
        )
        rng = check_random_state(self.random_state)
        self.priors_ = PRIORS if self.stop == "auto" else (Prior(stop=self.stop),)
        settings = settings_for(
            int(np.count_nonzero(weights)),
            X.shape[1],
            n_classes,
            n_estimators=None if self.n_estimators == "auto" else self.n_estimators,
            max_samples=self.max_samples,
            n_candidates=self.n_candidates,
            splitter=self.splitter,
            priors=self.priors_,
            seed=int(rng.randint(2**63 - 1, dtype=np.int64)),
        )
        grown = grow_forest(
            X, codes, n_classes, settings, sample_weight=weights, groups=groups,
            n_threads=n_threads,
        )  # fmt: skip
        first = np.eye(len(self.priors_))[0]
        self.prior_weights_ = first
        if len(first) > 1:
            judged = np.flatnonzero(unique_rows(X, codes, weights))
            random = np.random.default_rng(rng.randint(2**31 - 1))
            judged = judged[stratified_sample(codes[judged], MAX_JUDGED, random)]
            Y = one_hot(codes[judged], n_classes)
            unseen = grown.out_of_bag(X, judged, n_threads)
            self.prior_weights_ = stacking_weights(unseen, Y, weights[judged], first, PRIOR_SAMPLES)
        self.forest_, self.in_bag_ = grown.mixed(self.prior_weights_), grown.in_bag
        self.feature_importances_ = self._by_column(grown.importances)
        self.oob_proba_ = self.forest_.posterior(X, n_threads, self.in_bag_)
        self.label_quality_ = label_quality(self.oob_proba_, codes, weights)
        self._fit_class_cost(self.oob_proba_, codes, weights)
        return self

    def _scores(self, X):
        """Return the mean of the trees' posteriors."""
        return self.forest_.posterior(X, effective_n_jobs(self.n_jobs))

    def explain(self, X, training=None):
        """Explain each row by the balls and the training rows that support its class.

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
        """Return the trees with counts and predictions of their balls."""
        weights = total_weights(self.class_weight, samples)
        seen = SeenRows(self.forest_.rows(samples.X), samples.codes, weights, self.in_bag_)
        return weigh_trees(self.forest_, seen, self.priors_, self.prior_weights_)
