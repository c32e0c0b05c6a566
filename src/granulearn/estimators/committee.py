"""RVFL committee: several random layers, one choice of activation and penalty by leave-one-out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from numbers import Integral, Real
from typing import ClassVar

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import check_random_state

from granulearn._sklearn_compat import Interval, StrOptions, fit_context
from granulearn.balls import Samples, check_samples
from granulearn.balls.makers import limited_threads
from granulearn.balls.records import order_by_value
from granulearn.estimators.base import weight_of_each_class
from granulearn.estimators.committee_fit import (
    PILOT_HIDDEN,
    PILOT_ROWS,
    CommitteeFit,
    CommitteePlan,
    choose_activation,
    draw_layers,
    fill_left_out,
    fit_committee,
    mean_scores,
    plan_of_size,
    spread_weights,
)
from granulearn.estimators.estimator import Abilities, DecisionClassifier, Estimator
from granulearn.estimators.regression import SavedTargets, check_numbers
from granulearn.network import RandomFeatures, activation_names, one_hot
from granulearn.utils.saved import LARGEST_COEF, Array, Part, require

# "auto" chooses from these. Each of the activations is best on some kind of data.
AUTO_ACTIVATIONS = ("relu", "sigmoid", "radbas", "sine")
AUTO_CS = tuple(10.0**power for power in range(-5, 4))

RowOrder = Callable[[], np.ndarray]

# Up to so many rows the products are so small that threads wait more than they work.
ONE_THREAD_ROWS = 20_000


class _BaseRVFLCommittee(Estimator):
    """What the classifier and the regressor share."""

    _parameter_constraints: ClassVar[dict] = {
        "n_layers": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "n_hidden": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "activation": [StrOptions({"auto", *activation_names()}), "array-like"],
        "C": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither"), "array-like"],
        "random_state": ["random_state"],
    }

    _saved: ClassVar[dict] = {
        "features_": Part(RandomFeatures, many=tuple),
        "coef_": Array("float64", ("layers", "columns", "_n_outputs"), -LARGEST_COEF, LARGEST_COEF),
        "activation_": str,
        "C_": float,
        "loo_error_": float,
    }

    def _check_saved(self) -> None:
        super()._check_saved()
        require(len(self.features_) == len(self.coef_) > 0, "features_ and coef_ differ")
        shapes = {(each.n_features, each.n_columns) for each in self.features_}
        agree = shapes == {(self.n_features_in_, self.coef_.shape[1])}
        require(agree, "features_ take other columns, or make others than coef_ has")

    def _fit_layers(
        self,
        X,
        Y,
        weights,
        units,
        n_rows: int,
        order: RowOrder,
    ) -> CommitteeFit:
        """Fit the layers; `order` brings rows into an order that a sample can be spread over."""
        activations, Cs, seed = self._settings()
        plan = self._plan(n_rows)
        layers = draw_layers(X.shape[1], plan.n_hidden, plan.n_layers, seed)
        with limited_threads(None if len(X) > ONE_THREAD_ROWS else 1, "blas"):
            if plan.pilot and len(activations) > 1:
                some = spread_weights(weights, PILOT_ROWS, order)
                small = draw_layers(X.shape[1], PILOT_HIDDEN, 1, seed)
                own = some > 0
                pilot = X[own], Y[own], some[own], units[own]
                activations = [choose_activation(*pilot, small, activations, Cs)]
            weights = spread_weights(weights, plan.max_rows, order)
            fit = fit_committee(X, Y, weights, units, layers, activations, Cs)
        return self._keep(fit)

    def _keep(self, fit: CommitteeFit) -> CommitteeFit:
        self.features_, self.coef_ = fit.features, fit.coef
        self.activation_, self.C_ = fit.activation, fit.C
        self.loo_errors_, self.loo_error_ = fit.errors, float(fit.errors.min())
        return fit

    def _settings(self) -> tuple[list[str], list[float], int]:
        """Return activations and penalties to choose from, and the seed of the layers."""
        activations = self._choices("activation", AUTO_ACTIVATIONS)
        unknown = [name for name in activations if name not in activation_names()]
        if unknown or not activations:
            raise ValueError(
                f"activation={self.activation!r} must be 'auto' or names out of "
                f"{activation_names()}, at least one."
            )
        Cs = self._choices("C", AUTO_CS)
        if not Cs or not all(isinstance(C, Real) and 0 < float(C) < np.inf for C in Cs):
            raise ValueError(f"C={self.C!r} must be 'auto' or positive numbers, at least one.")
        return activations, Cs, int(check_random_state(self.random_state).randint(2**31 - 1))

    def _plan(self, n_rows: int) -> CommitteePlan:
        # Regressors have no classes.
        n_classes = len(self.classes_) if hasattr(self, "classes_") else None
        plan = plan_of_size(n_rows, n_classes=n_classes, n_features=self.n_features_in_)
        if "auto" not in (self.n_layers, self.n_hidden):
            return CommitteePlan(self.n_layers, self.n_hidden)
        given = {"n_layers": self.n_layers, "n_hidden": self.n_hidden}
        return replace(plan, **{name: value for name, value in given.items() if value != "auto"})

    def _choices(self, name: str, automatic: tuple) -> list:
        value = getattr(self, name)
        if isinstance(value, str):
            return list(automatic) if value == "auto" else [value]
        return [value] if isinstance(value, Real) else list(value)

    def _fill(self, loo: np.ndarray, X: np.ndarray, wanted: np.ndarray | None = None) -> None:
        """Predict samples, all or those wanted, that the networks were not fitted to."""
        wanted = np.ones(len(X), dtype=bool) if wanted is None else wanted
        fill_left_out(loo, self.features_, self.coef_, X, wanted)

    def _scores(self, X: np.ndarray) -> np.ndarray:
        """Return the mean of the networks' outputs for checked inputs."""
        return mean_scores(self.features_, self.coef_, X)


