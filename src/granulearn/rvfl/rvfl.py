"""RVFL and ELM: random features of every sample, solved in closed form, for classes and numbers.

The base classes are those of all random networks: the stages of `fit`, from checked samples to
output weights.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

from granulearn._sklearn_compat import Interval, StrOptions, fit_context
from granulearn.balls.ball_set import BallSet
from granulearn.rvfl.features import (
    FeatureMap,
    RandomFeatures,
    activation_names,
    draw_random_features,
)
from granulearn.rvfl.ridge import one_hot, ridge_solvers, row_blocks
from granulearn.utils.estimator import Abilities, DecisionClassifier, Estimator, Seeds, draw_seeds
from granulearn.utils.saved import LARGEST_COEF, Array, Number, Part, require
from granulearn.utils.threads import threads_for
from granulearn.utils.validation import (
    Samples,
    check_inputs,
    check_samples,
    check_weights,
    weight_of_each_class,
)


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """The rows of the regression: samples, or the centres of balls.

    They do not depend on the width, the activation or the penalty.
    """

    X: np.ndarray
    """(k, d) inputs."""
    codes: np.ndarray
    """(k,) class of each row."""
    weights: np.ndarray | None
    """(k,) weight of each row's squared error; None means one for each."""
    balls: BallSet | None = None
    membership: np.ndarray | None = None


class RandomNetwork(Estimator):
    """The stages of a random network, whatever its targets are.

    Rows have inputs ``X`` and ``weights``: `TrainingRows`, or `RegressionRows`.
    """

    n_hidden: Any
    activation: str
    C: float
    features_: Any
    coef_: Any

    _saved: ClassVar[dict] = {
        "features_": Part(RandomFeatures),
        "coef_": Array(
            "float64|complex128",
            ("features_.n_columns", "_n_outputs"),
            -LARGEST_COEF,
            LARGEST_COEF,
        ),
    }
    _direct_link: ClassVar[bool] = True
    _is_deep: ClassVar[bool] = False
    _is_nested: ClassVar[bool] = True
    """Whether the system of a narrower network is a leading block of that of a wider one."""
    _penalty_factor: ClassVar[int] = 1
    """Factor on `C` that gives the inverse penalty of the ridge that is solved."""

    def _check_saved(self) -> None:
        super()._check_saved()
        agree = self.features_.n_features == self.n_features_in_
        require(agree, f"features_ takes {self.features_.n_features} columns")
        agree = isinstance(self.coef_, list) or self.coef_.dtype == self.features_.dtype
        require(agree, "coef_ has another type than features_")

    def _features(self, rows: Any, seeds: Seeds) -> FeatureMap:
        """Return the map from rows to the columns of H."""
        return draw_random_features(
            rows.X.shape[1],
            self.n_hidden,
            self.activation,
            direct_link=self._direct_link,
            seed=seeds.network,
        )

    @abstractmethod
    def _targets(self, rows: Any) -> tuple[np.ndarray, np.ndarray | float]:
        """Return the targets of the ridge, and the offset of its outputs."""

    def _fit_rows(self, rows: Any, seeds: Seeds):
        """Draw the features and find the output weights."""
        widest = int(np.max(self.n_hidden)) if np.size(self.n_hidden) else 0
        with threads_for(len(rows.X), rows.X.shape[1] + widest):
            self.features_ = self._features(rows, seeds)
            self.coef_ = self._solver(self.features_, rows)(self.C)
        return self

    def _solver(self, features: FeatureMap, rows: Any) -> Callable[[float], Any]:
        """Return the function from C to the output weights; the rest is done once."""
        Y, offset = self._targets(rows)
        solvers = self._ridges(features, rows, Y)

        def solve(C: float) -> Any:
            coef = [ridge(self._penalty_factor * C) for ridge in solvers]
            for each in coef:
                each[features.bias_column] += offset
            return coef if self._is_deep else coef[0]

        return solve

    def _ridges(self, features: FeatureMap, rows: Any, Y: np.ndarray) -> list:
        """Return, for each design of the features, the function from C to its weights."""
        return ridge_solvers(features, rows.X, Y, rows.weights)

    def _outputs(self, designs: Any, coef: Any) -> np.ndarray:
        """Return the outputs of each stage, of shape (n_stages, n_rows, n_outputs).

        Only deep networks have more than one stage.
        """
        each = zip(designs, coef if self._is_deep else [coef], strict=True)
        return self._combined(np.stack([(H @ theta).real for H, theta in each]))

    def _combined(self, outputs: np.ndarray) -> np.ndarray:
        """Return the outputs of each stage from those of each ridge."""
        return outputs

    def _stages(self, X: np.ndarray) -> np.ndarray:
        """Return the outputs of each stage for checked inputs, block by block."""
        features = self.features_
        blocks = row_blocks(len(X), features.n_columns * features.dtype.itemsize)
        each = [self._outputs(features.designs(X[block]), self.coef_) for block in blocks]
        return np.concatenate(each, axis=1)

    def _scores(self, X: np.ndarray) -> np.ndarray:
        """Return the network's outputs for checked inputs, of shape (n_samples, n_outputs)."""
        return self._stages(X)[-1]


