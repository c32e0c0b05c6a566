"""RVFL and ELM: random features of every sample, solved in closed form, for classes and numbers."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

from granulearn._sklearn_compat import Interval, StrOptions, fit_context
from granulearn.rvfl.base import BaseRVFLClassifier, RandomNetwork
from granulearn.rvfl.features import activation_names
from granulearn.rvfl.ridge import FeatureMap
from granulearn.utils.estimator import SHALLOW, Abilities, Estimator, Seeds, draw_seeds
from granulearn.utils.saved import Number
from granulearn.utils.validation import check_inputs, check_weights


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
        shared_work=SHALLOW,
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
        shared_work=SHALLOW,
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
        What `fit` is given.
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
        self._fit_rows(rows, seeds)
        return self

    def _check(self, X, y, sample_weight=None) -> RegressionRows:
        """Check all that `fit` is given, once."""
        return check_numbers(self, X, y, sample_weight)

    def _prepare(self, rows: RegressionRows) -> tuple[RegressionRows, Seeds]:
        """Do the part of the fit that does not depend on n_hidden, activation or C."""
        return rows.that_count(), draw_seeds(self.random_state)

    def _output_weights(self, features: FeatureMap, rows: RegressionRows):
        mean = rows.mean()
        coef = self._solve(features, rows, rows.Y - mean)
        self._add_to_bias(coef, features.bias_column, mean)
        return coef

    def _add_to_bias(self, coef: Any, bias_column: int, mean: np.ndarray) -> None:
        coef[bias_column] += mean


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

    _abilities = Abilities(shared_work=SHALLOW)


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

    _abilities = Abilities(shared_work=SHALLOW)
    _direct_link = False