class RVFLCommitteeClassifier(_BaseRVFLCommittee, DecisionClassifier):
    r"""Mean of several random vector networks, tuned by exact leave-one-out.

    Activation and penalty are those of the smallest leave-one-out *squared
    error* of the mean of all layers, found in closed form. Use it where a
    network would be tuned by cross-validation: there is nothing to tune. With
    wrong labels squared error is a far better guide than accuracy. Its weak
    points are features that are not scaled, and data where thresholds of single
    features decide, as in trees (`RobustClassifier` adds trees).

    Parameters
    ----------
    n_layers : int or "auto", default="auto"
        Number of random layers; "auto" means ten up to 1,000 samples, else one.
    n_hidden : int or "auto", default="auto"
        Hidden nodes of each layer; "auto" means 203 up to 1,000 samples, then a
        fifteenth of the samples, 300 to 1,000. Above 20,000 samples 600 nodes are
        fitted to 8,000 of them, spread evenly over the classes; all others are
        predicted out of sample. With "auto" in either place, a small network
        chooses the activation above 1,000 samples.
    activation : str or sequence of str, default="auto"
        Names to choose from; "auto" means relu, sigmoid, radbas and sine.
    C : float, sequence of float or "auto", default="auto"
        Inverse penalties to choose from; "auto" means 1e-5, 1e-4, ..., 1e3.
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
    activation_ : str
        The activation that was chosen.
    C_ : float
        The inverse penalty that was chosen.
    loo_error_ : float
        Mean squared leave-one-out error of that choice, summed over classes.
    loo_errors_ : ndarray of shape (n_activations, n_Cs)
        The same for every choice; of the chosen activation alone where a small
        network chose it.
    loo_scores_ : ndarray of shape (n_samples, n_classes)
        Output for each training sample from networks fitted without it.
    loo_proba_ : ndarray of shape (n_samples, n_classes)
        Class probabilities of each training sample from networks fitted
        without it.
    features_ : tuple of RandomFeatures
        The maps from inputs to columns, one per layer.
    coef_ : ndarray of shape (n_layers, n_columns, n_classes)
        Output weights of the direct link, the intercept and the hidden nodes.

    Notes
    -----
    Hidden nodes have weights from :math:`U(-1, 1) \sqrt{3/d}` and biases from
    :math:`U(-1, 1)`; the intercept is not penalised. With the influence
    :math:`h_i` of a sample on its own fit :math:`f_i`, the fit without it is
    :math:`(f_i - h_i y_i) / (1 - h_i)`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.preprocessing import scale
    >>> from granulearn.estimators import RVFLCommitteeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = RVFLCommitteeClassifier(random_state=0).fit(scale(X), y)
    >>> model.score(scale(X), y) > 0.95
    True
    """

    _abilities = Abilities(
        command="rvfl-committee",
        summary="random networks tuned by leave-one-out",
        onnx="committee",
        in_parts=True,
    )
    _probability_form = "positive part"
    _parameter_constraints: ClassVar[dict] = {
        **_BaseRVFLCommittee._parameter_constraints,
        "class_weight": [dict, StrOptions({"balanced"}), None],
    }

    def __init__(
        self,
        n_layers="auto",
        n_hidden="auto",
        activation="auto",
        C="auto",
        random_state=None,
        class_weight=None,
    ):
        self.n_layers = n_layers
        self.n_hidden = n_hidden
        self.activation = activation
        self.C = C
        self.random_state = random_state
        self.class_weight = class_weight

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        """Choose activation and penalty, and fit all layers in closed form.

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
        """Fit to samples that are checked; those of weight zero are predicted, not learnt from."""
        self.classes_, self.n_features_in_ = samples.classes, samples.X.shape[1]
        weights = np.ones(len(samples)) if samples.weights is None else samples.weights
        factor = 1.0
        if self.class_weight is not None:
            totals = np.bincount(samples.codes, weights, minlength=len(samples.classes))
            factors = weight_of_each_class(self.class_weight, samples.classes, totals)
            factor = factors[samples.codes]
        Y = one_hot(samples.codes, len(samples.classes)).astype(float)
        fit = self._fit_layers(
            samples.X,
            Y,
            weights * factor,
            np.minimum(weights, 1) * factor,
            int(np.count_nonzero(weights)),
            # Rows of each class together, in random order: even steps are a stratified sample.
            lambda: np.lexsort((np.random.default_rng(0).random(len(samples)), samples.codes)),
        )
        self.loo_scores_ = fit.loo
        self._fill(self.loo_scores_, samples.X)
        return self

    @property
    def loo_proba_(self) -> np.ndarray:
        """Class probabilities of each training sample from networks fitted without it."""
        return self._probabilities(self.loo_scores_)


class RVFLCommitteeRegressor(SavedTargets, RegressorMixin, _BaseRVFLCommittee):
    r"""Mean of several random vector networks, for numbers, tuned by exact leave-one-out.

    Use it as a strong regressor with nothing to tune. Its weak point is
    features that are not scaled.

    Parameters
    ----------
    n_layers : int, default=10
        Number of random layers.
    n_hidden : int, default=203
        Hidden nodes of each layer.
    activation : str or sequence of str, default="auto"
        Names to choose from; "auto" means relu, sigmoid, radbas and sine.
    C : float, sequence of float or "auto", default="auto"
        Inverse penalties to choose from; "auto" means 1e-5, 1e-4, ..., 1e3.
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
    activation_ : str
        The activation that was chosen.
    C_ : float
        The inverse penalty that was chosen.
    loo_error_ : float
        Mean squared leave-one-out error of that choice, summed over outputs.
    loo_errors_ : ndarray of shape (n_activations, n_Cs)
        The same for every choice.
    loo_prediction_ : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Prediction for each training sample from networks fitted without it.
    features_ : tuple of RandomFeatures
        The maps from inputs to columns, one per layer.
    coef_ : ndarray of shape (n_layers, n_columns, n_outputs)
        Output weights of the direct link, the intercept and the hidden nodes.

    See Also
    --------
    RVFLCommitteeClassifier : The same for classes, with the formulas.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.preprocessing import scale
    >>> from granulearn.estimators import RVFLCommitteeRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = RVFLCommitteeRegressor(random_state=0).fit(scale(X), y)
    >>> round(1 - model.loo_error_ / float(y.var()), 1)
    0.5
    """

    _abilities = Abilities(onnx="committee")

    def __init__(self, n_layers=10, n_hidden=203, activation="auto", C="auto", random_state=None):
        self.n_layers = n_layers
        self.n_hidden = n_hidden
        self.activation = activation
        self.C = C
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        """Choose activation and penalty, and fit all layers in closed form.

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
        samples = check_numbers(self, X, y, sample_weight, ensure_min_samples=2)
        weights = np.ones(len(samples.X)) if samples.weights is None else samples.weights
        if np.count_nonzero(weights) < 2:
            raise ValueError(
                "sample_weight is zero for all samples but one or none, and one cannot be left "
                "out; give more samples weight."
            )
        fit = self._fit_layers(
            samples.X,
            samples.Y,
            weights,
            np.minimum(weights, 1),
            int(np.count_nonzero(weights)),
            lambda: order_by_value(samples.X),
        )
        self._fill(fit.loo, samples.X)
        self.loo_prediction_ = self._as_targets(fit.loo)
        return self

    def predict(self, X):
        """Return the mean of the networks' outputs.

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