class BaseRVFLClassifier(RandomNetwork, DecisionClassifier, ABC):
    """Random features and a weighted closed-form ridge, on samples or on balls.

    Subclasses change one stage each: `_rows` (the rows of the regression),
    `_features` (the columns they are mapped to) or `_solve` (how output weights
    are found).
    """

    _parameter_constraints: ClassVar[dict] = {
        "n_hidden": [Interval(Integral, 1, None, closed="left")],
        "activation": [StrOptions(set(activation_names()))],
        "C": [Interval(Real, 0, None, closed="neither")],
        "random_state": ["random_state"],
        "class_weight": [dict, StrOptions({"balanced"}), None],
    }

    @abstractmethod
    def __init__(self, n_hidden, activation, C, random_state, class_weight):
        self.n_hidden = n_hidden
        self.activation = activation
        self.C = C
        self.random_state = random_state
        self.class_weight = class_weight

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None, sample_membership=None):
        """Fit the network in closed form.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs, used as they come: scale them first.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            How many samples each one stands for; zero leaves it out.
        sample_membership : array-like of shape (n_samples,), default=None
            How far each sample can be trusted, in [0, 1]. A ball model gives each
            ball the mean over its samples, and ignores its parameter `membership`.

        Returns
        -------
        self
            The fitted classifier.
        """
        rows, seeds = self._prepare(self._check(X, y, sample_weight, sample_membership))
        return self._fit_rows(rows, seeds)

    def _check(self, X, y, sample_weight=None, sample_membership=None) -> Samples:
        """Check all that `fit` is given, once."""
        return check_samples(X, y, self, sample_weight, sample_membership)

    def _prepare(self, samples: Samples) -> tuple[TrainingRows, Seeds]:
        """Do the part of the fit that does not depend on n_hidden, activation or C."""
        self.classes_, self.n_features_in_ = samples.classes, samples.X.shape[1]
        seeds = draw_seeds(self.random_state)
        rows = self._rows(samples, seeds)
        if rows.balls is not None:
            self.balls_, self.membership_ = rows.balls, rows.membership
        return with_class_weight(rows, self.class_weight, self.classes_), seeds

    def _rows(self, samples: Samples, seeds: Seeds) -> TrainingRows:
        """Return the rows of the regression: one per sample of positive weight."""
        return sample_rows(samples.that_count())

    def _targets(self, rows: TrainingRows) -> tuple[np.ndarray, float]:
        return one_hot(rows.codes, len(self.classes_)), 0.0

    def _solver(self, features: FeatureMap, rows: TrainingRows) -> Callable[[float], Any]:
        present = np.unique(rows.codes)
        if len(present) > 1:
            return super()._solver(features, rows)
        warnings.warn(
            f"all that is left to learn from has class {self.classes_.tolist()[present[0]]!r}, so "
            "every prediction is that class. For a ball model, raise purity.",
            UserWarning,
            stacklevel=2,
        )
        shapes = [(width, len(self.classes_)) for width in features.design_widths]
        coef = [np.zeros(shape, dtype=features.dtype) for shape in shapes]
        for each in coef:
            each[features.bias_column, present[0]] = 1
        return lambda C: coef if self._is_deep else coef[0]


