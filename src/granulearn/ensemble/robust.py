"""The robust classifier: a ball forest, an RVFL ensemble and boosted trees, stacked."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import PredefinedSplit, cross_val_predict
from sklearn.utils import check_random_state
from sklearn.utils.validation import has_fit_parameter

from granulearn._sklearn_compat import HasMethods, Interval, StrOptions, fit_context
from granulearn.ensemble.boosting import BoostedTreesClassifier
from granulearn.forest import BallForestClassifier
from granulearn.forest.explanation import explain_rows
from granulearn.preprocess.table_inputs import TableInputs
from granulearn.rvfl import RVFLEnsembleClassifier, one_hot
from granulearn.rvfl.ensemble import input_importances
from granulearn.utils.estimator import Abilities, DecisionClassifier, ScoreClassifier
from granulearn.utils.sampling import (
    FEWEST_UNIQUE,
    grouped_folds,
    stratified_sample,
    unique_rows,
)
from granulearn.utils.saved import SHARE, Array, Number, Part, require
from granulearn.utils.stacking import (
    best_temperature,
    brier_score,
    clip_proba,
    estimate_noise_rate,
    stacking_weights,
    temperature_scale,
)
from granulearn.utils.validation import ranks_of, total_weights

MEMBERS = ("forest", "rvfl", "booster")
# Prior of the ensemble weights, worth 300 samples and more of small tables: there, the errors of
# boosted trees under wrong labels are known least.
PRIOR = {"forest": 0.5, "rvfl": 0.5, "booster": 0.0}
PRIOR_SAMPLES, PRIOR_SAMPLES_TIMES_ROWS = 300, 700_000
# Label smoothing while the temperature is chosen: one label in a hundred may be any.
SMOOTHING = 0.01
# Most rows that choose weights and temperature.
MAX_SCORED = 10_000
# Folds for a member that hands out no out-of-sample probabilities.
N_FOLDS = 5
_OUT_OF_SAMPLE = ("out_of_sample_proba_", "oob_proba_")


class RobustClassifier(TableInputs, DecisionClassifier):
    r"""Classifier for labels that may be wrong: forest, networks and boosted trees, stacked.

    The recommended default of the library and of ``granulearn fit``. A
    `BallForestClassifier` learns the local structure, an
    `RVFLEnsembleClassifier` smooth boundaries, and a `BoostedTreesClassifier` what
    single features decide. The ensemble weights minimise the Brier score of
    out-of-sample predictions, so that wrong labels give weight to the cautious members.
    Nothing needs to be tuned. Its weak point is the price of three models.

    Parameters
    ----------
    forest : classifier, "drop" or None, default=None
        The first member; None means `BallForestClassifier`.
    rvfl : classifier, "drop" or None, default=None
        The second member; None means `RVFLEnsembleClassifier`.
    booster : classifier, "drop" or None, default=None
        The third member; None means `BoostedTreesClassifier`, which is left out with a
        warning where it cannot be fitted.
    noise_matrix : "auto", float, (n_classes, n_classes) array-like or None, default="auto"
        The fraction of wrong labels, spread evenly over the other classes, or the
        probability of each given label (column) by true class (row), both in the
        order of `classes_`. An audit estimates it (``LabelAudit.noise_matrix_``).
        With it, probabilities and predictions are about the
        *true* class; with None, about the label as given. "auto" estimates the fraction,
        cautiously, from out-of-sample predictions; without `class_cost` it changes no
        predicted class.
    random_state : int, RandomState or None, default=None
        Seeds the members that have no seed of their own.
    class_weight : dict, "balanced" or None, default=None
        Factor on the weights of each class's samples, for default members. A member that
        was passed has its own settings.
    n_jobs : int or None, default=None
        Threads of default members.
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
    members_ : tuple of classifier
        The fitted members, in the order of `weights_`; `forest_`, `rvfl_` and `booster_` are the
        same by name, or None if left out.
    weights_ : dict of str to float
        The weight of each member: "forest", "rvfl", "booster".
    noise_matrix_ : ndarray of shape (n_classes, n_classes) or None
        The probability of each given label (column) by true class (row); None if labels
        are taken as given.
    temperature_ : float
        Probabilities are scaled by it: above one they become less extreme.
    out_of_sample_proba_ : ndarray of shape (n_samples, n_classes)
        Probabilities of each training sample by models that did not see it.
    brier_scores_ : dict of str to float
        Squared error, summed over classes, of the out-of-sample predictions of each
        member and of their weighted "mean".
    label_quality_ : ndarray of shape (n_samples,)
        The forest's out-of-sample probability of each given label; NaN where unknown.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Weighted mean of the members' importances; they sum to one.

    See Also
    --------
    granulearn.TableClassifier : Takes tables as they come.
    granulearn.BallForestClassifier : Its forest alone.
    granulearn.RVFLEnsembleClassifier : Its networks alone.
    granulearn.LabelAudit : Says which labels are wrong.

    Notes
    -----
    The score of a class is the weighted mean of the members' probabilities, corrected by the
    noise matrix. It is clipped at 1/(n + K) and scaled by the temperature of least
    out-of-sample log-loss, with 1 % label smoothing: probabilities are not extreme, since
    labels may be wrong. ``noise_matrix="auto"`` is the matrix of `estimate_noise_rate`.

    Weights and temperature come from at most 10,000 samples without a duplicate in the
    training data, because a member may have seen the duplicate. With fewer than 20 of
    them the temperature is one. The prior of the weights, halves for forest and networks,
    is worth 300 + 700,000/n samples.

    A member that was passed hands out its out-of-sample probabilities as
    ``out_of_sample_proba_`` or ``oob_proba_``; otherwise five-fold cross-validation
    computes them.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from granulearn.datasets import flip_labels
    >>> from granulearn.ensemble import RobustClassifier
    >>> X, y = make_moons(600, noise=0.2, random_state=0)
    >>> noisy, _ = flip_labels(y[:300], 0.3, random_state=0)
    >>> model = RobustClassifier(random_state=0).fit(X[:300], noisy)
    >>> model.score(X[300:], y[300:]) > 0.9
    True
    """

    _abilities = Abilities(
        command="robust",
        summary="forest, networks and boosted trees; for labels that may be wrong",
    )
    _probability_form = "temperature"
    _parameter_constraints: ClassVar[dict] = {
        **{name: [HasMethods(["fit", "predict_proba"]), StrOptions({"drop"}), None]
           for name in MEMBERS},
        "noise_matrix": [
            StrOptions({"auto"}), Interval(Real, 0, 1, closed="left"), "array-like", None
        ],
        "random_state": ["random_state"],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "n_jobs": [None, Integral],
        "class_cost": [dict, StrOptions({"balanced"}), None],
        **TableInputs._parameter_constraints,
    }  # fmt: skip

    def __init__(
        self,
        forest=None,
        rvfl=None,
        booster=None,
        noise_matrix="auto",
        random_state=None,
        class_weight=None,
        n_jobs=None,
        class_cost=None,
        categorical_features="auto",
    ):
        self.forest = forest
        self.rvfl = rvfl
        self.booster = booster
        self.noise_matrix = noise_matrix
        self.random_state = random_state
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.class_cost = class_cost
        self.categorical_features = categorical_features

    _saved: ClassVar[dict] = {
        "members_": Part(ScoreClassifier, many=tuple),
        "weights_": dict[Literal["forest", "rvfl", "booster"], float],
        "temperature_": Number(0.1, 10),
        "_least": Number(1e-15, 1),
        "noise_matrix_": Array("float64", ("_n_outputs", "_n_outputs"), 0, SHARE, optional=True),
        "feature_importances_": Array("float64", ("n_features_in_",), 0, SHARE),
    }

    def _check_saved(self) -> None:
        super()._check_saved()
        require(len(self.weights_) == len(self.members_), "weights_ are of other members")
        for name, member in self._by_name().items():
            self._check_agrees(name, member)
        weights = self.weights_.values()
        whole = min(weights, default=0) >= 0 and abs(sum(weights) - 1) < 1e-6
        require(whole, "weights_ do not sum to one")
        if self.noise_matrix_ is not None:
            check_noise_matrix(self.noise_matrix_, len(self.classes_))

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None, groups=None):
        """Fit all members, stack them, and calibrate the mean.

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
            No model that predicts a sample out of sample has seen one of its group.

        Returns
        -------
        self
            The fitted classifier.
        """
        samples = self._check_table(X, y, sample_weight)
        X, codes, self.classes_ = samples.X, samples.codes, samples.classes
        if groups is not None:
            groups = ranks_of(groups, "groups", len(X), is_order=False)
        self.noise_matrix_ = check_noise_matrix(self.noise_matrix, len(self.classes_))
        rng = check_random_state(self.random_state)
        weights = np.ones(len(X)) if samples.weights is None else samples.weights
        self._least = float(1 / (np.maximum(weights, 1)[weights > 0].sum() + len(self.classes_)))

        y = samples.classes[codes]
        out_of_sample = self._fit_members(X, y, samples.weights, groups, rng)
        own_weights = total_weights(self.class_weight, samples)
        scoring_weights = self._scoring_weights(X, codes, weights, rng) * own_weights
        self._stack(out_of_sample, codes, scoring_weights)
        self._calibrate(codes, scoring_weights)
        self._rate(X, codes, weights, out_of_sample)
        self._fit_class_cost(self.out_of_sample_proba_, codes, own_weights)
        return self

    def _fit_members(self, X, y, sample_weight, groups, rng) -> dict[str, np.ndarray]:
        """Fit each member by its public `fit`; return its out-of-sample probabilities."""
        out_of_sample, members = {}, []
        defaults = {
            "forest": BallForestClassifier,
            "rvfl": RVFLEnsembleClassifier,
            "booster": BoostedTreesClassifier,
        }
        for name in MEMBERS:
            member, seed = getattr(self, name), int(rng.randint(2**31 - 1))
            if isinstance(member, str):  # "drop"
                continue
            is_default = member is None
            member = defaults[name]() if is_default else clone(member)
            settings = {"class_weight": self.class_weight, "n_jobs": self.n_jobs}
            known = member.get_params()
            if is_default:
                member.set_params(**{k: v for k, v in settings.items() if k in known})
            if "categorical_features" in known:
                member.set_params(categorical_features=None)  # prepared already
            if "random_state" in known and known["random_state"] is None:
                member.set_params(random_state=seed)
            try:
                out_of_sample[name] = fit_member(member, X, y, sample_weight, groups, seed)
            except ValueError as error:
                if not (is_default and name == "booster"):
                    raise
                warnings.warn(
                    f"boosted trees are left out: {error}; add samples of the rare classes.",
                    UserWarning,
                    stacklevel=4,
                )
                continue
            members.append(member)
        if not out_of_sample:
            raise ValueError("forest, rvfl and booster are all left out; keep one member or more.")
        self.members_ = tuple(members)
        return out_of_sample

    def _scoring_weights(self, X, codes, weights, rng) -> np.ndarray:
        """Return one for each sample that chooses weights and temperature, else zero."""
        rows = np.flatnonzero(unique_rows(X, codes, weights))
        random = np.random.default_rng(rng.randint(2**31 - 1))
        rows = rows[stratified_sample(codes[rows], MAX_SCORED, random)]
        found = np.zeros(len(X))
        found[rows] = 1
        return found

    def _stack(self, out_of_sample: dict[str, np.ndarray], codes, scoring_weights) -> None:
        """Choose the ensemble weights."""
        Y = one_hot(codes, len(self.classes_))
        at = np.flatnonzero(scoring_weights)
        prior = np.array([PRIOR[name] for name in out_of_sample])
        prior = prior / prior.sum() if prior.any() else np.ones(1)
        members = np.stack([proba[at] for proba in out_of_sample.values()])
        strength = PRIOR_SAMPLES + PRIOR_SAMPLES_TIMES_ROWS / len(Y)
        weights = stacking_weights(members, Y[at], scoring_weights[at], prior, strength)
        self.weights_ = dict(zip(out_of_sample, weights.tolist(), strict=True))
        mean = sum(self.weights_[name] * proba for name, proba in out_of_sample.items())
        self.out_of_sample_proba_ = np.asarray(mean)
        self.brier_scores_ = {
            name: brier_score(proba[at], Y[at], scoring_weights[at])
            for name, proba in {**out_of_sample, "mean": mean}.items()
        }

    def _calibrate(self, codes, scoring_weights) -> None:
        """Estimate wrong labels, choose the temperature, calibrate out-of-sample probabilities."""
        scores, self.temperature_ = self.out_of_sample_proba_, 1.0
        known = ~np.isnan(scores).any(axis=1)
        at = np.flatnonzero(known & (scoring_weights > 0))
        if len(at) >= FEWEST_UNIQUE and len(self.classes_) > 1:
            if isinstance(self.noise_matrix, str):
                rate = estimate_noise_rate(scores[at], codes[at])
                self.noise_matrix_ = check_noise_matrix(rate or None, len(self.classes_))
            self.temperature_ = best_temperature(
                clip_proba(self._of_true_class(scores[at]), self._least),
                codes[at],
                scoring_weights[at],
                noise_matrix=self.noise_matrix_,
                smoothing=SMOOTHING,
            )
        scores[known] = self._probabilities(self._of_true_class(scores[known]))

    def _rate(self, X, codes, weights, out_of_sample: dict[str, np.ndarray]) -> None:
        """Set label quality and feature importances, where members have them."""
        proba = out_of_sample.get("forest", self.out_of_sample_proba_)
        own = proba[np.arange(len(codes)), codes]
        self.label_quality_ = getattr(self.forest_, "label_quality_", own)
        total = np.zeros(X.shape[1])
        for name, weight in self.weights_.items():
            member = self._by_name()[name]
            importances = getattr(member, "feature_importances_", None)
            if isinstance(member, RVFLEnsembleClassifier):
                variances = X[weights > 0].var(axis=0)
                importances = input_importances(member.features_, member.coef_, variances)
            if importances is not None and np.any(importances):
                total += weight * importances / np.sum(importances)
        self.feature_importances_ = self._by_column(total / (total.sum() or 1.0))

    def _by_name(self) -> dict[str, Any]:
        return dict(zip(self.weights_, self.members_, strict=True))

    @property
    def forest_(self):
        """The fitted forest; None if left out."""
        return self._by_name().get("forest")

    @property
    def rvfl_(self):
        """The fitted networks; None if left out."""
        return self._by_name().get("rvfl")

    @property
    def booster_(self):
        """The fitted boosted trees; None if left out."""
        return self._by_name().get("booster")

    def _member_probas(self, X) -> dict[str, np.ndarray]:
        """Return the probabilities of each member that has a weight."""
        return {
            name: member.predict_proba(X)
            for name, member in self._by_name().items()
            if self.weights_[name] > 0
        }

    def _scores(self, X):
        """Return the weighted mean of the members, of the true class if noise is known."""
        return self._mean(self._member_probas(X))

    def _mean(self, members: dict[str, np.ndarray]) -> np.ndarray:
        return self._of_true_class(sum(self.weights_[name] * p for name, p in members.items()))

    def _of_true_class(self, proba: Any) -> np.ndarray:
        if self.noise_matrix_ is None:
            return proba
        return true_scores(proba, self.noise_matrix_)

    def _probabilities(self, scores):
        return temperature_scale(clip_proba(scores, self._least), self.temperature_)

    def explain(self, X, training=None):
        """Explain for each row which members, balls and training rows contribute to its class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to explain.
        training : tuple of X and y, or of X, y and sample_weight, default=None
            The data passed to `fit`: a model keeps no rows. Without it the members
            are explained, and there are no balls and no nearest rows.

        Returns
        -------
        list of RowExplanation
            One for each row; as text, it is a few lines to read.

        Notes
        -----
        A ball contributes to the forest's probability of the class: the probability that the
        walk of the row ends in it, times the ball's prediction. Columns lead to a ball by the
        evidence that the splits on the way to it gain. Nearest are the rows at the least
        Euclidean distance of scaled inputs.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from granulearn.ensemble import RobustClassifier
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> model = RobustClassifier(random_state=0).fit(X, y)
        >>> (why,) = model.explain(X[:1], training=(X, y))
        >>> why.label, why.nearest[0]
        (0, 0)
        >>> "lower" in str(why)
        True
        """
        X = self._checked(X)
        probas = self._member_probas(X)
        members = {name: (self.weights_[name], proba) for name, proba in probas.items()}
        has_balls = "forest" in probas and isinstance(self.forest_, BallForestClassifier)
        forest = self.forest_ if has_balls else None
        return explain_rows(self, X, self._mean(probas), members, forest, training)


def fit_member(member, X, y, sample_weight, groups, seed: int) -> np.ndarray:
    """Fit a member; return its out-of-sample probabilities of the training samples.

    Parameters
    ----------
    member : classifier
        Fitted in place.
    X, y, sample_weight, groups : array-like or None
        The training data.
    seed : int
        Draws the folds, if the member hands out no out-of-sample probabilities.
    """
    given = {} if sample_weight is None else {"sample_weight": sample_weight}
    takes_groups = has_fit_parameter(member, "groups")
    if groups is not None and takes_groups:
        member.fit(X, y, **given, groups=groups)
    else:
        member.fit(X, y, **given)
    if groups is None or takes_groups:
        for name in _OUT_OF_SAMPLE:
            if hasattr(member, name):
                return getattr(member, name)
    codes = np.unique(y, return_inverse=True)[1]
    if groups is not None:
        groups = np.unique(groups, return_inverse=True)[1]
    folds = grouped_folds(codes, groups, N_FOLDS, np.random.default_rng(seed))
    return cross_val_predict(
        member, X, y, cv=PredefinedSplit(folds), method="predict_proba", params=given
    )


def check_noise_matrix(noise, n_classes: int) -> np.ndarray | None:
    """Return the probability of each given label (column) where a class is true (row).

    Parameters
    ----------
    noise : float, array-like, "auto" or None
        The share of wrong labels, spread evenly over the other classes, or the matrix; None for
        "auto", which is estimated later.
    n_classes : int
        Number of classes.
    """
    if noise is None or isinstance(noise, str):
        return None
    if isinstance(noise, Real):
        share = float(noise)
        if share >= 1 - 1 / n_classes:
            raise ValueError(
                f"noise_matrix={share:g} must be below {1 - 1 / n_classes:g}: with {n_classes} "
                "classes and more wrong labels, the labels say nothing."
            )
        other = share / max(n_classes - 1, 1)
        return np.full((n_classes, n_classes), other) + (1 - share - other) * np.eye(n_classes)
    matrix = np.asarray(noise, dtype=float)
    if matrix.shape != (n_classes, n_classes):
        raise ValueError(
            f"noise_matrix has the shape {matrix.shape}; {n_classes} classes need a matrix of "
            f"{n_classes} by {n_classes}, one row for each true class."
        )
    if not (np.isfinite(matrix).all() and (matrix >= 0).all()):
        raise ValueError("noise_matrix must hold probabilities; some are negative or no numbers.")
    if not np.allclose(matrix.sum(axis=1), 1):
        raise ValueError(
            "noise_matrix must have rows that sum to one, the probabilities of the given labels of "
            f"a true class; they sum to {matrix.sum(axis=1).tolist()}."
        )
    if np.linalg.cond(matrix) > 1e8:
        raise ValueError(
            "noise_matrix cannot be inverted: given labels say nothing about some true classes."
        )
    return matrix


def true_scores(proba: np.ndarray, noise_matrix: np.ndarray) -> np.ndarray:
    """Return scores of the true class, of sum one, from probabilities of the given label.

    Parameters
    ----------
    proba : ndarray of shape (n_samples, n_classes)
        Probabilities of the given label.
    noise_matrix : ndarray of shape (n_classes, n_classes)
        Probability of each given label (column) where a class is true (row).

    Notes
    -----
    ``P(given k | x) = sum_j P(true j | x) noise_matrix[j, k]`` is solved for the true class.
    Where a prediction is more confident than the noise allows, some scores are below zero.
    """
    return np.linalg.solve(noise_matrix.T, proba.T).T