def sample_rows(samples: Samples) -> TrainingRows:
    """Return one row per sample; a membership counts squared, as in the paper."""
    squares = None if samples.memberships is None else samples.memberships**2
    return TrainingRows(samples.X, samples.codes, multiply_weights(samples.weights, squares))


def multiply_weights(*factors: np.ndarray | None) -> np.ndarray | None:
    """Return the product of those factors that are not None; None when all are."""
    given = [factor for factor in factors if factor is not None]
    return np.prod(given, axis=0) if given else None


def with_class_weight(rows: TrainingRows, class_weight, classes: np.ndarray) -> TrainingRows:
    """Multiply each row's weight by that of its class."""
    if class_weight is None:
        return rows
    totals = np.bincount(rows.codes, rows.weights, minlength=len(classes))
    by_class = weight_of_each_class(class_weight, classes, totals)
    return replace(rows, weights=multiply_weights(rows.weights, by_class[rows.codes]))


class RVFLClassifier(BaseRVFLClassifier):
    r"""Random vector functional link network.

    Inputs and a layer of random, never trained hidden nodes are regressed on
    the classes by one weighted ridge. Use it as a fast, strong baseline on
    tables of up to millions of scaled rows. Its weak point is wrong labels:
    every sample counts fully, and features that are not scaled drown in others.

    Parameters
    ----------
    n_hidden : int, default=100
        Number of hidden nodes.
    activation : str, default="relu"
        Activation of the hidden nodes: a name of `granulearn.rvfl.activation_names`.
    C : float, default=1.0
        Inverse of the ridge penalty; large values fit more closely.
    random_state : int, RandomState or None, default=None
        Draws the hidden nodes. The nodes of a narrow network are the first
        nodes of a wide one drawn from the same integer.
    class_weight : dict, "balanced" or None, default=None
        Factor on the weights of each class's samples; "balanced" gives every
        class the same total weight.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X had column names.
    coef_ : ndarray of shape (n_columns, n_classes)
        Output weights of the direct link, the bias and the hidden nodes, in
        that order.
    features_ : RandomFeatures
        The map from inputs to those columns.

    Notes
    -----
    :math:`H = [X, 1, \varphi(X W + b)]` with :math:`W \sim U(-1, 1)` and
    :math:`b \sim U(0, 0.1)`;

    .. math::
        \min_\Theta \tfrac{C}{2} \sum_i w_i \lVert h_i' \Theta - y_i \rVert^2
        + \tfrac12 \lVert \Theta \rVert^2 .

    A sample membership :math:`\delta` is a sample weight :math:`\delta^2`.

    References
    ----------
    Y.-H. Pao, G.-H. Park, D. J. Sobajic, "Learning and generalization
    characteristics of the random vector functional-link net",
    Neurocomputing 6 (1994).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from granulearn.rvfl import RVFLClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), RVFLClassifier(random_state=0))
    >>> model.fit(X, y).score(X, y) > 0.95
    True
    """

    _abilities = Abilities(
        command="rvfl",
        summary="no balls: a random network on every row; fast",
        search="loo",
    )

    def __init__(
        self, n_hidden=100, activation="relu", C=1.0, random_state=None, class_weight=None
    ):
        super().__init__(n_hidden, activation, C, random_state, class_weight)


class ELMClassifier(BaseRVFLClassifier):
    r"""Extreme learning machine: an RVFL network without the direct link.

    Only the random hidden nodes and a bias are regressed on the classes. Use
    it as the baseline that shows what the direct link of `RVFLClassifier`
    brings. Its weak point is exactly that missing link: linear structure must
    be rebuilt from random nodes.

    Parameters
    ----------
    n_hidden : int, default=100
        Number of hidden nodes.
    activation : str, default="relu"
        Activation of the hidden nodes: a name of `granulearn.rvfl.activation_names`.
    C : float, default=1.0
        Inverse of the ridge penalty; large values fit more closely.
    random_state : int, RandomState or None, default=None
        Draws the hidden nodes.
    class_weight : dict, "balanced" or None, default=None
        Factor on the weights of each class's samples; "balanced" gives every
        class the same total weight.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X had column names.
    coef_ : ndarray of shape (n_columns, n_classes)
        Output weights of the bias and the hidden nodes, in that order.
    features_ : RandomFeatures
        The map from inputs to those columns.

    Notes
    -----
    :math:`H = [1, \varphi(X W + b)]`; otherwise as `RVFLClassifier`.

    References
    ----------
    G.-B. Huang, Q.-Y. Zhu, C.-K. Siew, "Extreme learning machine: theory and
    applications", Neurocomputing 70 (2006).

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from granulearn import ELMClassifier
    >>> X, y = make_moons(200, noise=0.1, random_state=0)
    >>> model = ELMClassifier(random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.9
    True
    """

    _abilities = Abilities(
        command="elm",
        summary="as rvfl, without the direct link to the inputs",
        search="loo",
    )
    _direct_link = False

    def __init__(
        self, n_hidden=100, activation="relu", C=1.0, random_state=None, class_weight=None
    ):
        super().__init__(n_hidden, activation, C, random_state, class_weight)


@dataclass(frozen=True, eq=False)
class RegressionRows:
    """Samples with numbers as targets, checked."""

    X: np.ndarray
    """(m, d) inputs."""
    Y: np.ndarray
    """(m, n_outputs) targets."""
    weights: np.ndarray | None
    """(m,) sample weights, not negative; None means one for each."""

    def that_count(self) -> RegressionRows:
        """Return the samples of positive weight."""
        if self.weights is None:
            return self
        counts = self.weights > 0
        if not counts.any():
            raise ValueError(
                "sample_weight is zero for every sample, so nothing is left to learn from; "
                "at least some weights must be positive."
            )
        return RegressionRows(self.X[counts], self.Y[counts], self.weights[counts])

    def mean(self) -> np.ndarray:
        """Return the weighted mean of the targets, of shape (n_outputs,)."""
        return np.average(self.Y, axis=0, weights=self.weights)


def check_numbers(
    estimator: BaseEstimator, X: Any, y: Any, sample_weight: Any, **wanted: Any
) -> RegressionRows:
    """Check the samples of a regressor, once; those of weight zero are kept.

    Parameters
    ----------
    estimator : regressor
        Gets ``n_features_in_``, ``feature_names_in_`` and ``n_outputs_``.
    X, y, sample_weight : array-like or None
        The arguments of `fit`.
    **wanted
        Passed to scikit-learn's ``validate_data``.
    """
    X, y = check_inputs(X, y, estimator, multi_output=True, y_numeric=True, **wanted)
    estimator.n_outputs_ = None if y.ndim == 1 else y.shape[1]
    weights = None if sample_weight is None else check_weights(sample_weight, len(X))
    return RegressionRows(X, np.asarray(y, dtype=np.float64).reshape(len(X), -1), weights)


class NumberRegressor(RegressorMixin, Estimator):
    """A regressor for one or several targets; subclasses write `_scores`."""

    n_outputs_: int | None

    _saved: ClassVar[dict] = {"n_outputs_": Number(1, 2**31 - 1, whole=True, or_none=True)}

    @property
    def _n_outputs(self) -> int:
        return self.n_outputs_ or 1

    def predict(self, X):
        """Return the network's outputs.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Predictions, in the shape of the targets that were fitted.
        """
        return self._as_targets(self._scores(self._checked(X)))

    def _as_targets(self, outputs: np.ndarray) -> np.ndarray:
        return outputs[:, 0] if self.n_outputs_ is None else outputs

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class BaseRVFLRegressor(NumberRegressor, RandomNetwork):
    """Random features and a weighted closed-form ridge, for one or several targets."""

    _parameter_constraints: ClassVar[dict] = {
        "n_hidden": [Interval(Integral, 1, None, closed="left")],
        "activation": [StrOptions(set(activation_names()))],
        "C": [Interval(Real, 0, None, closed="neither")],
        "random_state": ["random_state"],
    }

    def __init__(self, n_hidden=100, activation="relu", C=1.0, random_state=None):
        self.n_hidden = n_hidden
        self.activation = activation
        self.C = C
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        """Fit the network in closed form.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs, used as they come: scale them first.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets.
        sample_weight : array-like of shape (n_samples,), default=None
            How many samples each one stands for; zero leaves it out.

        Returns
        -------
        self
            The fitted regressor.
        """
        rows, seeds = self._prepare(self._check(X, y, sample_weight))
        return self._fit_rows(rows, seeds)

    def _check(self, X, y, sample_weight=None) -> RegressionRows:
        """Check all that `fit` is given, once."""
        return check_numbers(self, X, y, sample_weight)

    def _prepare(self, rows: RegressionRows) -> tuple[RegressionRows, Seeds]:
        """Do the part of the fit that does not depend on n_hidden, activation or C."""
        return rows.that_count(), draw_seeds(self.random_state)

    def _targets(self, rows: RegressionRows) -> tuple[np.ndarray, np.ndarray]:
        mean = rows.mean()
        return rows.Y - mean, mean


class RVFLRegressor(BaseRVFLRegressor):
    r"""Random vector functional link network for numbers.

    Inputs and a layer of random, never trained hidden nodes are regressed on
    the targets by one weighted ridge. Use it as a fast baseline for smooth
    functions of scaled inputs, on tables of up to millions of rows. Its weak
    point is that `C`, `n_hidden` and `activation` must be tuned;
    `RVFLEnsembleRegressor` tunes itself.

    Parameters
    ----------
    n_hidden : int, default=100
        Number of hidden nodes.
    activation : str, default="relu"
        Activation of the hidden nodes: a name of `granulearn.rvfl.activation_names`.
    C : float, default=1.0
        Inverse of the ridge penalty; large values fit more closely.
    random_state : int, RandomState or None, default=None
        Draws the hidden nodes. The nodes of a narrow network are the first
        nodes of a wide one drawn from the same integer.

    Attributes
    ----------
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X had column names.
    n_outputs_ : int or None
        Number of targets; None when y was one-dimensional.
    coef_ : ndarray of shape (n_columns, n_outputs)
        Output weights of the direct link, the bias and the hidden nodes, in
        that order.
    features_ : RandomFeatures
        The map from inputs to those columns.

    Notes
    -----
    :math:`H = [X, 1, \varphi(X W + b)]` with :math:`W \sim U(-1, 1)` and
    :math:`b \sim U(0, 0.1)`; with the weighted mean :math:`\bar y` of the targets,

    .. math::
        \min_\Theta \tfrac{C}{2}
        \sum_i w_i \lVert h_i' \Theta + \bar y - y_i \rVert^2
        + \tfrac12 \lVert \Theta \rVert^2 .

    The mean is then part of the bias: the penalty pulls predictions to the
    mean, not to zero.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.preprocessing import scale
    >>> from granulearn.rvfl import RVFLRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = RVFLRegressor(C=0.01, random_state=0).fit(scale(X), y)
    >>> model.score(scale(X), y) > 0.5
    True
    """

    _abilities = Abilities(search="loo")


class ELMRegressor(BaseRVFLRegressor):
    r"""Extreme learning machine for numbers: an RVFL network without the direct link.

    Only the random hidden nodes and a bias are regressed on the targets. Use
    it as the baseline that shows what the direct link of `RVFLRegressor`
    brings. Its weak point is exactly that missing link: linear structure must
    be rebuilt from random nodes.

    Parameters
    ----------
    n_hidden : int, default=100
        Number of hidden nodes.
    activation : str, default="relu"
        Activation of the hidden nodes: a name of `granulearn.rvfl.activation_names`.
    C : float, default=1.0
        Inverse of the ridge penalty; large values fit more closely.
    random_state : int, RandomState or None, default=None
        Draws the hidden nodes.

    Attributes
    ----------
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X had column names.
    n_outputs_ : int or None
        Number of targets; None when y was one-dimensional.
    coef_ : ndarray of shape (n_columns, n_outputs)
        Output weights of the bias and the hidden nodes, in that order.
    features_ : RandomFeatures
        The map from inputs to those columns.

    Notes
    -----
    :math:`H = [1, \varphi(X W + b)]`; otherwise as `RVFLRegressor`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.preprocessing import scale
    >>> from granulearn.rvfl import ELMRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = ELMRegressor(C=0.01, random_state=0).fit(scale(X), y)
    >>> model.score(scale(X), y) > 0.5
    True
    """

    _abilities = Abilities(search="loo")
    _direct_link = False
